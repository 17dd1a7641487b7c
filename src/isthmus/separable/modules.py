"""The modules of torch. Imported where they are made, so that the package does without torch."""

from __future__ import annotations

import copy
import math
from typing import Any

import torch
from torch import nn

from .encoders import named_encoder
from .images import join_cells
from .sources import Batch


class Residual(nn.Module):
    """x + convolution(relu(convolution(relu(x)))); the first has a stride.

    Either there is batch normalisation before every relu, or the block starts as x.
    """

    def __init__(self, before: int, after: int, stride: int, norm: bool) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1)
        self.second = nn.Conv2d(after, after, 3, 1, 1)
        self.norms = nn.ModuleList(
            [nn.BatchNorm2d(size) if norm else nn.Identity() for size in (before, after)]
        )
        if not norm:
            nn.init.zeros_(self.second.weight)
            nn.init.zeros_(self.second.bias)
        same = before == after and stride == 1
        self.skip = nn.Identity() if same else nn.Conv2d(before, after, 1, stride)

    def forward(self, x: Any) -> Any:
        inner = self.first(nn.functional.relu(self.norms[0](x)))
        return self.skip(x) + self.second(nn.functional.relu(self.norms[1](inner)))


class TwoWays(nn.Module):
    """The sum of what two modules make of one input."""

    def __init__(self, long: Any, short: Any) -> None:
        super().__init__()
        self.long, self.short = long, short

    def forward(self, x: Any) -> Any:
        return self.long(x) + self.short(x)


class SeparableCritic(nn.Module):
    """h_k(u, v) = g(u)' W_k f(v) + b_k for n critics k.

    Where d is more than one, as many cells are encoded one by one, and the embedding of a grid
    has theirs side by side. ``full`` says whether every cell of u meets every cell of v, or its
    own alone.
    """

    def __init__(
        self, g: Any, f: Any, embedding: int, d: int, n: int, *, full: bool = True
    ) -> None:
        super().__init__()
        self.g, self.f, self.d, self.embedding, self.full = g, f, d, embedding, full
        size = d * embedding
        shape = (n, size, size) if full else (n, d, embedding, embedding)
        # Small, so that all h_k begin near zero; not zero, since encoders need a gradient.
        self.inner = nn.Parameter(torch.randn(shape) * 0.3 / size)
        self.bias = nn.Parameter(torch.zeros(n))

    @property
    def weight(self) -> Any:
        """W, shape (n, d * embedding, d * embedding)."""
        if self.full:
            return self.inner
        return torch.stack([torch.block_diag(*blocks) for blocks in self.inner])

    def rescale(self, scale: Any, shift: Any) -> None:
        """Multiply W_k by a scale, and set b_k."""
        with torch.no_grad():
            factor = torch.as_tensor(scale, dtype=self.inner.dtype)
            self.inner.mul_(factor.view(-1, *[1] * (self.inner.dim() - 1)))
            self.bias.copy_(torch.as_tensor(shift))

    def project(self, u: Any) -> Any:
        """g(u)' W_k, cut by the cells of v, shape (n, d, rows, embedding)."""
        rows, n = len(u), len(self.inner)
        if self.full:
            out = torch.matmul(u, self.inner)
            return out.view(n, rows, self.d, self.embedding).transpose(1, 2)
        cells = u.view(rows, self.d, self.embedding).transpose(0, 1)
        return torch.matmul(cells, self.inner)

    def pieces(self, u: Any, v: Any, groups: int) -> tuple[Any, Any]:
        """Scores of pairs of embeddings within so many groups of rows, cell of v by cell.

        Those of u_i with the cells of its own v_i have shape (n, d, rows); their sum over d is h_k
        without b_k. Those with the cells of the other v_j of its group have shape
        (n, d, rows, rows / groups - 1).
        """
        rows, m = len(u), len(u) // groups
        projected = self.project(u).unflatten(2, (groups, m))
        partners = v.view(groups, m, self.d, self.embedding)
        scores = torch.matmul(projected, partners.permute(2, 0, 3, 1))
        own = scores.diagonal(dim1=-2, dim2=-1).flatten(2)
        return own, off_diagonal(scores).reshape(*own.shape[:2], rows, m - 1)


def off_diagonal(square: Any) -> Any:
    """Of matrices of shape (..., m, m) what is off the diagonal, shape (..., m, m - 1)."""
    m = square.shape[-1]
    # In rows of m + 1 that begin behind the first, the diagonal is the last column.
    rows = square.flatten(-2)[..., 1:].unflatten(-1, (m - 1, m + 1))
    return rows[..., :-1].reshape(*square.shape[:-1], m - 1)


def make_critic(ratio: Any, batch: Batch, n: int) -> SeparableCritic:
    """The n critics of a SeparableRatio, untrained; a batch says how large images are."""
    shapes = [tuple(images.shape[1:]) for images in (batch.u, batch.v)]
    if ratio.one_encoder and shapes[0] != shapes[1]:
        raise ValueError(
            "one_encoder must be False where u and v have images of different shapes; their "
            f"cells have {shapes[0]} and {shapes[1]}."
        )
    if isinstance(ratio.encoder, str):
        g = named_encoder(ratio, shapes[0])
        f = g if ratio.one_encoder else named_encoder(ratio, shapes[1])
    else:
        # A module that is given once makes two encoders, unless one is asked for.
        g, f = (copy.deepcopy(each) for each in ratio.given_modules)
        f = g if ratio.one_encoder else f
    shown = [batch.u[:2], batch.v[:2]]
    if not ratio.sees_cells:
        cells = batch.u[batch.at_u[:2]], batch.v[batch.at_v[:2]]
        shown = [join_cells(each, ratio.grid) for each in cells]
    with torch.no_grad():
        # What is shown here is not trained on, nor counted by a batch normalisation.
        g, f = g.eval(), f.eval()
        sides = zip((g, f), ratio.inputs_, shown, strict=True)
        sizes = [tuple(encoder(standard(x)).shape) for encoder, standard, x in sides]
    # What encoders make of images says how large embeddings are.
    if sizes[0][1:] != sizes[1][1:] or len(sizes[0]) != 2 or sizes[0][0] != len(shown[0]):
        raise ValueError(
            "encoder must be of modules that give embeddings of one shape (n, size); received "
            f"{sizes[0]} and {sizes[1]} for {len(shown[0])} and {len(shown[1])} images."
        )
    d = math.prod(ratio.grid) if ratio.sees_cells else 1
    return SeparableCritic(g, f, sizes[0][1], d, n, full=ratio.interaction == "all")

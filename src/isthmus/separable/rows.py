"""The critics' values on rows of every class, made of one batch of pairs.

u_i and v_j of two independent pairs are a draw of q, so that a batch of n pairs has n (n - 1)
rows of q and as many of every auxiliary. They are not independent of each other; means over
them are unbiased all the same, and less noisy than those over n rows.
"""

from __future__ import annotations

from typing import Any

from ..neural.lazy_torch import require_torch
from .mixing import CellMixing
from .sources import Batch, join_cells


class Inputs:
    """From images to what encoders see: about zero mean and unit variance.

    Parameters
    ----------
    images : Tensor
        Some of them.
    """

    def __init__(self, images: Any) -> None:
        values = images.double()
        self.centre, scale = float(values.mean()), float(values.std(correction=0))
        self.scale = scale if scale > 0 else 1.0

    def __call__(self, images: Any) -> Any:
        torch = require_torch("training")
        # A copy, which may then be changed in place.
        return images.to(torch.float32, copy=True).sub_(self.centre).mul_(1.0 / self.scale)


class CellRows:
    """Rows of all classes where encoders work cell by cell.

    Each image is encoded once. A mixed grid's embedding is made of those of its cells, so
    that all classes together cost no more than p.

    Parameters
    ----------
    critic : SeparableCritic
    mixing : CellMixing
    inputs : tuple of two Inputs
        For u and for v.
    group : int
        Rows that are paired with one another.
    """

    def __init__(self, critic: Any, mixing: CellMixing, inputs: Any, group: int) -> None:
        self.critic, self.mixing, self.inputs, self.group = critic, mixing, inputs, group

    def embed(self, batch: Batch) -> tuple[Any, Any]:
        """Embeddings of u and of v, shape (n, d * embedding)."""
        critic = self.critic
        return (
            critic.g(self.inputs[0](batch.u))[batch.at_u].flatten(1),
            critic.f(self.inputs[1](batch.v))[batch.at_v].flatten(1),
        )

    def values(self, batch: Batch, uses: list[int], generator: Any) -> dict[int, Any]:
        """Critics on rows of the classes asked for, each of shape (n_critics, rows)."""
        torch = require_torch("training")
        u, v = self.embed(batch)
        rows, groups = groups_of(len(u), self.group)
        own, other = self.critic.pieces(u[:rows], v[:rows], groups)
        bias, last = self.critic.bias[:, None], self.mixing.n_classes - 1
        alone = own.sum(1)
        found = {0: alone + bias, last: other.sum(1).flatten(1) + bias}
        between = [y for y in uses if 0 < y < last]
        if between:
            step = other - own[..., None]
            if self.mixing.fixed is not None:
                which = torch.from_numpy(self.mixing.fixed[between]).to(step.dtype)
                mixed = torch.matmul(which, step.flatten(2)).unflatten(2, step.shape[2:])
            else:
                masks = self.mixing.draw(rows, generator)[between].to(step.dtype)
                mixed = torch.einsum("yrd,ndrm->nyrm", masks, step)
            mixed = (mixed + alone[:, None, :, None]).flatten(2) + bias[..., None]
            found |= {y: mixed[:, i] for i, y in enumerate(between)}
        return {y: found[y] for y in uses}


class WholeRows:
    """Rows of all classes where encoders see the whole image.

    Every mixed image is encoded anew; each row of an auxiliary has one partner.

    Parameters
    ----------
    critic, mixing, inputs, group
        As of :class:`CellRows`.
    grid : tuple of two int
        Rows and columns of the grid of cells.
    """

    def __init__(
        self, critic: Any, mixing: CellMixing, inputs: Any, group: int, grid: tuple[int, int]
    ) -> None:
        self.critic, self.mixing, self.inputs = critic, mixing, inputs
        self.group, self.grid = group, grid

    def embed(self, batch: Batch) -> tuple[Any, Any]:
        """Embeddings of u and of v, shape (n, embedding)."""
        return self._of_u(batch.u[batch.at_u]), self._of_v(batch.v[batch.at_v])

    def _of_u(self, cells: Any) -> Any:
        return self.critic.g(self.inputs[0](join_cells(cells, self.grid)))

    def _of_v(self, cells: Any) -> Any:
        return self.critic.f(self.inputs[1](join_cells(cells, self.grid)))

    def values(self, batch: Batch, uses: list[int], generator: Any) -> dict[int, Any]:
        """Critics on rows of the classes asked for, each of shape (n_critics, rows)."""
        torch = require_torch("training")
        rows, groups = groups_of(len(batch.at_u), self.group)
        u = self._of_u(batch.u[batch.at_u[:rows]])
        cells = batch.v[batch.at_v[:rows]]
        v = self._of_v(cells)
        own, other = self.critic.pieces(u, v, groups)
        bias, last = self.critic.bias[:, None], self.mixing.n_classes - 1
        found = {0: own.sum(1) + bias, last: other.sum(1).flatten(1) + bias}
        between = [y for y in uses if 0 < y < last]
        if between:
            masks = self.mixing.draw(rows, generator)[between]
            mixed = torch.where(masks[..., None, None, None], cells.roll(1, 0), cells)
            partners = self._of_v(mixed.flatten(0, 1)).unflatten(0, (-1, rows))
            projected = torch.matmul(u, self.critic.weight)
            values = torch.einsum("nre,yre->nyr", projected, partners) + bias[..., None]
            found |= {y: values[:, i] for i, y in enumerate(between)}
        return {y: found[y] for y in uses}


def groups_of(rows: int, group: int) -> tuple[int, int]:
    """Rows that fill whole groups, and their number.

    Examples
    --------
    >>> groups_of(10, 4), groups_of(3, 4)
    ((8, 2), (3, 1))
    """
    size = min(group, rows)
    return rows // size * size, rows // size

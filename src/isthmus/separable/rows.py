"""Rows of every class made of one batch of pairs, and the critics' values on them.

u_i and v_j of two independent pairs are a draw of q, so that a batch of n pairs has n (n - 1)
rows of q and as many of every auxiliary. They are not independent of each other; means over
them are unbiased all the same, and less noisy than those over n rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.validation import check_number, check_option
from ..neural.lazy_torch import require_torch
from .images import Inputs, join_cells
from .sources import Batch

MIXINGS = ("nested", "count", "cells", "merged")


class CellMixing:
    """Classes between p, whose v is that of u, and q, whose v is that of another pair.

    A row of an auxiliary class has some cells of its own pair's v and some of another's.

    Parameters
    ----------
    kind : {"nested", "count", "cells", "merged"}
        Class k of d - 1 mixes the first k cells ("nested", as TRE does), or k cells at
        random ("count"). Class k of d mixes cell k alone ("cells"). One class holds the
        nested mixtures of all k together ("merged", K = 1).
    d : int
        Number of cells.

    Attributes
    ----------
    n_classes : int
        K + 2: p, the auxiliaries and q.

    Examples
    --------
    >>> CellMixing("nested", 4).fixed.astype(int)
    array([[0, 0, 0, 0],
           [1, 0, 0, 0],
           [1, 1, 0, 0],
           [1, 1, 1, 0],
           [1, 1, 1, 1]])
    >>> [CellMixing(kind, 4).n_classes for kind in ("count", "cells", "merged")]
    [5, 6, 3]
    """

    def __init__(self, kind: str, d: int) -> None:
        check_option(kind, "mixing", MIXINGS)
        check_number(d, "d", low=1, integer=True)
        self.kind, self.d = kind, int(d)
        between = {"cells": self.d if self.d > 1 else 0, "merged": min(self.d - 1, 1)}
        self.n_classes = between.get(kind, self.d - 1) + 2

    @property
    def fixed(self) -> np.ndarray | None:
        """Which cells each class mixes, shape (classes, d), or None if that is random."""
        if self.kind == "nested":
            return np.tri(self.d + 1, self.d, -1, dtype=bool)
        if self.kind == "cells":
            inner = np.eye(self.d, dtype=bool)[: self.n_classes - 2]
            return np.vstack([np.zeros(self.d, bool), inner, np.ones(self.d, bool)])
        return None

    def draw(self, n: int, generator: Any) -> Any:
        """Which cells n rows of each class mix, shape (classes, n, d), as a bool tensor."""
        torch = require_torch("CellMixing")
        if self.fixed is not None:
            return torch.from_numpy(self.fixed)[:, None].expand(-1, n, -1)
        if self.kind == "count":
            # Each row's cells in an order of their own; class k mixes the first k of them.
            order = torch.rand(n, self.d, generator=generator).argsort(1).argsort(1)
            return order < torch.arange(self.d + 1)[:, None, None]
        inner = torch.randint(1, max(self.d, 2), (n, 1), generator=generator)
        counts = [torch.zeros(n, 1), inner, torch.full((n, 1), self.d)]
        if self.n_classes == 2:
            counts = [counts[0], counts[2]]
        return torch.arange(self.d) < torch.stack(counts)


@dataclass(frozen=True)
class ClassValues(ABC):
    """The critics' values on rows of all classes, ``group`` rows being paired with one another."""

    critic: Any
    mixing: CellMixing
    inputs: tuple[Inputs, Inputs]
    group: int
    half: bool = False

    def encode(self, images: Any, *, partner: bool = False) -> Any:
        """Embeddings of images; in training by numbers of 16 bits if ``half``."""
        torch = require_torch("training")
        encoder = self.critic.f if partner else self.critic.g
        half = self.half and torch.is_grad_enabled()
        with torch.autocast(images.device.type, torch.bfloat16, enabled=half):
            out = encoder(self.inputs[partner](images))
        return out.float() if half else out

    @abstractmethod
    def embed(self, batch: Batch) -> tuple[Any, Any]:
        """Embeddings of u and of v, shape (n, size)."""

    @abstractmethod
    def _mixed(
        self, batch: Batch, u: Any, pieces: tuple[Any, ...], which: list[int], generator: Any
    ) -> Any:
        """Critics, without their bias, on rows of auxiliaries, shape (n_critics, classes, rows)."""

    def values(self, batch: Batch, uses: list[int], generator: Any) -> dict[int, Any]:
        """Critics on rows of the classes asked for, each of shape (n_critics, rows)."""
        # As many as fill whole groups.
        size = min(self.group, len(batch.at_u))
        groups = len(batch.at_u) // size
        rows = groups * size
        batch = replace(batch, at_u=batch.at_u[:rows], at_v=batch.at_v[:rows])
        u, v = self.embed(batch)
        own, other = self.critic.pieces(u, v, groups)
        alone = own.sum(1)
        bias, last = self.critic.bias[:, None], self.mixing.n_classes - 1
        found = {0: alone + bias, last: other.sum(1).flatten(1) + bias}
        between = [y for y in uses if 0 < y < last]
        if between:
            mixed = self._mixed(batch, u, (alone, own, other), between, generator)
            mixed = mixed + bias[..., None]
            found |= {y: mixed[:, i] for i, y in enumerate(between)}
        return {y: found[y] for y in uses}


class CellRows(ClassValues):
    """Rows of all classes where encoders work cell by cell.

    Each image is encoded once. A mixed grid's embedding is made of those of its cells, so
    that all classes together cost no more than p.
    """

    def embed(self, batch: Batch) -> tuple[Any, Any]:
        g, f = self.encode(batch.u), self.encode(batch.v, partner=True)
        return g[batch.at_u].flatten(1), f[batch.at_v].flatten(1)

    def _mixed(
        self, batch: Batch, u: Any, pieces: tuple[Any, ...], which: list[int], generator: Any
    ) -> Any:
        torch = require_torch("training")
        alone, own, other = pieces
        step = other - own[..., None]
        if self.mixing.fixed is not None:
            masks = torch.from_numpy(self.mixing.fixed[which]).to(step.dtype)
            mixed = torch.matmul(masks, step.flatten(2)).unflatten(2, step.shape[2:])
        else:
            masks = self.mixing.draw(len(u), generator)[which].to(step.dtype)
            mixed = torch.einsum("yrd,ndrm->nyrm", masks, step)
        return (mixed + alone[:, None, :, None]).flatten(2)


@dataclass(frozen=True)
class WholeRows(ClassValues):
    """Rows of all classes where encoders see the whole image, of a grid of cells.

    Every mixed image is encoded anew; each row of an auxiliary has one partner. Where a batch
    says what is exchanged between its pairs, any two of them are a row and nothing is mixed.
    """

    grid: tuple[int, int] = (1, 1)

    def values(self, batch: Batch, uses: list[int], generator: Any) -> dict[int, Any]:
        if batch.exchanged is None:
            return super().values(batch, uses, generator)
        torch = require_torch("training")
        u, v = self.embed(batch)
        every = torch.matmul(torch.matmul(u, self.critic.weight), v.T)
        every = every + self.critic.bias[:, None, None]
        return {y: every[:, batch.exchanged == y] for y in uses}

    def embed(self, batch: Batch) -> tuple[Any, Any]:
        u = self.encode(join_cells(batch.u[batch.at_u], self.grid))
        return u, self._partners(batch.v[batch.at_v])

    def _partners(self, cells: Any) -> Any:
        return self.encode(join_cells(cells, self.grid), partner=True)

    def _mixed(
        self, batch: Batch, u: Any, pieces: tuple[Any, ...], which: list[int], generator: Any
    ) -> Any:
        torch = require_torch("training")
        cells, masks = batch.v[batch.at_v], self.mixing.draw(len(u), generator)[which]
        mixed = torch.where(masks[..., None, None, None], cells.roll(1, 0), cells)
        partners = self._partners(mixed.flatten(0, 1)).unflatten(0, (-1, len(u)))
        return torch.einsum("nre,yre->nyr", torch.matmul(u, self.critic.weight), partners)

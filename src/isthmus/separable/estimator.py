"""The separable critic as an estimator: pairs of images in, log-ratios and embeddings out."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..critics.mlp import is_module
from ..data.blocks import slices
from ..data.holdout import split_rows
from ..data.seeds import Seeds
from ..data.validation import check_flag, check_integers, check_number, check_option
from ..functionals import Estimate
from ..neural.lazy_torch import require_torch, seeded
from ..neural.parameters import check_shared, training_of
from ..neural.training import printed, train
from ..typing import Array, RandomState
from .encoders import NORMS, POOLS
from .images import Inputs, as_cells, join_cells
from .losses import METHODS, Method, best_scales, capped
from .rows import MIXINGS, CellMixing, CellRows, ClassValues, WholeRows
from .sources import PairArrays, Source

# Batches of held-out pairs at every look and in the end, and partners that InfoNCE keeps.
_HELD, _CALIBRATION, _REFERENCES = 4, 8, 1024
# Images that are encoded together.
_IMAGES = 1024


@dataclass(eq=False, repr=False)
class SeparableRatio(BaseEstimator):
    """Estimate log p(u, v) / p(u) p(v) of pairs of images, and learn to represent them.

    Every class k has a critic that is separable, ::

        h_k(u, v) = g(u)' W_k f(v) + b_k,

    with encoders g and f that all classes share. What is learned are the differences between
    neighbouring classes, which are of the same form. MDRE tells the classes apart: pairs (p), pairs
    of which u and v have nothing to do with each other (q), and pairs with some of the cells of v
    exchanged (the auxiliaries, see :class:`CellMixing`). With equally frequent classes
    log p/q = h_p - h_q, and its mean over pairs is the mutual information I(u, v).

    In a batch u_i and v_j of two pairs are a draw of q. That holds for independent pairs,
    whatever u and v are; pairs of one time series, for instance, are not independent.

    Srivastava et al., "Estimating the Density Ratio between Distributions with High Discrepancy
    using Multinomial Logistic Regression", TMLR 2023, Section 4.3.

    Parameters
    ----------
    method : {"mdre", "tre", "single", "infonce"}, default "mdre"
        What the critics learn: to tell all classes apart; to tell neighbours apart (TRE); to
        tell p from q (the single ratio); or to find the partner of u among those of its
        group (InfoNCE, which never exceeds log ``group``).
    grid : tuple of two int, default (1, 1)
        Rows and columns of the grid of cells in every image. With one cell there is no
        auxiliary.
    mixing : {"nested", "count", "cells", "merged"}, default "nested"
        The auxiliaries of MDRE and TRE; see :class:`CellMixing`.
    encoder : {"cells", "dense", "whole"}, module or pair of modules, default "cells"
        One residual network for all cells, whose embeddings are put side by side; the same with
        a perceptron, which is quicker (:func:`dense_encoder`); or one residual network
        for the whole image, as in the paper, which costs many times as much. Modules
        g and f of torch take tensors of shape (n, channels, height, width) and return
        embeddings of shape (n, size). They are copied, and trained from where they are.
    by_cell : bool, default False
        Whether modules that are given encode cells rather than whole images.
    one_encoder : bool, default False
        Use g for f too.
    interaction : {"all", "cells"}, default "all"
        Whether W_k lets every cell of u meet every cell of v, or only the one at its own place
        (W_k is then block-diagonal); for encoders of cells.
    embedding : int, default 32
        Numbers in the embedding of a cell, or of the whole; the last is constant.
    channels, strides, pool : default (16, 16, 16), (2, 2, 1) and "flat"
        As of :func:`residual_encoder`; the paper has (32, 64, 64), (1, 2, 2) and "mean".
    norm : {"batch", "none"}, default "batch"
        Whether encoders that are named have batch normalisation.
    steps, batch_size : int, default 2000 and 256
        Largest number of training steps, and pairs in a batch.
    group : int, default 16
        Pairs of a batch that are paired with one another: each gives ``group - 1`` rows of
        q and of every auxiliary.
    lr : float, default 1e-3
        Learning rate.
    l2 : float, default 0
        Ridge penalty: half of it times the sum of the squares of all W_k is added to the loss.
    weight_decay : float, default 1e-4
        Of all weights, encoders included.
    precision : {"single", "bfloat16"}, default "single"
        Of the numbers in which encoders are trained. Those of 16 bits are about twice as quick
        where the processor has them; losses, looks and predictions are in single precision.
    validation : float, default 0.15
        Share of the pairs to hold out, whose loss decides when to stop.
    patience : int, default 5
        How often the held-out loss may fail to fall before training stops; it is looked at 20
        times in all.
    calibrate : bool, default True
        Give every critic a scale and a shift in the end, those with the lowest loss on
        held-out pairs, if there are such.
    checkpoint : path, optional
        File to go on from; see :class:`isthmus.neural.Training`.
    random_state : int, Generator, RandomState or None, default None
        Seeds networks, pairs held out and batches.
    verbose : int, default 0
        Print loss, mutual information and accuracies at every look if positive.

    Attributes
    ----------
    training_ : Trained
        How training went. Its history has the held-out loss, the mutual information of
        held-out pairs and the accuracy on every class at every look.
    critic_ : torch.nn.Module
        Encoders g and f, ``weight`` of shape (classes - 1, size, size) and ``bias``: W_k - W_(k+1)
        and b_k - b_(k+1).
    matrix_, bias_ : ndarray of shape (size, size), float
        ``log p/q = g(u)' matrix_ f(v) + bias_``, but for InfoNCE's partition.
    n_iter_ : int
        Number of steps.

    Examples
    --------
    >>> from isthmus.problems.omniglot import SpatialMultiOmniglot, drawn_alphabets
    >>> from isthmus.separable import SeparableRatio
    >>> problem = SpatialMultiOmniglot.largest(drawn_alphabets([3, 2], rng=1), 4)
    >>> u, v, *_ = problem.sample(400, rng=0)
    >>> model = SeparableRatio(
    ...     grid=(2, 2), channels=(4, 4, 4), embedding=4, steps=20, batch_size=64, random_state=0
    ... ).fit(u, v)
    >>> model.embed(u[:5]).shape, model.log_ratio(u[:5], v[:5]).shape
    ((5, 16), (5,))
    """

    method: str = "mdre"
    _: KW_ONLY
    grid: tuple[int, int] = (1, 1)
    mixing: str = "nested"
    encoder: Any = "cells"
    by_cell: bool = False
    one_encoder: bool = False
    interaction: str = "all"
    embedding: int = 32
    channels: tuple[int, int, int] = (16, 16, 16)
    pool: str = "flat"
    strides: tuple[int, int, int] = (2, 2, 1)
    norm: str = "batch"
    steps: int = 2000
    batch_size: int = 256
    group: int = 16
    lr: float = 1e-3
    l2: float = 0.0
    weight_decay: float = 1e-4
    precision: str = "single"
    validation: float = 0.15
    patience: int = 5
    calibrate: bool = True
    checkpoint: str | os.PathLike[str] | None = None
    random_state: RandomState = None
    verbose: int = 0

    def fit(self, u: Any, v: Any) -> Self:
        """Fit to pairs: image i of u belongs to image i of v.

        Parameters
        ----------
        u, v : array-like of shape (n, height, width) or (n, channels, height, width)
            Numbers of any kind; bytes stay bytes. A batch with equal pairs in it takes them for
            independent ones: leave copies out.

        Returns
        -------
        self
        """
        torch = require_torch("SeparableRatio")
        self._check()
        cells = [torch.from_numpy(as_cells(x, self.grid, name)) for x, name in ((u, "u"), (v, "v"))]
        n = len(cells[0])
        if len(cells[1]) != n or n < 4:
            raise ValueError(
                "u and v must have the same number of images, at least 4; received "
                f"{n} and {len(cells[1])}."
            )
        split = split_rows(n, Seeds(self.random_state)("held out"), self.validation, None, 0)
        parts = [PairArrays(*(x[at] for x in cells)) for at in (split.train, split.held)]
        # Fewer than two pairs have no draw of q.
        return self.fit_source(parts[0], parts[1] if len(split.held) > 1 else None)

    def fit_source(self, source: Source, held_out: Source | None = None) -> Self:
        """Fit to pairs that are drawn without end.

        Parameters
        ----------
        source : Source
            Of pairs to train on, such as :class:`OmniglotSource`.
        held_out : Source, optional
            Of pairs whose loss decides when to stop.

        Returns
        -------
        self
        """
        torch = require_torch("SeparableRatio")
        self._check()
        if source.d != math.prod(self.grid):
            raise ValueError(
                f"grid must have as many cells as the pairs of the source, {source.d}; received "
                f"{tuple(self.grid)}."
            )
        seeds = Seeds(self.random_state)
        mixing = CellMixing(self.mixing, source.d)
        method = Method(self.method, mixing.n_classes)
        from .modules import make_critic

        with seeded(seeds("networks")) as generator:
            batch = source.draw(self.batch_size, generator)
            self.inputs_ = Inputs.of(batch.u), Inputs.of(batch.v)
            self.critic_ = critic = make_critic(self, batch, method.n_critics)
        half = self.precision == "bfloat16"
        rows: ClassValues = CellRows(critic, mixing, self.inputs_, self.group, half)
        if not self.sees_cells:
            rows = WholeRows(critic, mixing, self.inputs_, self.group, half, self.grid)
        # Grids that are encoded whole are better drawn mixed than mixed and encoded again.
        nested = not self.sees_cells and self.mixing == "nested" and len(method.uses) > 2

        def values(origin: Source, generator: Any) -> dict[int, Any]:
            draw = getattr(origin, "draw_nested", origin.draw) if nested else origin.draw
            return rows.values(draw(self.batch_size, generator), method.uses, generator)

        def loss(generator: Any) -> Any:
            penalty = 0.5 * self.l2 * critic.inner.square().sum()
            return method.loss(values(source, generator)) + penalty

        fixed = int(seeds("held-out batches").integers(2**62))
        looked: dict[str, float] = {}

        def held_out_loss() -> float:
            # The same batches at every look.
            generator = torch.Generator().manual_seed(fixed)
            assert held_out is not None
            total = 0.0
            for _ in range(_HELD):
                now = values(held_out, generator)
                total += float(method.loss(now)) / _HELD
            looked["mi"] = (
                math.log(min(self.group, now[0].shape[1])) - total
                if self.method == "infonce"
                else float(now[0].sum(0).mean())
            )
            looked.update(method.accuracy(now))
            return total

        self.training_ = train(
            critic,
            loss,
            rng=seeds("training"),
            held_out=None if held_out is None else held_out_loss,
            settings=training_of(self),
            watch=lambda: looked,
            progress=printed("SeparableRatio", self.verbose),
        )
        self.n_iter_ = self.training_.steps
        if self.calibrate and held_out is not None:
            with torch.no_grad(), seeded(seeds("calibration")) as generator:
                batches = [values(held_out, generator) for _ in range(_CALIBRATION)]
            critic.rescale(*best_scales(method, batches, critic.bias))
        # What predictions need, in double precision.
        with torch.no_grad(), seeded(seeds("references")) as generator:
            self.matrix_ = critic.weight.double().sum(0).numpy()
            self.bias_ = float(critic.bias.double().sum())
            if self.method == "infonce":
                # Other partners than those of the rows to come; as many as log K needs.
                found: list[Any] = []
                while sum(map(len, found)) < max(_REFERENCES, self.group) and len(found) < 64:
                    found.append(rows.embed(source.draw(self.batch_size, generator))[1])
                self.references_ = torch.cat(found).double().numpy()
        return self

    @property
    def sees_cells(self) -> bool:
        """Whether encoders see one cell at a time."""
        return self.encoder in ("cells", "dense") if isinstance(self.encoder, str) else self.by_cell

    def _check(self) -> None:
        """Refuse parameters that do not fit."""
        check_option(self.method, "method", METHODS)
        check_option(self.mixing, "mixing", MIXINGS)
        check_option(self.pool, "pool", POOLS)
        check_option(self.norm, "norm", NORMS)
        check_option(self.interaction, "interaction", ("all", "cells"))
        check_option(self.precision, "precision", ("single", "bfloat16"))
        check_integers(self.grid, "grid", 2, "two integers, rows and columns")
        if isinstance(self.encoder, str):
            check_option(self.encoder, "encoder", ("cells", "dense", "whole"))
        elif len(self.given_modules) != 2 or not all(map(is_module, self.given_modules)):
            raise ValueError(
                "encoder must be 'cells', 'dense', 'whole', a torch module or a pair of them; "
                f"received {self.encoder!r}."
            )
        for name in ("by_cell", "one_encoder", "calibrate"):
            check_flag(getattr(self, name), name)
        for name in ("channels", "strides"):
            check_integers(getattr(self, name), name, 3, "three integers")
        check_number(self.l2, "l2", low=0)
        check_number(self.embedding, "embedding", low=2, integer=True)
        check_number(self.group, "group", low=2, integer=True)
        check_shared(self, least_batch=2)

    @property
    def given_modules(self) -> Sequence[Any]:
        """Modules g and f, as they were given."""
        given = self.encoder
        return given if isinstance(given, (tuple, list)) else (given, given)

    def log_ratio(self, u: Any, v: Any) -> Array:
        """Log p(u, v) / p(u) p(v) of pairs of images, shape (n,)."""
        return self.log_ratio_embedded(self.embed(u), self.embed_partner(v))

    def log_ratio_embedded(self, u: Array, v: Array) -> Array:
        """The same of pairs of embeddings, each of shape (n, size)."""
        check_is_fitted(self)
        torch = require_torch("SeparableRatio")
        if np.shape(u) != np.shape(v):
            raise ValueError(
                f"u and v must be as many; received {np.shape(u)[0]} and {np.shape(v)[0]}."
            )
        out = np.empty(len(u))
        for part in slices(len(u), 4096):
            projected = np.asarray(u[part], dtype=np.float64) @ self.matrix_
            out[part] = np.einsum("ij,ij->i", projected, v[part]) + self.bias_
            if self.method == "infonce":
                others = torch.from_numpy(projected @ self.references_.T + self.bias_)
                out[part] = capped(torch.from_numpy(out[part].copy()), others, self.group).numpy()
        return out

    def embed(self, u: Any) -> Array:
        """Embeddings g(u) of images, shape (n, size), size being embedding times cells."""
        return self._embed(u, "u", partner=False)

    def embed_partner(self, v: Any) -> Array:
        """Embeddings f(v) of images, shape (n, size)."""
        return self._embed(v, "v", partner=True)

    def embed_cells(self, images: Any, *, partner: bool = False) -> Array:
        """Embeddings by g, or by f for ``partner``, of cells, shape (n, embedding)."""
        check_is_fitted(self)
        if not self.sees_cells:
            raise ValueError("encoder must work cell by cell to embed cells; it does not.")
        return self._encoded(as_cells(images, (1, 1), "images")[:, 0], partner)

    def _embed(self, images: Any, name: str, *, partner: bool) -> Array:
        check_is_fitted(self)
        cells = as_cells(images, self.grid, name)
        if self.sees_cells:
            return self._encoded(cells.reshape(-1, *cells.shape[2:]), partner).reshape(
                len(cells), -1
            )
        torch = require_torch("SeparableRatio")
        return self._encoded(join_cells(torch.from_numpy(cells), self.grid).numpy(), partner)

    def _encoded(self, images: np.ndarray, partner: bool) -> Array:
        torch = require_torch("SeparableRatio")
        encoder = self.critic_.f if partner else self.critic_.g
        out = []
        with torch.no_grad():
            for part in slices(len(images), _IMAGES):
                now = torch.from_numpy(np.ascontiguousarray(images[part]))
                out.append(encoder(self.inputs_[partner](now)).double().numpy())
        return np.concatenate(out)

    def mutual_information(self, u: Any, v: Any, *, level: float = 0.95) -> Estimate:
        """Mutual information by pairs that the fit has not seen, with an interval.

        Parameters
        ----------
        u, v : array-like
            Images, as in :meth:`fit`.
        level : float
            Of the interval, which is that of a mean over independent pairs for the critic as
            it is: it does not know the critic's own error.

        Returns
        -------
        Estimate
        """
        return mean_estimate(self.log_ratio(u, v), level)


def mean_estimate(values: Array, level: float = 0.95) -> Estimate:
    """Mean of values with its normal interval."""
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Estimate.from_std_error(float(np.mean(values)), error, level=level)

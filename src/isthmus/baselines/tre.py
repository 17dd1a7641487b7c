"""TRE: telescoping density-ratio estimation.

Rhodes, Xu & Gutmann, "Telescoping Density-Ratio Estimation", NeurIPS 2020,
arXiv:2006.12204.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from ..auxiliaries import DimensionWiseMixing, LinearMixing, resolve_auxiliaries
from ..data.blocks import slices
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_flag, check_number, check_option
from ..estimator import RatioEstimator
from ..maps.affine import canonical_map
from ..maps.shared import check_kinds
from ..model.checks import check_settings, check_verbose
from ..model.classes import CriticModel
from ..settings import Settings, is_auto
from ..typing import Array, RandomState
from .binary import can_choose, fit_bridge
from .distinct import Distinct
from .placing import (
    FEW_WAYMARKS,
    FEWEST_ROWS,
    check_alphas,
    default_pairings,
    even_alphas,
    place_blocks,
    place_linear,
)
from .waymarks import Chain, collect_ends

_FORMS = {"sqrt": "sqrt", "convex": "linear"}
_NEURAL = "mlp"


class TRE(RatioEstimator):
    """Estimate log p/q as a sum of log-ratios between waymarks.

    K waymarks m_1, ..., m_K lead from p = m_0 to q = m_{K+1}. Each of the K + 1 bridges
    is a binary classifier between neighbours, which are hard to tell apart, and

        log p(x) / q(x) = sum_k log m_k(x) / m_{k+1}(x).

    A row of a linear waymark is made of a row of p and one of q,

        x_k = sqrt(1 - alpha_k^2) x_p + alpha_k x_q,

    the same pairs for all waymarks. Rows are mixed about the point midway between the
    means of p and q, so that the result does not depend on the origin of the data.

    Parameters
    ----------
    waymarks : {"linear", "dimension-wise"}, auxiliary or list, default "linear"
        Rows of p and q are mixed, or blocks of their columns; or auxiliaries
        (see :mod:`isthmus.auxiliaries`) in the order from p to q.
    n_waymarks : int or "auto", default "auto"
        Their number K. "auto" is the smallest at which no two neighbours can be told
        apart in more than ``limit`` of held-out rows, by the rule of two fitted normals:
        linear waymarks are placed one after the other as far from the last as that
        allows, and blocks are doubled. With fewer than 20 rows K is 3.
    alphas : sequence of float, optional
        Positions of linear waymarks, increasing in (0, 1); by default at equal
        distances, as the authors have them, if ``n_waymarks`` is a number.
    form : {"sqrt", "convex"}, default "sqrt"
        The authors' form above, or ``(1 - alpha) x_p + alpha x_q``.
    limit : float, default 0.8
        Of ``n_waymarks="auto"``.
    pairings : int or "auto", default "auto"
        How often a row is paired with another. "auto" is up to five times, fewer where
        data are large, and once where there are fewer than ten rows to a column. The
        authors draw a noise q without end.
    coupled : bool, default True
        Make all waymarks of the same pairs.
    critic : str, critic or "mlp", default "quadratic"
        As in :class:`BDRE`. "mlp" trains neural networks and needs torch.
    l2 : float or "auto", default "auto"
        Ridge penalty of every bridge. "auto" chooses it for each by the likelihood
        of held-out labels, with waymarks made of held-out rows; with fewer than 200
        rows in a sample it is 1.
    anchor, maps, solver, tol, max_iter
        As in :class:`isthmus.MDRE`; without anchor and maps by default.
    shared : bool, optional
        With "mlp": one body for all bridges, the authors' and the default, or a network
        for each.
    width, depth, steps, batch_size, lr, weight_decay, validation, patience
        With "mlp": hidden units and layers, most training steps, rows of a class in a batch,
        learning rate, weight decay, share of rows held out, and looks at them in vain
        after which to stop.
    n_jobs : int, optional
        Bridges that are fitted at once; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default None
        Seeds pairs, splits and networks.
    verbose : int, default 0
        Print a line for each solver step if positive.

    Attributes
    ----------
    estimators_ : list of MDRE
        The bridges, without auxiliaries; empty with "mlp".
    waymarks_ : list of auxiliaries
        The waymarks, fitted.
    n_waymarks_ : int
    alphas_ : ndarray of shape (K,)
        Positions of linear waymarks.
    l2_ : ndarray of shape (K + 1,)
        Penalties.
    bridge_accuracy_ : ndarray of shape (K + 1,)
        Share of held-out rows of the neighbours that each bridge told apart; NaN where
        none were held out. Near one, a bridge spans a chasm and more waymarks are needed.
    n_iter_ : int
        Largest number of solver steps of a bridge, or number of training steps.
    bridges_ : Bridges
        The networks, with "mlp".
    classes_, n_features_in_, feature_names_in_
        As in every estimator.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import TRE
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(-3, 1, 2000), rng.normal(3, 1, 2000))
    >>> tre = TRE(n_waymarks=4, random_state=0).fit(X, y)
    >>> tre.bridge_log_ratios([[-3.0], [3.0]]).shape
    (2, 5)
    >>> tre.log_ratio([[-3.0], [3.0]]).round(-1)  # truth: 18 and -18
    array([ 20., -20.])
    """

    crosses_chasm = True

    def __init__(
        self,
        waymarks: Any = "linear",
        *,
        n_waymarks: int | str = "auto",
        alphas: Any = None,
        form: str = "sqrt",
        limit: float = 0.8,
        pairings: int | str = "auto",
        coupled: bool = True,
        critic: Any = "quadratic",
        anchor: Any = None,
        maps: Any = None,
        l2: float | str = "auto",
        solver: str = "newton",
        tol: float = 1e-6,
        max_iter: int = 200,
        shared: bool | None = None,
        width: int = 128,
        depth: int = 2,
        steps: int = 3000,
        batch_size: int = 256,
        lr: float = 1e-3,
        weight_decay: float = 1e-5,
        validation: float = 0.15,
        patience: int = 10,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.waymarks = waymarks
        self.n_waymarks = n_waymarks
        self.alphas = alphas
        self.form = form
        self.limit = limit
        self.pairings = pairings
        self.coupled = coupled
        self.critic = critic
        self.anchor = anchor
        self.maps = maps
        self.l2 = l2
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.shared = shared
        self.width = width
        self.depth = depth
        self.steps = steps
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.validation = validation
        self.patience = patience
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _neural(self) -> bool:
        return isinstance(self.critic, str) and self.critic == _NEURAL

    def check_parameters(self) -> None:
        settings = self._settings()
        check_settings(settings.but(critic="quadratic") if self._neural else settings)
        check_verbose(self.verbose)
        if isinstance(self.waymarks, str):
            check_option(self.waymarks, "waymarks", ["linear", "dimension-wise"])
        if not is_auto(self.n_waymarks):
            check_number(self.n_waymarks, "n_waymarks", low=0, integer=True)
            if not isinstance(self.waymarks, str):
                raise ValueError(
                    "n_waymarks must be 'auto' where waymarks are given as auxiliaries; received "
                    f"{self.n_waymarks!r}."
                )
        if not is_auto(self.pairings):
            check_number(self.pairings, "pairings", low=1, integer=True)
        check_option(self.form, "form", list(_FORMS))
        check_number(self.limit, "limit", low=0.5, high=1.0, open_low=True, open_high=True)
        check_flag(self.coupled, "coupled")
        if self.alphas is not None:
            check_alphas(self.alphas, self.waymarks, self.n_waymarks)
        if self._neural:
            for name in ("width", "depth", "batch_size"):
                check_number(getattr(self, name), name, low=1, integer=True)
            check_number(self.validation, "validation", low=0, high=1, open_high=True)
        if self.shared is not None:
            check_flag(self.shared, "shared")
            if self.shared and not self._neural:
                raise ValueError(
                    "shared must be None or False unless critic is 'mlp': only networks have a "
                    f"body to share; received shared=True with critic={self.critic!r}."
                )

    def _settings(self) -> Settings:
        return Settings.of(self, auxiliaries=None)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        check_kinds(self.maps, samples.n_columns, "maps")
        where = canonical_map(samples)
        ends = collect_ends(samples)
        pairings = self.pairings
        if is_auto(pairings):
            pairings = default_pairings(ends)
        marks = self._place(samples, ends, where, seeds)
        # Auxiliaries that are given do what they say, about their own origin.
        centre = where.centre if isinstance(self.waymarks, str) else np.zeros_like(where.centre)
        self._chain = Chain(
            samples, seeds, ends, marks, centre, pairings=int(pairings), coupled=self.coupled
        )
        self.waymarks_, self.n_waymarks_ = self._chain.waymarks, len(marks)
        self.models_: list[CriticModel] = []
        if self._neural:
            self._fit_networks(seeds)
        else:
            self._fit_bridges(seeds)
        self._chain.forget()

    def _place(
        self, samples: TwoSamples, ends: list[Distinct], where: Any, seeds: Seeds
    ) -> list[Any]:
        """Unfitted waymarks, from p to q."""
        d = samples.n_columns
        if not isinstance(self.waymarks, str):
            return list(resolve_auxiliaries(self.waymarks, d, samples.names))
        few = min(len(end.rows) for end in ends) < FEWEST_ROWS
        rng = seeds("place")
        count = self.n_waymarks
        if is_auto(count) and few:
            count = FEW_WAYMARKS if self.waymarks == "linear" else min(FEW_WAYMARKS, d - 1)
        if self.waymarks == "dimension-wise":
            if is_auto(count):
                count = place_blocks(ends, self.limit, where, rng)
            return DimensionWiseMixing(int(count) + 1).split(d) if count else []
        if self.alphas is not None:
            alphas = list(self.alphas)
        elif is_auto(count):
            alphas = place_linear(ends, self.form, self.limit, where, rng)
        else:
            alphas = even_alphas(int(count))
        self.alphas_ = np.asarray(alphas, dtype=np.float64)
        return [LinearMixing([float(alpha)], _FORMS[self.form]) for alpha in alphas]

    def _fit_bridges(self, seeds: Seeds) -> None:
        settings = self._settings()
        held = is_auto(self.l2) and self._chain.can_hold_out and can_choose(settings)
        middle = self.n_waymarks_ // 2

        def task(k: int, begin: int | None) -> Any:
            parts = TwoSamples.both(self._chain.rows(j) for j in (k, k + 1))
            split = None
            if held:
                train, held_out = (
                    TwoSamples.both(self._chain.rows(j, part) for j in (k, k + 1))
                    for part in ("train", "held")
                )
                split = train, held_out
            own = int(seeds(f"bridge {k}").integers(2**31))
            return delayed(fit_bridge)(parts, split, settings, own, begin)

        # One bridge looks for its penalty everywhere, the others near what it found.
        first = Parallel(n_jobs=1)([task(middle, None)])[0]
        others = [k for k in range(self.n_waymarks_ + 1) if k != middle]
        chosen = first[0].penalty
        begin = chosen.strength if held and np.isfinite(chosen.l2) else None
        jobs = (task(k, begin) for k in others)
        found = dict(zip(others, Parallel(n_jobs=self.n_jobs)(jobs), strict=True))
        found[middle] = first
        bridges = [found[k] for k in range(self.n_waymarks_ + 1)]
        self.models_ = [fitted.model for fitted, _ in bridges]
        self.l2_ = np.array([fitted.l2 for fitted, _ in bridges])
        self.bridge_accuracy_ = np.array([fitted.penalty.accuracy for fitted, _ in bridges])
        self.n_iter_ = max(fitted.n_iter for fitted, _ in bridges)
        for category, message in dict.fromkeys(told for _, warned in bridges for told in warned):
            warnings.warn(message, category, stacklevel=5)

    def _fit_networks(self, seeds: Seeds) -> None:
        from ..neural import Training
        from ..neural.bridges import fit_bridges

        how = Training(
            steps=self.steps, lr=self.lr, weight_decay=self.weight_decay, patience=self.patience
        )
        self.bridges_ = fit_bridges(
            [Sample.of(rows) for rows in self._chain.paired()],
            shared=self.shared is not False,
            width=self.width,
            depth=self.depth,
            validation=self.validation,
            batch_size=self.batch_size,
            settings=how,
            rng=seeds("networks"),
            paired=self._chain.is_paired,
        )
        self.n_iter_ = self.bridges_.report.steps

    def evaluate(self, rows: Array) -> Array:
        return np.asarray(self._bridges(rows).sum(axis=1))

    def _bridges(self, rows: Array) -> Array:
        if self._neural:
            return np.asarray(self.bridges_.log_ratios(rows))
        return np.column_stack([model.log_ratio(rows) for model in self.models_])

    def bridge_log_ratios(self, X: Any) -> Array:
        """Log m_k / m_{k+1} of every bridge at the rows of X.

        Parameters
        ----------
        X : array-like or frame of shape (n, d) or (n,)

        Returns
        -------
        ndarray of shape (n, K + 1)
            Adds up to ``log_ratio(X)``.
        """
        check_is_fitted(self)
        rows = self.as_rows(X)
        out = np.empty((len(rows), self.n_waymarks_ + 1))
        for part in slices(len(rows)):
            out[part] = self._bridges(rows[part])
        return out

    def bridge_log_ratio(self, X: Any, k: int) -> Array:
        """Log m_k / m_{k+1} of bridge k, from 0 to K, at the rows of X, shape (n,)."""
        check_is_fitted(self)
        check_number(k, "k", low=0, high=self.n_waymarks_, integer=True)
        if self._neural:
            return self.bridge_log_ratios(X)[:, k]
        return self.models_[k].log_ratio(self.as_rows(X))

    def sample_waymark(self, k: int, n: int, random_state: RandomState = None) -> Array:
        """Draw rows of a waymark.

        Parameters
        ----------
        k : int
            0 is p, 1 to K are the waymarks, and K + 1 is q.
        n : int
            Number of rows.
        random_state : int, Generator, RandomState or None, default None

        Returns
        -------
        ndarray of shape (n, d)
        """
        check_is_fitted(self)
        check_number(k, "k", low=0, high=self.n_waymarks_ + 1, integer=True)
        check_number(n, "n", low=1, integer=True)
        return self._chain.sample(k, n, Seeds(random_state)("waymark"))

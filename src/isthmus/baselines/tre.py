"""TRE: telescoping density-ratio estimation.

Rhodes, Xu & Gutmann, "Telescoping Density-Ratio Estimation", NeurIPS 2020,
arXiv:2006.12204.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from ..auxiliaries import DimensionWiseMixing, LinearMixing, fit_auxiliary, resolve_auxiliaries
from ..data.distinct import Distinct
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..data.telling import tell
from ..data.validation import check_flag, check_number, check_option
from ..estimator import RatioEstimator
from ..maps.affine import AffineMap, canonical_map
from ..maps.shared import check_kinds
from ..model.checks import check_settings, check_verbose
from ..model.classes import CriticModel
from ..neural.bridges import fit_bridges
from ..settings import is_auto
from ..typing import Array, Auxiliary, RandomState
from .binary import Bridge, fit_bridge, only_penalty_open
from .parameters import ConvexParameters, NetworkParameters, check_unless_auto
from .waymarks import (
    FEW_WAYMARKS,
    FEWEST_ROWS,
    Chain,
    check_alphas,
    default_pairings,
    even_alphas,
    place_blocks,
    place_linear,
)

_FORMS = {"sqrt": "sqrt", "convex": "linear"}


@dataclass(eq=False, repr=False)
class TRE(ConvexParameters, NetworkParameters, RatioEstimator):
    """Estimate log p/q as a sum of log-ratios between waymarks.

    K waymarks m_1, ..., m_K lead from p = m_0 to q = m_{K+1}. Each of the K + 1 bridges
    is a binary classifier between neighbours, which are hard to tell apart, and ::

        log p(x) / q(x) = sum_k log m_k(x) / m_{k+1}(x).

    A row of a linear waymark is made of a row of p and one of q, ::

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
        As in :class:`BDRE`.
    shared : bool, optional
        With "mlp": one body for all bridges, the authors' and the default, or a network
        for each.
    width, depth, steps, batch_size, lr, weight_decay, validation, patience
        With "mlp": as in :class:`NNBD`, with at least one hidden layer, 3000 steps, and a
        look at the held-out loss every hundred steps.
    n_jobs : int, optional
        Bridges that are fitted at once; the result does not depend on it.
    random_state, verbose
        As in :class:`BDRE`; it seeds pairs and networks as well.

    Attributes
    ----------
    models_ : list of CriticModel
        The bridges' models, which have no rows; empty with "mlp".
    waymarks_, n_waymarks_ : list of auxiliaries and int
        The waymarks, fitted, and their number.
    alphas_ : ndarray of shape (K,)
        Positions of linear waymarks.
    chain_ : Chain
        Rows of p, of the waymarks and of q.
    l2_ : ndarray of shape (K + 1,)
        Penalties.
    bridge_accuracy_ : ndarray of shape (K + 1,)
        Share of held-out rows of the neighbours that each bridge told apart; NaN where
        none were held out. Near one, a bridge spans a chasm and more waymarks are needed.
    n_iter_ : int
        Largest number of solver steps of a bridge, or number of training steps.
    bridges_ : Bridges
        The networks, with "mlp".

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

    waymarks: Any = "linear"
    _: KW_ONLY
    n_waymarks: int | str = "auto"
    alphas: Any = None
    form: str = "sqrt"
    limit: float = 0.8
    pairings: int | str = "auto"
    coupled: bool = True
    critic: Any = "quadratic"
    shared: bool | None = None
    steps: int = 3000
    n_jobs: int | None = None

    @property
    def _neural(self) -> bool:
        return isinstance(self.critic, str) and self.critic == "mlp"

    def check_parameters(self) -> None:
        check_settings(self.settings(**{"critic": "quadratic"} if self._neural else {}))
        check_verbose(self.verbose)
        if isinstance(self.waymarks, str):
            check_option(self.waymarks, "waymarks", ["linear", "dimension-wise"])
        check_unless_auto(self.n_waymarks, "n_waymarks", low=0, integer=True)
        if not (isinstance(self.waymarks, str) or is_auto(self.n_waymarks)):
            raise ValueError(
                "n_waymarks must be 'auto' where waymarks are given as auxiliaries; received "
                f"{self.n_waymarks!r}."
            )
        check_unless_auto(self.pairings, "pairings", low=1, integer=True)
        check_option(self.form, "form", list(_FORMS))
        check_number(self.limit, "limit", low=0.5, high=1.0, open_low=True, open_high=True)
        check_flag(self.coupled, "coupled")
        if self.alphas is not None:
            check_alphas(self.alphas, self.waymarks, self.n_waymarks)
        if self._neural:
            self.check_network()
        if self.shared is not None:
            check_flag(self.shared, "shared")
            if self.shared and not self._neural:
                raise ValueError(
                    "shared must be None or False unless critic is 'mlp': only networks have a "
                    f"body to share; received shared=True with critic={self.critic!r}."
                )

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        check_kinds(self.maps, samples.n_columns, "maps")
        where = canonical_map(samples)
        ends = [Distinct.to_split(sample) for sample in samples]
        pairings = default_pairings(ends) if is_auto(self.pairings) else int(self.pairings)
        marks = self._place(samples, ends, where, seeds)
        # Auxiliaries that are given do what they say, about their own origin.
        centre = where.centre if isinstance(self.waymarks, str) else np.zeros_like(where.centre)
        self.waymarks_ = [fit_auxiliary(one, samples) for one in marks]
        self.n_waymarks_ = len(marks)
        chain = Chain(ends, self.waymarks_, centre, pairings, self.coupled, seeds)
        self.models_: list[CriticModel] = []
        if self._neural:
            self._fit_networks(chain, seeds)
        else:
            self._fit_bridges(chain, seeds)
        # A copy has not kept the pairs.
        self.chain_ = replace(chain)

    def _place(
        self, samples: TwoSamples, ends: list[Distinct], where: AffineMap, seeds: Seeds
    ) -> list[Auxiliary]:
        """Unfitted waymarks, from p to q."""
        d = samples.n_columns
        if not isinstance(self.waymarks, str):
            return list(resolve_auxiliaries(self.waymarks, d, samples.names))
        count, rng = self.n_waymarks, seeds("place")
        if is_auto(count) and min(len(end.rows) for end in ends) < FEWEST_ROWS:
            count = FEW_WAYMARKS if self.waymarks == "linear" else min(FEW_WAYMARKS, d - 1)
        if self.waymarks == "dimension-wise":
            if is_auto(count):
                count = place_blocks(ends, self.limit, where, rng)
            return list(DimensionWiseMixing(int(count) + 1).split(d)) if count else []
        if self.alphas is not None:
            alphas = list(self.alphas)
        elif is_auto(count):
            alphas = place_linear(ends, self.form, self.limit, where, rng)
        else:
            alphas = even_alphas(int(count))
        self.alphas_ = np.asarray(alphas, dtype=np.float64)
        return [LinearMixing([float(alpha)], _FORMS[self.form]) for alpha in alphas]

    def _fit_bridges(self, chain: Chain, seeds: Seeds) -> None:
        settings = self.settings()
        halves = chain.split() if is_auto(self.l2) and only_penalty_open(settings) else None
        middle = self.n_waymarks_ // 2

        def neighbours(chain: Chain, k: int) -> TwoSamples:
            return TwoSamples(chain.rows(k), chain.rows(k + 1))

        def task(k: int) -> tuple[Any, ...]:
            held = halves and (neighbours(halves[0], k), neighbours(halves[1], k))
            seed = int(seeds(f"bridge {k}").integers(2**31))
            return neighbours(chain, k), held, settings, seed

        # One bridge looks for its penalty everywhere, the others near what it found.
        first = fit_bridge(*task(middle))
        near, others = first.penalty.strength, set(range(self.n_waymarks_ + 1)) - {middle}
        jobs = (delayed(fit_bridge)(*task(k), near) for k in sorted(others))
        bridges: list[Bridge] = Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs)
        bridges.insert(middle, first)
        self.models_ = [bridge.model for bridge in bridges]
        self.l2_ = np.array([bridge.penalty.l2 for bridge in bridges])
        self.bridge_accuracy_ = np.array([bridge.penalty.accuracy for bridge in bridges])
        self.n_iter_ = max(bridge.n_iter for bridge in bridges)
        for category, message in dict.fromkeys(told for one in bridges for told in one.warned):
            tell(message, category, stacklevel=5)

    def _fit_networks(self, chain: Chain, seeds: Seeds) -> None:
        self.bridges_ = fit_bridges(
            [Sample.of(rows) for rows in chain.paired()],
            shared=self.shared is not False,
            width=self.width,
            depth=self.depth,
            validation=self.validation,
            batch_size=self.batch_size,
            settings=self.training_settings(),
            rng=seeds("networks"),
            paired=chain.is_paired,
        )
        self.n_iter_ = self.bridges_.report.steps

    def evaluate(self, rows: Array) -> Array:
        return np.asarray(self._bridges(rows).sum(axis=1))

    def _bridges(self, rows: Array) -> Array:
        if self._neural:
            return self.bridges_.log_ratios(rows)
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
        return self._bridges(self.as_rows(X))

    def bridge_log_ratio(self, X: Any, k: int) -> Array:
        """Log m_k / m_{k+1} of bridge k, from 0 to K, at the rows of X, shape (n,)."""
        check_is_fitted(self)
        check_number(k, "k", low=0, high=self.n_waymarks_, integer=True)
        if self._neural:
            return self.bridge_log_ratios(X)[:, k]
        return self.models_[k].log_ratio(self.as_rows(X))

    def sample_waymark(self, k: int, n: int, random_state: RandomState = None) -> Array:
        """Draw n rows of waymark k, shape (n, d); 0 is p, and K + 1 is q."""
        check_is_fitted(self)
        check_number(k, "k", low=0, high=self.n_waymarks_ + 1, integer=True)
        check_number(n, "n", low=1, integer=True)
        return self.chain_.sample(k, n, Seeds(random_state)("waymark"))

"""InfoNCE, contrastive estimation of mutual information.

van den Oord, Li & Vinyals, "Representation Learning with Contrastive Predictive Coding", 2018;
Poole, Ozair, van den Oord, Alemi & Tucker, "On Variational Bounds of Mutual Information",
ICML 2019.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.blocks import slices
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import as_rows, as_weight, check_number, check_option
from ..estimator import RatioEstimator
from ..neural import evaluate, require_torch, seeded, train
from ..neural.parameters import check_shared, training_of
from ..neural.training import printed
from ..typing import Array, IntArray
from .parameters import NetworkParameters

CRITICS = ("separable", "joint")
# Rows of y whose scores stand for their mean, at least.
REFERENCES = 1024
# Scores that are held at a time, and pairs that go through a network together.
_SCORES, _PAIRS = 2**22, 2**14


@dataclass(eq=False, repr=False)
class InfoNCE(NetworkParameters, RatioEstimator):
    """Estimate log p(x, y) / p(x) p(y) by telling the partner of x from other rows' partners.

    The columns are two groups, x and y. In a batch of K rows a critic f is trained to find, for
    each x, its own y among the K::

        loss = -E[ f(x_i, y_i) - log sum_j exp f(x_i, y_j) ].

    At the minimum f(x, y) is log p(y|x) / p(y) up to a function of x, which the partition
    takes away::

        log r(x, y) = f(x, y) - log( (exp f(x, y) + (K - 1) mean_j exp f(x, y_j)) / K ),

    with y_j rows of y kept from the fit. The mean of log r over rows of p is a lower bound of
    the mutual information, KL(p(x, y) ‖ p(x) p(y)).

    **The bound is never above log K**, nor is any log-ratio: 4.16 for a batch of 64 and 6.24 for
    512, whatever the truth. Close to that cap the estimate is too small.

    The denominator q must be the product of p's margins: its rows are not used, since shuffled
    rows of p stand for it. For pairs use :meth:`from_pairs`.

    Parameters
    ----------
    critic : {"separable", "joint"}, default "separable"
        f(x, y) is the inner product of two networks' outputs, one of x and one of y, or one
        network of both, which costs K times as much.
    columns_x : sequence of int or str, or None, default None
        Columns of x by number or name; all others are y. None is the first half.
    embedding : int, default 32
        Outputs of the two networks of the separable critic.
    batch_size : int, default 128
        K; no more than there are rows to train on.
    width, depth, steps, lr, weight_decay, validation, patience, random_state, verbose
        As in :class:`NNBD`.

    Attributes
    ----------
    mutual_information_ : float
        Mean log-ratio of the rows of p held out. They have chosen when to stop; rows that the
        fit has not seen are judged by :meth:`estimate`.
    largest_ : float
        log K, which no log-ratio exceeds.
    columns_x_, columns_y_ : ndarray of int
        Numbers of the columns.
    module_ : torch.nn.ModuleList
        The networks, in double precision.
    references_ : ndarray of shape (M, d_y)
        The rows y_j, standardised.
    training_, n_iter_, standard_
        As in :class:`NNBD`.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.baselines import InfoNCE
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(3000, 1))
    >>> y = 0.8 * x + 0.6 * rng.normal(size=(3000, 1))
    >>> nce = InfoNCE.from_pairs(x, y, width=32, steps=300, lr=5e-3, random_state=0)
    >>> round(nce.mutual_information_, 1)  # truth: 0.51
    0.5
    """

    critic: str = "separable"
    _: KW_ONLY
    columns_x: Sequence[int] | Sequence[str] | None = None
    embedding: int = 32
    batch_size: int = 128

    @classmethod
    def from_pairs(cls, x: Any, y: Any, *, sample_weight: Any = None, **parameters: Any) -> InfoNCE:
        """Fit to pairs: row i of x belongs to row i of y.

        Parameters
        ----------
        x, y : array-like of shape (n, d_x) and (n, d_y), or (n,)
        sample_weight : array-like of shape (n,), optional
        **parameters
            Of the class, but ``columns_x``.

        Returns
        -------
        InfoNCE
            Fitted; its rows are those of x and y side by side.
        """
        x_rows, y_rows = _pairs(x, y)
        shuffled = y_rows[Seeds(parameters.get("random_state"))("shuffle").permutation(len(y_rows))]
        rows = np.vstack([np.hstack([x_rows, y_rows]), np.hstack([x_rows, shuffled])])
        label = np.repeat([1, 0], len(x_rows))
        weight = np.tile(as_weight(sample_weight, len(x_rows)), 2)
        return cls(columns_x=list(range(x_rows.shape[1])), **parameters).fit(rows, label, weight)

    def estimate(self, x: Any, y: Any) -> float:
        """Mutual information by pairs that the fit has not seen: their mean log-ratio.

        Parameters
        ----------
        x, y : array-like of shape (n, d_x) and (n, d_y), or (n,)

        Returns
        -------
        float
            At most log K, ``largest_``.
        """
        check_is_fitted(self)
        x_rows, y_rows = _pairs(x, y)
        for name, rows, columns in (("x", x_rows, self.columns_x_), ("y", y_rows, self.columns_y_)):
            if rows.shape[1] != len(columns):
                raise ValueError(
                    f"{name} must have {len(columns)} columns, as in the fit; received "
                    f"{rows.shape[1]}."
                )
        both = np.empty((len(x_rows), self.n_features_in_))
        both[:, self.columns_x_], both[:, self.columns_y_] = x_rows, y_rows
        return float(np.mean(self.log_ratio(both)))

    def check_parameters(self) -> None:
        require_torch("InfoNCE")
        check_option(self.critic, "critic", CRITICS)
        check_number(self.embedding, "embedding", low=1, integer=True)
        check_shared(self, least_batch=2)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        self.columns_x_, self.columns_y_ = self._columns(samples)
        batches = self.make_batches([samples.p], seeds("held out"))
        self.standard_ = batches.standard
        size = max(min(self.batch_size, batches.sizes[0]), 2)
        self.largest_ = math.log(size)
        rng = seeds("network")
        with seeded(rng) as generator:
            module = self._networks()
            n = max(size - 1, REFERENCES) if self.critic == "separable" else size - 1
            references = batches.draw(generator, n)[0][:, self.columns_y_]

        def loss(generator: Any) -> Any:
            rows = batches.draw(generator, size)[0]
            partners = _partners(module, rows[:, self.columns_y_])
            scores = _scores(module, rows[:, self.columns_x_], partners)
            return -scores.log_softmax(dim=1).diagonal().mean()

        def held_out() -> float:
            return -batches.held_out_mean(lambda _, rows: self._contrast(module, rows, references))

        self.training_ = train(
            module,
            loss,
            rng=rng,
            held_out=None if batches.held is None else held_out,
            settings=training_of(self),
            progress=printed("InfoNCE", self.verbose),
        )
        self.n_iter_ = self.training_.steps
        self.module_, self.references_ = module.double(), references.double().numpy()
        self.mutual_information_ = -self.training_.held_out
        if batches.held is None:
            self.mutual_information_ = float(samples.p.share @ self.log_ratio_at(samples.p.rows))

    def _columns(self, samples: TwoSamples) -> tuple[IntArray, IntArray]:
        """Numbers of the columns of x and of y."""
        d, names = samples.n_columns, samples.names
        if d < 2:
            raise ValueError(
                "X must have at least two columns, one of x and one of y; received 1 feature(s) "
                "(n_features=1)."
            )
        given: Any = range(d // 2) if self.columns_x is None else self.columns_x
        chosen: list[Any] = list(given) if isinstance(given, Iterable) else [None]
        numbers = [names.index(one) if names and one in names else one for one in chosen]
        right = all(isinstance(one, (int, np.integer)) and 0 <= one < d for one in numbers)
        if not right or len(set(numbers)) != len(numbers) or not 0 < len(numbers) < d:
            raise ValueError(
                f"columns_x must hold some, but not all, of the {d} columns, each once; received "
                f"{given!r}."
            )
        return np.array(numbers, dtype=int), np.setdiff1d(np.arange(d), numbers)

    def _networks(self) -> Any:
        """One network of both for the joint critic, else one of x and one of y."""
        nn = require_torch("InfoNCE").nn
        d_x, d_y = len(self.columns_x_), len(self.columns_y_)
        if self.critic == "joint":
            return nn.ModuleList([self.make_network(d_x + d_y)])
        networks = [self.make_network(d, self.embedding) for d in (d_x, d_y)]
        # If both started at zero, neither would have a gradient.
        networks[1][-1].reset_parameters()
        return nn.ModuleList(networks)

    def _contrast(self, module: Any, rows: Any, references: Any) -> Any:
        """Critic at rows less the log of its partition; tensors of one precision."""
        torch = require_torch("InfoNCE")
        others = _partners(module, references)
        most = _SCORES if len(module) == 2 else _PAIRS
        # Among the K - 1 others, in the mean.
        share = math.log(math.expm1(self.largest_)) - math.log(len(references))
        out = []
        for part in slices(len(rows), max(most // len(references), 1)):
            x, y = rows[part][:, self.columns_x_], rows[part][:, self.columns_y_]
            own = _own_scores(module, x, _partners(module, y))
            rest = torch.logsumexp(_scores(module, x, others), dim=1) + share
            out.append(own - torch.logaddexp(own, rest) + self.largest_)
        return torch.cat(out)

    def evaluate(self, rows: Array) -> Array:
        torch = require_torch("InfoNCE")
        references = torch.from_numpy(self.references_)
        return evaluate(lambda x: self._contrast(self.module_, x, references), self.standard_(rows))


def _partners(module: Any, y: Any) -> Any:
    """What the critic needs of y, to be found once for all x."""
    return module[1](y) if len(module) == 2 else y


def _scores(module: Any, x: Any, partners: Any) -> Any:
    """Critic of every x with every y, shape (n, m)."""
    if len(module) == 2:
        return module[0](x) @ partners.T
    n, m = len(x), len(partners)
    every_x, every_y = x[:, None].expand(n, m, -1), partners[None].expand(n, m, -1)
    return module[0](require_torch("InfoNCE").cat([every_x, every_y], dim=2)).squeeze(-1)


def _own_scores(module: Any, x: Any, partners: Any) -> Any:
    """Critic of every x with its own y, shape (n,)."""
    if len(module) == 2:
        return (module[0](x) * partners).sum(dim=1)
    return module[0](require_torch("InfoNCE").cat([x, partners], dim=1)).squeeze(-1)


def _pairs(x: Any, y: Any) -> tuple[Array, Array]:
    x_rows, y_rows = as_rows(x, "x"), as_rows(y, "y")
    if len(x_rows) != len(y_rows):
        raise ValueError(
            f"x and y must have the same number of rows; received {len(x_rows)} and {len(y_rows)}."
        )
    return x_rows, y_rows

"""``compare(p, q)``: from two samples to log p/q, divergences and a verdict."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import clone

from ._random import Seeds
from ._tables import TableEncoder, is_table
from ._typing import Array, RandomState
from ._validation import as_two_samples, as_weight, check_number
from .diagnostics import (
    Check,
    check_accuracy,
    check_convergence,
    check_effective_size,
    check_flexibility,
    check_normalisation,
    check_support,
)
from .diagnostics.checks import COVERED
from .functionals import (
    Divergence,
    Estimate,
    donsker_varadhan,
    effective_sample_size,
    get_divergence,
    importance_weights,
    nwj,
)
from .functionals.intervals import delta_std_error
from .mdre import MDRE

Progress = Callable[[int, int, str], None]

_FRESH_ROWS = 20_000
_FEW_ROWS = 2000


def compare(
    p: Any,
    q: Any,
    *,
    estimator: Any = None,
    folds: int | None = None,
    level: float = 0.95,
    weight_p: Any = None,
    weight_q: Any = None,
    columns: Any = None,
    missing: str = "error",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Compare two samples.

    One model is fitted to all rows, for new points. Divergences come from
    cross-fitting: each row's log-ratio is predicted by a model that has not seen
    it.

    Parameters
    ----------
    p, q : array-like or frame of shape (n, d) or (n,)
        Samples of the numerator and of the denominator. Frames (pandas, polars,
        pyarrow or a dict of columns) are matched by column name; text and
        categories become 0/1 columns.
    estimator : estimator, optional
        Anything with ``fit(X, y)`` and ``log_ratio(X)``; by default
        :class:`MDRE` with its own defaults.
    folds : int, optional
        Number of folds of the cross-fitting; by default 5, and 10 if either sample
        has fewer than 2000 rows.
    level : float, default 0.95
        Level of the intervals.
    weight_p, weight_q : array-like of shape (n,), optional
        Weights of the rows.
    columns : list of str, optional
        Columns of the frames to use; by default all.
    missing : {"error", "drop", "indicator"}, default "error"
        What to do with missing values in frames: refuse them, leave their rows
        out, or fill in the median and add a 0/1 column that says where.
    random_state : int, Generator, RandomState or None
        Makes the result reproducible.
    n_jobs : int, optional
        Number of fits to run at a time, as in scikit-learn.
    progress : callable or bool, optional
        True shows a progress bar; a callable receives (done, total, what).

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> c = isthmus.compare(rng.normal(-1, 0.08, 3000), rng.normal(2, 0.15, 3000), random_state=0)
    >>> bool(c.kl.low < 200.27 < c.kl.high)  # the truth
    True
    >>> c.diagnostics["convergence"].verdict
    'ok'
    """
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    if folds is not None:
        check_number(folds, "folds", low=2, integer=True)
    if n_jobs is not None:
        check_number(n_jobs, "n_jobs", low=-64, integer=True)
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ValueError(f"progress must be True, False or a function; received {progress!r}.")
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names; received the text {columns!r}.")
    encoder = None
    if is_table(p) and is_table(q):
        encoder = TableEncoder(columns, missing=missing)  # type: ignore[arg-type]
        n_p, n_q = _length(p), _length(q)
        p, q = encoder.fit_transform(p, q)
        weight_p = _kept(as_weight(weight_p, n_p, "weight_p"), encoder.kept_p_)
        weight_q = _kept(as_weight(weight_q, n_q, "weight_q"), encoder.kept_q_)
    elif columns is not None or missing != "error":
        raise ValueError(
            "columns and missing apply to frames; received "
            f"{type(p).__name__} and {type(q).__name__}."
        )
    rows_p, rows_q, _ = as_two_samples(p, q)
    weight_p = as_weight(weight_p, len(rows_p), "weight_p")
    weight_q = as_weight(weight_q, len(rows_q), "weight_q")
    least = min(len(rows_p), len(rows_q))
    if folds is None:
        folds = min(10 if least < _FEW_ROWS else 5, max(least // 2, 2))
    if least < 2 * folds:
        raise ValueError(
            f"p and q must have at least two rows for each of {folds} folds; received "
            f"{len(rows_p)} and {len(rows_q)} rows. Give more rows or fewer folds."
        )
    seeds = Seeds(random_state)
    model = clone(estimator) if estimator is not None else MDRE()
    for name in ("fit", "log_ratio"):
        if not callable(getattr(model, name, None)):
            raise ValueError(
                f"estimator must have fit(X, y) and log_ratio(X); received a "
                f"{type(model).__name__} without {name}."
            )
    if getattr(model, "random_state", 0) is None:
        model.set_params(random_state=int(seeds("fit").integers(2**31)))
    split_p = _folds(len(rows_p), folds, seeds)
    split_q = _folds(len(rows_q), folds, seeds)

    with _Reporter(progress, folds + 1) as report:
        report("fit to all rows")
        full = clone(model)
        _fit(full, rows_p, rows_q, weight_p, weight_q)

        def run(fold: int) -> tuple[Array, Array, Any, Any]:
            here_p, here_q = split_p == fold, split_q == fold
            part = clone(model)
            _fit(
                part,
                rows_p[~here_p],
                rows_q[~here_q],
                None if weight_p is None else weight_p[~here_p],
                None if weight_q is None else weight_q[~here_q],
            )
            accuracy = None
            if hasattr(part, "class_log_likelihood"):
                X, y, weight = _stacked(
                    rows_p[here_p],
                    rows_q[here_q],
                    None if weight_p is None else weight_p[here_p],
                    None if weight_q is None else weight_q[here_q],
                )
                accuracy = part.class_log_likelihood(X, y, weight)[1]
            held_p, held_q = part.log_ratio(rows_p[here_p]), part.log_ratio(rows_q[here_q])
            return held_p, held_q, accuracy, getattr(part, "solution_", None)

        results = []
        with warnings.catch_warnings():
            # The fit to all rows has said it already; convergence is a check of its own.
            warnings.simplefilter("ignore")
            for fold, result in enumerate(_each(run, folds, n_jobs)):
                report(f"fold {fold + 1} of {folds}")
                results.append(result)
        report("")
    log_ratio_p, log_ratio_q = np.empty(len(rows_p)), np.empty(len(rows_q))
    for fold, result in enumerate(results):
        log_ratio_p[split_p == fold], log_ratio_q[split_q == fold] = result[:2]
    return Comparison(
        estimator=full,
        log_ratio_p=log_ratio_p,
        log_ratio_q=log_ratio_q,
        weight_p=weight_p,
        weight_q=weight_q,
        level=level,
        encoder=encoder,
        accuracies=[result[2] for result in results if result[2] is not None],
        solutions=[result[3] for result in results if result[3] is not None],
    )


class Comparison:
    """What :func:`compare` found out about two samples.

    Attributes
    ----------
    estimator : estimator
        The model fitted to all rows.
    log_ratio_p, log_ratio_q : ndarray of shape (n_p,) and (n_q,)
        Cross-fitted log p/q at the rows of the two samples.
    level : float
        Level of the intervals.
    feature_names : list of str or None
        Names of the columns after encoding, where frames were given.
    """

    def __init__(
        self,
        *,
        estimator: Any,
        log_ratio_p: Array,
        log_ratio_q: Array,
        weight_p: Array | None,
        weight_q: Array | None,
        level: float,
        encoder: TableEncoder | None,
        accuracies: list[Array],
        solutions: list[Any],
    ) -> None:
        self.estimator = estimator
        self.log_ratio_p, self.log_ratio_q = log_ratio_p, log_ratio_q
        self.weight_p, self.weight_q = weight_p, weight_q
        self.level = level
        self.feature_names = None if encoder is None else list(encoder.feature_names_)
        self._encoder = encoder
        self._accuracies = accuracies
        self._solutions = solutions

    def log_ratio(self, x: Any, numerator: str = "p", denominator: str = "q") -> Array:
        """Log p(x)/q(x) at new rows, by the model fitted to all rows.

        Parameters
        ----------
        x : array-like or frame of shape (n, d) or (n,)
        numerator, denominator : str
            Any two classes of the model: "p", "q" or an auxiliary such as "m1".

        Returns
        -------
        ndarray of shape (n,)
        """
        x = self._encode(x)
        if (numerator, denominator) == ("p", "q"):
            return np.asarray(self.estimator.log_ratio(x))
        return np.asarray(self.estimator.log_ratio(x, numerator, denominator))

    def weights(self, x: Any = None) -> Array:
        """Importance weights p/q, with mean one over the rows of x.

        Parameters
        ----------
        x : array-like or frame, optional
            Rows to weight; by default those of q, with cross-fitted ratios.

        Returns
        -------
        ndarray of shape (n,)
        """
        log_ratio = self.log_ratio_q if x is None else self.log_ratio(x)
        return np.asarray(importance_weights(log_ratio))

    @property
    def kl(self) -> Estimate:
        """KL(p‖q) in nats, with its interval."""
        return self.divergence("kl")

    def divergence(self, spec: Any, level: float | None = None) -> Estimate:
        """A divergence of p from q, with its interval.

        Parameters
        ----------
        spec : str or callable
            "kl", "reverse-kl", "js", "hellinger" (squared), "chi2" or
            "pearson", "neyman", "tv", "alpha:0.5", "renyi:2", or a convex function f
            with f(1) = 0.
        level : float, optional
            Level of the interval, by default that of the comparison.

        Returns
        -------
        Estimate
            The interval counts the error of the fit and that of the evaluation,
            by the delta method.
        """
        level = self.level if level is None else level
        check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
        divergence = get_divergence(spec)
        value, error = self._value_and_error(divergence)
        return Estimate.from_std_error(
            value, error, level=level, lower=0.0, upper=divergence.upper, method="delta"
        )

    def lower_bound(self, kind: str = "donsker-varadhan") -> float:
        """Variational lower bound on KL(p‖q) at the cross-fitted log-ratios.

        Parameters
        ----------
        kind : {"donsker-varadhan", "nwj"}

        Returns
        -------
        float
            A lower bound up to sampling error, whatever the model.

        Warns
        -----
        UserWarning
            If no rows of q lie where p has its mass: the mean of p/q over q then
            misses its largest terms, and the number bounds nothing.
        """
        functions = {"donsker-varadhan": donsker_varadhan, "nwj": nwj}
        if kind not in functions:
            raise ValueError(f"kind must be one of {list(functions)}; received {kind!r}.")
        if self._reach("p") < COVERED:
            warnings.warn(
                "q has no rows where p has most of its mass, so that this number is not a bound.",
                stacklevel=2,
            )
        return float(
            functions[kind](self.log_ratio_p, self.log_ratio_q, self.weight_p, self.weight_q)
        )

    @cached_property
    def diagnostics(self) -> MappingProxyType[str, Check]:
        """Checks by name: "convergence", "accuracy", "normalisation_q" and so on."""
        checks: dict[str, Check] = {}
        model = self.estimator
        if self._solutions:
            checks["convergence"] = check_convergence([model.solution_, *self._solutions])
        if self._accuracies:
            correct = (self.log_ratio_p > 0).mean() + (self.log_ratio_q < 0).mean()
            mean = np.mean(self._accuracies, axis=0)
            checks["accuracy"] = check_accuracy(
                dict(zip(model.class_names_, mean.tolist(), strict=True)), 0.5 * float(correct)
            )
        checks["normalisation_q"] = self._normalisation("p", "q")
        checks["normalisation_p"] = self._normalisation("q", "p")
        checks["effective_sample_size"] = check_effective_size(self.log_ratio_q, self.weight_q)
        if hasattr(model, "objective_"):
            sample = model.objective_.sample
            p, q = sample.X[sample.label == 0], sample.X[sample.label == 1]
            checks["support"] = check_support(p, q)
            if self.weight_p is None and self.weight_q is None:
                checks["flexibility"] = check_flexibility(p, q, self.log_ratio_p, self.log_ratio_q)
        return MappingProxyType(checks)

    @property
    def trusted(self) -> bool:
        """Whether no check on the ratio itself has failed."""
        return all(
            check.verdict != "fail"
            for check in self.diagnostics.values()
            if check.concerns == "ratio"
        )

    def __repr__(self) -> str:
        return (
            f"Comparison(n_p={len(self.log_ratio_p)}, n_q={len(self.log_ratio_q)}, "
            f"kl={self.kl}, trusted={self.trusted})"
        )

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        # A read-only view cannot be pickled, and the checks are quickly made again.
        state.pop("diagnostics", None)
        state.pop("_point", None)
        return state

    @cached_property
    def _point(self) -> Any:
        model = self.estimator
        if not hasattr(model, "objective_"):
            return None
        return model.objective_.at(model.solution_.theta)

    def _value_and_error(self, divergence: Divergence) -> tuple[float, float]:
        arguments = (self.log_ratio_p, self.log_ratio_q, self.weight_p, self.weight_q)
        value = float(divergence.value(*arguments))
        if not np.isfinite(value):
            return value, np.inf
        linear = divergence.linearise(*arguments)
        keep = [w if w is None else w[w > 0] for w in (self.weight_p, self.weight_q)]
        if self.weight_p is not None or self.weight_q is not None:
            # The labelled sample holds no rows of weight zero.
            p_rows = slice(None) if self.weight_p is None else self.weight_p > 0
            q_rows = slice(None) if self.weight_q is None else self.weight_q > 0
            linear = type(linear)(
                linear.p[p_rows], linear.q[q_rows], linear.p_slope[p_rows], linear.q_slope[q_rows]
            )
        anchored = getattr(self.estimator, "anchor", None) is not None
        error = delta_std_error(linear, keep[0], keep[1], self._point, anchored)
        return value, error if np.isfinite(error) else np.inf

    def _normalisation(self, top: str, bottom: str) -> Check:
        """Check that E_bottom[top/bottom] is one, on rows that can tell."""
        sign = 1.0 if top == "p" else -1.0
        log_ratio, weight = (
            (self.log_ratio_q, self.weight_q)
            if bottom == "q"
            else (self.log_ratio_p, self.weight_p)
        )
        terms, what, how = sign * log_ratio, f"E_{bottom}[{top}/{bottom}]", f"the rows of {bottom}"
        auxiliaries = getattr(self.estimator, "auxiliaries_", [])
        if self._reach(top) < COVERED and auxiliaries:
            # Across the chasm no row of the denominator carries the expectation. Over an
            # auxiliary the same integral, the total mass of the numerator, can be seen.
            most = -1.0
            for name, auxiliary in zip(self.estimator.class_names_[2:], auxiliaries, strict=True):
                rows = np.asarray(auxiliary.sample(_FRESH_ROWS, Seeds(0)(name)))
                candidate = self.estimator.log_ratio(rows, top, name)
                size = float(effective_sample_size(candidate))
                if size > most:
                    most, terms, weight = size, candidate, None
                    what, how = f"E_{name}[{top}/{name}]", f"fresh rows of {name}"
        return check_normalisation(terms, weight, what, how)

    def _reach(self, top: str) -> float:
        """Share of the rows of one sample whose ratio the other sample attains too."""
        if top == "p":
            return float((self.log_ratio_p <= self.log_ratio_q.max()).mean())
        return float((self.log_ratio_q >= self.log_ratio_p.min()).mean())

    def _encode(self, x: Any) -> Any:
        if self._encoder is not None and is_table(x):
            return self._encoder.transform(x)
        return x


class _Reporter:
    """Calls the user's function, or shows a progress bar, or does nothing."""

    def __init__(self, progress: Progress | bool | None, total: int) -> None:
        self.progress, self.total, self.done = progress, total, -1
        self.bar: Any = None

    def __enter__(self) -> Callable[[str], None]:
        if self.progress is True:
            from rich.progress import Progress as Bar

            self.bar = Bar(transient=True)
            self.bar.start()
            self.task = self.bar.add_task("comparing", total=self.total)
        return self._report

    def _report(self, what: str) -> None:
        self.done += 1
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done, description=what or "done")
        elif callable(self.progress):
            self.progress(self.done, self.total, what)

    def __exit__(self, *exc: object) -> None:
        if self.bar is not None:
            self.bar.stop()


def _folds(n: int, folds: int, seeds: Seeds) -> np.ndarray:
    """Fold of each row. The two samples share the draw, so that swapping them changes nothing."""
    return seeds("folds").permutation(np.arange(n) % folds)


def _stacked(p: Array, q: Array, weight_p: Array | None, weight_q: Array | None) -> tuple[Any, ...]:
    X = np.concatenate([p, q])
    y = np.repeat([1, 0], [len(p), len(q)])
    if weight_p is None and weight_q is None:
        return X, y, None
    one_p = np.ones(len(p)) if weight_p is None else weight_p
    one_q = np.ones(len(q)) if weight_q is None else weight_q
    return X, y, np.concatenate([one_p, one_q])


def _fit(model: Any, p: Array, q: Array, weight_p: Array | None, weight_q: Array | None) -> None:
    X, y, weight = _stacked(p, q, weight_p, weight_q)
    if weight is None:
        model.fit(X, y)
    else:
        model.fit(X, y, sample_weight=weight)


def _each(run: Callable[[int], Any], folds: int, n_jobs: int | None) -> Any:
    """Results of the folds in order, as they come."""
    if n_jobs is None or n_jobs == 1:
        return (run(fold) for fold in range(folds))
    from joblib import Parallel, delayed

    # Threads: the work is in NumPy, which lets go of the interpreter's lock.
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    return parallel(delayed(run)(fold) for fold in range(folds))


def _length(table: Any) -> int:
    if isinstance(table, dict):
        return len(next(iter(table.values()), ()))
    return int(getattr(table, "num_rows", None) or len(table))


def _kept(weight: Array | None, kept: np.ndarray) -> Array | None:
    return None if weight is None else weight[kept]

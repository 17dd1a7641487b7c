"""``compare(p, q)``: from two samples to log p/q, divergences and a verdict."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from sklearn.base import clone

from ._kept import KeptRows
from ._random import Seeds
from ._tables import TableEncoder, is_table
from ._typing import Array, RandomState
from ._validation import as_two_samples, as_weight, check_number
from .comparison import Comparison
from .critics.classifier import is_classifier
from .functionals.intervals import has_influence
from .mdre import MDRE

Progress = Callable[[int, int, str], None]

_FEW_ROWS = 2000


def compare(
    p: Any,
    q: Any,
    *,
    estimator: Any = None,
    critic: Any = "auto",
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
    critic : str, critic, classifier or torch.nn.Module, default "auto"
        The critic of that MDRE. "auto" chooses among convex critics, and tries a network
        where boosted trees see more than these and torch is installed; "mlp" is a network in any
        case.
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
    if estimator is not None and not (isinstance(critic, str) and critic == "auto"):
        raise ValueError(
            "critic must be left out where an estimator is given, which has its own; received both."
        )
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names; received the text {columns!r}.")
    settings = {
        "estimator": estimator,
        "folds": folds,
        "columns": columns,
        "missing": missing,
        "random_state": random_state,
        "weighted": weight_p is not None or weight_q is not None,
    }
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
    missing_values = is_classifier(getattr(estimator, "critic", critic))
    rows_p, rows_q, _ = as_two_samples(p, q, missing=missing_values)
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
    model = clone(estimator) if estimator is not None else MDRE(critic=critic)
    for name in ("fit", "log_ratio"):
        if not callable(getattr(model, name, None)):
            raise ValueError(
                f"estimator must have fit(X, y) and log_ratio(X); received a "
                f"{type(model).__name__} without {name}."
            )
    if model.get_params(deep=False).get("random_state", 0) is None:
        model.set_params(random_state=int(seeds("fit").integers(2**31)))
    split_p = _folds(len(rows_p), folds, seeds)
    split_q = _folds(len(rows_q), folds, seeds)

    with _Reporter(progress, folds + 1) as report:
        report("fit to all rows")
        full = clone(model)
        with nullcontext() if encoder is None else encoder.expected():
            _fit(full, rows_p, rows_q, weight_p, weight_q)

        def run(fold: int) -> tuple[Any, ...]:
            here_p, here_q = split_p == fold, split_q == fold
            # The choices of the full fit hold for the folds, which start where it ended.
            part = clone(model).set_params(**getattr(full, "best_params_", {}))
            _fit(
                part,
                rows_p[~here_p],
                rows_q[~here_q],
                None if weight_p is None else weight_p[~here_p],
                None if weight_q is None else weight_q[~here_q],
                start=getattr(full, "solution_", None),
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
            if has_influence(full):
                held, every = (part.log_ratio(rows_p[here_p]), part.log_ratio(rows_q[here_q])), None
            else:
                # How far the fit moves without a fold is what tells its error.
                every = part.log_ratio(rows_p), part.log_ratio(rows_q)
                held = every[0][here_p], every[1][here_q]
            return *held, accuracy, getattr(part, "solution_", None), every

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
        without_fold=[result[4] for result in results if result[4] is not None],
        rows=KeptRows.of(rows_p, rows_q, weight_p, weight_q),
        settings=settings,
        folds=(split_p, split_q),
    )


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


def _fit(
    model: Any,
    p: Array,
    q: Array,
    weight_p: Array | None,
    weight_q: Array | None,
    start: Any = None,
) -> None:
    X, y, weight = _stacked(p, q, weight_p, weight_q)
    given = {} if weight is None else {"sample_weight": weight}
    if start is not None:
        given["start"] = start
    model.fit(X, y, **given)


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

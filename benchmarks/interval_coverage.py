"""Coverage of the default 95 % interval of KL(p, q), over replications.

    python benchmarks/interval_coverage.py [--quick] [--replications 200]
                                           [--cells "Table 1 row 1, 1k" ...]

Every replication draws new samples and calls ``isthmus.compare`` with its defaults. For Table 1
the total is shared by p, q and m, as in the paper: 333 or 3,333 rows of each. Columns:

cover, ok
    Share of the intervals that hold the truth, with its standard error, and whether it is
    from 90 to 98 %. No interval goes below zero, the least value. Where p = q it therefore holds
    the truth unless its lower end is above zero, and the goal there is at least 90 %.
low, high
    Share of the intervals that lie wholly below and wholly above the truth.
bias, sd, s.e.
    Of the estimates over the replications, and the median of the standard errors they come with.
width / limit
    Median width of the intervals over that of an estimate that knows the families of p and
    q and fits them by maximum likelihood: 3.92 standard errors of the information inequality.
s
    Median seconds of a comparison.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from _record import Run, console, options, progress, table, verdict
from joblib import Parallel, delayed, parallel_config
from scipy import special

from isthmus import compare, problems
from isthmus.problems import DistributionPair, Gaussian, truths

LOW, HIGH, LEVEL = 0.90, 0.98, 0.95
DRAWS = 200_000
Scores = Callable[[Any, np.ndarray], np.ndarray]


def normal_scores(law: Any, x: np.ndarray) -> np.ndarray:
    """Sufficient statistics of a normal distribution: what its scores span."""
    first, second = np.triu_indices(x.shape[1])
    return np.column_stack([x, x[:, first] * x[:, second]])


def gamma_scores(law: Any, x: np.ndarray) -> np.ndarray:
    """Sufficient statistics of a gamma distribution."""
    return np.column_stack([x, np.log(x)])


def student_scores(law: Any, x: np.ndarray) -> np.ndarray:
    """Scores of a Student-t distribution in location, scatter and degrees of freedom."""
    z = law.scatter.whiten(x - law.loc)
    df, d, distance = law.df, law.dim, (z**2).sum(axis=1)
    weight = (df + d) / (df + distance)
    first, second = np.triu_indices(d)

    def by_df(df: float) -> np.ndarray:
        constant = special.gammaln((df + d) / 2) - special.gammaln(df / 2) - d / 2 * np.log(df)
        return np.asarray(constant - (df + d) / 2 * np.log1p(distance / df))

    step = 1e-4 * df
    slope = (by_df(df + step) - by_df(df - step)) / (2 * step)
    both = weight[:, None] * z[:, first] * z[:, second]
    return np.column_stack([weight[:, None] * z, both, slope])


@dataclass(frozen=True)
class Cell:
    """A problem, the rows of each sample, and the scores of its families."""

    name: str
    problem: Callable[[], Any]
    rows: int
    scores: Scores = normal_scores


def normals(kl: float) -> DistributionPair:
    """Normal distributions in 10 dimensions; half of the divergence is in means, half in scales."""
    scale, mean = 1.0, np.sqrt(kl / 10)
    for _ in range(60):  # 10 (s^2 - 1 - 2 log s) / 2 = kl / 2 has one solution s > 1
        scale = np.sqrt(1.0 + kl / 10 + 2 * np.log(scale))
    p = Gaussian(np.full(10, mean), scale)
    return DistributionPair(f"normals, KL {kl:g}", p, Gaussian(0.0, dim=10), truths.gaussians, "")


CELLS = [
    Cell(f"Table 1 row {k}, {size}", lambda k=k: problems.load(f"table1/row{k}"), rows)
    for size, rows in (("1k", 333), ("10k", 3333))
    for k in (1, 2, 3)
] + [
    *(
        Cell(f"10-d normals, KL {kl:g}", lambda kl=kl: normals(kl), 2000)
        for kl in (1.0, 10.0, 50.0)
    ),
    Cell("10-d Student-t", lambda: problems.load("hard/heavy-10"), 2000, student_scores),
    Cell("Gamma(2), Gamma(5)", lambda: problems.load("hard/gamma"), 2000, gamma_scores),
    Cell("p = q, 1-d", lambda: problems.load("same/1"), 1000),
    Cell("p = q, 10-d", lambda: problems.load("same/10"), 1000),
]


def limit(problem: Any, scores: Scores, rows: int) -> float:
    """Least standard error of KL(p, q) for an unbiased estimate that knows both families.

    A row x of p moves the estimate by the part of log p/q that p's scores explain, a
    row of q by ``-E_p[s]' I^-1 s``, with s the scores of q and I their covariance under q.
    """
    x, y = problem.sample_p(DRAWS, 0), problem.sample_q(DRAWS, 0)
    own = scores(problem.p, x)
    own = own - own.mean(axis=0)
    ratio = problem.log_ratio(x)
    explained = own @ np.linalg.lstsq(own, ratio - ratio.mean(), rcond=None)[0]
    other = scores(problem.q, y)
    centre = other.mean(axis=0)
    gap = scores(problem.q, x).mean(axis=0) - centre
    covariance = np.atleast_2d(np.cov(other.T))
    return float(np.sqrt((explained.var() + gap @ np.linalg.solve(covariance, gap)) / rows))


def replicate(index: int, seed: int) -> dict[str, Any]:
    """One comparison."""
    warnings.simplefilter("ignore")  # a user is warned; here the interval has to say it
    cell = CELLS[index]
    problem = cell.problem()
    p, q = problem.sample_p(cell.rows, seed), problem.sample_q(cell.rows, seed)
    start = time.perf_counter()
    kl = compare(p, q, random_state=seed).kl
    return {
        "cell": cell.name,
        "seed": seed,
        "value": kl.value,
        "low": kl.low,
        "high": kl.high,
        "std_error": kl.std_error,
        "seconds": time.perf_counter() - start,
    }


def summary(cell: Cell, found: list[dict[str, Any]]) -> dict[str, Any]:
    """What the replications of a cell amount to."""
    problem = cell.problem()
    truth, column = problem.kl, {key: np.array([f[key] for f in found]) for key in found[0]}
    below, above = column["high"] < truth, column["low"] > truth
    cover = 1.0 - float(np.mean(below | above))
    width = float(np.median(column["high"] - column["low"]))
    against = {}
    if truth > 0:
        least = limit(problem, cell.scores, cell.rows)
        against = {"limit": least, "width_over_limit": width / (2 * 1.959964 * least)}
    return {
        "cell": cell.name,
        "rows": cell.rows,
        "truth": truth,
        "replications": len(found),
        "cover": cover,
        "cover_error": float(np.sqrt(max(cover * (1 - cover), 1e-9) / len(found))),
        "below": float(below.mean()),
        "above": float(above.mean()),
        "bias": float(column["value"].mean() - truth),
        "sd": float(column["value"].std(ddof=1)),
        "std_error": float(np.median(column["std_error"])),
        "width": width,
        **against,
        "met": bool(LOW <= cover and (truth == 0.0 or cover <= HIGH)),
        "seconds": float(np.median(column["seconds"])),
        "values": column["value"],
        "lows": column["low"],
        "highs": column["high"],
    }


def main() -> None:
    """Run all cells, show the table, write the record."""
    parser = options(__doc__, "interval_coverage")
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--cells", nargs="+", default=[cell.name for cell in CELLS])
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.replications, arguments.cells = 2, ["Table 1 row 1, 1k", "p = q, 1-d"]
        arguments.jobs = 1
    run = Run("interval_coverage", arguments)
    chosen = [k for k, cell in enumerate(CELLS) if cell.name in arguments.cells]
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.replications)
    tasks = [(k, seed) for k in chosen for seed in seeds]
    found: dict[str, list[dict[str, Any]]] = {CELLS[k].name: [] for k in chosen}
    with parallel_config(backend="loky", inner_max_num_threads=1), progress() as bar:
        task = bar.add_task("comparisons", total=len(tasks))
        parallel = Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")
        for one in parallel(delayed(replicate)(*each) for each in tasks):
            found[one["cell"]].append(one)
            bar.advance(task)
    rows = [
        summary(CELLS[k], sorted(found[CELLS[k].name], key=lambda one: one["seed"])) for k in chosen
    ]
    shown = table(
        "Coverage of the 95 % interval of KL",
        *("<problem", "rows", "truth", "cover", "ok", "low", "high", "bias", "sd", "s.e."),
        *("width / limit", "s"),
    )
    for row in rows:
        ratio = row.get("width_over_limit")
        shown.add_row(
            row["cell"],
            str(row["rows"]),
            f"{row['truth']:.3f}",
            f"{100 * row['cover']:.1f} ± {100 * row['cover_error']:.1f}",
            verdict(row["met"]),
            *(f"{100 * row[key]:.1f}" for key in ("below", "above")),
            *(f"{row[key]:.4f}" for key in ("bias", "sd", "std_error")),
            "" if ratio is None else f"{ratio:.2f}",
            f"{row['seconds']:.1f}",
        )
    console.print(shown)
    run.write(level=LEVEL, results=rows)


if __name__ == "__main__":
    main()

"""Table 1 of the paper against the efficient limit, over seeds.

    python benchmarks/accuracy_1d.py [--quick] [--seeds 20] [--totals 1000 10000 100000]

A third of the total is drawn from each of p, q and, where samples of m count, m.
The truth is known; the limit is the RMSE of the maximum-likelihood normal fit,
sqrt(2 / n_q) times the KL, where n_q = total // 3. Methods:

default
    ``MDRE()`` fitted to all rows, KL = mean log p/q over the rows of p.
compare
    ``isthmus.compare`` with its defaults: cross-fitted, with a 95 % interval.
cauchy x 20
    The paper's Cauchy with its density known, 20 times as many samples of it,
    prior="counts", neither anchor nor penalty.
paper
    The paper's own settings: the same Cauchy learned like any class, as many
    samples as of p and of q, uniform prior, neither anchor nor penalty. It is biased
    by design (the logarithm of a Cauchy density is no quadratic); what counts is that
    every seed converges.
plug-in
    Ratio of two fitted normals: the efficient estimate of these problems, for scale.

Columns:

RMSE, bias
    Of the KL estimate over the seeds, in units of the limit; bias in per cent as well.
≤1.25, bias ok
    Goals: RMSE at most 1.25 times the limit; |bias| at most half the limit plus 0.5 %
    of the KL. With 20 seeds the RMSE itself is uncertain by 16 %.
grid
    Root mean square error of log p/q over a grid on (-12, 12) and the seeds, relative
    to the range of the true log p/q there, in per cent.
cover, s.e.
    Share of the seeds whose interval holds the truth, and mean standard error in
    units of the limit (compare only).
conv., steps
    Seeds for which every fit converged, and the largest number of solver steps.
s
    Mean seconds a seed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from _record import Run, console, options, progress, table, verdict
from joblib import Parallel, delayed, parallel_config

from isthmus import MDRE, compare, problems, stack
from isthmus.problems import Gaussian

PROBLEMS = ("table1/row1", "table1/row2", "table1/row3")
GRID = np.linspace(-12.0, 12.0, 481)[1:-1, None]
RMSE_GOAL, BIAS_GOAL, BIAS_PERCENT = 1.25, 0.5, 0.5

Found = dict[str, Any]


def _fitted(model: MDRE, p: np.ndarray, q: np.ndarray) -> Found:
    model.fit(*stack(p, q))
    return {
        "kl": float(model.log_ratio(p).mean()),
        "grid": model.log_ratio(GRID),
        "converged": model.solution_.converged,
        "iterations": model.n_iter_,
        "gradient": model.solution_.gradient_norm,
    }


def default(problem: Any, p: np.ndarray, q: np.ndarray, seed: int) -> Found:
    return _fitted(MDRE(random_state=seed), p, q)


def cauchy_20(problem: Any, p: np.ndarray, q: np.ndarray, seed: int) -> Found:
    settings = {"anchor": None, "l2": 0.0, "prior": "counts", "oversample": 20.0}
    return _fitted(MDRE(problem.auxiliaries, random_state=seed, **settings), p, q)


def paper(problem: Any, p: np.ndarray, q: np.ndarray, seed: int) -> Found:
    settings = {"anchor": None, "l2": 0.0, "prior": "uniform", "known_density": False}
    return _fitted(MDRE(problem.auxiliaries, random_state=seed, **settings), p, q)


def cross_fitted(problem: Any, p: np.ndarray, q: np.ndarray, seed: int) -> Found:
    found = compare(p, q, random_state=seed)
    fits = [found.estimator.solution_, *found.crossfit.solutions]
    return {
        "kl": found.kl.value,
        "std_error": found.kl.std_error,
        "covered": found.kl.low <= problem.kl <= found.kl.high,
        "grid": found.log_ratio(GRID),
        "converged": all(fit.converged for fit in fits),
        "iterations": max(fit.iterations for fit in fits),
        "gradient": max(fit.gradient_norm for fit in fits),
    }


def plug_in(problem: Any, p: np.ndarray, q: np.ndarray, seed: int) -> Found:
    fits = [Gaussian(float(x.mean()), float(x.std())) for x in (p, q)]
    log_p, log_q = (lambda x, fit=fit: fit.log_density(x) for fit in fits)
    return {"kl": float((log_p(p) - log_q(p)).mean()), "grid": log_p(GRID) - log_q(GRID)}


METHODS: dict[str, Callable[..., Found]] = {
    "default": default,
    "compare": cross_fitted,
    "cauchy x 20": cauchy_20,
    "paper": paper,
    "plug-in": plug_in,
}


def one_seed(name: str, total: int, seed: int, methods: list[str]) -> tuple[str, int, int, dict]:
    """All methods on the same samples."""
    warnings.simplefilter("ignore")  # the record says which fits converged
    problem = problems.load(name)
    p, q = problem.sample_p(total // 3, seed), problem.sample_q(total // 3, seed)
    out = {}
    for method in methods:
        start = time.perf_counter()
        out[method] = METHODS[method](problem, p, q, seed)
        out[method]["seconds"] = time.perf_counter() - start
    return name, total, seed, out


def run_all(arguments: Any, tasks: list[tuple[str, int, int]]) -> Iterator[tuple]:
    # The largest first: the last to finish is then a short one.
    tasks = sorted(tasks, key=lambda task: -task[1])
    with parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = Parallel(n_jobs=arguments.jobs, return_as="generator_unordered")
        yield from parallel(delayed(one_seed)(*task, arguments.methods) for task in tasks)


def summary(problem: Any, total: int, method: str, seeds: dict[int, Found]) -> dict:
    """What the seeds of one method on one problem amount to."""
    found = [seeds[seed] for seed in sorted(seeds)]
    truth, limit = problem.kl, problem.kl * np.sqrt(2.0 / (total // 3))
    error = np.array([each["kl"] for each in found]) - truth
    true_grid = problem.log_ratio(GRID)
    grid_error = np.array([each["grid"] for each in found]) - true_grid
    rmse, bias = float(np.sqrt(np.mean(error**2))), float(error.mean())
    out = {
        "problem": problem.name,
        "total": total,
        "method": method,
        "truth": truth,
        "limit": float(limit),
        "rmse": rmse,
        "rmse_over_limit": float(rmse / limit),
        "rmse_met": bool(rmse <= RMSE_GOAL * limit),
        "bias": bias,
        "bias_over_limit": float(bias / limit),
        "bias_percent": 100 * bias / truth,
        "bias_met": bool(abs(bias) <= BIAS_GOAL * limit + BIAS_PERCENT / 100 * truth),
        "grid_rmse_over_range": float(np.sqrt(np.mean(grid_error**2)) / np.ptp(true_grid)),
        "seconds": float(np.mean([each["seconds"] for each in found])),
        "kl": [each["kl"] for each in found],
    }
    if "converged" in found[0]:
        out["converged"] = [each["converged"] for each in found]
        out["all_converged"] = all(out["converged"])
        out["max_iterations"] = max(each["iterations"] for each in found)
        out["max_gradient"] = max(each["gradient"] for each in found)
    if "covered" in found[0]:
        out["coverage"] = float(np.mean([each["covered"] for each in found]))
        out["std_error"] = [each["std_error"] for each in found]
        out["std_error_over_limit"] = float(np.mean(out["std_error"]) / limit)
    return out


def show(results: list[dict]) -> None:
    out = table(
        "Accuracy of the KL of Table 1 (RMSE, bias and s.e. in units of the efficient limit)",
        *("<problem", "total", "<method", "RMSE", "<≤1.25", "bias", "bias %", "<bias ok"),
        *("grid %", "cover", "s.e.", "conv.", "steps", "s"),
    )
    last = None
    for each in results:
        key = each["problem"], each["total"]
        if last is not None and key != last:
            out.add_section()
        shown = ("", "") if key == last else (each["problem"], f"{each['total']:,}")
        last = key
        covered, fits = "coverage" in each, "converged" in each
        out.add_row(
            *shown,
            each["method"],
            f"{each['rmse_over_limit']:.2f}",
            verdict(each["rmse_met"]),
            f"{each['bias_over_limit']:+.2f}",
            f"{each['bias_percent']:+.2f}",
            verdict(each["bias_met"]),
            f"{100 * each['grid_rmse_over_range']:.2f}",
            f"{each['coverage']:.0%}" if covered else "",
            f"{each['std_error_over_limit']:.2f}" if covered else "",
            f"{sum(each['converged'])}/{len(each['converged'])}" if fits else "",
            str(each["max_iterations"]) if fits else "",
            f"{each['seconds']:.2f}",
        )
    console.print(out)


def main() -> None:
    parser = options(__doc__, "accuracy_1d")
    parser.add_argument("--seeds", type=int, default=20, help="number of seeds")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them")
    parser.add_argument("--totals", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one thread each")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.seeds, arguments.totals, arguments.jobs = 2, [600], 1
        arguments.problems = ["table1/row1"]
    run = Run("accuracy_1d", arguments)

    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    tasks = list(product(arguments.problems, arguments.totals, seeds))
    found: dict[tuple, dict[int, Found]] = {}
    with progress() as bar:
        task = bar.add_task("fitting", total=sum(total for _, total, _ in tasks))
        for name, total, seed, by_method in run_all(arguments, tasks):
            for method, result in by_method.items():
                found.setdefault((name, total, method), {})[seed] = result
            bar.advance(task, total)
    results = [
        summary(problems.load(name), total, method, found[name, total, method])
        for name, total, method in product(arguments.problems, arguments.totals, arguments.methods)
    ]
    show(results)
    run.write(
        seeds=list(seeds),
        results=results,
        goals={
            "rmse_over_limit": RMSE_GOAL,
            "bias": f"{BIAS_GOAL} of the limit + {BIAS_PERCENT} % of the truth",
        },
    )


if __name__ == "__main__":
    main()

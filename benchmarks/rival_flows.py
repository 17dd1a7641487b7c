"""F-DRE and DRE-infinity on their authors' tasks, beside the truth and what was published.

    python benchmarks/rival_flows.py [--quick] [--parts fdre infinity] [--seeds 3]

Both tasks are mutual information of normals: p is correlated within pairs of coordinates,
q is the standard normal, and log p/q is averaged over 5,000 fresh rows of p. Two tables:

fdre
    40 dimensions, correlation 0.9, truth 16.61, 80,000 rows a side, as in the authors' code.
    Published are the curves of the authors' own notebook (ermongroup/f-dre,
    notebooks/gaussians-mi-exp.ipynb), read off their figure: mean of the last tenth of 200 epochs.
infinity
    40, 80, 160 and 320 dimensions with a mutual information of a quarter of that. Published
    are the runs of the authors' code that Chen et al. (2025) logged in run.md of
    Hoemr/Dequantified-Diffusion-Bridge-Density-Ratio-Estimation; the paper has a figure only. The
    authors draw fresh rows at every step, ten million at d = 40 and a hundred million at
    d = 320, from a model whose only unknown is the covariance of p; here there are 50,000 rows a
    side at d = 40 and 20,000 above.

Columns:

mean, sd
    Of the estimate over the seeds; each has its own rows.
RMSE
    Root mean square error of log p/q at fresh rows of p, mean over seeds.
CPU s
    Mean seconds of processor time of a fit.

Methods of DRE-infinity: "mlp" is the network added to the normal path; "mlp alone" is the
network by itself, with the objective integrated by parts, in the paper's form ("time"), and with
data scores learned beside it ("joint").
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from _record import Run, console, options, progress, table

from isthmus import stack
from isthmus.baselines import BDRE, FDRE, DREInfinity
from isthmus.problems import DistributionPair, Gaussian, correlation_for, truths

PARTS = ("fdre", "infinity")
FRESH = 5_000
RHO = 0.9
DIMENSIONS = (40, 80, 160, 320)
NOTEBOOK = "ermongroup/f-dre, notebooks/gaussians-mi-exp.ipynb, read off the figure"
RUNS = "Hoemr/Dequantified-Diffusion-Bridge-Density-Ratio-Estimation, run.md"
PUBLISHED: list[dict[str, Any]] = [
    {"part": "fdre", "dim": 40, "method": "no flow", "value": 7.8, "source": NOTEBOOK},
    {"part": "fdre", "dim": 40, "method": "separate", "value": 11.0, "source": NOTEBOOK},
    {"part": "fdre", "dim": 40, "method": "joint", "value": 12.6, "source": NOTEBOOK},
    *(
        {"part": "infinity", "dim": dim, "method": "normal", "value": value, "source": RUNS}
        for dim, value in ((40, 9.99), (80, 19.97), (160, 40.08), (320, 80.80))
    ),
]


def normals(dim: int, rho: float) -> DistributionPair:
    return DistributionPair(
        f"normals/{dim}",
        p=Gaussian(0.0, rho=rho, dim=dim),
        q=Gaussian(0.0, dim=dim),
        truth=truths.gaussians,
        description=f"{dim}-d normals, p correlated in pairs.",
    )


def fdre_methods(steps: int) -> dict[str, tuple[Callable[..., Any], str]]:
    """Estimators by name, and what they are compared with."""
    flow = {"transforms": 5, "width": 100, "steps": steps}
    return {
        "no flow": (BDRE, "no flow"),
        "separate, quadratic": (partial(FDRE, **flow), "separate"),
        "separate, mlp": (partial(FDRE, critic="mlp", **flow), "separate"),
        "joint, mlp": (partial(FDRE, training="joint", critic="mlp", **flow), "joint"),
    }


def infinity_methods(dim: int, steps: int) -> dict[str, tuple[Callable[..., Any], str]]:
    network = partial(DREInfinity, "mlp", steps=steps, lr=2e-3)
    alone = partial(network, anchor=None)
    found: dict[str, tuple[Callable[..., Any], str]] = {
        "gaussian": (partial(DREInfinity, "gaussian"), "normal"),
        "quadratic": (partial(DREInfinity, "quadratic"), "normal"),
    }
    if dim == min(DIMENSIONS):
        found["mlp"] = (network, "normal")
        found["mlp alone"] = (alone, "")
        found["mlp alone, time"] = (partial(alone, objective="time"), "")
        found["mlp alone, joint"] = (partial(alone, joint=True), "")
    return found


def one(
    problem: DistributionPair, make: Callable[..., Any], rows: int, fresh: int, seed: int
) -> dict:
    X, y = stack(problem.sample_p(rows, 2 * seed), problem.sample_q(rows, 2 * seed))
    new = problem.sample_p(fresh, 2 * seed + 1)
    begin = time.process_time()
    model = make(random_state=seed).fit(X, y)
    seconds = time.process_time() - begin
    found = model.log_ratio(new)
    error = found - problem.log_ratio(new)
    return {
        "value": float(found.mean()),
        "rmse": float(np.sqrt(np.mean(error**2))),
        "seconds": seconds,
    }


def gathered(part: str, dim: int, rows: int, method: str, like: str, runs: list[dict]) -> dict:
    values = [each["value"] for each in runs]
    published = [
        each["value"]
        for each in PUBLISHED
        if (each["part"], each["dim"], each["method"]) == (part, dim, like)
    ]
    return {
        "part": part,
        "dim": dim,
        "rows": rows,
        "method": method,
        "values": values,
        "mean": float(np.mean(values)),
        "sd": float(np.std(values)),
        "rmse": float(np.mean([each["rmse"] for each in runs])),
        "seconds": float(np.mean([each["seconds"] for each in runs])),
        "published": published,
    }


def show(part: str, results: list[dict]) -> None:
    titles = {
        "fdre": f"F-DRE: normals with correlation {RHO}",
        "infinity": "DRE-infinity: normals with a mutual information of a quarter of d",
    }
    out = table(
        titles[part],
        *("d", "rows a side", "<method", "truth", "mean", "sd", "published", "RMSE", "CPU s"),
    )
    for each in results:
        out.add_row(
            str(each["dim"]),
            f"{each['rows']:,}",
            each["method"],
            f"{each['truth']:.2f}",
            f"{each['mean']:.2f}",
            f"{each['sd']:.2f}",
            ", ".join(f"{value:g}" for value in each["published"]),
            f"{each['rmse']:.2f}",
            f"{each['seconds']:.0f}",
        )
    console.print(out)


def main() -> None:
    parser = options(__doc__, "rival_flows")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=1500, help="of every network")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    dimensions, fresh = DIMENSIONS, FRESH
    rows = {"fdre": 80_000, "infinity": 50_000, "above": 20_000}
    if arguments.quick:
        arguments.seeds, arguments.steps = 1, 10
        dimensions, fresh, rows = (40, 80), 500, dict.fromkeys(rows, 500)
    run = Run("rival_flows", arguments)
    torch.set_num_threads(arguments.threads)
    seeds, steps = range(arguments.seeds), arguments.steps

    jobs = []
    if "fdre" in arguments.parts:
        problem = normals(40, RHO)
        for name, (make, like) in fdre_methods(steps).items():
            jobs.append(("fdre", problem, rows["fdre"], name, make, like))
    if "infinity" in arguments.parts:
        for dim in dimensions:
            problem = normals(dim, correlation_for(dim / 4, dim))
            size = rows["infinity" if dim == min(DIMENSIONS) else "above"]
            for name, (make, like) in infinity_methods(dim, steps).items():
                jobs.append(("infinity", problem, size, name, make, like))
    results: dict[str, list[dict]] = {part: [] for part in arguments.parts}
    with progress() as bar:
        task = bar.add_task("fitting", total=len(jobs) * len(seeds))
        for part, problem, size, name, make, like in jobs:
            runs = []
            for seed in seeds:
                runs.append(one(problem, make, size, fresh, seed))
                bar.advance(task)
            row = gathered(part, problem.dim, size, name, like, runs)
            results[part].append({**row, "truth": problem.kl})
    for part, found in results.items():
        show(part, found)
    run.write(seeds=list(seeds), results=results, published=PUBLISHED, torch=torch.__version__)


if __name__ == "__main__":
    main()

"""TRE and eNCE on their authors' tasks, beside truth, BDRE and two fitted normals.

    python benchmarks/rival_convex.py [--quick] [--dims 40 80 160 320] [--seeds 3] [--steps 20000]

TRE's task (its section 4.2): p is normal with correlation within pairs of columns, q the
standard normal, and KL(p, q) is a quarter of the number of columns. Rows of each sample: 50,000
for 40 to 160 columns and 20,000 for 320; the authors have 100,000 of p, and as many as they
like of q. 40 and 80 columns are run with all seeds, 160 and 320 with the first. Every method has
its defaults: a full quadratic critic, penalties chosen by held-out rows, as many waymarks as
keep neighbours from being told apart. One thread. Columns:

KL, spread
    Mean of log p/q over 10,000 fresh rows of p, averaged over seeds, and its standard deviation.
published
    TRE in Table 2 of Srivastava et al. (TMLR 2023), by the same authors, where the task is the
    same. TRE's own paper has a figure only, in which its estimates lie close to all four truths.
RMSE
    Of log p/q at these rows.
waymarks, worst
    Their number, and the largest share of held-out rows that a bridge told apart.
CPU s
    Of the fit, averaged over seeds.

A quadratic function of 320 columns has 51,681 coefficients, more than there are rows: the
penalty that predicts held-out rows best shrinks them, and every bridge falls short by its share.
With ``anchor="gaussian"`` only the rest beside two fitted normals is learned.

eNCE's task: normal distributions of unit variance whose means are 16 apart. "population" minimises
the loss itself, by quadrature, over h = a + b x from a = b = 0, and says after how many steps
(a, b) was first within 10, 1 and 0.1 of (-128, 16), 0 for never. NCE is the logistic loss; GD is
gradient descent with a step of one, NGD has steps of unit length; both are halved when they
bring little. "standardised" takes the steps in coefficients of the standardised x, as
``ExponentialNCE`` does for any critic. "samples" are estimates of KL(p, q) = 128 from 10,000 rows
of each.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _record import Run, console, options, progress, table
from scipy.special import log_expit, logsumexp
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from isthmus import problems, stack
from isthmus.baselines import BDRE, TRE, ExponentialNCE, PlugIn
from isthmus.problems import Gaussian, correlation_for

ROWS = {40: 50_000, 80: 50_000, 160: 50_000, 320: 20_000}
SEVERAL = 80
FRESH = 10_000
GAP, NEAR = 16.0, (10.0, 1.0, 0.1)
METHODS: dict[str, Callable[[int], Any]] = {
    "TRE": lambda seed: TRE(random_state=seed),
    "TRE, anchored": lambda seed: TRE(anchor="gaussian", random_state=seed),
    "BDRE": lambda seed: BDRE(random_state=seed),
    "plug-in": lambda seed: PlugIn(random_state=seed),
}
ONE_D: dict[str, Callable[[int], Any]] = {
    "eNCE": lambda seed: ExponentialNCE(random_state=seed),
    "eNCE, Newton": lambda seed: ExponentialNCE(solver="newton", random_state=seed),
    "BDRE": METHODS["BDRE"],
    "TRE": METHODS["TRE"],
    "plug-in": METHODS["plug-in"],
}
Found = dict[str, Any]


def published(dim: int) -> tuple[float, float] | None:
    """What the MDRE paper reports of TRE, if the task is the same."""
    name = f"table2/{dim}"
    if name not in problems.names() or problems.load(name).kl != dim / 4:
        return None
    paper = problems.load(name).paper
    return paper["tre"], paper["tre_spread"]


def quiet_fit(model: Any, p: np.ndarray, q: np.ndarray) -> tuple[float, list[str]]:
    """Fit, and return CPU seconds and what was warned of."""
    X, y = stack(p, q)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        start = time.process_time()
        model.fit(X, y)
        seconds = time.process_time() - start
    return seconds, sorted({warning.category.__name__ for warning in told})


def high_dimensional(
    dim: int, rows: int, seeds: list[int], step: Callable[[], None]
) -> list[Found]:
    """All methods on TRE's task with so many columns."""
    p = Gaussian(0.0, rho=correlation_for(dim / 4, dim), dim=dim)
    q = Gaussian(0.0, dim=dim)
    out: list[Found] = []
    for method, make in METHODS.items():
        runs = []
        for seed in seeds:
            rng = np.random.default_rng([dim, seed])
            model = make(seed)
            seconds, warned = quiet_fit(model, p.sample(rows, rng), q.sample(rows, rng))
            fresh = p.sample(FRESH, rng)
            found, truth = model.log_ratio(fresh), p.log_density(fresh) - q.log_density(fresh)
            runs.append(
                {
                    "seed": seed,
                    "kl": found.mean(),
                    "rmse": np.sqrt(np.mean((found - truth) ** 2)),
                    "waymarks": getattr(model, "n_waymarks_", 0),
                    "worst_accuracy": np.max(getattr(model, "bridge_accuracy_", 0.0)),
                    "cpu_seconds": seconds,
                    "warned": warned,
                }
            )
            step()
        kl = [run["kl"] for run in runs]
        out.append(
            {
                "dim": dim,
                "rows": rows,
                "method": method,
                "truth": dim / 4,
                "kl": np.mean(kl),
                "spread": np.std(kl),
                "rmse": np.mean([run["rmse"] for run in runs]),
                "waymarks": [run["waymarks"] for run in runs],
                "worst_accuracy": max(run["worst_accuracy"] for run in runs),
                "cpu_seconds": np.mean([run["cpu_seconds"] for run in runs]),
                "runs": runs,
            }
        )
    return out


def population(loss: str, normalised: bool, standard: bool, steps: int) -> Found:
    """Descend the loss of eNCE's task itself; distances are in its authors' parameters."""
    x = np.linspace(-12.0, GAP + 12.0, 4001)
    centre, scale = (0.5 * GAP, np.hypot(1.0, 0.5 * GAP)) if standard else (0.0, 1.0)
    phi = np.column_stack([np.ones_like(x), (x - centre) / scale])
    back = np.array([[1.0, -centre / scale], [0.0, 1.0 / scale]])
    sign = np.repeat([-1.0, 1.0], len(x))
    log_weight = np.concatenate([norm.logpdf(x, GAP), norm.logpdf(x)])
    goal = np.array([-0.5 * GAP**2, GAP])

    def log_loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Logarithm of the loss, and its gradient."""
        h = sign * np.tile(phi @ theta, 2)
        if loss == "eNCE":
            each, slope = 0.5 * h, np.full_like(h, 0.5)
        else:
            # Of log(1 + e^h), which is -log_expit(-h).
            each = np.log(-log_expit(-h))
            slope = np.exp(log_expit(h) - each)
        total = logsumexp(log_weight + each)
        share = np.exp(log_weight + each - total) * slope * sign
        return total, share[: len(x)] @ phi + share[len(x) :] @ phi

    theta, length, reached = np.zeros(2), 1.0, dict.fromkeys(NEAR, 0)
    value, gradient = log_loss(theta)
    best, before, nearest = (value, theta, gradient), value, np.inf
    for step in range(1, steps + 1):
        # Plain descent follows the gradient of the loss, not of its logarithm.
        size = np.linalg.norm(gradient)
        stride = length * (1.0 if normalised else np.exp(min(value, 0.0)) * size)
        theta = theta - stride * gradient / size
        value, gradient = log_loss(theta)
        best = min(best, (value, theta, gradient), key=lambda point: point[0])
        distance = float(np.linalg.norm(back @ theta - goal))
        nearest = min(nearest, distance)
        for near in NEAR:
            reached[near] = reached[near] or (step if distance <= near else 0)
        if all(reached.values()):
            break
        if step % 10 == 0:
            promise = 10 * stride * size
            if before - best[0] < 0.05 * promise:
                (value, theta, gradient), length = best, 0.5 * length
            before = best[0]
    name = f"{loss}, {'NGD' if normalised else 'GD'}{', standardised' if standard else ''}"
    steps_to = {f"{near:g}": count for near, count in reached.items()}
    return {"method": name, "steps_to": steps_to, "nearest": nearest, "steps": step}


def samples(rows: int, seeds: list[int]) -> list[Found]:
    """Estimates of the KL of eNCE's task from samples."""
    out = []
    for method, make in ONE_D.items():
        kl, seconds, unsettled = [], [], 0
        for seed in seeds:
            rng = np.random.default_rng([16, seed])
            model = make(seed)
            used, warned = quiet_fit(model, rng.normal(GAP, 1, rows), rng.normal(0, 1, rows))
            kl.append(model.log_ratio(rng.normal(GAP, 1, FRESH)).mean())
            seconds.append(used)
            unsettled += "ConvergenceWarning" in warned
        out.append(
            {
                "method": method,
                "truth": 0.5 * GAP**2,
                "kl": np.mean(kl),
                "spread": np.std(kl),
                "cpu_seconds": np.mean(seconds),
                "not_converged": unsettled,
            }
        )
    return out


def show_high(found: list[Found]) -> None:
    heads = ("KL", "spread", "published", "RMSE", "waymarks", "worst", "CPU s")
    out = table("TRE's task", "columns", "truth", "rows", "<method", *heads)
    for each in found:
        paper = published(each["dim"]) if each["method"] == "TRE" else None
        waymarks = "/".join(map(str, sorted(set(each["waymarks"]))))
        out.add_row(
            str(each["dim"]),
            f"{each['truth']:.0f}",
            f"{each['rows']:,}",
            each["method"],
            f"{each['kl']:.2f}",
            f"{each['spread']:.2f}" if len(each["runs"]) > 1 else "",
            "" if paper is None else f"{paper[0]:.2f} ± {paper[1]:.2f}",
            f"{each['rmse']:.2f}",
            waymarks if each["method"].startswith("TRE") else "",
            f"{each['worst_accuracy']:.2f}" if each["method"].startswith("TRE") else "",
            f"{each['cpu_seconds']:.1f}",
        )
    console.print(out)


def show_one(descents: list[Found], estimates: list[Found]) -> None:
    out = table("eNCE's task: population", "<method", *(f"to {n:g}" for n in NEAR), "nearest")
    for each in descents:
        counts = [str(count or "never") for count in each["steps_to"].values()]
        out.add_row(each["method"], *counts, f"{each['nearest']:.2g}")
    console.print(out)
    out = table("eNCE's task: samples", "<method", "truth", "KL", "spread", "CPU s")
    for each in estimates:
        numbers = (each[name] for name in ("truth", "kl", "spread", "cpu_seconds"))
        out.add_row(each["method"], *(f"{value:.2f}" for value in numbers))
    console.print(out)


def main() -> None:
    parser = options(__doc__, "rival_convex")
    parser.add_argument("--dims", type=int, nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds")
    parser.add_argument("--steps", type=int, default=20_000, help="of a descent, at most")
    arguments = parser.parse_args()
    dims, rows, one_d = arguments.dims, ROWS, 10_000
    if arguments.quick:
        dims, rows, one_d = [40], {40: 1000}, 500
        arguments.seeds, arguments.steps = 1, 200
    run = Run("rival_convex", arguments)
    seeds = list(range(arguments.seeds))
    of = {dim: seeds if dim <= SEVERAL else seeds[:1] for dim in dims}
    high: list[Found] = []
    with threadpool_limits(1), progress() as bar:
        task = bar.add_task("TRE's task", total=len(METHODS) * sum(map(len, of.values())))
        for dim in dims:
            high += high_dimensional(dim, rows[dim], of[dim], lambda: bar.advance(task))
        descents = [
            population(loss, *how, arguments.steps)
            for loss in ("eNCE", "NCE")
            for how in ((True, False), (True, True), (False, False))
        ]
        estimates = samples(one_d, seeds)
    show_high(high)
    show_one(descents, estimates)
    papers = {dim: published(dim) for dim in dims if published(dim)}
    run.write(
        results={"tre": high, "population": descents, "samples": estimates},
        published={str(dim): {"tre": a, "spread": b} for dim, (a, b) in papers.items()},
        source="Srivastava et al., TMLR 2023, Table 2",
        seeds=seeds,
    )


if __name__ == "__main__":
    main()

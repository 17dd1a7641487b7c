"""Size and power of the two-sample test, beside tests of other libraries.

    python benchmarks/two_sample.py [--quick] [--replications 500] [--power-replications 100]

Size: how often the test says that samples differ, at 5 %, if both come from one distribution. The
goal is 3.5 to 6.5 % of 500 replications; their standard error is 1 %.

Power: how often it says so where they do differ, at the same level. Beside it, where these
are installed, hyppo's MMD and energy tests with their default settings (Panda et al.,
2024), and alibi-detect's classifier test (Lopez-Paz & Oquab, 2017) with a random forest's
out-of-bag predictions, and with logistic regression in five folds. The shifts:

mean
    All of 10 columns are moved by 0.12 standard deviations, 200 rows a sample.
covariance
    Pairs of 10 columns have correlation 0.3 in one sample.
one column of 30
    One column in 30 is moved by 0.4.
heavy tails
    5 columns of normals against Student-t of 4 degrees of freedom and the same variance.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _record import Run, console, options, progress, table, verdict

import isthmus

GOAL = (0.035, 0.065)
LEVEL = 0.05
Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


def null_normal(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(100, 5)), rng.normal(size=(100, 5))


def null_cauchy(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.standard_cauchy((50, 3)), rng.standard_cauchy((90, 3))


def null_counts(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.poisson(1.0, (80, 4)).astype(float), rng.poisson(1.0, (80, 4)).astype(float)


def null_wide(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(50, 40)), rng.normal(size=(50, 40))


def mean(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(200, 10)), rng.normal(0.12, 1.0, (200, 10))


def covariance(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    q = rng.normal(size=(200, 10))
    q[:, ::2] = 0.3 * q[:, 1::2] + np.sqrt(1 - 0.09) * q[:, ::2]
    return rng.normal(size=(200, 10)), q


def one_column(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    q = rng.normal(size=(200, 30))
    q[:, 11] += 0.4
    return rng.normal(size=(200, 30)), q


def heavy_tails(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(200, 5)), rng.standard_t(4, (200, 5)) / np.sqrt(2.0)


NULLS: dict[str, Draw] = {
    "normal, 5 columns, 100 rows": null_normal,
    "Cauchy, 3 columns, 50 and 90 rows": null_cauchy,
    "counts, 4 columns, 80 rows": null_counts,
    "normal, 40 columns, 50 rows": null_wide,
}
SHIFTS: dict[str, Draw] = {
    "mean": mean,
    "covariance": covariance,
    "one column of 30": one_column,
    "heavy tails": heavy_tails,
}


def ours(p: np.ndarray, q: np.ndarray, seed: int) -> float:
    return isthmus.two_sample_test(p, q, n_permutations=199, random_state=seed).p_value


def hyppo_mmd(p: np.ndarray, q: np.ndarray, seed: int) -> float:
    from hyppo.ksample import MMD

    return float(MMD().test(p, q)[1])


def hyppo_energy(p: np.ndarray, q: np.ndarray, seed: int) -> float:
    from hyppo.ksample import Energy

    return float(Energy().test(p, q)[1])


def classifier(p: np.ndarray, q: np.ndarray, model: Any, seed: int, **how: Any) -> float:
    from alibi_detect.cd.sklearn.classifier import ClassifierDriftSklearn

    detector = ClassifierDriftSklearn(p, model, preds_type="probs", seed=seed, **how)
    return float(detector.predict(q)["data"]["p_val"])


def forest(p: np.ndarray, q: np.ndarray, seed: int) -> float:
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(100, random_state=seed)
    return classifier(p, q, model, seed, train_size=None, use_oob=True)


def logistic(p: np.ndarray, q: np.ndarray, seed: int) -> float:
    from sklearn.linear_model import LogisticRegression

    return classifier(p, q, LogisticRegression(), seed, train_size=None, n_folds=5)


METHODS = {
    "isthmus": ours,
    "hyppo, MMD": hyppo_mmd,
    "hyppo, energy": hyppo_energy,
    "alibi-detect, forest": forest,
    "alibi-detect, logistic": logistic,
}


def share(method: Any, draw: Draw, replications: int, seed: int, bar: Any) -> dict[str, Any]:
    """How often a test rejects, and its processor's time in each replication."""
    rejected, begin = 0, time.process_time()
    for k in range(replications):
        p, q = draw(np.random.default_rng([seed, k]))
        with warnings.catch_warnings():
            # What other libraries have to say about their versions is no part of a p-value.
            warnings.simplefilter("ignore")
            rejected += method(p, q, k) <= LEVEL
        bar()
    rate = rejected / replications
    return {
        "rate": rate,
        "std_error": float(np.sqrt(max(rate * (1 - rate), 0.25 / replications) / replications)),
        "replications": replications,
        "seconds": (time.process_time() - begin) / replications,
    }


def installed() -> tuple[dict[str, Any], list[str]]:
    """Tests that can be run, and the names of those that cannot."""
    found, missing = {}, []
    for name, method in METHODS.items():
        rng = np.random.default_rng(0)
        try:
            method(rng.normal(size=(30, 2)), rng.normal(size=(30, 2)), 0)
            found[name] = method
        except ImportError:
            missing.append(name)
    return found, missing


def large(seed: int) -> float:
    """Seconds of the default test of 1000 rows in 10 columns."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(size=(1000, 10)), rng.normal(size=(1000, 10))
    begin = time.process_time()
    isthmus.two_sample_test(p, q, random_state=seed)
    return time.process_time() - begin


def main() -> None:
    parser = options(__doc__, "two_sample")
    parser.add_argument("--replications", type=int, default=500, help="for the size")
    parser.add_argument("--power-replications", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.replications, arguments.power_replications = 10, 3
    run = Run("two_sample", arguments)
    methods, missing = installed()
    size, power = [], []
    steps = len(NULLS) * arguments.replications
    steps += len(SHIFTS) * len(methods) * arguments.power_replications
    with progress() as bar:
        job = bar.add_task("tests", total=steps)

        def step() -> None:
            bar.advance(job)

        for name, draw in NULLS.items():
            found = share(ours, draw, arguments.replications, arguments.seed, step)
            size.append({"null": name, **found, "met": GOAL[0] <= found["rate"] <= GOAL[1]})
        for name, draw in SHIFTS.items():
            for method, test in methods.items():
                found = share(test, draw, arguments.power_replications, arguments.seed + 1, step)
                power.append({"shift": name, "method": method, **found})

    out = table("Size at 5 %", "<both samples", "rejected", "± s.e.", "ms", "<goal met")
    for each in size:
        out.add_row(each["null"], f"{each['rate']:.1%}", f"{each['std_error']:.1%}",
                    f"{1e3 * each['seconds']:.0f}", verdict(each["met"]))  # fmt: skip
    console.print(out)
    out = table("Power at 5 %", "<shift", *methods)
    for name in SHIFTS:
        out.add_row(name, *(f"{each['rate']:.0%}" for each in power if each["shift"] == name))
    console.print(out)
    seconds = float(np.median([large(seed) for seed in range(3)]))
    console.print(f"1000 rows in 10 columns, 999 permutations: {seconds:.2f} s.")
    run.write(
        results={"size": size, "power": power, "seconds_1000x10": seconds},
        missing=missing,
        goal={"size": GOAL},
        level=LEVEL,
    )


if __name__ == "__main__":
    main()

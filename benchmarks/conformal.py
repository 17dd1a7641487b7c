"""Coverage of conformal prediction under a known shift of real tables.

    python benchmarks/conformal.py [--quick] [--splits 100] [--tables diamonds flights ...]

Rows of a table are split at random: source rows with labels, and rows that the target keeps with a
known probability that depends on the columns. Half of the target's rows are shown without labels,
the other half is for judging. For every split the same fitted estimator is calibrated in
four ways, at 90 %:

plain
    Without weights.
logistic odds
    Weights are the odds of a logistic regression of target against source.
isthmus
    ``ShiftedConformal`` with its defaults.
truth
    Weights are the true ones: what no estimate of the ratio can better but by chance.

Coverage is the share of labels inside, its mean over the splits with its standard error. The goal
is 88 to 92 % for isthmus where plain is outside. "loss" is ``coverage_loss_``, the estimated bound
on what errors of the ratio take from the coverage, beside the same with the true ratio; "rows"
is the effective sample size of the rows that calibrate. The record is written after every table,
and keeps what it has of tables that are not asked for; each says when it was run.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

from _record import THREAD_VARIABLES, Run, console, options, progress, table, verdict

# Before anything loads a library of linear algebra.
os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

import numpy as np
from _shifted_tables import TABLES
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus import ShiftedConformal
from isthmus.shifted.quantile import weighted_thresholds

ALPHA, LOW, HIGH = 0.1, 0.88, 0.92
SOURCE, SHOWN, JUDGED = 3_000, 1_500, 2_000
WAYS = ("plain", "logistic odds", "isthmus", "truth")
QUICK = ("digits",)


def estimator(y: np.ndarray) -> Any:
    """What is calibrated: boosted trees for numbers, a forest or a regression for labels."""
    if y.dtype.kind == "f":
        return HistGradientBoostingRegressor(max_iter=50, random_state=0)
    if len(np.unique(y)) > 2:
        return RandomForestClassifier(100, min_samples_leaf=3, random_state=0)
    return make_pipeline(StandardScaler(), LogisticRegression())


def logistic_odds(source: np.ndarray, target: np.ndarray, rows: np.ndarray) -> np.ndarray:
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(np.vstack([target, source]), np.repeat([1, 0], [len(target), len(source)]))
    return np.exp(model.decision_function(rows)) * len(source) / len(target)


def one_split(name: str, data: tuple[Any, ...], seed: int) -> dict[str, Any]:
    X, y, keep = data
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    n = min(SOURCE, len(X) // 2)
    source, rest = order[:n], order[n:]
    kept = rest[rng.random(len(rest)) < keep[rest]]
    shown, judged = kept[: len(kept) // 2][:SHOWN], kept[len(kept) // 2 :][:JUDGED]
    model = ShiftedConformal(estimator(y), alpha=ALPHA, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[source], y[source], target=X[shown])
    at = source[model.calibration_]
    true = keep / keep.mean()
    odds = logistic_odds(X[source], X[shown], X[np.concatenate([at, judged])])
    weights = {
        "plain": (np.ones(len(at)), np.ones(len(judged))),
        "logistic odds": (odds[: len(at)], odds[len(at) :]),
        "isthmus": (model.calibration_weight_, model.ratio_.at(X[judged])),
        "truth": (true[at], true[judged]),
    }
    new = model.conformity_.scores(model.estimator_, X[judged], y[judged])
    out: dict[str, Any] = {"table": name, "seed": seed, "rows": n, "judged": len(judged)}
    for way, (weight, at_new) in weights.items():
        threshold = weighted_thresholds(model.scores_, weight, at_new, ALPHA)
        out[way] = {
            "coverage": float(np.mean(new <= threshold)),
            "threshold": float(np.median(threshold)),
            "infinite": int(np.isinf(threshold).sum()),
        }
    out["effective_rows"] = model.effective_sample_size_
    out["loss"] = model.coverage_loss_
    out["true_loss"] = float(0.5 * np.mean(np.abs(model.ratio_.held_out - true[source])))
    out["verdict"] = model.weights_.certificate.verdict
    return out


def summary(name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {"table": name, "about": (TABLES[name].__doc__ or "").strip()}
    for way in WAYS:
        covered = np.array([run[way]["coverage"] for run in runs])
        out[way] = {
            "coverage": covered.mean(),
            "std_error": covered.std() / np.sqrt(max(len(runs) - 1, 1)),
            "scatter": covered.std(),
            "threshold": float(np.median([run[way]["threshold"] for run in runs])),
            "infinite": sum(run[way]["infinite"] for run in runs),
        }
    for key in ("effective_rows", "loss", "true_loss", "judged", "rows"):
        out[key] = float(np.mean([run[key] for run in runs]))
    out["plain_outside"] = not LOW <= out["plain"]["coverage"] <= HIGH
    out["met"] = bool(LOW <= out["isthmus"]["coverage"] <= HIGH)
    return out


def earlier(path: Path) -> list[dict[str, Any]]:
    """Results of an earlier run, of which this one replaces those of its tables."""
    return json.loads(path.read_text())["results"] if path.exists() else []


def main() -> None:
    parser = options(__doc__ or "", "conformal")
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    arguments = parser.parse_args()
    run = Run("conformal", arguments)
    names = QUICK if arguments.quick else arguments.tables
    splits = 2 if arguments.quick else arguments.splits
    found = {one["table"]: one for one in earlier(run.path)}
    with progress() as bar:
        task = bar.add_task("splits", total=len(names) * splits)
        for name in names:
            data = TABLES[name]()
            runs = []
            for seed in range(splits):
                runs.append(one_split(name, data, seed))
                bar.advance(task)
            date = run.date.isoformat(timespec="seconds")
            found[name] = {**summary(name, runs), "date": date, "splits": splits, "runs": runs}
            results = [found[one] for one in TABLES if one in found]
            run.write(results=results, goals={"low": LOW, "high": HIGH})
    shown = table("coverage at 90 %", "<table", *WAYS, "88 to 92", "loss", "true loss", "rows")
    for one in results:
        shown.add_row(
            one["table"],
            *(f"{100 * one[w]['coverage']:.1f} ± {100 * one[w]['std_error']:.1f}" for w in WAYS),
            verdict(one["met"]),
            f"{one['loss']:.3f}",
            f"{one['true_loss']:.3f}",
            f"{one['effective_rows']:.0f}",
        )
    console.print(shown)
    met = sum(one["met"] and one["plain_outside"] for one in results)
    console.print(f"Plain outside 88 to 92 % and isthmus inside: {met} of {len(results)} tables.")


if __name__ == "__main__":
    main()

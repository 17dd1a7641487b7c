"""Do the checks tell wrong answers from right ones?

    python benchmarks/detector.py [--quick] [--which report]

Every fit is a problem whose KL is known, with settings that are good for it or bad. Its error is
|KL found - KL| as a share of KL, or of a tenth of a nat if the KL is smaller; for rows to ask about
it is the same of the mean |log p/q| there. An answer is wrong if the error is above 20 %, and
right if it is within 5 %. The checks do not know the truth. Columns:

flagged
    Share of fits with a check on the ratio that says "warn" or "fail".
failed
    Share with one that says "fail".
AUC
    Probability that ``isthmus.diagnostics.doubt`` is larger for a wrong answer than for one that
    is not. The goal is at least 0.9; at most 10 % of right answers may be flagged.

"--which development" runs the fits that thresholds were looked at with.
"""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from _detector_cases import NAMES, Case, cases, queries
from _record import Run, console, options, plain, progress, table, verdict

import isthmus
from isthmus.diagnostics import doubt

GOALS = {"auc": 0.9, "false_alarms": 0.1}
RIGHT, WRONG, LEAST_KL = 0.05, 0.2, 0.1


def measure(case: Case, most: int) -> dict[str, Any]:
    rng = np.random.default_rng(case.seed)
    rows = min(case.rows, most)
    p, q = case.pair.p.sample(rows, rng), case.pair.q.sample(rows, rng)
    truth, truth_error = case.pair.truth()
    begin = time.process_time()
    with warnings.catch_warnings():
        # Far rows, separable classes, few rows: the checks are to say it.
        warnings.simplefilter("ignore")
        c = isthmus.compare(p, q, estimator=case.model(), random_state=case.seed)
        fitted = time.process_time()
        checks = dict(c.diagnostics)
        found = c.kl.value
        if case.queries:
            asked = queries(case, p, q, rng)
            checks["extrapolation"] = c.extrapolation(asked)
            true = case.pair.log_ratio(asked)
            truth, truth_error = float(np.mean(np.abs(true))), 0.0
            found = truth + float(np.mean(np.abs(c.log_ratio(asked) - true)))
    error = abs(found - truth) / max(truth, LEAST_KL) if np.isfinite(found) else 1e3
    flags = {
        name: check.verdict
        for name, check in checks.items()
        if check.verdict != "ok" and check.concerns == "ratio"
    }
    return {
        "kind": case.kind,
        "problem": f"{case.pair.name}{', ' * bool(case.queries)}{case.queries}",
        "rows": rows,
        "model": NAMES[case.model],
        "seed": case.seed,
        "truth": truth,
        "truth_error": truth_error,
        "found": found if np.isfinite(found) else 1e9,
        "error": min(error, 1e3),
        "flags": flags,
        "doubt": doubt(checks),
        "values": {name: float(np.clip(check.value, -1e9, 1e9)) for name, check in checks.items()},
        "seconds": fitted - begin,
        "seconds_checks": time.process_time() - fitted,
    }


def auc(score: np.ndarray, wrong: np.ndarray) -> float:
    """Probability that the score of a wrong answer is the larger one, ties counting half."""
    above = score[wrong][:, None] - score[~wrong]
    return float(np.mean(above > 0) + 0.5 * np.mean(above == 0))


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    error = np.array([each["error"] for each in results])
    score = np.array([each["doubt"] for each in results])
    flagged = np.array([bool(each["flags"]) for each in results])
    failed = np.array(["fail" in each["flags"].values() for each in results])
    wrong, right = error > WRONG, error <= RIGHT
    classes = {"within 5 %": right, "5 to 20 %": ~wrong & ~right, "above 20 %": wrong}
    rng = np.random.default_rng(0)
    draws = [rng.integers(len(error), size=len(error)) for _ in range(2000)]
    spread = [auc(score[at], wrong[at]) for at in draws if 0 < wrong[at].sum() < len(at)]
    return {
        "fits": len(results),
        "auc": auc(score, wrong) if 0 < wrong.sum() < len(wrong) else 0.5,
        "auc_flagged": auc(flagged.astype(float), wrong) if 0 < wrong.sum() < len(wrong) else 0.5,
        "auc_interval": np.quantile(spread, [0.025, 0.975]) if spread else [0.0, 1.0],
        "classes": {
            name: {
                "fits": int(which.sum()),
                "flagged": float(flagged[which].mean()) if which.any() else 0.0,
                "failed": float(failed[which].mean()) if which.any() else 0.0,
            }
            for name, which in classes.items()
        },
        "checks": {
            name: {
                cls: sum(name in each["flags"] for each, here in zip(results, which, strict=True)
                         if here)
                for cls, which in classes.items()
            }
            for name in sorted(Counter(f for each in results for f in each["flags"]))
        },
    }  # fmt: skip


def show(results: list[dict[str, Any]], found: dict[str, Any]) -> None:
    out = table("Fits", "<kind", "<problem", "<model", "rows", "truth", "found", "error", "doubt",
                "<checks that object")  # fmt: skip
    for each in sorted(results, key=lambda one: one["error"]):
        out.add_row(
            each["kind"], each["problem"], each["model"], str(each["rows"]),
            f"{each['truth']:.3g}", f"{each['found']:.3g}", f"{100 * each['error']:.0f} %",
            f"{each['doubt']:.1f}",
            " ".join(n.upper() if v == "fail" else n for n, v in each["flags"].items()),
        )  # fmt: skip
    console.print(out)
    out = table("By error", "<error", "fits", "flagged", "failed")
    for name, each in found["classes"].items():
        out.add_row(name, str(each["fits"]), f"{each['flagged']:.0%}", f"{each['failed']:.0%}")
    console.print(out)
    out = table("By check: fits it objects to", "<check", *found["classes"])
    for name, each in found["checks"].items():
        out.add_row(name, *map(str, each.values()))
    console.print(out)
    low, high = found["auc_interval"]
    alarms = found["classes"]["within 5 %"]["flagged"]
    console.print(
        f"AUC of doubt {found['auc']:.3f} (95 % interval {low:.3f} to {high:.3f}), of flags "
        f"{found['auc_flagged']:.3f}; goal {GOALS['auc']}:", verdict(found["auc"] >= GOALS["auc"])
    )  # fmt: skip
    console.print(f"False alarms {alarms:.0%}:", verdict(alarms <= GOALS["false_alarms"]))


def read(path: Path) -> list[dict[str, Any]]:
    """Fits that an interrupted run has left; a line cut short is not one."""
    out = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            out.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return out


def main() -> None:
    parser = options(__doc__, "detector")
    parser.add_argument("--which", choices=["report", "development"], default="report")
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run did")
    arguments = parser.parse_args()
    if arguments.which != "report" and arguments.out is None:
        parser.error("--which development needs --out: only the report is kept")
    chosen, most = list(cases(arguments.which)), 10**9
    if arguments.quick:
        chosen, most = [chosen[0], chosen[-2], *chosen[30:32]], 100
    run = Run("detector", arguments)
    lines = run.path.with_suffix(".jsonl")
    results = read(lines) if arguments.resume else []
    done = {each["seed"] for each in results}
    with progress() as bar, lines.open("a" if done else "w") as file:
        job = bar.add_task("fits", total=len(chosen), completed=len(done))
        for case in chosen:
            if case.seed not in done:
                results.append(measure(case, most))
                print(json.dumps(plain(results[-1])), file=file, flush=True)
                bar.advance(job)
    found = summary(results)
    show(results, found)
    run.write(results=results, summary=found, goals=GOALS)
    lines.unlink()


if __name__ == "__main__":
    main()

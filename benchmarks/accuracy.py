"""Accuracy of ``isthmus.compare`` with its defaults on problems whose truth is known.

    python benchmarks/accuracy.py [--quick] [--sets table2 hard] [--problems hard/ring]
        [--rows 20000] [--seeds 5] [--first-seed 0] [--jobs 2] [--paper] [--show]

Nothing is set but the seed. Every (problem, rows, seed) runs in a process of its own
with one thread, and its numbers are appended to a file beside the record (.jsonl) as
they come: an interrupted run goes on where it stopped, unless the package's code has
changed (--any-code: even then; --anew: never). --show prints what there is and runs
nothing. Sets, rows of each side, and goals:

table2      20,000  |mean error| at most 1 % and RMSE at most 1.5 times the plug-in's
table2-2k    2,000  |mean error| at most 3 %
table3      20,000  |mean error| at most 2 % of the exact KL, not of the paper's
narrow      20,000  |mean error| at most 2 %
hard        20,000  |mean error| at most 5 %, or a warning on every seed that is off by more
same        20,000  every interval holds 0

Columns:

mean, err %, RMSE
    Of the KL over the seeds.
plug %, RMSE
    The same for two normals fitted by maximum likelihood.
paper %
    The same for the paper's own settings (with --paper, where it has any).
h on p, q, m
    Root mean square error of log p/q at 5000 new rows of p, of q, and of the auxiliary
    where it is largest, over the rows where the truth is finite.
99 %
    Quantile of |log p/q| at new rows of p and q; the truth is 0.
cover
    Share of the seeds whose 95 % interval holds the truth.
s, MB
    Mean seconds of ``compare`` alone, and largest peak memory of a process.
warned
    Seeds on which a check on the ratio warned or failed. Below the table: which
    checks, and what the fit to all rows chose, each with its number of seeds.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _record import Run, console, limit_threads, memory, options, progress, table, verdict
from rich.console import Console

import isthmus
from isthmus import MDRE, compare, problems, stack

FRESH_ROWS = 5000
RMSE_GOAL = 1.5

Found = dict[str, Any]


class Set(NamedTuple):
    prefix: str
    rows: int
    percent: float


SETS = {
    "table2": Set("table2/", 20_000, 1.0),
    "table2-2k": Set("table2/", 2_000, 3.0),
    "table3": Set("table3/", 20_000, 2.0),
    "narrow": Set("narrow/", 20_000, 2.0),
    "hard": Set("hard/", 20_000, 5.0),
    "same": Set("same/", 20_000, 0.0),
}
QUICK = ["narrow/1e-3", "hard/gamma", "same/1"]


def plug_in(p: np.ndarray, q: np.ndarray) -> float:
    """Mean log-ratio of two fitted normals over the rows of p."""
    (m, S), (n, T) = ((x.mean(axis=0), np.atleast_2d(np.cov(x.T, bias=True))) for x in (p, q))
    logs = np.linalg.slogdet(T)[1] - np.linalg.slogdet(S)[1]
    return float(
        0.5 * (np.trace(np.linalg.solve(T, S + np.outer(m - n, m - n)) - np.eye(len(m))) + logs)
    )


def pointwise(problem: Any, model: Any, samples: dict[str, np.ndarray]) -> Found:
    """Root mean square and median error of log p/q on each sample, where the truth is finite."""
    out: dict[str, dict[str, float]] = {"rms": {}, "median": {}}
    for name, x in samples.items():
        truth = problem.log_ratio(x)
        here = np.isfinite(truth)
        if here.any():
            error = model.log_ratio(x[here]) - truth[here]
            out["rms"][name] = rms(error)
            out["median"][name] = float(np.median(np.abs(error)))
    return out


def choice(found: Any) -> dict[str, str]:
    """What the answer rests on, in one line, and how that was chosen."""
    return {"chosen": found.rests_on, "selection": found.estimator.selection_.summary()}


def one(task: Found) -> Found:
    """What one process finds: ``compare`` on one draw of one problem, and its rivals."""
    warnings.simplefilter("ignore")  # the checks say what went wrong
    problem, seed = problems.load(task["problem"]), task["seed"]
    p, q = problem.sample_p(task["rows"], seed), problem.sample_q(task["rows"], seed)
    base = memory()[0]
    start = time.perf_counter()
    found = compare(p, q, random_state=seed)
    seconds = time.perf_counter() - start
    peak = memory()[1]

    model, kl = found.estimator, found.kl
    rng = np.random.default_rng([seed, 1])
    samples = {"p": problem.sample_p(FRESH_ROWS, rng), "q": problem.sample_q(FRESH_ROWS, rng)}
    own = np.concatenate([model.log_ratio(x) for x in samples.values()])
    for k, auxiliary in enumerate(getattr(model, "auxiliaries_", [])):
        samples[f"m{k + 1}"] = np.asarray(auxiliary.sample(FRESH_ROWS, rng))
    out = {
        "kl": kl.value,
        "std_error": kl.std_error,
        "covered": bool(kl.low <= problem.kl <= kl.high),
        "log_ratio_error": pointwise(problem, model, samples),
        "quantile": float(np.quantile(np.abs(own), 0.99)),
        "warned": {
            name: check.verdict
            for name, check in found.diagnostics.items()
            if check.concerns == "ratio" and check.verdict != "ok"
        },
        **choice(found),
        "seconds": seconds,
        "base_mb": base,
        "peak_mb": peak,
        "plug_in": plug_in(p, q),
        "code": fingerprint(),
    }
    if task["paper"] and hasattr(MDRE, "paper") and problem.paper and problem.auxiliary_specs:
        paper = MDRE.paper(task["problem"], solver="newton", random_state=seed)
        out["paper_kl"] = float(paper.fit(*stack(p, q)).log_ratio(p).mean())
    return out


def in_process(script: str, task: Found) -> Found:
    """Run ``script --task`` with one thread; what it printed, or what went wrong."""
    run = subprocess.run(
        [sys.executable, script, "--task", json.dumps(task)],
        capture_output=True,
        text=True,
        env=limit_threads(1),
    )
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        return {"error": f"{last} (exit {run.returncode})"}
    return json.loads(run.stdout)


def run_all(tasks: list[Found], jobs: int) -> Iterator[Found]:
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(in_process, __file__, task): task for task in tasks}
        try:
            for future in as_completed(futures):
                yield {**futures[future], **future.result()}
        finally:
            pool.shutdown(cancel_futures=True)


def fingerprint() -> str:
    """Of the package's code, so that numbers of two versions never meet in one mean."""
    root = Path(isthmus.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def key(each: Found) -> tuple:
    return each["problem"], each["rows"], each["seed"], each["paper"]


def read(path: Path, code: str | None) -> dict[tuple, Found]:
    """Results that are there already, without lines that are empty or were cut short."""
    found = {}
    for line in path.read_text().splitlines():
        try:
            each = json.loads(line)
        except json.JSONDecodeError:
            continue
        if "error" not in each and code in (None, each["code"]):
            found[key(each)] = each
    return found


def rms(errors: Any) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def estimates(truth: float, kl: list[float]) -> Found:
    """Mean, error and RMSE of estimates of one truth."""
    mean = float(np.mean(kl))
    out: Found = {
        "mean": mean,
        "error": mean - truth,
        "rmse": rms(np.subtract(kl, truth)),
        "kl": kl,
    }
    if truth:
        out["error_percent"] = 100 * (mean / truth - 1)
    return out


def over_classes(seeds: list[dict[str, float]]) -> dict[str, float]:
    """Errors on p, on q, and on the auxiliary where they are largest, over the seeds."""
    out = {}
    for name in "pqm":
        worst = [max((v for k, v in s.items() if k[0] == name), default=None) for s in seeds]
        if None not in worst:
            out[name] = rms(worst)
    return out


def summary(name: str, problem: Any, seeds: list[Found]) -> Found:
    """What the seeds of one problem amount to."""
    truth = problem.kl
    out = {
        "set": name,
        "problem": problem.name,
        "truth": truth,
        "rows": seeds[0]["rows"],
        "seeds": [s["seed"] for s in seeds],
        **estimates(truth, [s["kl"] for s in seeds]),
        "std_error": [s["std_error"] for s in seeds],
        "coverage": float(np.mean([s["covered"] for s in seeds])),
        "log_ratio_rmse": over_classes([s["log_ratio_error"]["rms"] for s in seeds]),
        "log_ratio_median": over_classes([s["log_ratio_error"]["median"] for s in seeds]),
        "quantile": float(np.mean([s["quantile"] for s in seeds])),
        "warned": sum(bool(s["warned"]) for s in seeds),
        "warnings": dict(Counter(f"{k}: {v}" for s in seeds for k, v in s["warned"].items())),
        "chosen": dict(Counter(s["chosen"] for s in seeds if s["chosen"])),
        "seconds": float(np.mean([s["seconds"] for s in seeds])),
        "peak_mb": max(s["peak_mb"] for s in seeds),
        "plug_in": estimates(truth, [s["plug_in"] for s in seeds]),
    }
    if "paper_kl" in seeds[0]:
        out["paper"] = estimates(truth, [s["paper_kl"] for s in seeds])
    out["met"] = met(out, seeds)
    return out


def met(each: Found, seeds: list[Found]) -> bool:
    if each["set"] == "same":
        return each["coverage"] == 1.0
    allowed = SETS[each["set"]].percent / 100 * each["truth"]
    near = abs(each["error"]) <= allowed
    if each["set"] == "table2":
        return near and each["rmse"] <= RMSE_GOAL * each["plug_in"]["rmse"]
    if each["set"] == "hard":
        return near or all(s["warned"] or abs(s["kl"] - each["truth"]) <= allowed for s in seeds)
    return near


def show(name: str, results: list[Found]) -> None:
    numbers = ["truth", "mean", "err %", "RMSE", "plug %", "RMSE"]
    if name == "same":
        numbers = ["99 %"]
    elif any("paper" in each for each in results):
        numbers.append("paper %")
    out = table(
        f"{name}: {results[0]['rows']:,} rows of each side",
        *("<problem", *numbers, "h on p", "q", "m", "cover", "s", "MB", "warned", "<goal"),
    )
    notes = []
    for each in results:
        plug = each["plug_in"]
        cells = [f"{each['quantile']:.3f}"]
        if name != "same":
            cells = [f"{each['truth']:.2f}", f"{each['mean']:.2f}", f"{each['error_percent']:+.2f}"]
            cells += [f"{each['rmse']:.3f}", f"{plug['error_percent']:+.1f}", f"{plug['rmse']:.3f}"]
        if "paper %" in numbers:
            cells.append(f"{each['paper']['error_percent']:+.1f}" if "paper" in each else "")
        errors = (each["log_ratio_rmse"].get(c) for c in "pqm")
        cells += ["" if value is None else f"{value:.2g}" for value in errors]
        cells += [f"{each['coverage']:.0%}", f"{each['seconds']:.1f}", f"{each['peak_mb']:.0f}"]
        cells.append(f"{each['warned']}/{len(each['seeds'])}")
        out.add_row(each["problem"].split("/")[1], *cells, verdict(each["met"]))
        told = [f"{what} ({n})" for what, n in {**each["chosen"], **each["warnings"]}.items()]
        notes += [f"{each['problem']}: {', '.join(told)}"] if told else []
    wide = console if console.is_terminal else Console(width=150)
    wide.print(out)
    for note in notes:
        console.print(note, markup=False, highlight=False)


def chosen_tasks(arguments: Any) -> dict[str, list[Found]]:
    """Tasks of every set."""
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    out = {}
    for name in SETS if "all" in arguments.sets else arguments.sets:
        rows = arguments.rows or SETS[name].rows
        names = [
            each
            for each in problems.names(SETS[name].prefix)
            if not arguments.problems or each in arguments.problems
        ]
        out[name] = [
            {"problem": each, "rows": rows, "seed": seed, "paper": arguments.paper}
            for seed in seeds
            for each in names
        ]
    return out


def main() -> None:
    if sys.argv[1:2] == ["--task"]:
        print(json.dumps(one(json.loads(sys.argv[2])), default=float))
        return
    parser = options(__doc__, "accuracy")
    parser.add_argument("--sets", nargs="+", choices=[*SETS, "all"], default=["all"])
    parser.add_argument("--problems", nargs="+", choices=problems.names(), default=[], metavar="P")
    parser.add_argument(
        "--rows", type=int, default=None, help="of each side, in place of the set's"
    )
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them")
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one thread each")
    parser.add_argument("--paper", action="store_true", help="the paper's settings as well")
    parser.add_argument("--any-code", action="store_true", help="go on after a change of the code")
    parser.add_argument("--anew", action="store_true", help="forget what there is")
    parser.add_argument("--show", action="store_true", help="print what there is, run nothing")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.problems, arguments.rows, arguments.seeds = QUICK, 150, 1
    by_set = chosen_tasks(arguments)
    wanted = {key(task): task for tasks in by_set.values() for task in tasks}
    if not wanted:
        parser.error("none of the problems is in one of the sets.")

    run, code = Run("accuracy", arguments), fingerprint()
    lines = run.path.with_suffix(".jsonl")
    lines.parent.mkdir(parents=True, exist_ok=True)
    if arguments.anew or not lines.exists():
        lines.write_text("")
    found = read(lines, None if arguments.any_code else code)
    missing = sorted((wanted[k] for k in wanted if k not in found), key=lambda task: task["seed"])
    failed = []
    with progress() as bar, lines.open("a") as file:
        bar_task = bar.add_task(
            "comparing", total=len(wanted), completed=len(wanted) - len(missing)
        )
        for each in run_all([] if arguments.show else missing, arguments.jobs):
            # The newline comes first: the last line may have been cut short.
            file.write("\n" + json.dumps(each))
            file.flush()
            if not arguments.any_code and each.get("code", code) != code:
                sys.exit("The package's code has changed during the run: run again.")
            if "error" in each:
                failed.append(each)
                bar.console.print(f"{each['problem']}, seed {each['seed']}: {each['error']}")
            else:
                found[key(each)] = each
            bar.advance(bar_task)

    results = []
    for name, tasks in by_set.items():
        seeds: dict[str, list[Found]] = {}
        for task in tasks:
            if key(task) in found:
                seeds.setdefault(task["problem"], []).append(found[key(task)])
        mine = [summary(name, problems.load(each), seeds[each]) for each in seeds]
        if mine:
            show(name, mine)
        results += mine
    run.write(
        code=code,
        results=results,
        failed=failed,
        goals={name: each.percent for name, each in SETS.items()}
        | {"rmse_over_plug_in": RMSE_GOAL},
    )


if __name__ == "__main__":
    main()

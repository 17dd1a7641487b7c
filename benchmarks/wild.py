"""``isthmus.compare`` with its defaults on the problems "wild/...", beside its rivals.

    python benchmarks/wild.py [--quick] [--problems wild/wave ...] [--kinds tables edges]
        [--seeds 3] [--first-seed 0] [--jobs 2] [--timeout 1200] [--show]

Nothing is set but the seed. Every (problem, seed) runs in a process of its own with one
thread, and its numbers are appended to a file beside the record (.jsonl) as they come: an
interrupted run goes on where it stopped, unless the package's code has changed (--any-code:
even then; --anew: never). --show prints what there is and runs nothing. A run that fails
or takes longer than --timeout seconds is listed with its message, and the others go on.

Columns:

err %
    Error of the KL over the truth; for truths below .05 nats, over .05 nats.
interval, cover
    The 95 % interval, "inf" where it has no upper end, and whether it holds the truth.
trust
    Whether ``Comparison.trusted`` holds.
cpu s
    Processor seconds of ``compare``, with the interval and the checks.
loss, and one column for each rival
    Held-out log-loss in nats, where p and q count a half each (nothing learned: .693), at
    5,000 new rows of each side; for real tables, whose rows are all there is, out of fold
    with the rivals on the same folds. Rivals get the same rows: boosted trees, ridge
    logistic regression, nearest neighbours and two fitted normals.
bayes
    That of the true log-ratio at the same rows.

The record also has, for each run, the checks that object, what the answer rests on, the root
mean square error of log p/q where it is finite, and the correlation of the log-weights of
q's rows with the true ones.

Below: the bars. Shares of errors are of the problems that differ; coverage is of all.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from _record import Run, console, limit_threads, options, progress, table, verdict
from _wild_rivals import RIVALS, log_loss, out_of_fold
from accuracy import fingerprint
from rich.console import Console

from isthmus import compare, problems

FRESH_ROWS = 5000
LEAST = 0.05  # nats; below, errors are over this
NAMES = problems.names("wild/")
QUICK = ["wild/iris-quadratic", "wild/l-shape", "wild/null-one-column"]
QUICK_ROWS = 80

Found = dict[str, Any]


def one(task: Found) -> Found:
    """What one process finds: ``compare`` on one draw of one problem, and its rivals."""
    warnings.simplefilter("ignore")  # the checks say what went wrong
    problem, seed = problems.load(task["problem"]), task["seed"]
    p, q = (x[: task["rows"]] for x in problem.samples(seed))
    start = time.process_time()
    found = compare(p, q, random_state=seed)
    kl, trusted, checks = found.kl, bool(found.trusted), found.diagnostics
    seconds = time.process_time() - start

    if problem.finite:
        folds = found.crossfit.fold_p, found.crossfit.fold_q
        x_p, x_q = p, q
        ours = found.log_ratio_p, found.log_ratio_q
        rivals = {name: out_of_fold(rival, p, q, *folds) for name, rival in RIVALS.items()}
    else:
        rng = np.random.default_rng([seed, 1])
        x_p, x_q = problem.sample_p(FRESH_ROWS, rng), problem.sample_q(FRESH_ROWS, rng)
        ours = found.log_ratio(x_p), found.log_ratio(x_q)
        rivals = {}
        for name, rival in RIVALS.items():
            h = rival(p, q)
            rivals[name] = h(x_p), h(x_q)
    truth = problem.log_ratio(x_p), problem.log_ratio(x_q)
    return {
        "kl": kl.value,
        "std_error": kl.std_error,
        "low": kl.low,
        "high": kl.high,
        "trusted": trusted,
        "objections": [k for k, check in checks.items() if check.verdict != "ok"],
        "seconds": seconds,
        "n_p": len(p),
        "n_q": len(q),
        "loss": log_loss(*ours),
        "bayes": log_loss(*truth),
        "rivals": {name: log_loss(*h) for name, h in rivals.items()},
        "log_ratio_rmse": rms_where_finite(np.concatenate(ours), np.concatenate(truth)),
        "correlation": correlation(ours[1], truth[1]),
        "rests_on": found.rests_on,
        "code": fingerprint(),
    }


def rms_where_finite(found: np.ndarray, truth: np.ndarray) -> float:
    here = np.isfinite(truth)
    return float(np.sqrt(np.mean((found[here] - truth[here]) ** 2)))


def correlation(found: np.ndarray, truth: np.ndarray) -> float:
    """Of log-weights at rows of q with the true ones; 0 where one of them is constant."""
    here = np.isfinite(truth)
    a, b = found[here], truth[here]
    flat = min(np.ptp(a), np.ptp(b)) < 1e-9
    return 0.0 if flat else float(np.corrcoef(a, b)[0, 1])


def in_process(task: Found, timeout: float) -> Found:
    """Run one task with one thread; what it printed, or what went wrong."""
    try:
        run = subprocess.run(
            [sys.executable, __file__, "--task", json.dumps(task)],
            capture_output=True,
            text=True,
            env=limit_threads(1),
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"took longer than {timeout:g} s"}
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        return {"error": f"{last} (exit {run.returncode})"}
    return json.loads(run.stdout)


def run_all(tasks: list[Found], jobs: int, timeout: float) -> Iterator[Found]:
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(in_process, task, timeout): task for task in tasks}
        try:
            for future in as_completed(futures):
                yield {**futures[future], **future.result()}
        finally:
            pool.shutdown(cancel_futures=True)


def key(each: Found) -> tuple:
    return each["problem"], each["rows"], each["seed"]


def read(path: Path, code: str | None) -> dict[tuple, Found]:
    """What is there already, failures too, without lines that are empty or were cut short."""
    found = {}
    for line in path.read_text().splitlines():
        try:
            each = json.loads(line)
        except json.JSONDecodeError:
            continue
        if code in (None, each["code"]):
            found[key(each)] = each
    return found


def failed(each: Found | None) -> bool:
    return each is None or "error" in each


def judged(each: Found) -> Found:
    """A run with its truth and what follows; an infinite upper end is left out."""
    problem = problems.load(each["problem"])
    rivals = {k: v for k, v in each["rivals"].items() if math.isfinite(v)}
    floor = min(rivals[k] for k in ("trees", "ridge", "nothing") if k in rivals)
    high, low = each["high"], each["low"]
    out = {
        **{k: v for k, v in each.items() if k not in ("high", "rivals", "code")},
        "kind": problem.kind,
        "dim": problem.dim,
        "truth": problem.kl,
        "error": (each["kl"] - problem.kl) / max(problem.kl, LEAST),
        "covered": bool(low <= problem.kl <= high),
        "two_ended": math.isfinite(high),
        "rivals": rivals,
        "above_floor": each["loss"] - floor,
        "above_best": each["loss"] - min(rivals.values()),
        "high": high,
    }
    return {k: v for k, v in out.items() if not isinstance(v, float) or math.isfinite(v)}


def share(runs: list[bool]) -> Found:
    return {"share": float(np.mean(runs)) if runs else 0.0, "of": len(runs)}


def usable(each: Found) -> bool:
    return each["trusted"] and each["two_ended"]


def bars(runs: list[Found], lost: list[Found]) -> list[Found]:
    """The bars, each with what was found and whether it is met."""
    differ = [r for r in runs if r["kind"] != "nulls"]
    nulls = [r for r in runs if r["kind"] == "nulls"]
    tables = [r for r in runs if r["kind"] == "tables"]
    near = [r for r in differ if abs(r["error"]) <= 0.05]
    wrong = [r["trusted"] and abs(r["error"]) > 0.2 and not r["covered"] for r in runs]
    allowed = [0.03 if min(r["n_p"], r["n_q"]) < 100 else 0.01 for r in tables]
    above = [r.get("above_floor", math.inf) for r in tables]
    small = [a <= b for a, b in zip(above, allowed, strict=True)]
    best = [r.get("above_best", math.inf) <= 0.01 for r in runs]
    of_runs: list[tuple[str, list[bool], str, float]] = [
        ("within 10 %", [abs(r["error"]) <= 0.1 for r in differ], ">=", 0.5),
        ("within 20 %", [abs(r["error"]) <= 0.2 for r in differ], "", 0.0),
        ("intervals cover", [r["covered"] for r in runs], ">=", 0.9),
        ("... those with two ends", [r["covered"] for r in runs if r["two_ended"]], "", 0.0),
        ("... those without", [r["covered"] for r in runs if not r["two_ended"]], "", 0.0),
        ("no upper end", [not r["two_ended"] for r in runs], "", 0.0),
        ("trusted, off by more than 20 %, truth outside", wrong, "<=", 0.02),
        ("within 5 %: trusted with two ends", [usable(r) for r in near], ">=", 0.8),
        ("tables: loss at most .01 (.03) above trees, ridge, nothing", small, ">=", 1.0),
        ("tables: loss below trees, ridge, nothing", [a < 0 for a in above], ">=", 0.5),
        ("all: loss at most .01 above the best rival", best, "", 0.0),
        ("nulls: lower end above zero", [r["low"] > 0 for r in nulls], "<=", 0.05),
        ("at most 60 processor seconds", [r["seconds"] <= 60 for r in runs], ">=", 1.0),
        ("failed", [False] * len(runs) + [True] * len(lost), "<=", 0.0),
    ]
    out = []
    for name, values, sign, goal in of_runs:
        if not values:
            continue
        each = {"bar": name, **share(values)}
        if sign:
            met = each["share"] >= goal if sign == ">=" else each["share"] <= goal
            each |= {"goal": f"{sign} {goal:.0%}", "met": met}
        out.append(each)
    return out


def show(runs: list[Found], lost: list[Found], found: list[Found]) -> None:
    wide = console if console.is_terminal else Console(width=190)
    for kind in dict.fromkeys(r["kind"] for r in runs):
        mine = [r for r in runs if r["kind"] == kind]
        columns = ("seed", "rows", "d", "truth", "KL", "err %", "interval", "cover", "trust")
        out = table(
            kind, "<problem", *columns, "cpu s", "loss", *RIVALS, "bayes",
        )  # fmt: skip
        for r in mine:
            end = f"{r['high']:.3g}" if "high" in r else "inf"
            losses = [r["rivals"].get(name) for name in RIVALS]
            cells = [str(r["seed"]), f"{r['n_p']},{r['n_q']}", str(r["dim"])]
            cells += [f"{r['truth']:.3f}", f"{r['kl']:.3f}", f"{100 * r['error']:+.0f}"]
            cells += [f"{r['low']:.3g} to {end}", verdict(r["covered"]), verdict(r["trusted"])]
            cells += [f"{r['seconds']:.1f}", f"{r['loss']:.3f}" if "loss" in r else "inf"]
            cells += ["" if v is None else f"{v:.3f}" for v in losses]
            out.add_row(r["problem"].split("/")[1], *cells, f"{r['bayes']:.3f}")
        wide.print(out)
    for each in lost:
        text = f"{each['problem']}, seed {each['seed']}: {each['error']}"
        wide.print(text, markup=False, highlight=False)
    out = table("Bars", "<of the runs", "share", "of", "goal", "<met")
    for each in found:
        cells = [f"{each['share']:.0%}", str(each["of"]), each.get("goal", "")]
        out.add_row(each["bar"], *cells, verdict(each.get("met")))
    wide.print(out)


def main() -> None:
    if sys.argv[1:2] == ["--task"]:
        print(json.dumps(one(json.loads(sys.argv[2])), default=float))
        return
    parser = options(__doc__, "wild")
    parser.add_argument("--problems", nargs="+", choices=NAMES, default=NAMES, metavar="P")
    parser.add_argument("--kinds", nargs="+", default=[], metavar="K", help="only of these kinds")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them")
    parser.add_argument("--rows", type=int, default=None, help="at most so many of each side")
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one thread each")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds of one process")
    parser.add_argument("--any-code", action="store_true", help="go on after a change of the code")
    parser.add_argument("--anew", action="store_true", help="forget what there is")
    parser.add_argument("--show", action="store_true", help="print what there is, run nothing")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.problems, arguments.rows, arguments.seeds = QUICK, QUICK_ROWS, 1
    names = [
        name
        for name in arguments.problems
        if not arguments.kinds or problems.load(name).kind in arguments.kinds
    ]
    if not names:
        parser.error("none of the problems is of one of the kinds.")
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    tasks = [{"problem": n, "rows": arguments.rows, "seed": s} for s in seeds for n in names]
    wanted = {key(task): task for task in tasks}

    run, code = Run("wild", arguments), fingerprint()
    lines = run.path.with_suffix(".jsonl")
    lines.parent.mkdir(parents=True, exist_ok=True)
    if arguments.anew or not lines.exists():
        lines.write_text("")
    found = read(lines, None if arguments.any_code else code)
    missing = [] if arguments.show else [w for k, w in wanted.items() if failed(found.get(k))]
    with progress() as bar, lines.open("a") as file:
        done = bar.add_task("comparing", total=len(missing))
        for result in run_all(missing, arguments.jobs, arguments.timeout):
            each = {"code": code, **result}
            # The newline comes first: the last line may have been cut short.
            file.write("\n" + json.dumps(each))
            file.flush()
            if not arguments.any_code and each["code"] != code:
                sys.exit("The package's code has changed during the run: run again.")
            found[key(each)] = each
            bar.advance(done)

    order = {name: k for k, name in enumerate(NAMES)}
    mine = [found[k] for k in wanted if k in found]
    mine.sort(key=lambda r: (order[r["problem"]], r["seed"]))
    runs = [judged(each) for each in mine if not failed(each)]
    lost = [each for each in mine if failed(each)]
    summary = bars(runs, lost)
    show(runs, lost, summary)
    for each in runs:
        if each["rows"] is None:
            del each["rows"]
    run.write(code=code, results=runs, failed=lost, summary=summary)


if __name__ == "__main__":
    main()

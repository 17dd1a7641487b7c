"""Networks as critics: what they add to convex ones, and what they cost.

    python benchmarks/neural.py [--quick] [--parts auto residual mixing throughput]
        [--problems hard/ring] [--rows 20000] [--seeds 2] [--anew]

Every number is appended to a file beside the record (.jsonl) as it comes: an interrupted run
goes on where it stopped. Parts:

auto
    ``compare`` with its defaults, in which held-out rows choose between convex and neural critics,
    on the ring of modes and on the problems on which convex critics warned.
    Goal: |mean error| at most 5 %.
residual
    On anchors that are wrong, two normals: the sum of convex critics, a network, and what
    "auto" chooses. Fits to half of the rows, means of log p/q
    at the other half. Goal as above, for the network and for "auto".
mixing
    The paper's mixture of linear mixing, one class of several alphas (K = 1), on the first
    pair of Table 2. Its density is no exponential of a quadratic. "paper" has no anchors
    and a quadratic critic for every class; "mlp" a network on the same without anchors, and
    "mlp, anchors" one on anchors. Goal: |mean error| at most 5 % for the last.
throughput
    Steps a second of a critic's training, with fresh auxiliaries, held-out losses, averages and
    all else, over those of a bare loop on the same network, batches and loss: forward,
    backward and a step of AdamW. In seconds of the processor. Goal: at least 0.8.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from _record import Run, console, options, progress, table, verdict

from isthmus import MDRE, compare, problems, stack
from isthmus.auxiliaries import LinearMixing
from isthmus.critics import MLP, Quadratic, Radial, Splines, Sum
from isthmus.neural import residual as residual_file
from isthmus.neural import train

PERCENT, RATIO = 5.0, 0.8
AUTO = (
    *("hard/ring", "hard/gamma", "hard/zero-inflated", "hard/discrete-continuous"),
    *("hard/subspaces-50", "hard/modes-50"),
)
RESIDUAL = ("hard/ring", "hard/circle", "hard/banana", "hard/modes-in-p")
Found = dict[str, Any]


def auto(task: Found) -> Found:
    problem, seed = problems.load(task["problem"]), task["seed"]
    p, q = problem.sample_p(task["rows"], seed), problem.sample_q(task["rows"], seed)
    found = compare(p, q, estimator=MDRE(), random_state=seed)
    kl = found.kl
    chosen = [t.name for t in found.estimator.selection_.trials if t.chosen]
    return {
        "kl": kl.value,
        "covered": bool(kl.low <= problem.kl <= kl.high),
        "chosen": chosen[-1] if chosen else "rule",
        "network": found.estimator.network_ is not None,
    }


def halves(task: Found) -> tuple[Any, list[np.ndarray]]:
    problem, seed, n = problems.load(task["problem"]), task["seed"], task["rows"] // 2
    rng = np.random.default_rng([seed, 7])
    rows = [problem.sample_p(n, rng), problem.sample_q(n, rng), problem.sample_p(n, rng)]
    return problem, rows


def residual(task: Found) -> Found:
    _, (p, q, fresh) = halves(task)
    convex = Sum([Quadratic(), Radial(), Splines(coordinates="canonical")])
    critic = {"convex": convex, "mlp": "mlp", "auto": "auto"}[task["method"]]
    how = {"anchor": "gaussian", "maps": None, "random_state": task["seed"]}
    model = MDRE("bridge", critic=critic, **how).fit(*stack(p, q))
    return fitted(model, fresh)


def fitted(model: MDRE, fresh: np.ndarray) -> Found:
    out: Found = {"kl": float(model.log_ratio(fresh).mean())}
    if model.network_ is not None:
        report = model.network_.report
        out |= {"steps": report.steps, "best_step": report.best_step}
        out |= {"start": model.network_.start, "held_out": report.held_out}
    return out


def mixing(task: Found) -> Found:
    _, (p, q, fresh) = halves(task)
    plain = {"anchor": None, "maps": None, "l2": 0.0}
    settings = {
        "paper": {**plain, "critic": "quadratic"},
        "mlp": {**plain, "critic": MLP(base="quadratic")},
        "mlp, anchors": {"critic": "mlp", "anchor": "gaussian", "maps": None},
    }[task["method"]]
    auxiliary = LinearMixing([0.25, 0.5, 0.75], form="sqrt", merged=True)
    model = MDRE(auxiliary, random_state=task["seed"], **settings).fit(*stack(p, q))
    return fitted(model, fresh)


def throughput(task: Found) -> Found:
    """Seconds of the processor for bare steps of a fit, over those of its training."""
    d, steps, n = task["columns"], task["steps"], task["rows"]
    rng = np.random.default_rng(task["seed"])
    X, y = stack(rng.normal(0.3, 1, (n, d)), rng.normal(0, 1, (n, d)))
    ratios = []

    def timed(module: Any, loss: Any, **how: Any) -> Any:
        """Bare steps from the same weights, then the training that was asked for."""
        start = {name: value.clone() for name, value in module.state_dict().items()}
        optimiser = torch.optim.AdamW(module.parameters(), lr=1e-3, fused=True)
        generator = torch.Generator().manual_seed(0)
        begin = time.process_time()
        for _ in range(steps):
            optimiser.zero_grad()
            loss(generator).backward()
            optimiser.step()
        bare = time.process_time() - begin
        module.load_state_dict(start)
        begin = time.process_time()
        report = train(module, loss, **how)
        ratios.append(bare / (time.process_time() - begin))
        return report

    residual_file.train = timed
    try:
        for _ in range(task["repeats"] + 1):
            critic = MLP(width=task["width"], steps=steps, patience=steps)
            how = {"anchor": "gaussian", "maps": None, "random_state": task["seed"]}
            MDRE("bridge", critic=critic, **how).fit(X, y)
    finally:
        residual_file.train = train
    # The first warms up.
    return {"ratio": float(np.median(ratios[1:])), "ratios": ratios[1:]}


PARTS: dict[str, Callable[[Found], Found]] = {
    "auto": auto,
    "residual": residual,
    "mixing": mixing,
    "throughput": throughput,
}


def tasks(arguments: Any) -> list[Found]:
    rows, seeds = arguments.rows, range(arguments.seeds)
    methods = {"residual": ("convex", "mlp", "auto"), "mixing": ("paper", "mlp", "mlp, anchors")}
    names = {"auto": AUTO, "residual": RESIDUAL, "mixing": ("table2/40",)}
    out = []
    for part in arguments.parts:
        if part == "throughput":
            sizes = [(2, 16)] if arguments.quick else [(2, 64), (40, 128)]
            steps = 40 if arguments.quick else 1500
            for d, width in sizes:
                task = {"part": part, "columns": d, "width": width, "rows": rows, "seed": 0}
                out.append({**task, "steps": steps, "repeats": 1})
            continue
        for problem in arguments.problems or names[part]:
            for method in methods.get(part, ("auto",)):
                for seed in seeds:
                    task = {"part": part, "problem": problem, "method": method}
                    out.append({**task, "rows": rows, "seed": seed})
    return out


def summary(found: list[Found]) -> list[Found]:
    """One line for each problem and method, or size."""
    out: dict[tuple, list[Found]] = {}
    for each in found:
        place = each["part"], each.get("problem", each.get("columns")), each.get("method", "")
        out.setdefault(place, []).append(each)
    lines = []
    for (part, what, method), group in out.items():
        line: Found = {"part": part, "what": str(what), "method": method, "runs": len(group)}
        line["seconds"] = float(np.mean([each["seconds"] for each in group]))
        if part == "throughput":
            line["ratio"] = group[0]["ratio"]
            line["goal"] = line["ratio"] >= RATIO
        else:
            truth = problems.load(what).kl
            kl = [each["kl"] for each in group]
            line |= {"truth": truth, "kl": kl, "mean": float(np.mean(kl))}
            line["error_percent"] = 100 * (line["mean"] / truth - 1)
            if method == "mlp, anchors" or (part != "mixing" and method in ("auto", "mlp")):
                line["goal"] = abs(line["error_percent"]) <= PERCENT
        if part == "auto":
            line["networks"] = sum(each["network"] for each in group)
            line["coverage"] = float(np.mean([each["covered"] for each in group]))
            line["chosen"] = sorted({each["chosen"] for each in group})
        if "held_out" in group[0]:
            line["held_out_gain"] = float(np.mean([g["start"] - g["held_out"] for g in group]))
        lines.append(line)
    return lines


def show(lines: list[Found]) -> None:
    out = table(
        "Neural critics",
        *("<part", "<what", "<method", "truth", "mean", "err %", "ratio", "runs", "s", "<goal"),
    )
    for line in lines:
        numbers = [f"{line[key]:.3f}" if key in line else "" for key in ("truth", "mean")]
        numbers.append(f"{line['error_percent']:+.2f}" if "error_percent" in line else "")
        numbers.append(f"{line['ratio']:.2f}" if "ratio" in line else "")
        out.add_row(
            *(line[key] for key in ("part", "what", "method")),
            *numbers,
            str(line["runs"]),
            f"{line['seconds']:.1f}",
            verdict(line.get("goal")),
        )
    console.print(out)


def main() -> None:
    parser = options(__doc__, "neural")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--problems", nargs="+", choices=problems.names(), default=[], metavar="P")
    parser.add_argument("--rows", type=int, default=20_000, help="of each side")
    parser.add_argument("--seeds", type=int, default=2, help="number of seeds")
    parser.add_argument("--anew", action="store_true", help="forget what there is")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rows, arguments.seeds, arguments.parts = 100, 1, ["auto", "residual"]
        arguments.parts += ["throughput"]
        arguments.problems = ["hard/ring"]
    run = Run("neural", arguments)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    lines = run.path.with_suffix(".jsonl")
    lines.parent.mkdir(parents=True, exist_ok=True)
    if arguments.anew or not lines.exists():
        lines.write_text("")
    known = [json.loads(line) for line in lines.read_text().splitlines() if line]
    found = []
    with progress() as bar, lines.open("a") as file:
        todo = tasks(arguments)
        job = bar.add_task("fitting", total=len(todo))
        for task in todo:
            old = [each for each in known if task.items() <= each.items()]
            each = old[0] if old else dict(task)
            if not old:
                begin = time.process_time()
                each |= PARTS[task["part"]](task)
                each["seconds"] = time.process_time() - begin
                file.write(json.dumps(each, default=float) + "\n")
                file.flush()
            found.append(each)
            bar.advance(job)
    results = summary(found)
    show(results)
    run.write(
        results=results,
        runs=found,
        goals={"percent": PERCENT, "ratio": RATIO},
        torch=torch.__version__,
    )


if __name__ == "__main__":
    main()

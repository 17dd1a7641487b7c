"""The training loop against a bare one on the same network, batches and loss.

    python benchmarks/training.py [--quick] [--steps 400] [--repeats 7] [--threads 1]

The bare loop is forward, backward and a step of AdamW, and nothing else: no clipping, no
average of the weights, no check that the loss is finite, no schedule. It is timed with
torch's default AdamW and with its fused one. The training loop does all of these; it is timed
without a held-out loss and with one on a sixth of the rows every 100 steps, as
estimators use it. All are timed in turn, in seconds of the processor's time, so that a busy machine
does not decide. Columns:

bare, fused
    Steps per second of the two bare loops.
train, held out
    Steps per second of the training loop, without and with a held-out loss.
ratio
    Median over the repeats of "held out" over the quicker bare loop of that repeat. The goal is
    at least 0.8.
"""

from __future__ import annotations

import time

import numpy as np
import torch
from _record import Run, console, options, progress, table, verdict

from isthmus.data.sample import Sample
from isthmus.neural import ClassBatches, Training, mlp, seeded, train

GOAL = 0.8
# Columns, units, layers, rows of each class in a batch.
SIZES = ((2, 64, 2, 128), (20, 128, 2, 256), (40, 256, 3, 512))


class Task:
    """A binary classifier of two normals, made anew with the same weights for every run."""

    def __init__(self, d: int, width: int, depth: int, batch: int, rows: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        both = [Sample.of(rng.normal(mean, 1, (rows, d))) for mean in (0.5, 0.0)]
        self.shape, self.seed = (d, width, depth), seed
        self.batches = ClassBatches(both, batch_size=batch, validation=1 / 6, rng=rng)

    def start(self) -> None:
        d, width, depth = self.shape
        with seeded(np.random.default_rng(self.seed)):
            self.module = mlp(d, 1, width=width, depth=depth)

    def loss(self, generator: torch.Generator) -> torch.Tensor:
        softplus = torch.nn.functional.softplus
        h_p, h_q = self.module(self.batches.draw(generator))
        return softplus(-h_p).mean() + softplus(h_q).mean()

    def held_out(self) -> float:
        softplus = torch.nn.functional.softplus

        def losses(label: int, rows: torch.Tensor) -> torch.Tensor:
            return softplus(self.module(rows)[:, 0] * (1 if label else -1))

        return self.batches.held_out_mean(losses)

    def bare(self, steps: int, *, fused: bool) -> None:
        optimiser = torch.optim.AdamW(self.module.parameters(), lr=1e-3, fused=fused or None)
        generator = torch.Generator().manual_seed(self.seed)
        for _ in range(steps):
            optimiser.zero_grad()
            self.loss(generator).backward()
            optimiser.step()

    def train(self, steps: int, *, held_out: bool) -> None:
        how = Training(steps=steps, every=100, patience=steps)
        rng = np.random.default_rng(self.seed)
        judge = self.held_out if held_out else None
        train(self.module, self.loss, rng=rng, held_out=judge, settings=how)


def measure(task: Task, steps: int, repeats: int) -> dict[str, list[float]]:
    runs = {
        "bare": lambda: task.bare(steps, fused=False),
        "fused": lambda: task.bare(steps, fused=True),
        "train": lambda: task.train(steps, held_out=False),
        "held out": lambda: task.train(steps, held_out=True),
    }
    rates: dict[str, list[float]] = {name: [] for name in runs}
    for repeat in range(repeats + 1):
        for name, run in runs.items():
            task.start()
            begin = time.process_time()
            run()
            if repeat:  # the first warms up
                rates[name].append(steps / (time.process_time() - begin))
    return rates


def main() -> None:
    parser = options(__doc__, "training")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rows", type=int, default=12_000, help="of each class")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    sizes = SIZES
    if arguments.quick:
        sizes, arguments.steps, arguments.repeats, arguments.rows = SIZES[:1], 20, 2, 1000
    run = Run("training", arguments)
    torch.set_num_threads(arguments.threads)

    results = []
    with progress() as bar:
        job = bar.add_task("training", total=len(sizes))
        for d, width, depth, batch in sizes:
            task = Task(d, width, depth, batch, arguments.rows, arguments.seed)
            rates = measure(task, arguments.steps, arguments.repeats)
            bare = np.maximum(rates["bare"], rates["fused"])
            ratio = float(np.median(np.divide(rates["held out"], bare)))
            result = {"d": d, "width": width, "depth": depth, "batch": batch, "ratio": ratio}
            results.append({**result, "rates": rates, "met": ratio >= GOAL})
            bar.advance(job)

    out = table(
        f"Steps per second, {arguments.threads} thread(s)",
        *("d", "width", "depth", "batch", "bare", "fused", "train", "held out", "ratio"),
        "<goal met",
    )
    for result in results:
        out.add_row(
            *(str(result[key]) for key in ("d", "width", "depth", "batch")),
            *(f"{np.median(rates):.0f}" for rates in result["rates"].values()),
            f"{result['ratio']:.2f}",
            verdict(result["met"]),
        )
    console.print(out)
    run.write(results=results, goal={"ratio": GOAL}, torch=torch.__version__)


if __name__ == "__main__":
    main()

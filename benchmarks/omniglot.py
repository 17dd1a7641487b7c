"""Training of the separable critic against a bare forward and backward pass of its encoders.

    python benchmarks/omniglot.py [--quick] [--steps 12] [--repeats 5]

The bare pass takes the images of a batch, as many as training encodes in a step, through both
encoders and back from the sum of the embeddings' squares: no critic, no classes, no optimiser, no batch
to draw. Training is `SeparableRatio.fit_source` on the settings of `isthmus reproduce omniglot`,
with all of these and without looks at a held-out loss. Both are timed in turn, in seconds of the processor's
time, so that a busy machine does not decide. Drawings are random strokes of the sizes of Omniglot's
alphabets. Columns:

images
    Drawings that are encoded in a step.
bare, train
    Images per second of one core.
ratio
    Median over the repeats of train over bare. The goal is at least 0.8.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from _record import Run, console, options, progress, table, verdict

from isthmus.experiments.omniglot import BATCH, EMBEDDING, GROUP, PER_CHARACTER
from isthmus.problems.omniglot import SpatialMultiOmniglot, drawn_alphabets
from isthmus.separable import OmniglotSource, SeparableRatio

GOAL = 0.8
SIZES = (47, 42, 40, 26, 24, 24, 22, 17)


def settings(d: int, quick: bool) -> dict[str, Any]:
    """Of the estimator, by the number of cells."""
    out: dict[str, Any] = {"batch_size": BATCH, "group": GROUP, "embedding": EMBEDDING}
    if quick:
        out |= {"batch_size": 32, "group": 8, "embedding": 8, "channels": (4, 8, 8)}
    return {"grid": (int(d**0.5),) * 2, "random_state": 0, **out}


def measure(
    source: OmniglotSource, how: dict[str, Any], steps: int, repeats: int
) -> dict[str, Any]:
    """Images per second, bare and in training, of every repeat."""
    model = SeparableRatio(steps=steps, **how).fit_source(source)
    batch = source.draw(how["batch_size"], torch.Generator().manual_seed(0))
    images = len(batch.u) + len(batch.v)

    def bare(count: int) -> None:
        for _ in range(count):
            model.critic_.zero_grad(set_to_none=True)
            u, v = model.critic_.g(model.inputs_(batch.u)), model.critic_.f(model.inputs_(batch.v))
            (u.square().sum() + v.square().sum()).backward()

    def train(count: int) -> None:
        SeparableRatio(steps=count, **how).fit_source(source)

    rates: dict[str, list[float]] = {"bare": [], "train": []}
    for repeat in range(repeats + 1):
        for name, work in (("bare", bare), ("train", train)):
            # Twice as many steps less once as many: what is done only once drops out.
            seconds = []
            for count in (steps, 2 * steps):
                begin = time.process_time()
                work(count)
                seconds.append(time.process_time() - begin)
            if repeat:  # the first warms up
                rates[name].append(images * steps / max(seconds[1] - seconds[0], 1e-9))
    ratio = float(np.median(np.divide(rates["train"], rates["bare"])))
    return {"images": images, "rates": rates, "ratio": ratio}


def main() -> None:
    parser = options(__doc__, "omniglot")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    cells: tuple[int, ...] = (4, 9)
    if arguments.quick:
        cells, arguments.steps, arguments.repeats = (4,), 2, 1
    run = Run("omniglot", arguments)
    torch.set_num_threads(1)
    alphabets = drawn_alphabets(SIZES[:4] if not arguments.quick else (4, 3), rng=0)
    results = []
    with progress() as bar:
        job = bar.add_task("omniglot", total=len(cells))
        for d in cells:
            if d > 4:
                alphabets = drawn_alphabets(SIZES, rng=0)
            source = OmniglotSource(
                SpatialMultiOmniglot.largest(alphabets, d), per_character=PER_CHARACTER
            )
            found = measure(
                source, settings(d, arguments.quick), arguments.steps, arguments.repeats
            )
            results.append({"d": d, **found, "met": found["ratio"] >= GOAL})
            bar.advance(job)
    out = table("Images per second, 1 thread", "d", "images", "bare", "train", "ratio", "<goal met")
    for each in results:
        out.add_row(
            str(each["d"]),
            str(each["images"]),
            *(f"{np.median(each['rates'][name]):.0f}" for name in ("bare", "train")),
            f"{each['ratio']:.2f}",
            verdict(each["met"]),
        )
    console.print(out)
    run.write(results=results, goal={"ratio": GOAL}, torch=torch.__version__)


if __name__ == "__main__":
    main()

"""Training of the separable critic against a bare forward and backward pass of its encoders.

    python benchmarks/omniglot.py [--quick] [--steps 8] [--repeats 5]

The bare pass takes the images of a batch, as many as training encodes in a step, through both
encoders and back from the sum of the embeddings' squares: no critic, no classes, no
optimiser, no batch to draw. Training is `SeparableRatio.fit_source` with the batches of
`isthmus reproduce omniglot` and with all of these, without looks at a held-out loss. Both are
timed in turn, in seconds of the processor's time, so that a busy machine does not decide. Drawings
are random strokes, with as many characters as Omniglot's alphabets have. Columns:

encoder
    "cells" is the residual network of 14 layers, "published" the same with the paper's
    channels, "dense" the perceptron.
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

from isthmus.problems.omniglot import SpatialMultiOmniglot, drawn_alphabets
from isthmus.reproduce.omniglot import BATCH, DRAWINGS, EMBEDDING, GROUP
from isthmus.separable import PUBLISHED, OmniglotSource, SeparableRatio

GOAL = 0.8
SIZES = (47, 42, 40, 26, 24, 24, 22, 17)
KINDS: dict[str, dict[str, Any]] = {
    "cells": {"encoder": "cells"},
    "published": {"encoder": "cells", **PUBLISHED},
    "dense": {"encoder": "dense"},
}
CASES = ((4, "cells"), (4, "published"), (4, "dense"), (9, "cells"))


def measure(source: OmniglotSource, how: dict[str, Any], steps: int, repeats: int) -> Any:
    """Images per second, bare and in training, of every repeat."""
    model = SeparableRatio(steps=1, **how).fit_source(source)
    batch = source.draw(how["batch_size"], torch.Generator().manual_seed(0))
    images = len(batch.u) + len(batch.v)

    def bare(count: int) -> None:
        for _ in range(count):
            model.critic_.zero_grad(set_to_none=True)
            u = model.critic_.g(model.inputs_[0](batch.u))
            v = model.critic_.f(model.inputs_[1](batch.v))
            (u.square().sum() + v.square().sum()).backward()

    def train(count: int) -> None:
        SeparableRatio(steps=count, **how).fit_source(source)

    rates: dict[str, list[float]] = {"bare": [], "train": []}
    for repeat in range(repeats + 1):
        for name, work in (("bare", bare), ("train", train)):
            begin = time.process_time()
            work(steps)
            if repeat:  # the first warms up
                rates[name].append(images * steps / (time.process_time() - begin))
    ratio = float(np.median(np.divide(rates["train"], rates["bare"])))
    return {"images": images, "rates": rates, "ratio": ratio}


def main() -> None:
    parser = options(__doc__, "omniglot")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    cases, sizes = CASES, SIZES
    how: dict[str, Any] = {"batch_size": BATCH, "group": GROUP, "embedding": EMBEDDING}
    if arguments.quick:
        cases, sizes, arguments.steps, arguments.repeats = CASES[:1], (4, 3), 2, 1
        how = {"batch_size": 32, "group": 8, "embedding": 8}
    run = Run("omniglot", arguments)
    torch.set_num_threads(1)
    results = []
    with progress() as bar:
        job = bar.add_task("omniglot", total=len(cases))
        for d, kind in cases:
            problem = SpatialMultiOmniglot.largest(drawn_alphabets(sizes, rng=0), d)
            source = OmniglotSource(problem, per_character=DRAWINGS["dense"])
            more = {"grid": problem.grid, "random_state": 0, **KINDS[kind]}
            more["interaction"] = "all" if d <= 4 else "cells"
            found = measure(source, {**how, **more}, arguments.steps, arguments.repeats)
            results.append({"d": d, "encoder": kind, **found, "met": found["ratio"] >= GOAL})
            bar.advance(job)
    columns = ("d", "<encoder", "images", "bare", "train", "ratio", "<goal met")
    out = table("Images per second, 1 thread", *columns)
    for each in results:
        out.add_row(
            *(str(each[key]) for key in ("d", "encoder", "images")),
            *(f"{np.median(each['rates'][name]):.0f}" for name in ("bare", "train")),
            f"{each['ratio']:.2f}",
            verdict(each["met"]),
        )
    console.print(out)
    run.write(results=results, goal={"ratio": GOAL}, torch=torch.__version__)


if __name__ == "__main__":
    main()

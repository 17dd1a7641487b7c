"""One evaluation of objective and gradient against the matrix products that it contains.

    python benchmarks/kernel.py [--quick] [--dims 40 160 320] [--rows 50000] [--threads 1]

Five classes of Table 2's problems: p, q and three of linear mixing, all learned.
For every chunk of rows X and every class the evaluation needs two matrix products,
``X @ W`` for the values and ``X.T @ (r * X)`` for the gradient. The bare products
are timed on the same chunks, into arrays that exist already; making ``r * X`` is
not counted as theirs. The two are timed in turn. Columns:

evaluation
    Median seconds of ``Objective.value_and_gradient``, rest included: softmax,
    loss, ``r * X`` and the change between parameters and coefficients.
products
    Median seconds of the bare products, and their speed.
ratio
    Median over the repeats of the one over the other. The goal is at most 2 at d = 160.
"""

from __future__ import annotations

import time

import numpy as np
from _data import classes
from _record import Run, console, options, progress, table, verdict
from threadpoolctl import threadpool_limits

from isthmus import MDRE, stack
from isthmus.data.blocks import Block, gather
from isthmus.model.objective import Objective

GOAL, GOAL_DIM = 2.0, 160


def make_objective(dim: int, rows: int, seed: int) -> Objective:
    p, q, *auxiliaries = classes(f"table2/{dim}", rows, seed)
    # Any gradient is small enough for this tolerance: the solver stops where it starts.
    model = MDRE(auxiliaries, anchor=None, l2=0.0, tol=1e300)
    return model.fit(*stack(p, q)).objective_


def time_products(objective: Objective) -> float:
    """Seconds of the bare matrix products of one evaluation."""
    critic, clock = objective.critic, time.perf_counter
    k, longest = critic.width_, longest_block(objective)
    W = np.random.default_rng(0).standard_normal((len(critic.frames_), k, k))
    forms, scaled, moments = np.empty((longest, k)), np.empty((longest, k)), np.empty((k, k))
    residual = np.random.default_rng(1).standard_normal((longest, 1))

    def seconds(block: Block) -> float:
        X, spent = block.X, 0.0
        form, rX = forms[: len(X)], scaled[: len(X)]
        for c in range(len(W)):
            np.multiply(X, residual[: len(X)], out=rX)
            start = clock()
            np.matmul(X, W[c], out=form)
            np.matmul(X.T, rX, out=moments)
            spent += clock() - start
        return spent

    return objective.blocks.sum(seconds)


def longest_block(objective: Objective) -> int:
    return int(gather(objective.blocks, lambda block: np.array([len(block)])).max())


def measure(objective: Objective, theta: np.ndarray, repeats: int) -> dict:
    evaluations, products = [], []
    for repeat in range(repeats + 1):
        start = time.perf_counter()
        objective.value_and_gradient(theta)
        evaluation = time.perf_counter() - start
        product = time_products(objective)
        if repeat:  # the first warms up
            evaluations.append(evaluation)
            products.append(product)
    n = sum(map(len, objective.blocks.classes))
    d = objective.blocks.classes[0].rows.shape[1]
    flops = 2 * 2 * n * d * d * len(objective.critic.frames_)
    return {
        "dim": d,
        "rows": n,
        "classes": len(objective.critic.frames_),
        "chunk_rows": longest_block(objective),
        "evaluation_seconds": evaluations,
        "product_seconds": products,
        "evaluation": float(np.median(evaluations)),
        "products": float(np.median(products)),
        "product_gflops": flops / float(np.median(products)) / 1e9,
        "ratio": float(np.median(np.divide(evaluations, products))),
    }


def main() -> None:
    parser = options(__doc__, "kernel")
    parser.add_argument("--dims", type=int, nargs="+", default=[40, 160, 320], help="of Table 2")
    parser.add_argument("--rows", type=int, default=50_000, help="rows in all")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1, help="of the linear algebra")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.dims, arguments.rows, arguments.repeats = [40], 1000, 2
    run = Run("kernel", arguments)

    results = []
    with progress() as bar, threadpool_limits(arguments.threads):
        task = bar.add_task("evaluating", total=len(arguments.dims))
        for dim in arguments.dims:
            objective = make_objective(dim, arguments.rows, arguments.seed)
            results.append(measure(objective, objective.critic.normal_start(), arguments.repeats))
            bar.advance(task)

    out = table(
        f"Objective and gradient, {arguments.threads} thread(s)",
        *("d", "rows", "classes", "evaluation", "products", "GFLOP/s", "ratio", "<goal met"),
    )
    for result in results:
        if result["dim"] == GOAL_DIM:
            result["met"] = result["ratio"] <= GOAL
        out.add_row(
            *(str(result[key]) for key in ("dim", "rows", "classes")),
            *(f"{result[key] * 1e3:.1f} ms" for key in ("evaluation", "products")),
            f"{result['product_gflops']:.1f}",
            f"{result['ratio']:.2f}",
            verdict(result.get("met")),
        )
    console.print(out)
    run.write(results=results, goal={"dim": GOAL_DIM, "ratio": GOAL})


if __name__ == "__main__":
    main()

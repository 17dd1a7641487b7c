"""Kernel methods against the packages densratio (uLSIF, RuLSIF) and adapt (KLIEP, KMM).

    python benchmarks/rival_kernel.py [--quick] [--rows 10000] [--dims 1 5] [--repeats 5]

In every column p is N(0, 1) and q is N(0.5, 1.44). The packages draw their centres at random
from p; ours are given the same ones, columns are not standardised, and widths and penalties
are the same, so that all solve the same problem. Packages that are not installed are left
out. Columns:

seconds, ratio (of CPU)
    Median wall time of the fit from the arrays on, package and ours in turn, and theirs over
    ours; the same of CPU seconds, which other work on the machine disturbs less. What takes a
    package over two seconds is run once. The goal is 10, where a fit is cross-validated or
    iterated; a fit in closed form with given settings is the same few products in both.
difference
    Largest difference of the two ratios over fresh rows of p and q, over the largest ratio.
    The goal is 1e-3, at the same width and penalty.
chosen
    Width and penalty chosen from the same grid. densratio's leave-one-out score lacks a
    division that the paper's formula has, and of RuLSIF a term; ours is the paper's, which a
    test compares with leaving rows out by hand. If the choices differ, the
    difference is that of fits with theirs.
objective, missing
    KLIEP's mean log r over p, with the mean of r over q made one, and how far it is below its
    maximum, of which ours is within ``gap``. adapt's default, "FW", takes 2,000 steps; "PG" and
    "original" stop when a step no longer helps, "FW, long" takes 50,000.
MMD
    Distance of the kernel means after weighting. adapt's KMM has no penalty and takes q in
    parts of at most 1,000 rows; "exact" is our l2 = 1e-9 with all rows of q as centres.
    RMSE is that of the weights, for what an unpenalised match is worth.

Then the examples in densratio's README, with the numbers printed there, the five pairs of the
paper on RuLSIF (alpha = 0.5; PE is its divergence), and KL(p, q) of normal pairs: all methods
with their defaults, evaluated on fresh rows.
"""

from __future__ import annotations

import contextlib
import io
import os
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from _kernel_examples import normals, readme, show_examples, toys
from _record import Run, console, options, progress, table, verdict
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from isthmus import stack
from isthmus.baselines import KLIEP, KMM, RULSIF, ULSIF

SPEED_GOAL, DIFFERENCE_GOAL = 10.0, 1e-3
LONG_STEPS = 50_000
# Of which adapt takes 15 fits and one more; its solver is the same for every width.
WIDTHS = {1: [0.5, 1.0, 2.0], 5: [1.0, 1.5, 2.5]}
L2S = [0.001, 0.01, 0.1]
FIXED = {1: (1.0, 0.1), 5: (1.5, 0.01)}
SAME = {"standardise": False, "floor": 1e-300}
Found = dict[str, Any]


def installed(name: str) -> str:
    """Version of a package, or an empty string."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def quiet(work: Any) -> Any:
    """Run what prints and warns, such as an import of tensorflow."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return work()


def timed(*works: Any, repeats: int) -> tuple[list[Any], list[Found]]:
    """Results of the last runs, and median seconds; the works take turns."""
    spent: list[list[tuple[float, float]]] = [[] for _ in works]
    results: list[Any] = [None] * len(works)
    for _ in range(repeats):
        for i, work in enumerate(works):
            if spent[i] and spent[i][0][0] > 2.0:
                continue
            wall, cpu = time.perf_counter(), time.process_time()
            results[i] = quiet(work)
            spent[i].append((time.perf_counter() - wall, time.process_time() - cpu))
    medians = [np.median(each, axis=0) for each in spent]
    return results, [{"seconds": float(w), "cpu": float(c)} for w, c in medians]


def samples(rows: int, dim: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of p and of q, and fresh rows of both."""
    rng = np.random.default_rng([seed, dim])
    p, q = rng.normal(0, 1, (rows, dim)), rng.normal(0.5, 1.2, (rows, dim))
    fresh = np.concatenate([rng.normal(0, 1, (2000, dim)), rng.normal(0.5, 1.2, (2000, dim))])
    return p, q, fresh


def true_ratio(x: np.ndarray) -> np.ndarray:
    return np.exp((norm.logpdf(x, 0, 1) - norm.logpdf(x, 0.5, 1.2)).sum(axis=1))


def largest_difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def compared(ours: Found, theirs: Found | None, **other: Any) -> Found:
    """A line of results: seconds of both and their ratios."""
    line: Found = {**other, "ours": ours}
    if theirs is not None:
        ratio, cpu_ratio = (theirs[key] / ours[key] for key in ("seconds", "cpu"))
        line |= {"theirs": theirs, "ratio": ratio, "cpu_ratio": cpu_ratio}
    return line


def least_squares(rows: int, dim: int, alpha: float, grid: bool, arguments: Any) -> Found:
    """uLSIF (alpha = 0) or RuLSIF with given settings or a grid."""
    p, q, fresh = samples(rows, dim, arguments.seed)
    X, y = stack(p, q)
    width, l2 = (WIDTHS[dim], L2S) if grid else FIXED[dim]
    centres: Any = 100
    works: list[Any] = []
    if arguments.densratio:
        import densratio

        def theirs() -> Any:
            np.random.seed(arguments.seed)  # noqa: NPY002 - its only source of centres
            given = {"sigma": width, "lambda_": l2, "kernel_num": 100, "verbose": False}
            return densratio.RuLSIF(p, q, alpha=alpha, **given)

        # Its centres are known beforehand: they are its first draw.
        np.random.seed(arguments.seed)  # noqa: NPY002
        centres = p[np.random.choice(rows, size=100, replace=False)]  # noqa: NPY002
        works.append(theirs)

    def fit(width: Any, l2: Any) -> Any:
        settings = {"centres": centres, "width": width, "l2": l2, "random_state": 0, **SAME}
        model = RULSIF(alpha=alpha, **settings) if alpha else ULSIF(**settings)
        return model.fit(X, y)

    fits, spent = timed(lambda: fit(width, l2), *works, repeats=arguments.repeats)
    model = fits[0]
    line = compared(
        *spent[:1],
        spent[1] if works else None,
        method=f"RuLSIF {alpha:g}" if alpha else "uLSIF",
        dim=dim,
        settings=f"{len(WIDTHS[dim])} x {len(L2S)}" if grid else "given",
        chosen=[model.width_, model.l2_],
    )
    if works:
        their = fits[1]
        line["their_choice"] = [float(their.kernel_info.sigma), float(their.lambda_)]
        if line["their_choice"] != line["chosen"]:
            model = fit(*line["their_choice"])
        values = model.relative_ratio(fresh) if alpha else np.exp(model.log_ratio(fresh))
        line["difference"] = largest_difference(values, their.compute_density_ratio(fresh))
    return line


def kliep(rows: int, dim: int, settings: str, arguments: Any) -> Found:
    """KLIEP with adapt's algorithms, with its long run, or with a choice of width."""
    p, q, fresh = samples(rows, dim, arguments.seed)
    X, y = stack(p, q)
    width: Any = WIDTHS[dim] if settings == "3 widths" else FIXED[dim][0]
    centres: Any = 100
    theirs: Any = None
    if arguments.adapt:
        from adapt.instance_based import KLIEP as Theirs

        def theirs() -> Any:
            gamma = (0.5 / np.square(width)).tolist()
            how: Found = {"algo": settings if settings in ("PG", "original") else "FW"}
            if settings == "FW, long":
                how["max_iter"] = LONG_STEPS
            model = Theirs(
                Xt=p, kernel="rbf", gamma=gamma, max_centers=100, verbose=0, random_state=0, **how
            )
            model.fit_weights(q, p)
            return model

        # One run tells its centres, which are the same in every other.
        found, spent_theirs = timed(theirs, repeats=1)
        centres = found[0].centers_

    def ours() -> Any:
        return KLIEP(centres=centres, width=width, cap=np.inf, random_state=0, **SAME).fit(X, y)

    (model,), spent = timed(ours, repeats=arguments.repeats)
    line = compared(
        *spent,
        spent_theirs[0] if theirs else None,
        dim=dim,
        settings=settings,
        objective=model.objective_,
        gap=model.gap_,
        steps=model.n_iter_,
        width=model.width_,
    )
    if theirs:
        their = found[0]
        mean = their.predict_weights(q).mean()
        value = float(np.log(their.predict_weights(p) / mean).mean())
        line |= {"their_objective": value, "missing": model.objective_ - value}
        line["their_width"] = float((0.5 / their.best_params_["gamma"]) ** 0.5)
        if abs(line["their_width"] / model.width_ - 1) < 1e-9:
            theirs_at = their.predict_weights(fresh)
            line["difference"] = largest_difference(np.exp(model.log_ratio(fresh)), theirs_at)
    return line


def kmm(rows: int, dim: int, arguments: Any) -> list[Found]:
    """KMM of adapt, and ours without and with a penalty."""
    p, q, _ = samples(rows, dim, arguments.seed)
    X, y = stack(p, q)
    width = FIXED[dim][0]
    works: Found = {}
    for name, l2, centres in (("l2 1e-3", 1e-3, 100), ("l2 1e-6", 1e-6, 100), ("exact", 1e-9, q)):
        if name != "exact" or rows <= 1000:
            given = {"width": width, "l2": l2, "centres": centres, "random_state": 0, **SAME}
            works[name] = lambda given=given: KMM(**given).fit(X, y).weights_
    if arguments.adapt:
        from adapt.instance_based import KMM as Theirs

        gamma = 0.5 / width**2
        works["adapt"] = lambda: Theirs(
            Xt=p, kernel="rbf", gamma=gamma, verbose=0, random_state=0
        ).fit_weights(q, p)
    weights, spent = timed(*works.values(), repeats=arguments.repeats)
    truth = true_ratio(q)
    lines = []
    for name, w, own in zip(works, weights, spent, strict=True):
        other = spent[-1] if arguments.adapt and name != "adapt" else None
        rmse = float(np.sqrt(np.mean((w - truth) ** 2)))
        also = {"method": name, "dim": dim, "rows": rows, "rmse": rmse}
        lines.append(compared(own, other, **also, mmd=mmd(w, p, q, width)))
    return lines


def mmd(w: np.ndarray, p: np.ndarray, q: np.ndarray, width: float) -> float:
    """Distance of the kernel mean of p and that of weighted q, with the whole kernel."""
    from sklearn.metrics.pairwise import rbf_kernel

    X, v = np.concatenate([q, p]), np.concatenate([w / len(q), np.full(len(p), -1 / len(p))])
    parts = (slice(i, i + 1000) for i in range(0, len(X), 1000))
    total = sum(v[part] @ rbf_kernel(X[part], X, gamma=0.5 / width**2) @ v for part in parts)
    return float(np.sqrt(max(total, 0.0)))


def show_least_squares(found: list[Found]) -> None:
    heads = ("seconds", "theirs", "ratio", "of CPU", "<goal met", "difference", "<goal met")
    out = table("Least squares: ours and densratio", "<method", "d", "<settings", *heads,
                "<chosen", "<theirs")  # fmt: skip
    for line in found:
        cells = speed_cells(line, line["settings"] != "given")
        if "difference" in line:
            line["close"] = line["difference"] <= DIFFERENCE_GOAL
            choices = (" ".join(f"{x:g}" for x in line[key]) for key in ("chosen", "their_choice"))
            cells += [f"{line['difference']:.0e}", verdict(line["close"]), *choices]
        out.add_row(line["method"], str(line["dim"]), line["settings"], *cells)
    console.print(out)


def show_kliep(found: list[Found]) -> None:
    heads = ("seconds", "theirs", "ratio", "of CPU", "<goal met", "objective", "missing")
    out = table("KLIEP: ours and adapt", "d", "<settings", *heads, "difference", "<goal met")
    for line in found:
        cells = speed_cells(line, line["settings"] in ("FW", "FW, long", "3 widths"))
        cells.append(f"{line['objective']:.6f}")
        if "missing" in line:
            cells.append(f"{line['missing']:.1e}")
        if "difference" in line:
            # Only a converged run can be the same; the others are shown for what they are.
            if line["settings"] == "FW, long":
                line["close"] = line["difference"] <= DIFFERENCE_GOAL
            cells += [f"{line['difference']:.0e}", verdict(line.get("close"))]
        out.add_row(str(line["dim"]), line["settings"], *cells)
    console.print(out)


def show_kmm(found: list[Found]) -> None:
    heads = ("seconds", "adapt's", "ratio", "of CPU", "<goal met", "MMD", "RMSE")
    out = table("KMM: ours and adapt", "d", "rows", "<method", *heads)
    for line in found:
        cells = speed_cells(line, line["method"] != "exact")
        cells += [f"{line['mmd']:.1e}", f"{line['rmse']:.2f}"]
        out.add_row(str(line["dim"]), f"{line['rows']:,}", line["method"], *cells)
    console.print(out)


def speed_cells(line: Found, judged: bool) -> list[str]:
    """Seconds of both and their ratios; whether the goal is met goes into the line."""
    if "ratio" not in line:
        return [f"{line['ours']['seconds']:.3f}", "", "", "", ""]
    if judged:
        line["fast"] = line["ratio"] >= SPEED_GOAL
    seconds = [f"{line[key]['seconds']:.3f}" for key in ("ours", "theirs")]
    ratios = [f"{line[key]:.1f}" for key in ("ratio", "cpu_ratio")]
    return [*seconds, *ratios, verdict(line.get("fast"))]


def main() -> None:
    parser = options(__doc__, "rival_kernel")
    parser.add_argument("--rows", type=int, default=10_000, help="of each sample")
    parser.add_argument("--dims", type=int, nargs="+", default=[1, 5], choices=sorted(WIDTHS))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=5, help="of the pairs and the normals")
    parser.add_argument("--threads", type=int, default=1, help="of the linear algebra")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rows, arguments.dims, arguments.repeats, arguments.seeds = 80, [1], 1, 1
    run = Run("rival_kernel", arguments)
    peers = {name: installed(name) for name in ("densratio", "adapt")}
    for name, found in peers.items():
        setattr(arguments, name, found)
        if not found:
            console.print(f"{name} is not installed: ours alone (pip install {name})")
    if arguments.quick:
        # A quick run sees that ours works; adapt brings tensorflow with it.
        arguments.adapt = ""
    if arguments.adapt:
        import_seconds = time.perf_counter()
        quiet(lambda: __import__("adapt.instance_based"))
        console.print(f"adapt imported in {time.perf_counter() - import_seconds:.0f} s")

    rows, dims = arguments.rows, arguments.dims
    algorithms = ["FW", "PG", "original", "FW, long", "3 widths"] if arguments.adapt else ["FW"]
    jobs: list[tuple[str, Any, tuple[Any, ...]]] = []
    for dim in dims:
        for alpha in (0.0, 0.1):
            jobs += [("least_squares", least_squares, (rows, dim, alpha, g)) for g in (False, True)]
        jobs += [("kliep", kliep, (rows, dim, each)) for each in algorithms]
        jobs += [("kmm", kmm, (n, dim)) for n in sorted({min(rows, 1000), rows})]
    jobs += [("readme", readme, ()), ("toys", toys, ()), ("normals", normals, ())]
    results: Found = {}
    with progress() as bar, threadpool_limits(arguments.threads):
        task = bar.add_task("", total=len(jobs))
        for name, job, settings in jobs:
            bar.update(task, description=" ".join([name, *map(str, settings)]))
            found = job(*settings, arguments)
            results.setdefault(name, []).extend(found if isinstance(found, list) else [found])
            bar.advance(task)

    show_least_squares(results["least_squares"])
    show_kliep(results["kliep"])
    show_kmm(results["kmm"])
    show_examples(results)
    goals = {"speed": SPEED_GOAL, "difference": DIFFERENCE_GOAL}
    run.write(results=results, goals=goals, peers=peers)


if __name__ == "__main__":
    main()

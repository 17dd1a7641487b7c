"""The examples of ``rival_kernel.py``: densratio's README, pairs of the RuLSIF paper, normals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from _record import console, table
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from isthmus import stack
from isthmus.baselines import KLIEP, KMM, RULSIF, ULSIF

Found = dict[str, Any]
Density = Callable[[Any], Any]
METHODS = {"KLIEP": KLIEP, "uLSIF": ULSIF, "RuLSIF": RULSIF, "KMM": KMM}
# What the README prints: width, penalty, PE and KL.
PRINTED = {1: [0.1, 0.1, 0.618794, 0.703765], 2: [0.3, 0.04, 0.653616, 0.621429]}
# q of the paper's pairs, p being N(0, 1): mean, variance, share of N(3, 1).
PAIRS: dict[str, tuple[float, float, float]] = {
    "N(0, 1)": (0.0, 1.0, 0.0),
    "N(0, 0.6)": (0.0, 0.6, 0.0),
    "N(0, 2)": (0.0, 2.0, 0.0),
    "N(0.5, 1)": (0.5, 1.0, 0.0),
    "5 % of N(3, 1)": (0.0, 1.0, 0.05),
}
PAIR_ROWS, PAIR_ALPHA = 500, 0.5
# Mean and standard deviation of q, p being N(0, 1).
NORMALS = [(0.0, 1.0), (0.5, 1.0), (0.0, 2.0), (1.5, 1.0), (4.0, 1.0)]
NORMAL_ROWS = 2000


def divergences(at_p: np.ndarray, at_q: np.ndarray, alpha: float) -> list[float]:
    """PE and KL of the relative ratio from its values at both samples, as densratio has them."""
    square = alpha * np.mean(at_p**2) + (1 - alpha) * np.mean(at_q**2)
    return [float(np.mean(at_p) - 0.5 * square - 0.5), float(np.mean(np.log(at_p)))]


def true_divergences(p: Density, q: Density, alpha: float, sd: float = 1.0) -> list[float]:
    """The same of one-dimensional log-densities, p's standard deviation being ``sd``."""

    def log_relative(x: float) -> float:
        share = [np.log(alpha), np.log1p(-alpha)] if alpha else [-np.inf, 0.0]
        return float(p(x) - np.logaddexp(share[0] + p(x), share[1] + q(x)))

    def over_p(f: Density) -> float:
        return float(quad(lambda x: np.exp(p(x)) * f(x), -12 * sd, 12 * sd, points=[0.0])[0])

    mean = over_p(lambda x: np.exp(log_relative(x)))
    return [0.5 * mean - 0.5, over_p(log_relative)]


def readme(arguments: Any) -> list[Found]:
    """The two examples of densratio's README, its draws included."""
    lines = []
    for dim, size, alpha, grids in (
        (1, 500, 0.1, [10.0 ** np.linspace(-3, 1, 9)] * 2),
        (2, 3000, 0.0, [[0.1, 0.3, 0.5, 0.7, 1], [0.01, 0.02, 0.03, 0.04, 0.05]]),
    ):
        size = min(size, arguments.rows)
        np.random.seed(1)  # noqa: NPY002 - as in the README
        if dim == 1:
            p, q = (norm.rvs(size=size, loc=0, scale=s)[:, None] for s in (1 / 8, 1 / 2))
            truth = true_divergences(norm(0, 1 / 8).logpdf, norm(0, 1 / 2).logpdf, alpha, 1 / 8)
        else:
            p, q = (
                multivariate_normal.rvs(size=size, mean=[1, 1], cov=np.eye(2) / each)
                for each in (8, 2)
            )
            densities = (norm(0, each**-0.5).logpdf for each in (8, 2))
            pe, kl = true_divergences(*densities, alpha, 8**-0.5)
            truth = [0.5 * (2 * pe + 1) ** 2 - 0.5, 2 * kl]
        line: Found = {"dim": dim, "alpha": alpha, "printed": PRINTED[dim], "truth": truth}
        centres: Any = 100
        fits: Found = {}
        if arguments.densratio:
            import densratio

            their = densratio.RuLSIF(
                p, q, alpha=alpha, sigma=grids[0], lambda_=grids[1], verbose=False
            )
            chosen = [float(their.kernel_info.sigma), float(their.lambda_)]
            line["theirs"] = [*chosen, float(their.alpha_PE), float(their.alpha_KL)]
            centres = their.kernel_info.centers
            fits["same"] = {"centres": centres, "width": chosen[0], "l2": chosen[1]}
        fits["grid"] = {"centres": centres, "width": grids[0], "l2": grids[1]}
        fits["default"] = {}
        for name, settings in fits.items():
            raw = {"standardise": False} if settings else {}
            model = RULSIF(alpha=alpha, random_state=0, **raw, **settings).fit(*stack(p, q))
            values = divergences(model.relative_ratio(p), model.relative_ratio(q), alpha)
            line[name] = [model.width_, model.l2_, *values]
        lines.append(line)
    return lines


def toys(arguments: Any) -> list[Found]:
    """PE of the relative ratio of the paper's pairs, over some seeds, at the fitted rows."""
    lines = []
    for name, (mean, variance, share) in PAIRS.items():

        def q_density(x: Any, at: Any = (mean, variance**0.5, share)) -> Any:
            near, far = norm.pdf(x, at[0], at[1]), norm.pdf(x, 3, 1)
            return np.log((1 - at[2]) * near + at[2] * far)

        line: Found = {"q": name, "truth": true_divergences(norm.logpdf, q_density, PAIR_ALPHA)[0]}
        for seed in range(arguments.seeds):
            rng = np.random.default_rng([arguments.seed, seed])
            p = rng.normal(0, 1, (PAIR_ROWS, 1))
            q = rng.normal(mean, variance**0.5, (PAIR_ROWS, 1))
            far = rng.random(PAIR_ROWS) < share
            q[far] = rng.normal(3, 1, (far.sum(), 1))
            model = RULSIF(alpha=PAIR_ALPHA, random_state=seed).fit(*stack(p, q))
            at_p, at_q = model.relative_ratio(p), model.relative_ratio(q)
            line.setdefault("ours", []).append(divergences(at_p, at_q, PAIR_ALPHA)[0])
            if arguments.densratio:
                import densratio

                np.random.seed(seed)  # noqa: NPY002 - its only source of centres
                their = densratio.RuLSIF(p, q, alpha=PAIR_ALPHA, verbose=False)
                line.setdefault("theirs", []).append(float(their.alpha_PE))
        lines.append(line)
    return lines


def normals(arguments: Any) -> list[Found]:
    """KL(p, q) on fresh rows of p, all methods with their defaults, over some seeds."""
    lines = []
    for mean, sd in NORMALS:
        line: Found = {"mean": mean, "sd": sd}
        line["truth"] = float(np.log(sd) + (1 + mean**2) / (2 * sd**2) - 0.5)
        for seed in range(arguments.seeds):
            rng = np.random.default_rng([arguments.seed, seed])
            rows = min(NORMAL_ROWS, arguments.rows)
            p, q = rng.normal(0, 1, rows), rng.normal(mean, sd, rows)
            fresh = rng.normal(0, 1, 10_000)
            for name, kind in METHODS.items():
                model = kind(random_state=seed).fit(*stack(p, q))
                line.setdefault(name, []).append(float(model.log_ratio(fresh).mean()))
        lines.append(line)
    return lines


def show_examples(results: Found) -> None:
    out = table("densratio's README", "d", "alpha", "<", "width", "l2", "PE", "KL")
    names = {"printed": "printed there", "theirs": "densratio, here", "same": "ours, its choice"}
    names |= {"grid": "ours, its grid", "default": "ours, defaults", "truth": "truth"}
    for line in results["readme"]:
        for key, name in names.items():
            if key in line:
                values = [""] * (4 - len(line[key])) + [f"{x:.4g}" for x in line[key]]
                out.add_row(str(line["dim"]), f"{line['alpha']:g}", name, *values)
    console.print(out)
    seeds = len(results["toys"][0]["ours"])
    out = table(
        f"PE of the relative ratio, alpha = {PAIR_ALPHA}, p = N(0, 1), mean of {seeds} seeds",
        *("<q (mean, variance)", "truth", "ours", "densratio"),
    )
    for line in results["toys"]:
        means = [f"{np.mean(line[key]):.4f}" for key in ("ours", "theirs") if key in line]
        out.add_row(line["q"], f"{line['truth']:.4f}", *means)
    console.print(out)
    out = table(
        f"KL(p, q) on fresh rows, p = N(0, 1), mean and standard deviation of {seeds} seeds",
        *("<q (mean, standard deviation)", "truth", *METHODS),
    )
    for line in results["normals"]:
        cells = [f"{np.mean(line[name]):.3f} ± {np.std(line[name]):.3f}" for name in METHODS]
        out.add_row(f"N({line['mean']:g}, {line['sd']:g})", f"{line['truth']:.3f}", *cells)
    console.print(out)

"""Make the figures of ``choices.md`` and ``accuracy.md``, and the numbers that stand beside them.

    python docs/make_figures.py

Writes ``docs/figures/*.svg`` and ``*.png``, and replaces what stands between the
``<!-- name -->`` and ``<!-- end of name -->`` marks of these pages. Everything
is seeded; it takes about a minute of one core.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from _fill import fill_in
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

import isthmus
from isthmus import MDRE, compare, problems, stack
from isthmus.anchors import GaussianAnchor
from isthmus.auxiliaries import Bridge, DimensionWiseMixing, LinearMixing
from isthmus.auxiliaries.chain import build_chain, separability
from isthmus.maps import SharedMaps
from isthmus.problems import DistributionPair, Gaussian, Margin, Product
from isthmus.problems.transformed import Curved, Rotated, orthogonal
from isthmus.problems.truths import exact

HERE = Path(__file__).parent
P, Q, M, OTHER = "#0072b2", "#d55e00", "#009e73", "#aa4499"
TRUTH, INK = "#c4c4c4", "#333333"
KL = 50.0

mpl.rcParams.update(
    {
        "axes.edgecolor": "#888888",
        "axes.labelcolor": INK,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "axes.titlesize": 11,
        "axes.titlepad": 10,
        "figure.facecolor": "white",
        "font.size": 10,
        "legend.frameon": False,
        "lines.linewidth": 2,
        "svg.hashsalt": "isthmus",
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }
)


def canvas(panels: int, height: float = 3.7) -> tuple[Figure, Any]:
    """Panels side by side."""
    return plt.subplots(1, panels, figsize=(9.6, height), layout="constrained")


def save(figure: Figure, name: str) -> None:
    """Write a figure twice: for pages, and for whatever shows no SVG."""
    (HERE / "figures").mkdir(exist_ok=True)
    # Without a date the same figure is the same file.
    figure.savefig(HERE / "figures" / f"{name}.svg", dpi=200, metadata={"Date": None})
    figure.savefig(HERE / "figures" / f"{name}.png", dpi=140, metadata={"Software": None})
    plt.close(figure)


def rug(axes: Axes, x: np.ndarray, color: str, name: str, y: float = 0.0) -> None:
    """Some rows of a sample along the lower edge, with its name above them."""
    some = x[:: max(len(x) // 150, 1), 0]
    where = axes.get_xaxis_transform()
    axes.plot(some, np.full(len(some), y + 0.02), "|", color=color, transform=where, alpha=0.5)
    axes.text(
        float(np.median(x)),
        y + 0.06,
        name,
        color=color,
        ha="center",
        transform=where,
        weight="bold",
    )


def samples(problem: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of p and of q."""
    return problem.sample_p(n, rng=0), problem.sample_q(n, rng=1)


def anchor_figure() -> dict[str, str]:
    """A chasm with and without anchors, and what noise does to a fitted normal."""
    figure, (left, right) = canvas(2)
    problem = problems.load("table3/row1")
    p, q = samples(problem, 4000)
    X, y = stack(p, q)
    with_anchor = MDRE(random_state=0).fit(X, y)
    without = MDRE(anchor=None, maps=None, critic="quadratic", random_state=0).fit(X, y)
    x = np.linspace(p.min(), q.max(), 800)[:, None]
    fresh = problem.sample_p(20_000, rng=2)
    kl = {"with": with_anchor.log_ratio(fresh).mean(), "without": without.log_ratio(fresh).mean()}
    truth = problem.q.log_density(x)
    left.plot(x, truth, color=TRUTH, linewidth=7, label=f"truth: KL {problem.kl:.1f}")
    for model, color, style, label in (
        (without, Q, "-", f"quadratic, no anchor: KL {kl['without']:.1f}"),
        (with_anchor, P, "--", f"automatic anchors: KL {kl['with']:.1f}"),
    ):
        # A log-ratio to the auxiliary, whose density is known, is a log-density.
        known = model.auxiliaries_[0].log_density(x)
        left.plot(x, model.log_ratio(x, "q", "m1") + known, style, color=color, label=label)
    left.set_ylim(-95, 12)
    rug(left, p, P, "p")
    rug(left, q, Q, "q")
    left.set(xlabel="x", ylabel="log q(x), nats", title="q is cut off at its upper end")
    left.legend(loc="lower right", bbox_to_anchor=(1.0, 0.18), fontsize=9)

    n, seeds, dims = 1000, 4, [10, 20, 40, 80, 160, 240, 320]
    errors = np.array([[_normal_errors(d, n, seed) for seed in range(seeds)] for d in dims])
    for k, (name, color) in enumerate((("plug-in", Q), ("noise taken out", P))):
        mean, spread = errors[..., k].mean(axis=1), errors[..., k].std(axis=1)
        right.fill_between(dims, mean - spread, mean + spread, color=color, alpha=0.2, linewidth=0)
        right.plot(dims, mean, "o-", color=color, markersize=4)
        right.annotate(
            f"{name}: {mean[-1]:+.1f}",
            (dims[-1], mean[-1]),
            xytext=(-14, -4 if k == 0 else 12),
            textcoords="offset points",
            ha="right",
            color=color,
            weight="bold",
        )
    right.axhline(0.0, color="#888888", linewidth=0.8)
    right.set(
        xlabel="columns",
        ylabel="error of the KL, nats",
        title=f"Two fitted normals, {n} rows a side, true KL {KL:.0f}",
    )
    save(figure, "anchor")
    last = errors[-1].mean(axis=0)
    return {
        "anchor": f"KL of the truncated pair: truth {problem.kl:.1f}; a quadratic critic without "
        f"anchor {kl['without']:.1f}; automatic anchors {kl['with']:.1f}, from 4000 rows a side. "
        f"Two fitted normals in {dims[-1]} columns, {n} rows a side: the plug-in KL is off by "
        f"{last[0]:+.1f} nats of {KL:.0f}, the corrected one by {last[1]:+.1f} "
        f"(mean of {seeds} seeds)."
    }


def _normal_errors(d: int, n: int, seed: int) -> tuple[float, float]:
    """Errors of the KL by two normals fitted by maximum likelihood, and without their noise."""
    p, q = Gaussian(np.sqrt(2.0 * KL / d), dim=d), Gaussian(0.0, dim=d)
    rng = np.random.default_rng([seed, d])
    rows, fresh = [p.sample(n, rng), q.sample(n, rng)], p.sample(4000, rng)
    true = float(np.mean(p.log_density(fresh) - q.log_density(fresh)))
    plug_in, corrected = [], []
    for x in rows:
        fit = stats.multivariate_normal(x.mean(axis=0), np.cov(x.T, bias=True))
        plug_in.append(fit.logpdf(fresh).mean())
        anchor = GaussianAnchor().fit(x)
        corrected.append(anchor.score_samples(fresh).mean() - anchor.bias_)
    return plug_in[0] - plug_in[1] - true, corrected[0] - corrected[1] - true


def maps_figure() -> dict[str, str]:
    """One increasing map under which both samples are closer to normal."""
    figure, (left, right) = canvas(2, 3.3)
    problem = problems.load("hard/gamma")
    p, q = samples(problem, 4000)
    shared = SharedMaps().fit(p, q)
    x = np.linspace(0.01, 14.0, 600)
    for rows, color, name in ((p, P, "p"), (q, Q, "q")):
        left.hist(rows[:, 0], bins=70, density=True, color=color, alpha=0.25)
        left.plot(x, stats.gamma(2.0 if name == "p" else 5.0).pdf(x), color=color, label=name)
        z = shared(rows)[:, 0]
        right.hist(z, bins=60, density=True, color=color, alpha=0.25)
        u = np.linspace(z.min(), z.max(), 400)
        right.plot(u, stats.norm(z.mean(), z.std()).pdf(u), color=color)
    curve = left.twinx()
    curve.plot(x, shared(x[:, None])[:, 0], color=INK, linewidth=1.2, linestyle=":")
    curve.set_ylabel("map z(x), dotted")
    curve.spines["right"].set_visible(True)
    left.set(xlabel="x", ylabel="density", title="Gamma(2) and Gamma(5) as they come")
    right.set(xlabel="z", ylabel="density", title="Behind one map for both; lines: normal fits")
    left.set_xlim(-0.3, 14)
    left.legend(loc="upper right", handlelength=1.2)
    save(figure, "maps")
    return {}


def selection_figure() -> dict[str, str]:
    """Penalty paths of all critics on one problem, and the summary of another."""
    mdre = MDRE(random_state=0).fit(*stack(*samples(problems.load("hard/gamma"), 4000)))
    chosen = mdre.selection_.summary()
    name = "hard/zero-inflated"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mdre = MDRE(random_state=0).fit(*stack(*samples(problems.load(name), 2000)))
    trials = [trial for trial in mdre.selection_.trials if trial.stage == "critic"]
    start = trials[0].score
    figure, axes = plt.subplots(figsize=(9.6, 3.7), layout="constrained")
    paths: dict[str, list[tuple[float, Any]]] = {}
    for trial in trials[1:]:
        critic, _, strength = trial.name.partition(", l2 = ")
        paths.setdefault(critic, []).append((float(strength or "nan"), trial))
    # With torch installed a network may be tried too, after the convex critics.
    colors = dict(zip(paths, (P, OTHER, M, Q, INK, "#888888"), strict=False))
    for critic, path in paths.items():
        gains, color = [trial.score - start for _, trial in path], colors[critic]
        if np.isnan(path[0][0]):
            axes.axhline(gains[0], color=color, linestyle="--", label=critic)
            edge = axes.get_yaxis_transform()
            axes.plot(0.96, gains[0], "*", markersize=17, color=color, transform=edge, zorder=3)
            continue
        axes.plot([l2 for l2, _ in path], gains, "o-", markersize=5, color=color, label=critic)
        for (l2, trial), gain in zip(path, gains, strict=True):
            if trial.chosen:
                axes.plot(l2, gain, "*", markersize=17, color=color, zorder=3)
    axes.axhline(0.0, color="#888888", linewidth=0.8)
    axes.text(
        0.99, 0.008, "anchors alone", ha="right", transform=axes.get_yaxis_transform(), color=INK
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.set_ylim(bottom=-0.03)
    axes.set(
        xlabel="penalty l2, from strong to weak",
        ylabel="gain, nats a held-out row",
        title="Two columns with many exact zeros: each star takes over from the one before",
    )
    save(figure, "selection")
    return {"summary": f"```\n{chosen}\n```"}


def auxiliaries_figure() -> dict[str, str]:
    """What could join two samples, and how far it is told from either."""
    rng = np.random.default_rng(0)
    p = rng.multivariate_normal([-3.0, 0.0], [[0.6, 0.45], [0.45, 0.6]], 2000)
    q = rng.multivariate_normal([3.0, 1.0], [[1.0, -0.5], [-0.5, 0.5]], 2000)
    kinds = {
        "overlapping": Bridge(),
        "linear mixing": LinearMixing([0.5]),
        "dimension-wise mixing": DimensionWiseMixing(2),
    }
    figure, panels = canvas(3, 3.6)
    chain = build_chain(p, q, np.random.default_rng(0))
    for axes, (name, auxiliary) in zip(panels, kinds.items(), strict=True):
        rows = np.asarray(auxiliary.fit(p, q).sample(2000, np.random.default_rng(1)))
        rows = np.random.default_rng(2).permutation(rows)
        # Thousands of dots as a picture: the file stays small.
        dots: dict[str, Any] = {"linestyle": "", "marker": ".", "alpha": 0.55, "rasterized": True}
        axes.plot(*rows[:900].T, color=M, markersize=4, label="auxiliary", **dots)
        axes.plot(*p[:500].T, color=P, markersize=3, label="p", **dots)
        axes.plot(*q[:500].T, color=Q, markersize=3, label="q", **dots)
        told = [separability(p, rows), separability(rows, q)]
        taken = type(chain[0].auxiliary) is type(auxiliary)
        axes.set_title(f"{name}{' — taken' if taken else ''}", weight="bold" if taken else None)
        axes.set(xlim=(-8, 8), ylim=(-5, 5), xticks=[-5, 0, 5], yticks=[-5, 0, 5])
        for side, x, color, share in (("p", 0.03, P, told[0]), ("q", 0.97, Q, told[1])):
            axes.text(
                x,
                0.03,
                f"told from {side}: {share:.0%}",
                transform=axes.transAxes,
                ha="left" if side == "p" else "right",
                color=color,
                weight="bold",
                fontsize=9,
            )
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, markerscale=4)
    save(figure, "auxiliaries")
    return {
        "auxiliaries": f"p and q of the figure are told apart in {separability(p, q):.0%} of the "
        f"rows. The reason given for m1: *{chain[0].reason}*"
    }


def failure_figure() -> dict[str, str]:
    """A skewed family across a gap, and a table of failures with what the checks say."""
    p_law, q_law = Margin("gamma", 3.0), Margin("gamma", 60.0)
    gap = DistributionPair("gap", p_law, q_law, exact, "Gamma(3) against Gamma(60).")
    p, q = samples(gap, 2000)
    x = np.linspace(0.3, 95.0, 500)[:, None]
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.6, 3.8), layout="constrained", width_ratios=[1.6, 1]
    )
    found = {
        "defaults": compare(p, q, folds=5, random_state=0),
        'maps="log"': compare(p, q, estimator=MDRE(maps="log"), folds=5, random_state=0),
    }
    left.plot(x, gap.log_ratio(x), color=TRUTH, linewidth=7, label="truth")
    right.axvline(gap.kl, color=TRUTH, linewidth=7)
    right.text(gap.kl, 1.42, f"truth: {gap.kl:.0f}", ha="center", backgroundcolor="white")
    for k, (name, color) in enumerate(zip(found, (P, OTHER), strict=True)):
        style = "-" if k == 0 else "--"
        left.plot(x, found[name].log_ratio(x), style, color=color, label=name)
        kl = found[name].kl
        ends = [kl.low, kl.value if kl.one_sided else kl.high]
        right.plot(ends, [k, k], color=color, linewidth=3, solid_capstyle="butt")
        if kl.one_sided:  # The upper end is not known.
            right.annotate(
                "",
                xy=(kl.value + 25.0, k),
                xytext=(kl.value, k),
                arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 3},
            )
        right.plot(kl.value, k, "o", color=color)
        right.text(kl.value, k + 0.12, f"{name}: {kl.value:.0f}", color=color, ha="center")
    left.axvspan(p.max(), q.min(), color="#f3f3f3", zorder=0)
    left.text(0.5 * (p.max() + q.min()), 150.0, "no rows", ha="center", color="#777777")
    left.set_ylim(-110, 220)
    rug(left, p, P, "p")
    rug(left, q, Q, "q")
    left.set(xlabel="x", ylabel="log p(x)/q(x), nats", title="Gamma(3) against Gamma(60)")
    left.legend(loc="upper right")
    values = [gap.kl, *(c.kl.value for c in found.values())]
    reach = max(values) - min(values)
    right.set_xlim(min(values) - 0.3 * reach, max(values) + 0.3 * reach)
    right.set_ylim(-0.5, 1.6)
    right.set(yticks=[], xlabel="KL, nats", title="KL with 95 % intervals")
    right.spines["left"].set_visible(False)
    save(figure, "failure")
    bent = Curved(Gaussian([0.0, -1.0], [1.5, 0.4]), 0.5)
    wide = Gaussian([0.5, 0.0], [2.0, 2.5])
    turn, rest = orthogonal(20, 3), Gaussian(0.0, dim=18)
    sides = [Rotated(Product([two, rest]), turn) for two in (bent, wide)]
    curved = DistributionPair("curved", *sides, exact, "A parabola among other columns.")
    ring, skewed = problems.load("hard/ring"), problems.load("hard/gamma")
    rows = skewed.sample_p(2000, rng=1), skewed.sample_q(2000, rng=2)
    cases: list[tuple[str, Any, Any]] = [
        ("Gamma(3) against Gamma(60), 2000 rows", gap, found["defaults"]),
        ('the same with `maps="log"`', gap, found['maps="log"']),
        (
            "Gamma(2) against Gamma(5), 2000 rows",
            skewed,
            compare(*rows, folds=5, random_state=1),
        ),
        ("four modes, 150 rows", ring, compare(*samples(ring, 150), random_state=0)),
        (
            "a parabola among 20 rotated columns, 2000 rows",
            curved,
            compare(*samples(curved, 2000), folds=5, random_state=0),
        ),
    ]
    lines = ["| samples | true KL | found | checks on the ratio that object |", "|---|---|---|---|"]
    for name, problem, c in cases:
        objections = [
            f"`{check}` ({found.verdict})"
            for check, found in c.diagnostics.items()
            if found.concerns == "ratio" and found.verdict != "ok"
        ]
        lines.append(f"| {name} | {problem.kl:.2f} | {c.kl} | {', '.join(objections) or 'none'} |")
    verdicts = "\n".join(
        f"{check.verdict:5} {name}: {check.advice}"
        for name, check in found["defaults"].diagnostics.items()
    )
    return {
        "families": _families(q, q_law, 3.0),
        "gap": "\n".join(lines),
        "verdicts": f"```\n{verdicts}\n```",
    }


def _families(q: np.ndarray, law: Margin, far: float) -> str:
    """How little rows tell families apart that differ wildly far away."""
    fresh, x = law.sample(20_000, np.random.default_rng(3)), np.array([[far]])
    normal = stats.norm(q.mean(), q.std())
    lognormal = stats.lognorm(np.log(q).std(), scale=np.exp(np.log(q).mean()))
    lines = [
        f"| log q, nats | mean over new rows of q | at {far:g}, among the rows of p |",
        "|---|---|---|",
        f"| truth | {law.log_density(fresh).mean():.3f} | {law.log_density(x)[0]:.1f} |",
    ]
    for name, fit in (("normal", normal), ("lognormal", lognormal)):
        near, there = fit.logpdf(fresh).mean(), fit.logpdf(far)
        lines.append(f"| {name}, fitted to 2000 rows | {near:.3f} | {there:.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Make every figure and fill in every block."""
    makers: dict[str, list[Callable[[], dict[str, str]]]] = {
        "choices.md": [anchor_figure, maps_figure, selection_figure, auxiliaries_figure],
        "accuracy.md": [failure_figure],
    }
    for page, several in makers.items():
        blocks: dict[str, str] = {}
        for make in several:
            blocks |= make()
            print(f"{make.__name__}, isthmus {isthmus.__version__}")
        for name, block in blocks.items():
            print(f"\n[{name}]\n{block}")
        fill_in(HERE / page, blocks)


if __name__ == "__main__":
    main()

"""The paper's problems: Table 1 and the running example, finite supports, Tables 2 and 3.

Table 2: p is normal with correlation rho within pairs of coordinates, q is the
standard normal, both moved by a constant. The KL is the mutual information plus
dim (mean_p - mean_q)^2 / 2.

Table 3: finite supports, random means, heavy tails, a mixture. Some rows cannot have
the truth that the paper prints for them. Such a row is here twice: "row3" with the
setting that comes near the printed truth, and "row3-as-printed". The paper's random
means R(a, b) are unpublished; ours come from the row's number as a seed, so those
truths are ours and agree with the paper's only up to the luck of the draw.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from . import truths
from .composed import Mixture
from .elliptical import Gaussian, StudentT, correlation_for
from .pair import DistributionPair
from .registry import register
from .truncated import TruncatedNormal

_METHODS = ("bdre", "tre", "fdre", "mdre")

# From the authors' public notebooks, of one column and of 40: 800 passes over 33,000 rows of each
# class in batches of 500, and 2,000 steps at a rate that falls to zero. For 160 and 320 columns
# they publish none; those of 40 stand, and reproduce/search.py looks for others by held-out loss.
_TRAINING: dict[int, dict[str, Any]] = {
    1: {"lr": 0.01, "steps": 52_800, "batch_size": 500, "decay": False, "replacement": False},
    40: {"lr": 0.05, "steps": 2_000, "batch_size": 500},
}


def _paper(truth: float, *estimates: tuple[float, float], **others: float) -> dict[str, float]:
    """The paper's truth, and mean and spread of the estimates of its four methods."""
    out = {"truth": truth}
    for method, (mean, spread) in zip(_METHODS, estimates, strict=True):
        out |= {method: mean, f"{method}_spread": spread}
    return out | others


def _add(name: str, p: Any, q: Any, truth: Any, words: str, auxiliary: Any, **others: Any) -> None:
    """Register a problem; its distributions never change and are shared by all who load it."""
    how = {"auxiliary_specs": (auxiliary,), "training": _TRAINING[min(p.dim, 40)], **others}
    register(name, partial(DistributionPair, name, p, q, truth, words, **how))


# fmt: off
_TRE_ROW1 = (
    0.053, 0.11, 0.16, 0.21, 0.26, 0.31, 0.37, 0.42, 0.47, 0.53, 0.58, 0.63, 0.68, 0.74,
    0.79, 0.84, 0.89, 0.95,
)
_TRE_ROW2 = (
    0.03, 0.07, 0.1, 0.14, 0.17, 0.21, 0.24, 0.28, 0.31, 0.34, 0.38, 0.41, 0.45, 0.48, 0.52,
    0.55, 0.59, 0.62, 0.66, 0.69, 0.72, 0.76, 0.79, 0.83, 0.86, 0.9, 0.93, 0.97,
)
_TRE_ROW3 = (0.11, 0.22, 0.33, 0.44, 0.55, 0.66, 0.77, 0.88)
_THREE, _FIVE = (0.25, 0.5, 0.75), (0.15, 0.35, 0.5, 0.75, 0.95)
# The paper does not treat the first scale: weights evenly spaced in the logarithm are our choice.
_NARROW3, _NARROW6 = (0.0056, 0.032, 0.18), (6.1e-5, 0.0078, 0.13)


def _cauchy(scale: float) -> tuple[str, dict[str, Any]]:
    return "Cauchy", {"loc": 0.0, "scale": scale}


def _mixing(alphas: tuple[float, ...], **others: Any) -> tuple[str, dict[str, Any]]:
    # The text gives (1 - a) x_p + a x_q; the printed numbers of Table 2 came from
    # sqrt(1 - a^2) x_p + a x_q, of the same pairs of rows for every a.
    return "LinearMixing", {"alphas": alphas, "form": "sqrt", "paired": True, **others}


# Mean and standard deviation of p, those of q, words, auxiliary, TRE's waymarks, the paper.
_NORMALS: dict[str, tuple[Any, ...]] = {
    "table1/row1": (
        (-1.0, 0.08), (2.0, 0.15), "Table 1, row 1: N(-1, .08) against N(2, .15).",
        _cauchy(1.0), _TRE_ROW1,
        _paper(200.27, (21.74, 4.10), (136.05, 5.91), (14.87, 1.72), (203.32, 2.01),
               mdre_1k=195.05, mdre_10k=196.50),
    ),
    "table1/row2": (
        (-2.0, 0.08), (2.0, 0.15), "Table 1, row 2: N(-2, .08) against N(2, .15).",
        _cauchy(1.0), _TRE_ROW2,
        _paper(355.82, (20.22, 3.64), (208.11, 18.31), (14.22, 5.30), (360.35, 1.37),
               mdre_1k=346.92, mdre_10k=348.97),
    ),
    # The paper configures and plots this pair; its numbers stand in the source of Table 1 and
    # were left out of the print.
    "table1/row3": (
        (-10.0, 1.0), (10.0, 1.0),
        "Table 1, row 3 (configured, not printed): N(-10, 1) against N(10, 1).",
        _cauchy(2.0), _TRE_ROW3,
        _paper(200.0, (34.45, 9.12), (175.95, 1.88), (18.41, 3.54), (207.99, 2.30)),
    ),
    # The paper shows three waymarks without their weights: even spacing is our choice.
    "running-example": (
        (-1.0, 0.1), (1.0, 0.2),
        "The running example of the figures: N(-1, .1) against N(1, .2).",
        _cauchy(1.0), _THREE, {},
    ),
    # Appendix D repeats the same scales in its text where its figure swaps them.
    "running-example-swapped": (
        (-1.0, 0.2), (1.0, 0.1), "Appendix D: N(-1, .2) against N(1, .1).",
        _cauchy(1.0), _THREE, {},
    ),
    "narrow/1e-3": (
        (0.0, 1e-3), (0.0, 1.0),
        "Same mean, very different scale: N(0, 1e-3) against N(0, 1).",
        _mixing(_NARROW3, merged=True), _NARROW3, {},
    ),
    # Numbers and weights stand in the source of Table 1, not in the print.
    "narrow/1e-6": (
        (0.0, 1e-6), (0.0, 1.0),
        "Same mean, extremely different scale: N(0, 1e-6) against N(0, 1).",
        _mixing(_NARROW6, merged=True), _NARROW6,
        _paper(13.32, (3.06, 0.13), (8.12e-5, 4.52e-5), (4.15, 0.31), (13.14, 0.50)),
    ),
}

# fmt: on
for _name, (_p, _q, _words, _auxiliary, _alphas, _numbers) in _NORMALS.items():
    _add(
        _name,
        Gaussian(*_p),
        Gaussian(*_q),
        truths.gaussians,
        _words,
        _auxiliary,
        tre_alphas=_alphas,
        paper=_numbers,
    )


def _add_appendix_f(name: str, words: str, *supports: tuple[float, float]) -> None:
    """Register a mixture of two truncated normals against another with these supports."""

    def mixture(sd: float, *ends: tuple[float, float]) -> Mixture:
        return Mixture(
            [TruncatedNormal(at, sd, *end) for at, end in zip((-1, 1), ends, strict=True)]
        )

    p, q = mixture(0.1, (-1.1, -0.9), (0.9, 1.1)), mixture(0.2, *supports)
    bridge = {"loc": 0.0, "scale": 1.0, "low": -1.2, "high": 1.2}
    _add(name, p, q, truths.on_intervals, words, ("TruncatedNormal", bridge))


# As printed, q ends at 1 where p goes on to 1.1. The printed high=.8 of q's left
# component lacks its minus sign and high=1 of the right one should be 1.2: then q
# is symmetric, wider than p on both sides, and within m.
_add_appendix_f(
    "appendix-f",
    "Appendix F with q's supports corrected: mixtures of two truncated normals.",
    (-1.2, -0.8),
    (0.8, 1.2),
)
_add_appendix_f(
    "appendix-f-as-printed",
    "Appendix F as printed: q is zero on part of p's support, so the KL is infinite.",
    (-1.2, 0.8),
    (0.8, 1.0),
)

# fmt: off
# Dimension, means of p and of q, mutual information, weights of the mixing, the paper; it
# prints 136 for what is 136.8.
_TABLE2: dict[str, tuple[int, float, float, float, tuple[float, ...], dict[str, float]]] = {
    "40": (
        40, 0.0, 0.0, 20.0, _THREE,
        _paper(20.0, (10.90, 0.04), (14.52, 2.07), (14.87, 0.33), (18.81, 0.15)),
    ),
    "40-shifted": (
        40, -1.0, 1.0, 20.0, (0.35, 0.5, 0.85),
        _paper(100.0, (29.03, 0.09), (33.95, 0.14), (13.86, 0.26), (119.96, 0.94)),
    ),
    "160": (
        160, 0.0, 0.0, 40.0, _THREE,
        _paper(40.0, (21.47, 2.62), (34.09, 0.21), (12.89, 0.87), (38.71, 0.73)),
    ),
    "160-shifted": (
        160, -0.5, 0.6, 40.0, _FIVE,
        _paper(136.0, (24.88, 8.93), (69.27, 0.24), (13.74, 0.13), (133.64, 3.70)),
    ),
    "320": (
        320, 0.0, 0.0, 80.0, _THREE,
        _paper(80.0, (23.47, 9.64), (72.85, 3.93), (9.17, 0.60), (87.76, 0.77)),
    ),
    "320-shifted": (
        320, -0.5, 0.5, 80.0, _FIVE,
        _paper(240.0, (24.86, 4.07), (100.18, 0.29), (10.53, 0.03), (217.14, 6.02)),
    ),
}
# fmt: on
for _name, (_dim, _mean_p, _mean_q, _information, _alphas, _numbers) in _TABLE2.items():
    _add(
        f"table2/{_name}",
        Gaussian(_mean_p, rho=correlation_for(_information, _dim), dim=_dim),
        Gaussian(_mean_q, dim=_dim),
        truths.gaussians,
        f"Table 2: {_dim}-d normals with means {_mean_p:g} and {_mean_q:g}, p correlated in pairs.",
        _mixing(_alphas),
        paper=_numbers,
    )

# The paper's truth and its MDRE, by row of Table 3.
_TABLE3 = {
    "row1": (50.65, 52.35),
    "row2": (54.29, 54.10),
    "row3": (105.60, 98.27),
    "row4": (51.26, 49.01),
    "row5": (53.82, 51.03),
    "row6": (110.05, 102.63),
    "row7": (103.12, 113.53),
    "row8": (82.02, 83.63),
}
# The paper says "linear mixing" without weights for this table: these are our choice.
_MIXING = _mixing(_THREE)
# A quarter of a nat per coordinate in every row: 40 in 160 dimensions, 80 in 320.
_RHO = correlation_for(1, 4)


def _add_row(name: str, p: Any, q: Any, truth: Any, words: str, auxiliary: Any = _MIXING) -> None:
    """Register a row of Table 3."""
    row = name.removesuffix("-as-printed")
    paper = dict(zip(("truth", "mdre"), _TABLE3[row], strict=True))
    words = f"Table 3, {row[:3]} {row[3:]}: {words}."
    _add(f"table3/{name}", p, q, truth, words, auxiliary, paper=paper)


def _add_random(name: str, dim: int, reach: float, df: float | None = None) -> None:
    """Register a row with random means: of normals, or of Student-t's of ``df`` degrees."""
    # RandomState, since numpy promises its stream never to change: the problem
    # must stay the same problem.
    loc_p, loc_q = np.random.RandomState(int(name[3])).uniform(-reach, reach, size=(2, dim))
    where = f"within {reach:g} of 0"
    if df is None:
        p, q = Gaussian(loc_p, rho=_RHO), Gaussian(loc_q)
        _add_row(name, p, q, truths.gaussians, f"{dim}-d normals, random means {where}")
    else:
        law = f"Student-t with {df:g} degrees of freedom"
        words = f"{dim}-d {law}, random locations {where}"
        _add_row(
            name, StudentT(df, loc_p, rho=_RHO), StudentT(df, loc_q), truths.to_student_t, words
        )


def _add_mixture(name: str, loc: float) -> None:
    """Register a normal against a mixture of two."""
    p = Gaussian(loc, rho=_RHO, dim=160)
    q = Mixture([Gaussian(0.9, dim=160), Gaussian(1.1, dim=160)])
    words = f"160-d normal at {loc:g} against a mixture of two normals"
    _add_row(name, p, q, truths.to_two_gaussians, words)


_add_row(
    "row1",
    TruncatedNormal(-1.0, 0.1, -1.1, -0.9),
    TruncatedNormal(1.0, 0.2, -1.1, 1.2),
    truths.on_intervals,
    "truncated normals",
    ("TruncatedNormal", {"loc": -1.0, "scale": 2.0, "low": -1.1, "high": 1.2}),
)
# Corrections: row 3 has its printed truth with p at 0; row 5 in 160 dimensions;
# rows 6 and 7 with means within .5.
_add_random("row2", 160, 0.5)
_add_mixture("row3", 0.0)
_add_mixture("row3-as-printed", -1.0)
_add_random("row4", 160, 0.5, df=5.0)
_add_random("row5", 160, 0.5, df=10.0)
_add_random("row5-as-printed", 320, 0.5, df=10.0)
_add_random("row6", 320, 0.5)
_add_random("row6-as-printed", 320, 1.0)
_add_random("row7", 320, 0.5, df=10.0)
_add_random("row7-as-printed", 320, 1.0, df=10.0)
_add_row(
    "row8",
    Gaussian(0.0, rho=_RHO, dim=320),
    StudentT(20.0, 0.0, dim=320),
    truths.to_student_t,
    "320-d normal against Student-t, 20 degrees of freedom",
)

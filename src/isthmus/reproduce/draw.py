"""How the figures of the paper are drawn: one colour for each class and each method, everywhere.

Figures are about as wide as a page's text and have few columns, so that they can be read
on a telephone. What is true is wide and grey; what is estimated lies upon it. All colours
can be told apart by the colour-blind, and methods differ in their dashes as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .results import Numbers, compact

if TYPE_CHECKING:
    import matplotlib.figure
    from matplotlib.axes import Axes

# Names for annotations: matplotlib is loaded when something is drawn.
Figure: TypeAlias = "matplotlib.figure.Figure"
Figures: TypeAlias = "dict[str, matplotlib.figure.Figure]"
WIDTH = 6.8
"""Inches: the text of a page; at the width of a telephone letters are still 5 points high."""

TRUTH, INK, BAND, PALE = "#c4c4c4", "#333333", "#e9f5e9", "#f3f3f3"
_CLASSES = {"p": "#0072b2", "q": "#d55e00", "m": "#009e73"}
_FIRST_M, _LAST_M = (0, 77, 56), (122, 221, 187)


@dataclass(frozen=True)
class Look:
    """Colour and dashes of a method, and its name where a figure has room for few letters."""

    color: str
    dash: Any
    label: str


LOOKS: dict[str, Look] = {
    "paper": Look("#cc79a7", "-", "MDRE, paper's training"),
    "paper-newton": Look("#7f3c8d", (0, (1, 2)), "MDRE, paper's model solved"),
    "free": Look("#44aa99", (0, (5, 2, 1, 2)), "MDRE, held-out penalty"),
    "default": Look("#111111", (0, (4, 2)), "MDRE, default"),
    "bdre": Look("#e69f00", (0, (5, 1)), "BDRE"),
    "tre": Look("#56b4e9", (0, (3, 1, 1, 1)), "TRE"),
    "fdre": Look("#8c6d31", (0, (1, 1)), "F-DRE"),
    # The same chain by the steps that the paper trained MDRE with.
    "tre-adam": Look("#882255", (0, (1, 2)), "TRE, trained by Adam"),
    "plug-in": Look("#777777", (0, (6, 2)), "plug-in"),
    "nnbd": Look("#aa3377", (0, (1, 1)), "nnBD"),
    "dre-infinity": Look("#228833", "-", "DRE-∞"),
    "kliep": Look("#4477aa", (0, (5, 1)), "KLIEP"),
    "ulsif": Look("#66ccee", (0, (3, 1, 1, 1)), "uLSIF"),
    "rulsif": Look("#ccbb44", (0, (5, 1, 1, 1)), "RuLSIF"),
    "kmm": Look("#ee6677", (0, (2, 1)), "KMM"),
    "nce": Look("#332288", (0, (4, 1, 1, 1, 1, 1)), "eNCE"),
}


def look(method: str) -> Look:
    """Look of a method; one that has none of its own is drawn in ink."""
    return LOOKS.get(method, Look(INK, "-", method))


def class_color(name: str, count: int = 1) -> str:
    """Colour of a class "p", "q" or "m1", ..., of ``count`` auxiliaries, from dark to light.

    Examples
    --------
    >>> class_color("p"), class_color("m1"), class_color("m1", 3), class_color("m3", 3)
    ('#0072b2', '#009e73', '#004d38', '#7addbb')
    """
    if name in _CLASSES:
        return _CLASSES[name]
    if count == 1:
        return _CLASSES["m"]
    share = (int(name[1:]) - 1) / (count - 1)
    rgb = (round(a + share * (b - a)) for a, b in zip(_FIRST_M, _LAST_M, strict=True))
    return "#" + "".join(f"{each:02x}" for each in rgb)


def subscript(name: str) -> str:
    """Name of a class as it stands in a figure: "m₂" for "m2"."""
    return name[0] + "".join(chr(ord("₀") + int(digit)) for digit in name[1:])


def panels(rows: int, columns: int, *, height: float, **options: Any) -> tuple[Figure, Any]:
    """A figure and its grid of panels, shape (rows, columns), each ``height`` inches high."""
    from matplotlib import figure as mpl

    figure = mpl.Figure(figsize=(WIDTH, height * rows), layout="constrained")
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.06, h_pad=0.06)
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for each in axes.flat:
        each.tick_params(labelsize=8.5, length=3)
        each.locator_params(axis="x", nbins=4)
        each.locator_params(axis="y", nbins=5)
    return figure, axes


def heading(axes: Axes, title: str, numbers: Iterable[tuple[str, str]] = ()) -> None:
    """A title, and below it numbers, each in a colour, side by side."""
    numbers = list(numbers)
    axes.set_title(title, fontsize=9.5, pad=17 if numbers else 5, loc="left")
    if numbers:
        from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea

        parts: list[Any] = [
            TextArea(text, textprops={"color": color, "fontsize": 8.5}) for text, color in numbers
        ]
        box: dict[str, Any] = {"pad": 0.0, "borderpad": 0.0, "frameon": False}
        box |= {"bbox_to_anchor": (0.0, 1.02), "bbox_transform": axes.transAxes}
        child = HPacker(children=parts, pad=0, sep=7)
        axes.add_artist(AnchoredOffsetbox("lower left", child=child, **box))


def error_heading(axes: Axes, title: str, errors: Mapping[str, float]) -> None:
    """A title, and below it the root mean square error of every method."""
    heading(axes, title, in_colors({m: compact(error) for m, error in errors.items()}, "RMSE"))


def above(axes: Axes, text: str) -> None:
    """The head of a column of panels, above the title of the first."""
    bold = {"weight": "bold", "fontsize": 9.5}
    annotate(axes, text, (0.0, 1.0), (0, 33), xycoords="axes fraction", **bold)


def annotate(
    axes: Axes, text: str, at: tuple[float, float], points: tuple[float, float], **options: Any
) -> None:
    """A text that stands some points off a place."""
    axes.annotate(text, at, xytext=points, textcoords="offset points", **options)


def legend(figure: Figure, entries: Mapping[str, Any], *, columns: int = 3) -> None:
    """One legend above all panels: labels with artists, a colour (a line) or a method's look."""
    from matplotlib.lines import Line2D

    handles = []
    for label, what in entries.items():
        if isinstance(what, Look):
            what = Line2D([], [], color=what.color, linestyle=what.dash)
        elif isinstance(what, str):
            what = Line2D([], [], color=what, linewidth=5 if what == TRUTH else 2)
        what.set_label(label)
        handles.append(what)
    figure.legend(handles=handles, loc="outside upper left", ncols=columns, fontsize=9)


def method_legend(
    figure: Figure,
    methods: Iterable[str],
    *,
    truth: str = "truth",
    dotted: bool = False,
    columns: int = 3,
) -> None:
    """One legend above all panels: the truth, and every method as a line or as a dot."""
    looks = {look(m).label: dots(look(m).color) if dotted else look(m) for m in methods}
    legend(figure, {truth: TRUTH, **looks}, columns=columns)


def in_colors(told: Mapping[str, str], before: str = "") -> list[tuple[str, str]]:
    """Numbers by method in their colours, for a heading, after some words in ink."""
    numbers = [(text, look(method).color) for method, text in told.items()]
    return [(before, INK), *numbers] if before else numbers


def line(axes: Axes, x: Numbers, y: Numbers, method: str, **options: Any) -> None:
    """A curve in the colour and dashes of a method."""
    axes.plot(x, y, color=look(method).color, linestyle=look(method).dash, **options)


def dots(color: str, **options: Any) -> Any:
    """A dot for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, marker="o", linestyle="", markersize=4, **options)


def densities(
    axes: Axes, x: Numbers, curves: Mapping[str, Numbers], *, peak: float | None = None
) -> None:
    """Filled densities with the class's name at its peak; all as high as ``peak`` if given."""
    count = sum(name not in ("p", "q") for name in curves)
    grid, highest = np.asarray(x, dtype=float), 0.0
    for name, values in curves.items():
        height = np.asarray(values, dtype=float)
        height = height if peak is None else peak * height / float(height.max())
        highest = max(highest, float(height.max()))
        color = class_color(name, count)
        axes.fill_between(grid, height, color=color, alpha=0.18, linewidth=0)
        axes.plot(grid, height, color=color, linewidth=1)
        label = subscript(name) if count > 1 or name in ("p", "q") else "m"
        peak_at = float(grid[int(height.argmax())]), float(height.max())
        style: dict[str, Any] = {"ha": "center", "weight": "bold", "fontsize": 9.5}
        annotate(axes, label, peak_at, (0, 2), color=color, **style)
    axes.set_ylim(0, 1.2 * highest)


def truth_and_estimates(
    axes: Axes, x: Numbers, truth: Numbers, estimates: Mapping[str, Numbers]
) -> None:
    """Log-ratios at the rows of one sample: the true ones grey, a dot for each estimate."""
    at = np.asarray(x, dtype=float)
    order = at.argsort()
    axes.plot(at[order], np.asarray(truth, dtype=float)[order], color=TRUTH, linewidth=6, zorder=1)
    for layer, (method, values) in enumerate(estimates.items()):
        style: Any = {"markersize": 3, "markeredgewidth": 0, "alpha": 0.8, "zorder": 2 + layer}
        axes.plot(at, np.asarray(values, dtype=float), "o", color=look(method).color, **style)

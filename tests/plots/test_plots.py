"""Pictures: what is drawn, on which axes, in which colours, with names as they are."""

from __future__ import annotations

import io
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from scipy.stats import binomtest

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from isthmus import plots
from isthmus.data.sample import Sample
from isthmus.plots import style
from isthmus.plots.checks import wilson_interval

RNG = np.random.default_rng(0)
X_P, X_Q = RNG.normal(0, 1, 300), RNG.normal(1, 2, 400)
CHANCE = RNG.uniform(size=200)
GRID = np.linspace(-4, 6, 30)

DRAW = {
    "log_ratio_histogram": lambda **k: plots.log_ratio_histogram(X_P + 2, X_Q - 2, **k),
    "estimated_against_true": lambda **k: plots.estimated_against_true(X_P, X_P + 0.1, **k),
    "ratio_curve": lambda **k: plots.ratio_curve(X_P, X_Q, GRID, 1 - GRID, **k),
    "posterior_band": lambda **k: plots.posterior_band(GRID, -GRID, np.ones(30), **k),
    "ratio_points": lambda **k: plots.ratio_points(X_P, X_P**2, X_P, **k),
    "ratio_map": lambda **k: plots.ratio_map(GRID, GRID, np.subtract.outer(GRID, GRID), **k),
    "calibration": lambda **k: plots.calibration(CHANCE, CHANCE > 0.4, **k),
    "weight_curve": lambda **k: plots.weight_curve(X_Q, **k),
    "class_accuracy": lambda **k: plots.class_accuracy({"p": 0.9, "q": 0.7, "m1": 0.4}, **k),
    "weight_tail": lambda **k: plots.weight_tail(X_Q, k=0.5, **k),
    "lone_rows": lambda **k: plots.lone_rows({"p": -(X_P**2), "q": -(X_Q**2)}, **k),
    "family_agreement": lambda **k: plots.family_agreement(2.0, {"other": 3.0}, **k),
    "drift_line": lambda **k: plots.drift_line(["a", "b"], [0, 1], [0, 0], [1, 2], began=1, **k),
    "drift_map": lambda **k: plots.drift_map(["a"], ["u", "v"], [[0, 1]], **k),
    "information_map": lambda **k: plots.information_map(
        ["a", "b"], [[1, 2], [2, 1]], trusted=[[1, 0], [0, 1]], **k
    ),
    "intervals": lambda **k: plots.intervals(["a", "b"], [1, 2], [0, 1], [3, np.inf], **k),
    "permutation_null": lambda **k: plots.permutation_null(X_P**2, 9.0, p_value=0.01, **k),
    "column_ranking": lambda **k: plots.column_ranking(["a", "b"], [1, 2], [0.1, 0.2], **k),
    "column_values": lambda **k: plots.column_values(X_P, X_Q, **k),
    "level_shares": lambda **k: plots.level_shares(["u", "v"], [0.2, 0.8], [0.5, 0.5], **k),
}


def svg(ax):
    """The picture, drawn in earnest: labels are set in type only then."""
    file = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "x"}):
        ax.figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue().decode()


def test_every_function_is_tested_here():
    assert set(DRAW) == set(plots.__all__)


@pytest.mark.parametrize("name", DRAW)
class TestEveryPicture:
    def test_is_drawn_on_the_axes_given_and_nowhere_else(self, name):
        own = Figure().subplots()
        assert DRAW[name](ax=own) is own
        assert not plt.get_fignums()
        assert own.get_xlabel()

    def test_makes_a_new_figure_without_axes(self, name):
        ax = DRAW[name]()
        assert plt.get_fignums() == [ax.figure.number]
        assert not ax.spines["top"].get_visible()

    def test_is_the_same_when_drawn_again_and_leaves_settings_alone(self, name):
        before = dict(matplotlib.rcParams)
        pictures = [svg(DRAW[name](ax=Figure().subplots())) for _ in range(2)]
        assert pictures[0] == pictures[1]
        assert dict(matplotlib.rcParams) == before


def test_matplotlib_is_not_imported_before_a_picture_is_drawn():
    code = "import isthmus, isthmus.plots, sys; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


NAMES = ["price in $, tax in $", "$x_1$", r"a\$b", "_hidden", "a<b>&c", "x_y^2", "{%s}", "", "日本"]


@pytest.mark.filterwarnings("ignore:Glyph .* missing from:UserWarning")
@pytest.mark.parametrize("name", NAMES)
class TestNamesFromData:
    def shown(self, ax):
        """Texts of the picture as the reader sees them."""
        from xml.etree import ElementTree as ET

        root = ET.fromstring(svg(ax))
        # A formula would be cut into pieces in a font of its own.
        return [
            "".join(e.itertext()).strip() for e in root.iter("{http://www.w3.org/2000/svg}text")
        ]

    def test_of_columns(self, name):
        ax = plots.column_values(X_P, X_Q, name=name, labels=None, ax=Figure().subplots())
        assert name in ["", *self.shown(ax)]
        ax = plots.ratio_points(X_P, X_P, X_P, names=(name, "y"), ax=Figure().subplots())
        assert name in ["", *self.shown(ax)]

    def test_in_a_ranking(self, name):
        ax = plots.column_ranking([name, "b"], [1, 2], [0.1, 0.2], ax=Figure().subplots())
        assert name in ["", *self.shown(ax)]

    def test_of_levels(self, name):
        ax = plots.level_shares([name, "b"], [0.1, 0.9], [0.5, 0.5], ax=Figure().subplots())
        assert name in ["", *self.shown(ax)]

    def test_of_samples(self, name):
        ax = plots.log_ratio_histogram(X_P, X_Q, labels=(name, "b"), ax=Figure().subplots())
        assert len(ax.get_legend().get_texts()) == 2
        assert name in ["", *self.shown(ax)]


def test_long_and_invisible_names_are_cut_and_written_out():
    assert style.as_label("a\x1bb\u202ec\n") == r"a\x1bb\u202ec\n"
    assert style.as_label("abcdefghij", 5) == "ab…ij"
    ax = plots.column_values(X_P, X_Q, name="n" * 999, ax=Figure().subplots())
    assert len(ax.get_xlabel()) == 40


class TestColours:
    @pytest.mark.parametrize(
        "name", ["log_ratio_histogram", "ratio_curve", "column_values", "level_shares"]
    )
    def test_p_and_q_have_theirs(self, name):
        ax = DRAW[name](ax=Figure().subplots())
        both = {to_hex(style.P), to_hex(style.Q)}
        found = {to_hex(a.get_facecolor()) for axes in ax.figure.axes for a in axes.patches}
        assert both <= found

    def test_of_the_classes(self):
        ax = DRAW["class_accuracy"](ax=Figure().subplots())
        dots = ax.collections[-1].get_facecolor()
        assert [to_hex(c) for c in dots] == [style.P, style.Q, style.GREY]

    def test_scale_runs_from_q_to_p_around_zero(self):
        colours = style.diverging()
        assert [to_hex(colours(k)) for k in (0.0, 1.0)] == [style.Q, style.P]
        ax = plots.ratio_points(X_P, X_P, X_P - 3, ax=Figure().subplots())
        low, high = ax.collections[0].get_clim()
        assert low == -high and high > 0

    def test_are_told_apart_by_every_eye(self):
        # Machado, Oliveira & Fernandes (2009), severity 1: linear RGB as others see it.
        deutan = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                  [-0.011820, 0.042940, 0.968881]]  # fmt: skip
        protan = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                  [-0.003882, -0.048116, 1.051998]]  # fmt: skip
        p, q = (np.array(to_rgb(colour)) ** 2.2 for colour in (style.P, style.Q))
        for matrix in (np.eye(3), deutan, protan):
            # A quarter of a channel's range is many times what is just noticed.
            assert np.abs(np.asarray(matrix) @ (p - q)).max() > 0.25


class TestHistograms:
    def test_area_is_one_and_weights_count(self):
        edges = np.linspace(-1, 3, 5)
        values = np.array([-0.5, 0.5, 0.5, 2.5])
        assert style.heights(Sample.of(values), edges) @ np.diff(edges) == pytest.approx(1)
        twice = style.heights(Sample(values, np.array([1.0, 1, 1, 2])), edges)
        again = style.heights(Sample.of(np.append(values, 2.5)), edges)
        np.testing.assert_allclose(twice, again)

    def test_infinite_and_missing_values_are_left_out(self):
        ax = plots.log_ratio_histogram([np.inf, 1.0, 2.0], [-np.inf, np.nan, 0.5])
        assert np.isfinite(ax.get_xlim()).all()
        plots.column_values([np.nan, 1.0], [np.nan, np.nan])

    def test_one_outlier_does_not_squeeze_the_rest(self):
        edges = style.edges_of(np.append(np.linspace(0, 1, 2000), 1e9), trim=0.005)
        assert edges[-1] < 3

    @pytest.mark.parametrize("value", [0.0, 1e-300, 5.0, -1e12, 1e300])
    def test_a_constant_has_a_bar(self, value):
        edges = style.edges_of(np.full(50, value))
        assert (np.diff(edges) > 0).all()
        assert np.histogram(np.full(50, value), edges)[0].sum() == 50
        # In the middle.
        assert np.histogram(np.full(50, value), edges)[0][5] == 50
        plots.log_ratio_histogram(np.full(50, value), np.full(50, value))


class TestCalibration:
    def test_points_are_means_and_shares_of_bins(self):
        chance = np.array([0.05, 0.15, 0.15, 0.95, 0.95, 1.0])
        happened = np.array([0, 0, 1, 1, 1, 0], dtype=bool)
        ax = plots.calibration(chance, happened, bins=10)
        points = np.asarray(ax.collections[-1].get_offsets())
        np.testing.assert_allclose(
            points, [[0.05, 0], [0.15, 0.5], [np.mean([0.95, 0.95, 1]), 2 / 3]]
        )

    def test_a_weight_of_two_is_the_row_twice(self):
        chance, happened = RNG.uniform(size=50), RNG.uniform(size=50) < 0.5
        once = plots.calibration(chance, happened, weight=np.repeat([1.0, 2.0], 25))
        twice = plots.calibration(
            np.append(chance, chance[25:]), np.append(happened, happened[25:])
        )
        np.testing.assert_allclose(
            *(np.asarray(ax.collections[-1].get_offsets()) for ax in (once, twice))
        )

    def test_intervals_are_wilsons(self):
        for hits, rows, level in ((0, 10, 0.95), (7, 20, 0.9), (50, 50, 0.99)):
            low, high = wilson_interval(np.array([hits / rows]), np.array([float(rows)]), level)
            exact = binomtest(hits, rows).proportion_ci(level, method="wilson")
            np.testing.assert_allclose([low[0], high[0]], [exact.low, exact.high], atol=1e-12)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([0.5, 1.5], [True, False]), "probability must lie between 0 and 1; received 0.5 to"),
            (([0.5], [True, False]), "must have one length; received 1 in probability, 2"),
            (([], []), "probability must be a sequence of numbers, at least one"),
        ],
    )
    def test_refusals(self, arguments, message):
        with pytest.raises(ValueError, match=message):
            plots.calibration(*arguments)
        assert not plt.get_fignums()


class TestWeightCurve:
    def curve(self, ax):
        return ax.lines[-1].get_xydata()

    def test_equal_weights_lie_on_the_diagonal(self):
        found = self.curve(plots.weight_curve(np.full(1000, -3.0)))
        np.testing.assert_allclose(found[:, 0], found[:, 1], atol=1e-12)

    def test_ends_and_rises(self):
        found = self.curve(plots.weight_curve(RNG.normal(0, 2, 5000)))
        np.testing.assert_allclose(found[[0, -1]], [[0, 0], [1, 1]])
        assert (np.diff(found[:, 1]) > 0).all()
        # Concave: the heaviest come first.
        slope = np.diff(found[:, 1]) / np.diff(found[:, 0])
        assert (np.diff(slope) < 1e-9).all()
        assert len(found) <= 400

    def test_tells_the_effective_size(self):
        told = plots.weight_curve([0.0, 0.0, -1000.0]).texts[0].get_text()
        assert told == "3 rows count as 2"
        assert "2,000 rows count as 2,000" in plots.weight_curve(np.zeros(2000)).texts[0].get_text()

    def test_a_weight_of_two_is_the_row_twice(self):
        told = [
            plots.weight_curve([0.0, 1.0], weight=[1.0, 2.0]).texts[0].get_text(),
            plots.weight_curve([0.0, 1.0 + np.log(2)]).texts[0].get_text(),
        ]
        assert told[0] == told[1]


class TestRatioCurve:
    def test_truth_and_band(self):
        ax = plots.ratio_curve(X_P, X_Q, GRID, 1 - GRID, true=1.1 - GRID, band=(-GRID, 2 - GRID))
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        assert texts == ["p", "q", "true log p/q", "log p/q"]
        np.testing.assert_array_equal(ax.lines[-1].get_ydata(), 1 - GRID)
        assert len(ax.collections) == 1

    def test_samples_do_not_hide_the_curve(self):
        ax = plots.ratio_curve(X_P, X_Q, GRID, 1 - GRID)
        below = next(axes for axes in ax.figure.axes if axes is not ax)
        assert ax.get_zorder() > below.get_zorder()
        # At most a quarter of the height.
        tops = [patch.get_data().values.max() for patch in below.patches]
        assert max(tops) / below.get_ylim()[1] < 0.25

    def test_lengths_must_agree(self):
        with pytest.raises(ValueError, match="must have one length; received 30 in grid, 2 in log"):
            plots.ratio_curve(X_P, X_Q, GRID, [1.0, 2.0])


class TestIntervals:
    def draw(self, highs):
        return plots.intervals(["a", "b"], [1.0, 2.0], [0.5, 1.5], highs, ax=Figure().subplots())

    def test_an_end_that_is_not_known_is_an_arrow_beyond_all_numbers(self):
        assert not self.draw([2.0, 9.0]).texts
        ax = self.draw([7.0, np.inf])
        (arrow,) = ax.texts
        (x, y), right = arrow.xy, ax.get_xlim()[1]
        assert 7.0 < x < right and y == 1
        assert "NaN" not in svg(ax) and "inf" not in ax.get_xlabel()

    def test_nothing_finite_can_be_drawn(self):
        every = np.array([np.inf])
        ax = plots.intervals(["a"], every, -every, every, ax=Figure().subplots())
        assert len(ax.texts) == 2
        svg(ax)

    def test_lengths_must_agree(self):
        with pytest.raises(ValueError, match="must have one length"):
            self.draw([1.0])


class TestInformationMap:
    def draw(self, **how):
        values = [[np.inf, 0.2, 0.0], [0.2, 3.0, 0.1], [0.0, 0.1, 1.0]]
        return plots.information_map(list("abc"), values, ax=Figure().subplots(), **how)

    def test_the_diagonal_is_empty_and_numbers_are_written(self):
        ax = self.draw()
        assert [text.get_text() for text in ax.texts] == ["0.20", "0.00", "0.20", "0.10", "0.00",
                                                          "0.10"]  # fmt: skip
        assert ax.collections[0].get_clim() == (0.0, 0.2)
        assert not ax.lines
        svg(ax)

    def test_pairs_that_are_not_trusted_are_crossed(self):
        sure = np.ones((3, 3), dtype=bool)
        sure[0, 1] = sure[1, 0] = False
        crosses = [line.get_xydata().tolist() for line in self.draw(trusted=sure).lines]
        assert crosses[:2] == [[[1, 0], [2, 1]], [[1, 1], [2, 0]]]
        assert len(crosses) == 4

    def test_many_columns_have_no_numbers_and_not_every_name(self):
        ax = plots.information_map(list(map(str, range(90))), np.ones((90, 90)),
                                   ax=Figure().subplots())  # fmt: skip
        assert not ax.texts and len(ax.get_xticklabels()) == 45

    def test_shapes_must_agree(self):
        for how, message in (({"trusted": [[True]]}, "trusted must have a row and a column"),):
            with pytest.raises(ValueError, match=message):
                self.draw(**how)
        with pytest.raises(ValueError, match=r"values must have a row .* \(2, 2\); received shape"):
            plots.information_map(["a", "b"], np.zeros((3, 3)))
        assert not plt.get_fignums()


class TestOthers:
    def test_band_is_k_deviations(self):
        ax = plots.posterior_band(GRID, GRID, np.full(30, 0.5), k=3, true=GRID)
        tops = [c.get_paths()[0].vertices[:, 1].max() for c in ax.collections]
        np.testing.assert_allclose(tops, [6 + 1.5, 6 + 0.75])
        assert [t.get_text() for t in ax.get_legend().get_texts()][-1] == "truth"
        with pytest.raises(ValueError, match=r"k must be a number in \(0, inf\); received 0"):
            plots.posterior_band(GRID, GRID, GRID**2, k=0)
        with pytest.raises(ValueError, match="std must not be negative; received -1"):
            plots.posterior_band([0.0], [0.0], [-1.0])

    def test_error_against_the_truth(self):
        ax = plots.estimated_against_true(
            [0.0, 1, np.inf], [0.3, 1.4, 2], is_p=[True, False, True], labels=("_a", "$b$")
        )
        assert ax.texts[0].get_text() == f"root mean square error {np.sqrt(0.125):.3g} nats"
        assert [t.get_text() for t in ax.get_legend().get_texts()] == ["_a", r"\$b\$"]
        assert [len(c.get_offsets()) for c in ax.collections] == [1, 1]
        with pytest.raises(ValueError, match="finite at some row"):
            plots.estimated_against_true([np.inf], [1.0])

    def test_map_has_its_zero_line_and_rows(self):
        rows = np.column_stack([X_P, X_P])
        ax = plots.ratio_map(GRID, GRID[:20], np.subtract.outer(GRID[:20], GRID),
                             rows_p=rows, rows_q=rows + 1)  # fmt: skip
        assert ax.get_ylim() == (GRID[0], GRID[19])
        assert len(ax.get_legend().get_texts()) == 2
        with pytest.raises(ValueError, match=r"\(len\(y\), len\(x\)\) = \(20, 30\); received"):
            plots.ratio_map(GRID, GRID[:20], np.zeros((30, 20)))
        with pytest.raises(ValueError, match=r"limit must be a number in \(0, inf\)"):
            plots.ratio_map(GRID, GRID, np.zeros((30, 30)), limit=-1)

    @pytest.mark.parametrize("value", [0.0, 3.0, np.inf])
    def test_a_constant_ratio_can_be_drawn(self, value):
        plots.ratio_points(X_P, X_P, np.full(300, value), ax=Figure().subplots())
        ax = plots.ratio_map(GRID, GRID, np.full((30, 30), value), ax=Figure().subplots())
        svg(ax)

    def test_ranking_is_sorted_cut_and_marks_what_is_sure(self):
        ax = plots.column_ranking(list("abcd"), [0.1, 3, 2, -1], [1, 0.1, 1.5, 0.1], most=3)
        assert [t.get_text() for t in ax.get_yticklabels()] == ["b", "c", "a"]
        # 3 is 30 standard errors from zero, 2 is 1.3.
        assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [
            style.P,
            style.GREY,
            style.GREY,
        ]
        low, high = ax.get_ylim()
        assert low > high  # the first at the top

    def test_levels_that_differ_most_are_kept_in_their_order(self):
        ax = plots.level_shares(
            list("abcd"), [0.1, 0.4, 0.2, 0.3], [0.3, 0.4, 0.21, 0.09], most=2, labels=None
        )
        assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "d"]
        assert ax.get_legend() is None

    def test_classes_must_be_there(self):
        with pytest.raises(ValueError, match="accuracy must name at least one class"):
            plots.class_accuracy({})

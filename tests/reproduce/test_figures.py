"""The figures of the paper: what is computed for them, and that they are drawn from that alone."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.colors import to_rgb

from isthmus import problems, stack
from isthmus.baselines import TRE
from isthmus.estimator import RatioEstimator
from isthmus.reproduce import (
    choose_k,
    consistency,
    draw,
    figure2,
    figures34,
    record,
    search,
    show,
)
from isthmus.reproduce import load as load_experiment
from isthmus.reproduce import results as results_of
from isthmus.reproduce.searched import searched

RECORDS = Path(__file__).parents[2] / "docs" / "reproduction"

# Cells that take a second or two; the names are those of the registry.
CELLS = {
    "figure-1": [{"rows": 600, "steps": 500, "seed": 0}],
    "figure-2": [{"rows": 600, "steps": 500, "seed": 0}],
    "figure-3": [{"rows": 600, "steps": 500, "seed": 0}],
    "figure-4": [{"rows": 500, "steps": 300, "seed": 0}],
    "curves": [
        {"problem": name, "method": method, "rows": 500, "seed": seed}
        for name in ("table1/row1", "table1/row3")
        for method in ("bdre", "paper-newton", "plug-in")
        for seed in (0, 1)
    ],
    "diagnostics": [{"problem": "table2/40", "rows": 300, "stops": [20, 60], "seed": 0}],
    "choose-k": [
        {"problem": "table2/40", "form": "linear", "K": K, "rows": 600, "steps": 300, "seed": 0}
        for K in (1, 3)
    ],
    "consistency": [
        {"auxiliary": name, "rows": rows, "seed": seed}
        for name in ("normal", "cauchy")
        for rows in (500, 8_000)
        for seed in range(4)
    ],
    "search": [
        {
            "problem": "table2/40",
            "lr": lr,
            "batch_size": 50,
            "steps": 150,
            "rows": 2000,
            "held": 200,
            "seed": 0,
        }
        for lr in (0.05, 1e-4)
    ],
    "appendix-f": [{"l2": l2, "rows": 500, "seed": 0} for l2 in (1.0, 1e-2, 1e-4)],
}


@pytest.fixture(scope="module")
def found():
    """Results of an experiment's cells as a record holds them, each run once."""
    done = {}

    def results(name):
        if name not in done:
            experiment = load_experiment(name)
            done[name] = [
                {**cell, **json.loads(json.dumps(record.as_json(experiment.run(cell))))}
                for cell in CELLS[name]
            ]
        return done[name]

    return results


def svg(figure):
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


@pytest.mark.parametrize("name", CELLS)
def test_a_record_can_be_shown_without_a_fit(name, found, monkeypatch):
    results = found(name)

    def refused(*arguments, **options):
        raise AssertionError("showing a record must not fit anything")

    monkeypatch.setattr(RatioEstimator, "fit_samples", refused)
    experiment = load_experiment(name)
    tables = experiment.tables(results)
    assert tables
    for table in tables:
        assert show.as_text(table) and show.as_markdown(table)
        assert not any("nan" in cell for row in table.rows for cell in row)
    assert all(isinstance(remark, str) and remark for remark in experiment.remarks(results))
    with rc_context(show.STYLE):
        first, second = experiment.figures(results), experiment.figures(results)
        assert first or name == "search"
        for key, figure in first.items():
            # Wider than this a figure cannot be read on a telephone.
            assert figure.get_figwidth() <= 7.0
            assert all(axes.get_title(loc="left") for axes in figure.axes)
            assert svg(figure) == svg(second[key])


@pytest.mark.parametrize("name", CELLS)
def test_quick_cells_are_few_and_differ(name):
    experiment = load_experiment(name)
    for quick, seeds in ((True, 1), (False, 3)):
        cells = experiment.cells(quick, seeds)
        assert cells == json.loads(json.dumps(cells))
        assert len({record.key(cell) for cell in cells}) == len(cells)
    assert experiment.name == name and experiment.title and experiment.about


def test_a_record_without_the_first_seed_has_no_curves_to_draw(found):
    for name in ("figure-1", "figure-2", "figure-3"):
        later = [{**each, "seed": 1} for each in found(name)]
        assert load_experiment(name).figures(later) == {}


def test_waymarks_have_the_densities_that_tre_draws_from():
    problem, n = problems.load("running-example"), 20_000
    exact = figure2.waymark_densities(problem)
    X, y = stack(problem.sample_p(n, 0), problem.sample_q(n, 0))
    tre = TRE(alphas=list(problem.tre_alphas), l2=1.0, random_state=0).fit(X, y)
    rng = np.random.default_rng(1)
    for k, name in enumerate(figure2.CLASSES):
        drawn, true = tre.sample_waymark(k, n, random_state=2), exact[name].sample(n, rng)
        sd = true.std()
        # Means of two samples, and the fitted centre of mixing: five standard errors; a
        # standard deviation has a relative error of sqrt(1 / 2n).
        assert abs(drawn.mean() - true.mean()) < 5 * sd * np.sqrt(3 / n)
        assert drawn.std() / sd == pytest.approx(1, abs=5 * np.sqrt(1 / n))


def test_true_bridges_add_up_to_the_true_ratio(found):
    (each,) = found("figure-2")
    problem = problems.load("running-example")
    for on in figure2.CLASSES:
        total = np.sum(each["truth"][on], axis=0)
        truth = problem.log_ratio(np.array(each["dots"][on]))
        # Dots are kept to five digits; the slope of log p/q there is at most 250 nats.
        assert total == pytest.approx(truth, abs=250 * 2e-4)


def test_bridges_are_better_where_they_were_trained(found):
    (each,) = found("figure-2")
    for method in ("tre", "tre-adam"):
        errors = each["rms_bridge"][method]
        home = [errors[b][k] for k, (_, b) in enumerate(figure2.BRIDGES)]
        away = [figure2.rms_on(each, method, k, ("p", "q")) for k in range(4)]
        assert np.mean(home) < np.mean(away)


def test_binary_classification_misses_what_mdre_finds(found):
    (each,) = found("figure-1")
    truth = problems.load("running-example").kl
    # The relative standard error of the KL of two normals is sqrt(2 / n), 3 %.
    assert each["kl"]["default"] == pytest.approx(truth, rel=4 * np.sqrt(2 / 2000))
    assert each["kl"]["bdre"] < 0.6 * truth
    proba = each["probability"]["paper-newton"]
    assert np.sum([proba[name] for name in ("p", "q", "m")], axis=0) == pytest.approx(1, abs=1e-3)
    # The classes are named right: p is at -1 and q at 1.
    x = np.array(each["x"])
    for name, place in (("p", -1), ("q", 1)):
        for method in ("bdre", "paper-newton"):
            assert each["probability"][method][name][int(np.abs(x - place).argmin())] > 0.5


def test_only_a_cauchy_is_cut_to_its_middle():
    rng = np.random.default_rng(0)
    rows = rng.standard_cauchy((10_000, 1))
    kept = figures34.middle(rows, "m1")
    # The 90 % quantile of |x| is tan(.45 pi) = 6.31, with a standard error of .2.
    assert len(kept) == 9000 and np.abs(kept).max() == pytest.approx(6.31, abs=0.8)
    assert len(figures34.middle(rows, "p")) == 10_000


def test_curves_hold_every_seed_and_know_their_errors(found):
    for each in found("curves"):
        x = np.linspace(-1, 1, len(each["log_ratio"])) * (12 if "row1" in each["problem"] else 26)
        truth = problems.load(each["problem"]).log_ratio(x)
        error = np.sqrt(np.mean((np.array(each["log_ratio"]) - truth) ** 2))
        # Curves are kept to five digits of at most 1e4 nats.
        assert each["rms"] == pytest.approx(error, abs=0.2)
    by = {(e["problem"], e["method"], e["seed"]): e["rms"] for e in found("curves")}
    for name in ("table1/row1", "table1/row3"):
        assert all(by[name, "plug-in", s] < by[name, "bdre", s] for s in (0, 1))


def test_the_search_goes_by_held_out_loss_and_not_by_the_truth(found):
    good, bad = found("search")
    assert good["held_out"] < bad["held_out"]
    # Nearer to the truth, and not chosen for it.
    lucky = {**bad, "kl": problems.load("table2/40").kl}
    assert search.chosen([good, lucky], "table2/40") is good
    assert len(search.grid()) == len(search.RATES) * len(search.SIZES)
    cells = load_experiment("search").cells(False, 3)
    assert len(cells) == len(search.PROBLEMS) * len(search.grid())


def test_table_2_has_what_the_search_chose():
    path = RECORDS / "search" / "record.json"
    results = record.read(path)["results"] if path.exists() else []
    assert set(searched()) <= set(results_of.distinct(results, "problem"))
    for name, settings in searched().items():
        best = search.chosen(results, name)
        assert settings == {key: best[key] for key in ("lr", "batch_size", "steps")}
    for each in record.read(RECORDS / "table-2" / "record.json")["results"]:
        if each["method"] == "paper-searched":
            assert each["training"] == searched()[each["problem"]]


def test_errors_fall_at_the_rate_where_the_family_holds_the_truth(found):
    results = found("consistency")
    value, error = consistency.slope(results, "normal")
    # The square root of the number of rows; four standard errors of eight draws.
    assert abs(value + 0.5) < 4 * error and error < 0.2
    # A Cauchy learned as a quadratic leaves an error that rows do not take away.
    floors = {name: consistency.root(results, name, 8_000) for name in ("normal", "cauchy")}
    assert floors["cauchy"] > 2 * floors["normal"]


def test_diagnostics_follow_every_class(found):
    (each,) = found("diagnostics")
    path = each["path"]
    assert path["step"] == [20, 60] and list(each["kl"]) == ["paper", "free", "default"]
    assert np.all(np.diff(path["train"]) < 0)
    classes = ["p", "q", "m1", "m2", "m3"]
    assert all(sorted(shares) == sorted(classes) for shares in path["accuracy"])
    assert list(each["truth"]) == classes
    # Anchored at fitted normals, MDRE errs less than after few steps from nothing.
    assert all(each["rms"]["default"][on] < each["rms"]["paper"][on] for on in ("p", "q"))


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [
        ({"p": 0.95, "q": 0.5, "m1": 0.7}, "within"),
        ({"p": 0.96, "q": 0.97}, "above: all"),
        ({"p": 0.7, "q": 0.97, "m1": 0.49, "m2": 0.2}, "above: q; below: m₁, m₂"),
    ],
)
def test_verdicts_of_the_band(accuracy, words):
    assert choose_k.verdict(accuracy) == words


def test_the_smallest_k_within_the_band_is_chosen(found):
    def grid(*verdicts):
        return [
            {"form": "sqrt", "K": K, "verdict": word}
            for K, word in zip((5, 3, 1), verdicts, strict=True)
        ]

    assert choose_k.choice(grid("within", "within", "above: all"), "sqrt") == 3
    assert choose_k.choice(grid("below: m₁", "above: p", "above: all"), "sqrt") is None
    assert choose_k.choice(grid("within", "within", "within"), "linear") is None
    one, three = found("choose-k")
    # With more classes between them, all are harder to tell apart.
    assert min(three["accuracy"].values()) < min(one["accuracy"].values())
    assert len(three["accuracy"]) == 5
    assert three["verdict"] == choose_k.verdict(three["accuracy"])


def test_an_infinite_ratio_is_bounded_by_the_penalty_alone(found):
    strong, middle, weak = found("appendix-f")
    for method in ("tre", "paper"):
        beyond = [each[method]["hole_mean"] for each in (strong, middle, weak)]
        assert beyond[0] < beyond[1] < beyond[2] and beyond[2] > 3 * beyond[0]
        # Where the ratio exists, its error does not grow with it.
        assert weak[method]["rms_m_q"] < 1.0
    # m = TN(0, 1) on (-1.2, 1.2) has .576 / .770 of its mass within .8; four standard errors.
    assert strong["share_in_hole"] == pytest.approx(0.7487, abs=4 * 0.0044)
    inside = [value for value in strong["true_m_q"] if value is not None]
    assert 0 < len(inside) < len(strong["true_m_q"])


def test_no_two_classes_or_methods_share_a_colour():
    classes = [draw.class_color(name) for name in ("p", "q", "m")]
    methods = [look.color for look in draw.LOOKS.values()]
    assert len({*classes, *methods}) == len(classes) + len(methods)
    ramp = [draw.class_color(f"m{k}", 5) for k in range(1, 6)]
    brightness = [sum(to_rgb(color)) for color in ramp]
    assert all(np.diff(brightness) > 0.2)
    assert draw.look("a method of one's own").color == draw.INK

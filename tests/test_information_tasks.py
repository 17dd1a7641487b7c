"""Tasks of the benchmark of mutual information: their truths, and how answers are judged."""

from __future__ import annotations

import json
import math
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from isthmus.information import Information

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tasks():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import _information_tasks

        yield _information_tasks
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture(scope="module")
def runs(tasks):
    import _information_runs

    return _information_runs


def test_every_task_has_a_truth_and_rows(tasks):
    for name, made in tasks.every().items():
        known = tasks.truth(name)
        assert 0 <= known.value < 100 and known.std_error < 0.002
        x, y, _ = tasks.task(name, 30)
        assert len(x) == len(y) == 30
        assert (made.exact is None) == (known.how != "exact")


@pytest.mark.parametrize(
    "name",
    [
        "mixtures/inliers 5v5, 20% independent",
        "mixtures/Student df 3 mixture 1v1",
        "high/Clayton 1v1, theta 600",
        "discrete/cut at zero 1v1, 0.8",
        "discrete/a label of 3 and normals 2v1",
        "adversarial/wrapped sum of three 3v1",
        "discrete/rounded to 1 1v1, 0.8",
    ],
)
def test_stored_truths_are_those_of_the_tasks(tasks, name):
    stored, found = tasks.truth(name), tasks.worked_out(tasks.every()[name], 20_000)
    # By quadrature there is no error but that of rounding.
    error = math.hypot(stored.std_error, found.std_error)
    assert abs(found.value - stored.value) <= 4 * error + 1e-9


def test_truths_agree_with_tables_of_counts(tasks):
    for name in ("discrete/rounded to 1 1v1, 0.8", "discrete/a die and a sum of two 1v1"):
        x, y, truth = tasks.task(name, 200_000)
        _, cell = np.unique(np.column_stack([x, y]), axis=0, return_inverse=True)
        entropies = []
        for values in (x.ravel(), y.ravel(), cell.ravel()):
            share = np.unique(values, return_counts=True)[1] / len(x)
            entropies.append(-(share * np.log(share)).sum())
        assert entropies[0] + entropies[1] - entropies[2] == pytest.approx(truth, abs=0.01)


def test_a_mixture_of_one_normal_has_its_closed_form(tasks):
    from _information_parts import cross_covariance, mixture

    made = mixture([(1.0, np.zeros(4), cross_covariance(2, 2, [(0, 1, 0.6)]))], 2)
    x, y = made.draw(np.random.default_rng(0), 50_000)
    terms = made.log_ratio(x, y)
    assert terms.mean() == pytest.approx(-0.5 * math.log(1 - 0.36), abs=4 * terms.std() / 223)
    # The log-ratio is one: over shuffled pairs its exponential has mean one.
    assert np.exp(made.log_ratio(x, y[::-1])).mean() == pytest.approx(1.0, abs=0.02)


def test_samples_differ_between_tasks_and_seeds_and_not_between_calls(tasks):
    name, other = "families/normal 1v1, 2 nats", "families/uniform margins 1v1, 2 nats"
    x, _, truth = tasks.task(name, 50, seed=3)
    assert truth == 2.0 and np.array_equal(x, tasks.task(name, 50, seed=3)[0])
    assert not np.allclose(x, tasks.task(name, 50, seed=4)[0])
    ranks = [np.argsort(side.ravel()) for side in (x, tasks.task(other, 50, seed=3)[0])]
    assert not np.array_equal(*ranks)
    with pytest.raises(ValueError, match="name must be that of a task; received 'none'"):
        tasks.task("none")


@pytest.mark.parametrize(
    ("low", "high", "truth", "covered"),
    [
        *((0.4, 0.6, 0.5, True), (0.4, 0.6, 0.7, False), (0.6, 0.8, 0.5, False)),
        # From zero to infinity is no answer, but for nothing.
        *((0.0, math.inf, 0.5, False), (0.1, math.inf, 0.5, True), (0.0, math.inf, 0.0, True)),
    ],
)
def test_an_interval_without_an_upper_end_has_to_say_something(runs, low, high, truth, covered):
    assert runs.covers(low, high, truth) == covered


def test_wrong_answers_are_off_by_a_fifth_and_by_more_than_noise(runs):
    off = [runs.judged(Information(v, 0.01, v - 0.02, v + 0.02), 1.0) for v in (1.1, 1.3)]
    assert [each["wrong"] for each in off] == [False, True]
    assert not runs.judged(Information(0.04, 0.01, 0.02, 0.06), 0.0)["wrong"]
    open_ended = runs.judged(Information(0.5, 0.1, 0.3, math.inf), 0.6)
    assert open_ended["one_sided"] and open_ended["covered"] and "high" not in open_ended


def test_least_rows_end_at_the_first_size_that_is_off(runs, monkeypatch):
    values = {100: 1.0, 500: 0.5, 1000: 1.2, 3000: 1.0}
    asked = []

    def measured(case):
        asked.append((case.rows, case.seed))
        return {"truth": 1.0, "value": values[case.rows]}

    monkeypatch.setattr(runs, "measured", measured)
    found = runs.least_rows(runs.Case("families/any"), (100, 500, 1000, 3000), 2)
    assert found["least"] == 1000 and found["means"] == {3000: 1.0, 1000: 1.2, 500: 0.5}
    assert asked == [(size, seed) for size in (3000, 1000, 500) for seed in (0, 1)]
    values[3000] = math.nan
    assert "least" not in runs.least_rows(runs.Case("families/any"), (100, 3000), 1)


def test_the_page_is_made_of_the_record(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    blocks = runpy.run_path(str(ROOT / "docs" / "make_information.py"))["blocks"]
    empty = blocks({"summary": []})
    assert "information.py --coverage" in empty["coverage"]
    answer = {"set": "high", "task": "some", "method": "auto", "truth": 5.0, "value": 4.0}
    answer |= {"error": -1.0, "low": 3.9, "high": 4.1, "covered": False, "trusted": True}
    line = {"set": "high", "method": "auto", "runs": 1, "failed": 0, "mean_error": 1.0}
    line |= {"worst_error": 1.0, "coverage": 0.0, "one_sided": 0, "wrong": 1, "seconds": 2.0}
    made = blocks(
        {
            **{"date": "2026-01-01", "versions": {"isthmus": "1"}, "results": [answer]},
            "summary": [line],
            "least": [{"set": "high", "method": "auto", "means": {"100": 1.0, "500": 5.0}}],
        }
    )
    assert "| high | some | 5.000 | 4.000 | 3.900 | 4.100 | yes |" in made["missed"]
    assert "| high | 1 | 1.000 | 1.00 | 0 % | 0 | 1 | 0 | 2.0 |" in made["summary"]
    assert made["least rows"].endswith("| high | auto | 1 | 0 | 0 |")
    page = (ROOT / "docs" / "mutual_information.md").read_text("utf-8")
    path = ROOT / "benchmarks" / "records" / "information.json"
    record = json.loads(path.read_text("utf-8")) if path.exists() else {"summary": []}
    for name, block in blocks(record).items():
        assert f"<!-- {name} -->\n{block}\n<!-- end of {name} -->" in page, name


def test_a_record_takes_in_what_another_one_has_by_the_same_code(tasks):
    import information

    run = SimpleNamespace(path=ROOT / "no such record", settings={"quick": False})
    mine = information.Record(run, more=False)
    ours, theirs = ({"parts": {"information.mutual": one}} for one in ("1", "2"))
    line = {"set": "few", "task": "steps 15v1, 200 rows", "seed": 0}
    mine.parts["results"] = [{**line, "method": "ksg", "value": 1.0}]
    mine.parts["runs"] = {"results": [ours]}
    both = [{**line, "method": name, "value": 2.0} for name in ("ksg", "auto")]
    other = {"results": both, "coverage": [{"set": "few"}]}
    mine.join({**other, "runs": {"results": [ours], "coverage": [theirs]}})
    # What is there stays; what is added stands at its place, and other code is left out.
    found = [(each["method"], each["value"]) for each in mine.parts["results"]]
    assert found == [("auto", 2.0), ("ksg", 1.0)]
    assert mine.parts["coverage"] == [] and mine.parts["runs"] == {"results": [ours]}

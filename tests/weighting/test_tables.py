"""Weights of tables as people have them: dates, text, missing values, columns that cannot help."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import isthmus
from isthmus.candidates import Ridge
from isthmus.cli.app import run
from isthmus.data.sample import Sample
from isthmus.weighting.quantities import Quantity
from isthmus.weighting.rules import Among, Rule, Within
from isthmus.weighting.trimming import trimmed

QUICK = isthmus.StackedMDRE((Ridge(),), folds=3)


def table(n, seed, month, mean):
    rng = np.random.default_rng(seed)
    start = np.datetime64("2024-05-01T00:00")
    made = pd.DataFrame(
        {
            "month": month,
            "seen": start + rng.integers(0, 50_000, n).astype("m8[m]"),
            "age": rng.normal(mean, 1, n),
            "town": rng.choice(["Bonn", "Kiel"], n),
            "code": [f"{month}-{k}" for k in range(n)],
        }
    )
    made.loc[rng.random(n) < 0.1 * month, "age"] = np.nan
    return made


@pytest.fixture(scope="module")
def tables():
    return table(600, 0, 1, 0.0), table(600, 1, 2, 0.3)


@pytest.fixture(scope="module")
def weights(tables):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return isthmus.importance_weights(*tables, random_state=0)


def test_a_table_as_it_comes_is_weighted_and_all_is_told(weights):
    assert weights.usable and weights.separating == ("month",)
    assert "No weighting can help in 'month'" in weights.verdict
    assert "2 against 1" in weights.verdict and "drop=['month']" in weights.verdict
    assert any("'code'" in note for note in weights.notes)
    assert {"seen", "age", "age is missing", "town=Bonn"} <= set(weights.balance.labels)
    j = weights.balance.labels.index("age is missing")
    # The share of missing values is twice the source's, and the ratio sees it.
    assert abs(weights.balance.unseen[j]) < 2 * weights.balance.std_error[j] + 0.05
    assert not re.search(r"\bp\b|\bq\b", " ".join([weights.verdict, *weights.notes]))


def test_a_column_that_does_not_matter_is_not_objected_to(tables):
    w = isthmus.importance_weights(*tables, drop=["month"], estimator=QUICK, random_state=0)
    assert "No weighting" not in w.verdict and not w.separating


def test_a_column_that_separates_and_is_kept_is_refused(tables):
    w = isthmus.importance_weights(*tables, keep=["month"], on_failure="return", random_state=0)
    assert not w.usable and w.overlap.beyond > 0.9


def test_parts_of_dates_are_balanced_by_the_name_of_the_date(tables):
    w = isthmus.importance_weights(
        *tables, dates=["weekday", "hour"], balance=["seen"], estimator=QUICK, random_state=0
    )
    asked = [j for j, one in enumerate(w.balance.quantities) if one.column == "seen"]
    assert len(asked) == 8 and np.abs(w.balance.after[asked]).max() < 1e-6


def test_messages_call_the_tables_source_and_target(tables):
    source, target = tables
    with pytest.raises(ValueError, match="infinite") as caught:
        isthmus.importance_weights(source.assign(age=source["age"].replace(np.nan, np.inf)), target)
    assert "of source" in str(caught.value)
    with pytest.raises(ValueError, match="weight_source must have one value"):
        isthmus.importance_weights(source, target, weight_source=[1.0])
    with pytest.raises(ValueError, match="target and source must have the same columns"):
        isthmus.importance_weights(np.zeros((50, 2)), np.zeros((50, 3)))
    with pytest.raises(ValueError, match=r"balance must name .* 'month' \(it alone tells"):
        isthmus.importance_weights(source, target, balance=["month"])


def test_rare_levels_that_the_source_lacks_are_beyond_it():
    rng = np.random.default_rng(0)
    common = [f"c{k}" for k in range(40)]
    source = pd.DataFrame({"town": rng.choice(common, 3000), "x": rng.normal(size=3000)})
    rare = np.array([f"new{k % 5}" for k in range(150)])
    towns = np.r_[rng.choice(common, 2850), rare]
    target = pd.DataFrame({"town": towns, "x": rng.normal(size=3000)})
    w = isthmus.importance_weights(
        source, target, estimator=QUICK, random_state=0, on_failure="return"
    )
    assert w.overlap.beyond == pytest.approx(0.05, abs=0.005)
    assert sum(share for _, share in w.overlap.absent) == pytest.approx(0.05, abs=1e-9)
    assert "new" in w.verdict


def test_rules_give_dates_as_dates_and_missing_by_name():
    rng = np.random.default_rng(0)
    days = 19_000 + rng.integers(0, 100, (2, 500))
    rows = [np.column_stack([d, rng.normal(size=500), rng.random(500) < 0.5]) for d in days]
    every = (
        Quantity("day", "day", unit="date"),
        Quantity("age", "age", fill=0.0),
        Quantity("age", "age is missing", "missing"),
    )
    log_ratio = tuple(np.where(x[:, 0] > 19_080, 3.0, 0.0) for x in rows)
    samples = [Sample(x.astype(float), np.ones(500)) for x in rows]
    found = trimmed(every, *samples, log_ratio, lambda part: bool((log_ratio[1][part] < 1).all()))
    assert found is not None
    assert str(found.population) == "rows where day <= 2022-03-29"
    assert found.population.holds(samples[0].rows).tolist() == (rows[0][:, 0] <= 19_080).tolist()
    some, gone = Within("age", 1, high=1.0, fill=0.0), Among("age", ("missing",), (2,))
    assert str(Rule((some, gone))) == "age <= 1 and age is missing"
    assert str(Rule((some, Within("day", 0, low=19_000.5, unit="date")))) == (
        "(age <= 1 or missing) and day > 2022-01-08 12:00"
    )


def test_the_command_takes_the_options_of_compare(tables, tmp_path, capsys):
    files = [tmp_path / name for name in ("s.csv", "t.csv")]
    for one, file in zip(tables, files, strict=True):
        one.to_csv(file, index=False)
    common = ["weights", *map(str, files), "--columns", "age,town"]
    assert run([*common, "--missing", "error"]) == 2
    told = capsys.readouterr().err
    assert "in target" in told and "--missing drop" in told
    assert run(["weights", *map(str, files), "--dates", "second"]) == 2
    assert "--dates must be" in capsys.readouterr().err
    assert run(["weights", *map(str, files), "--keep", "nothing"]) == 2
    assert "--keep must name" in capsys.readouterr().err


def test_a_full_disk_costs_a_file_and_not_the_answer(tables, tmp_path, capsys, monkeypatch):
    files = [tmp_path / name for name in ("s.csv", "t.csv")]
    for one, file in zip(tables, files, strict=True):
        one[["age", "town"]].to_csv(file, index=False)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("isthmus.weighting.page.page", full)
    out = tmp_path / "w.csv"
    report = ["--report", str(tmp_path / "w.html")]
    assert run(["weights", *map(str, files), "-o", str(out), *report]) == 2
    told = capsys.readouterr()
    assert "effective sample size" in told.out and "No space left" in told.err
    assert "weight" in pd.read_csv(out) and not (tmp_path / "w.html").exists()

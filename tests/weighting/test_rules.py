"""Rules and populations: what is told is what is done."""

from __future__ import annotations

import numpy as np

from isthmus.data.sample import Sample
from isthmus.functionals import effective_sample_size
from isthmus.weighting.quantities import Quantity
from isthmus.weighting.rules import Among, Population, Rule, Within, joined, merged
from isthmus.weighting.trimming import trimmed

EVERY = [
    Quantity("age", "age"),
    Quantity("town", "town=Bonn", "Bonn"),
    Quantity("town", "town=Kiel", "Kiel"),
    Quantity("town", "town=Ulm", "Ulm"),
]


def test_conditions_on_one_column_become_one():
    rule = merged([Within("age", 0, low=18.0), Within("age", 0, high=61.0)])
    assert str(rule) == "18 < age <= 61"
    one = Among("town", ("Bonn", "Kiel"), (1, 2))
    other = Among("town", ("Kiel",), (2,), within=False)
    assert str(merged([one, other])) == "town in {Bonn}"


def test_rules_that_touch_become_one():
    young, old = Within("age", 0, high=30.0), Within("age", 0, low=30.0, high=61.0)
    bonn = Among("town", ("Bonn",), (1,))
    assert [str(r) for r in joined([Rule((young, bonn)), Rule((bonn, old))])] == [
        "age <= 61 and town in {Bonn}"
    ]
    apart = Within("age", 0, low=31.0, high=61.0)
    assert len(joined([Rule((young, bonn)), Rule((bonn, apart))])) == 2
    others = Among("town", ("Bonn",), (1,), within=False)
    assert [str(r) for r in joined([Rule((young, bonn)), Rule((young, others))])] == ["age <= 30"]


def test_names_from_data_cannot_break_a_line():
    assert "\n" not in str(Rule((Within("a\nb", 0, high=1.0), Among("c", ("x\ny",), (1,)))))


def drawn(rng, n, shift):
    age = rng.normal(40 + 10 * shift, 10, n)
    town = rng.integers(3, size=n)
    return np.column_stack([age, np.eye(3)[town]])


def log_ratio(rows):
    return (rows[:, 0] - 45) / 10 * 2.0


def test_the_population_has_the_asked_size_and_is_what_the_rule_says():
    rng = np.random.default_rng(0)
    target, source = drawn(rng, 2000, 2.0), drawn(rng, 2000, 0.0)
    ratios = log_ratio(target), log_ratio(source)

    def enough(inside):
        return inside.sum() > 2 and effective_sample_size(ratios[1][inside]) >= 300

    assert not enough(np.ones(2000, dtype=bool))
    found = trimmed(EVERY, Sample.of(target), Sample.of(source), ratios, enough)
    assert enough(found.source)
    for rows, inside in ((target, found.target), (source, found.source)):
        assert (found.population.holds(rows) == inside).all()
    # Shares are sums of two thousand parts of one.
    assert abs(found.population.target_share - found.target.mean()) < 1e-9
    # The ratio grows with age alone, so that the largest population is below an age.
    (rule,) = found.population.rules
    (condition,) = rule.conditions
    assert condition.name == "age"
    best = np.sort(source[:, 0])[::-1]
    ideal = next(cut for cut in best if enough(source[:, 0] <= cut))
    # A tree's cut lies between rows of twenty or more, so that a little is lost.
    assert found.population.target_share > (target[:, 0] <= ideal).mean() - 0.1


def test_levels_without_source_rows_are_named():
    rng = np.random.default_rng(0)
    target, source = drawn(rng, 900, 0.0), drawn(rng, 900, 0.0)
    source = source[source[:, 3] == 0]
    ratios = 6.0 * target[:, 3], 6.0 * source[:, 3] + rng.normal(0, 0.1, len(source))
    calls = []

    def enough(inside):
        calls.append(inside)
        return len(calls) > 1 and inside.all()

    found = trimmed(EVERY, Sample.of(target), Sample.of(source), ratios, enough)
    assert str(found.population) in ("rows without those where town in {Ulm}",
                                     "rows where town not in {Ulm}")  # fmt: skip


def test_there_may_be_no_population():
    rng = np.random.default_rng(0)
    target, source = drawn(rng, 300, 0.0), drawn(rng, 300, 0.0)
    ratios = log_ratio(target), log_ratio(source)
    never = trimmed(EVERY, Sample.of(target), Sample.of(source), ratios, lambda inside: False)
    assert never is None


def test_a_population_of_none_of_the_rules():
    old = Population((Rule((Within("age", 0, low=61.0),)),), True, 0.5, 0.5)
    assert old.holds(np.array([[60.0], [61.0], [62.0]])).tolist() == [True, True, False]

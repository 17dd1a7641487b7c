"""Labels, levels and missing values: truths, limits, checks and rare cases."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import mi_matrix, mi_scores, mutual_information
from isthmus.data.seeds import Seeds
from isthmus.information.classes import Classes
from isthmus.information.combining import Part, summed, worst
from isthmus.information.counts import entropy_limit, table_information
from isthmus.information.labels import Learned, check_probabilities
from isthmus.information.result import Answer


def flipped(p):
    """What a coin tells that is turned over with probability p."""
    return np.log(2) + p * np.log(p) + (1 - p) * np.log(1 - p)


def table_of(joint, n, rng):
    cell = rng.choice(joint.size, size=n, p=joint.ravel())
    return tuple(np.unique(side, return_inverse=True)[1] for side in np.divmod(cell, len(joint.T)))


def information(joint):
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    inside = joint > 0
    return float((joint[inside] * np.log(joint[inside] / product[inside])).sum())


# Two labels.


@pytest.mark.parametrize(("levels", "n"), [(2, 60), (4, 100), (15, 300), (40, 2000)])
@pytest.mark.parametrize("same", [0.0, 0.4, 0.9])
def test_tables_from_full_to_sparse(levels, n, same):
    rng = np.random.default_rng(levels)
    joint = same * np.eye(levels) / levels + (1 - same) / levels**2
    covered = 0
    for seed in range(20):
        found = mutual_information(
            *table_of(joint, n, rng), discrete_x=True, discrete_y=True, random_state=seed
        )
        covered += found.low <= information(joint) + 1e-12 and information(joint) <= found.high
    # Of 20 intervals of 95 % fewer than 16 cover three times in a thousand.
    assert covered >= 16


def test_a_label_of_its_own_for_every_row_tells_nothing_for_sure():
    names = [f"row {k}" for k in range(60)]
    found = mutual_information(names, names[::-1])
    assert not found.trusted
    assert found.low == found.lower_bound == 0.0
    assert found.one_sided
    assert found.value <= np.log(60)


def test_labels_never_tell_more_than_their_entropy():
    rng = np.random.default_rng(0)
    for n, levels in ((30, 8), (100, 30), (500, 3)):
        x = rng.integers(levels, size=n).astype(str)
        share = np.unique(x, return_counts=True)[1] / n
        found = mutual_information(x, x)
        assert found.value <= -float(share @ np.log(share)) + 1e-12
    # The entropy of the label itself is known up to its noise.
    assert entropy_limit(np.array([500, 500])) == pytest.approx(np.log(2))
    assert entropy_limit(np.array([1] * 20)) == np.inf


def test_few_rows_for_many_pairs_fail_a_check():
    rng = np.random.default_rng(0)
    x, y = rng.integers(30, size=(2, 200))
    answer = table_information(x, y, Seeds(0))
    assert answer.checks["cells"].verdict == "fail"
    x, y = rng.integers(3, size=(2, 200))
    assert table_information(x, y, Seeds(0)).checks["cells"].verdict == "ok"


# A label and columns.


def test_the_sign_of_a_product_of_two_of_twenty_columns():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 20))
    label = (x[:, 0] * x[:, 1] > 0) ^ (rng.uniform(size=2000) < 0.1)
    found = mutual_information(x, label, random_state=0)
    assert found.low < flipped(0.1) < found.high
    assert found.value == pytest.approx(flipped(0.1), abs=0.06)
    assert found.trusted


def test_three_labels_and_columns_of_text_and_numbers():
    rng = np.random.default_rng(0)
    town = rng.integers(3, size=900)
    label = np.where(rng.uniform(size=900) < 0.8, town, rng.integers(3, size=900))
    x = {"town": np.array(["Bonn", "Kiel", "Ulm"])[town], "noise": rng.normal(size=900)}
    share = 0.8 + 0.2 / 3
    truth = np.log(3) + share * np.log(share) + (1 - share) * np.log((1 - share) / 2)
    found = mutual_information(x, label, random_state=0)
    assert found.low < truth < found.high
    assert found.high - found.low < 0.3
    assert {trial["name"] for trial in found.trials} >= {"linear"}


@pytest.mark.parametrize("n", [60, 300])
def test_few_rows_have_wide_intervals(n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 5))
    label = rng.uniform(size=n) < 1 / (1 + np.exp(-2 * x[:, 0]))
    found = mutual_information(x, label, random_state=0)
    assert found.low < 0.231 < found.high  # by quadrature
    nothing = mutual_information(x[:, 1:], label, random_state=0)
    assert nothing.low == 0.0
    assert nothing.high > 4.0 / n


def test_a_label_that_is_a_function_has_its_entropy():
    rng = np.random.default_rng(0)
    x = rng.standard_cauchy(size=(500, 2))
    found = mutual_information(x, x[:, 0] > 0.3, random_state=0)
    assert found.value == pytest.approx(flipped(1e-12) * 0.96, abs=0.06)
    assert found.high <= np.log(2) + 1e-9


def test_rare_labels_are_taken_for_one():
    rng = np.random.default_rng(0)
    label = np.array(["a"] * 200 + ["b"] * 90 + ["c"] * 7 + ["d"] * 3)
    found = mutual_information(rng.normal(size=300), label, random_state=0)
    assert found.low == 0.0
    assert any("2 labels with 10 rows were taken for one" in note for note in found.notes)
    alone = mutual_information(rng.normal(size=300), np.arange(300) < 2, random_state=0)
    assert alone.value == 0.0
    assert not alone.trusted
    assert 0.0 < alone.high < 0.2  # the entropy of so rare a label


def test_learned_classes():
    rare = Learned.of(np.array([0] * 50 + [1] * 30 + [2] * 3))
    assert np.bincount(rare.label).tolist() == [53, 30]  # three rows are no class
    assert rare.left == pytest.approx(
        53 / 83 * -(50 / 53 * np.log(50 / 53) + 3 / 53 * np.log(3 / 53))
    )
    assert Learned.of(np.repeat(np.arange(60), 50)).joined == 36
    assert not Learned.of(np.arange(40)).label.any()


def test_parts_have_rows_of_every_class():
    label = np.repeat([0, 1, 2], [50, 11, 40])
    part = Classes(np.zeros((101, 1)), label).parts(5, np.random.default_rng(0))
    counts = np.bincount(part * 3 + label).reshape(5, 3)
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    assert np.ptp(counts.sum(axis=1)) <= 1


def test_probabilities_that_are_too_extreme_fail():
    rng = np.random.default_rng(0)
    logit = rng.normal(size=3000)
    label = (rng.uniform(size=3000) < 1 / (1 + np.exp(-logit))).astype(int)

    def log_p(slope):
        return np.column_stack([-np.logaddexp(0, slope * logit), -np.logaddexp(0, -slope * logit)])

    assert check_probabilities(log_p(1.0), label).verdict == "ok"
    assert check_probabilities(log_p(3.0), label).verdict == "fail"
    assert check_probabilities(log_p(0.0), label).verdict == "ok"  # nothing to judge


# Numbers and levels on both sides.


def test_the_chain_rule_for_numbers_beside_text():
    rng = np.random.default_rng(0)
    group, a, noise = rng.integers(2, size=1500), rng.normal(size=1500), rng.normal(size=1500)
    x = {"a": a, "group": np.where(group == 1, "u", "v")}
    grid = np.linspace(-9, 13, 4401)
    density = sum(np.exp(-0.25 * (grid - m) ** 2) for m in (0, 4)) / (2 * np.sqrt(4 * np.pi))
    entropy = -(density * np.log(density)).sum() * (grid[1] - grid[0])
    truth = entropy - 0.5 * np.log(2 * np.pi * np.e)
    found = mutual_information(x, a + 4 * group + noise, random_state=0)
    assert found.low < truth < found.high
    assert found.high - found.low < 0.25


def test_where_a_number_is_missing_is_part_of_it():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 2000))
    y = x + noise
    gone = rng.uniform(size=2000) < 0.25
    x[gone] = np.nan
    found = mutual_information(x, y, random_state=0)
    assert found.low < 0.75 * 0.5 * np.log(2) < found.high
    assert any("missing values in 2,000 rows" in note for note in found.notes)
    y[gone] = np.nan
    found = mutual_information(x, y, random_state=0)
    entropy = -0.25 * np.log(0.25) - 0.75 * np.log(0.75)
    assert found.low < 0.75 * 0.5 * np.log(2) + entropy < found.high


@pytest.mark.parametrize("other", ["label", "numbers", "mixed", "constant"])
@pytest.mark.parametrize("kind", ["number", "text"])
def test_a_constant_tells_exactly_nothing(kind, other):
    rng = np.random.default_rng(0)
    constant = np.full(200, 7.0) if kind == "number" else ["same"] * 200
    others = {
        "label": rng.choice(["a", "b"], 200),
        "numbers": rng.normal(size=200),
        "mixed": {"n": rng.normal(size=200), "t": rng.choice(["a", "b"], 200)},
        "constant": np.ones(200),
    }
    found = mutual_information(constant, others[other])
    assert (found.value, found.std_error, found.low, found.high) == (0.0, 0.0, 0.0, 0.0)


# Conditioning.


def test_labels_given_what_makes_them_alike():
    rng = np.random.default_rng(0)
    z = rng.normal(size=1500)
    x, y = (z + 0.5 * rng.normal(size=1500) > 0 for _ in range(2))
    assert mutual_information(x, y).low > 0.1
    found = mutual_information(x, y, given=z, random_state=0)
    assert found.low == 0.0
    assert found.high < 0.1
    assert found.method == "classifier less classifier"


def test_rare_strata_are_left_out_and_told():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 500))
    given = np.array(["a"] * 250 + ["b"] * 240 + ["c"] * 6 + ["d"] * 4)
    found = mutual_information(x, x + noise, given=given, random_state=0)
    assert found.low < 0.5 * np.log(2) < found.high
    assert found.diagnostics["strata"].value == pytest.approx(0.02)
    assert any("2.0% of the rows were left out" in note for note in found.notes)
    with pytest.raises(ValueError, match="given must have at least 22 rows of some value"):
        mutual_information(x, noise, given=[f"row {k}" for k in range(500)])


def test_a_sum_has_the_worst_checks_and_the_noise_of_its_terms():
    rng = np.random.default_rng(0)
    terms = rng.normal(size=400)
    error = float(terms.std() / 20)
    whole = Answer(0.5, error, "a", terms, further=(0.1, 0.2))
    part = Answer(0.3, error, "b", terms - 0.2, further=(0.01, 0.02))
    found = summed([Part("whole", whole), Part("part", part, -1.0)], "difference")
    assert found.value == pytest.approx(0.2)
    assert found.std_error == pytest.approx(0.0, abs=1e-9)  # the same rows, the same noise
    assert found.further == pytest.approx((0.12, 0.21))
    assert worst([("x", {}), ("y", {})]) == {}


# Many columns at once.


def test_scores_of_constants_ties_and_labels():
    rng = np.random.default_rng(0)
    label = (np.arange(20_000) < 40).astype(int)
    X = {
        "ones": np.ones(20_000),
        "label": label,
        "rounded": np.round(rng.normal(size=20_000)),
        "shifted": np.round(rng.normal(size=20_000) + 3 * label, 1),
        "text": rng.choice(["a", "b"], 20_000),
    }
    scores = mi_scores(X, label)
    share = 40 / 20_000
    entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert scores[0] == 0.0
    assert scores[1] == pytest.approx(entropy, rel=0.05)
    assert scores.max() <= entropy
    assert max(scores[2], scores[4]) < 0.1 * entropy
    assert 0.3 * entropy < scores[3] < scores[1]


def test_a_matrix_of_a_table_as_tables_are():
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    holes = np.where(rng.uniform(size=400) < 0.1, np.nan, a + rng.normal(size=400))
    rare = np.array(["x"] * 300 + ["y"] * 99 + ["z"])
    names = [f"row {k}" for k in range(400)]
    found = mi_matrix({"a": a, "holes": holes, "rare": rare, "name": names}, random_state=0)
    assert np.isfinite(found.values[~np.eye(4, dtype=bool)]).all()
    assert found.values[0, 1] == pytest.approx(0.9 * 0.5 * np.log(2), abs=0.1)
    assert abs(found.values[0, 2]) < 0.05

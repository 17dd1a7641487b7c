"""Two labels: tables from full to sparse, limits and checks; scores of many columns."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import mi_matrix, mi_scores, mutual_information
from isthmus.data.seeds import Seeds
from isthmus.information.counts import entropy_limit, table_information


def table_of(joint, n, rng):
    cell = rng.choice(joint.size, size=n, p=joint.ravel())
    return tuple(np.unique(side, return_inverse=True)[1] for side in np.divmod(cell, len(joint.T)))


def information(joint):
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    inside = joint > 0
    return float((joint[inside] * np.log(joint[inside] / product[inside])).sum())


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

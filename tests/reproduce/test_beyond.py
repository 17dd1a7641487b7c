"""The experiment beyond normals: its kinds, who beats whom, and what the page says."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import reproduce as experiments
from isthmus.reproduce import beyond_kinds, beyond_show


@pytest.mark.parametrize("kind", beyond_kinds.ORDER)
def test_every_kind_knows_its_truth(kind):
    problem = beyond_kinds.pair_of(kind)
    rows = problem.sample_p(4_000, rng=0)
    ratios = problem.log_ratio(rows)
    # The range that the page tells; and the mean over rows of p, within four standard errors.
    assert 5.0 < problem.kl < 60.0 and 1 <= problem.dim <= 20
    assert abs(ratios.mean() - problem.kl) < 4.0 * ratios.std() / len(rows) ** 0.5


def test_rows_between_are_mixed_of_both():
    p, q = np.zeros((6, 2)), np.ones((6, 2))
    assert beyond_kinds.midway(p, q)[:, 0].tolist() == [0.25, 0.5, 0.75] * 2


def results(**errors):
    """Made-up results on one kind: errors of log p/q by method, one for each seed."""
    return [
        {"kind": "gamma", "method": method, "rows": 2_000, "seed": seed, "truth": 19.0,
         "kl": 19.0 - value, "rms_p": value, "rms_q": value, "rms_m": value, "fit_seconds": 1.0}
        for method, values in errors.items()
        for seed, value in enumerate(values)
    ]  # fmt: skip


def test_a_method_is_beaten_beyond_two_standard_errors_of_the_difference():
    found = results(mdre=[1.0, 2.0, 3.0], anchors=[2.0, 3.1, 4.2], tre=[1.1, 1.7, 3.2], bdre=[0.5])
    verdicts = [beyond_show.verdict(found, "gamma", name, "rms_p") for name in ("anchors", "tre")]
    # Draw by draw the anchors are worse by 1.0 to 1.2, whatever the draw; TRE is better once.
    assert verdicts == [1, 0]
    # One seed is better by 0.5, where MDRE's own spread is 1; and the KL's error has no sign.
    assert beyond_show.verdict(found, "gamma", "bdre", "rms_p") == 0
    assert (
        beyond_show.verdict(results(mdre=[1.0, 1.1, 1.2], ctsm=[2.0]), "gamma", "ctsm", "rms_p")
        == 1
    )
    assert beyond_show.verdict(found, "gamma", "anchors", "kl") == 1


def test_the_page_says_what_is_not_beaten():
    experiment = experiments.load("beyond")
    found = results(mdre=[1.0, 1.0, 1.1], anchors=[3.0, 3.1, 3.2], tre=[0.5, 0.5, 0.5])
    told = experiment.remarks(found)[0]
    assert "of 2 others MDRE beats, and is beaten by, 1 and 1 by KL" in told
    lead = experiment.lead(found)
    assert (
        "By KL MDRE beats its anchors on 1 of 1 kinds" in lead
        and "all rivals at once on 0." in lead
    )
    # Where no log-ratio can be judged, nobody is beaten and it is said.
    for each in found:
        each["rms_q"] = None
    assert "nothing is known by rows of q" in experiment.remarks(found)[0]
    assert "By rows of q MDRE beats its anchors on 0 of 0 kinds" in experiment.lead(found)
    counts = next(t for t in experiment.tables(found) if t.title.startswith("On how many"))
    assert {row[0]: row[1] for row in counts.rows} == {"its anchors": "1 / 0", "TRE": "0 / 1"}


def test_a_cell_is_judged_on_rows_of_p_of_q_and_between():
    cell = {"kind": "normal", "method": "anchors", "rows": 500, "seed": 0}
    found = experiments.load("beyond").run(cell)
    # The right family: an error of log p/q of about sqrt(parameters / rows), 65 * 2 / 500.
    assert max(found[f"rms_{side}"] for side in "pqm") < 4.0 * (130 / 500) ** 0.5
    assert abs(found["kl"] - found["truth"]) < 2.0

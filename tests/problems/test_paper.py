"""The paper's problems: all are there, with its numbers, and their truths hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from isthmus import problems
from isthmus.problems import Gaussian, Mixture, StudentT

NAMES = [
    "table1/row1",
    "table1/row2",
    "table1/row3",
    "running-example",
    "running-example-swapped",
    "narrow/1e-3",
    "narrow/1e-6",
    "appendix-f",
    "appendix-f-as-printed",
    "table2/40",
    "table2/40-shifted",
    "table2/160",
    "table2/160-shifted",
    "table2/320",
    "table2/320-shifted",
    "table3/row1",
    "table3/row2",
    "table3/row3",
    "table3/row3-as-printed",
    "table3/row4",
    "table3/row5",
    "table3/row5-as-printed",
    "table3/row6",
    "table3/row6-as-printed",
    "table3/row7",
    "table3/row7-as-printed",
    "table3/row8",
]


def test_all_problems_of_the_paper_are_registered() -> None:
    assert set(NAMES) <= set(problems.names())
    assert problems.names("table2/") == [name for name in NAMES if name.startswith("table2/")]


# Value, tolerance. The tolerance is half of the last digit where the truth is
# exact. Where means are random it is 3 standard deviations over draws of them.
# For row 3 the reference values came from Monte Carlo with a standard error near
# .05 and .1; the exact ones are 105.493 and 329.493.
TRUTHS = {
    "table1/row1": (200.2708, 5e-5),
    "table1/row2": (355.8264, 5e-5),
    "table1/row3": (200.0, 1e-9),
    "running-example": (50.318, 5e-4),
    "narrow/1e-3": (np.log(1e3) - 0.5 + 0.5e-6, 1e-12),
    "narrow/1e-6": (np.log(1e6) - 0.5 + 0.5e-12, 1e-12),
    "table2/40": (20.0, 1e-9),
    "table2/40-shifted": (100.0, 1e-9),
    "table2/160": (40.0, 1e-9),
    "table2/160-shifted": (136.8, 1e-9),
    "table2/320": (80.0, 1e-9),
    "table2/320-shifted": (240.0, 1e-9),
    "table3/row1": (50.793, 5e-4),
    "table3/row2": (53.3, 3 * 1.25),
    "table3/row3": (105.43, 0.1),
    "table3/row3-as-printed": (329.7, 0.25),
    "table3/row4": (51.5, 3 * 0.7),
    "table3/row5": (51.7, 3 * 1.5),
    "table3/row5-as-printed": (104.1, 3 * 1.5),
    "table3/row6": (106.7, 3 * 1.8),
    "table3/row6-as-printed": (186.7, 3 * 4 * 1.8),
    "table3/row7": (104.4, 3 * 1.5),
    "table3/row7-as-printed": (162.0, 3 * 4 * 1.5),
    "table3/row8": (80.66, 0.015),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_truth(name: str) -> None:
    value, tolerance = TRUTHS[name]
    assert abs(problems.load(name).kl - value) <= tolerance


@pytest.mark.parametrize(
    ("name", "kl"),
    [
        ("table3/row2", 51.69718),
        ("table3/row4", 49.851921),
        ("table3/row5", 52.17592),
        ("table3/row6", 105.676024),
        ("table3/row7", 105.028558),
    ],
)
def test_random_means_never_change(name: str, kl: float) -> None:
    # Records made with these problems are compared over years and versions.
    assert problems.load(name).kl == pytest.approx(kl, abs=1e-6)


def test_paper_numbers() -> None:
    paper = problems.load("table1/row1").paper
    assert paper["truth"] == 200.27
    assert (paper["mdre"], paper["bdre"], paper["tre"], paper["fdre"]) == (
        203.32,
        21.74,
        136.05,
        14.87,
    )
    # The one truth of Table 2 that is misprinted.
    off = [n for n in problems.names("table2/") if abs(_gap(n)) > 1e-9]
    assert off == ["table2/160-shifted"]
    assert _gap("table2/160-shifted") == pytest.approx(0.8)


def _gap(name: str) -> float:
    problem = problems.load(name)
    return problem.kl - problem.paper["truth"]


def test_tre_waymarks_of_table_1() -> None:
    counts = [len(problems.load(name).tre_alphas) for name in problems.names("table1/")]
    assert counts == [18, 28, 8]


def test_auxiliaries_of_the_tables() -> None:
    (cauchy,) = problems.load("table1/row3").auxiliaries
    assert type(cauchy).__name__ == "Cauchy"
    assert (cauchy.loc, cauchy.scale) == (0.0, 2.0)
    (mixing,) = problems.load("table2/320-shifted").auxiliaries
    assert tuple(mixing.alphas) == (0.15, 0.35, 0.5, 0.75, 0.95)
    assert (mixing.form, mixing.merged) == ("sqrt", False)


@pytest.mark.parametrize("name", ["table2/40", "table2/160-shifted", "table3/row3", "table3/row4"])
def test_densities_agree_with_scipy(name: str) -> None:
    problem = problems.load(name)
    x = np.concatenate([problem.sample_p(3, 0), problem.sample_q(3, 0)])
    for side, ours in ((problem.p, problem.log_p(x)), (problem.q, problem.log_q(x))):
        np.testing.assert_allclose(ours, _scipy_log_density(side, x), rtol=1e-10)


def _scipy_log_density(side: object, x: np.ndarray) -> np.ndarray:
    if isinstance(side, Mixture):
        parts = [_scipy_log_density(part, x) for part in side.components]
        return np.logaddexp(*parts) - np.log(2)
    if isinstance(side, StudentT):
        return stats.multivariate_t(side.loc, side.scatter.matrix(), side.df).logpdf(x)
    assert isinstance(side, Gaussian)
    return stats.multivariate_normal(side.loc, side.scatter.matrix()).logpdf(x)


@pytest.mark.parametrize("name", ["narrow/1e-3", "appendix-f"])
def test_ratio_has_mean_one_under_q(name: str) -> None:
    # Elsewhere p is so far from q that no sample of q says anything about it.
    # Here the largest ratio is 1000 and its variance about 700: with 200000
    # samples one standard error is 6 %.
    problem = problems.load(name)
    ratio = np.exp(problem.log_ratio(problem.sample_q(200_000, 1)))
    error = ratio.std() / np.sqrt(len(ratio))
    assert abs(ratio.mean() - 1) < 4 * error < 0.3


def test_supports() -> None:
    corrected, printed = problems.load("appendix-f"), problems.load("appendix-f-as-printed")
    x = np.array([1.0, 0.85, 0.0, 2.0])
    assert np.isfinite(corrected.log_ratio(x)[0])
    assert corrected.log_ratio(x)[1] == -np.inf
    assert np.isnan(corrected.log_ratio(x)[2:]).all()
    np.testing.assert_array_equal(printed.log_ratio([1.05, 0.0]), [np.inf, -np.inf])
    row1 = problems.load("table3/row1")
    np.testing.assert_array_equal(row1.log_ratio([0.0, 1e200])[:1], [-np.inf])

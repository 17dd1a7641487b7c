"""Mutual information: closed forms, invariances, choices, discrete variables, bad input."""

from __future__ import annotations

import numpy as np
import pytest

import isthmus
from isthmus import mutual_information
from isthmus.information import Information


def normal_pairs(rng, n, d, rho):
    x, e = rng.normal(size=(2, n, d))
    return x, rho * x + np.sqrt(1 - np.square(rho)) * e


def truth_of(rho):
    return -0.5 * float(np.log1p(-np.square(rho)).sum())


def student(rng, n, d, degrees):
    z = rng.normal(size=(n, 2 * d)) / np.sqrt(rng.chisquare(degrees, size=(n, 1)) / degrees)
    return z[:, :d], z[:, d:]


def spiral(x, speed):
    angle = speed * (x**2).sum(axis=1)
    out = x.copy()
    out[:, 0] = np.cos(angle) * x[:, 0] - np.sin(angle) * x[:, 1]
    out[:, 1] = np.sin(angle) * x[:, 0] + np.cos(angle) * x[:, 1]
    return out


# Estimates: the error of each is judged by its own standard error, four of them over two
# seeds and a few cases, which chance exceeds once in a thousand runs.


@pytest.mark.parametrize(("d", "seed"), [(1, 0), (1, 1), (3, 0)])
def test_normal_variables_have_the_closed_form(d, seed):
    rho = np.linspace(0.8, 0.3, d)
    x, y = normal_pairs(np.random.default_rng(seed), 2000, d, rho)
    found = mutual_information(x, y, random_state=seed)
    assert found.method in ("gaussian", "gaussian, raw")  # here they are equally good
    assert abs(found.value - truth_of(rho)) < 4 * found.std_error
    # The error of a mean of 2000 log-ratios, whose variance is the sum of rho squared.
    assert found.std_error == pytest.approx(np.sqrt((rho**2).sum() / 2000), rel=0.2)
    assert 0.8 * truth_of(rho) < found.lower_bound < found.value


def test_bijections_of_one_side_change_nothing():
    x, y = normal_pairs(np.random.default_rng(3), 500, 1, 0.7)
    plain = mutual_information(x, y, random_state=0)
    bent = mutual_information(np.exp(3 * x), -(y**3), random_state=0)
    # Ranks are the same, up to the sign.
    assert bent.value == pytest.approx(plain.value, abs=1e-9)


def test_x_and_y_may_change_places():
    x, y = student(np.random.default_rng(0), 500, 2, 2)
    there, back = (mutual_information(*pair, random_state=0) for pair in ((x, y), (y, x)))
    # Shuffles differ: four standard errors of the masses are well below that of the mean.
    assert abs(there.value - back.value) < there.std_error


def test_the_same_seed_gives_the_same_answer():
    x, y = student(np.random.default_rng(1), 300, 2, 2)
    assert mutual_information(x, y, random_state=5) == mutual_information(x, y, random_state=5)


def test_dependence_through_the_radius_is_seen():
    # Uncorrelated Student-t with one degree of freedom, 2 and 2 columns: 0.4319 nats
    # (Czyz et al. 2023), of which every correlation is blind.
    x, y = student(np.random.default_rng(0), 2000, 2, 1)
    found = mutual_information(x, y, random_state=0)
    assert found.method == "student"
    assert abs(found.value - 0.43194562) < 4 * found.std_error
    assert found.lower_bound > 0.2


def test_a_thin_band_with_edges_is_seen():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(3000, 1))
    y = x + rng.uniform(-0.1, 0.1, size=(3000, 1))
    found = mutual_information(x, y, random_state=0)
    # The truth is log(1 / 0.2) + 0.1; edges are blurred a little.
    assert found.value == pytest.approx(np.log(5) + 0.1, abs=0.06)
    assert found.low < np.log(5) + 0.1 < found.high


def test_a_ring_is_learned_and_what_is_not_is_told():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 3000)
    x, y = (f(angle) + 0.1 * rng.normal(size=3000) for f in (np.cos, np.sin))
    found = mutual_information(x, y, random_state=0)
    # The truth by quadrature of the margins and a Bessel function for the joint: 0.682.
    assert found.low < 0.682 < found.high
    assert found.lower_bound > 0.5
    assert found.diagnostics["learning"].verdict in ("ok", "warn")


@pytest.mark.parametrize("rows", [1, 3])
def test_outliers_that_x_and_y_share_are_no_information(rows):
    x, y = np.random.default_rng(0).normal(size=(2, 1000))
    x[:rows] = y[:rows] = -999_999.0
    found = mutual_information(x, y, random_state=0)
    assert found.low == 0.0
    assert found.value < 0.05


def test_columns_that_are_moved_by_each_other_are_not_trusted():
    # Five nats, but every column is moved by a rough function of another: no order explains them.
    x, y = normal_pairs(np.random.default_rng(0), 3000, 2, np.sqrt(-np.expm1(-5.0)))
    x[:, 1] += 2 * np.sin(2 * x[:, 0])
    y[:, 1] += y[:, 0] ** 2
    x[:, 0] += 1.5 * np.cos(1.5 * x[:, 1])
    found = mutual_information(x, y, random_state=0)
    assert found.high > 5.0
    assert found.value < 5.5
    assert found.trusted is (found.high < np.inf)
    assert Information(**found.to_dict()).diagnostics.keys() == found.diagnostics.keys()


def test_a_bend_of_one_side_is_undone():
    rng = np.random.default_rng(0)
    rho = np.array([0.8, 0.8, 0.0])
    x, y = normal_pairs(rng, 5000, 3, rho)
    found = mutual_information(spiral(x, 1 / 3), y, random_state=0)
    straight = mutual_information(spiral(x, 1 / 3), y, method="gaussian")
    assert found.method == "bent"
    assert straight.value < truth_of(rho) - 0.15  # what the bend costs the normal copula
    # A mean of 5000 log-ratios has an error of 0.016; the rest is the bend's own fit.
    assert found.value == pytest.approx(truth_of(rho), abs=0.1)
    assert found.low < truth_of(rho) < found.high


@pytest.mark.parametrize("d", [1, 10, 30])
def test_independent_variables(d):
    x, y = np.random.default_rng(d).normal(size=(2, 1500, d))
    found = mutual_information(x, y, random_state=0)
    # Chi-square noise with d * d degrees of freedom: sd d / (sqrt(2) n), four of them.
    assert abs(found.value) < 4 * d / (np.sqrt(2) * 1500) + 1e-3
    assert found.low == 0.0
    assert found.lower_bound < 0.01


def test_one_strong_direction_among_many_columns():
    # All pairs of 40 columns have the correlation 0.5. Bends find many variates that repeat the one
    # strong direction, whose copula has an enormous mass: it must not be taken.
    covariance = np.full((40, 40), 0.5) + 0.5 * np.eye(40)
    z = np.random.default_rng(0).normal(size=(3000, 40)) @ np.linalg.cholesky(covariance).T
    half, whole = (np.linalg.slogdet(covariance[:k, :k])[1] for k in (20, 40))
    found = mutual_information(z[:, :20], z[:, 20:], random_state=0)
    assert abs(found.value - (half - whole / 2)) < 4 * found.std_error
    assert found.std_error < 0.06  # that of a mean of 3000 log-ratios is 0.018


def test_high_information_is_within_two_per_cent():
    rho = np.sqrt(-np.expm1(-2.0))  # a nat for each of 40 pairs
    x, y = normal_pairs(np.random.default_rng(0), 5000, 40, rho)
    found = mutual_information(x, y, random_state=0)
    assert found.value == pytest.approx(40.0, rel=0.02)
    # A bound from rows cannot exceed their logarithm by much.
    assert 2.0 < found.lower_bound < np.log(5000) + 1


def test_a_correlation_close_to_one():
    rho = 0.99999
    x, y = normal_pairs(np.random.default_rng(0), 5000, 1, rho)
    assert mutual_information(x, y, random_state=0).value == pytest.approx(truth_of(rho), rel=0.05)


# Conditioning.


def test_given_the_common_cause_nothing_is_left():
    a, b, z = np.random.default_rng(0).normal(size=(3, 2000))
    x, y = z + a, z + b
    assert mutual_information(x, y, random_state=0).value > 0.1  # log(4/3) / 2 = 0.144
    found = mutual_information(x, y, given=z, random_state=0)
    assert abs(found.value) < 4 * found.std_error
    assert found.std_error < 0.01


def test_given_a_collider_dependence_appears():
    x, y = np.random.default_rng(1).normal(size=(2, 2000))
    z = x + y + 0.5 * np.random.default_rng(2).normal(size=2000)
    # The partial correlation of x and y given z: -1 / (1 + 0.25) = -0.8.
    found = mutual_information(x, y, given=z, random_state=0)
    assert abs(found.value - truth_of(0.8)) < 4 * found.std_error


def test_given_a_label_strata_are_averaged():
    rng = np.random.default_rng(0)
    label = np.repeat(["a", "b"], 1000)
    x, y = normal_pairs(rng, 2000, 1, 0.8)
    y[:1000] = rng.normal(size=(1000, 1))
    found = mutual_information(x, y, given=label, random_state=0)
    assert abs(found.value - 0.5 * truth_of(0.8)) < 4 * found.std_error


# Labels.


def test_two_labels_are_counted():
    rng = np.random.default_rng(0)
    x = rng.integers(2, size=2000)
    y = np.where(rng.uniform(size=2000) < 0.1, 1 - x, x)
    truth = np.log(2) + 0.1 * np.log(0.1) + 0.9 * np.log(0.9)
    found = mutual_information(x, np.array(["no", "yes"])[y])
    assert found.method == "table"
    assert abs(found.value - truth) < 4 * found.std_error


def test_independent_labels_are_near_zero():
    rng = np.random.default_rng(0)
    values = [
        mutual_information(rng.integers(4, size=500), rng.integers(5, size=500)) for _ in range(50)
    ]
    mean = np.mean([each.value for each in values])
    # Without the correction the mean is 12 / (2 * 500) = 0.012; noise 0.005 / sqrt(50).
    assert abs(mean) < 0.003


def test_a_label_and_numbers():
    rng = np.random.default_rng(0)
    label = rng.integers(2, size=3000)
    x = 2.0 * label + rng.normal(size=3000)
    # Two normals, two apart, by quadrature.
    grid = np.linspace(-8, 10, 4001)
    density = np.exp(-0.5 * (grid[:, None] - [0, 2]) ** 2) / np.sqrt(2 * np.pi)
    mean = density.mean(axis=1)
    truth = 0.5 * np.sum(density * np.log(density / mean[:, None])) * (grid[1] - grid[0])
    for pair in ((x, label), (label, x)):
        found = mutual_information(*pair, random_state=0)
        assert found.method == "classifier"
        assert abs(found.value - truth) < 4 * found.std_error


def test_a_label_that_says_nothing():
    rng = np.random.default_rng(0)
    found = mutual_information(rng.normal(size=1000), rng.integers(3, size=1000), random_state=0)
    assert found.value == 0.0
    assert found.low == 0.0


# Never silent nonsense.


def test_negative_estimates_are_explained():
    rng = np.random.default_rng(0)
    found = next(
        each
        for each in (
            mutual_information(*rng.normal(size=(2, 300)), method="gaussian") for _ in range(20)
        )
        if any("negative" in note for note in each.notes)
    )
    assert found.value == found.low == 0.0


def test_few_rows_warn():
    x, y = np.random.default_rng(0).normal(size=(2, 60, 2))
    with pytest.warns(UserWarning, match="n is small: 60 rows for 4 columns") as caught:
        mutual_information(x, y, random_state=0)
    assert caught[0].filename == __file__


def test_a_function_of_x_has_no_finite_information():
    x = np.random.default_rng(0).normal(size=500)
    with pytest.warns(UserWarning, match="infinite"):
        found = mutual_information(x, np.exp(x), random_state=0)
    assert found.high == np.inf
    assert found.value > 3


@pytest.mark.parametrize("scale", [1e-8, 1e200])
def test_scales_and_constant_and_repeated_columns(scale):
    x, y = normal_pairs(np.random.default_rng(0), 300, 1, 0.7)
    wide = np.hstack([scale * x, np.ones_like(x), scale * x])
    plain = mutual_information(x, y, random_state=0)
    found = mutual_information(wide, y, random_state=0)
    assert found.value == pytest.approx(plain.value, abs=1e-3)
    assert mutual_information(np.ones_like(x), y).value == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "best"}, "method must be one of"),
        ({"folds": 1}, "folds must be an integer"),
        ({"level": 1.0}, "level must be a number"),
        ({"max_rows": 1.5}, "max_rows must be an integer"),
        ({"residual": "yes"}, "residual must be True or False"),
        ({"discrete_x": "maybe"}, "discrete_x must be True, False or 'auto'"),
        ({"discrete_x": True, "method": "ksg"}, "method must be 'auto' for labels"),
        ({"given": [1.0, 2.0]}, "x, y and given must have the same number of rows"),
        ({"random_state": -1}, "random_state must be a non-negative integer"),
    ],
)
def test_bad_parameters_are_refused(arguments, message):
    x, y = np.random.default_rng(0).normal(size=(2, 300))
    with pytest.raises(ValueError, match=message):
        mutual_information(x, y, **arguments)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.full(300, np.nan), "x must have a value in some row of every column"),
        (np.zeros((300, 2, 2)), "x must have one or two dimensions"),
        (np.arange(100.0), "must have the same number of rows"),
        (np.zeros((300, 0)), "x must have one or two dimensions"),
        (np.full(300, np.inf), "x must be finite"),
        (np.random.default_rng(0).normal(size=(300, 299)), "x and y must have fewer columns"),
    ],
)
def test_bad_rows_are_refused(x, message):
    with pytest.raises(ValueError, match=message):
        mutual_information(x, np.random.default_rng(1).normal(size=300))


def test_few_rows_are_refused():
    with pytest.raises(ValueError, match="at least 20 rows; received 5"):
        mutual_information(np.arange(5.0), np.arange(5.0))


def test_more_rows_than_max_rows_are_thinned():
    x, y = normal_pairs(np.random.default_rng(0), 3000, 1, 0.7)
    assert mutual_information(x, y, max_rows=500, random_state=0).n_rows == 500


def test_the_names_are_exported():
    for name in ("Information", "mi_matrix", "mi_scores", "mutual_information"):
        assert name in isthmus.__all__
        assert getattr(isthmus, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'mutual'"):
        _ = isthmus.mutual

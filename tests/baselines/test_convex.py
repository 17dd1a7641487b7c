"""BDRE, TRE, PlugIn and ExponentialNCE: the rivals that are convex problems or closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import gaussian_kde, multivariate_normal, norm
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.svm import LinearSVC

from isthmus import MDRE, problems, stack
from isthmus.auxiliaries import LinearMixing, StudentT
from isthmus.baselines import BDRE, TRE, ExponentialNCE, PlugIn
from isthmus.baselines.binary import Difference, difference_blocks
from isthmus.baselines.nce import ExponentialObjective, newton_descent, normalised_descent
from isthmus.critics import Diagonal, Quadratic, Radial, Sum
from isthmus.data.sample import TwoSamples
from isthmus.data.seeds import Seeds
from isthmus.model.objective import Objective
from isthmus.model.rows import prepare
from isthmus.settings import Settings

SMALL = {
    "bdre": BDRE(),
    "bdre-anchored": BDRE(anchor="gaussian"),
    "bdre-classifier": BDRE(classifier=LogisticRegression()),
    "tre": TRE(n_waymarks=2),
    "tre-auto": TRE(pairings=1),
    "plug-in": PlugIn(),
    "plug-in-t": PlugIn("student-t"),
    "plug-in-kde": PlugIn("kde"),
    "plug-in-mixture": PlugIn("mixture", n_components=2),
    "nce": ExponentialNCE(),
    "nce-newton": ExponentialNCE(solver="newton"),
}
every = pytest.mark.parametrize("estimator", SMALL.values(), ids=SMALL.keys())


def two_normals(n, d=2, gap=1.0, seed=0, n_q=None):
    rng = np.random.default_rng(seed)
    p = rng.normal(size=(n, d))
    p[:, 0] += gap
    return p, rng.normal(size=(n_q or n, d))


def fitted(estimator, p, q, weight=None, random_state=0):
    X, y = stack(p, q)
    return clone(estimator).set_params(random_state=random_state).fit(X, y, sample_weight=weight)


# All of them


@every
@pytest.mark.parametrize("seed", [0, 1])
def test_the_ratio_of_overlapping_normals_is_found(estimator, seed):
    p, q = two_normals(2000, seed=seed)
    x = np.array([[0.0, 0.0], [0.5, 1.0], [1.0, 0.0]])
    truth = x[:, 0] - 0.5
    # The mean of either sample has a standard error of .022, and so has a slope of the linear
    # ratio; quadratics have 6 such coefficients and x lies within one or two units. Five times
    # sqrt(6) of these is .27; kernels smooth the ratio besides.
    limit = 0.45 if "kde" in str(estimator) else 0.27
    assert np.abs(fitted(estimator, p, q).log_ratio(x) - truth).max() < limit


@every
def test_a_weight_of_two_is_the_row_given_twice(estimator):
    p, q = two_normals(300, n_q=260)
    if "mixture" in str(estimator):
        # Two components of one normal are anything, down to rounding.
        p[::2] -= 8.0
        q[::2] += 8.0
    rng = np.random.default_rng(1)
    times = [rng.integers(1, 3, len(rows)) for rows in (p, q)]
    twice = fitted(
        estimator, *(np.repeat(x, t, axis=0) for x, t in zip((p, q), times, strict=True))
    )
    X, y = stack(p, q)
    order = rng.permutation(len(X))
    model = clone(estimator).set_params(random_state=0)
    model.fit(X[order], y[order], sample_weight=np.concatenate(times)[order])
    # Sums in another order; solvers stop at gradients of 1e-6 to 1e-5.
    assert model.log_ratio(X) == pytest.approx(twice.log_ratio(X), rel=1e-3, abs=1e-3)


@every
def test_units_and_origin_do_not_matter(estimator):
    p, q = two_normals(300)
    unit, origin = np.array([1e-8, 1e8]), np.array([5.0, -1e9])
    model = fitted(estimator, p, q)
    if "classifier" in str(estimator):
        pytest.skip("a penalised regression on columns of 1e8 is another problem")
    other = fitted(estimator, p * unit + origin, q * unit + origin)
    x = np.array([[0.0, 0.0], [1.0, 1.0]])
    # A column of 1e-8 about 5 keeps eight digits of its values.
    assert other.log_ratio(x * unit + origin) == pytest.approx(model.log_ratio(x), abs=1e-4)


@every
def test_equal_samples_have_a_ratio_of_about_one(estimator):
    p, _ = two_normals(400)
    # Held-out rows of two equal samples differ; what is learned from that is noise.
    assert np.abs(fitted(estimator, p, p.copy()).log_ratio(p)).max() < 0.5


@every
def test_degenerate_columns_are_reported_and_harmless(estimator):
    p, q = two_normals(300)
    plain = fitted(estimator, p, q).log_ratio(p[:5])
    wide = [np.column_stack([x, np.full(len(x), 7.0), x[:, 0]]) for x in (p, q)]
    if "classifier" in str(estimator):
        assert np.isfinite(fitted(estimator, *wide).log_ratio(wide[0])).all()
        return
    with pytest.warns(UserWarning) as told:
        model = fitted(estimator, *wide)
    said = " ".join(str(warning.message) for warning in told)
    assert "columns are constant" in said
    assert "linearly dependent" in said
    # The same directions in other axes: only penalties and the pairing order may notice.
    assert model.log_ratio(wide[0][:5]) == pytest.approx(plain, abs=0.2)


@every
@pytest.mark.filterwarnings("ignore")
def test_five_rows_and_separated_samples_give_finite_ratios(estimator):
    p, q = two_normals(5, gap=50.0)
    log_ratio = fitted(estimator, p, q).log_ratio(np.vstack([p, q]))
    assert np.isfinite(log_ratio).all()
    assert (log_ratio[:5] > 0).all()
    assert (log_ratio[5:] < 0).all()


@every
def test_the_seed_decides_everything(estimator):
    p, q = two_normals(250)
    first, again = (fitted(estimator, p, q).log_ratio(p) for _ in range(2))
    assert np.array_equal(first, again)


BAD = [
    (BDRE(critic="cubic"), "critic"),
    (BDRE(l2=-1.0), "l2"),
    (BDRE(maps=["log"] * 3), "maps"),
    (BDRE(calibration="sigmoid"), "calibration must be None without a classifier"),
    (BDRE(classifier=LinearSVC()), "without predict_proba"),
    (BDRE(classifier=3), "classifier must have"),
    (BDRE(classifier=LogisticRegression(), calibration="platt"), "calibration"),
    (TRE("diagonal"), "waymarks"),
    (TRE(n_waymarks=-1), "n_waymarks"),
    (TRE(n_waymarks=2, alphas=[0.5]), "n_waymarks"),
    (TRE(alphas=[0.5, 0.3]), "alphas must be a list of increasing"),
    (TRE(alphas=[0.5, 1.0]), "alphas"),
    (TRE("dimension-wise", alphas=[0.5]), "alphas must be None"),
    (TRE([LinearMixing([0.5])], n_waymarks=1), "n_waymarks must be 'auto'"),
    (TRE(form="cubic"), "form"),
    (TRE(limit=0.4), "limit"),
    (TRE(pairings=0), "pairings"),
    (TRE(coupled="yes"), "coupled"),
    (TRE(shared=True), "shared must be None or False unless critic is 'mlp'"),
    (TRE(critic="mlp", width=0), "width"),
    (TRE("dimension-wise", n_waymarks=5), "n_blocks"),
    (PlugIn("normal"), "density"),
    (PlugIn(LogisticRegression()), "without score_samples"),
    (PlugIn(["kde"] * 3), "pair"),
    (PlugIn(unbiased=1.0), "unbiased"),
    (PlugIn(n_components=0), "n_components"),
    (PlugIn(bandwidth=0.0), "bandwidth"),
    (ExponentialNCE(solver="lbfgs"), "solver"),
    (ExponentialNCE(step=0.0), "step"),
    (ExponentialNCE(critic=LogisticRegression()), "critic must be linear"),
    (ExponentialNCE(anchor="auto"), "anchor must be given"),
]


@pytest.mark.parametrize(("estimator", "message"), BAD, ids=lambda value: str(value)[:50])
def test_parameters_that_do_not_fit_are_refused(estimator, message):
    p, q = two_normals(30)
    with pytest.raises(ValueError, match=message):
        estimator.fit(*stack(p, q))


# BDRE


def test_bdre_is_mdre_without_auxiliaries():
    p, q = two_normals(500)
    bdre = fitted(BDRE(), p, q)
    mdre = MDRE(None, critic="quadratic", anchor=None, maps=None, l2=bdre.l2_).fit(*stack(p, q))
    # Both stop at gradients below 1e-6, with curvatures of about 1/8.
    assert bdre.log_ratio(p) == pytest.approx(mdre.log_ratio(p), abs=1e-3)
    assert isinstance(bdre.estimator_, MDRE)


def test_the_penalty_is_the_one_under_which_held_out_labels_are_likeliest():
    p, q = two_normals(1000, d=10)
    bdre = fitted(BDRE(), p, q)
    trials = bdre.selection_.trials
    best = max(trials, key=lambda trial: trial.score)
    assert [trial.chosen for trial in trials].count(True) == 1
    assert best.chosen
    assert f"l2 = {bdre.l2_:.3g}" == best.name
    # Of 66 coefficients one is there: a penalty helps.
    X, y = stack(*two_normals(4000, d=10, seed=5))
    assert bdre.score(X, y) > fitted(BDRE(l2=0.0), p, q).score(X, y)


@pytest.mark.parametrize(
    "estimator",
    [
        BDRE(),
        BDRE(anchor="gaussian"),
        BDRE(classifier=LogisticRegression()),
        BDRE(classifier=LinearDiscriminantAnalysis(priors=None)),
        BDRE(classifier=LogisticRegression(), calibration="isotonic"),
        BDRE(classifier=LinearSVC(), calibration="sigmoid"),
        BDRE(classifier=KNeighborsClassifier(200), calibration="sigmoid"),
        TRE(n_waymarks=1),
        ExponentialNCE(),
    ],
    ids=lambda estimator: str(estimator)[:60],
)
def test_unequal_sample_sizes_do_not_turn_ratios_into_odds(estimator):
    p, q = two_normals(4000, d=1, n_q=500)
    model = fitted(estimator, p, q)
    # The log of the sizes' ratio is 2.1. A mean of 500 rows has a standard error of .045;
    # isotonic steps and neighbours are coarser by far: a quarter of what odds would add.
    assert model.log_ratio([[0.5]])[0] == pytest.approx(0.0, abs=0.5)


def test_calibration_mends_a_classifier_that_is_too_sure():
    p, q = two_normals(1500, d=2)
    X, y = stack(*two_normals(4000, d=2, seed=9))
    sure = KNeighborsClassifier(3)
    raw = fitted(BDRE(classifier=sure), p, q)
    mended = fitted(BDRE(classifier=sure, calibration="sigmoid"), p, q)
    # Three neighbours give probabilities of 0 and 1, which are clipped at 1e-12.
    assert np.abs(raw.log_ratio(X)).max() == pytest.approx(-np.log(1e-12), rel=1e-6)
    assert mended.score(X, y) > raw.score(X, y) + 1.0
    assert hasattr(mended, "classifier_")


def test_classifiers_take_weights_or_say_that_they_cannot():
    p, q = two_normals(60)
    weight = np.arange(1.0, 121.0)
    with pytest.raises(ValueError, match="sample_weight"):
        fitted(BDRE(classifier=KNeighborsClassifier()), p, q, weight)
    with pytest.raises(ValueError, match="calibration must have at least 10 rows"):
        fitted(BDRE(classifier=LogisticRegression(), calibration="sigmoid"), p[:4], q)


# TRE


def test_bridges_add_up():
    p, q = two_normals(400, gap=3.0)
    tre = fitted(TRE(n_waymarks=3), p, q)
    bridges = tre.bridge_log_ratios(p)
    assert bridges.shape == (400, 4)
    assert bridges.sum(axis=1) == pytest.approx(tre.log_ratio(p), abs=1e-10)
    assert tre.bridge_log_ratio(p, 2) == pytest.approx(bridges[:, 2], abs=1e-12)
    assert len(tre.models_) == len(tre.l2_) == len(tre.bridge_accuracy_) == 4
    with pytest.raises(ValueError, match="k must be an integer in"):
        tre.bridge_log_ratio(p, 4)


@pytest.mark.parametrize("form", ["sqrt", "convex"])
def test_linear_waymarks_have_the_moments_of_their_form(form):
    rng = np.random.default_rng(0)
    p, q = rng.normal(10.0, 1.0, (600, 1)), rng.normal(14.0, 2.0, (500, 1))
    tre = fitted(TRE(alphas=[0.6], form=form, l2=1.0), p, q)
    rows = tre.sample_waymark(1, 40_000, random_state=0)
    keep = 0.8 if form == "sqrt" else 0.4
    centre = 0.5 * (p.mean() + q.mean())
    mean = centre + keep * (p.mean() - centre) + 0.6 * (q.mean() - centre)
    variance = keep**2 * p.var() + 0.36 * q.var()
    # Of the samples, not of the population: the rows are drawn from these. Four standard errors.
    assert rows.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / 40_000))
    assert rows.var() == pytest.approx(variance, rel=4 * np.sqrt(2 / 40_000) + 4 / 500)
    for k, sample in ((0, p), (2, q)):
        assert np.isin(tre.sample_waymark(k, 50), sample).all()


def test_without_waymarks_tre_is_bdre():
    p, q = two_normals(300)
    tre, bdre = fitted(TRE(n_waymarks=0, l2=1.0), p, q), fitted(BDRE(l2=1.0), p, q)
    assert tre.log_ratio(p) == pytest.approx(bdre.log_ratio(p), abs=1e-4)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_waymarks_bridge_a_chasm(seed):
    p, q = two_normals(1500, d=1, gap=12.0, seed=seed)
    test = np.random.default_rng(99).normal(12.0, 1.0, (2000, 1))
    tre, bdre = fitted(TRE(), p, q), fitted(BDRE(), p, q)
    truth = 72.0
    error = {model: abs(model.log_ratio(test).mean() - truth) for model in (tre, bdre)}
    # Any large ratio separates the classes: the binary classifier stops far below.
    assert error[bdre] > 30.0
    assert error[tre] < error[bdre] / 2
    # Two neighbours are told apart in at most the limit, plus four standard errors of
    # the 375 held-out rows of each, in two measurements.
    assert (tre.bridge_accuracy_ < tre.limit + 4 * np.sqrt(2 * 0.16 / 750)).all()


def test_more_waymarks_are_placed_between_samples_further_apart():
    near, far = (fitted(TRE(), *two_normals(400, d=1, gap=gap)) for gap in (0.5, 6.0))
    assert near.n_waymarks_ == 0
    assert far.n_waymarks_ >= 3
    assert (np.diff(far.alphas_) > 0).all()


def test_a_hundredfold_narrower_sample_gets_waymarks_close_to_it():
    rng = np.random.default_rng(0)
    tre = fitted(TRE(), rng.normal(0, 1e-4, (500, 1)), rng.normal(0, 1, (500, 1)))
    assert tre.alphas_[0] < 1e-3
    x = rng.normal(0, 1e-4, (2000, 1))
    truth = norm.logpdf(x[:, 0], 0, 1e-4) - norm.logpdf(x[:, 0])
    # A scale estimated from 500 rows is off by 3 %, at each of about eight bridges, all of
    # which are less certain than that: twenty times sqrt(8) of these.
    assert tre.log_ratio(x).mean() == pytest.approx(truth.mean(), abs=1.8)


def test_pairs_are_shared_by_all_waymarks_and_use_every_row_alike():
    p, q = two_normals(300, gap=4.0)
    tre = fitted(TRE(alphas=[0.25, 0.75], form="convex", pairings=2, l2=1.0), p, q)
    first, second = (tre.chain_.rows(k).rows for k in (1, 2))
    x_p = 1.5 * first - 0.5 * second
    assert len(first) == 600
    assert np.sort(x_p[:, 0]) == pytest.approx(np.sort(np.repeat(p[:, 0], 2)), abs=1e-12)
    apart = fitted(TRE(alphas=[0.25, 0.75], form="convex", coupled=False, l2=1.0), p, q)
    first, second = (apart.chain_.rows(k).rows for k in (1, 2))
    assert not np.isin((1.5 * first - 0.5 * second)[:, 0].round(9), p[:, 0].round(9)).all()


def test_held_out_waymarks_are_made_of_held_out_rows():
    p, q = two_normals(400, gap=4.0)
    tre = fitted(TRE(alphas=[0.25, 0.75], form="convex", pairings=3, l2=1.0), p, q)
    halves = tre.chain_.split()
    for own, other in (halves, halves[::-1]):
        first, second = (own.rows(k).rows for k in (1, 2))
        x_p = (1.5 * first - 0.5 * second)[:, 0].round(9)
        assert np.isin(x_p, own.rows(0).rows[:, 0].round(9)).all()
        assert not np.isin(x_p, other.rows(0).rows[:, 0].round(9)).any()


def test_dimension_wise_waymarks_take_columns_from_q():
    p, q = two_normals(300, d=4, gap=2.0)
    tre = fitted(TRE("dimension-wise", n_waymarks=3), p, q)
    rows = tre.sample_waymark(2, 200).round(9)
    assert np.isin(rows[:, :2], q[:, :2].round(9)).all()
    assert np.isin(rows[:, 2:], p[:, 2:].round(9)).all()
    assert fitted(TRE("dimension-wise"), *two_normals(400, d=4, gap=6.0)).n_waymarks_ >= 1


def test_any_auxiliaries_can_be_waymarks():
    p, q = two_normals(600, d=1, gap=3.0)
    between = np.random.default_rng(5).normal(1.0, 1.2, (500, 1))
    marks = [LinearMixing([0.3]), between, StudentT(3.0)]
    tre = fitted(TRE(marks), p, q)
    assert tre.n_waymarks_ == 3
    # Slopes of 3 from means of 600 rows, through four bridges: .04 * 3 * 2, four times.
    assert tre.log_ratio([[1.5]])[0] == pytest.approx(0.0, abs=1.0)


def test_the_number_of_jobs_changes_nothing():
    p, q = two_normals(250, gap=3.0)
    one, two = (fitted(TRE(n_waymarks=2, n_jobs=n), p, q).log_ratio(p) for n in (1, 2))
    assert np.array_equal(one, two)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_sample_without_width_is_reported():
    _, q = two_normals(300, d=1)
    p = np.full((300, 1), 0.5)
    with pytest.warns(UserWarning, match="however close it lies"):
        tre = fitted(TRE(), p, q)
    assert tre.n_waymarks_ == 3
    assert np.isfinite(tre.log_ratio(p)).all()


def test_rows_may_repeat():
    rng = np.random.default_rng(0)
    p, q = (rng.binomial(4, share, (400, 2)).astype(float) for share in (0.5, 0.6))
    for estimator in (TRE(), TRE(n_waymarks=2), BDRE(), ExponentialNCE(), PlugIn("kde")):
        assert np.isfinite(fitted(estimator, p, q).log_ratio(p)).all()


@pytest.mark.parametrize("shared", [True, False, None])
def test_networks_can_be_bridges(shared):
    pytest.importorskip("torch")
    p, q = two_normals(600, gap=4.0)
    tre = TRE(critic="mlp", shared=shared, n_waymarks=2, width=16, depth=1, steps=200, lr=1e-2)
    tre = fitted(tre, p, q)
    assert tre.bridges_.shared is (shared is not False)
    assert tre.bridge_log_ratios(p).shape == (600, 3)
    # log p/q is +-8 at the two centres; a network of few steps gets half of it.
    log_ratio = tre.log_ratio([[4.0, 0.0], [0.0, 0.0]])
    assert log_ratio[0] > 3.0
    assert log_ratio[1] < -3.0


# PlugIn


def test_the_normal_plug_in_is_maximum_likelihood():
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3)), rng.normal(2.0, 1.0, (40, 3))
    plug_in = fitted(PlugIn(), p, q)
    x = rng.normal(size=(20, 3))
    densities = [multivariate_normal(s.mean(axis=0), np.cov(s.T, bias=True)) for s in (p, q)]
    expected = densities[0].logpdf(x) - densities[1].logpdf(x)
    assert plug_in.log_ratio(x) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_noise_of_covariances_can_be_taken_out():
    d, n, rng = 15, 80, np.random.default_rng(0)
    errors = {False: [], True: []}
    for _ in range(60):
        p, q = rng.normal(size=(n, d)), 2.0 * rng.normal(size=(n, d))
        x = rng.normal(size=(1, d))
        truth = d * np.log(2.0) - 0.375 * float((x**2).sum())
        for unbiased, found in errors.items():
            found.append(fitted(PlugIn(unbiased=unbiased), p, q).log_ratio(x)[0] - truth)
    error = {k: np.mean(v) / (np.std(v) / np.sqrt(60)) for k, v in errors.items()}
    assert abs(error[True]) < 4.0
    assert error[False] < -5.0


def test_other_families_fit_what_the_normal_does_not():
    rng = np.random.default_rng(0)
    p = np.where(rng.random((3000, 1)) < 0.5, -3.0, 3.0) + rng.normal(size=(3000, 1))
    q = rng.standard_t(2.0, (3000, 1))
    x = np.linspace(-4, 4, 9)
    from scipy.stats import t

    truth = np.log(0.5 * norm.pdf(x + 3) + 0.5 * norm.pdf(x - 3)) - t.logpdf(x, 2.0)
    right = fitted(PlugIn(("mixture", "student-t")), p, q)
    kernels = fitted(PlugIn(("kde", "student-t")), p, q)
    # A density at a point has about n h = 3000 * .3 rows to be found from, fewer in the gap
    # between the modes, where it is .004 and sees some 12 rows: 4 / sqrt(12).
    assert np.abs(right.log_ratio(x) - truth).max() < 0.3
    assert np.abs(kernels.log_ratio(x) - truth).max() < 1.2
    assert np.abs(fitted(PlugIn(), p, q).log_ratio(x) - truth).max() > 1.0
    assert right.densities_[0].n_components_ >= 2


def test_kernels_are_those_of_scipy():
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(80, 2)), rng.normal(1.0, 2.0, (50, 2))
    weight = rng.uniform(0.5, 2.0, 130)
    model = fitted(PlugIn("kde", bandwidth=0.4), p, q, weight)
    x = rng.normal(size=(10, 2))
    expected = []
    for rows, w in ((p, weight[:80]), (q, weight[80:])):
        share = w / w.sum()
        # SciPy scales the unbiased covariance of the weighted rows.
        factor = 0.4 * np.sqrt(1.0 - (share**2).sum())
        expected.append(gaussian_kde(rows.T, factor, weights=w).logpdf(x.T))
    assert model.log_ratio(x) == pytest.approx(expected[0] - expected[1], abs=1e-9)


def test_objects_and_names_can_be_mixed():
    rng = np.random.default_rng(0)
    p, q = rng.normal(3.0, 2.0, (200, 2)), rng.normal(0.0, 0.5, (200, 2))
    named = fitted(PlugIn(), p, q).log_ratio(p)
    mixed = fitted(PlugIn(("gaussian", GaussianMixture(1, reg_covar=0.0))), p, q)
    assert mixed.log_ratio(p) == pytest.approx(named, rel=1e-9)
    both = fitted(PlugIn(KernelDensity(bandwidth=0.5)), p, q, np.r_[np.ones(200), np.full(200, 2)])
    assert np.isfinite(both.log_ratio(p)).all()
    with pytest.raises(ValueError, match="sample_weight"):
        fitted(PlugIn(GaussianMixture(1)), p, q, np.arange(1.0, 401.0))
    with pytest.warns(UserWarning, match="too few for the likelihood"):
        assert np.isfinite(fitted(PlugIn(), *two_normals(4, d=6)).log_ratio(np.eye(6))).all()


# ExponentialNCE


def binary(critic, d=3, n=200, l2=0.7):
    p, q = two_normals(n, d=d, gap=2.0)
    samples = TwoSamples.of(p, 1.5 * q[:150], np.linspace(0.5, 2.0, n))
    settings = Settings(None, critic=critic, anchor=None, maps=None)
    rows = prepare(samples, settings, critic, Seeds(0))
    return rows, Difference(rows.bind(critic)), l2


CRITICS = [Quadratic(), Quadratic(rank=2), Diagonal(), Sum([Quadratic(), Radial()])]


@pytest.mark.parametrize("critic", CRITICS, ids=str)
def test_the_difference_of_two_critics_is_the_binary_problem(critic):
    rows, difference, l2 = binary(critic)
    theta = 0.1 * np.random.default_rng(0).normal(size=difference.n_parameters)
    both = Objective(difference.critic, rows.blocks, l2).at(theta)
    one = Objective(difference, difference_blocks(rows), l2).at(theta)
    assert one.value == pytest.approx(both.value, rel=1e-12)
    assert one.gradient == pytest.approx(both.gradient, rel=1e-9, abs=1e-9)
    assert one.hessian_product(theta) == pytest.approx(both.hessian_product(theta), abs=1e-8)
    assert one.hessian() == pytest.approx(both.hessian(), abs=1e-8)


@pytest.mark.parametrize("critic", CRITICS, ids=str)
@pytest.mark.parametrize("log_scale", [0.0, -3.0])
def test_derivatives_of_the_exponential_loss(critic, log_scale):
    rows, difference, l2 = binary(critic)
    objective = ExponentialObjective(difference, difference_blocks(rows), l2, log_scale)
    rng = np.random.default_rng(0)
    theta, v = (0.1 * rng.normal(size=difference.n_parameters) for _ in range(2))
    point, step = objective.at(theta), 1e-5
    up, down = (objective.at(theta + s * step * v) for s in (1, -1))
    slope = (up.value - down.value) / (2 * step)
    # Central differences: the third derivative, of the size of the value, times step^2, and
    # rounding of the value over the step.
    assert slope == pytest.approx(point.gradient @ v, abs=1e-8 * point.value)
    curve = (up.gradient - down.gradient) / (2 * step)
    assert curve == pytest.approx(point.hessian_product(v), abs=1e-8 * point.value)
    assert point.hessian() @ v == pytest.approx(point.hessian_product(v), abs=1e-9 * point.value)
    scale = objective.total_weight * point.loss
    assert point.relative * scale == pytest.approx(point.gradient, abs=1e-9 * point.value)


def test_both_solvers_find_the_minimum():
    rows, difference, l2 = binary(Quadratic())
    objective = ExponentialObjective(difference, difference_blocks(rows), l2)
    start = np.zeros(difference.n_parameters)
    gentle = normalised_descent(objective, start, tol=1e-6)
    quick = newton_descent(objective, start, tol=1e-8)
    assert gentle.converged
    assert quick.converged
    assert gentle.value == pytest.approx(quick.value, rel=1e-8)
    assert quick.iterations < 20 < gentle.iterations
    assert gentle.gradient_norm <= 1e-6


def test_losses_beyond_any_float_have_a_direction():
    rows, difference, l2 = binary(Quadratic())
    objective = ExponentialObjective(difference, difference_blocks(rows), l2)
    for far in (1e8, 200.0):
        point = objective.at(np.full(difference.n_parameters, far))
        assert point.value == np.inf
        assert np.isfinite(point.relative).all()
    assert normalised_descent(objective, point.theta, step=5.0, max_iter=300).value < np.inf


@pytest.mark.parametrize("solver", ["ngd", "newton"])
def test_the_authors_task_is_solved_in_the_population(solver):
    # Means 16 apart: rows on a grid, weighted by the densities, are the population.
    x = np.linspace(-9.0, 25.0, 1201)[:, None]
    weight = np.concatenate([norm.pdf(x[:, 0], 16.0), norm.pdf(x[:, 0], 0.0)])
    nce = ExponentialNCE(l2=0.0, solver=solver).fit(*stack(x, x), sample_weight=weight)
    assert nce.converged_
    # The loss is e^-32; the ratio is right to the relative tolerance of the gradient, 1e-5,
    # times a condition number of some hundreds.
    assert nce.log_ratio(x) == pytest.approx(16.0 * x[:, 0] - 128.0, abs=1e-2)


def test_rows_that_can_be_separated_leave_no_minimum():
    p, q = two_normals(50, d=1, gap=30.0)
    with pytest.warns(ConvergenceWarning, match="raise"):
        nce = fitted(ExponentialNCE(l2=0.0, max_iter=200), p, q)
    assert not nce.converged_
    assert nce.n_iter_ == 200
    assert np.isfinite(nce.log_ratio(np.vstack([p, q]))).all()


def test_progress_is_printed(capsys):
    p, q = two_normals(50)
    for solver in ("ngd", "newton"):
        fitted(ExponentialNCE(solver=solver, verbose=1), p, q)
        assert "ExponentialNCE step" in capsys.readouterr().out


def test_penalties_are_told_apart_where_all_rows_are():
    problem = problems.load("table2/160")
    rng = np.random.default_rng(0)
    model = BDRE(random_state=0).fit(*stack(problem.sample_p(900, rng), problem.sample_q(900, rng)))
    scores = [trial.score for trial in model.selection_.trials]
    # More coefficients than rows: the weaker the penalty, the smaller every gradient. A solver
    # that stops where it starts has the score of the trial before, to the bit.
    assert len(scores) > 5 and len(set(scores)) == len(scores)

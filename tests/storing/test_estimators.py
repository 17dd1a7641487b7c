"""What every estimator promises of its file."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import isthmus
from isthmus import MDRE, ModelFileError, StackedMDRE, load, stack
from isthmus.auxiliaries import Samples
from isthmus.critics import MLP, FeatureCritic, Network, Quadratic, Sum

NEW = np.random.default_rng(1).normal(0.3, 2.0, (500, 2))


def test_log_ratios_are_equal_to_the_bit(fitted, tmp_path):
    found = load(fitted.save(tmp_path / "model.isthmus"))
    assert type(found) is type(fitted)
    assert np.array_equal(found.log_ratio(NEW), fitted.log_ratio(NEW))
    assert np.array_equal(found.predict_proba(NEW), fitted.predict_proba(NEW))
    for name in getattr(fitted, "class_names_", ()):
        assert np.array_equal(found.log_ratio(NEW, name, "q"), fitted.log_ratio(NEW, name, "q"))


def test_a_loaded_model_is_saved_again_as_the_same_bytes(fitted, tmp_path):
    first = fitted.save(tmp_path / "first.isthmus")
    second = load(first).save(tmp_path / "second.isthmus")
    assert members(first) == members(second)


def members(file):
    """All that isthmus itself writes; skops puts times and numbers of objects into its part."""
    with zipfile.ZipFile(file) as archive:
        by_skops = any(name.endswith(".skops") for name in archive.namelist())
        ours = [name for name in archive.namelist() if not name.endswith(".skops")]
        return {name: archive.read(name) for name in ours[by_skops:]}


def test_a_loaded_model_can_be_cloned_and_fitted(rows, tmp_path):
    mdre = MDRE(critic="quadratic", anchor="gaussian", random_state=0).fit(*rows)
    found = load(mdre.save(tmp_path / "model.isthmus"))
    again = clone(found).fit(*rows)
    assert np.array_equal(again.log_ratio(NEW), mdre.log_ratio(NEW))
    # And fitted where it is: nothing of the first fit is left over.
    found.set_params(critic=LogisticRegression()).fit(*rows)
    assert not hasattr(found, "solution_")


@pytest.mark.parametrize("name", ["mdre", "stack"])
def test_no_row_of_the_samples_is_in_the_file(name, tmp_path):
    rng = np.random.default_rng(7)
    X, y = stack(rng.normal(0.0, 1.0, (150, 3)), rng.normal(0.2, 1.0, (150, 3)))
    made = {
        "mdre": MDRE(auxiliaries=isthmus.auxiliaries.LinearMixing([0.5]), critic="quadratic"),
        "stack": StackedMDRE(candidates=[], folds=2),
    }[name]
    data = made.set_params(random_state=0).fit(X, y).save(tmp_path / "model.isthmus").read_bytes()
    found = [value for value in X.ravel() if np.float64(value).tobytes() in data]
    assert not found


def test_names_of_columns_and_labels_are_kept(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(100, 2)), columns=["b", "a"])
    y = np.array(["new", "old"])[(X["a"] > 0).astype(int)]
    mdre = MDRE(critic="quadratic", anchor="gaussian", random_state=0).fit(X, y)
    found = load(mdre.save(tmp_path / "model.isthmus"))
    assert found.feature_names_in_.tolist() == ["b", "a"]
    assert np.array_equal(found.log_ratio(X[["a", "b"]]), mdre.log_ratio(X))
    assert found.predict(X).tolist() == mdre.predict(X).tolist()


class TestWhatIsRefused:
    def test_an_estimator_that_is_not_fitted(self, tmp_path):
        with pytest.raises(NotFittedError):
            MDRE().save(tmp_path / "model.isthmus")

    def test_a_folder_that_does_not_exist(self, rows, tmp_path):
        mdre = MDRE(critic="quadratic", anchor="gaussian").fit(*rows)
        with pytest.raises(ValueError, match="folder that exists"):
            mdre.save(tmp_path / "nowhere" / "model.isthmus")

    def test_a_critic_of_a_users_own(self, rows, tmp_path):
        class Absolute(FeatureCritic):
            def basis(self, X):
                return [np.abs((X - f.centre) @ f.whiten) - 0.8 for f in self.frames_]

        mdre = MDRE(critic=Sum([Quadratic(), Absolute()]), anchor="gaussian", l2=1.0)
        mdre.set_params(random_state=0).fit(*rows)
        with pytest.raises(ModelFileError, match=r"critic.*Absolute.*does not hold"):
            mdre.save(tmp_path / "model.isthmus")
        assert not list(tmp_path.iterdir())

    def test_a_classifier_of_a_users_own(self, rows, tmp_path):
        class Constant(BaseEstimator):
            def fit(self, X, y, sample_weight=None):
                self.classes_ = np.unique(y)
                return self

            def predict_proba(self, X):
                return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

        mdre = MDRE(critic=Constant(), random_state=0).fit(*rows)
        with pytest.raises(ModelFileError, match=r"critic must be a part.*Constant"):
            mdre.save(tmp_path / "model.isthmus")

    def test_a_network_of_a_users_own(self, rows, tmp_path):
        torch = pytest.importorskip("torch")
        pytest.importorskip("safetensors")

        class Own(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(2, 3)

            def forward(self, x):
                return self.layer(x)

        mdre = MDRE(critic=Network(Own(), steps=5), auxiliaries="normal", random_state=0)
        mdre.fit(*rows)
        with pytest.raises(ModelFileError, match=r"module must be made of torch's linear layers"):
            mdre.save(tmp_path / "model.isthmus")

    def test_an_attribute_that_nobody_decided_about(self, rows, tmp_path):
        mdre = MDRE(critic="quadratic", anchor="gaussian").fit(*rows)
        mdre.newcomer_ = 1
        with pytest.raises(ModelFileError, match="newcomer_"):
            mdre.save(tmp_path / "model.isthmus")


class TestPartsOfOthers:
    @pytest.fixture(autouse=True)
    def _needs(self):
        pytest.importorskip("skops")

    @pytest.mark.parametrize("kind", ["forest", "boosted", "pipeline", "neighbours"])
    def test_classifiers_of_scikit_learn(self, kind, rows, tmp_path):
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        classifier = {
            "forest": RandomForestClassifier(5),
            "boosted": HistGradientBoostingClassifier(max_iter=5),
            "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
            "neighbours": KNeighborsClassifier(9),
        }[kind]
        X, y = rows
        if kind == "neighbours":
            # It takes no weights, which equal numbers of rows do without.
            mdre = MDRE(None, critic=classifier).fit(X, y)
        else:
            mdre = MDRE("normal", critic=classifier, random_state=0).fit(X, y)
        found = load(mdre.save(tmp_path / "model.isthmus"))
        assert np.array_equal(found.predict_log_proba(NEW), mdre.predict_log_proba(NEW))

    def test_anchors_of_scikit_learn(self, rows, tmp_path):
        from sklearn.mixture import GaussianMixture

        anchor = GaussianMixture(2, random_state=0)
        mdre = MDRE(anchor=anchor, critic="quadratic", l2=1.0, random_state=0).fit(*rows)
        found = load(mdre.save(tmp_path / "model.isthmus"))
        assert np.array_equal(found.log_ratio(NEW), mdre.log_ratio(NEW))

    def test_without_skops_the_sentence_says_what_to_install(self, rows, tmp_path, monkeypatch):
        mdre = MDRE(None, critic=LogisticRegression()).fit(*rows)
        monkeypatch.setitem(__import__("sys").modules, "skops.io", None)
        with pytest.raises(ModelFileError, match=r"must have skops.*pip install"):
            mdre.save(tmp_path / "model.isthmus")


def test_a_network_of_torchs_layers(rows, tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    nn = torch.nn
    module = nn.Sequential(nn.Linear(2, 4), nn.LeakyReLU(0.3), nn.Linear(4, 4), nn.PReLU())
    module = nn.Sequential(module, nn.Linear(4, 3, bias=False), nn.Softplus(beta=2))
    critics = {"given": Network(module, steps=5), "ours": MLP(width=4, depth=1, steps=5)}
    for critic in critics.values():
        mdre = MDRE(critic=critic, auxiliaries="normal", random_state=0).fit(*rows)
        file = mdre.save(tmp_path / "model.isthmus")
        assert any(name.endswith(".safetensors") for name in zipfile.ZipFile(file).namelist())
        before = torch.random.get_rng_state()
        found = load(file)
        assert torch.equal(before, torch.random.get_rng_state())
        assert np.array_equal(found.log_ratio(NEW), mdre.log_ratio(NEW))
        assert np.array_equal(found.log_ratio(NEW, "m1", "p"), mdre.log_ratio(NEW, "m1", "p"))


def test_an_auxiliary_given_as_rows_is_kept_without_them(rows, tmp_path):
    given = np.random.default_rng(2).normal(0.3, 1.5, (200, 2))
    mdre = MDRE([Samples(given)], critic="quadratic", l2=1.0, random_state=0).fit(*rows)
    file = mdre.save(tmp_path / "model.isthmus")
    assert given[0].tobytes() not in file.read_bytes()
    found = load(file)
    assert np.array_equal(found.log_ratio(NEW, "m1", "q"), mdre.log_ratio(NEW, "m1", "q"))

"""How much work a comparison does, and that reading its results changes nothing."""

from __future__ import annotations

import ast
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import isthmus
from isthmus import MDRE, compare, stack
from isthmus.data import sample as sample_module
from isthmus.data import validation
from isthmus.maps.coordinates import Coordinates

PACKAGE = Path(isthmus.__file__).parent


def normals(n: int = 400, d: int = 2):
    rng = np.random.default_rng(0)
    return rng.normal(0, 1, (n, d)), rng.normal(0.5, 1.2, (n, d))


@pytest.fixture
def counted(monkeypatch):
    """Counts of what is done to rows, and the number of rows that coordinates map."""
    counts: Counter[str] = Counter()
    mapped: list[int] = []

    def count(owner, name):
        real = getattr(owner, name)

        def wrapper(*args, **kwargs):
            counts[name] += 1
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, name, wrapper)

    count(validation, "as_rows")
    count(validation, "as_weight")
    count(sample_module, "stacked")
    real = Coordinates.__call__
    monkeypatch.setattr(
        Coordinates, "__call__", lambda self, X: (mapped.append(len(X)), real(self, X))[1]
    )
    return counts, mapped


SETTINGS = {
    "anchors alone": {"l2": np.inf},
    "a critic": {"l2": 5.0},
    "a learned auxiliary": {"l2": 5.0, "auxiliaries": "linear"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_comparison_checks_its_rows_once_and_stacks_nothing(counted, name):
    counts, _ = counted
    given = {"critic": "quadratic", "anchor": "gaussian", "maps": None, "auxiliaries": "bridge"}
    p, q = normals()
    c = compare(p, q, estimator=MDRE(**{**given, **SETTINGS[name]}), folds=4, random_state=0)
    assert counts["as_rows"] == 2 and counts["as_weight"] == 2  # p and q, at the door
    assert counts["stacked"] == 0
    c.kl, c.divergence("js"), c.kl_lower_bound()
    assert counts["as_rows"] == 2


def test_the_default_comparison_checks_its_rows_once(counted):
    counts, _ = counted
    compare(*normals(), random_state=0)
    assert counts["as_rows"] == 2 and counts["stacked"] == 0


@pytest.mark.parametrize("name", SETTINGS)
def test_a_fit_maps_p_and_q_once(counted, name):
    _, mapped = counted
    p, q = normals(400)[0], normals(300)[1]
    given = {"critic": "quadratic", "anchor": "gaussian", "maps": None, "auxiliaries": "bridge"}
    model = MDRE(**{**given, **SETTINGS[name]}, random_state=0).fit(*stack(p, q))
    # A learned auxiliary has as many rows as the larger sample.
    learned = len(model.auxiliaries_) if name == "a learned auxiliary" else 0
    assert mapped.count(400) == 1 + learned
    assert mapped.count(300) == 1


def test_reading_results_changes_no_pickle():
    c = compare(*normals(), estimator=MDRE(critic="quadratic", l2=2.0), folds=3, random_state=0)
    before, model = pickle.dumps(c), pickle.dumps(c.estimator)
    c.kl, c.divergence("js"), c.diagnostics, c.trusted, c.weights(), c.lower_bound()
    c.log_ratio([[0.0, 0.0]], return_std=True)
    c.estimator.objective_, c.estimator.critic_  # noqa: B018
    assert pickle.dumps(c) == before
    assert pickle.dumps(c.estimator) == model
    again = pickle.loads(before)
    assert again.kl == c.kl
    assert {k: v.value for k, v in again.diagnostics.items()} == pytest.approx(
        {k: v.value for k, v in c.diagnostics.items()}, nan_ok=True
    )


@pytest.mark.parametrize("auxiliaries", ["bridge", "linear"])
def test_the_model_holds_no_rows(auxiliaries):
    given = {"critic": "quadratic", "anchor": "gaussian", "maps": None, "l2": 2.0}
    sizes = []
    for n in (300, 3000):
        model = MDRE(auxiliaries, **given, random_state=0).fit(*stack(*normals(n))).model_
        sizes.append(len(pickle.dumps(model)))
    assert sizes[1] < sizes[0] + 200  # ten times the rows: a few digits more, no row


def test_a_refit_keeps_nothing_of_the_fit_before():
    from sklearn.linear_model import LogisticRegression

    X, y = stack(*normals())
    once = MDRE(critic="quadratic", l2=2.0, random_state=0).fit(X, y)
    once.set_params(critic=LogisticRegression()).fit(X, y)
    fresh = MDRE(critic=LogisticRegression(), l2=2.0, random_state=0).fit(X, y)
    assert set(vars(once)) == set(vars(fresh))


def test_few_modules_stand_in_the_hall():
    assert len(list(PACKAGE.glob("*.py"))) < 15


def test_files_are_short():
    long = {
        str(path.relative_to(PACKAGE)): lines
        for path in PACKAGE.rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert not long


def test_nothing_inside_imports_a_private_name():
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                module = node.module or ""
                names = [alias.name for alias in node.names]
                private = [n for n in (*module.split("."), *names) if n.startswith("_")]
                if set(private) - {"_version", "__version__"}:
                    found.append(f"{path.relative_to(PACKAGE)}: {private}")
    assert not found

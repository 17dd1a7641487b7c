"""Fitted parts of scikit-learn, by skops: no code is run that is not in the lists of types here.

A classifier as a critic may be any of scikit-learn's. skops reads the public estimators of
scikit-learn, NumPy's and SciPy's types, and what is listed here; whatever else a file names is
refused before anything of it is made.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .container import ModelFileError, unzipped

TRUSTED = (
    "functools.partial",
    "sklearn._loss.link.HalfLogitLink",
    "sklearn._loss.link.Interval",
    "sklearn._loss.link.LogitLink",
    "sklearn._loss.link.MultinomialLogit",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn._loss.loss.HalfMultinomialLoss",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.metrics._dist_metrics.MinkowskiDistance64",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
    "sklearn.utils.validation.check_array",
)
"""Types beyond those that skops trusts by itself, all of them scikit-learn's own parts."""


def scikit_bytes(estimator: Any, where: str) -> bytes:
    """An estimator of scikit-learn in skops's form."""
    skops = _skops(f"{where} is a {type(estimator).__name__} of scikit-learn, which")
    try:
        data = bytes(skops.dumps(estimator))
        unknown = set(skops.get_untrusted_types(data=data)) - set(TRUSTED)
    except Exception as error:
        # What skops cannot write it refuses with many kinds of errors.
        raise ModelFileError(
            f"{where} must be a part of scikit-learn that skops can write; received a "
            f"{type(estimator).__name__} ({type(error).__name__})."
        ) from None
    if unknown:
        raise ModelFileError(
            f"{where} must be made of parts of scikit-learn to be saved; received a "
            f"{type(estimator).__name__} that holds {sorted(unknown)[0]}."
        )
    return data


def scikit_from(data: bytes, name: str) -> Any:
    """The estimator, if nothing in it is of another type."""
    skops = _skops(f"the file's member {name}")
    # Members of its zip are held to what members of a model's file are.
    unzipped(data)
    try:
        unknown = set(skops.get_untrusted_types(data=data)) - set(TRUSTED)
        if not unknown:
            with warnings.catch_warnings():
                # Another version of scikit-learn: the log-ratios are compared after loading.
                warnings.simplefilter("ignore")
                found = skops.loads(data, trusted=list(TRUSTED))
    except Exception as error:
        raise ModelFileError(
            f"its member {name} cannot be read as a part of scikit-learn ({type(error).__name__})."
        ) from None
    if unknown:
        raise ModelFileError(
            f"its member {name} holds {sorted(unknown)[0][:80]}, which is not among the trusted "
            "types; nothing of it was made."
        )
    if not isinstance(found, BaseEstimator):
        raise ModelFileError(f"its member {name} is not an estimator of scikit-learn.")
    _check_trees(found, name, set())
    return found


def _skops(who: str) -> Any:
    try:
        import skops.io
    except ImportError:
        raise ModelFileError(
            f"{who} must have skops to be written and read; it is not installed. Install it with: "
            "pip install 'isthmus[files]'"
        ) from None
    return skops.io


def _check_trees(value: Any, name: str, seen: set[int]) -> None:
    """Refuse trees with nodes that point outside of them, which compiled code would follow."""
    if id(value) in seen:
        return
    seen.add(id(value))
    kind = type(value)
    if kind.__name__ == "Tree" and kind.__module__.startswith("sklearn.tree"):
        left, right = value.children_left, value.children_right
        _check_nodes(left < 0, left, right, value.feature, value.n_features, name)
    elif kind.__name__ == "TreePredictor":
        nodes = value.nodes
        leaf = nodes["is_leaf"].astype(bool)
        _check_nodes(leaf, nodes["left"], nodes["right"], nodes["feature_idx"], 2**31, name)
        sets = len(value.raw_left_cat_bitsets)
        by_set = nodes["is_categorical"].astype(bool) & ~leaf
        if (nodes["bitset_idx"][by_set] >= sets).any():
            raise _outside(name)
    elif kind.__name__ in ("KDTree", "BallTree"):
        data, order, nodes, _ = map(np.asarray, value.get_arrays())
        places = (order, nodes["idx_start"], nodes["idx_end"] - 1)
        if any(((one < 0) | (one >= len(data))).any() for one in places):
            raise _outside(name)
    elif isinstance(value, list | tuple):
        for one in value:
            _check_trees(one, name, seen)
    elif isinstance(value, dict):
        for one in value.values():
            _check_trees(one, name, seen)
    elif isinstance(value, np.ndarray):
        if value.dtype == object:
            for one in value.ravel():
                _check_trees(one, name, seen)
    elif kind.__module__.startswith("sklearn.") and hasattr(value, "__dict__"):
        _check_trees(vars(value), name, seen)


def _check_nodes(leaf: Any, left: Any, right: Any, feature: Any, columns: int, name: str) -> None:
    place = np.arange(len(leaf))
    down = [(place < child) & (child < len(leaf)) for child in (left, right)]
    sound = down[0] & down[1] & (feature >= 0) & (feature < columns)
    if not len(leaf) or not sound[~leaf].all():
        raise _outside(name)


def _outside(name: str) -> ModelFileError:
    return ModelFileError(f"its member {name} has trees with nodes that point outside of them.")

"""Files of models: a zip of JSON and arrays that is read without running anything in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..drifting.reference import Reference
from ..estimator import RatioEstimator
from ..files import check_target
from ..typing import Array
from .comparison import SavedComparison
from .container import ModelFileError, from_json, read_members, to_json, write_members
from .values import Reader, Writer

__all__ = ["ModelFileError", "SavedComparison", "load", "save"]

_MODEL = "model.json"
# Of rows for the trial after loading, where nothing is known of the data.
_ROWS = 8
# Sums of another machine differ in their last digits; anything more is another model.
_SAME = 1e-7


def save(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted estimator, a comparison or a reference of drift to a file.

    ``estimator.save(path)``, ``comparison.save(path)`` and ``reference.save(path)`` call it.

    Parameters
    ----------
    model : estimator, SavedComparison or Reference
    path : str or path
        Where to write; an old file is replaced once the new one is whole.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, isthmus
    >>> from isthmus.storing import save
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 300), rng.normal(1, 1, 300))
    >>> mdre = isthmus.MDRE(critic="quadratic", random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = isthmus.load(save(mdre, pathlib.Path(folder, "model.isthmus")))
    >>> bool(np.all(again.log_ratio(X) == mdre.log_ratio(X)))
    True
    """
    check_target(path)
    writer = Writer()
    if isinstance(model, Reference):
        content = {"value": writer.value(model, ""), **writer.tables()}
        return write_members(path, {_MODEL: to_json(content), **writer.members})
    if isinstance(model, SavedComparison):
        probe = model.probe
    elif isinstance(model, RatioEstimator):
        check_is_fitted(model)
        probe = np.random.default_rng(0).normal(size=(_ROWS, model.n_features_in_))
    else:
        raise ModelFileError(
            "model must be an estimator of isthmus, a comparison or a reference; received a "
            f"{type(model).__name__}."
        )
    value = writer.value(model, "")
    trial = {"rows": writer.value(probe, "probe")}
    trial["log_ratio"] = writer.value(_log_ratio(model, probe), "probe")
    content = {"value": value, "trial": trial, **writer.tables()}
    return write_members(path, {_MODEL: to_json(content), **writer.members})


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model from a file that ``save`` has written; nothing in the file is executed.

    Parameters
    ----------
    path : str or path
        A file of ``comparison.save``, ``estimator.save`` or ``reference.save``.

    Returns
    -------
    SavedComparison, estimator or Reference
        Its log-ratios are the same to the bit as before it was saved, with the same versions of
        NumPy and scikit-learn on the same machine. It holds no rows of the fit: uncertainties that
        need them are not there.

    Raises
    ------
    ModelFileError
        A ``ValueError``: the file is cut off, changed, of a newer version, or no file of a model.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> c = isthmus.compare(rng.normal(0, 1, 300), rng.normal(1, 1, 300), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = c.save(pathlib.Path(folder, "model.isthmus"))
    ...     again = isthmus.load(file)
    >>> again.trusted, bool(np.all(again.log_ratio([0.0, 2.0]) == c.log_ratio([0.0, 2.0])))
    (True, True)
    """
    members = read_members(path)
    try:
        return _model(members)
    except ModelFileError as error:
        raise ModelFileError(f"{Path(path)}: {error}") from None


def _model(members: dict[str, bytes]) -> Any:
    if _MODEL not in members:
        raise ModelFileError(f"its member {_MODEL} is missing.")
    content = from_json(members[_MODEL], _MODEL)
    if not isinstance(content, dict):
        raise ModelFileError(f"its {_MODEL} is not as this version writes it.")
    try:
        reader = Reader(content, members)
        model = reader.value(content.get("value"))
        if isinstance(model, Reference):
            return model
        trial: Any = content.get("trial")
        probe, wanted = (reader.value(trial[name]) for name in ("rows", "log_ratio"))
    except RecursionError:
        raise ModelFileError(f"its {_MODEL} is nested too deeply.") from None
    except (TypeError, KeyError):
        raise ModelFileError(f"its {_MODEL} is not as this version writes it.") from None
    if not isinstance(model, SavedComparison | RatioEstimator):
        raise ModelFileError("it holds no estimator, no comparison and no reference.")
    try:
        found = _log_ratio(model, probe)
        same = np.allclose(found, wanted, rtol=_SAME, atol=_SAME, equal_nan=True)
    except ModelFileError:
        raise
    except Exception as error:
        # Parts that do not fit together fail in as many ways as there are parts.
        raise ModelFileError(
            f"its parts do not make a model that gives log-ratios ({type(error).__name__})."
        ) from None
    if not same:
        raise ModelFileError(
            "its model gives other log-ratios here than when it was saved, which another version "
            "of scikit-learn or torch can cause. Load it with the versions that it was saved "
            "with, or fit it again."
        )
    return model


def _log_ratio(model: Any, probe: Array) -> Array:
    """Log-ratios of the trial, by the estimator that scores."""
    estimator = model.estimator if isinstance(model, SavedComparison) else model
    return np.asarray(estimator.log_ratio_at(np.asarray(probe, dtype=np.float64)))

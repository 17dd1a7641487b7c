"""Any scikit-learn classifier as the critic."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..auxiliaries import DimensionWiseMixing, fit_auxiliary, is_known, resolve_auxiliaries
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..settings import Settings, is_auto
from ..typing import Array
from .classes import CriticModel
from .offsets import class_names
from .priors import class_prior, draw_count

_LEAST = 1e-12


def is_classifier(critic: Any) -> bool:
    """Whether a critic is a probabilistic classifier rather than one of ours."""
    return all(callable(getattr(critic, name, None)) for name in ("predict_proba", "fit"))


@dataclass(frozen=True)
class ClassifierModel(CriticModel):
    """A classifier trained to tell the classes apart; h_c(x) = log P(c | x) - log pi_c.

    There are no coordinates, anchors or penalty: the classifier sees the rows as
    they are, missing values included where it can take them.

    Attributes
    ----------
    classifier : classifier
        The fitted one.
    log_prior : ndarray of shape (K + 2,)
    fitted_auxiliaries : tuple
    """

    classifier: Any
    log_prior: Array
    fitted_auxiliaries: tuple[Any, ...]

    @property
    def class_names(self) -> list[str]:
        """Names of the classes."""
        return class_names(self.fitted_auxiliaries)

    @property
    def auxiliaries(self) -> Sequence[Any]:
        """One for each class beyond p and q."""
        return self.fitted_auxiliaries

    def critics(self, X: Array) -> Array:
        """h_c at the rows of X for all classes, shape (n, K + 2)."""
        probability = np.maximum(self.classifier.predict_proba(X), _LEAST)
        return np.asarray(np.log(probability) - self.log_prior)


def fit_classifier(
    classifier: Any, samples: TwoSamples, settings: Settings, seeds: Seeds
) -> tuple[ClassifierModel, list[Any]]:
    """Train a copy of a classifier on p, q and auxiliaries; returns these fitted, too."""
    spec = settings.auxiliaries
    if is_auto(spec) and not all(np.isfinite(sample.rows).all() for sample in samples):
        # No density is known for rows with missing values; rows of both can be mixed.
        spec = DimensionWiseMixing() if samples.n_columns > 1 else None
    auxiliaries = [
        fit_auxiliary(one, samples)
        for one in resolve_auxiliaries(spec, samples.n_columns, samples.names)
    ]
    names = class_names(auxiliaries)
    classes, sizes = list(samples), [sample.size for sample in samples]
    for name, auxiliary in zip(names[2:], auxiliaries, strict=True):
        count = draw_count(sizes, samples.n_columns, 1.0 if is_known(auxiliary) else None)
        count = getattr(auxiliary, "n_samples", count)
        classes.append(Sample.of(np.asarray(auxiliary.sample(count, seeds(name)))))
    counts = np.array([sample.weight.sum() for sample in classes])
    prior = class_prior(settings.prior, counts, names)
    share = prior * counts.sum() / counts
    label = np.repeat(np.arange(len(classes)), [len(sample) for sample in classes])
    weight = np.concatenate([s * one.weight for s, one in zip(share, classes, strict=True)])
    copy = seeded_classifier(classifier, seeds)
    given = {}
    if "sample_weight" not in inspect.signature(copy.fit).parameters:
        if any(np.ptp(sample.weight) > 0 for sample in samples):
            raise ValueError(
                f"critic must take sample_weight where rows have weights; received a "
                f"{type(classifier).__name__}, whose fit does not."
            )
        # Without weights the classes count as often as they have rows.
        prior = np.bincount(label) / len(label)
    elif np.ptp(weight) > 1e-9 * weight.max():
        # Equal weights say nothing, and cost boosted trees dearly.
        given["sample_weight"] = weight
    copy.fit(np.concatenate([sample.rows for sample in classes]), label, **given)
    kept = tuple(one if is_known(one) else clone(one, safe=False) for one in auxiliaries)
    return ClassifierModel(copy, np.log(prior), kept), auxiliaries


def seeded_classifier(classifier: Any, seeds: Seeds) -> Any:
    """A copy in which every ``random_state`` that is None has a seed."""
    copy = clone(classifier)
    for name, value in classifier.get_params().items():
        if name.split("__")[-1] == "random_state" and value is None:
            copy.set_params(**{name: int(seeds(f"classifier {name}").integers(2**31))})
    return copy

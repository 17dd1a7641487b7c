"""Any scikit-learn classifier as the critic."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import clone

from .._affine import represented
from .._parts import class_prior, draw_count
from .._random import Seeds
from .._typing import Array
from ..auxiliaries import DimensionWiseMixing, fit_auxiliary, is_known, resolve_auxiliaries

_LEAST = 1e-12


def is_classifier(critic: Any) -> bool:
    """Whether a critic is a probabilistic classifier rather than one of ours."""
    return callable(getattr(critic, "predict_proba", None)) and callable(
        getattr(critic, "fit", None)
    )


class ClassifierSetup:
    """A classifier trained to tell the classes apart; h_c(x) = log P(c | x) - log pi_c.

    There are no coordinates, anchors or penalty: the classifier sees the rows as
    they are, missing values included where it can take them.

    Parameters
    ----------
    classifier : scikit-learn classifier
        Copied, not changed.
    p, q, weights, settings, seeds, names
        As in :class:`~isthmus._setup.Setup`.
    """

    def __init__(
        self,
        classifier: Any,
        p: Array,
        q: Array,
        weights: tuple[Array | None, Array | None],
        settings: Any,
        seeds: Seeds,
        names: Any = None,
    ) -> None:
        spec = settings["auxiliaries"]
        if (
            isinstance(spec, str)
            and spec == "auto"
            and not (np.isfinite(p).all() and np.isfinite(q).all())
        ):
            # No density is known for rows with missing values; rows of both can be mixed.
            spec = DimensionWiseMixing() if p.shape[1] > 1 else None
        self.auxiliaries = [
            fit_auxiliary(one, p, q, *weights)
            for one in resolve_auxiliaries(spec, p.shape[1], names)
        ]
        self.class_names = ["p", "q", *(f"m{k + 1}" for k in range(len(self.auxiliaries)))]
        rows = [p, q]
        mass = [np.ones(len(x)) if w is None else w for x, w in zip(rows, weights, strict=True)]
        sizes = [represented(weight) for weight in mass]
        for name, auxiliary in zip(self.class_names[2:], self.auxiliaries, strict=True):
            oversample = 1.0 if is_known(auxiliary) else None
            count = getattr(auxiliary, "n_samples", draw_count(sizes, p.shape[1], oversample))
            rows.append(np.asarray(auxiliary.sample(count, seeds(name))))
            mass.append(np.ones(len(rows[-1])))
        counts = np.array([weight.sum() for weight in mass])
        self.prior = class_prior(settings["prior"], counts, self.class_names)
        share = self.prior * counts.sum() / counts
        label = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
        self.classifier = clone(classifier)
        for name, value in classifier.get_params().items():
            if name.split("__")[-1] == "random_state" and value is None:
                self.classifier.set_params(
                    **{name: int(seeds(f"classifier {name}").integers(2**31))}
                )
        weight = np.concatenate([s * w for s, w in zip(share, mass, strict=True)])
        given = {}
        if "sample_weight" not in inspect.signature(self.classifier.fit).parameters:
            if any(w is not None and np.ptp(w) > 0 for w in weights):
                raise ValueError(
                    f"critic must take sample_weight where rows have weights; received a "
                    f"{type(classifier).__name__}, whose fit does not."
                )
            # Without weights the classes count as often as they have rows.
            self.prior = np.bincount(label) / len(label)
        elif np.ptp(weight) > 1e-9 * weight.max():
            # Equal weights say nothing, and cost boosted trees dearly.
            given["sample_weight"] = weight
        self.classifier.fit(np.concatenate(rows), label, **given)

    def critics(self, X: Array) -> Array:
        """h_c at the rows of X for all classes, shape (n, K + 2)."""
        probability = np.maximum(self.classifier.predict_proba(X), _LEAST)
        return np.asarray(np.log(probability) - np.log(self.prior))

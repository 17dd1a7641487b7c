"""What a linear classifier finds in an embedding."""

from __future__ import annotations

import warnings

import numpy as np

from ..typing import Array


def linear_probe(
    train: Array,
    train_labels: np.ndarray,
    test: Array,
    test_labels: np.ndarray,
    *,
    C: float = 1.0,
    max_iter: int = 200,
) -> Array:
    """Share of test rows whose label multinomial logistic regression tells, label by label.

    van den Oord, Li & Vinyals, "Representation Learning with Contrastive Predictive Coding",
    2018: the embedding is frozen, and one classifier for each label sees all of it.

    Parameters
    ----------
    train : ndarray of shape (n, size)
        Embeddings to fit to.
    train_labels : ndarray of int of shape (n, d)
        Labels, such as the characters in the d cells.
    test : ndarray of shape (m, size)
    test_labels : ndarray of int of shape (m, d)
    C, max_iter
        Of scikit-learn's ``LogisticRegression``. Columns are standardised.

    Returns
    -------
    ndarray of shape (d,)

    Examples
    --------
    >>> import numpy as np
    >>> label = np.arange(60)[:, None] % 3
    >>> linear_probe(np.eye(3)[label[:, 0]], label, np.eye(3)[label[:, 0]], label)
    array([1.])
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    logistic = MultiOutputClassifier(LogisticRegression(C=C, max_iter=max_iter))
    model = make_pipeline(StandardScaler(), logistic)
    with warnings.catch_warnings():
        # Where all is told rightly, further steps change nothing that is measured.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train, train_labels)
    return np.asarray((model.predict(test) == test_labels).mean(axis=0))

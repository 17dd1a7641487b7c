"""What a linear classifier finds in an embedding."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve

from ..data.validation import check_number
from ..typing import Array


def linear_probe(
    train: Array,
    train_labels: np.ndarray,
    test: Array,
    test_labels: np.ndarray,
    *,
    ridge: float = 1e-3,
) -> Array:
    """Share of test rows whose label a linear classifier tells, label by label.

    van den Oord, Li & Vinyals, "Representation Learning with Contrastive Predictive Coding",
    2018: the embedding is frozen, and one classifier for each label sees all of it. Here it is
    the linear discriminant (Fisher, 1936), which is solved at once: the rows are gone through
    once for all labels, so that many rows and many labels can be afforded.

    Parameters
    ----------
    train : ndarray of shape (n, size)
        Embeddings to fit to.
    train_labels : ndarray of int of shape (n, d)
        Labels, such as the characters in the d cells.
    test : ndarray of shape (m, size)
    test_labels : ndarray of int of shape (m, d)
    ridge : float
        What is added to the variance of every column within a class; columns are standardised.

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
    check_number(ridge, "ridge", low=0, open_low=True)
    centre, scale = train.mean(axis=0), train.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    rows, others = (train - centre) / scale, (test - centre) / scale
    total = rows.T @ rows / len(rows)
    out = []
    for own, true in zip(train_labels.T, test_labels.T, strict=True):
        labels, at, counts = np.unique(own, return_inverse=True, return_counts=True)
        sums = np.zeros((len(labels), rows.shape[1]))
        np.add.at(sums, at, rows)
        means, share = sums / counts[:, None], counts / len(rows)
        # What varies within a class is all that varies less what varies between them.
        within = total - (means.T * share) @ means
        within[np.diag_indices_from(within)] += ridge
        weight = solve(within, means.T, assume_a="pos")
        scores = others @ weight - 0.5 * np.sum(means.T * weight, axis=0) + np.log(share)
        out.append(np.mean(labels[scores.argmax(axis=1)] == true))
    return np.array(out)

"""One solver on one data set, in a process of its own: the worker of ``speed.py``.

Takes a job as JSON in its only argument and prints what it found as JSON. Only
what the solver itself needs is imported before the memory of its data is read.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
from _record import memory

EXACT = 1e-10


def features(rows: np.ndarray, scaling: str, own: int) -> np.ndarray:
    """Standardised columns x_i and x_i x_j (i <= j), made in place.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    scaling : {"all", "p and q"}
        Which rows give every column mean zero and unit variance: all, or the
        first ``own``, which are those of p and q.
    """
    n, d = rows.shape
    out = np.empty((n, d + d * (d + 1) // 2))
    out[:, :d] = rows
    begin = d
    for i in range(d):
        end = begin + d - i
        np.multiply(rows[:, i : i + 1], rows[:, i:], out=out[:, begin:end])
        begin = end
    some = out if scaling == "all" else out[:own]
    out -= some.mean(axis=0)
    out /= np.sqrt(np.einsum("ij,ij->j", some, some) / len(some))
    return out


def gradient_norm(probability: np.ndarray, label: np.ndarray, F: np.ndarray) -> float:
    """Largest component of the gradient of the mean loss, by coefficients of F and intercepts."""
    residual = probability.copy()
    residual[np.arange(len(label)), label] -= 1.0
    return float(max(np.abs(residual.T @ F).max(), np.abs(residual.sum(axis=0)).max()) / len(label))


def stopwatch(repeats: int, fit: Any) -> tuple[Any, list[float], list[float]]:
    """Run a fit several times; return its last result, wall seconds and CPU seconds."""
    wall, cpu = [], []
    for _ in range(repeats):
        start, start_cpu = time.perf_counter(), time.process_time()
        result = fit()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
    return result, wall, cpu


def run_isthmus(job: dict, parts: list[np.ndarray]) -> dict:
    from isthmus import MDRE, stack

    p, q, *auxiliaries = parts
    own = len(p) + len(q)
    X, y = stack(p, q)
    del p, q, parts[:2]
    base, _ = memory()

    def fit(tol: float) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the record says whether it converged
            return MDRE(auxiliaries, tol=tol, **job["settings"]).fit(X, y)

    tol = job["tol"]
    while True:
        model, wall, cpu = stopwatch(job["repeats"], partial(fit, tol))
        found = {
            "tol": tol,
            "seconds": wall,
            "cpu_seconds": cpu,
            "iterations": model.n_iter_,
            "converged": model.solution_.converged,
            "status": model.solution_.status,
            "own_gradient": model.solution_.gradient_norm,
            "n_parameters": model.objective_.n_parameters,
            "base_mb": base,
            "peak_mb": memory()[1],
            "gradient": {},
        }
        rows = np.concatenate([X[y == 1], X[y == 0], *auxiliaries])
        sizes = [(y == 1).sum(), (y == 0).sum(), *map(len, auxiliaries)]
        label = np.repeat(np.arange(len(sizes)), sizes)
        for scaling in job["scalings"]:
            F = features(rows, scaling, own)
            found["gradient"][scaling] = gradient_norm(model.predict_proba(rows), label, F)
        worst = max(found["gradient"].values(), default=0.0)
        if worst <= job["goal"] or tol < 1e-2 * job["goal"] or not model.solution_.converged:
            break
        tol /= 3.0  # our coordinates and scikit-learn's differ: go on until both agree
    np.save(job["out"], model.log_ratio(rows[:own]))
    if job["scalings"]:
        np.save(job["exact"], fit(EXACT).log_ratio(rows[:own]))
    return found


def run_sklearn(job: dict, parts: list[np.ndarray]) -> dict:
    import scipy.optimize
    from sklearn.linear_model import LogisticRegression

    (scaling,) = job["scalings"]
    own = len(parts[0]) + len(parts[1])
    label = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    rows = np.concatenate(parts)
    parts.clear()
    base, _ = memory()
    start = time.perf_counter()
    F = features(rows, scaling, own)
    feature_seconds = time.perf_counter() - start

    plain_minimize, capped = scipy.optimize.minimize, False

    def fit() -> Any:
        end = time.perf_counter() + job["cap"]

        def stop_when_late(intermediate_result: Any) -> None:
            nonlocal capped
            if time.perf_counter() > end:
                capped = True
                raise StopIteration

        def minimize(*args: Any, **kwargs: Any) -> Any:
            return plain_minimize(*args, **{**kwargs, "callback": stop_when_late})

        model = LogisticRegression(
            C=np.inf, solver="lbfgs", tol=job["tol"], max_iter=job["max_iter"]
        )
        with mock.patch("scipy.optimize.minimize", minimize), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(F, label)

    model, wall, cpu = stopwatch(job["repeats"], fit)
    found = {
        "tol": job["tol"],
        "seconds": wall,
        "cpu_seconds": cpu,
        "feature_seconds": feature_seconds,
        "iterations": int(np.max(model.n_iter_)),
        "capped": capped,
        "n_parameters": model.coef_.size + model.intercept_.size,
        "base_mb": base,
        "peak_mb": memory()[1],
    }
    found["gradient"] = {scaling: gradient_norm(model.predict_proba(F), label, F)}
    logits = model.decision_function(F[:own])
    np.save(job["out"], logits[:, 0] - logits[:, 1])
    return found


def main() -> None:
    job = json.loads(sys.argv[1])
    with np.load(job["data"]) as data:
        parts = [data[name] for name in data.files]
    run = {"isthmus": run_isthmus, "scikit-learn": run_sklearn}[job["solver"]]
    print(json.dumps(run(job, parts)))


if __name__ == "__main__":
    main()

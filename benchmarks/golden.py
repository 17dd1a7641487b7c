"""Every answer as it was: numbers and texts of some forty small runs, to be found again.

    python benchmarks/golden.py [--only NAME ...] [--tolerance 1e-8] [--jobs 2]
    python benchmarks/golden.py --write [--jobs 2]

A refactoring changes no answer. --write computes all cases and keeps what they found in
records/golden.json; without it they are computed again and compared with that file, number by
number and text by text. The exit status is 1 if a number differs by more than the tolerance,
relative to its size or to 0.01 where it is smaller, or if a text differs, is new or is
missing. What is not finite is a text.

Only the public interface is used. The code is whatever `import isthmus` finds: to ask another tree,
set PYTHONPATH to its src. Linear algebra has one thread, and each case is a function of nothing
but its name, so that the order and the number of jobs do not matter. With other versions of
NumPy, SciPy, scikit-learn or torch, or on another kind of processor, numbers may move.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from _record import RECORDS, Run, console, limit_threads, options, progress, table, versions
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# All that is imported from isthmus, in one place: where a name moves, this is what to change.
import isthmus
from isthmus import MDRE, compare, mi_matrix, mi_scores, mutual_information, two_sample_test
from isthmus.anchors import MixtureAnchor, Pooled
from isthmus.auxiliaries import Cauchy, LinearMixing
from isthmus.baselines import BDRE, KLIEP, TRE, ULSIF, DREInfinity, PlugIn
from isthmus.critics import MLP, Bumps, Quadratic
from isthmus.diagnostics import rank_columns
from isthmus.problems import load
from isthmus.uncertainty import bootstrap, laplace

GOLDEN = RECORDS / "golden.json"
TOLERANCE = 1e-8
SMALL = 0.01
"""Below this size differences are absolute: the tolerance times this."""
SHOWN = 5
"""Rows of an array that are kept, and differences of a case that are shown."""
UNSTEADY = (
    "auto/table3/row1",
    "auto/hard/gamma",
    "auto/hard/ring",
    "auto/hard/zero-inflated",
    "tables/indicator",
    "tables/drop",
    "mlp",
    "bayes/bootstrap",
)
"""Cases that other kernels of the same libraries move by more than the tolerance: iterations that
stop at a threshold. Code that rounds differently may do so as well; equal code does not."""
QUICK = ("few rows", "baseline/plug-in", "mi/labels")

Found = dict[str, Any]
CASES: dict[str, Callable[[], Found]] = {}


# What is kept of an answer.


def estimate(e: Any) -> Found:
    """A number with its interval."""
    return {"value": e.value, "std_error": e.std_error, "low": e.low, "high": e.high}


def array(x: Any) -> Found:
    """The first values of an array, and sums that all of its values have a part in."""
    x = np.asarray(x, dtype=float)
    return {
        "shape": list(x.shape),
        "first": x.ravel()[:SHOWN],
        "mean": x.mean(),
        "square": (x**2).mean(),
        "low": x.min(),
        "high": x.max(),
    }


def settings(chosen: dict[str, Any]) -> Found:
    """Parameters: numbers as they are, everything else as text on one line."""
    return {
        name: value if isinstance(value, (int, float)) else " ".join(repr(value).split())
        for name, value in chosen.items()
    }


def trials(selection: Any) -> Found:
    """How settings were chosen."""
    return {
        "rule": selection.rule,
        "reasons": list(selection.reasons),
        "trials": [
            {"stage": t.stage, "name": t.name, "score": t.score, "gain": t.gain, "chosen": t.chosen}
            for t in selection.trials
        ],
        "by_anchor": list(selection.by_anchor),
    }


def answers(c: Any, new: Any) -> Found:
    """All that a comparison says, and its log-ratio at new rows."""
    model = c.estimator
    found = {
        "kl": estimate(c.kl),
        **{name: estimate(c.divergence(name)) for name in ("js", "reverse-kl", "hellinger")},
        "lower_bound": c.lower_bound(),
        "kl_lower_bound": c.kl_lower_bound().low,
        "log_ratio_p": array(c.log_ratio_p),
        "log_ratio_q": array(c.log_ratio_q),
        "weights": array(c.weights(normalise=True)),
        "new": array(c.log_ratio(new)),
        "checks": {
            name: {"verdict": check.verdict, "value": check.value}
            for name, check in c.diagnostics.items()
        },
        "trusted": c.trusted,
    }
    if hasattr(model, "best_params_"):
        found["best_params"] = settings(model.best_params_)
    if hasattr(model, "selection_"):
        found["selection"] = trials(model.selection_)
    for name in ("l2_", "n_iter_"):
        if hasattr(model, name):
            found[name] = getattr(model, name)
    return found


def compared(p: Any, q: Any, new: Any = None, **how: Any) -> Found:
    """Answers of a comparison; the log-ratio is asked for at the first rows of both by default."""
    new = np.concatenate([p[:20], q[:20]]) if new is None else new
    return answers(compare(p, q, random_state=0, **how), new)


# What is compared.


def rows(problem: str, n: int, n_q: int | None = None) -> tuple[Any, Any]:
    """Samples of a problem that is built in."""
    pair = load(problem)
    return pair.sample_p(n, 0), pair.sample_q(n_q or n, 0)


def normals(n: int, d: int, shift: float = 0.5, n_q: int | None = None) -> tuple[Any, Any]:
    """Normals of which the second has moved and is wider."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.normal(shift, 1.2, (n_q or n, d))


def bent(n: int) -> tuple[Any, Any]:
    """Two columns on a parabola, and two that have nothing to do with each other."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    p = np.column_stack([x, x**2 - 1 + 0.4 * rng.normal(size=n)])
    return p, rng.normal(0.2, 1.5, (n, 2))


def tables(n: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Numbers, integers, text and truth values, with some that are missing."""
    rng = np.random.default_rng(0)
    out = []
    for shift, shares in ((0.0, (0.5, 0.3, 0.2)), (0.6, (0.2, 0.3, 0.5))):
        age = np.round(rng.normal(40 + 5 * shift, 10, n), 1)
        age[rng.random(n) < 0.1] = np.nan
        out.append(
            {
                "income": rng.lognormal(3 + shift, 0.5, n),
                "age": age,
                "children": rng.poisson(1 + shift, n),
                "town": rng.choice(["Bonn", "Kiel", "Ulm"], n, p=shares),
                "member": rng.random(n) < 0.4 + 0.2 * shift,
            }
        )
    return out[0], out[1]


def case(name: str) -> Callable[[Callable[[], Found]], Callable[[], Found]]:
    """Add a function to the cases."""

    def add(function: Callable[[], Found]) -> Callable[[], Found]:
        CASES[name] = function
        return function

    return add


# Everything left to be chosen: problem and rows of each sample, and what is then chosen.

DEFAULTS = {
    "table1/row1": 4000,  # two normals
    "table1/row3": 1500,  # one normal in two places
    "table2/40": 2000,  # normals in many columns
    "table3/row1": 1000,  # truncated normals
    "appendix-f": 1000,  # copulas, splines
    "hard/gamma": 3000,  # a quantile map
    "hard/cauchy": 1000,  # Student-t
    "hard/lognormal-5": 1000,  # logarithms
    "hard/ring": 1000,  # a copula along independent sources
    "hard/circle": 1000,  # a mixture
    "hard/zero-inflated": 500,  # trees
    "hard/discrete-continuous": 1000,  # mixtures, a quadratic critic
    "hard/beta-3": 1000,  # copulas
    "hard/modes-in-both-10": 1000,  # mixtures of one shape
    "hard/skew-20": 1000,  # maps of several kinds
    "same/10": 800,  # a pooled normal
}
for _problem, _n in DEFAULTS.items():
    CASES[f"auto/{_problem}"] = lambda problem=_problem, n=_n: compared(*rows(problem, n))


@case("auto/many rows")
def _() -> Found:
    # The search sees 10,000 of them.
    rng = np.random.default_rng(0)
    return compared(rng.normal(size=(12_000, 3)), rng.laplace(0.4, 0.8, (12_000, 3)))


@case("few rows")
def _() -> Found:
    return compared(*normals(60, 2))


@case("auto/unequal")
def _() -> Found:
    return compared(*normals(300, 4, n_q=2500), level=0.9, folds=4)


@case("auto/pooled Student-t")
def _() -> Found:
    rng = np.random.default_rng(0)
    return compared(rng.standard_t(3, (500, 5)), rng.standard_t(3, (500, 5)) + 0.15)


@case("auto/integers")
def _() -> Found:
    rng = np.random.default_rng(0)
    return compared(rng.poisson(60, (500, 3)), rng.negative_binomial(30, 0.3, (500, 3)))


@case("auto/network")
def _() -> Found:
    # With this anchor trees see more than any convex critic.
    return compared(*rows("hard/ring", 300), estimator=MDRE(anchor="gaussian", maps=None), folds=2)


@case("auto/weights")
def _() -> Found:
    p, q = normals(600, 3)
    rng = np.random.default_rng(1)
    return compared(p, q, weight_p=rng.exponential(size=600), weight_q=rng.uniform(0.5, 2, 600))


@case("tables/indicator")
def _() -> Found:
    p, q = tables(500)
    some = {name: values[:20] for name, values in q.items()}
    return compared(p, q, new=some, missing="indicator")


@case("tables/drop")
def _() -> Found:
    import pandas as pd

    p, q = (pd.DataFrame(each).astype({"town": "category"}) for each in tables(400))
    weight = np.random.default_rng(1).exponential(size=400)
    how = {"missing": "drop", "columns": ["age", "income", "town"]}
    return compared(p, q, new=q.dropna()[:20], weight_p=weight, **how)


# Some of it set.


@case("set/paper")
def _() -> Found:
    return compared(
        *rows("table1/row1", 2000), estimator=MDRE.paper("table1/row1", solver="newton")
    )


@case("set/no penalty")
def _() -> Found:
    return compared(*bent(600), estimator=MDRE(anchor=None, maps=None, l2=0.0))


@case("set/quadratic, penalty by trials")
def _() -> Found:
    how = {"critic": "quadratic", "anchor": Pooled("gaussian"), "maps": None}
    return compared(*normals(800, 4), estimator=MDRE(**how))


@case("set/splines")
def _() -> Found:
    return compared(*rows("hard/gamma", 1000), estimator=MDRE(anchor="gaussian", maps=None))


@case("set/bumps")
def _() -> Found:
    how = {"critic": Bumps(60), "anchor": "gaussian", "maps": "asinh", "l2": 20.0}
    return compared(*bent(400), estimator=MDRE(**how), folds=2)


@case("set/low-rank")
def _() -> Found:
    how = {"critic": "low-rank", "anchor": "gaussian", "l2": 3.0}
    return compared(*normals(500, 15, 0.2), estimator=MDRE(**how))


@case("set/diagonal, lbfgs")
def _() -> Found:
    how = {"critic": "diagonal", "anchor": Pooled("gaussian"), "solver": "lbfgs", "l2": 3.0}
    return compared(*normals(500, 10, 0.2), estimator=MDRE(**how))


@case("set/linear")
def _() -> Found:
    how = {"critic": Quadratic(), "anchor": None, "l2": 1.0, "prior": "counts"}
    return compared(*normals(500, 3, 2.0, 900), estimator=MDRE("linear", **how))


@case("set/dimension-wise")
def _() -> Found:
    how = {"critic": "quadratic", "anchor": ("student-t", "gaussian")}
    return compared(*normals(500, 4, 1.0), estimator=MDRE("dimension-wise", **how))


@case("set/cauchy")
def _() -> Found:
    how = {"anchor": "copula", "oversample": 3.0, "tol": 1e-8}
    return compared(*normals(500, 2, 3.0), estimator=MDRE([Cauchy(), LinearMixing([0.5])], **how))


@case("set/mixture")
def _() -> Found:
    return compared(*bent(800), estimator=MDRE(anchor=MixtureAnchor(3), maps="quantile"))


@case("classifier/trees")
def _() -> Found:
    p, q = normals(500, 3)
    p[::7, 0] = np.nan
    trees = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    model = MDRE("dimension-wise", critic=trees, prior=[0.4, 0.3, 0.2, 0.1])
    return compared(p, q, estimator=model, weight_q=np.linspace(0.5, 1.5, 500))


@case("classifier/without weights")
def _() -> Found:
    p, q = normals(400, 2, n_q=600)
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    near = KNeighborsClassifier(50)
    return {
        "logistic": compared(p, q, estimator=MDRE(critic=logistic)),
        "neighbours": compared(p, q, estimator=MDRE(None, critic=near)),
    }


@case("mlp")
def _() -> Found:
    return compared(*bent(300), critic=MLP(width=16, steps=80, batch_size=64), folds=2)


@case("mdre")
def _() -> Found:
    # Without compare: other labels, further methods.
    p, q = normals(500, 3)
    X, y = isthmus.stack(p, q)
    model = MDRE(random_state=3).fit(X, np.where(y == 1, "new", "base"))
    return {
        "classes": [*model.class_names_, *model.classes_],
        "log_ratio": array(model.log_ratio(X[::50], "p", "m1")),
        "log_proba": array(model.predict_log_proba(X[::50])),
        "predict": list(model.predict(X[::50])),
        "score": model.score(X[::2], np.where(y[::2] == 1, "new", "base")),
        "log_prior": list(model.log_prior_),
        "best_params": settings(model.best_params_),
    }


# Rivals.


@case("baseline/tre")
def _() -> Found:
    return compared(*normals(500, 3, 2.0), estimator=TRE(), folds=5)


@case("baseline/bdre")
def _() -> Found:
    p, q = normals(500, 3)
    logistic = BDRE(classifier=LogisticRegression(), calibration="isotonic")
    return {
        "quadratic": compared(p, q, estimator=BDRE(), folds=5),
        "calibrated": compared(p, q, estimator=logistic, folds=3),
    }


@case("baseline/kernels")
def _() -> Found:
    p, q = normals(300, 2)
    return {
        "ulsif": compared(p, q, estimator=ULSIF(), folds=3),
        "kliep": compared(p, q, estimator=KLIEP(centres=30), folds=3),
    }


@case("baseline/dre-infinity")
def _() -> Found:
    p, q = normals(500, 3, 2.0)
    return {
        "gaussian": compared(p, q, estimator=DREInfinity("gaussian"), folds=3),
        "quadratic": compared(p, q, estimator=DREInfinity(), folds=3),
    }


@case("baseline/plug-in")
def _() -> Found:
    p, q = bent(400)
    return {
        "normals": compared(p, q, estimator=PlugIn(unbiased=True)),
        "kernels": compared(p, q, estimator=PlugIn("kde"), folds=3),
    }


# Mutual information.


def information(i: Any) -> Found:
    """A mutual information and what it rests on."""
    return {
        **estimate(i),
        "method": i.method,
        "lower_bound": i.lower_bound,
        "n_rows": i.n_rows,
        "trials": list(i.trials),
        "notes": list(i.notes),
    }


def pairs(n: int, d: int) -> tuple[Any, Any]:
    """Rows of which the second depend on the first, not linearly."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, d))
    return x, np.exp(0.7 * x + 0.7 * rng.normal(size=(n, d)))


@case("mi/numbers")
def _() -> Found:
    x, y = pairs(1000, 3)
    rng = np.random.default_rng(1)
    wave = np.sin(3 * x[:, 0]) + 0.3 * rng.normal(size=len(x))
    tails = np.sqrt(rng.chisquare(2, (len(x), 1)))
    heavy = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], len(x)) / tails
    return {
        "normal copula": information(mutual_information(x, y, random_state=0)),
        "neighbours": information(mutual_information(x[:, 0], wave, random_state=0)),
        "t-copula": information(mutual_information(heavy[:, 0], heavy[:, 1], random_state=0)),
        "given": information(mutual_information(x[:, 0], y, given=x[:, 1], random_state=0)),
    }


@case("mi/methods")
def _() -> Found:
    x, y = pairs(800, 2)
    return {
        method: information(mutual_information(x, y, method=method, random_state=0))
        for method in ("gaussian", "ksg", "cca")
    }


@case("mi/labels")
def _() -> Found:
    x, y = pairs(600, 2)
    label, other = np.digitize(y[:, 0], [0.5, 2.0]), np.where(x[:, 0] > 0, "a", "b")
    return {
        "label and numbers": information(mutual_information(label, x, random_state=0)),
        "labels": information(mutual_information(label, other, random_state=0)),
        "strata": information(mutual_information(x, y, given=other, random_state=0)),
    }


@case("mi/matrix")
def _() -> Found:
    p, _ = tables(500)
    del p["age"]
    m = mi_matrix(p, random_state=0)
    x, y = pairs(500, 4)
    return {
        "names": m.names,
        "values": m.values,
        "std_errors": m.std_errors,
        "top": [list(each) for each in m.top(4)],
        "scores": mi_scores(x, y[:, 1]),
    }


# How sure an answer is.


@case("bayes/laplace")
def _() -> Found:
    p, q = normals(500, 3)
    c = compare(p, q, estimator=MDRE(anchor="gaussian", l2=1.0), random_state=0)
    mean, std = c.log_ratio(q[:10], return_std=True)
    posterior = laplace(c.estimator, draws=50, random_state=0)
    return {
        "kl": estimate(c.divergence("kl", interval="laplace")),
        "js": estimate(c.divergence("js", 0.8, "laplace", random_state=1)),
        "log_ratio": array(mean),
        "std": array(std),
        "posterior": [array(each) for each in posterior.log_ratio(q[:10], return_std=True)],
        "extrapolation": c.extrapolation(3 * q[:50]).value,
    }


@case("bayes/bootstrap")
def _() -> Found:
    p, q = bent(300)
    model = MDRE(critic="quadratic", anchor="student-t", maps=None, l2=1.0)
    c = compare(p, q, estimator=model, random_state=0)
    posterior = bootstrap(c.estimator, replicates=5, random_state=0)
    return {
        "kl": estimate(c.divergence("kl", interval="bootstrap", replicates=10)),
        "std": array(c.log_ratio(q[:10], return_std=True)[1]),
        "posterior": [array(each) for each in posterior.log_ratio(q[:10], return_std=True)],
    }


@case("diagnostics")
def _() -> Found:
    p, q = tables(400)
    for each in (p, q):
        each["age"] = np.nan_to_num(each["age"], nan=40.0)
    c = compare(p, q, random_state=0, folds=4)
    ranks = {
        method: [
            {"name": s.name, "value": s.value, "std_error": s.std_error}
            for s in rank_columns(c, method, repeats=2, random_state=0)
        ]
        for method in ("permutation", "marginal")
    }
    found = {}
    for name, pair in {"tables": (p, q), "shape": bent(400), "same": rows("same/10", 300)}.items():
        test = two_sample_test(*pair, n_permutations=199, random_state=0)
        found[name] = {"statistic": test.statistic, "p_value": test.p_value, "kind": test.kind}
    return {**ranks, "tests": found}


# Running and comparing.


def kept(value: Any) -> Any:
    """What the file holds: as _record.plain, but what is not finite stays, as a text."""
    if isinstance(value, dict):
        return {str(k): kept(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [kept(v) for v in value]
    if hasattr(value, "tolist"):
        return kept(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (bool, int, float)) else str(value)


def run(name: str) -> tuple[str, Any, float]:
    """One case: what it found, with the warnings for users, and its processor time."""
    started = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = kept(CASES[name]())
        except Exception:
            # One that fails is a difference like any other, and the others go on.
            return name, {"error": traceback.format_exc()}, time.process_time() - started
    texts = {str(each.message) for each in caught if issubclass(each.category, UserWarning)}
    found["warnings"] = sorted(texts)
    return name, found, time.process_time() - started


def run_all(names: list[str], jobs: int) -> Iterator[tuple[str, Any, float]]:
    """All cases, in processes whose linear algebra has one thread."""
    os.environ.update(limit_threads(1))
    context = multiprocessing.get_context("spawn")
    with progress() as bar, ProcessPoolExecutor(jobs, mp_context=context) as pool:
        task = bar.add_task("cases", total=len(names))
        for each in pool.map(run, names):
            bar.advance(task)
            yield each


def flat(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Numbers and texts with their places."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        place = f"{where}/{key}"
        if isinstance(each, (dict, list)):
            yield place, f"{type(each).__name__} of {len(each)}"
            yield from flat(each, place)
        else:
            yield place, each


def difference(new: Any, old: Any) -> float:
    """How far a value is from another: relative for numbers, else zero or infinite."""
    if new == old and isinstance(new, bool) == isinstance(old, bool):
        return 0.0
    if any(isinstance(each, (bool, str, type(None))) for each in (new, old)):
        return math.inf
    return abs(new - old) / max(abs(new), abs(old), SMALL)


def differences(new: Any, old: Any) -> list[tuple[float, str, Any, Any]]:
    """All differences of a case, the largest first."""
    ours, theirs = dict(flat(new)), dict(flat(old))
    places = [*theirs, *(place for place in ours if place not in theirs)]
    found = [(place, ours.get(place), theirs.get(place)) for place in places]
    apart = [(difference(new, old), place, new, old) for place, new, old in found]
    return sorted((each for each in apart if each[0] > 0), key=lambda each: -each[0])


def chosen(best: dict[str, Any]) -> str:
    """What a case selected, in few words."""
    return ", ".join(f"{name}={str(value)[:90]}" for name, value in best.items())


def write(run_: Run, names: list[str], jobs: int) -> int:
    out = table("What was found", "<case", "s", "numbers", "KL")
    results, seconds = {}, {}
    for name, found, took in run_all(names, jobs):
        results[name], seconds[name] = found, took
        size = sum(isinstance(each, (int, float)) for _, each in flat(found))
        kl = found.get("kl", {}).get("value")
        out.add_row(name, f"{took:.1f}", str(size), "" if kl is None else f"{kl:.4g}")
    console.print(out)
    for name, found in results.items():
        if "best_params" in found:
            console.print(f"{name}: {chosen(found['best_params'])}", markup=False, soft_wrap=True)
    failed = [name for name, found in results.items() if "error" in found]
    for name in failed:
        console.print(f"{name}\n{results[name]['error']}", markup=False)
    if failed:
        console.print(f"Nothing was written: {len(failed)} cases failed.")
        return 1
    console.print(f"{sum(seconds.values()):.0f} s of processor time.")
    run_.write(torch=_torch(), seconds=seconds, results=results)
    return 0


def check(golden: dict[str, Any], names: list[str], jobs: int, tolerance: float) -> int:
    here = {**versions(), "torch": _torch()}
    there = {**golden["versions"], "torch": golden["torch"]}
    for name, version in here.items():
        if name != "isthmus" and version != there[name]:
            console.print(f"{name} is {version} here; the file was written with {there[name]}.")
    out = table("Against the file", "<case", "s", "then", "largest", "differ", "<where")
    told, wrong = [], 0
    for name, found, took in run_all(names, jobs):
        apart = differences(found, golden["results"].get(name, {}))
        beyond = [each for each in apart if each[0] > tolerance]
        wrong += bool(beyond)
        largest, place = apart[0][:2] if apart else (0.0, "")
        then = golden["seconds"].get(name, math.nan)
        shown = "text" if math.isinf(largest) else f"{largest:.1e}" if largest else "0"
        colour = "red" if beyond else "green"
        numbers = (f"{took:.1f}", f"{then:.1f}", f"[{colour}]{shown}[/]", str(len(beyond)))
        remark = " (moves with rounding alone)" if beyond and name in UNSTEADY else ""
        out.add_row(name, *numbers, place + remark)
        told += [(name, *each) for each in beyond[:SHOWN]]
        if "error" in found:
            console.print(f"{name}\n{found['error']}", markup=False)
    console.print(out)
    for name, size, place, new, old in told:
        console.print(f"{name}{place}: {new!r}, was {old!r} ({size:.1e})", markup=False)
    console.print(
        f"{wrong} of {len(names)} cases differ by more than {tolerance:g}."
        if wrong
        else f"All {len(names)} cases are as they were, up to {tolerance:g}."
    )
    return int(wrong > 0)


def _torch() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("torch")
    except PackageNotFoundError:
        return "absent"


def main() -> int:
    parser = options(__doc__, "golden")
    parser.add_argument("--write", action="store_true", help="write the file anew")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="names or beginnings of names")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    arguments = parser.parse_args()
    names = list(CASES)
    if arguments.quick:
        names = list(QUICK)
    if arguments.only:
        names = [name for name in names if name.startswith(tuple(arguments.only))]
        if not names:
            parser.error(f"--only must name some of: {', '.join(CASES)}")
    console.print(f"isthmus in {isthmus.__path__[0]}", markup=False)
    if arguments.write or arguments.quick:
        if arguments.only and arguments.out is None and not arguments.quick:
            parser.error("--write with --only would lose the other cases: give --out as well")
        return write(Run("golden", arguments), names, arguments.jobs)
    golden = json.loads((arguments.out or GOLDEN).read_text())
    return check(golden, names, arguments.jobs, arguments.tolerance)


if __name__ == "__main__":
    sys.exit(main())

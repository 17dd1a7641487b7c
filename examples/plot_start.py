"""
Two groups of people in one table
=================================

The American National Election Study of 1996 asked 944 people for whom they would vote. Do the
voters of Dole and of Clinton differ in age, education, income and where they live? By how much,
and in which of these most? The table comes with statsmodels.
"""

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import anes96

import isthmus

table = anes96.load_pandas().data
people = table[["age", "educ", "income", "TVnews", "popul"]]
dole, clinton = people[table["vote"] == 1], people[table["vote"] == 0]
print(len(dole), "voters of Dole,", len(clinton), "of Clinton")

# %%
# How far apart?
# --------------
# One call. Nothing has to be set.

c = isthmus.compare(dole, clinton, random_state=0)
print("KL:", c.kl)
print("Jensen-Shannon:", c.divergence("js"))
print("trusted:", c.trusted)

# %%
# The KL divergence is the mean of log p(x)/q(x) over the voters of Dole. Zero means that the groups
# are the same. The interval is above zero, so they differ; the value is small, so they overlap a
# lot.
#
# Which columns carry it?
# -----------------------
# ``rank_columns`` asks what the fitted ratio loses when the values of one column are shuffled.

ranking = isthmus.diagnostics.rank_columns(c, random_state=0)
ax = isthmus.plots.column_ranking(
    [column.name for column in ranking],
    [column.value for column in ranking],
    [column.std_error for column in ranking],
)
ax.set_title("What each column contributes")

# %%
# A column whose bar is grey may contribute nothing. The first column, looked at by itself:

first = ranking[0].name
isthmus.plots.column_values(dole[first], clinton[first], name=first, labels=("Dole", "Clinton"))

# %%
# Which rows?
# -----------
# ``c.log_ratio`` takes new rows. Above zero a person looks like a voter of Dole, below zero like
# one of Clinton. These are the three most typical of each:

log_ratio = c.log_ratio(people)
order = np.argsort(log_ratio)
print(people.assign(log_ratio=log_ratio).iloc[[*order[-3:][::-1], *order[:3]]].round(2))

# %%
# The histogram shows the log-ratio of every row, by models that have not seen it. The two groups
# overlap nearly everywhere: from these five columns nobody can tell how a person votes.

_, ax = plt.subplots(figsize=(6, 3.2))
isthmus.plots.log_ratio_histogram(c.log_ratio_p, c.log_ratio_q, labels=("Dole", "Clinton"), ax=ax)

# %%
# Can it be trusted?
# ------------------
# Every check is a verdict and a sentence. Here are those that are not content.

for name, check in c.diagnostics.items():
    if check.verdict != "ok":
        print(f"{check.verdict}  {name}: {check.advice}")

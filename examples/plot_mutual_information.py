"""
Which columns tell about which
==============================

Mutual information is zero if two columns are independent, and grows with any kind of dependence,
bent or straight. Here it ranks the measurements of 569 tumours, shows which repeat each other, and
chooses features inside a pipeline. The table comes with scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import isthmus

data = load_breast_cancer(as_frame=True)
table = data.data[[name for name in data.data if name.startswith("mean ")]]

# %%
# Two columns
# -----------
# The area of a nucleus is nearly a function of its radius, so the information is high. Symmetry
# says little.

for other in ("mean area", "mean texture", "mean symmetry"):
    i = isthmus.mutual_information(table["mean radius"], table[other], random_state=0)
    print(f"mean radius and {other:14s} {i}")

# %%
# All pairs
# ---------

m = isthmus.mi_matrix(table, random_state=0)
_, ax = plt.subplots(figsize=(7, 6))
m.plot(ax)

for first, second, value in m.top(5):
    print(f"{value:.2f} nats  {first}, {second}")

# %%
# Beyond what another column says
# -------------------------------
# ``given=`` conditions. The perimeter tells much about the diagnosis, but hardly anything that the
# radius has not told.

diagnosis = data.target
alone = isthmus.mutual_information(table["mean perimeter"], diagnosis, random_state=0)
beyond = isthmus.mutual_information(
    table["mean perimeter"], diagnosis, given=table["mean radius"], random_state=0
)
print(f"alone             {alone}")
print(f"given the radius  {beyond}")

# %%
# Features for a model
# --------------------
# ``mi_scores`` is a score function of scikit-learn, so that a selection is made anew in every fold.

select = SelectKBest(isthmus.mi_scores, k=4)
model = make_pipeline(StandardScaler(), select, LogisticRegression())
accuracy = cross_val_score(model, table, diagnosis, cv=5)
everything = cross_val_score(
    make_pipeline(StandardScaler(), LogisticRegression()), table, diagnosis, cv=5
)
print(f"4 columns of {table.shape[1]}: accuracy {accuracy.mean():.3f}")
print(f"all columns: accuracy {everything.mean():.3f}")
print("chosen:", list(np.array(table.columns)[select.fit(table, diagnosis).get_support()]))

"""
Prediction intervals for people who are not like those of the survey
=====================================================================

A model of the number of visits to a doctor is fitted to the RAND health insurance experiment. It
is to be used for people in worse health, whose visits are not yet known. Intervals that hold nine
in ten labels of the survey hold fewer of theirs. Weighted by the ratio of the two densities, they
hold nine in ten again.

The shift is made here, by columns alone, so that labels of the new people are there to judge by.
"""

# %%
# The survey, and people in worse health
# --------------------------------------
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from statsmodels.datasets import randhie

import isthmus

table = randhie.load_pandas().data.sample(frac=1, random_state=0)
visits = table.pop("mdvis").to_numpy(float)
rng = np.random.default_rng(0)
index = (table["disea"] - table["disea"].mean()) / table["disea"].std() + 2 * table["physlm"]
kept = rng.random(len(table)) < 1 / (1 + np.exp(1.5 - index))

X, y = table[:2000], visits[:2000]
rest = np.arange(len(table)) >= 2000
target, target_visits = table[rest & kept][:3000], visits[rest & kept][:3000]
print(f"{len(X)} people with labels; {len(target)} others, in worse health.")

# %%
# What the score will be
# ----------------------
# Before any of their visits is known:
trees = HistGradientBoostingRegressor(max_iter=50, random_state=0)
score = isthmus.shifted_score(
    trees, X, y, target[:1500], scoring="neg_mean_absolute_error", random_state=0
)
print(score)

# %%
# The labels that were held back say:
error = np.abs(trees.fit(X, y).predict(target[1500:]) - target_visits[1500:])
print(f"with labels: {-error.mean():.2f} ± {error.std() / np.sqrt(len(error)):.2f}")

# %%
# Intervals
# ---------
# The same trees, calibrated without and with weights. Without is what a target like the source
# gives.
shifted = isthmus.ShiftedConformal(trees, alpha=0.1, random_state=0).fit(X, y, target=target[:1500])
low, high = shifted.predict_interval(target[1500:]).T
plain = np.quantile(shifted.scores_, 0.9, method="higher")
middle = shifted.predict(target[1500:])
new = target_visits[1500:]
covered = {
    "plain": np.abs(new - middle) <= plain,
    "weighted": (low <= new) & (new <= high),
}
for name, inside in covered.items():
    print(f"{name}: {100 * inside.mean():.1f} % of the labels are inside")
print(
    f"{len(shifted.scores_)} rows calibrate and are worth {shifted.effective_sample_size_:.0f}; "
    f"errors of the ratio cost at most about {100 * shifted.coverage_loss_:.0f} points."
)

# %%
# By how ill people are
# ---------------------
figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ill = target["disea"].to_numpy()[1500:]
edges = np.quantile(ill, np.linspace(0, 1, 5))
place = np.clip(np.searchsorted(edges, ill, side="right") - 1, 0, 3)
for k, (name, inside) in enumerate(covered.items()):
    share = np.array([inside[place == j].mean() for j in range(4)])
    count = np.array([(place == j).sum() for j in range(4)])
    axes.errorbar(
        np.arange(4) + 0.1 * (k - 0.5),
        100 * share,
        yerr=200 * np.sqrt(share * (1 - share) / count),
        fmt="os"[k],
        capsize=3,
        label=f"{name}, {100 * inside.mean():.1f} % in all",
    )
axes.axhline(90, color="0.5", linewidth=1)
axes.set_xticks(range(4), [f"{a:.0f} to {b:.0f}" for a, b in pairwise(edges)])
axes.set_xlabel("index of chronic diseases")
axes.set_ylabel("labels inside, %")
axes.set_title("Intervals at 90 % on people in worse health")
axes.legend(frameon=False)
plt.show()

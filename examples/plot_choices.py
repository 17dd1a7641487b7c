"""
What was chosen, and what depends on it
=======================================

``isthmus.MDRE`` chooses maps of columns, densities and critics by rows that it has not fitted.
This example shows the trials, fixes the outcome, and compares it with other choices. The truth is
known.
"""

import matplotlib.pyplot as plt

import isthmus

problem = isthmus.problems.load("hard/lognormal-5")
p, q = problem.sample_p(1000, rng=0), problem.sample_q(1000, rng=1)
X, y = isthmus.stack(p, q)

# %%
# The trials
# ----------
# A star takes the lead; the last star of each stage is what was chosen.

mdre = isthmus.MDRE(random_state=0).fit(X, y)
print(mdre.selection_.summary())

# %%
# The outcome, as parameters
# --------------------------
# Given to a new ``MDRE``, they make the same fit again without any trial.

for name, value in mdre.best_params_.items():
    print(f"{name:12s} {value}")

again = isthmus.MDRE(random_state=0, **mdre.best_params_).fit(X, y)
print("the same to the bit:", (again.log_ratio(X) == mdre.log_ratio(X)).all())

# %%
# Other choices
# -------------
# These samples overlap. Families that fit them agree; two normals, which do not, stand out.

choices = {
    "automatic": {},
    "logarithm, normals": {"maps": "log", "anchor": "gaussian"},
    "quantiles, normals": {"maps": "quantile", "anchor": "gaussian"},
    "copulas": {"maps": None, "anchor": "copula"},
    "two normals": {"maps": None, "anchor": "gaussian", "l2": float("inf")},
}
found = {}
for name, settings in choices.items():
    given = {"critic": "quadratic", **settings} if settings else {}
    found[name] = isthmus.MDRE(random_state=0, **given).fit(X, y).log_ratio(p).mean()
    print(f"{name:20s} {found[name]:.2f} nats")

_, ax = plt.subplots(figsize=(6, 2.6))
ax.barh(list(found), list(found.values()), alpha=0.75)
ax.axvline(problem.kl, color="black", label=f"truth, {problem.kl:.2f}")
ax.invert_yaxis()
ax.set_xlabel("mean of log p/q over the rows of p, nats")
ax.legend()

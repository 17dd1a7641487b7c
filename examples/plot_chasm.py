"""
Two samples that do not meet
============================

Two normals lie so far apart that a classifier tells every row of one from every row of the other.
It then learns nothing about *how much* more likely a row is under p than under q. Between real
samples this happens too: images against noise, a simulation against an experiment. Here the truth
is known.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import isthmus

problem = isthmus.problems.load("table1/row1")
p, q = problem.sample_p(5000, rng=0), problem.sample_q(5000, rng=0)

isthmus.plots.column_values(p[:, 0], q[:, 0])

# %%
# A binary classifier
# -------------------
# Logistic regression with a quadratic can represent the true log-ratio exactly. Yet any steep
# enough curve separates the samples, and the data do not say which.

X, y = isthmus.stack(p, q)
classifier = make_pipeline(
    StandardScaler(), PolynomialFeatures(2, include_bias=False), LogisticRegression(C=1e10)
)
classifier.fit(X, y)
print(f"rows told apart: {classifier.score(X, y):.0%}")

# %%
# isthmus
# -------
# ``compare`` sees that no rows lie between the samples. It fits a density to each and tells p and q
# from a third class whose density is known and that covers both.

c = isthmus.compare(p, q, random_state=0)

print(f"truth               {problem.kl:.1f} nats")
print(f"binary classifier   {classifier.decision_function(p).mean():.1f}")
print(f"isthmus             {c.kl}")
print(f"rests on            {c.rests_on}")

# %%
# The log-ratio along the line, far from both samples as well:

grid = np.linspace(-2.0, 3.0, 200)[:, None]
_, ax = plt.subplots(figsize=(6, 3.6))
ax.plot(grid, problem.log_ratio(grid), color="black", linewidth=4, alpha=0.3, label="truth")
ax.plot(grid, c.log_ratio(grid), label="isthmus")
ax.plot(grid, classifier.decision_function(grid), label="binary classifier")
ax.set(xlabel="x", ylabel="log p(x)/q(x), nats")
ax.legend()

# %%
# What to keep in mind
# --------------------
# Between the samples no row says what the ratio is. It is that of the two families, here normals,
# which is right. Had we asked for Student-t distributions, whose tails are heavier, the answer
# would be another:

other = isthmus.compare(p, q, estimator=isthmus.MDRE(anchor="student-t"), random_state=0)
print(f"with Student-t      {other.kl}")

# %%
# Both intervals count the noise of the fit, given the family. Neither knows whether the family is
# right. If two families that fit as well disagree, all that is known is that the KL is large.

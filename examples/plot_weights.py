"""
Weights with a certificate
==========================

A survey reached too many young couples. Which weights make it look like the population, and what
are they worth?
"""

# %%
# The table: 6,366 answers of married women, from statsmodels. The survey is drawn so that young
# and less religious women answered more often; the population is the other half of the table.

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import fair

import isthmus

data = fair.load_pandas().data.drop(columns="affairs").sample(frac=1, random_state=0)
half = len(data) // 2
population, others = data[:half], data[half:]
rng = np.random.default_rng(0)
log_odds = -0.25 * (others["age"] - 29) - 0.5 * (others["religious"] - 2.4)
survey = others[rng.random(len(others)) < 1 / (1 + np.exp(-log_odds))]
print(f"age: survey {survey['age'].mean():.2f}, population {population['age'].mean():.2f}")

# %%
# One call gives the weights. Printed, they say what they are worth: a survey of so many rows tells
# as much as so many without weights, and every column is compared before and after.

w = isthmus.importance_weights(survey, population, random_state=0)
print(w)

# %%
# The picture: open circles before, dots after, at rows that the fit has not seen.

w.plot()
plt.show()

# %%
# The values are a pandas series with the survey's index.

print(f"age, weighted: {np.average(survey['age'], weights=w.values):.2f}")

# %%
# Where a mean must be exact, ask for it. The weights are tilted as little as possible.

exact = isthmus.importance_weights(survey, population, balance=["age", "educ"], random_state=0)
print(f"age, balanced: {np.average(survey['age'], weights=exact.values):.8f}")
print(f"population:    {population['age'].mean():.8f}")

# %%
# A larger effective sample has a price: a part of the population is given up, and which one is
# said in a rule on the columns.

trimmed = isthmus.importance_weights(survey, population, design_effect=1.5, random_state=0)
print(trimmed.population)
print(f"worth {trimmed.effective_sample_size:.0f} rows instead of {w.effective_sample_size:.0f}")

# %%
# Weights of anybody else get the same certificate. These look at age alone.

by_age = population["age"].value_counts(normalize=True) / survey["age"].value_counts(normalize=True)
audit = isthmus.audit_weights(
    survey["age"].map(by_age).fillna(0), survey, population, random_state=0
)
print(audit.verdict)

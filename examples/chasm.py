"""Two normals that no classifier can compare, and what each method makes of them."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import isthmus

problem = isthmus.problems.load("table1/row1")
p, q = problem.sample_p(5000, rng=0), problem.sample_q(5000, rng=0)

X, y = isthmus.stack(p, q)
classifier = make_pipeline(
    StandardScaler(), PolynomialFeatures(2, include_bias=False), LogisticRegression(C=1e10)
)
log_odds = classifier.fit(X, y).decision_function(p)

c = isthmus.compare(p, q, random_state=0)

print(f"truth               {problem.kl:.1f} nats")
print(f"binary classifier   {log_odds.mean():.1f}")
print(f"isthmus             {c.kl}")

grid = np.linspace(-2.0, 3.0, 6)[:, None]
print("\n     x    true log p/q    isthmus")
for x, true, found in zip(grid[:, 0], problem.log_ratio(grid), c.log_ratio(grid), strict=True):
    print(f"{x:6.1f} {true:15.1f} {found:10.1f}")

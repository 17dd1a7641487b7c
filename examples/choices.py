"""What was chosen, and what hangs on it: the same two samples with other families."""

import isthmus

problem = isthmus.problems.load("hard/lognormal-5")
p, q = problem.sample_p(2000, rng=0), problem.sample_q(2000, rng=1)
X, y = isthmus.stack(p, q)

mdre = isthmus.MDRE(random_state=0).fit(X, y)
print(mdre.selection_.summary())
for name, value in mdre.best_params_.items():
    print(f"{name:12s} {value}")

# Fixed, the choices give the same fit, without the trials.
again = isthmus.MDRE(random_state=0, **mdre.best_params_).fit(X, y)
assert (again.log_ratio(X) == mdre.log_ratio(X)).all()

# Samples that overlap: families that fit agree, and one that does not fit stands out.
print(f"\ntruth              {problem.kl:.2f} nats")
print(f"automatic          {mdre.log_ratio(p).mean():.2f}")
for maps, anchor in (("log", "gaussian"), ("quantile", "gaussian"), (None, "copula")):
    other = isthmus.MDRE(random_state=0, maps=maps, anchor=anchor, critic="quadratic").fit(X, y)
    print(f"{maps!s:8s}, {anchor:8s} {other.log_ratio(p).mean():.2f}")
two_normals = isthmus.MDRE(random_state=0, maps=None, anchor="gaussian", critic="quadratic")
print(f"two normals        {two_normals.fit(X, y).log_ratio(p).mean():.2f}")

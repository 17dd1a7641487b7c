"""Has a table drifted? Two months of orders, compared column names and all."""

import numpy as np

import isthmus

rng = np.random.default_rng(0)


def month(n, basket, share_of_phones):
    return {
        "basket": rng.normal(basket, 10.0, n),
        "minutes": rng.normal(12.0, 4.0, n),
        "device": rng.choice(["phone", "laptop"], n, p=[share_of_phones, 1 - share_of_phones]),
    }


may, june = month(3000, 50.0, 0.5), month(4000, 53.0, 0.7)
c = isthmus.compare(june, may, random_state=0)

print(f"KL(june || may)   {c.kl}")
print(f"total variation   {c.divergence('tv')}")
for name, check in c.diagnostics.items():
    print(f"{check.verdict:5s} {name}: {check.advice}")

# Reweight May to look like June, and see what the mean basket becomes.
weights = c.weights()
print(f"\nmean basket in May {may['basket'].mean():.1f}, in June {june['basket'].mean():.1f}, ")
print(f"in May weighted to look like June {np.average(may['basket'], weights=weights):.1f}")

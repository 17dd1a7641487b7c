"""One instance of every estimator, small enough for every test that all of them must pass."""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression

from isthmus import MDRE, StackedMDRE
from isthmus.auxiliaries import LinearMixing
from isthmus.baselines import (
    BDRE,
    CTSM,
    FDRE,
    KLIEP,
    KMM,
    NNBD,
    RULSIF,
    TRE,
    ULSIF,
    DREInfinity,
    ExponentialNCE,
    FlowMatching,
    InfoNCE,
    PlugIn,
    SpectralDRE,
)
from isthmus.critics import MLP

INSTANCES = {
    "default": MDRE(),
    "paper": MDRE(auxiliaries="cauchy", known_density=False, anchor=None, l2=1.0),
    "diagonal": MDRE(critic="diagonal"),
    "mixing": MDRE(auxiliaries=LinearMixing([0.3, 0.6])),
    "stack": StackedMDRE(folds=2),
    "network": MDRE(critic=MLP(width=8, depth=1, steps=20, batch_size=32)),
    "kliep": KLIEP(),
    "ulsif": ULSIF(),
    "rulsif": RULSIF(),
    "kmm": KMM(),
    "nnbd": NNBD("binary-kl", bound=5.0, width=16, depth=1, steps=60, lr=1e-2),
    "bdre": BDRE(),
    "bdre-classifier": BDRE(classifier=LogisticRegression()),
    "tre": TRE(),
    "tre-dimension-wise": TRE("dimension-wise"),
    "plug-in": PlugIn(),
    "nce": ExponentialNCE(),
    "fdre": FDRE(transforms=1, width=8, depth=1, steps=20, batch_size=32),
    "dre-infinity": DREInfinity(),
    "dre-infinity-neural": DREInfinity("mlp", width=8, depth=1, steps=40, batch_size=32),
    "dre-infinity-alone": DREInfinity(anchor=None),
    "ctsm": CTSM(width=8, depth=1, steps=40, batch_size=32),
    "flow-matching": FlowMatching(width=8, depth=1, steps=40, batch_size=32, ode_steps=6),
    "spectral": SpectralDRE(n_waves=30),
    "info-nce": InfoNCE(width=8, depth=1, embedding=4, steps=20),
}

"""SpatialMultiOmniglot: mutual information and representations of grids of characters."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _draw
from ._omniglot_draw import appendix_figure, main_figure
from ._omniglot_tables import by_method, paper_table, result_table, what_was_used
from ._record import Found
from ._runner import Experiment
from ._show import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..problems.omniglot import Alphabet, SpatialMultiOmniglot


@dataclass(frozen=True)
class Variant:
    """A method with its settings, and how it is called."""

    label: str
    settings: dict[str, Any]


METHODS: dict[str, Variant] = {
    "mdre": Variant("MDRE, K = d − 1", {"method": "mdre"}),
    "tre": Variant("TRE", {"method": "tre"}),
    "single": Variant("single ratio", {"method": "single"}),
    "infonce": Variant("InfoNCE", {"method": "infonce"}),
    "mdre-1": Variant("MDRE, K = 1", {"method": "mdre", "mixing": "merged"}),
    "mdre-one": Variant("MDRE, one encoder", {"method": "mdre", "one_encoder": True}),
    "mdre-conv": Variant("MDRE, convolutional encoder of cells", {"encoder": "cells"}),
    "mdre-whole": Variant("MDRE, convolutional encoder of grids", {"encoder": "whole"}),
}
RIVALS = ("mdre", "tre", "single", "infonce")
# Steps by the number of cells. All methods of one d have the same encoder, drawings and steps.
STEPS = {1: 400, 4: 1600, 9: 3200, 16: 3200, 25: 3200}
# Drawings of each character in a batch, by the number of cells.
DRAWINGS = {1: 4, 4: 4, 9: 2, 16: 2, 25: 2}
BATCH, GROUP, EMBEDDING, RATE = 512, 16, 32, 2e-3
PAIRS, PROBE = 20_000, 4_000


class Omniglot(Experiment):
    """Every method under the same encoder and budget, on two splits of the drawings."""

    name = "omniglot"
    title = "Figure 6 and Appendix G: SpatialMultiOmniglot, mutual information and representations"
    about = (
        "u is a grid of d characters, each of an alphabet of its own, and v the grid of the "
        "characters that follow them, drawn anew. All critics are g(u)ᵀ W f(v) + b. "
        "Every character goes through one perceptron of three layers, which all cells "
        "share, and the embedding of a grid has those of its cells side by side: mixed "
        "grids are then put together of embeddings rather than encoded again. Each method has the "
        "same encoder, batches and steps; the residual networks of 14 layers stand beside it at "
        "a smaller budget. From d = 9 on the cells of u meet those of v at their own places alone. "
        "Nothing is chosen by the truth; the held-out loss "
        "chooses the step. On the published split drawings are shared between training and test, "
        "and only their combinations are new; on the honest split tests are on drawings of "
        "hands that were held out."
    )

    def cells(self, quick: bool, seeds: int) -> list[Found]:
        """A cell for each number of cells, method, split and seed; what matters most first."""
        if quick:
            return [
                {"data": "strokes", "d": 4, "method": method, "split": "published", "steps": 120}
                | {"seed": seed}
                for seed in range(min(seeds, 1))
                for method in ("mdre", "tre", "single", "infonce", "mdre-1", "mdre-one")
            ]
        plan = [(4, method, "published") for method in (*RIVALS, "mdre-1", "mdre-one")]
        plan += [(9, "mdre", "published"), (4, "mdre", "honest")]
        plan += [(4, method, "honest") for method in ("tre", "single", "infonce")]
        plan += [(9, method, "published") for method in ("tre", "single", "infonce", "mdre-one")]
        plan += [(9, "mdre", "honest"), (16, "mdre", "published"), (4, "mdre-1", "honest")]
        plan += [(4, "mdre-conv", "published"), (4, "mdre-conv", "honest")]
        plan += [(4, "mdre-whole", "published"), (16, "tre", "published")]
        return [
            {"data": "omniglot", "d": d, "method": method, "split": split}
            | {"steps": _steps(d, method), "seed": seed}
            for seed in range(seeds)
            for d, method, split in plan
        ]

    def run(self, cell: Found) -> Found:
        """Train on the drawings of the split, and judge by pairs of those for the test."""
        problem = _problem(cell)
        train, validation, test = problem.split(cell["split"])
        model, used = _train(cell, train, validation)
        found: Found = {"truth": problem.mutual_information, "sizes": list(problem.sizes)} | used
        rng = np.random.default_rng([cell["seed"], 1])
        found |= _judge(model, train, test, rng, quick=cell["data"] == "strokes")
        history = model.training_.history
        found["history"] = {
            key: _draw.few([each[key] for each in history], 4) for key in ("step", "held_out", "mi")
        }
        last = next(each for each in history if each["step"] == model.training_.best_step)
        found["classes"] = {
            key.removeprefix("accuracy "): value
            for key, value in last.items()
            if key.startswith("accuracy ")
        }
        return found

    def tables(self, results: list[Found]) -> list[Table]:
        """A table of each split, and the paper's figures."""
        labels = {name: each.label for name, each in METHODS.items()}
        splits = [s for s in ("published", "honest") if any(e["split"] == s for e in results)]
        return [*(result_table(results, split, labels) for split in splits), paper_table()]

    def figures(self, results: list[Found]) -> dict[str, Figure]:
        """The three panels of the main text and the two of the appendix."""
        out = {"omniglot": main_figure(results)}
        if any(each["method"] == "mdre-one" for each in results):
            out["omniglot-encoders"] = appendix_figure(results)
        return out

    def remarks(self, results: list[Found]) -> list[str]:
        """How near the truth each method came, and what differs from the paper."""
        labels = {name: each.label for name, each in METHODS.items()}
        return [*by_method(results, labels), *what_was_used(results)]


def _steps(d: int, method: str) -> int:
    # Convolutions cost several times as much, and grids are encoded anew for every class.
    share = {"mdre-whole": 0.25, "mdre-conv": 0.5}.get(method, 1.0)
    return round(share * STEPS[d])


def _problem(cell: Found) -> SpatialMultiOmniglot:
    from ..problems.omniglot import SpatialMultiOmniglot

    return SpatialMultiOmniglot.largest(_alphabets(cell["data"]), cell["d"])


@cache
def _alphabets(data: str) -> list[Alphabet]:
    """Drawings, read once in a process that runs many cells."""
    from ..problems.omniglot import drawn_alphabets, load_alphabets

    return drawn_alphabets([12, 11, 10, 9], rng=5) if data == "strokes" else load_alphabets()


def _train(cell: Found, train: Any, validation: Any) -> tuple[Any, Found]:
    """The fitted model, and what its training took."""
    from ..neural import require_torch
    from ..separable import PUBLISHED, OmniglotSource, SeparableRatio

    require_torch("omniglot").set_num_threads(1)
    settings = {"method": "mdre", "encoder": "dense", **METHODS[cell["method"]].settings}
    whole = settings.get("encoder") == "whole"
    # InfoNCE is capped by the size of its groups: the whole batch is its best setting.
    group = BATCH if settings["method"] == "infonce" else GROUP
    size = {"embedding": EMBEDDING * cell["d"]} if whole else {"embedding": EMBEDDING}
    if whole:
        size |= {"batch_size": 64, **PUBLISHED}
    if cell["data"] == "strokes":
        size = {"embedding": 12, "batch_size": 256}
    model = SeparableRatio(
        grid=train.grid,
        steps=cell["steps"],
        group=group,
        lr=RATE,
        random_state=cell["seed"],
        interaction="all" if cell["d"] <= 4 else "cells",
        **{"batch_size": BATCH, **size, **settings},
    )
    shift = 1 if cell["split"] == "honest" else 0
    source = OmniglotSource(train, per_character=DRAWINGS[cell["d"]], shift=shift)
    begin = time.process_time()
    model.fit_source(source, OmniglotSource(validation, per_character=2))
    seconds = time.process_time() - begin
    drawings = 2 * len(source.draw(1, require_torch("omniglot").Generator()).u)
    return model, {
        "cpu_seconds": seconds,
        "images_per_step": (cell["d"] + 1) * model.batch_size if whole else drawings,
        "best_step": model.training_.best_step,
        "parameters": sum(each.numel() for each in model.critic_.parameters()),
        "group": group,
        "shift": shift,
    }


def _judge(model: Any, train: Any, test: Any, rng: np.random.Generator, *, quick: bool) -> Found:
    """Mutual information of fresh pairs of the test's drawings, and the linear probe."""
    from ..separable import linear_probe
    from ..separable.estimator import mean_estimate

    pairs, probe = (2_000, 500) if quick else (PAIRS, PROBE)
    fitted = _embedded(model, train, probe, rng)
    u, v, characters = _embedded(model, test, pairs, rng)
    values = model.log_ratio_embedded(u, v)
    estimate = mean_estimate(values)
    shares = linear_probe(fitted[0], fitted[2], u[:probe], characters[:probe])
    return {
        "mi": estimate.value,
        "mi_error": estimate.std_error,
        "mi_interval": [estimate.low, estimate.high],
        "mi_median": float(np.median(values)),
        "probe": shares,
        "accuracy": float(shares.mean()),
    }


def _embedded(model: Any, problem: Any, n: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Embeddings of n pairs and the characters of u; every drawing is encoded once."""
    if model.encoder == "whole":
        n = min(n, 1_000)
        pairs = problem.sample(n, rng)
        return model.embed(pairs.u), model.embed_partner(pairs.v), pairs.characters
    images, _ = problem.images()
    at_u, at_v, characters = problem.sample_places(n, rng)
    cells = model.embed_cells(images), model.embed_cells(images, partner=True)
    u, v = (each[at].reshape(n, -1) for each, at in zip(cells, (at_u, at_v), strict=True))
    return u, v, characters

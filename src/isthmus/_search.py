"""The search behind "auto": every candidate is judged on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import log_softmax, logsumexp

from ._affine import canonical_map, shares
from ._beyond import beyond
from ._candidates import Candidate, denser, name_of, unfitted
from ._coordinates import fit_coordinates
from ._parts import CRITICS, SOLVERS
from ._random import Seeds
from ._setup import HeldOut, Score, Setup, fit_anchors
from ._typing import Array
from .anchors import AutoAnchor, GaussianAnchor, Pooled, StudentTAnchor
from .auxiliaries import Bridge
from .auxiliaries.chain import Link, build_chain
from .critics import Bumps, Quadratic, Radial, Splines, Sum
from .critics.classifier import is_classifier
from .critics.mlp import is_neural
from .maps import SharedMaps
from .objective import Objective
from .selection import Selection, Trial, is_auto

_ROWS = 10_000
# Up to so many rows of a sample, every quarter of them is held out in turn.
_FEW_ROWS, _QUARTERS = 5_000, 4
_STRENGTHS = (100.0, 10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4)
_BUMP_COLUMNS = 10
_ROWS_PER_FEATURE = 15
_ROUND = (GaussianAnchor, StudentTAnchor)
_ERRORS = 3.0
_MAP_ERRORS, _DOUBT = 2.0, 2.0
# Over all held-out rows, in nats: less is no evidence, however regular it is.
_LEAST_GAIN = 3.0


class Search:
    """The search over everything that is left to be chosen.

    Parameters
    ----------
    settings : dict
        Parameters of :class:`MDRE`.
    chosen : dict
        Those that may be "auto"; they are replaced here as they are chosen.
    p, q, weights, seeds, names
        As in :class:`~isthmus._setup.Setup`.
    """

    def __init__(
        self,
        settings: dict[str, Any],
        chosen: dict[str, Any],
        p: Array,
        q: Array,
        weights: Any,
        seeds: Seeds,
        names: Any,
    ) -> None:
        self.settings, self.chosen, self.seeds, self.names = settings, chosen, seeds, names
        self.trials: list[Trial] = []
        self.reasons: list[str] = []
        self.alternatives: list[tuple[Array, Array]] = []
        first = canonical_map(p, q, weights[0], weights[1], warn=False)
        self.samples, self.weights, self.quarters = [p, q], weights, []
        for rows in self.samples:
            # By value first, so that the order in which rows are given does not matter.
            order = np.argsort(first(rows)[:, 0], kind="stable")
            order = order[seeds("hold out").permutation(len(rows))[:_ROWS]]
            self.quarters.append([order[k::_QUARTERS] for k in range(_QUARTERS)])
        self.train, self.train_weights, self.held, self.held_weights = self._split(0)

    def run(self) -> Selection:
        """Choose maps and anchors, then auxiliaries, then critic and penalty."""
        if is_auto(self.chosen["maps"]) or is_auto(self.chosen["anchor"]):
            self._choose_anchor()
        chain = self._chain() if is_auto(self.chosen["auxiliaries"]) else []
        if is_auto(self.chosen["critic"]) or is_auto(self.chosen["l2"]):
            self._choose_critic()
        if chain and len(chain) > len(self.chosen["auxiliaries"]):
            self._try_chain(chain)
        return Selection(self.trials, reasons=self.reasons, alternatives=self.alternatives)

    def _split(self, k: int) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        """Rows and weights to fit to, then those of the quarter that is held out."""
        held = [quarters[k] for quarters in self.quarters]
        train = [np.concatenate([q for j, q in enumerate(qs) if j != k]) for qs in self.quarters]
        out: list[list[Any]] = []
        for chosen in (train, held):
            out.append([x[at] for x, at in zip(self.samples, chosen, strict=True)])
            pairs = zip(self.weights, chosen, strict=True)
            out.append([None if w is None else w[at] for w, at in pairs])
        return out[0], out[1], out[2], out[3]

    def _choose_anchor(self) -> None:
        candidates = self._candidates()
        best, as_good = self._compare(candidates) if len(candidates) > 1 else (candidates[0], [])
        self.chosen["maps"], self.chosen["anchor"] = best.maps, best.anchor
        for one in (best, *as_good):
            self.alternatives += zip(*(one.ratios(rows) for rows in self.held), strict=True)

    def _candidates(self) -> list[Candidate]:
        """One for each of the maps in question, in the order of their complexity."""
        maps = [self.chosen["maps"]]
        if is_auto(maps[0]):
            shared = SharedMaps().fit(*self.train, *self.train_weights)
            maps = [None] if shared.is_identity else [None, shared.kinds_]
        out = []
        automatic = is_auto(self.chosen["anchor"])
        for kinds in maps:
            where = fit_coordinates(*self.train, *self.train_weights, maps=kinds, warn=False)
            Z = [where(rows) for rows in self.train]
            fitted = fit_anchors(self.chosen["anchor"], Z, self.train_weights, where)
            rivals = [getattr(one, "rivals_", []) for one in fitted]
            fitted = [one.anchor_ if isinstance(one, AutoAnchor) else one for one in fitted]
            bridge = Bridge(maps=kinds)
            if all(hasattr(one, "components_") for one in fitted):
                bridge.place(where, fitted, Z, self.train_weights)
            else:
                bridge.fit(*self.train, *self.train_weights)
            prefix = "" if kinds is None else "mapped columns, "
            out.append(
                Candidate(
                    f"{prefix}{name_of(fitted[0])} for p, {name_of(fitted[1])} for q",
                    where,
                    kinds,
                    tuple(map(unfitted, fitted)) if automatic else self.chosen["anchor"],
                    fitted,
                    bridge,
                    rivals,
                )
            )
            if automatic:
                held = [where(rows) for rows in self.held]
                # The same families whichever sample is called p.
                for name, one in sorted({name_of(one): one for one in fitted}.items()):
                    for places, what in (("one", ""), ("two", ", moved")):
                        if places == "two" and not isinstance(one, _ROUND):
                            continue
                        pooled = Pooled(unfitted(one), places)
                        both = fit_anchors(pooled, Z, self.train_weights, where)
                        if places == "two" and denser(fitted, both, held, self.held_weights):
                            continue
                        title = f"{prefix}one {name} for both{what}"
                        out.append(Candidate(title, where, kinds, pooled, both))
        return out

    def _compare(self, candidates: list[Candidate]) -> tuple[Candidate, list[Candidate]]:
        """Score the densities of p and q against the bridges of all candidates together.

        Returns the best, and those that are not worse by more than chance.
        """
        bridges = [one.bridge for one in candidates if one.bridge is not None]
        few = min(map(len, self.samples)) <= _FEW_ROWS
        splits = [self._split(k) for k in range(_QUARTERS if few else 1)]
        parts = [list(held) for _, _, held, _ in splits]
        size = max(len(x) for part in parts for x in part)
        for k, bridge in enumerate(bridges):
            rows = bridge.sample(-(-size // len(bridges)) * len(splits), self.seeds(f"bridge {k}"))
            for part, draws in zip(parts, np.array_split(rows, len(splits)), strict=True):
                part[2:] = [np.concatenate([*part[2:], draws])]
        known = [
            [
                logsumexp([bridge.log_density(x) for bridge in bridges], axis=0)
                - np.log(len(bridges))
                for x in part
            ]
            for part in parts
        ]
        weights = [[*held_weights, None] for *_, held_weights in splits]
        share = [
            np.concatenate([shares(part[c], w[c]) for w, part in zip(weights, parts, strict=True)])
            / len(splits)
            for c in range(3)
        ]
        best: Any = None
        scores: list[tuple[Candidate, Score]] = []
        # The simplest first: one density for both, without maps.
        for one in sorted(candidates, key=lambda c: (c.maps is not None, c.bridge is not None)):
            terms: list[list[Array]] = [[], [], []]
            try:
                fits = [one, *(one.fitted_to(*split[:2]) for split in splits[1:])]
            except np.linalg.LinAlgError:
                # What cannot be fitted to other rows of the same samples is not chosen.
                continue
            for fit, part, m in zip(fits, parts, known, strict=True):
                for c in range(3):
                    logits = np.column_stack([fit.log_density(part[c]), m[c]])
                    terms[c].append(log_softmax(logits, axis=1)[:, c])
            score = Score(list(map(np.concatenate, terms)), share, np.full(3, 1.0 / 3.0))
            against = None if best is None else best[1]
            gain, error = (0.0, 0.0) if against is None else score.gain(against)
            errors = _MAP_ERRORS if one.maps is not None else 1.0
            better = against is None or gain > errors * error
            self._note("anchor", one.name, score, against, better)
            scores.append((one, score))
            if better:
                best = one, score
        if best is None:
            return candidates[0], []
        lost = [(one, *score.gain(best[1])) for one, score in scores if one is not best[0]]
        return best[0], [one for one, gain, error in lost if gain > -_DOUBT * error]

    def _chain(self) -> list[Link]:
        """The chain of auxiliaries; to begin with, only its overlapping link."""
        chain = build_chain(self.train[0], self.train[1], self.seeds("chain"))
        known = [link for link in chain if isinstance(link.auxiliary, Bridge)]
        self.reasons = [link.reason for link in known or chain]
        self.chosen["auxiliaries"] = [link.auxiliary for link in known or chain]
        return chain

    def _try_chain(self, chain: list[Link]) -> None:
        """Keep the whole chain if it makes the classes shared with the shorter one likelier."""
        critic = self.chosen["critic"]
        if not np.isfinite(self.chosen["l2"]) or is_classifier(critic) or is_neural(critic):
            # Where nothing is learned from the classes, further ones bring nothing.
            return
        scores = []
        for auxiliaries in (self.chosen["auxiliaries"], [link.auxiliary for link in chain]):
            critic = _resolved(self.chosen["critic"])
            setup = self._setup(critic, {"auxiliaries": auxiliaries})
            held = HeldOut(setup, self.held, self.held_weights, self.seeds)
            bound = setup.bind(critic, self.seeds)
            objective = Objective(bound, setup.sample, self.chosen["l2"])
            start = np.zeros(bound.n_parameters)
            theta = SOLVERS["newton"](objective, start, tol=1e-4, max_iter=20).theta
            shared = [0, 1, *(c for c, m in enumerate(auxiliaries, 2) if isinstance(m, Bridge))]
            scores.append(held.score(bound, theta, shared))
        better = _proven(scores[1], scores[0])
        self._note("auxiliary", f"{len(chain)} auxiliaries", scores[1], scores[0], better)
        if better:
            self.chosen["auxiliaries"] = [link.auxiliary for link in chain]
            self.reasons = [link.reason for link in chain]

    def _setup(self, critic: Any, settings: dict[str, Any]) -> Setup:
        """The training rows, with few draws of the auxiliaries: enough to tell candidates apart."""
        return Setup(
            self.train[0],
            self.train[1],
            (self.train_weights[0], self.train_weights[1]),
            {**self.settings, **self.chosen, **settings, "oversample": 2.0},
            kind=critic.coordinates,
            covariance=critic.covariance,
            seeds=self.seeds,
            names=self.names,
            warn=False,
        )

    def _choose_critic(self) -> None:
        """Penalty paths, from strong to weak, of one critic after another."""
        given = self.chosen["critic"]
        d = self.train[0].shape[1]
        critics = _critics(d) if is_auto(given) else [(str(given), _resolved(given))]
        first = critics[0][1]
        setup = self._setup(first, {})
        held = HeldOut(setup, self.held, self.held_weights, self.seeds)
        best = held.score()
        previous = best
        self._note("critic", "anchors alone", best, None, True)
        self.chosen["critic"], self.chosen["l2"] = first, np.inf
        rows = sum(map(len, self.train))
        for name, critic in critics:
            bound = setup.bind(critic, self.seeds)
            if bound.n_features * _ROWS_PER_FEATURE > rows and is_auto(given):
                continue
            path = list(self._path(bound, setup, held, best))
            l2, score = path[int(np.argmax([score.value for _, score in path]))]
            chosen = _proven(score, best)
            if chosen:
                # The strongest penalty that is as good as the best, as far as can be told.
                l2, score = next(
                    (weak, other)
                    for weak, other in path
                    if score.gain(other)[0] <= score.gain(other)[1]
                )
                best = score
                self.chosen["critic"], self.chosen["l2"] = critic, l2
            for strength, other in path:
                self._note(
                    "critic",
                    f"{name}, l2 = {strength:.3g}",
                    other,
                    previous,
                    chosen and strength == l2,
                    weakest=strength <= _STRENGTHS[-1] * bound.n_features,
                )
            previous = best
        if not is_auto(self.settings["l2"]):
            self.chosen["l2"] = self.settings["l2"]
        if is_auto(given) and not self.settings.get("networks"):
            for name, score, settings in beyond(setup, held, best, self.chosen, self.seeds):
                chosen = _proven(score, best)
                self._note("critic", name, score, best, chosen)
                if chosen:
                    best = score
                    self.chosen |= settings

    def _path(
        self, bound: Any, setup: Setup, held: HeldOut, start: Score
    ) -> Iterator[tuple[float, Score]]:
        """Scores along the penalty, from strong to weak, each fit started from the one before."""
        theta, top, misses = np.zeros(bound.n_parameters), start, 0
        penalties = [strength * bound.n_features for strength in _STRENGTHS]
        if not is_auto(self.settings["l2"]):
            penalties = [float(self.settings["l2"])]
        for l2 in penalties:
            objective = Objective(bound, setup.sample, l2)
            theta = SOLVERS["newton"](objective, theta, tol=1e-4, max_iter=20).theta
            score = held.score(bound, theta)
            yield l2, score
            misses = 0 if score.value > top.value + 0.1 / score.rows else misses + 1
            top = score if score.value > top.value else top
            if misses == 2 or score.gain(top)[0] < -2.0 * score.gain(top)[1]:
                return

    def _note(
        self,
        stage: str,
        name: str,
        score: Score,
        against: Score | None,
        chosen: bool,
        weakest: bool = False,
    ) -> None:
        gain, error = (0.0, 0.0) if against is None else score.gain(against)
        self.trials.append(Trial(stage, name, score.value, gain, error, chosen, weakest))


def _proven(score: Score, best: Score) -> bool:
    """Whether a score is higher than the best so far beyond doubt."""
    gain, error = score.gain(best)
    return gain > max(_ERRORS * error, _LEAST_GAIN / score.rows)


def _critics(d: int) -> list[tuple[str, Any]]:
    out: list[tuple[str, Any]] = [
        ("quadratic", Quadratic()),
        (
            "quadratic, radial and splines",
            Sum([Quadratic(), Radial(), Splines(coordinates="canonical")]),
        ),
    ]
    if d <= _BUMP_COLUMNS:
        out.append(("quadratic and bumps", Sum([Quadratic(), Bumps()])))
    return out


def _resolved(critic: Any) -> Any:
    return CRITICS[critic] if isinstance(critic, str) else critic

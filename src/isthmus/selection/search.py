"""The search behind "auto": every candidate is judged on rows that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import log_softmax, logsumexp

from ..anchors import (
    Pooled,
    can_move,
    fit_anchor,
    fit_anchors,
    has_components,
)
from ..auxiliaries import Bridge, is_known
from ..auxiliaries.chain import Link, build_chain
from ..critics import Bumps, Quadratic, Radial, Splines, Sum
from ..critics.mlp import is_neural
from ..critics.resolve import convex_critic
from ..data.holdout import LIKELY, SEARCH_ROWS, quarters
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..maps import SharedMaps
from ..maps.affine import canonical_map
from ..model.classifier import is_classifier
from ..model.objective import Objective
from ..model.rows import ClassRows, prepare
from ..model.solvers import newton
from ..settings import Settings, is_auto
from ..typing import Array, Critic, LinearCritic
from .candidates import Candidate, Place, denser, family_of, name_of, unfitted
from .flexible import flexible_candidates
from .record import Selection, Trial
from .score import HeldOut, Score

# Up to so many rows of a sample, every quarter of them is held out in turn.
_FEW_ROWS, _QUARTERS = 5_000, 4
_STRENGTHS = (100.0, 10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4)
_BUMP_COLUMNS = 10
_ROWS_PER_FEATURE = 15


class Search:
    """The search over everything that is left to be chosen.

    Parameters
    ----------
    settings : Settings
        What was asked for.
    samples : TwoSamples
    seeds : Seeds
    networks : bool
        Whether networks and trees may be tried for the critic.
    """

    def __init__(
        self, settings: Settings, samples: TwoSamples, seeds: Seeds, networks: bool = True
    ) -> None:
        self.asked, self.seeds, self.networks = settings, seeds, networks
        self.trials: list[Trial] = []
        self.reasons: list[str] = []
        self.alternatives: list[tuple[Array, Array]] = []
        self.within = (
            np.minimum(*(sample.rows.min(axis=0) for sample in samples)),
            np.maximum(*(sample.rows.max(axis=0) for sample in samples)),
        )
        samples = samples.bounded(SEARCH_ROWS)
        # By value first, so that the order in which rows are given does not matter.
        first = canonical_map(samples, warn=False)
        orders = [np.argsort(first(sample.rows)[:, 0], kind="stable") for sample in samples]
        self.samples = samples.take(*orders)
        self.splits = [
            quarters(seeds("hold out").permutation(len(order)), _QUARTERS) for order in orders
        ]
        self.train, self.held = self._split(0)
        self.few = samples.least <= _FEW_ROWS

    def run(self) -> tuple[Settings, Selection]:
        """Choose maps and anchors, then auxiliaries, then critic and penalty."""
        settings = self.asked
        if is_auto(settings.maps) or is_auto(settings.anchor):
            settings = self._choose_anchor(settings)
        chain: list[Link] = []
        if is_auto(settings.auxiliaries):
            chain = build_chain(self.train.p.rows, self.train.q.rows, self.seeds("chain"))
            # To begin with, only its overlapping link.
            links = [link for link in chain if is_known(link.auxiliary)] or chain
            settings = self._linked(settings, links)
        if is_auto(settings.critic) or is_auto(settings.l2):
            settings = self._choose_critic(settings)
        if chain and len(chain) > len(settings.auxiliaries):
            settings = self._try_chain(settings, chain)
        return settings, Selection(
            self.trials, reasons=self.reasons, alternatives=self.alternatives
        )

    def _split(self, k: int) -> tuple[TwoSamples, TwoSamples]:
        """The rows to fit to, and the quarter that is held out."""
        at_p, at_q = (splits[k] for splits in self.splits)
        train = self.samples.take(at_p.train, at_q.train)
        return train, self.samples.take(at_p.held, at_q.held)

    def _linked(self, settings: Settings, links: list[Link]) -> Settings:
        self.reasons = [link.reason for link in links]
        return settings.but(auxiliaries=[link.auxiliary for link in links])

    def _choose_anchor(self, settings: Settings) -> Settings:
        candidates = self._candidates(settings)
        best, as_good = self._compare(candidates) if len(candidates) > 1 else (candidates[0], [])
        for one in (best, *as_good, *self._moved_rivals(best, candidates)):
            self.alternatives += zip(*(one.ratios(held.rows) for held in self.held), strict=True)
        return settings.but(maps=best.maps, anchor=best.anchor)

    def _moved_rivals(self, best: Candidate, candidates: list[Candidate]) -> Iterator[Candidate]:
        """Other families that fit either sample about as well, one moved for both like the best."""
        if not (isinstance(best.anchor, Pooled) and best.anchor.places == "two"):
            return
        for apart in candidates:
            if not apart.rivals or apart.maps is not best.maps:
                continue
            place = Place(apart.where, self.train.map(apart.where))
            sides = [
                {family_of(one): one for one in (mine, *theirs)}
                for mine, theirs in zip(apart.fitted, apart.rivals, strict=True)
            ]
            for name in sorted(sides[0].keys() & sides[1].keys()):
                one = unfitted(sides[0][name])
                if can_move(sides[0][name]) and name != family_of(best.anchor.anchor):
                    pooled = Pooled(one, "two")
                    both = fit_anchors(pooled, place.inside, place.where)
                    yield Candidate(name, place.where, best.maps, pooled, both)

    def _candidates(self, settings: Settings) -> list[Candidate]:
        """One for each of the maps in question, in the order of their complexity."""
        maps = [settings.maps]
        if is_auto(maps[0]):
            p, q = self.train
            shared = SharedMaps().fit(p.rows, q.rows, p.weight, q.weight, within=self.within)
            maps = [None] if shared.is_identity else [None, shared.kinds_]
        out = []
        for kinds in maps:
            place = Place.of(self.train, kinds)
            prefix = "" if kinds is None else "mapped columns, "
            apart = self._apart(settings.anchor, place, kinds, prefix)
            out.append(apart)
            if is_auto(settings.anchor):
                out += self._together(apart.fitted, place, kinds, prefix)
        return out

    def _apart(self, anchor: Any, place: Place, kinds: Any, prefix: str) -> Candidate:
        """One density for p and one for q, with the bridge that lies on them."""
        fitted, rivals = self._judged(anchor, place)
        bridge = Bridge(maps=kinds)
        if all(map(has_components, fitted)):
            bridge.place(place.where, fitted, place.inside)
        else:
            p, q = self.train
            bridge.fit(p.rows, q.rows, p.weight, q.weight)
        name = f"{prefix}{name_of(fitted[0])} for p, {name_of(fitted[1])} for q"
        spec = tuple(map(unfitted, fitted)) if is_auto(anchor) else anchor
        return Candidate(name, place.where, kinds, spec, fitted, bridge, rivals)

    def _judged(self, anchor: Any, place: Place) -> tuple[list[Any], list[list[Any]]]:
        """Anchors of p and of q, and their rivals, fitted to the training rows.

        Which families these are is judged by all rows, so that the seed does not decide it.
        """
        if not is_auto(anchor):
            fitted = fit_anchors(anchor, place.inside, place.where)
            rivals = [list(getattr(one, "rivals_", [])) for one in fitted]
            return [getattr(one, "anchor_", one) for one in fitted], rivals
        judged = fit_anchors(anchor, self.samples.map(place.where), place.where)
        sides = zip(judged, place.inside, reversed([*place.inside]), strict=True)
        fits = [
            [
                fit_anchor(unfitted(each), own, place.where.surroundings(other.rows))
                for each in (one.anchor_, *one.rivals_)
            ]
            for one, own, other in sides
        ]
        return [first for first, *_ in fits], [rest for _, *rest in fits]

    def _together(
        self, fitted: list[Any], place: Place, kinds: Any, prefix: str
    ) -> Iterator[Candidate]:
        """One density for both, at one place or moved."""
        held = self.held.map(place.where)
        # The same families whichever sample is called p.
        for name, one in sorted({name_of(one): one for one in fitted}.items()):
            for places, what in (("one", ""), ("two", ", moved")):
                if places == "two" and not can_move(one):
                    continue
                pooled = Pooled(unfitted(one), places)
                both = fit_anchors(pooled, place.inside, place.where)
                if places == "two" and denser(fitted, both, held):
                    continue
                title = f"{prefix}one {name} for both{what}"
                yield Candidate(title, place.where, kinds, pooled, both)

    def _compare(self, candidates: list[Candidate]) -> tuple[Candidate, list[Candidate]]:
        """Score the densities of p and q against the bridges of all candidates together.

        Returns the best, and those that are not worse by more than chance.
        """
        bridges = [one.bridge for one in candidates if one.bridge is not None]
        splits = [self._split(k) for k in range(_QUARTERS if self.few else 1)]
        parts = [[sample.rows for sample in held] for _, held in splits]
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
        shares = [
            [*(sample.share for sample in held), np.full(len(part[2]), 1.0 / len(part[2]))]
            for (_, held), part in zip(splits, parts, strict=True)
        ]
        share = [np.concatenate([one[c] for one in shares]) / len(splits) for c in range(3)]
        places: dict[tuple[int, str], Place] = {}

        def place(k: int, maps: Any) -> Place:
            # Candidates behind the same maps share their coordinates.
            key = (k, repr(maps))
            if key not in places:
                places[key] = Place.of(splits[k][0], maps)
            return places[key]

        best: Any = None
        scores: list[tuple[Candidate, Score]] = []
        # The simplest first: one density for both, without maps.
        for one in sorted(candidates, key=lambda c: (c.maps is not None, c.bridge is not None)):
            terms: list[list[Array]] = [[], [], []]
            try:
                fits = [
                    one,
                    *(one.fitted_to(place(k, one.maps)) for k in range(1, len(splits))),
                ]
            except np.linalg.LinAlgError:
                # What cannot be fitted to other rows of the same samples is not chosen.
                continue
            for fit, part, m in zip(fits, parts, known, strict=True):
                for c in range(3):
                    logits = np.column_stack([fit.log_density(part[c]), m[c]])
                    terms[c].append(log_softmax(logits, axis=1)[:, c])
            score = Score(list(map(np.concatenate, terms)), share, np.full(3, 1.0 / 3.0))
            better = True
            if best is not None:
                gain = score.gain(best[1])
                better = gain.mean > (LIKELY if one.maps is not None else 1.0) * gain.std_error
            self._note("anchor", one.name, score, None if best is None else best[1], better)
            scores.append((one, score))
            if better:
                best = one, score
        if best is None:
            return candidates[0], []
        lost = [(one, score.gain(best[1])) for one, score in scores if one is not best[0]]
        return best[0], [one for one, gain in lost if gain.mean > -LIKELY * gain.std_error]

    def _try_chain(self, settings: Settings, chain: list[Link]) -> Settings:
        """Keep the whole chain if it makes the classes shared with the shorter one likelier."""
        if (
            not np.isfinite(settings.l2)
            or is_classifier(settings.critic)
            or is_neural(settings.critic)
        ):
            # Where nothing is learned from the classes, further ones bring nothing.
            return settings
        critic, scores = convex_critic(settings.critic), []
        for auxiliaries in (settings.auxiliaries, [link.auxiliary for link in chain]):
            classes = self._classes(critic, settings.but(auxiliaries=auxiliaries))
            bound = classes.bind(critic)
            theta = _minimum(bound, classes, settings.l2, np.zeros(bound.n_parameters))
            shared = [0, 1, *(c for c, m in enumerate(auxiliaries, 2) if is_known(m))]
            held = HeldOut(classes, self.held, self.seeds)
            scores.append(held.score(bound, theta, shared))
        better = scores[1].proven(scores[0])
        self._note("auxiliary", f"{len(chain)} auxiliaries", scores[1], scores[0], better)
        return self._linked(settings, chain) if better else settings

    def _classes(self, critic: Critic, settings: Settings) -> ClassRows:
        """The training rows, with few draws of the auxiliaries: enough to tell candidates apart."""
        return prepare(self.train, settings.but(oversample=2.0), critic, self.seeds, warn=False)

    def _choose_critic(self, settings: Settings) -> Settings:
        """Penalty paths, from strong to weak, of one critic after another."""
        given = settings.critic
        critics = [(str(given), convex_critic(given))]
        if is_auto(given):
            critics = _critics(self.train.n_columns)
        first = critics[0][1]
        classes = self._classes(first, settings)
        held = HeldOut(classes, self.held, self.seeds)
        best = previous = held.score()
        self._note("critic", "anchors alone", best, None, True)
        settings = settings.but(critic=first, l2=np.inf)
        rows = sum(map(len, self.train))
        for name, critic in critics:
            bound = classes.bind(critic)
            if bound.n_features * _ROWS_PER_FEATURE > rows and is_auto(given):
                continue
            path = list(self._path(bound, classes, held, best))
            l2, score = path[int(np.argmax([score.value for _, score in path]))]
            chosen = score.proven(best)
            if chosen:
                # The strongest penalty that is as good as the best, as far as can be told.
                l2, score = next(
                    (weak, other)
                    for weak, other in path
                    if score.gain(other).mean <= score.gain(other).std_error
                )
                best = score
                settings = settings.but(critic=critic, l2=l2)
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
        if not is_auto(self.asked.l2):
            settings = settings.but(l2=self.asked.l2)
        if is_auto(given) and self.networks:
            for name, score, others in flexible_candidates(classes, held, settings, self.seeds):
                chosen = score.proven(best)
                self._note("critic", name, score, best, chosen)
                if chosen:
                    best, settings = score, settings.but(**others)
        return settings

    def _path(
        self, bound: LinearCritic, classes: ClassRows, held: HeldOut, start: Score
    ) -> Iterator[tuple[float, Score]]:
        """Scores along the penalty, from strong to weak, each fit started from the one before."""
        theta, top, misses = np.zeros(bound.n_parameters), start, 0
        penalties = [strength * bound.n_features for strength in _STRENGTHS]
        if not is_auto(self.asked.l2):
            penalties = [float(self.asked.l2)]
        for l2 in penalties:
            theta = _minimum(bound, classes, l2, theta)
            score = held.score(bound, theta)
            yield l2, score
            misses = 0 if score.value > top.value + 0.1 / score.rows else misses + 1
            top = score if score.value > top.value else top
            if misses == 2 or score.gain(top).mean < -LIKELY * score.gain(top).std_error:
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


def _minimum(bound: LinearCritic, classes: ClassRows, l2: float, start: Array) -> Array:
    """Parameters near the minimum of the objective: close enough to be judged."""
    return newton(Objective(bound, classes.blocks, l2), start, tol=1e-4, max_iter=20).theta


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

"""Rows of a source by their numbers: pieces, groups, the sample, coefficients of a stack."""

from dataclasses import fields
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import isthmus
from isthmus.data.engine import Here
from isthmus.data.memory import array_source
from isthmus.data.sample import bounded_rows, row_hash
from isthmus.functionals import get_divergence
from isthmus.functionals.binned import Binned, BinnedRatios
from isthmus.large.anchors import extremes
from isthmus.large.coefficients import Curve, judged, weighed
from isthmus.large.critic import drawn_source
from isthmus.large.looking import QuickLook
from isthmus.large.moving import MovingBins
from isthmus.large.normals import TwoNormals, log_ratio_of
from isthmus.large.passes import Passes
from isthmus.large.pieces import (
    GROUPS,
    Piece,
    Pieces,
    groups_of,
    plain_columns,
    side_by_side,
    together,
)
from isthmus.large.sampling import Keep
from isthmus.tables.columns import Column
from isthmus.tables.frames import TableEncoder
from isthmus.tables.looking import Looking
from isthmus.tables.tallies import Levels, Values


def test_bounded_rows_are_those_of_smallest_hashes():
    """However many are hashed at a time."""
    for n, most in ((1000, 10), (1000, 999), (5000, 4990), (2_100_000, 500)):
        expected = np.sort(np.argsort(row_hash(0, n), kind="stable")[:most])
        assert np.array_equal(bounded_rows(n, most), expected)


def test_groups_depend_on_the_numbers_of_rows_alone():
    numbers = np.arange(1000, 3000)
    whole = groups_of(numbers, GROUPS)
    assert np.array_equal(groups_of(numbers[500:], GROUPS), whole[500:])
    assert np.array_equal(groups_of(numbers[::7], GROUPS), whole[::7])
    assert set(whole.tolist()) == set(range(GROUPS))


def test_a_piece_is_split_into_its_groups():
    rng = np.random.default_rng(0)
    piece = Piece(rng.normal(size=(300, 2)), rng.random(300), np.arange(40, 340))
    found = dict(piece.groups(GROUPS))
    group = groups_of(piece.numbers, GROUPS)
    for k, some in found.items():
        assert np.array_equal(some.rows, piece.rows[group == k])
        assert np.array_equal(some.weight, piece.weight[group == k])
    assert sum(len(some.rows) for some in found.values()) == 300


def test_pieces_are_joined():
    rng = np.random.default_rng(0)
    rows, weight = rng.normal(size=(50, 2)), rng.random(50)
    for own in (None, weight):
        pieces = [
            Piece(
                rows[at : at + 10], None if own is None else own[at : at + 10], at + np.arange(10)
            )
            for at in range(0, 50, 10)
        ]
        found = list(together(iter(pieces), 50))
        assert [len(one.rows) for one in found] == [30, 20]
        assert np.array_equal(np.concatenate([one.rows for one in found]), rows)
        assert np.array_equal(np.concatenate([one.numbers for one in found]), np.arange(50))
        assert own is None or np.array_equal(np.concatenate([one.weight for one in found]), own)


def test_rows_that_were_seen_are_left_out():
    piece = Piece(np.arange(10.0)[:, None], None, np.arange(20, 30))
    left = piece.without(np.array([3, 20, 25, 29, 31]))
    assert left.numbers.tolist() == [21, 22, 23, 24, 26, 27, 28]
    assert piece.without(np.array([3, 31])) is piece


def test_the_sample_is_the_same_whatever_the_parts():
    rows = np.random.default_rng(0).normal(size=(30_000, 2))
    pieces = Pieces("p", 2)
    places = bounded_rows(len(rows), 500)
    for cut in ([rows], [rows[:7], rows[7:20_001], rows[20_001:]]):
        from isthmus.sources import as_source

        source = as_source(cut, "p")
        kept = Passes(Here(), [source], lambda *told: None)("look", [Keep(pieces, places)])[0]
        assert np.array_equal(kept.rows, rows[places])
        assert np.array_equal(kept.numbers, places)


def test_batches_must_be_of_one_width():
    pieces = Pieces("p", 3)
    with pytest.raises(ValueError, match="p must have 3 columns in every batch"):
        list(pieces(iter([np.zeros((4, 2))]), 0))


def test_auxiliaries_are_drawn_from_seeds_of_their_blocks():
    from isthmus.auxiliaries import StudentT

    rng = np.random.default_rng(0)
    auxiliary = StudentT(df=5.0).fit(rng.normal(size=(50, 2)), rng.normal(size=(50, 2)))
    source = drawn_source(auxiliary, "m1", 300_000, 7, 2)
    assert source.rows == 300_000
    first = [part.read(part.payload, None) for part in source.parts]
    again = [part.read(part.payload, None) for part in reversed(source.parts)][::-1]
    for a, b in zip(first, again, strict=True):
        one, other = list(a), list(b)
        assert all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))
    means = [np.concatenate(list(part.read(part.payload, None))).mean() for part in source.parts]
    assert len({round(mean, 9) for mean in means}) == len(means)


def test_coefficients_step_and_stay_in_range():
    """A step of Newton's on a quadratic ends at its minimum, with none below zero."""
    H = np.array([[400.0, 100.0, 0.0], [100.0, 300.0, 0.0], [0.0, 0.0, 50.0]])
    at, end = np.array([0.5, 0.2, 0.0]), np.array([0.9, 0.4, -0.3])
    half = Curve(100.0, H @ (at - end), H)
    found = weighed(at, [half, half], 200)
    assert found == pytest.approx(end, abs=0.02)
    beyond = np.array([0.9, -0.4, -0.3])
    half = Curve(100.0, H @ (at - beyond), H)
    found = weighed(at, [half, half], 200)
    assert found[1] == 0.0
    # The other takes over what the minimum along the edge asks for.
    assert found[0] == pytest.approx(0.9 - 100 / 400 * 0.4, abs=0.02)


def test_further_rows_say_what_counts():
    """Candidates that others make needless go, and one that is right is the answer alone."""
    rng = np.random.default_rng(0)
    p, q = rng.normal(0.5, 1, 20_000), rng.normal(-0.5, 1, 20_000)  # the log-ratio is x
    weights = [np.ones(20_000)] * 2
    noise = [0.3 * rng.normal(size=20_000) for _ in range(2)]
    says = [np.column_stack([x, x + e]) for x, e in zip((p, q), noise, strict=True)]
    found = judged(says, weights, np.array([0.0, 1.0, 0.0]))
    assert found.alone and found.coefficients[1] == 0.0
    assert found.coefficients[0] == pytest.approx(1.0, abs=0.05)
    # What is half of the truth is not the answer as it is; two halves are both asked for.
    half = judged([0.5 * x[:, None] for x in (p, q)], weights, np.array([1.0, 0.0]))
    assert not half.alone and half.coefficients[0] == pytest.approx(2.0, abs=0.1)
    parts = [np.column_stack([np.minimum(x, 0), np.maximum(x, 0)]) for x in (p, q)]
    both = judged(parts, weights, np.array([1.0, 0.0, 0.0]))
    assert not both.alone and both.coefficients[:2] == pytest.approx([1.0, 1.0], abs=0.1)


def test_normals_are_one_quadratic():
    rng = np.random.default_rng(0)
    p, q = rng.normal(1e3, 1, (500, 3)), rng.normal(1e3, 1.5, (500, 3)) * [1, 2, 1e-3]
    for anchor in ("gaussian", "student-t"):
        mdre = isthmus.MDRE(maps=None, anchor=anchor, critic="quadratic", l2=np.inf)
        mdre.fit(*isthmus.stack(p, q))
        found = log_ratio_of(mdre.model_, p)
        assert isinstance(found, TwoNormals) == (anchor == "gaussian")
        assert found(q) == pytest.approx(mdre.log_ratio(q), rel=1e-7, abs=1e-7)


def test_bins_move_with_the_coefficients():
    """As if rows were put into bins anew, but for the square of how much rows of a bin differ."""
    rng = np.random.default_rng(0)
    says, weight = rng.normal(size=(5000, 2)), rng.random(5000)
    at, by = np.array([1.0, 0.3, -0.1]), np.array([0.004, -0.01, 0.02])
    js, q = get_divergence("js"), Binned.of(rng.normal(size=4000))
    for own in (None, weight):
        halves = (slice(0, 2000), slice(2000, None))
        first, second = (
            MovingBins.of(says[half], None if own is None else own[half], at) for half in halves
        )
        moved = (first + second).moved(by)
        ratio = says @ (at + by)[:-1] + (at + by)[-1]
        anew = Binned.of(ratio, own)
        assert moved.rows == anew.rows and moved.weight.sum() == pytest.approx(anew.weight.sum())
        mean, found = (np.average(one.values, weights=one.weight) for one in (anew, moved))
        assert found == pytest.approx(mean, rel=1e-9)
        expected = BinnedRatios(anew, q).value(js)
        # Rows of a bin differ by 0.01 nats: half its square is 5e-5.
        assert BinnedRatios(moved, q).value(js) == pytest.approx(expected, abs=5e-5)
        assert (first + second).distance(by) < 0.03


def test_numbers_are_read_without_a_detour_where_none_is_missing():
    table = pa.table({"a": pa.array([1, 2, 3]), "b": pa.array([0.5, 1.5, 2.5], pa.float32())})
    encoder = TableEncoder().fit(table, table.slice(1))
    found = side_by_side(plain_columns(table, encoder), slice(1, 3))
    assert np.array_equal(found, encoder.rows_of(table)[0][1:])
    for bad in (None, np.nan, np.inf):
        changed = table.set_column(0, "a", pa.array([1.0, bad, 2.0]))
        assert plain_columns(changed, encoder) is None


def test_extremes_of_columns_whatever_their_number():
    rng = np.random.default_rng(0)
    for shape in ((3, 2), (1000, 7), (129, 2), (40, 300)):
        X = rng.normal(size=shape)
        low, high = extremes(X)
        assert np.array_equal(low, X.min(axis=0)) and np.array_equal(high, X.max(axis=0))


def test_a_quick_look_finds_what_a_look_finds():
    """Numbers, numbers with gaps, whole numbers, text and dates, however they are cut."""
    rng = np.random.default_rng(0)
    n = 20_000
    gaps = rng.normal(size=n)
    gaps[::7] = np.nan
    table = pa.table(
        {
            "x": rng.normal(size=n).astype(np.float32),
            "gaps": gaps,
            "key": np.arange(n),
            "few": rng.integers(0, 3, n) / 2,
            "town": rng.choice(["Bonn", "Kiel"], n),
            "day": pa.array(rng.integers(0, 99, n).astype("datetime64[D]")),
            "far": np.where(np.arange(n) == 5, np.inf, gaps),
        }
    )
    names = tuple(table.column_names)
    look = Looking.at(n, names, "p", most=500)
    for cut in ([n], [9000, n - 9000]):
        ends = np.concatenate([[0], np.cumsum(cut)])
        batches = [table.slice(a, b - a) for a, b in pairwise(ends)]
        expected, found = look([table], 70), QuickLook(look)(iter(batches), 70)
        assert found.rows == expected.rows and list(found.columns) == list(expected.columns)
        for name in names:
            _same(found.columns[name], expected.columns[name])
            a, b = (one.drawn.columns[name] for one in (found, expected))
            assert np.array_equal(a.values, b.values, equal_nan=a.kind != "category")
        assert np.array_equal(found.drawn.places, expected.drawn.places)
        assert np.array_equal(found.drawn.hashes, expected.drawn.hashes)


def _same(found, expected):
    """Two summaries say the same."""
    for field in fields(expected):
        a, b = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(b, Values | Levels):
            assert np.array_equal(a.rows, b.rows)
        elif not isinstance(b, Column) and field.name != "parts":
            assert a == b or np.isnan([a, b]).all(), field.name


def test_weights_travel_with_their_rows():
    rows, weight = np.arange(600_000.0)[:, None], np.arange(600_000.0)
    source = array_source(rows, "p", weight)
    assert len(source.parts) == 3
    for part in source.parts:
        own, w = next(part.read(part.payload, None))
        assert np.array_equal(own[:, 0], w)

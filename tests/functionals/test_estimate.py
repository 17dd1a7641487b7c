"""The answer's form: rounding, intervals, storage."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle

import numpy as np
import pytest
from scipy import stats

from isthmus.functionals import Estimate


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((200.3, 1.5, 197.4, 203.2), "200.3 ± 1.5 (95 % interval 197.4 to 203.2)"),
        ((0.123456, 0.00213, 0.119, 0.128), "0.1235 ± 0.0021 (95 % interval 0.1190 to 0.1280)"),
        ((12345.6, 321.0, 11716.0, 12975.0), "12346 ± 321 (95 % interval 11716 to 12975)"),
        ((1.0, 0.0996, 0.8, 1.2), "1.00 ± 0.10 (95 % interval 0.80 to 1.20)"),
        ((2.5, 0.0, 2.5, 2.5), "2.5 ± 0 (95 % interval 2.5 to 2.5)"),
        ((3e20, 1e5, 3e20, 3e20), "3e+20 ± 1e+05 (95 % interval 3e+20 to 3e+20)"),
        ((1.0, np.inf, 0.0, 1.0), "1 ± inf (95 % interval 0 to 1)"),
    ],
)
def test_text(numbers, text):
    assert str(Estimate(*numbers)) == text


def test_repr_names_level_and_method():
    e = Estimate(1.0, 0.1, 0.8, 1.2, level=0.9, method="bootstrap")
    assert repr(e) == "Estimate(1.00 ± 0.10, 90 % interval 0.80 to 1.20, method='bootstrap')"
    assert "99.9 %" in str(Estimate(1.0, 0.1, 0.8, 1.2, level=0.999))


class TestOneSided:
    """An upper end that is not known."""

    E = Estimate(0.4512, 0.04, 0.372, np.inf, reason="trees see more than the anchors do")

    def test_is_told_with_its_reason(self):
        told = "at least 0.372 (95 %); estimate 0.451; how much more is not known"
        assert str(self.E) == f"{told}, because trees see more than the anchors do"
        assert str(dataclasses.replace(self.E, reason="")) == told
        assert repr(self.E) == (
            "Estimate(0.451 ± 0.040, at least 0.372 (95 %), "
            "reason='trees see more than the anchors do')"
        )

    def test_of_a_bounded_quantity_has_its_largest_value_as_end(self):
        e = Estimate.from_std_error(0.3, 0.05, lower=0.0, upper=1.0, reason="the rows are few")
        assert (e.high, e.one_sided) == (1.0, True)
        assert str(e).endswith("how much more is not known, because the rows are few")
        assert not Estimate.from_std_error(0.3, 0.05, lower=0.0, upper=1.0).one_sided

    def test_an_infinite_error_is_a_reason(self):
        e = Estimate.from_std_error(1.0, np.inf, lower=0.0)
        assert e.one_sided and e.unknown.endswith("because its standard error is infinite")

    @pytest.mark.parametrize(
        "e",
        [
            E,
            Estimate(1.0, np.inf, -np.inf, np.inf),
            Estimate(np.inf, np.inf, 0.0, np.inf, level=0.9, reason="q is zero where p is not"),
            Estimate(1.0, 0.1, 0.8, 1.2, method="delta"),
        ],
    )
    def test_round_trip(self, e):
        stored = json.loads(json.dumps(e.to_dict(), allow_nan=False))
        assert Estimate(**stored).to_dict() == e.to_dict()
        assert [stored[end] is None for end in ("low", "high")] == [
            np.isinf(e.low),
            np.isinf(e.high),
        ]
        assert stored["reason"] == e.reason

    def test_what_was_stored_before_is_read(self):
        e = Estimate(1.0, 0.1, "-inf", "inf")
        assert (e.low, e.high) == (-np.inf, np.inf)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_normal_interval(level):
    e = Estimate.from_std_error(2.0, 0.3, level=level)
    low, high = stats.norm(2.0, 0.3).interval(level)
    assert (e.low, e.high) == pytest.approx((low, high), rel=1e-12)
    assert (e.value, e.std_error, e.level, e.method) == (2.0, 0.3, level, "normal")


def test_value_and_ends_are_within_the_range():
    e = Estimate.from_std_error(-0.01, 0.1, lower=0.0)
    assert (e.value, e.unclipped, e.low) == (0.0, -0.01, 0.0)
    assert e.high == pytest.approx(1.959964 * 0.1)
    e = Estimate.from_std_error(0.9, 0.2, lower=0.0, upper=1.0)
    assert e.high == 1.0
    assert e.low == pytest.approx(0.9 - 1.959964 * 0.2)
    e = Estimate.from_std_error(np.inf, np.inf, lower=0.0)
    assert (e.low, e.high) == (0.0, np.inf)


def test_storage():
    e = Estimate(np.float64(1.5), np.array(0.1), 1.3, np.inf, 0.9, "normal")
    assert type(e.value) is float and type(e.std_error) is float
    assert float(e) == 1.5
    assert pickle.loads(pickle.dumps(e)).to_dict() == e.to_dict()
    assert copy.deepcopy(e).to_dict() == copy.copy(e).to_dict() == e.to_dict()
    text = json.dumps(e.to_dict(), allow_nan=False)
    assert Estimate(**json.loads(text)).to_dict() == e.to_dict()
    with pytest.raises(dataclasses.FrozenInstanceError):
        e.value = 2.0


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.1, np.nan])
def test_level_is_checked(level):
    with pytest.raises(ValueError, match=r"level must be a number in \(0, 1\); received"):
        Estimate(1.0, 0.1, 0.8, 1.2, level=level)
    with pytest.raises(ValueError, match=r"level must be a number in \(0, 1\); received"):
        Estimate.from_std_error(1.0, 0.1, level=level)


def test_numbers_are_checked():
    for bad in (-0.1, np.nan):
        with pytest.raises(ValueError, match=r"std_error must be a number in \[0, inf\); received"):
            Estimate(1.0, bad, 0.8, 1.2)
    with pytest.raises(ValueError, match=r"low must be at most high; received low=2\.0"):
        Estimate(1.0, 0.1, 2.0, 1.2)
    with pytest.raises(ValueError, match="value must be a number"):
        Estimate(np.nan, 0.1, 0.8, 1.2)
    with pytest.raises(ValueError, match=r"value must lie between low and high; received 2\.0"):
        Estimate(2.0, 0.1, 0.8, 1.2)
    with pytest.raises(ValueError, match="lower must be at most upper"):
        Estimate.from_std_error(1.0, 0.1, lower=1.0, upper=0.0)


class TestAsFloat:
    E, LARGER = Estimate(0.123, 0.01, 0.1, 0.15), Estimate(0.5, 0.2, 0.1, 0.9)

    def test_is_formatted_as_one(self):
        assert f"{self.E:.2f}" == "0.12" and f"{self.E:8.1e}" == " 1.2e-01"
        assert f"{self.E}" == str(self.E) and "±" in str(self.E)

    def test_arithmetic_gives_floats(self):
        for found, expected in (
            (self.E + 1, 1.123),
            (1 - self.E, 0.877),
            (2 * self.E, 0.246),
            (-self.E, -0.123),
            (abs(self.E), 0.123),
            (sum([self.E, self.LARGER]), 0.623),
            (round(self.E, 2), 0.12),
            (math.exp(self.E), math.exp(0.123)),
        ):
            assert type(found) is float and found == pytest.approx(expected)
        assert round(self.E) == 0 and not math.isinf(self.E)
        assert math.isinf(Estimate.from_std_error(np.inf, np.inf, lower=0.0))

    def test_is_compared_by_its_value(self):
        assert 0.1 < self.E < self.LARGER and self.E != self.LARGER
        assert sorted([self.LARGER, self.E])[0] is self.E and max(self.E, self.LARGER) == 0.5
        same = Estimate(0.123, 0.5, 0.0, 1.0)
        assert same == self.E == 0.123 and hash(same) == hash(self.E) == hash(0.123)

    def test_arrays_hold_it_as_a_number(self):
        assert np.asarray(self.E).dtype == np.float64 and np.asarray(self.E) == 0.123
        both = np.array([self.E, self.LARGER])
        assert both.dtype == np.float64 and both.mean() == pytest.approx(0.3115)
        assert json.loads(json.dumps({"kl": self.E})) == {"kl": 0.123}

"""Frozen settings, and the call of a comparison as code and as a command."""

from __future__ import annotations

import inspect
import shlex
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

import isthmus
from isthmus import MDRE, compare
from isthmus.settings import CHOICES, Call, Settings


class TestSettings:
    def test_they_have_the_names_and_defaults_of_mdre(self):
        signature = inspect.signature(MDRE.__init__).parameters
        for field in fields(Settings):
            assert signature[field.name].default == field.default

    def test_those_of_an_estimator(self):
        settings = Settings.of(MDRE("cauchy", l2=3.0), solver="lbfgs")
        assert (settings.auxiliaries, settings.l2, settings.solver) == ("cauchy", 3.0, "lbfgs")

    def test_nothing_changes_them(self):
        settings = Settings()
        with pytest.raises(FrozenInstanceError):
            settings.l2 = 1.0
        assert settings.but(l2=1.0).l2 == 1.0 and settings.l2 == "auto"

    def test_a_rule_closes_everything_but_the_penalty(self):
        settings = Settings(critic="diagonal")
        assert settings.open_choices == ("maps", "anchor", "auxiliaries", "l2")
        assert settings.by_rule().open_choices == ("l2",)
        assert settings.by_rule().critic == "diagonal"
        assert set(settings.chosen) == set(CHOICES)


CALLS = {
    "defaults": Call(),
    "critic": Call(critic="diagonal"),
    "everything": Call(
        folds=4,
        level=0.9,
        columns=("a", "b,c"),
        drop=("d",),
        missing="drop",
        random_state=3,
        weighted=True,
    ),
    "estimator": Call(estimator=MDRE("cauchy"), random_state=np.int64(5)),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_code_of_a_call_makes_the_same_call(name):
    call = CALLS[name]
    seen = {}

    def recorded(p, q, **given):
        seen.update(given)

    code = f"recorded({', '.join(call.arguments)})"
    exec(code, {"recorded": recorded, "p": 0, "q": 0, "weight_p": 1, "weight_q": 1,
                "MDRE": MDRE, "np": np})  # fmt: skip
    for field in fields(Call):
        if field.name in ("weighted", "files"):
            continue
        value = getattr(call, field.name)
        given = seen.get(field.name, field.default)
        if isinstance(given, list):
            given = tuple(given)
        assert str(given) == str(value)
    assert ("weight_p" in seen) == call.weighted
    assert set(seen) <= set(inspect.signature(compare).parameters)


def test_the_command_of_a_call():
    call = Call(columns=("a", "b,c"), drop=("d",), missing="drop", level=0.9, random_state=2,
                files=("x y.csv", "z.csv"))  # fmt: skip
    words = shlex.split(call.command("--divergence", "js", "--report", "out.html"))
    assert words == [
        "isthmus", "compare", "x y.csv", "z.csv", "--columns", 'a,"b,c"', "--drop", "d",
        "--missing", "drop", "--seed", "2", "--level", "0.9", "--divergence", "js",
        "--report", "out.html",
    ]  # fmt: skip


def test_a_comparison_records_its_call():
    rng = np.random.default_rng(0)
    p = {"a": rng.normal(size=60), "b": rng.normal(size=60), "c": np.arange(60.0)}
    q = {name: values + 1 for name, values in p.items()}
    c = isthmus.compare(p, q, drop=["c"], folds=3, critic="diagonal", random_state=1)
    assert c.call.arguments == [
        "p", "q", "critic='diagonal'", "folds=3", "drop=['c']", "random_state=1",
    ]  # fmt: skip
    assert c.feature_names == ["a", "b"]


def test_a_generator_is_no_seed_that_could_be_written_down():
    call = Call(random_state=np.random.default_rng(0))
    assert not call.has_seed and call.arguments == ["p", "q"]


@pytest.mark.parametrize("argument", ["columns", "drop"])
def test_a_text_is_no_list_of_names(argument):
    table = {"x": np.arange(20.0), "y": np.arange(20.0) ** 2}
    with pytest.raises(ValueError, match=rf"{argument} must be a list of names; received the text"):
        compare(table, table, **{argument: "xy"})


def test_what_the_caller_does_to_arrays_later_is_not_seen():
    rng = np.random.default_rng(2)
    p, q, weight = rng.normal(size=(60, 1)), rng.normal(size=(60, 1)) + 1, rng.uniform(1, 2, 60)
    c = compare(p, q, weight_p=weight, critic="quadratic", folds=2, random_state=0)
    before = c.divergence("js"), c.weight_p.copy(), c.kept.p.copy()
    p[:], q[:], weight[:] = 0.0, 0.0, 1.0
    assert c.divergence("js") == before[0]
    np.testing.assert_array_equal(c.weight_p, before[1])
    np.testing.assert_array_equal(c.kept.p, before[2])

"""Numbers, names and sentences for people."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import Check, Estimate, words


def estimate(value, error=0.1):
    return Estimate.from_std_error(value, error, lower=0.0)


def checks(*verdicts, weights=()):
    found = {f"c{k}": Check(0.0, v, "advice") for k, v in enumerate(verdicts)}
    return found | {f"w{k}": Check(0.0, v, "advice", "weights") for k, v in enumerate(weights)}


class TestAnswerOnThePage:
    @pytest.mark.parametrize(
        ("kl", "found", "told"),
        [
            (
                estimate(12.34),
                checks("ok", "warn", "warn", "ok"),
                "The two samples differ: KL(p‖q) is 12.34 nats (95 % interval 12.14 to 12.54), "
                "and 2 of 4 checks want attention.",
            ),
            (
                estimate(0.05),
                checks("ok", "ok"),
                "The two samples cannot be told apart: KL(p‖q) is 0.05 nats (95 % interval 0.00 "
                "to 0.25), and all 2 checks are passed.",
            ),
            (
                estimate(-0.012),
                checks("warn", "ok"),
                "The two samples cannot be told apart: KL(p‖q) is 0.00 nats (95 % interval 0.00 "
                "to 0.20), and 1 of 2 checks wants attention.",
            ),
            (
                estimate(3.0),
                checks("ok", "fail", weights=("fail",)),
                "The two samples differ: KL(p‖q) is 3.00 nats (95 % interval 2.80 to 3.20), but 1 "
                "of 2 checks failed: read why before you rely on it.",
            ),
            (
                estimate(3.0),
                checks("ok", weights=("fail",)),
                "The two samples differ: KL(p‖q) is 3.00 nats (95 % interval 2.80 to 3.20), and "
                "every check on it is passed; only importance weights want attention.",
            ),
            (
                estimate(3.0, np.inf),
                {},
                "The two samples cannot be told apart: KL(p‖q) is 3 nats, with an error that is "
                "not known. No check was made.",
            ),
            (
                Estimate(np.inf, np.inf, 0.0, np.inf),
                checks("fail"),
                "The two samples differ: KL(p‖q) is infinite, but 1 of 1 checks failed: read "
                "why before you rely on it.",
            ),
        ],
    )
    def test_sentence(self, kl, found, told):
        assert words.page_answer(kl, found, ("p", "q")) == told

    def test_an_end_that_is_not_known(self):
        low = Estimate(0.45, 0.04, 0.37, np.inf, reason="trees see more")
        assert words.page_answer(low, checks("fail"), ("p", "q")) == (
            "The two samples differ: KL(p‖q) is at least 0.370 nats (95 %), by estimate 0.450; "
            "how much more is not known, because trees see more, but 1 of 1 checks failed: read "
            "why before you rely on it."
        )
        assert words.terminal_answer(low, {}, ("a", "b")) == (
            "a and b are at least 0.370 nats apart (KL(p‖q), 95 %; estimate 0.450); how much more "
            "is not known, because trees see more; no check was made."
        )
        nothing = Estimate(0.45, 0.04, 0.0, np.inf, reason="trees see more")
        assert words.page_answer(nothing, {}, ("p", "q")) == (
            "The two samples may differ: KL(p‖q) is by estimate 0.450 nats, and not known, because "
            "trees see more. No check was made."
        )
        assert words.terminal_answer(nothing, {}, ("a", "b")) == (
            "how far a and b are apart is not known (KL(p‖q), estimate 0.450 nats), because trees "
            "see more; no check was made."
        )

    def test_ends_and_their_reasons(self):
        low = Estimate(0.45, 0.04, 0.37, np.inf, reason="trees see more")
        found = {"kl": low, "js": estimate(0.5), "tv": Estimate(0.3, 0.1, 0.1, 1.0, reason="few")}
        assert [words.ends(e) for e in found.values()] == [
            "at least 0.370",
            "0.30 to 0.70",
            "at least 0.10",
        ]
        assert words.unknown_ends(found) == [
            "KL(p‖q): how much more is not known, because trees see more.",
            "Total variation: how much more is not known, because few.",
        ]
        assert words.unknown_ends({"js": estimate(0.5)}) == []

    def test_labels(self):
        told = words.page_answer(estimate(1.0), {}, ("june.csv", "may.csv"))
        assert told.startswith("june.csv and may.csv differ: ")
        assert words.heading(("a", "b")) == "a against b"

    def test_zero_has_no_sign(self):
        assert words.signed("-0.00") == "0.00" and words.signed("-0.01") == "−0.01"
        assert words.number(-np.inf) == "−∞" and words.number(np.nan) == "not a number"


class TestAnswerInTheTerminal:
    @pytest.mark.parametrize(
        ("kl", "found", "told"),
        [
            (
                estimate(12.34),
                checks("ok", "ok", weights=("fail",)),
                "a and b are 12.34 nats apart (KL(p‖q), 95 % interval 12.14 to 12.54); it can be "
                "trusted as far as checks can tell (2 of 2 passed).",
            ),
            (
                estimate(0.05),
                checks("warn", "ok"),
                "a and b cannot be told apart (KL(p‖q) 0.05 nats, 95 % interval 0.00 to 0.25); "
                "take it with care, since 1 of 2 checks gave a warning (c0).",
            ),
            (
                estimate(3.0),
                checks("warn", "fail"),
                "a and b are 3.00 nats apart (KL(p‖q), 95 % interval 2.80 to 3.20); do not trust "
                "this number, since 1 of 2 checks failed (c1).",
            ),
            (
                estimate(3.0, np.inf),
                {},
                "how far a and b are apart is not known (KL(p‖q), estimate 3 nats), because its "
                "standard error is infinite; no check was made.",
            ),
        ],
    )
    def test_sentence(self, kl, found, told):
        assert words.terminal_answer(kl, found, ("a", "b")) == told

    def test_labels_are_made_printable(self):
        told = words.terminal_answer(estimate(1.0), {}, ("a\x1b[31m", "b\n"))
        assert told.startswith(r"a\x1b[31m and b\n are")


@pytest.mark.parametrize(
    ("verdicts", "weights", "worst"),
    [((), (), "ok"), (("ok",), ("fail",), "ok"), (("ok", "warn"), (), "warn"),
     (("warn", "fail", "ok"), (), "fail")],
)  # fmt: skip
def test_the_worst_verdict_is_one_on_the_ratio(verdicts, weights, worst):
    assert words.worst_verdict(checks(*verdicts, weights=weights)) == worst


def test_counts_and_lists():
    assert words.count(1, "row") == "1 row" and words.count(2000, "row") == "2,000 rows"
    assert words.listed(["a", "b"]) == "a, b"
    assert words.listed(list("abcdefg")) == "a, b, c, d, e and 2 more"


def test_long_text_is_cut_to_the_length_that_is_asked_for():
    assert words.one_line("a\n  b") == "a b"
    assert words.one_line("x" * 200) == "x" * 157 + "..."
    assert words.one_line("x" * 200, 160, "…") == "x" * 159 + "…"
    assert len(words.printable("x" * 500, 40)) == 40
    assert words.printable("x" * 500) == "x" * 500


def test_what_an_answer_rests_on_is_one_line_that_no_terminal_obeys():
    assert words.rests_on("linear\x1b[31m") == "Rests on: linear\\x1b[31m."


def test_every_check_has_a_title_and_those_on_the_ratio_an_objection():
    from isthmus.diagnostics.diagnose import CHECKS

    assert set(CHECKS) <= set(words.CHECK_TITLES)
    weights = {"effective_sample_size", "pareto", "balance"}
    for name in set(CHECKS) - weights:
        assert "the check" not in words.objection([name]), name


def test_two_checks_that_say_the_same_say_it_once():
    assert words.objection(["accuracy", "bridge"]) == words.objection(["bridge"])

"""Several threads at once: each its own answer, and the process's warnings as they were."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

from isthmus import compare
from isthmus.data.telling import heard, in_this_context, quiet, tell


def samples(k):
    rng = np.random.default_rng(k)
    if k % 2:  # densities of sources, across a chasm
        return rng.laplace(0, 1, (60, 2)), rng.laplace(12, 1, (60, 2))
    return rng.normal(0, 1, (60, 2)), rng.normal(0.7, 1, (60, 2))


def filters():
    """The filters as they read: a pattern may be text or compiled, and means the same."""
    return [tuple(getattr(part, "pattern", part) for part in one) for one in warnings.filters]


def test_four_comparisons_at_once_leave_the_warnings_alone():
    for k in range(2):  # modules that add filters of their own are imported first
        assert np.isfinite(compare(*samples(k), folds=2, random_state=0).kl.low)
    before, found = filters(), {}

    def work(k):
        c = compare(*samples(k), folds=2, random_state=0)
        found[k] = c.kl.value, c.trusted

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert filters() == before
    with pytest.warns(UserWarning, match="still heard"):
        warnings.warn("still heard", stacklevel=1)
    alone = compare(*samples(2), folds=2, random_state=0)
    assert found[2] == (alone.kl.value, alone.trusted) and len(found) == 4


class TestTelling:
    def test_quiet_is_the_business_of_one_thread(self):
        told = []

        def other():
            with heard() as here:
                tell("from the other")
            told.extend(here)

        with quiet():
            tell("nothing is said")
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
        assert told == [(UserWarning, "from the other")]
        with pytest.warns(UserWarning, match="said again"):
            tell("said again")

    def test_some_words_only(self):
        with heard() as told, quiet("The columns"):
            tell("The columns are dependent")
            tell("Something else")
        assert told == [(UserWarning, "Something else")]

    def test_workers_are_as_quiet_as_their_caller(self):
        def run(task):
            tell("nothing is said")
            return task + 1

        found = []
        with quiet():
            here = in_this_context(run)
            thread = threading.Thread(target=lambda: found.append(here(1)))
            thread.start()
            thread.join()
        assert found == [2]

    def test_an_inner_listener_comes_first(self):
        with heard() as outer:
            with heard() as inner:
                tell("inside", RuntimeWarning)
            tell("outside")
        assert inner == [(RuntimeWarning, "inside")] and outer == [(UserWarning, "outside")]

"""Threads of BLAS and of OpenMP: limited at the doors, and afterwards as they were."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import sklearn.ensemble  # noqa: F401  (loads OpenMP)
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from isthmus import MDRE, compare, stack
from isthmus.data import threads
from isthmus.data.threads import limited_threads
from isthmus.estimator import RatioEstimator


def counts(kind=None):
    return {one["num_threads"] for one in threadpool_info() if kind in (None, one["user_api"])}


@pytest.fixture(autouse=True)
def two():
    """Two threads everywhere, whatever the machine and its settings are."""
    before = threadpool_limits(2)
    release()
    yield
    before.restore_original_limits()
    release()


def release():
    """Let any thread set numbers: threadpoolctl reserves that for the one that did so last."""
    with threadpool_limits(None):
        pass


def test_limits_end_with_the_context_whatever_happens():
    with limited_threads():
        assert counts() == {1}
    assert counts() == {2}
    with pytest.raises(KeyError), limited_threads():
        raise KeyError
    assert counts() == {2}
    with limited_threads():
        pass
    assert counts() == {2}


def test_more_are_never_given_than_there_were():
    with limited_threads(8):
        assert counts() == {2}
    with threadpool_limits(1), limited_threads(2):
        assert counts() == {1}


@pytest.mark.parametrize(("n_jobs", "most"), [(None, 1), (1, 1), (3, 3), (-1, 4), (-3, 2), (-9, 1)])
def test_jobs_are_counted_like_joblibs(n_jobs, most, monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 4)
    with threadpool_limits(64), limited_threads(n_jobs):
        assert counts("openmp") == {most}


def test_one_within_another_does_nothing_unless_it_asks_for_fewer(monkeypatch):
    with limited_threads():
        with monkeypatch.context() as patched:
            patched.setattr(threads, "_loaded", None)  # Would be called, and cannot.
            with limited_threads(2), limited_threads():
                assert counts() == {1}
    with limited_threads(2):
        with limited_threads():
            assert counts() == {2}
        with limited_threads(1):
            assert counts() == {1}
        assert counts() == {2}


def test_decorated_functions_can_be_called_again():
    @limited_threads()
    def seen(again):
        return seen(False) if again else counts()

    assert seen(True) == {1} and seen(False) == {1}
    assert counts() == {2}


def test_threads_that_overlap_leave_all_as_it_was():
    first, second = threading.Event(), threading.Event()

    def one():
        with limited_threads():
            first.set()
            second.wait(60)

    thread = threading.Thread(target=one, daemon=True)
    thread.start()
    first.wait()
    # This one begins after the other and ends after it too.
    with limited_threads():
        assert counts() == {1}
        second.set()
        thread.join()
        assert counts("openmp") == {1}
    assert counts() == {2}
    with limited_threads():
        assert counts() == {1}


def test_workers_have_one_thread_each_and_the_caller_more():
    def worker():
        with limited_threads():
            return counts()

    with limited_threads(2):
        assert counts() == {2}
        with limited_threads(1):
            found = Parallel(n_jobs=2, prefer="threads")(delayed(worker)() for _ in range(4))
        assert found == [{1}] * 4
        assert counts() == {2}
    assert counts() == {2}


class Counting(RatioEstimator):
    """Remembers the threads of its fit."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def learn(self, samples, seeds):
        self.fitted_with_ = counts()

    def evaluate(self, rows):
        return np.full(len(rows), float(max(counts("openmp"))))


def test_fits_and_comparisons_have_one_thread():
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    model = Counting().fit(*stack(p, q))
    assert model.fitted_with_ == {1} and model.log_ratio(p)[0] == 1.0
    assert compare(p, q, estimator=Counting(), folds=2).estimator.fitted_with_ == {1}
    assert compare(p, q, estimator=Counting(), folds=2, n_jobs=2).log_ratio_p.tolist() == [1.0] * 40
    assert counts() == {2}


def test_results_do_not_depend_on_it():
    rng = np.random.default_rng(0)
    X, y = stack(rng.normal(size=(200, 3)), rng.normal(0.3, 1, size=(200, 3)))
    fits = []
    for number in (1, 2):
        with threadpool_limits(number):
            fits.append(MDRE(critic="quadratic", l2=1.0, random_state=0).fit(X, y).log_ratio(X))
    np.testing.assert_array_equal(*fits)

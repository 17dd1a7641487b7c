"""Other engines than Dask: executors of the standard library, and Ray."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import isthmus
from isthmus.data.engine import OnExecutor, engine_of
from isthmus.data.on_ray import OnRay
from isthmus.sources import as_source

pytestmark = pytest.mark.usefixtures("small")


def ends(c):
    found = c.by_fit("kl")
    return [found.value, found.low, found.high]


def first_number(batches, first):
    (batch,) = batches
    if batch[0, 0] == 13.0:
        raise ValueError("no thirteen")
    return float(batch[0, 0]) + first


class FakeRay:
    """What the engine asks of Ray, in this process."""

    __name__ = "ray"

    def __init__(self):
        self.cancelled = 0

    def remote(self, f):
        return type("Remote", (), {"remote": staticmethod(lambda held, *more: (f, held, more))})

    def put(self, value):
        return ("held", value)

    def get(self, task):
        f, held, more = task
        return f(held[1], *more)

    def cancel(self, task):
        self.cancelled += 1


def test_an_executor_changes_nothing(rows, normals):
    given = {"estimator": normals, "random_state": 0}
    expected = ends(isthmus.compare(*rows, **given))
    with ThreadPoolExecutor(2) as executor:
        assert isinstance(engine_of(executor), OnExecutor)
        found = isthmus.compare(*rows, client=executor, **given)
    assert ends(found) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["executor", "ray"])
def test_results_come_in_order_and_an_error_ends_the_others(name):
    ray = FakeRay()
    with ThreadPoolExecutor(2) as executor:
        engine = engine_of(executor if name == "executor" else ray)
        source = as_source([np.full((2, 1), float(k)) for k in range(20)], "p")
        found = engine.map(first_number, source.parts, None)
        assert [next(found) for _ in range(13)] == [3.0 * k for k in range(13)]
        with pytest.raises(ValueError, match="no thirteen"):
            next(found)
    assert ray.cancelled == (6 if name == "ray" else 0)


def test_ray_in_local_mode(rows, normals):
    """Only where Ray is installed: it is large, and no part of any extra."""
    ray = pytest.importorskip("ray")
    given = {"estimator": normals, "random_state": 0}
    expected = ends(isthmus.compare(*rows, **given))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        assert isinstance(engine_of(ray), OnRay)
        found = isthmus.compare(*rows, client=ray, **given)
    finally:
        ray.shutdown()
    assert ends(found) == pytest.approx(expected, rel=1e-9)

"""Passes on worker processes of one thread: the same answer, also where one is killed."""

import os
import signal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import isthmus
from isthmus.data.engine import Here, engine_of
from isthmus.data.on_dask import OnDask
from isthmus.sources import as_source

distributed = pytest.importorskip("distributed")
# What Dask itself warns of while workers start and end is its own.
pytestmark = [pytest.mark.usefixtures("small"), pytest.mark.filterwarnings("ignore")]

HOW = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}


@pytest.fixture(scope="module")
def files(rows, tmp_path_factory):
    """Two files of many small parts."""
    folder = tmp_path_factory.mktemp("dask")
    for x, name in zip(rows, "pq", strict=True):
        (folder / name).mkdir()
        for k in range(0, len(x), 500):
            some = x[k : k + 500]
            table = pa.table({f"x{j}": some[:, j] for j in range(3)})
            parquet.write_table(table, folder / name / f"{k:05d}.parquet")
    return folder / "p", folder / "q"


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, **HOW) as found:
        yield found


def ends(c):
    found = c.by_fit("kl")
    return [found.value, found.low, found.high]


def test_workers_change_nothing_nor_does_their_death(files, cluster, normals):
    """One process, two workers, and two of which one is killed in the middle of a pass."""
    given = {"estimator": normals, "random_state": 0}
    expected = ends(isthmus.compare(*files, **given))
    with distributed.Client(cluster) as client:
        assert isinstance(engine_of(None), OnDask)
        told, pids = [], list(client.run(os.getpid).values())

        def progress(done, total, what):
            if what.startswith("pass 3") and not told:
                told.append(what)
                os.kill(pids[0], signal.SIGKILL)

        killed = isthmus.compare(*files, client=client, progress=progress, **given)
        assert told
        assert ends(killed) == pytest.approx(expected, rel=1e-9)
        assert ends(isthmus.compare(*files, **given)) == pytest.approx(expected, rel=1e-9)
    assert isinstance(engine_of(None), Here)


def test_results_come_in_order(cluster):
    """Whichever task ends first."""
    source = as_source([np.full((3, 1), float(k)) for k in range(12)], "p")
    with distributed.Client(cluster) as client:
        found = list(OnDask(client).map(slow, source.parts, None))
    assert found == [float(k) for k in range(12)]


def slow(batches, first):
    import time

    (batch,) = batches
    time.sleep(0.01 * (12 - batch[0, 0]))
    return float(batch[0, 0])


def test_dask_frames_and_arrays(rows, cluster, normals):
    """Partitions are computed by the workers, or here where there is no client."""
    dd, da = (pytest.importorskip(f"dask.{name}") for name in ("dataframe", "array"))
    given = {"estimator": normals, "random_state": 0}
    expected = ends(isthmus.compare(*rows, **given))
    arrays = [da.from_array(x, chunks=(1700, 3)) for x in rows]
    assert ends(isthmus.compare(*arrays, **given)) == pytest.approx(expected, rel=1e-9)
    import pandas as pd

    frames = [dd.from_pandas(pd.DataFrame(x, columns=list("abc")), npartitions=4) for x in rows]
    with distributed.Client(cluster) as client:
        found = isthmus.compare(*frames, client=client, **given)
    assert ends(found) == pytest.approx(expected, rel=1e-9)

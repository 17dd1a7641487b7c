"""Where passes over many rows run: in this process, in several, or on a cluster."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip

LEAST_MEMORY = 700 * 10**6
"""Bytes that Python, its libraries and a comparison of a sample of rows take: 550 MB were measured
for 20 columns."""

TIMEOUT = "10s"
"""How long an address has to answer."""

_SHARE = 0.5


@dataclass(frozen=True)
class Where:
    """What was asked for.

    Attributes
    ----------
    cluster : str or None
        Address of a Dask scheduler.
    workers : int or None
        Number of processes of this machine.
    memory : float or None
        Bytes to use at most; None where nobody knows how many there are.
    """

    cluster: str | None
    workers: int | None
    memory: float | None

    @classmethod
    def of(cls, cluster: str | None, workers: int | None, memory: str | None) -> Where:
        """From the options, which are checked."""
        if cluster is not None and workers is not None:
            raise ValueError(
                "--cluster and --workers must not come together; a cluster has its workers."
            )
        if workers is not None and workers < 1:
            raise ValueError(f"--workers must be at least 1; received {workers}.")
        if (cluster or workers) and not _has_dask():
            raise ValueError(
                "--cluster and --workers need Dask, which is not installed: pip install "
                "'isthmus[dask]'."
            )
        return cls(cluster, workers, _share() if memory is None else bytes_in(memory))

    @contextmanager
    def client(self) -> Iterator[Any]:
        """A client of Dask, or None for this process; it is closed in the end."""
        if not (self.cluster or self.workers):
            yield None
            return
        from distributed import Client, LocalCluster

        if self.cluster:
            _check_answers(self.cluster)
            with Client(self.cluster, timeout=TIMEOUT, set_as_default=False) as client:
                yield client
            return
        limit = 0 if self.memory is None else self.memory / (self.workers or 1)
        with ExitStack() as opened:
            with _uninterrupted():
                local = LocalCluster(
                    n_workers=self.workers,
                    threads_per_worker=1,
                    memory_limit=limit,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=50,
                )
                opened.enter_context(local)
                client = opened.enter_context(Client(local, set_as_default=False))
            yield client


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the end; processes that begin within are never told of it.

    It goes to all processes of a terminal. This one ends the others, and they have nothing to say.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Which lets Ctrl-C through to all that begins after it, where it has to be begun.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _check_answers(address: str) -> None:
    """Refuse an address where nobody answers: a client without a scheduler takes long to end."""
    import asyncio

    from distributed.comm import connect

    async def ask() -> None:
        comm = await connect(address, timeout=TIMEOUT)
        await comm.close()

    try:
        asyncio.run(ask())
    except (OSError, ValueError, TimeoutError) as error:
        raise ValueError(
            f"--cluster must be the address of a Dask scheduler that answers; received {address} "
            f"({error})."
        ) from None


def bytes_in(text: str) -> float:
    """Bytes in words such as 1GB or 800 MiB.

    Examples
    --------
    >>> bytes_in("1GB"), bytes_in("1.5 GiB")
    (1000000000.0, 1610612736.0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if found is None or found[2].upper() not in _UNITS:
        raise ValueError(f"--memory must be a size such as 1GB or 800MB; received {text!r}.")
    size = float(found[1]) * _UNITS[found[2].upper()]
    if size < LEAST_MEMORY:
        raise ValueError(
            f"--memory must be at least {LEAST_MEMORY // 10**6}MB, which Python and its libraries "
            f"need; received {text!r}."
        )
    return size


def _share() -> float | None:
    """Half of the memory of the machine."""
    try:
        return _SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None  # not every system tells


def _has_dask() -> bool:
    from importlib.util import find_spec

    return find_spec("distributed") is not None

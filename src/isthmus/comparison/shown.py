"""How a comparison is shown: as a dictionary, a frame, a page, and by its clearest rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import words
from ..data.validation import check_number
from .given import GivenRows, TopRows, clearest
from .tabled import as_dict, as_frame


class Shown:
    """What a :class:`~isthmus.Comparison` can be shown as."""

    def top_rows(self: Any, n: int = 10) -> TopRows:
        """The rows that are most of p and most of q, as they were given.

        Parameters
        ----------
        n : int, default 10
            How many of each sample.

        Returns
        -------
        TopRows
            ``p``: the rows of p with the largest cross-fitted log p/q; ``q``: the rows of q with
            the smallest; the clearest first. Frames with their columns and their index where
            frames were given, arrays otherwise. ``p, q = c.top_rows()`` takes both.

        Examples
        --------
        >>> import numpy as np, isthmus
        >>> rng = np.random.default_rng(0)
        >>> c = isthmus.compare(rng.normal(1, 1, 200), rng.normal(0, 1, 200), random_state=0)
        >>> p, q = c.top_rows(3)
        >>> p.shape, bool(p.min() > q.max())
        ((3,), True)
        """
        check_number(n, "n", low=1, integer=True)
        if self.given is None and self.encoder is not None:
            raise ValueError(
                "top_rows needs the rows as they were given, which files of a comparison do not "
                "hold. Rank the rows by c.log_ratio(x) instead."
            )
        given = GivenRows() if self.given is None else self.given
        return given.take(self.samples, *clearest(self.log_ratio_p, self.log_ratio_q, n))

    def to_dict(self: Any, divergences: Sequence[str] = words.USUAL_DIVERGENCES) -> dict[str, Any]:
        """Answer, divergences and checks as a dictionary that strict JSON accepts.

        Parameters
        ----------
        divergences : sequence of str
            As in :meth:`divergence`.

        Returns
        -------
        dict
            "n_p", "n_q", "level", "trusted", "rests_on", "divergences" by name with the fields of
            :class:`Estimate`, and "diagnostics" by name.
        """
        facts = {
            "n_p": self.sizes[0],
            "n_q": self.sizes[1],
            "level": self.level,
            "trusted": self.trusted,
            "rests_on": self.rests_on,
        }
        found = {name: self.divergence(name) for name in divergences}
        return as_dict(found, self.diagnostics, facts)

    def to_frame(self: Any, divergences: Sequence[str] = words.USUAL_DIVERGENCES) -> Any:
        """The divergences as a frame, one row for each.

        Parameters
        ----------
        divergences : sequence of str
            As in :meth:`divergence`.

        Returns
        -------
        frame
            Of pandas if it is installed, else of polars, else of pyarrow, with the columns
            "divergence", "value", "std_error", "low", "high", "level", "method", "reason".
        """
        return as_frame({name: self.divergence(name) for name in divergences})

    def report(self: Any, path: str | os.PathLike[str], **how: Any) -> Path:
        """Write all of this as one page of HTML; see :func:`isthmus.report.write`."""
        from ..report import write

        return write(self, path, **how)

    def save(self: Any, path: str | os.PathLike[str]) -> Path:
        """Write what is found, without the rows, to a file; see :func:`isthmus.load`."""
        from ..storing import SavedComparison, save

        return save(SavedComparison.of(self), path)

    def _repr_html_(self: Any) -> str:
        from ..report import fragment

        return fragment(self)

    def __repr__(self: Any) -> str:
        return (
            f"Comparison(n_p={self.sizes[0]}, n_q={self.sizes[1]}, "
            f"kl={self.kl}, trusted={self.trusted}, rests_on={self.rests_on!r})"
        )

"""Problems of many kinds whose log-ratio is known: tables, sparse differences, edges, curves.

Their names start with "wild/". Each is one function in the file of its kind, which returns
p and q under a decorator with the kind, the numbers of rows and, where it is not that of
:func:`isthmus.problems.truths.exact`, the truth::

    @wild("edges", 2000, 2000, nested)
    def l_shape() -> Sides:
        '''2-d: uniform on an L against its square.'''
        return Region([0.0] * 2, [1.0] * 2, _ell, 0.64), box(2)

The name of the function is that of the problem ("wild/l-shape"), the first line of its
docstring the description. A real table is a function under ``@table()`` that returns its
rows and the probability that each is kept for p. Nothing is drawn, read or integrated
before a problem is loaded.

Examples
--------
>>> from isthmus import problems
>>> problem = problems.load("wild/iris-quadratic")
>>> problem.kind, problem.dim, problem.truth_by
('tables', 4, 'closed form')
"""

from __future__ import annotations

from .problem import Thinned, Wild

# These register their problems.
from . import tables, sparse, edges, curves, counts, chasms, few, nulls  # isort: skip

__all__ = [
    "Thinned",
    "Wild",
    "chasms",
    "counts",
    "curves",
    "edges",
    "few",
    "nulls",
    "sparse",
    "tables",
]

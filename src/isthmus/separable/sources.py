"""Where batches of pairs come from: arrays of images, or grids composed of few drawings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..data.validation import check_number
from ..neural.lazy_torch import require_torch
from ..problems.omniglot import SpatialMultiOmniglot
from .images import distorted

# Places at which a family of pairs parts.
_LEVELS = 3


@dataclass(frozen=True)
class Batch:
    """Pairs of grids, as cells and where they stand.

    Attributes
    ----------
    u, v : Tensor of shape (m, channels, height, width)
        Images of cells, each once.
    at_u, at_v : Tensor of shape (n, d)
        For every pair and cell the place of its image in u and in v.
    exchanged : Tensor of int of shape (n, n), optional
        How many of the first cells of v_j have nothing to do with u_i, the others being partners
        of those of u_i: zero on the diagonal. None says d everywhere else.

    Examples
    --------
    >>> import torch
    >>> from isthmus.separable import Batch
    >>> images, places = torch.zeros(8, 1, 9, 9), torch.arange(8).view(2, 4)
    >>> batch = Batch(images, images, places, places)  # two pairs of four cells
    >>> tuple(batch.u[batch.at_u].shape)
    (2, 4, 1, 9, 9)
    """

    u: Any
    v: Any
    at_u: Any
    at_v: Any
    exchanged: Any = None


class Source(Protocol):
    """Draws batches of independent pairs.

    A source may have ``draw_nested(n, generator)`` besides, of batches that say what is
    ``exchanged`` between any two of their pairs; see :meth:`OmniglotSource.draw_nested`.

    Examples
    --------
    >>> import torch
    >>> from isthmus.separable import PairArrays
    >>> source = PairArrays(torch.zeros(10, 4, 1, 9, 9), torch.zeros(10, 4, 1, 9, 9))
    >>> source.d  # all that a Source has beside ``draw``
    4
    """

    d: int
    """Number of cells."""

    def draw(self, n: int, generator: Any) -> Batch:
        """Draw n pairs, by a ``torch.Generator`` and nothing else that is random."""
        ...


class PairArrays:
    """Batches of given pairs.

    Parameters
    ----------
    u, v : Tensor of shape (n, d, channels, height, width)
        Cells of the grids; row i of u belongs to row i of v.

    Examples
    --------
    >>> import torch
    >>> from isthmus.separable import PairArrays
    >>> cells = torch.zeros(10, 4, 1, 9, 9)  # ten images of four cells
    >>> batch = PairArrays(cells, cells).draw(5, torch.Generator().manual_seed(0))
    >>> tuple(batch.at_u.shape)
    (5, 4)
    """

    def __init__(self, u: Any, v: Any) -> None:
        self.u, self.v = u, v
        self.d = u.shape[1]

    def __len__(self) -> int:
        return len(self.u)

    def draw(self, n: int, generator: Any) -> Batch:
        """Draw n pairs, or all if there are fewer; none twice.

        A pair that came up twice would stand among the samples of q as its own partner.
        """
        torch = require_torch("training")
        rows = torch.randperm(len(self), generator=generator)[:n]
        at = torch.arange(len(rows) * self.d).view(-1, self.d)
        return Batch(self.u[rows].flatten(0, 1), self.v[rows].flatten(0, 1), at, at)


class OmniglotSource:
    """Many pairs of SpatialMultiOmniglot that are composed of few drawings.

    For u and, apart from that, for v some drawings of every character are chosen. Pairs draw
    their characters, and of each character one of the chosen drawings. Whatever the number of
    pairs, only the chosen drawings have to be encoded. A pair has the distribution of the
    problem, and so have u_i and v_j of two pairs: they are independent, since their
    characters are and since the drawings of u are chosen apart from those of v.

    Parameters
    ----------
    problem : SpatialMultiOmniglot
    per_character : int, default 2
        Drawings to choose of each character.
    distort : float, default 0
        Turn, stretch, shear and move every drawing at random, by about such a share of its size,
        for the encoder to learn what does not matter.

    Examples
    --------
    >>> import torch
    >>> from isthmus.problems.omniglot import SpatialMultiOmniglot, drawn_alphabets
    >>> from isthmus.separable import OmniglotSource
    >>> problem = SpatialMultiOmniglot.largest(drawn_alphabets([3, 2], rng=1), 4)
    >>> source = OmniglotSource(problem)
    >>> tuple(source.draw(5, torch.Generator().manual_seed(0)).at_u.shape)
    (5, 4)
    """

    def __init__(
        self, problem: SpatialMultiOmniglot, *, per_character: int = 2, distort: float = 0.0
    ) -> None:
        torch = require_torch("OmniglotSource")
        check_number(per_character, "per_character", low=1, integer=True)
        check_number(distort, "distort", low=0)
        images, places = problem.images()
        self.images = torch.from_numpy(images)[:, None]
        self.d, self.distort = problem.d, float(distort)
        self.drawings = len(problem.drawings)
        self.chosen = min(int(per_character), self.drawings)
        # Images lie character by character, each with all its drawings.
        self._first = [torch.from_numpy(place[:, 0] // self.drawings) for place in places]
        self._sizes = torch.tensor(problem.sizes)

    def draw(self, n: int, generator: Any) -> Batch:
        """Draw n pairs."""
        torch = require_torch("OmniglotSource")
        real = torch.rand(n, self.d, generator=generator, dtype=torch.float64)
        characters = (real * self._sizes).long()
        return self._batch(characters, generator)

    def draw_nested(self, n: int, generator: Any) -> Batch:
        """Draw n pairs of which some have their last characters in common.

        Pairs come in families of eight, or fewer. Two of a family have the characters behind one of
        three places in common, in drawings of their own, and those before it are independent: u
        of the one with v of the other is a draw of nested mixing (:class:`CellMixing`),
        whose grids then need not be composed and encoded besides. Families have places
        of their own, so that a batch has all of them about as often; u and v of two families
        are a draw of q. Where n is too small for that, pairs are drawn as by :meth:`draw`.

        Examples
        --------
        >>> import torch
        >>> from isthmus.problems.omniglot import SpatialMultiOmniglot, drawn_alphabets
        >>> problem = SpatialMultiOmniglot.largest(drawn_alphabets([5]), 4)
        >>> batch = OmniglotSource(problem).draw_nested(16, torch.Generator().manual_seed(0))
        >>> batch.exchanged[0].tolist()
        [0, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4]
        """
        torch = require_torch("OmniglotSource")
        levels = min(_LEVELS, self.d - 1)
        size = 2**levels
        families = -(-n // size)
        if levels * (n // size) < self.d - 1 or n <= size:
            return self.draw(n, generator)
        cuts = self._cuts(families, levels, generator)
        member = torch.arange(size)
        # The highest bit in which the numbers of two members differ says where they part.
        bits = torch.tensor([(i ^ j).bit_length() for i in range(size) for j in range(size)])
        none = torch.zeros(families, 1, dtype=torch.long)
        exchanged = torch.full((families * size, families * size), self.d)
        blocks = torch.cat([none, cuts], 1)[:, bits].view(families, size, size)
        for k, block in enumerate(blocks):
            exchanged[k * size : (k + 1) * size, k * size : (k + 1) * size] = block
        # A cell has one character for all members that part before it.
        level = (torch.arange(self.d) >= cuts[..., None]).sum(1)
        shared = (member[:, None] >> level[:, None]) << level[:, None]
        real = torch.rand(families, size, self.d, generator=generator, dtype=torch.float64)
        real = real.gather(1, shared)
        characters = (real.flatten(0, 1) * self._sizes).long()[:n]
        return replace(self._batch(characters, generator), exchanged=exchanged[:n, :n])

    def _cuts(self, families: int, levels: int, generator: Any) -> Any:
        """Places of 1 to d - 1, in order, for each family: all about as often."""
        torch = require_torch("OmniglotSource")
        places = self.d - 1
        # Three places in a row of a random order, around its end, differ from one another.
        order = torch.randperm(places, generator=generator)
        begin = torch.arange(families)[:, None] * levels
        return order[(begin + torch.arange(levels)) % places].sort(1).values + 1

    def _batch(self, characters: Any, generator: Any) -> Batch:
        """Pairs with these characters in u."""
        partners = (characters + 1) % self._sizes
        u, v = self._some(generator), self._some(generator)
        return Batch(u, v, self._places(characters, generator), self._places(partners, generator))

    def _some(self, generator: Any) -> Any:
        """Chosen drawings of every character."""
        torch = require_torch("OmniglotSource")
        characters = len(self.images) // self.drawings
        order = torch.rand(characters, self.drawings, generator=generator).argsort(1)
        first = torch.arange(characters)[:, None] * self.drawings
        images = self.images[(first + order[:, : self.chosen]).flatten()]
        return distorted(images, self.distort, generator) if self.distort else images

    def _places(self, characters: Any, generator: Any) -> Any:
        torch = require_torch("OmniglotSource")
        drawing = torch.randint(self.chosen, characters.shape, generator=generator)
        first = [own[characters[:, i]] for i, own in enumerate(self._first)]
        return torch.stack(first, dim=1) * self.chosen + drawing

"""SpatialMultiOmniglot: two grids of drawn characters whose mutual information is known.

Ozair et al., "Wasserstein Dependency Measure for Representation Learning", NeurIPS 2019,
on the drawings of Lake, Salakhutdinov & Tenenbaum, "Human-level concept learning through
probabilistic program induction", Science 2015.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..data.validation import check_number, check_option
from ..typing import Array, RandomState
from .base import as_generator
from .omniglot_files import find_zip, read_zip

SMALL = ("images_background_small1", "images_background_small2")
SPLITS = ("published", "honest")
# Of 20 drawings of a character: 14 to train on, 2 to stop by, 4 to test on.
_STOP, _TEST = 0.1, 0.2


@dataclass(frozen=True, eq=False)
class Alphabet:
    """Drawings of the characters of an alphabet, in its order.

    Attributes
    ----------
    name : str
    images : ndarray of shape (characters, drawings, height, width)
        uint8, 255 where there is ink. Drawing j of all characters is of one hand.
    """

    name: str
    images: np.ndarray

    def __len__(self) -> int:
        return len(self.images)


class Pairs(NamedTuple):
    """Images of whole grids u and v, uint8, and the characters of their cells, shape (n, d)."""

    u: np.ndarray
    v: np.ndarray
    characters: np.ndarray
    partners: np.ndarray


class Split(NamedTuple):
    """The problem with the drawings to train on, to stop by and to test on."""

    train: SpatialMultiOmniglot
    validation: SpatialMultiOmniglot
    test: SpatialMultiOmniglot


def load_alphabets(
    folder: str | os.PathLike[str] | None = None,
    *,
    sets: Sequence[str] = SMALL,
    size: int = 28,
    download: bool = True,
) -> list[Alphabet]:
    """Read Omniglot's alphabets, the largest first.

    Parameters
    ----------
    folder : path, optional
        Of the official zips. None is what the environment variable ISTHMUS_OMNIGLOT says, or
        else ``~/.cache/isthmus/omniglot``, where files that are missing are downloaded to.
    sets : sequence of str
        Names of official files: "images_background", "images_evaluation",
        "images_background_small1", "images_background_small2". The default are the two
        small ones, 3 MB with 8 different alphabets. The paper has "images_background".
    size : int, default 28
        Side of the images in pixels.
    download : bool, default True
        Whether files that are missing may be downloaded. Their digests are checked.

    Returns
    -------
    list of Alphabet
        Every name once, by falling size and then by name.
    """
    found: dict[str, np.ndarray] = {}
    for name in sets:
        found |= read_zip(find_zip(name, folder, download=download), size)
    return sorted((Alphabet(*each) for each in found.items()), key=lambda a: (-len(a), a.name))


def drawn_alphabets(
    sizes: Sequence[int], *, drawings: int = 20, size: int = 28, rng: RandomState = 0
) -> list[Alphabet]:
    """Alphabets of so many characters that need no file: random strokes, drawn shakily.

    Every character has ``drawings`` images of ``size`` pixels a side.

    Examples
    --------
    >>> [alphabet.images.shape for alphabet in drawn_alphabets([5, 3], drawings=4)]
    [(5, 4, 28, 28), (3, 4, 28, 28)]
    """
    generator = as_generator(rng)
    grid = (np.arange(size) + 0.5) / size
    t = np.linspace(0.0, 1.0, 12)
    out = []
    for number, count in enumerate(sizes):
        # Three strokes a character, each a parabola through three points.
        points = generator.uniform(0.12, 0.88, (count, 1, 3, 3, 2))
        points = points + generator.normal(0, 0.025, (count, drawings, 3, 3, 2))
        weights = np.stack([(1 - t) ** 2, 2 * t * (1 - t), t**2])
        path = np.einsum("cdskx,kt->cdstx", points, weights).reshape(count, drawings, -1, 2)
        far = np.full((count, drawings, size, size), np.inf)
        for step in range(path.shape[2]):
            dx, dy = (path[:, :, step, i, None] - grid for i in (0, 1))
            far = np.minimum(far, dy[..., :, None] ** 2 + dx[..., None, :] ** 2)
        ink = np.clip(1.6 - np.sqrt(far) * size, 0.0, 1.0)
        out.append(Alphabet(f"strokes {number + 1}", np.rint(255 * ink).astype(np.uint8)))
    return out


@dataclass(frozen=True, eq=False)
class SpatialMultiOmniglot:
    """Grids u of characters and v of the characters that follow them.

    Every cell has an alphabet of its own. The characters of u are independent and uniform;
    a cell of v has the next character of the same alphabet, the first after the last,
    in a drawing of its own. With l_i characters in the alphabet of cell i ::

        I(u, v) = sum_i log l_i,

    since drawings tell nothing but their character.

    Parameters
    ----------
    alphabets : sequence of Alphabet
        One for each cell, row by row: 1, 4, 9, 16 or any other square number. An alphabet
        may stand in several cells.
    drawings : sequence of int, optional
        Numbers of the drawings to use; all by default.

    Examples
    --------
    >>> problem = SpatialMultiOmniglot.largest(drawn_alphabets([5, 3]), 4)
    >>> problem.sizes, round(problem.mutual_information, 3)
    ((5, 3, 5, 3), 5.416)
    >>> pairs = problem.sample(10, rng=0)
    >>> pairs.u.shape, bool((pairs.partners[:, 0] == (pairs.characters[:, 0] + 1) % 5).all())
    ((10, 56, 56), True)
    """

    alphabets: tuple[Alphabet, ...]
    drawings: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        alphabets = tuple(self.alphabets)
        side = math.isqrt(len(alphabets))
        if not alphabets or side**2 != len(alphabets):
            raise ValueError(
                "alphabets must be as many as a square grid has cells (1, 4, 9, ...); received "
                f"{len(alphabets)}."
            )
        least = min(alphabet.images.shape[1] for alphabet in alphabets)
        if len({alphabet.images.shape[2:] for alphabet in alphabets}) > 1:
            raise ValueError("alphabets must have images of one size; received several.")
        drawings = tuple(int(each) for each in self.drawings) or tuple(range(least))
        if not all(0 <= each < least for each in drawings):
            raise ValueError(
                f"drawings must be numbers from 0 to {least - 1}; received {list(drawings)}."
            )
        object.__setattr__(self, "alphabets", alphabets)
        object.__setattr__(self, "drawings", drawings)

    @classmethod
    def largest(cls, alphabets: Sequence[Alphabet], d: int) -> SpatialMultiOmniglot:
        """Problem of d cells with the largest alphabets, used again where there are fewer."""
        check_number(d, "d", low=1, integer=True)
        order = sorted(alphabets, key=lambda each: (-len(each), each.name))
        return cls(tuple(order[i % len(order)] for i in range(d)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of characters of every cell's alphabet."""
        return tuple(len(alphabet) for alphabet in self.alphabets)

    @property
    def d(self) -> int:
        """Number of cells."""
        return len(self.alphabets)

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the grid."""
        return math.isqrt(self.d), math.isqrt(self.d)

    @property
    def mutual_information(self) -> float:
        """I(u, v) in nats, exactly."""
        return float(np.sum(np.log(self.sizes)))

    def split(self, kind: str = "published") -> Split:
        """Problems to train on, to stop by and to test on.

        The "published" split has all drawings in all three, so that only the combinations are
        new. In the "honest" one a fifth of the drawings, those with the largest numbers, are for
        the test alone, and a tenth for stopping. They are of other hands.

        Examples
        --------
        >>> problem = SpatialMultiOmniglot.largest(drawn_alphabets([5]), 1)
        >>> [len(part.drawings) for part in problem.split("honest")]
        [14, 2, 4]
        """
        check_option(kind, "kind", SPLITS)
        if kind == "published":
            return Split(self, self, self)
        own = self.drawings
        test, stop = (max(round(share * len(own)), 1) for share in (_TEST, _STOP))
        if len(own) < test + stop + 1:
            raise ValueError(
                f"an honest split must have at least three drawings; received {len(own)}."
            )
        cut = len(own) - test
        parts = own[: cut - stop], own[cut - stop : cut], own[cut:]
        return Split(*(replace(self, drawings=part) for part in parts))

    def images(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Every image once, and for each cell the places of its characters' drawings in them."""
        images, begin, total = [], {}, 0
        for alphabet in self.alphabets:
            if id(alphabet) not in begin:
                chosen = alphabet.images[:, list(self.drawings)]
                begin[id(alphabet)] = np.arange(total, total + chosen[:, :, 0, 0].size)
                images.append(chosen.reshape(-1, *chosen.shape[2:]))
                total += len(images[-1])
        shape = (-1, len(self.drawings))
        return np.concatenate(images), [begin[id(each)].reshape(shape) for each in self.alphabets]

    def sample_places(
        self, n: int, rng: RandomState = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places in :meth:`images` of the cells of n pairs u and v; and the characters of u."""
        check_number(n, "n", low=1, integer=True)
        generator = as_generator(rng)
        characters = generator.integers(np.array(self.sizes), size=(n, self.d))
        drawing = generator.integers(len(self.drawings), size=(2, n, self.d))
        partners = (characters + 1) % np.array(self.sizes)
        places = self.images()[1]
        u, v = (
            np.stack([place[c[:, i], t[:, i]] for i, place in enumerate(places)], axis=1)
            for c, t in ((characters, drawing[0]), (partners, drawing[1]))
        )
        return u, v, characters

    def sample(self, n: int, rng: RandomState = None) -> Pairs:
        """Draw n independent pairs (u, v)."""
        images, _ = self.images()
        u, v, characters = self.sample_places(n, rng)
        u_grid, v_grid = (join_cells(images[places], self.grid) for places in (u, v))
        return Pairs(u_grid, v_grid, characters, (characters + 1) % np.array(self.sizes))

    def log_ratio(self, characters: np.ndarray, partners: np.ndarray) -> Array:
        """Log p(u, v) / p(u) p(v) of grids with these characters, shape (n,).

        It is the mutual information where every partner is the next character, and
        minus infinity elsewhere.
        """
        follows = (np.asarray(characters) + 1) % np.array(self.sizes) == np.asarray(partners)
        return np.where(follows.all(axis=1), self.mutual_information, -np.inf)


def join_cells(cells: np.ndarray, grid: tuple[int, int]) -> np.ndarray:
    """Images of whole grids, shape (n, height, width), of their cells, shape (n, d, h, w)."""
    n, _, h, w = cells.shape
    rows, columns = grid
    whole = cells.reshape(n, rows, columns, h, w).transpose(0, 1, 3, 2, 4)
    return whole.reshape(n, rows * h, columns * w)

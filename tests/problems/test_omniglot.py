"""SpatialMultiOmniglot: files, grids, splits and truth."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest

from isthmus.problems import omniglot_files as files
from isthmus.problems.omniglot import (
    Alphabet,
    SpatialMultiOmniglot,
    drawn_alphabets,
    load_alphabets,
)

TINY = Path(__file__).parents[1] / "data" / "omniglot" / "tiny.zip"


@pytest.fixture(scope="module")
def alphabets():
    """Two alphabets of 8 and 7 characters with 10 real drawings each."""
    return [Alphabet(name, images) for name, images in files.read_zip(TINY).items()]


def test_drawings_are_read_in_their_order_with_ink_bright(alphabets):
    from zipfile import ZipFile

    from PIL import Image

    assert [(a.name, a.images.shape) for a in alphabets] == [
        ("Latin", (8, 10, 28, 28)),
        ("Sanskrit", (7, 10, 28, 28)),
    ]
    with ZipFile(TINY) as archive:
        name = sorted(n for n in archive.namelist() if "Sanskrit/character03" in n)[4]
        ink = np.asarray(Image.open(archive.open(name)).convert("L")) == 0
    image = alphabets[1].images[2, 4].astype(float) / 255
    # Averages by area keep the mean; each pixel is rounded by half a step of 1/255 at most.
    assert image.mean() == pytest.approx(ink.mean(), abs=0.5 / 255)
    # 105 = 15 x 7 and 28 = 4 x 7: blocks of 15 and of 4 pixels cover the same.
    coarse = ink.reshape(7, 15, 7, 15).mean(axis=(1, 3))
    assert np.allclose(image.reshape(7, 4, 7, 4).mean(axis=(1, 3)), coarse, atol=0.51 / 255)


def test_alphabets_come_largest_first_from_the_folder_that_is_named(tmp_path, monkeypatch):
    for name in ("images_background_small1", "images_background_small2"):
        (tmp_path / f"{name}.zip").write_bytes(TINY.read_bytes())
    monkeypatch.setenv(files.FOLDER, str(tmp_path))
    found = load_alphabets(size=14)
    assert [(a.name, a.images.shape) for a in found] == [
        ("Latin", (8, 10, 14, 14)),
        ("Sanskrit", (7, 10, 14, 14)),
    ]
    with pytest.raises(ValueError, match="sets must be one of 'images_background'"):
        load_alphabets(sets=["images"])


def test_a_missing_file_is_downloaded_and_checked_or_told(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"Download https://github.com/.* by hand"):
        load_alphabets(tmp_path, download=False)

    def no_network(url, timeout):
        raise URLError("no route")

    monkeypatch.setattr("urllib.request.urlopen", no_network)
    with pytest.raises(ConnectionError, match=r"no route.*ISTHMUS_OMNIGLOT"):
        load_alphabets(tmp_path)
    monkeypatch.setattr("urllib.request.urlopen", lambda url, timeout: TINY.open("rb"))
    with pytest.raises(ValueError, match="must have the sha256 digest"):
        load_alphabets(tmp_path)
    assert not list(tmp_path.iterdir())
    digest = "sha256:" + hashlib.sha256(TINY.read_bytes()).hexdigest()
    monkeypatch.setitem(files.OFFICIAL, "images_background", digest)
    assert len(load_alphabets(tmp_path, sets=["images_background"])) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["images_background.zip"]


def test_a_zip_without_drawings_is_refused(tmp_path):
    from zipfile import ZipFile

    with ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(ValueError, match="must hold drawings"):
        files.read_zip(tmp_path / "other.zip")


@pytest.mark.parametrize("d", [1, 4, 9, 16, 25])
def test_the_truth_is_the_sum_of_log_sizes_also_with_alphabets_used_again(alphabets, d):
    problem = SpatialMultiOmniglot.largest(alphabets, d)
    assert problem.sizes == tuple([8, 7] * 13)[:d]
    assert problem.mutual_information == pytest.approx(
        sum(math.log(size) for size in problem.sizes), rel=1e-12
    )
    pairs = problem.sample(5, rng=0)
    assert pairs.u.shape == pairs.v.shape == (5, 28 * math.isqrt(d), 28 * math.isqrt(d))


def test_the_truth_is_that_of_the_characters_drawn(alphabets):
    # The plug-in entropy of pairs of characters, from the definition: with 2 cells counted one by
    # one (they are independent), I = 2 H(u) - H(u, v) and v is a function of u.
    problem = SpatialMultiOmniglot.largest(alphabets, 4)
    _, _, characters = problem.sample_places(40_000, 1)
    for i, size in enumerate(problem.sizes):
        counts = np.bincount(characters[:, i], minlength=size)
        # Chi-square with size - 1 degrees of freedom: beyond its mean by five deviations never.
        statistic = ((counts - 40_000 / size) ** 2 / (40_000 / size)).sum()
        assert statistic < size - 1 + 5 * math.sqrt(2 * (size - 1))
    # Cells are independent: correlations of 40,000 rows are within five of their errors, 1/200.
    correlation = np.corrcoef(characters.T)
    assert np.abs(correlation[~np.eye(4, dtype=bool)]).max() < 5 / 200


def test_cells_of_a_grid_are_drawings_of_their_characters(alphabets):
    problem = SpatialMultiOmniglot.largest(alphabets, 4)
    pairs = problem.sample(30, rng=3)
    for image, numbers in ((pairs.u, pairs.characters), (pairs.v, pairs.partners)):
        for row in range(30):
            for cell in range(4):
                y, x = divmod(cell, 2)
                own = image[row, 28 * y : 28 * y + 28, 28 * x : 28 * x + 28]
                drawings = problem.alphabets[cell].images[numbers[row, cell]]
                assert (drawings == own).all(axis=(1, 2)).any()
    again = problem.sample(30, rng=3)
    assert (again.u == pairs.u).all() and (again.v == pairs.v).all()
    truth = problem.log_ratio(pairs.characters, pairs.partners)
    assert (truth == problem.mutual_information).all()
    other = problem.log_ratio(pairs.characters, np.roll(pairs.partners, 1, axis=0))
    follows = (pairs.characters == np.roll(pairs.characters, 1, axis=0)).all(axis=1)
    assert (np.isneginf(other) == ~follows).all()


def test_the_honest_split_shares_no_drawing_and_the_published_one_all(alphabets):
    problem = SpatialMultiOmniglot.largest(alphabets, 4)
    published = problem.split("published")
    assert [part.drawings for part in published] == [tuple(range(10))] * 3
    honest = problem.split("honest")
    assert [len(part.drawings) for part in honest] == [7, 1, 2]
    assert sorted(sum((part.drawings for part in honest), ())) == list(range(10))
    images = [set(map(bytes, part.images()[0])) for part in honest]
    assert not images[0] & images[2] and not images[1] & images[2] and not images[0] & images[1]
    assert {part.mutual_information for part in honest} == {problem.mutual_information}
    with pytest.raises(ValueError, match="kind must be one of 'published', 'honest'"):
        problem.split("random")


def test_what_is_no_grid_is_refused(alphabets):
    with pytest.raises(ValueError, match=r"as many as a square grid has cells.*received 3"):
        SpatialMultiOmniglot((alphabets[0],) * 3)
    with pytest.raises(ValueError, match="numbers from 0 to 9"):
        SpatialMultiOmniglot((alphabets[0],), (3, 10))
    small = drawn_alphabets([3], drawings=10, size=14)
    with pytest.raises(ValueError, match="images of one size"):
        SpatialMultiOmniglot((*alphabets, *small, *small))
    one = SpatialMultiOmniglot((alphabets[0],), (0, 1))
    with pytest.raises(ValueError, match="at least three drawings"):
        one.split("honest")


def test_strokes_are_the_same_for_a_seed_and_drawings_of_a_character_are_alike():
    a, b = (drawn_alphabets([6], drawings=8, rng=2)[0].images for _ in range(2))
    assert (a == b).all() and a.max() == 255
    flat = a.reshape(6, 8, -1).astype(float)
    within = ((flat[:, :, None] - flat[:, None]) ** 2).mean()
    between = ((flat[:, None, :, None] - flat[None, :, None]) ** 2).mean()
    assert within < 0.8 * between

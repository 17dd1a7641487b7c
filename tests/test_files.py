"""Files are written whole or not at all."""

from __future__ import annotations

import pytest

from isthmus.files import check_target, written_whole


def test_an_old_file_stays_until_the_new_one_is_complete(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with written_whole(target) as draft:
        draft.write_text("new")
        assert target.read_text() == "old"
        assert draft.suffix == ".txt"  # which says the format to those who write it
    assert target.read_text() == "new"
    with pytest.raises(RuntimeError, match="half-way"), written_whole(target) as draft:
        draft.write_text("half")
        raise RuntimeError("half-way")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("name", "suffixes", "message"),
    [
        ("none/a.png", (), "--out must be in a folder that exists"),
        ("", (), "--out must be a file; received the folder"),
        ("a.txt", (".html", ".htm"), "--out must end in .html or .htm; received"),
        ("a.txt", (".a", ".b", ".c"), "--out must end in one of .a, .b, .c; received"),
    ],
)
def test_a_path_that_cannot_be_written_to_is_refused(tmp_path, name, suffixes, message):
    with pytest.raises(ValueError, match=message):
        check_target(tmp_path / name, "--out", suffixes)


def test_the_case_of_a_suffix_does_not_matter(tmp_path):
    assert check_target(tmp_path / "A.HTML", "--out", (".html", ".htm")) == tmp_path / "A.HTML"

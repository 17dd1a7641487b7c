"""The check of the built site finds what is wrong, on small sites."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "check_site.py"


@pytest.fixture
def faults():
    return runpy.run_path(str(SCRIPT))["faults"]


@pytest.fixture
def site(tmp_path):
    (tmp_path / "index.html").write_text(
        '<link rel="stylesheet" href="site.css"><h1 id="top">Title</h1><a href="sub/page.html#at">'
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "page.html").write_text('<p id="at"><a href="../index.html#top">')
    (tmp_path / "site.css").write_text("p { color: black }")
    (tmp_path / "searchindex.js").write_text("")
    base = "https://isthmus-ml.github.io/isthmus/"
    (tmp_path / "llms.txt").write_text(f"[a]({base}index.html)\n[b]({base}sub/page.html)")
    return tmp_path


def test_a_sound_site_has_no_faults(site, faults):
    assert list(faults(site)) == []


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("index.html", '<a href="no.html">', "index.html links to no.html, which does not exist."),
        ("index.html", '<a href="sub/page.html#no">', "which has no such anchor."),
        ("index.html", '<script src="https://a.org/x.js"></script>', "from elsewhere."),
        ("index.html", '<img src="no.png">', "index.html loads no.png, which does not exist."),
        ("site.css", "@import 'https://a.org/x.css'", "site.css loads https://a.org/x.css"),
        ("llms.txt", "[a](https://isthmus-ml.github.io/isthmus/index.html)", "lacks sub/page.html"),
    ],
)
def test_what_is_wrong_is_told(site, faults, file, text, told):
    (site / file).write_text(text)
    assert any(told in fault for fault in faults(site))


def test_links_elsewhere_and_data_are_left_alone(site, faults):
    page = site / "index.html"
    text = '<a href="https://a.org"><a href="mailto:a@b.org"><img src="data:image/png;base64,">'
    page.write_text(page.read_text() + text)
    assert list(faults(site)) == []


def test_a_site_without_a_search_is_told(site, faults):
    (site / "searchindex.js").unlink()
    assert list(faults(site)) == ["The index of the search is missing."]

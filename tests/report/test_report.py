"""The page: what it says, that it is sound HTML, that names stay names, and how it is written."""

from __future__ import annotations

import html
import itertools
import os
import re
import shlex
import stat
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest
from sklearn.base import BaseEstimator

from isthmus import MDRE, Estimate, compare, words
from isthmus.cli.app import run
from isthmus.report import page, sections, write
from isthmus.report.drawing import Drawing
from isthmus.report.markup import Markup, join, tag

NORMAL = MDRE(auxiliaries="bridge", critic="quadratic", anchor="gaussian", maps=None, l2=np.inf)
SCRIPT = "<script>alert(1)</script>"
LEVEL = "<img src=x onerror=alert(2)>"
VOID = {"meta", "link", "br", "hr", "img"}


def quick(p, q, **how):
    return compare(p, q, **{"estimator": NORMAL, "folds": 2, "random_state": 0, **how})


class Page(HTMLParser):
    """Elements and texts of a page; an element that is not closed is an error."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, name, attributes):
        assert len(dict(attributes)) == len(attributes), (name, attributes)
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name):
        assert self.open.pop() == name, name

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))

    def all(self, *names):
        return [attributes for name, attributes in self.elements if name in names]

    def text(self, within=None):
        return "".join(
            data for path, data in self.texts
            if (within is None or within in path) and "style" not in path
        )  # fmt: skip


@pytest.fixture(scope="module")
def chasm():
    rng = np.random.default_rng(0)
    return quick(rng.normal(-1, 0.1, 400), rng.normal(1, 0.2, 500))


@pytest.fixture(scope="module")
def wild():
    """A table whose names and levels try everything."""
    rng = np.random.default_rng(0)

    def table(n, shift):
        share = 0.3 + 0.3 * shift
        return {
            SCRIPT: rng.normal(shift, 1, n),
            "a $x_1$ & $y$": rng.normal(0, 1, n),
            "_hidden": rng.choice([LEVEL, "#0072b2", "b\x1bc"], n, p=[share, 0.8 - share, 0.2]),
            '"><svg onload=alert(3)>' + "x" * 500: rng.normal(0, 1, n),
        }

    return quick(table(300, 1.0), table(250, 0.0))


LABELS = ("<b>p</b>.csv", "_q $1 $2.csv")


@pytest.fixture(scope="module")
def wild_page(wild):
    return page(wild, labels=LABELS, notes=["<i>note</i>"], command="run '<u>'", title=None)


@pytest.fixture(scope="module")
def chasm_page(chasm):
    return page(chasm)


@pytest.mark.parametrize("which", ["chasm_page", "wild_page"])
class TestSoundness:
    @pytest.fixture
    def text(self, which, request):
        return request.getfixturevalue(which)

    def test_every_element_is_closed_and_every_id_its_own(self, text):
        found = Page(text)
        ids = [a["id"] for _, a in found.elements if "id" in a]
        assert len(ids) == len(set(ids)) > 0
        links = re.findall(r'(?:href="|url\()#([^")]+)', text)
        assert set(links) <= set(ids)

    def test_nothing_is_loaded_and_nothing_runs(self, text):
        found = Page(text)
        names = {name for name, _ in found.elements}
        assert not names & {"script", "img", "iframe", "object", "embed", "audio", "video", "base"}
        for name, attributes in found.elements:
            assert not [key for key in attributes if key.startswith("on")], (name, attributes)
            for key in ("src", "href", "action", "xlink:href"):
                inside = ("#", "data:,", "data:image/png;base64,")
                assert attributes.get(key, "#").startswith(inside), (name, attributes)
        style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
        assert "@import" not in style and "url(" not in style and "http" not in style
        assert re.findall(r"https?://", text) == []
        policy = next(a for a in found.all("meta") if a.get("http-equiv"))
        assert policy["content"].startswith("default-src 'none'; style-src 'unsafe-inline'")

    def test_is_for_everybody(self, text):
        found = Page(text)
        assert found.all("html") == [{"lang": "en"}]
        assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in found.all(
            "meta"
        )
        for figure in found.all("svg"):
            assert figure["role"] == "img" and figure["aria-label"]
        assert len(found.all("table")) == len(found.all("caption")) > 0
        headings = [int(name[1]) for name, _ in found.elements if re.fullmatch(r"h\d", name)]
        assert headings.count(1) == 1 and headings[0] == 1
        assert all(b - a <= 1 for a, b in itertools.pairwise(headings))
        assert [name for name, _ in found.elements if name in ("header", "main", "footer")] == [
            "header",
            "main",
            "footer",
        ]
        assert all("scope" in a or a.get("class") == "meter" for a in found.all("th"))

    def test_is_small(self, text):
        assert len(text.encode()) < 400_000

    def test_has_light_dark_and_paper(self, text):
        assert "prefers-color-scheme: dark" in text and "@media print" in text


class TestContents:
    def test_opens_with_the_answer(self, chasm, chasm_page):
        value, _, low, high = chasm.kl.rounded()
        told = f"The two samples differ: KL(p‖q) is {value} nats (95 % interval {low} to {high})"
        text = Page(chasm_page).text("header")
        assert told in text
        assert f"Rests on: {chasm.rests_on}." in text
        assert "400 rows" in text and "500 rows" in text and "1 column" in text

    def test_lists_the_divergences(self, chasm, chasm_page):
        text = Page(chasm_page).text("table")
        for name in ("kl", "reverse-kl", "js", "hellinger", "tv"):
            value, _, low, high = chasm.divergence(name).rounded()
            assert words.divergence(name)[1] in text
            assert f"{value}{low} to {high}" in text
        other = Page(page(chasm, divergences=["chi2", "alpha:0.5"], columns=0)).text("table")
        assert "χ² of Pearson" in other and "alpha:0.5" in other and "Total variation" not in other

    def test_an_end_that_is_not_known_is_told_and_drawn_as_an_arrow(self):
        reason = "trees see more & <b>better</b>"
        known = sections.divergences({"kl": Estimate(0.5, 0.1, 0.3, 0.7)})
        assert "arrow" not in known and "not known" not in known
        found = sections.divergences(
            {
                "kl": Estimate(0.45, 0.04, 0.37, np.inf, reason=reason),
                "js": Estimate(0.1, 0.01, 0.08, np.log(2.0), reason=reason),
            }
        )
        assert found.count('class="arrow"') == 1  # The KL has no scale to be drawn on.
        told = " ".join(text for _, text in Page(found).texts)
        assert "at least 0.370" in told and "inf" not in told and "∞" not in told
        assert f"KL(p‖q), Jensen–Shannon: how much more is not known, because {reason}." in told

    def test_checks_come_with_advice_worst_first(self, chasm, chasm_page):
        found = Page(chasm_page)
        order = [a["class"] for a in found.all("li") if a.get("class") in words.VERDICTS]
        assert order == sorted(order, key=words.VERDICTS.index)
        assert len(order) == len(chasm.diagnostics)
        assert order[0] == chasm.diagnostics["effective_sample_size"].verdict == "fail"
        for check in chasm.diagnostics.values():
            assert check.advice in found.text("li")

    def test_columns_are_ranked(self, wild_page):
        text = Page(wild_page).text("table")
        places = [text.index(name) for name in (SCRIPT, "_hidden", "a $x_1$ & $y$")]
        assert places == sorted(places)
        assert "Which columns differ" in Page(wild_page).text("h2")

    def test_one_column_is_not_ranked_but_drawn_along(self, chasm_page):
        found = Page(chasm_page)
        assert "Which columns differ" not in found.text("h2")
        assert any("along the column" in a["aria-label"] for a in found.all("svg"))

    def test_ranking_may_be_left_out(self, wild):
        assert "Which columns differ" not in page(wild, columns=0)
        with pytest.raises(ValueError, match=r"columns must be an integer in \[0, inf\)"):
            page(wild, columns=-1)

    def test_code_on_the_page_gives_the_same_page(self, tmp_path):
        rng = np.random.default_rng(0)
        data = {"a": rng.normal(0, 1, 60), "b": rng.normal(0, 1, 60)}
        other = {name: values + 1 for name, values in data.items()}
        c = quick(data, other, folds=3, level=0.9, columns=["b"], random_state=7)
        text = page(c, labels=("a'.csv", "b"), divergences=["kl", "chi2"], columns=3, notes=["n"])
        code = html.unescape(re.search(r"<pre[^>]*><code>(import.*?)</code>", text, re.DOTALL)[1])
        assert "random_state=7" in code and "folds=3" in code and "level=0.9" in code
        target = tmp_path / "again.html"
        exec(
            code.replace('"report.html"', "target"),
            {"p": data, "q": other, "MDRE": MDRE, "inf": np.inf, "target": target},
        )
        assert target.read_text("utf-8") == text

    @pytest.mark.parametrize(
        "asked",
        [
            {"critic": "diagonal", "folds": 3},
            {"critic": "quadratic", "level": 0.8, "drop": ["b"], "missing": "drop"},
        ],
        ids=["a critic", "columns left out"],
    )
    def test_code_on_the_page_names_all_that_was_asked_for(self, asked):
        rng = np.random.default_rng(0)
        p, q = ({"a": rng.normal(k, 1, 60), "b": rng.normal(0, 1, 60)} for k in (0, 1))
        c = compare(p, q, random_state=0, **asked)
        code = html.unescape(re.search(r"<code>(import.*?)</code>", page(c, columns=0), re.S)[1])
        names = {"p": p, "q": q}
        exec(code.partition("\nc.report")[0], names)
        again = names["c"]
        assert again.call == c.call
        np.testing.assert_array_equal(again.log_ratio_p, c.log_ratio_p)

    def test_says_so_where_there_is_no_seed(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, 60), rng.normal(1, 1, 60)
        assert "No number was given as seed" in page(quick(p, q, random_state=None))
        assert "No number was given as seed" not in page(quick(p, q, random_state=np.int64(3)))

    def test_versions_and_choices(self, chasm_page):
        import sklearn

        text = Page(chasm_page).text("section")
        assert f"NumPy {np.__version__}" in text and f"scikit-learn {sklearn.__version__}" in text
        assert "auxiliaries" in Page(chasm_page).text("dl")

    def test_two_columns_are_mapped(self):
        rng = np.random.default_rng(0)
        text = page(quick(rng.normal(0, 1, (150, 2)), rng.normal(1, 1, (150, 2))))
        assert "Map of the log-ratio over x0 and x1" in text

    def test_same_samples_cannot_be_told_apart(self):
        rng = np.random.default_rng(0)
        sample = rng.normal(0, 1, (300, 2))
        text = Page(page(quick(sample, sample.copy()))).text("header")
        assert "The two samples cannot be told apart: KL(p‖q) is" in text

    def test_a_column_of_levels_alone(self):
        rng = np.random.default_rng(0)
        p, q = ({"c": rng.choice(list("xyz"), 200, p=share)}
                for share in ([0.2, 0.3, 0.5], [0.4, 0.3, 0.3]))  # fmt: skip
        assert "Log p/q at the rows" in page(quick(p, q))

    def test_weighted_rows(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (100, 2)), rng.normal(1, 1, (100, 2))
        text = page(quick(p, q, weight_p=np.arange(100.0)))
        assert "weight_p=weight_p" in text

    def test_rows_left_out_are_told(self):
        rng = np.random.default_rng(0)
        p, q = ({"a": rng.normal(0, 1, 80), "b": rng.normal(0, 1, 80)} for _ in range(2))
        p["a"][:7] = np.nan
        text = page(quick(p, q, missing="drop"))
        assert "7 rows of p were left out for missing values" in text
        assert "missing=&#x27;drop&#x27;" in text


class Linear(BaseEstimator):
    """Any estimator will do: it has fit and log_ratio and nothing else."""

    def __init__(self, far=np.inf):
        self.far = far

    def fit(self, X, y):
        return self

    def log_ratio(self, X):
        first = np.asarray(X, dtype=float)[:, 0]
        return np.where(first > self.far, np.inf, first)


class TestAnyComparison:
    def test_many_rows_are_a_small_page(self):
        rng = np.random.default_rng(0)
        # One byte of a row would be more than the page may have.
        p, q = rng.normal(0.5, 1, (200_000, 1)), rng.normal(-0.5, 1, (200_000, 1))
        text = page(quick(p, q, estimator=Linear()))
        assert len(text.encode()) < 300_000

    def test_many_columns_are_a_small_page(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(0, 1, (300, 150)), rng.normal(0, 1, (300, 150))
        p[:, 77] += 2
        text = page(quick(p, q, estimator=Linear()))
        assert len(text.encode()) < 500_000
        assert "138 more columns are not shown" in text
        # The only one that differs by itself is among them, though not in this estimator's ratio.
        assert "x77" in Page(text).text("table")

    def test_infinite_divergences(self):
        rng = np.random.default_rng(0)
        p, q = rng.uniform(1, 2, (50, 2)), rng.uniform(-2, -1, (50, 2))
        text = Page(page(quick(p, q, estimator=Linear(1.5)))).text()
        assert "The two samples differ: KL(p‖q) is infinite" in text

    def test_numbers_of_few_values_are_shown_as_levels(self):
        rng = np.random.default_rng(0)
        p, q = rng.integers(0, 3, (80, 2)).astype(float), rng.normal(0, 1, (80, 2))
        q[:, 0] = rng.integers(0, 2, 80)
        assert "Column x0 in both samples" in page(quick(p, q, estimator=Linear()))


class TestNamesStayNames:
    def test_they_are_text_and_nothing_else(self, wild_page):
        found = Page(wild_page)
        text = found.text()
        for name in (SCRIPT, "a $x_1$ & $y$", "_hidden", "<b>p</b>.csv", "_q $1 $2.csv",
                     "<i>note</i>", "run '<u>'"):  # fmt: skip
            assert name in text, name
        names = {name for name, _ in found.elements}
        assert not names & {"script", "img", "i", "u"}
        assert SCRIPT not in wild_page and LEVEL not in wild_page

    def test_in_figures_too(self, wild_page):
        texts = [data for path, data in Page(wild_page).texts if "svg" in path]
        # Cut in the middle, since there is little room.
        assert any(data.startswith("<img src=") and "…" in data for data in texts)
        # A name that is a colour of the page stays as it is.
        assert any(data.strip() == "#0072b2" for data in texts)
        assert any(r"b\x1bc" in data for data in texts)

    def test_colours_are_those_of_the_page(self, wild_page):
        # In figures, colours of p, of q and of ink follow the page, light or dark.
        for element, attributes in Page(wild_page).elements:
            assert "#0072b2" not in attributes.get("style", ""), element
            assert "#d55e00" not in attributes.get("style", "")
            assert "#000000" not in attributes.get("style", "")

    def test_title(self, chasm):
        text = page(chasm, title=SCRIPT, columns=0)
        assert html.escape(SCRIPT) in text and SCRIPT not in text
        assert Page(text).text("title") == Page(text).text("h1") == SCRIPT

    def test_lone_surrogates_can_be_written(self, chasm, tmp_path):
        # As in the name of a file that is not UTF-8.
        chasm.report(tmp_path / "r.html", labels=("a\udcff.csv", "b.csv"), columns=0)
        assert r"a\udcff.csv" in (tmp_path / "r.html").read_text("utf-8")


class TestMarkup:
    def test_only_markup_is_taken_as_it_is(self):
        assert tag("p", Markup("<b>x</b>"), "<b>") == "<p><b>x</b>&lt;b&gt;</p>"
        assert join("a", None, ["<", [3]]) == "a&lt;3"
        assert tag("a", class_="x", aria_label="\"'", title=None) == (
            '<a class="x" aria-label="&quot;&#x27;"></a>'
        )

    def test_text_made_of_markup_is_text(self):
        assert tag("p", Markup("<b>") + "<i>") == "<p>&lt;b&gt;&lt;i&gt;</p>"


class TestDrawing:
    def draw(self, ax):
        ax.scatter([1, 2], [1, 2])
        ax.set_title("#0072b2 < style")

    def test_is_the_same_whatever_the_settings(self):
        first = Drawing().svg(self.draw, "t")
        with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "text.usetex": False}):
            assert Drawing().svg(self.draw, "t") == first
            assert matplotlib.rcParams["font.size"] == 30
        assert "#0072b2 &lt; style" in first

    def test_two_of_one_page_share_no_id(self):
        drawing = Drawing()
        ids = [re.findall(r' id="([^"]+)"', drawing.svg(self.draw, "t")) for _ in range(2)]
        assert ids[0] and not set(ids[0]) & set(ids[1])

    def test_is_bare(self):
        text = Drawing().svg(self.draw, 'a "title"')
        assert "<metadata" not in text and "<style" not in text and "xmlns" not in text
        assert 'aria-label="a &quot;title&quot;"' in text
        assert "width=" not in text.split(">")[0]


class TestWriting:
    def test_returns_the_path_and_is_the_same_twice(self, chasm, tmp_path, chasm_page):
        target = tmp_path / "r.html"
        assert chasm.report(str(target)) == target
        assert target.read_text("utf-8") == chasm_page
        if os.name == "posix":
            # As any other file of the user, not as a temporary one.
            plain = tmp_path / "plain"
            plain.write_text("")
            assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
        assert sorted(os.listdir(tmp_path)) == ["plain", "r.html"]

    def test_an_old_file_stays_until_the_page_is_complete(self, chasm, tmp_path, monkeypatch):
        target = tmp_path / "r.html"
        target.write_text("old")

        def broken(*_, **__):
            assert target.read_text() == "old"
            raise RuntimeError("no page")

        monkeypatch.setattr("isthmus.report.document.page", broken)
        with pytest.raises(RuntimeError, match="no page"):
            chasm.report(target)
        assert target.read_text() == "old" and os.listdir(tmp_path) == ["r.html"]
        monkeypatch.setattr("isthmus.report.document.page", lambda *_, **__: "new")
        chasm.report(target)
        assert target.read_text() == "new" and os.listdir(tmp_path) == ["r.html"]

    def test_a_full_disk_leaves_the_old_file(self, chasm, tmp_path, monkeypatch):
        target = tmp_path / "r.html"
        target.write_text("old")
        monkeypatch.setattr("isthmus.report.document.page", lambda *_, **__: "new")
        monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError, match="full"):
            write(chasm, target)
        assert target.read_text() == "old" and os.listdir(tmp_path) == ["r.html"]

    def test_a_bad_path_is_refused_before_the_work(self, tmp_path):
        # None is no comparison: any work on it would fail in another way.
        with pytest.raises(ValueError, match="path must be in a folder that exists; received"):
            write(None, tmp_path / "none" / "r.html")
        with pytest.raises(ValueError, match="path must be a file; received the folder"):
            write(None, tmp_path)

    @pytest.mark.skipif(os.name != "posix", reason="symbolic links need rights elsewhere")
    def test_a_link_stays_a_link(self, chasm, tmp_path, monkeypatch):
        monkeypatch.setattr("isthmus.report.document.page", lambda *_, **__: "new")
        (tmp_path / "real").mkdir()
        (tmp_path / "link.html").symlink_to(tmp_path / "real" / "r.html")
        chasm.report(tmp_path / "link.html")
        assert (tmp_path / "real" / "r.html").read_text() == "new"
        assert (tmp_path / "link.html").is_symlink()


class TestCommandLine:
    @pytest.fixture
    def files(self, tmp_path):
        rng = np.random.default_rng(0)
        for name, shift in (("june 1.csv", 1.0), ("may.csv", 0.0)):
            rows = [f"{rng.normal(shift):.4f},{rng.choice(['x', LEVEL])},0" for _ in range(60)]
            (tmp_path / name).write_text("\n".join([f'"a,{SCRIPT}",kind,zero', *rows]))
        return tmp_path

    def test_writes_a_page_and_how_to_repeat_it(self, files, monkeypatch, capsys):
        monkeypatch.chdir(files)
        given = ["compare", "june 1.csv", "may.csv", "--drop", "zero", "--level", "0.9"]
        given += ["--divergence", "chi2", "--divergence", "alpha:0.5"]
        assert run([*given, "--report", "out.html", "--quiet"]) == 0
        first = (files / "out.html").read_bytes()
        found = Page(first.decode())
        assert "june 1.csv and may.csv differ" in found.text("header")
        assert f"a,{SCRIPT}" in found.text("table") and "kind" in found.text("table")
        shown = re.search(r"<pre[^>]*><code>(isthmus .*?)</code>", first.decode(), re.DOTALL)[1]
        command = shlex.split(html.unescape(shown))
        assert command[0] == "isthmus" and "--drop" in command
        assert [after for word, after in itertools.pairwise(command) if word == "--divergence"] == [
            "chi2",
            "alpha:0.5",
        ]
        (files / "out.html").unlink()
        assert run(command[1:]) == 0
        assert (files / "out.html").read_bytes() == first
        assert "report: out.html" in capsys.readouterr().out

    def test_bad_paths(self, files, capsys):
        given = ["compare", str(files / "june 1.csv"), str(files / "may.csv"), "--report"]
        assert run([*given, str(files / "none" / "r.html")]) == 2
        assert "--report must be in a folder that exists" in capsys.readouterr().err
        assert run([*given, str(files / "r.pdf")]) == 2
        assert "--report must end in .html or .htm" in capsys.readouterr().err

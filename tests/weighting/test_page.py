"""What people see of weights: page, picture, text, notebook and command line."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import isthmus
from isthmus.candidates import Ridge
from isthmus.cli import app as cli

QUICK = isthmus.StackedMDRE((Ridge(),), folds=3)
EVIL = "<script>alert(1)</script>"


def samples(n=400):
    rng = np.random.default_rng(0)
    out = []
    for shift in (0.0, 1.0):
        level = rng.choice(["a", EVIL], n, p=[0.6, 0.4])
        out.append(pd.DataFrame({"n$": rng.normal(shift, 1, n), "level": level}))
    return out


@pytest.fixture(scope="module")
def weights():
    return isthmus.importance_weights(
        *samples(), least_ess=200, balance=["n$"], estimator=QUICK, random_state=0
    )


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)


def test_the_page_is_one_file_that_runs_nothing(weights, tmp_path):
    path = weights.report(tmp_path / "w.html", title=EVIL)
    text = path.read_text("utf-8")
    tags = Tags()
    tags.feed(text)
    assert "script" not in tags.seen and "svg" in tags.seen
    assert "alert(1)" in text and EVIL not in text
    assert "The weights stand for" in text and "Which population" in text
    assert list(tmp_path.iterdir()) == [path], "nothing else is left behind"
    assert weights.report(tmp_path / "again.html", title=EVIL).read_text("utf-8") == text


def test_a_page_in_no_folder_is_refused(weights, tmp_path):
    with pytest.raises(ValueError, match="must be in a folder that exists"):
        weights.report(tmp_path / "no" / "w.html")


def test_the_picture_has_every_column_and_its_names_as_they_are(weights):
    mpl.use("Agg")
    ax = weights.plot()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == len(weights.balance) and r"n\$" in names
    assert len(weights.plot(most=1).get_yticklabels()) == 1


def test_text_and_notebook_give_verdict_numbers_and_notes(weights):
    text = str(weights)
    for told in (weights.verdict, "effective sample size", "design effect", *weights.notes):
        assert told in text
    html = weights._repr_html_()
    assert "effective sample size" in html and EVIL not in html
    assert json.loads(json.dumps(weights.to_dict(), allow_nan=False))["verdict"] in ("ok", "warn")


@pytest.fixture
def files(tmp_path):
    source, target = samples(300)
    source["id"], target["id"] = np.arange(300), np.arange(300) + 300
    source.to_csv(tmp_path / "s.csv", index=False)
    target.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path


def test_the_command_writes_weights_beside_keys(files):
    out, page = files / "o.parquet", files / "r.html"
    arguments = ["weights", str(files / "s.csv"), str(files / "t.csv"), "-o", str(out)]
    arguments += ["--keys", "id", "--least-ess", "100", "--report", str(page), "--json"]
    run = CliRunner().invoke(cli.app, arguments)
    assert run.exit_code == 0, run.output
    told, table = json.loads(run.stdout), pq.read_table(out)
    assert table.column_names == ["id", "weight"]
    assert table["id"].to_pylist() == list(range(300))
    w = table["weight"].to_numpy()
    assert told["effective_sample_size"] == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert told["effective_sample_size"] >= 100 and page.exists()


def test_what_is_refused_leaves_no_file_but_the_reason(files, capsys):
    target = pd.read_csv(files / "t.csv")
    target["n$"] += 30
    target.to_csv(files / "far.csv", index=False)
    out, page = files / "o.csv", files / "r.html"
    arguments = ["weights", str(files / "s.csv"), str(files / "far.csv"), "-o", str(out)]
    assert cli.run([*arguments, "--keys", "id", "--report", str(page)]) == 2
    assert "Do not weight" in capsys.readouterr().err
    assert not out.exists() and "Do not weight" in page.read_text("utf-8")
    assert cli.run([*arguments, "--keys", "nothing"]) == 2
    assert "--keys must name columns" in capsys.readouterr().err
    assert cli.run([*arguments, "--name", "id"]) == 2
    assert "--name must not be a column" in capsys.readouterr().err

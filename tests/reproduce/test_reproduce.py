"""``isthmus reproduce``: processes and records, tables and flags, and the page made of them."""

from __future__ import annotations

import functools
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from isthmus import problems
from isthmus import reproduce as experiments
from isthmus.cli import app as cli
from isthmus.reproduce import kl, methods, record, run_experiment, show
from isthmus.reproduce.record import read as read_record
from isthmus.reproduce.runner import Difference, Stopped, Table

ROOT = Path(__file__).parents[2]


def run(capsys, *arguments):
    """Exit code, stdout and stderr of the command."""
    capsys.readouterr()
    code = cli.run([str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_run_leaves_numbers_tables_figures_and_a_record(toy, tmp_path, capsys):
    outcome = run_experiment(toy, tmp_path / "out", seeds=2, progress=True)
    folder = tmp_path / "out" / "toy"
    record = read_record(folder / "record.json")
    assert record == outcome.record
    found = {(each["kind"], each["seed"]): each for each in record["results"]}
    assert len(found) == 4 and record["failed"] == [] and record["seeds"] == [0, 1]
    # Nine digits, no NaN, one thread, warnings kept; what was printed is nowhere.
    assert found["fine", 1]["value"] == 0.333333333 and found["fine", 1]["none"] is None
    assert {each["threads"] for each in found.values()} == {"1"}
    assert found["loud", 0]["warnings"] == ["quite loud"] and not found["fine", 0]["warnings"]
    assert record["settings"] == {"quick": False, "seeds": 2, "jobs": 2, "threads": 1}
    assert "numpy" in record["versions"] and "torch" not in record["versions"]
    assert str(tmp_path) not in (folder / "record.json").read_text("utf-8")
    assert "| loud | 1 | 0.333 |" in (folder / "table.md").read_text("utf-8")
    assert "A note." in (folder / "table.txt").read_text("utf-8")
    assert record["figures"] == ["values"]
    assert (folder / "values.png").read_bytes().startswith(b"\x89PNG")
    err = capsys.readouterr().err
    assert "[4/4]" in err and "fine, seed 0" in err and "this must not mix" not in err


def test_figures_of_the_same_numbers_are_the_same_files(toy, tmp_path):
    results = [{"value": 0.0}, {"value": 1.0}]
    files = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        files.append(show.save_figures(toy, results, tmp_path / name))
    for one, other in zip(*files, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_a_run_goes_on_where_it_ended(toy, tmp_path, monkeypatch):
    out = tmp_path / "out"
    one = functools.partial(run_experiment, toy, out, quick=True, jobs=1)
    one(seeds=2)
    path = out / "toy" / "cells.jsonl"
    lines = path.read_text().splitlines()
    cells = [line for line in lines if '"found"' in line]
    # One cell is lost, and the other's line is followed by one that was cut short.
    path.write_text("\n".join([cells[1], cells[0][:40]]))
    lost = json.loads(cells[0])["cell"]["seed"]
    again = one(seeds=2)
    assert len(again.record["results"]) == 2
    assert toy.runs() == sorted(["fine 0", "fine 1", f"fine {lost}"])
    # More seeds need only the new ones; all there, nothing runs.
    one(seeds=3)
    one(seeds=3)
    assert len(toy.runs()) == 4 and "fine 2" in toy.runs()
    # Another version of the code counts for nothing, unless any will do.
    monkeypatch.setattr(record, "fingerprint", lambda module: "other")
    one(seeds=1, any_code=True)
    assert len(toy.runs()) == 4
    one(seeds=1)
    assert len(toy.runs()) == 5
    one(seeds=1, anew=True)
    assert len(toy.runs()) == 6


def test_errors_and_deaths_are_kept_and_the_rest_goes_on(toy, tmp_path, capsys):
    cells = [{"kind": kind, "seed": 0} for kind in ("error", "death", "fine", "loud")]
    outcome = run_experiment(toy, tmp_path, cells=cells, jobs=1, progress=True)
    assert [each["kind"] for each in outcome.record["results"]] == ["fine", "loud"]
    errors = {each["kind"]: each["error"] for each in outcome.failed}
    assert errors["error"] == "ValueError: no such luck"
    assert errors["death"] == "the process ended with code 7: out of memory"
    assert "no such luck" in capsys.readouterr().err
    # What failed is tried again; what did not is not.
    run_experiment(toy, tmp_path, cells=cells, jobs=1)
    assert toy.runs().count("error 0") == 2 and toy.runs().count("fine 0") == 1


def test_an_interrupt_keeps_what_is_done_and_ends_the_processes(toy, tmp_path, monkeypatch):
    def interrupt(self, cell, found):
        # On a busy machine the other process may not have begun.
        for _ in range(300):
            if len(toy.processes()) == 2:
                break
            time.sleep(0.1)
        raise KeyboardInterrupt

    cells = [{"kind": kind, "seed": 0} for kind in ("slow", "fine", "loud")]
    with monkeypatch.context() as patch:
        patch.setattr(show.Report, "tell", interrupt)
        with pytest.raises(Stopped, match=r"0 of 3 cells are kept.*goes on"):
            run_experiment(toy, tmp_path, cells=cells)
    assert len(toy.processes()) == 2
    assert all(ended(process) for process in toy.processes())
    done = run_experiment(toy, tmp_path, cells=cells[1:], jobs=1)
    assert len(done.record["results"]) == 2


def ended(process):
    """Whether a process has ended, after a while."""
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_processes_end_with_the_one_that_started_them(toy, tmp_path):
    code = (
        "from isthmus.reproduce import from_spec, run_experiment; import pathlib, sys;"
        f"sys.path.insert(0, {str(tmp_path / 'module')!r});"
        "toy = from_spec('toy_experiment:Toy');"
        "cells = [{'kind': 'fine', 'seed': 0}, {'kind': 'brief', 'seed': 0}];"
        f"run_experiment(toy, pathlib.Path({str(tmp_path)!r}), cells=cells, jobs=2)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(record.PACKAGE).parent)}
    parent = subprocess.Popen([sys.executable, "-P", "-c", code], env=environment)
    try:
        while "brief 0" not in toy.runs() and parent.poll() is None:
            time.sleep(0.1)
    finally:
        parent.kill()
        parent.wait()
    assert toy.processes() and all(ended(process) for process in toy.processes())


def test_processes_import_nothing_from_the_current_directory(toy, tmp_path, monkeypatch):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for name in ("argparse", "json", "numpy", "joblib", "tempfile"):
        (folder / f"{name}.py").write_text("raise ImportError('not this one')")
    monkeypatch.chdir(folder)
    outcome = run_experiment(toy, tmp_path, quick=True, seeds=2)
    assert not outcome.failed and len(outcome.record["results"]) == 2


def test_a_change_of_the_code_during_a_run_stops_it(toy, tmp_path, monkeypatch):
    codes = iter("abcdefgh")
    monkeypatch.setattr(record, "fingerprint", lambda module: next(codes))
    with pytest.raises(Stopped, match="code has changed"):
        run_experiment(toy, tmp_path, quick=True, seeds=1, jobs=1)


def test_a_record_says_which_parts_it_was_made_with(toy, tmp_path, monkeypatch):
    outcome = run_experiment(toy, tmp_path, quick=True, seeds=1, jobs=1)
    parts = outcome.record["parts"]
    assert parts and not any(name.startswith(("cli", "plots", "words")) for name in parts)
    assert record.changed_parts(outcome.record) == []
    monkeypatch.setattr(record, "version_of", lambda name: "other")
    assert record.changed_parts(outcome.record) == list(parts)
    # What reads files is asked for nothing by an experiment, which draws its rows.
    assert record.changed_parts({"parts": {"mdre": "", "tables.reading": ""}}) == ["mdre"]
    # One that does not say it is of other code.
    assert record.changed_parts({}) and record.changed_parts({"parts": {}})


def test_a_part_has_another_version_if_its_code_has_changed(tmp_path, monkeypatch):
    package = tmp_path / "isthmus"
    package.mkdir()
    monkeypatch.setattr(record, "PACKAGE", package)
    versions = []
    for code in ("x = 1\n", "# why\n\nx = 1\n", "x = 2\n"):
        (package / "one.py").write_text(code)
        versions.append(record.version_of("one"))
    assert versions[0] == versions[1] != versions[2]
    assert record.version_of("gone") == ""


def test_some_cells_can_be_run_and_the_rest_is_told(toy, tmp_path):
    outcome = run_experiment(toy, tmp_path, seeds=2, jobs=1, only="fine")
    assert [each["kind"] for each in outcome.record["results"]] == ["fine", "fine"]
    assert [each["kind"] for each in outcome.record["missing"]] == ["loud", "loud"]
    assert show.in_groups(outcome.record["missing"]) == "loud (2 seeds)"
    # What was run before stays, and nothing begins after the time.
    none = run_experiment(toy, tmp_path, seeds=2, jobs=1, minutes=0.0)
    assert len(none.record["results"]) == 2 and len(none.record["missing"]) == 2
    whole = run_experiment(toy, tmp_path, seeds=2, jobs=1)
    assert len(whole.record["results"]) == 4 and whole.record["missing"] == []


def test_a_run_goes_on_from_a_record_of_the_same_code(toy, tmp_path, monkeypatch):
    one = functools.partial(run_experiment, toy, tmp_path / "out", quick=True, jobs=1)
    first = one(seeds=1)
    cells = tmp_path / "out" / "toy" / "cells.jsonl"
    cells.unlink()
    second = one(seeds=2)
    # Only what the record has not is run, and what it has is as it was.
    assert toy.runs() == ["fine 0", "fine 1"]
    assert second.record["results"][0] == first.record["results"][0]
    assert second.record["parts"] == first.record["parts"]
    assert second.record["wall_seconds"] >= first.record["wall_seconds"]
    cells.unlink()
    monkeypatch.setattr(record, "version_of", lambda part: "other")
    one(seeds=1)
    assert toy.runs() == ["fine 0", "fine 0", "fine 1"]


def test_cells_must_differ(toy, tmp_path):
    with pytest.raises(ValueError, match="must differ"):
        run_experiment(toy, tmp_path, cells=[{"seed": 0}, {"seed": 0}])


def test_the_fingerprint_is_of_what_numbers_depend_on(tmp_path, monkeypatch):
    table = record.fingerprint("isthmus.reproduce.table1")
    assert re.fullmatch("[0-9a-f]{12}", table)
    assert table == record.fingerprint("isthmus.reproduce.table1")
    assert table != record.fingerprint("isthmus.reproduce.table2")
    package = tmp_path / "isthmus"
    shutil.copytree(record.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(record, "PACKAGE", package)
    assert record.fingerprint("isthmus.reproduce.table1") == table
    for name, counts in (
        ("cli/app.py", False),
        ("reproduce/show.py", False),
        ("reproduce/figure1.py", False),
        ("reproduce/table1.py", True),
        ("reproduce/searched.py", True),
        ("reproduce/search.py", False),
        ("reproduce/samples.py", True),
        ("baselines/bdre.py", True),
    ):
        before = record.fingerprint("isthmus.reproduce.table1")
        with (package / name).open("a") as file:
            file.write("# changed\n")
        assert (record.fingerprint("isthmus.reproduce.table1") != before) == counts, name


def test_the_time_left_is_that_of_the_other_seeds():
    cells = [{"kind": kind, "seed": seed} for seed in range(3) for kind in ("short", "long")]
    report = show.Report(cells, [], jobs=2)
    assert report.seconds_left() is None and report.time_left() == ""
    report = show.Report(cells, [(cells[0], 1.0), (cells[1], 9.0)], jobs=2)
    # Two seeds of ten seconds are left, for two processes.
    assert report.seconds_left() == pytest.approx(10.0)
    assert report.time_left() == "about 10 s left" and report.finished == 2


def test_tables_in_markdown_and_text():
    table = Table("T", ["a|b", "value"], [["x", "1.0 ± 0.1"], ["long name", "−2*"]], ["N."])
    assert show.as_markdown(table).splitlines()[2:5] == [
        "| a\\|b | value |",
        "|:---|---:|",
        "| x | 1.0 ± 0.1 |",
    ]
    text = show.as_text(table).splitlines()
    assert text[4] == "x          1.0 ± 0.1" and text[5] == "long name        −2*"
    with pytest.raises(ValueError, match="2 cells"):
        Table("T", ["a", "b"], [["x"]])


def test_the_command_lists_and_refuses(capsys, tmp_path):
    for arguments in ([], ["--list"], ["table-1", "--list"]):
        code, out, _ = run(capsys, "reproduce", *arguments)
        assert code == 0
        for name in experiments.names():
            assert re.search(rf"^{name} +\S", out, re.MULTILINE)
    (tmp_path / "file").write_text("")
    for arguments, told in (
        (["tabel-1"], "Did you mean table-1"),
        (["xyz"], "There are figure-1"),
        (["table-1", "--seeds", "0"], "--seeds must be at least 1"),
        (["table-1", "--jobs", "-1"], "--jobs must be at least 1"),
        (["table-1", "--out", tmp_path / "file"], "--out must be a folder"),
    ):
        code, _, err = run(capsys, "reproduce", *arguments)
        assert code == 2 and told in err


def test_every_experiment_is_complete():
    for name in experiments.names():
        experiment = experiments.load(name)
        assert experiment.title and experiment.about.endswith(".")
        quick = experiment.cells(True, 3)
        full = experiment.cells(False, 3)
        assert 0 < len(quick) <= len(full)
        keys = [record.key(cell) for cell in full]
        assert len(set(keys)) == len(keys)
        assert json.loads(json.dumps(full)) == full


def test_methods_that_do_not_apply_are_left_out():
    cells = kl.kl_cells(problems.names("table2/"), methods.METHODS, 1, rows=1000)
    by = {(cell["problem"], cell["method"]) for cell in cells}
    assert ("table2/40", "infonce") in by and ("table2/40-shifted", "infonce") not in by
    assert ("table2/40", "paper-newton") in by and ("table2/320", "paper-newton") not in by
    assert ("table2/320", "paper") in by


def test_all_methods_see_the_same_rows():
    rows = {}
    for name in ("table-1", "table-2", "table-3"):
        for cell in experiments.load(name).cells(False, 3):
            if methods.METHODS[cell["method"]].rows is None:
                rows.setdefault((name, cell["problem"], cell["method"]), set()).add(cell["rows"])
    # In Table 1 some are there with fewer rows as well, as in the paper's appendix.
    sizes = {}
    for (_, problem, _), mine in rows.items():
        sizes.setdefault(problem, set()).add(max(mine))
    assert all(len(mine) == 1 for mine in sizes.values())
    assert sizes["table1/row1"] == {33_333} and sizes["table2/40"] == {100_000}
    # Where they have fewer than the authors, the paper's training has as many beside it.
    more = {cell["rows"] for cell in experiments.load("table-2").cells(False, 3)
            if cell["method"] == "paper-rows"}  # fmt: skip
    assert more == {100_000} and max(sizes["table2/160"]) < 100_000


def test_every_penalty_is_chosen_by_held_out_rows():
    problem = problems.load("table2/40")
    for name in ("free", "anchored", "bdre", "bdre-anchored", "tre", "tre-anchored", "fdre", "nce"):
        assert methods.METHODS[name].make(problem, 0).l2 == "auto", name
    # With anchors and without, in the same form.
    for name in ("bdre", "tre"):
        free, anchored = (methods.METHODS[n].make(problem, 0) for n in (name, f"{name}-anchored"))
        assert free.anchor is None and anchored.set_params(anchor=None).get_params() == (
            free.get_params()
        )


def test_the_default_says_what_it_rests_on():
    kls = made_up({"default": [200.0, 201.0], "plug-in": [199.0]})
    for each in kls[:2]:
        each["rests_on"] = "fitted densities: normal for p, normal for q"
    rows = {row[0]: row[1] for row in experiments.load("table-1").tables(kls)[0].rows}
    assert rows["MDRE, default"] == "200.50 ± 0.71 (normal for p, normal for q)"
    assert rows["plug-in"] == "199.00"


def made_up(kls):
    return [
        {"problem": "table1/row1", "method": method, "rows": 33_333, "seed": seed, "kl": kl,
         "rms_p": 1.0, "rms_q": 2.0, "fit_seconds": 1.0, "seconds": 1.0}
        for method, values in kls.items()
        for seed, kl in enumerate(values)
    ]  # fmt: skip


def test_differences_from_the_paper_are_flagged_and_explained(monkeypatch):
    # The paper: MDRE 203.32 ± 2.01 and BDRE 21.74 ± 4.10, each over three seeds.
    near, far = [203.0, 204.0, 205.0], [40.0, 41.0, 42.0]
    table = experiments.load("table-1")
    results = made_up({"paper-newton": near, "bdre": far, "plug-in": [1.0]})
    flagged = table.differences(results)
    assert [each.where for each in flagged] == ["row1, BDRE"]
    # (41 - 21.74) / sqrt(1/3 + 4.1^2 / 3)
    assert flagged[0].errors == pytest.approx(19.26 / (17.81 / 3) ** 0.5, rel=1e-3)
    rows = {row[0]: row[1] for row in table.tables(results)[0].rows}
    assert rows["BDRE"] == "41.00 ± 1.00*" and rows["MDRE, the paper's model, solved"][-1] != "*"
    assert rows["paper's BDRE"] == "21.74 ± 4.10" and rows["truth"] == "200.27"
    monkeypatch.setattr(type(table), "why", lambda *_: "")
    (remark,) = table.remarks(results)
    assert "unexplained" in remark and "41.00" in remark and "21.74" in remark
    assert "unexplained" not in str(Difference("here", 1.0, 2.0, 3.0, "A reason."))


def test_one_seed_is_no_evidence_of_a_difference():
    assert kl.distance([1.0], 2.0, None) == 0.0
    # Its spread is taken to be the paper's.
    assert kl.distance([1.0], 2.0, 0.3) == pytest.approx(1 / (0.09 + 0.09 / 3) ** 0.5)


def judged(cell):
    found = methods.measure({"fresh": 2000, "seed": 0, **cell})
    assert found["fit_seconds"] > 0
    return found


def test_measures_are_those_of_the_truth_where_the_model_is_right():
    # 1000 rows a side: the KL has a standard error of 200 sqrt(2/1000) = 9, and log-ratios
    # of p an error of about that too; four of them.
    found = judged({"problem": "table1/row1", "method": "default", "rows": 1000})
    truth = problems.load("table1/row1").kl
    assert abs(found["kl"] - truth) < 36 and found["rms_p"] < 36
    assert found["low"] < found["compare"] < found["high"] and "normal" in found["rests_on"]
    # A truncated p: the rows of q lie where it is zero, and log p/q has no error there. The KL
    # of the paper's model has a spread of 1 at 20,000 rows, and of 6 at 500.
    found = judged({"problem": "table3/row1", "method": "paper-newton", "rows": 500})
    assert abs(found["kl"] - problems.load("table3/row1").kl) < 24
    assert found["rms_p"] < 24 and found["rms_q"] is None


def test_table_1_runs_from_the_command(capsys, tmp_path):
    code, out, err = run(capsys, "reproduce", "table-1", "--quick", "--out", tmp_path)
    assert code == 0, err
    record = json.loads((tmp_path / "table-1" / "record.json").read_text("utf-8"))
    ran = {each["method"] for each in record["results"]}
    installed = {name for name, method in methods.METHODS.items() if method.installed}
    assert ran == installed - {"infonce", "paper-rows", "paper-searched"}
    assert record["settings"]["quick"] and not record["failed"]
    for told in ("Table 1", "truth", "200.27", "paper's TRE", "MDRE, default", "record"):
        assert told in out
    assert "DRE-∞" in (tmp_path / "table-1" / "table.txt").read_text("utf-8")


@pytest.mark.parametrize("name", ["table-2", "table-3"])
def test_the_other_tables_run(name, tmp_path):
    table = experiments.load(name)
    methods = ("paper", "plug-in")
    some = [cell for cell in table.cells(True, 1) if cell["method"] in methods]
    outcome = run_experiment(table, tmp_path, quick=True, cells=some[:2], jobs=1)
    assert not outcome.failed
    assert any(row[0] == "plug-in" for row in outcome.tables[0].rows)
    assert all(isinstance(remark, str) for remark in table.remarks(outcome.record["results"]))


def test_the_pages_are_those_of_the_records():
    made = runpy.run_path(str(ROOT / "docs" / "make_reproduction.py"))
    records = made["records"]()
    for name, own in records.items():
        # No number is shown that was made with other code than there is.
        if record.changed_parts(own):
            page = made["page"](name, own)
            assert "No numbers here yet" in page and "|" not in page
    assert made["PAGE"].read_text("utf-8") == made["contents"](records)
    for name, own in records.items():
        assert (made["RECORDS"] / f"{name}.md").read_text("utf-8") == made["page"](name, own)
        assert not own["settings"]["quick"]
        for figure in own["figures"]:
            assert (made["RECORDS"] / name / f"{figure}.svg").exists()


def test_a_page_has_tables_remarks_figures_and_how_it_was_run(toy, tmp_path, monkeypatch):
    made = runpy.run_path(str(ROOT / "docs" / "make_reproduction.py"))
    monkeypatch.setitem(experiments.EXPERIMENTS, "toy", "toy_experiment:Toy")
    monkeypatch.setattr(type(toy), "remarks", lambda self, results: ["A remark."], raising=False)
    outcome = run_experiment(toy, tmp_path, quick=True, seeds=2, jobs=1)
    text = made["page"]("toy", outcome.record)
    for told in (
        "# A toy",
        "Says what it is given.",
        "| fine | 1 | 0.333 |",
        "![values](toy/values.svg)",
        "- A remark.",
        "isthmus reproduce toy --quick --seeds 2",
        f"numpy {outcome.record['versions']['numpy']}",
        "(toy/record.json)",
    ):
        assert told in text
    assert text == made["page"]("toy", outcome.record)
    assert os.fspath(tmp_path) not in text
    # What was not run is told, a line for each kind, and where the pages are listed.
    some = run_experiment(toy, tmp_path / "some", seeds=2, jobs=1, only="fine").record
    assert "## Not run\n\n- loud: (2 seeds).\n" in made["page"]("toy", some)
    assert made["state"](some) == ": 2 of 4 parts are run, its page says which"
    assert made["state"](outcome.record) == ""

"""The command line: what it prints, for people and machines, and how it refuses bad input."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import isthmus
from isthmus.cli import app as cli
from isthmus.cli import options, terminal
from isthmus.cli.example import run_example
from isthmus.data.sample import TwoSamples
from isthmus.diagnostics import Check
from isthmus.functionals import Estimate
from isthmus.settings import Call
from isthmus.tables.frames import TableEncoder

PNG = b"\x89PNG\r\n\x1a\n"


@dataclass
class Comparison:
    """What `isthmus.compare` gives, with numbers chosen by a test."""

    value: float = 0.5
    std_error: float = 0.01
    level: float = 0.95
    diagnostics: dict[str, Check] = field(default_factory=dict)
    call: Call | None = None
    samples: TwoSamples | None = None
    encoder: TableEncoder | None = None
    rests_on: str = "linear (77%), boosted trees (23%)"
    columns: tuple = ()
    rest = None

    @property
    def sizes(self):
        return len(self.samples.p), len(self.samples.q)

    log_ratio_p = np.linspace(-1.0, 2.0, 50)
    log_ratio_q = np.append(np.linspace(-3.0, 1.0, 50), -np.inf)

    @property
    def kl(self):
        return self.divergence("kl")

    def divergence(self, name):
        value = np.inf if name == "chi2" else self.value
        error = np.inf if name == "chi2" else self.std_error
        return Estimate.from_std_error(value, error, level=self.level, lower=0.0)

    def log_ratio(self, x):
        return -200.0 * np.asarray(x)[:, 0]


CHECKS = {
    "convergence": Check(1e-9, "ok", "Nothing to do."),
    "accuracy": Check({"p": 1.0, "m1": np.float64(0.75)}, "ok", "Nothing to do."),
    "weights": Check(np.nan, "ok", "Nothing to do."),
}


@pytest.fixture
def stub(monkeypatch):
    """Stand in for comparisons; records the rows, the call and the progress of each.

    It gives ``stub.result``.
    """

    class Stub:
        result = Comparison(diagnostics=dict(CHECKS))
        calls: list = []  # noqa: RUF012
        warn = ""

        def compare(self, p, q, progress, **asked):
            return self.compare_samples(TwoSamples.of(p, q), Call(**asked), progress=progress)

        def compare_samples(
            self, samples, call, encoder=None, given=None, *, progress, n_jobs=None
        ):
            self.calls.append((samples.p.rows, samples.q.rows, call, progress))
            if progress is not None:
                progress(1, 2, "a fold [of two]")
            if self.warn:
                warnings.warn(self.warn, UserWarning, stacklevel=2)
                warnings.warn("for developers", DeprecationWarning, stacklevel=2)
            self.result.level, self.result.call, self.result.samples = call.level, call, samples
            self.result.encoder = encoder
            return self.result

    made = Stub()
    made.calls = []
    monkeypatch.setattr("isthmus.comparing.compare_samples", made.compare_samples)
    monkeypatch.setattr(isthmus, "compare", made.compare)
    return made


@pytest.fixture
def files(tmp_path):
    a, b = tmp_path / "old.csv", tmp_path / "new.csv"
    a.write_text("age,town\n31,Bonn\n42,Kiel\n37,Bonn\n")
    b.write_text("town,age\nKiel,50\nBonn,61\n")
    return str(a), str(b)


def run(capsys, *arguments):
    """Exit code, stdout and stderr of the command."""
    capsys.readouterr()
    code = cli.run([str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_version_and_help_and_no_arguments(capsys):
    assert run(capsys, "--version") == (0, f"isthmus {isthmus.__version__}\n", "")
    for arguments in (["--help"], []):
        code, out, err = run(capsys, *arguments)
        assert (code, err) == (0, "")
        assert "compare" in out and "problems" in out
    result = CliRunner().invoke(cli.app, ["compare", "--help"])
    assert result.exit_code == 0
    for option in ("--columns", "--drop", "--missing", "--level", "--divergence", "--json"):
        assert option in result.output


def test_the_answer_comes_first_and_the_rest_follows(capsys, stub, files):
    code, out, err = run(capsys, "compare", *files)
    assert (code, err) == (0, "")
    first = " ".join(out.split("\nhow far apart")[0].split())
    assert first == (
        "old.csv and new.csv are 0.500 nats apart (KL(p‖q), 95 % interval 0.480 to 0.520); it can "
        "be trusted as far as checks can tell (3 of 3 passed). Rests on: linear (77%), boosted "
        "trees (23%)."
    )
    for part in ("Jensen–Shannon", "total variation", "p 1, m1 0.75", "convergence", "Nothing to"):
        assert part in out
    assert "text or categories: a 0/1 feature for 2 levels" in out
    assert "p: old.csv, 3 rows" in out and "q: new.csv, 2 rows" in out
    [(p, q, call, progress)] = stub.calls
    np.testing.assert_array_equal(p, [[31, 1, 0], [42, 0, 1], [37, 1, 0]])
    np.testing.assert_array_equal(q, [[50, 0, 1], [61, 1, 0]])
    assert call == Call(random_state=0, files=files)
    assert progress is None


def test_options_reach_the_comparison(capsys, stub, files):
    code, out, _ = run(capsys, "compare", *files, "--columns", "age", "--seed", 7, "--level", 0.9)
    assert code == 0
    [(p, _, call, _)] = stub.calls
    np.testing.assert_array_equal(p, [[31], [42], [37]])
    assert call == Call(random_state=7, level=0.9, columns=("age",), files=files)
    assert "90 % interval" in out
    code, _, _ = run(capsys, "compare", *files, "--drop", "town")
    assert code == 0
    np.testing.assert_array_equal(stub.calls[1][0], p)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (None, None),
        (["a,b"], ["a", "b"]),
        (["a", "b,c"], ["a", "b", "c"]),
        (['"a,b",c'], ["a,b", "c"]),
        ([""], [""]),
        (["", "a"], ["", "a"]),
    ],
)
def test_names_in_options(given, names):
    assert options.names_in(given) == names


def test_quiet_prints_the_sentence_only(capsys, stub, files):
    stub.warn = "hear, hear"
    code, out, err = run(capsys, "compare", *files, "--quiet")
    assert (code, err) == (0, "")
    assert out.startswith("old.csv and new.csv are 0.500 nats apart") and out.count("\n") == 1


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["ok", "warn", "ok"], "take it with care, since 1 of 3 checks gave a warning (accuracy)."),
        (["fail", "warn", "fail"], "do not trust this number, since 2 of 3 checks failed "
                                   "(convergence, weights)."),
    ],
)  # fmt: skip
def test_the_answer_tells_whether_it_can_be_trusted(capsys, stub, files, verdicts, words):
    stub.result.diagnostics = {
        name: Check(0.5, verdict, "Take more rows.")
        for name, verdict in zip(CHECKS, verdicts, strict=True)
    }
    assert run(capsys, "compare", *files, "--quiet")[1].endswith(f"; {words}\n")
    _, out, _ = run(capsys, "compare", *files)
    assert [word for word in out.split() if word in ("ok", "warn", "fail")] == verdicts
    assert json.loads(run(capsys, "compare", *files, "--json")[1])["verdict"] == (
        "fail" if "fail" in verdicts else "warn"
    )


def test_an_interval_with_zero_in_it(capsys, stub, files):
    stub.result.value = 0.005
    _, out, _ = run(capsys, "compare", *files, "--quiet")
    assert "cannot be told apart (KL(p‖q) 0.005 nats, 95 % interval 0.000 to 0.025)" in out


def refuse_constant(text):
    raise AssertionError(f"{text} is no JSON")


def test_json_is_one_strict_document(capsys, stub, files):
    stub.warn = "few rows"
    code, out, err = run(capsys, "compare", *files, "--json", "--divergence", "chi2")
    assert (code, err) == (0, "")
    document = json.loads(out, parse_constant=refuse_constant)
    assert document["isthmus"] == isthmus.__version__
    assert list(document["divergences"]) == ["kl", "chi2"]
    assert document["divergences"]["kl"]["value"] == 0.5
    assert document["divergences"]["chi2"]["value"] == "inf"
    assert document["divergences"]["chi2"]["high"] is None
    assert document["divergences"]["chi2"]["reason"] == "it is above every number"
    assert document["divergences"]["kl"]["reason"] == ""
    assert document["diagnostics"]["weights"]["value"] is None  # NaN
    assert document["diagnostics"]["accuracy"]["value"] == {"p": 1.0, "m1": 0.75}
    assert document["rows"] == {"p": 3, "q": 2}
    assert document["features"] == ["age", "town=Bonn", "town=Kiel"]
    assert list(document["columns"]) == ["age", "town"]
    assert document["notes"] == ["few rows"]
    assert document["verdict"] == "ok"
    assert document["rests_on"] == "linear (77%), boosted trees (23%)"


def test_missing_values_are_reported(capsys, stub, tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("x,y\n1,2\n,3\n4,5\n")
    b.write_text("x,y\n1,2\n3,4\n")
    code, out, err = run(capsys, "compare", a, b, "--missing", "error")
    assert (code, out) == (2, "")
    assert err.startswith("isthmus: error: Values of column 'x' must not be missing; received 1")
    code, out, _ = run(capsys, "compare", a, b, "--missing", "drop")
    assert code == 0
    assert "p: a.csv, 2 rows, 1 row dropped for missing values" in out
    _, out, _ = run(capsys, "compare", a, b)
    assert "the median of both tables" in " ".join(out.split())
    np.testing.assert_array_equal(stub.calls[1][0], [[1, 0, 2], [2, 1, 3], [4, 0, 5]])


def test_names_from_data_are_printed_literally(capsys, stub, tmp_path):
    path = tmp_path / "[bold]f.csv"
    path.write_text('[red]x[/red],<script>,"tab\there",esc\x1b[31m\n1,2,3,4\n5,6,7,8\n')
    code, out, _ = run(capsys, "compare", path, path)
    assert code == 0
    for literal in ("[red]x[/red]", "<script>", r"tab\there", r"esc\x1b[31m", "[bold]f.csv"):
        assert literal in out
    assert "\x1b" not in out
    document = json.loads(run(capsys, "compare", path, path, "--json")[1])
    assert "esc\x1b[31m" in document["columns"]


def test_plots_are_written(capsys, stub, files, tmp_path):
    target = tmp_path / "out.png"
    assert run(capsys, "compare", *files, "--plot", target)[0] == 0
    assert target.read_bytes().startswith(PNG)
    assert run(capsys, "compare", "--plot", tmp_path / "demo.png")[0] == 0
    assert (tmp_path / "demo.png").read_bytes().startswith(PNG)
    dollars = tmp_path / "$x_{$.csv"
    dollars.write_text("x\n1\n2\n")
    assert run(capsys, "compare", dollars, dollars, "--plot", tmp_path / "d.svg")[0] == 0


def test_bad_input_ends_in_one_line_and_code_2(capsys, stub, files, tmp_path):
    dates = tmp_path / "dates.csv"
    dates.write_text("when\n2024-01-02\n")
    wide = tmp_path / "wide.csv"
    wide.write_text("age,town,wage\n1,Bonn,2\n")
    cases = {
        (files[0],): "compare must have two files, or none",
        (files[0], tmp_path / "none.csv"): "none.csv: there is no such file",
        (files[0], tmp_path): "a folder must hold files whose names end in .parquet",
        (files[0], __file__): "the file name must end in one of",
        (files[0], tmp_path / "line\nbreak.csv"): "there is no such file",
        (dates, wide): "must have a column in common",
        (*files, "--columns", "wage"): "['wage'], which old.csv does not have",
        (*files, "--drop", "wage"): "--drop must name columns",
        (*files, "--level", "95"): "--level must lie between 0 and 1; received 95",
        (*files, "--level", "nan"): "--level must lie between 0 and 1; received nan",
        (*files, "--seed", "-1"): "--seed must be at least 0; received -1",
        (*files, "--seed", "x"): "--seed",
        (*files, "--missing", "ignore"): "--missing",
        (*files, "--divergence", "kll"): "--divergence: ",
        (*files, "--plot", tmp_path / "none" / "out.png"): "--plot must be in a folder",
        (*files, "--plot", tmp_path / "out.txt"): "--plot must end in one of .png",
        (*files, "third.csv"): "third.csv",
        (*files, "--colour"): "--colour",
        (*files, "--keep", "wage"): "--keep must name columns",
        (*files, "--dates", "year"): "--dates must be one or several of",
        (*files, "--fail-above", "js"): "--fail-above must be NAME=VALUE",
        (*files, "--fail-above", "jss=1"): "--fail-above must be NAME=VALUE",
        ("--drop", "age"): "must come with two files",
        (*files, "--memory", "much"): "--memory must be a size such as 1GB",
        (*files, "--memory", "1 MB"): "--memory must be at least 700MB",
        (*files, "--workers", "0"): "--workers must be at least 1; received 0",
        (*files, "--workers", "1", "--cluster", "tcp://a:1"): "must not come together",
    }
    for arguments, message in cases.items():
        code, out, err = run(capsys, "compare", *arguments)
        assert (code, out) == (2, ""), arguments
        assert err.startswith("isthmus: error: ") and err.count("\n") == 1, err
        assert message in err
    assert run(capsys, "campare")[0] == 2
    assert stub.calls == []  # nothing was fitted


def test_an_error_of_the_estimator_is_one_line_too(capsys, monkeypatch, files):
    def refuse(*_, **__):
        raise ValueError("p must have at least 8 rows;\n received 3.")

    monkeypatch.setattr("isthmus.comparing.compare_samples", refuse)
    message = "isthmus: error: p must have at least 8 rows; received 3.\n"
    assert run(capsys, "compare", *files) == (2, "", message)


def test_a_slip_of_ours_is_not_dressed_as_bad_input(capsys, monkeypatch, files):
    def break_down(*_, **__):
        raise KeyError("ours")

    monkeypatch.setattr("isthmus.comparing.compare_samples", break_down)
    with pytest.raises(KeyError, match="ours"):
        cli.run(["compare", *files])


def test_progress_is_shown_on_a_terminal_only(capsys, monkeypatch, stub, files):
    for arguments, shown in ((["--json"], True), (["--quiet"], False)):
        with monkeypatch.context() as patch:
            capsys.readouterr()
            patch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
            assert cli.run(["compare", *files, *arguments]) == 0
            captured = capsys.readouterr()
        assert (stub.calls[-1][3] is not None) == shown
        assert ("a fold [of two]" in captured.err) == shown
        assert "a fold" not in captured.out
    run(capsys, "compare", *files)
    assert stub.calls[-1][3] is None


def test_the_embedded_example(capsys, stub):
    stub.result.value, stub.result.std_error = 200.0, 2.0
    code, out, err = run(capsys, "compare")
    assert (code, err) == (0, "")
    assert "truth, in closed form" in out and "200.27" in out
    assert "-0.1%" in out and "196.1 to 203.9" in out
    assert "●" in out
    [(p, q, _, _)] = stub.calls
    assert p.shape == q.shape == (10_000, 1)
    # Four standard errors of a mean of 10,000 rows.
    assert abs(p.mean() + 1) < 4 * 0.08 / 100 and abs(q.mean() - 2) < 4 * 0.15 / 100
    document = json.loads(run(capsys, "compare", "--json")[1], parse_constant=refuse_constant)
    # No binary classifier comes near: at best it separates, and then its slope is arbitrary.
    assert 5 < document["kl"]["binary_classifier"] < 100
    assert document["kl"]["truth"] == pytest.approx(200.2708, abs=1e-4)
    assert {len(curve) for curve in document["curves"].values()} == {281}
    np.testing.assert_array_equal(stub.calls[1][0], p)  # the same draws every time


def test_problems_are_listed_with_their_truth(capsys):
    code, out, err = run(capsys, "problems")
    assert (code, err) == (0, "")
    row = next(line.split() for line in out.splitlines() if "table1/row1" in line)
    assert row == ["table1/row1", "1", "200.2708"]


def test_curves_in_characters():
    x = np.linspace(0.0, 1.0, 11)
    rising = terminal.Curve("y", 100 * x, "red")
    lines = terminal.draw(x, [rising], width=28, height=5, ticks=[0, 1]).plain.splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("   100 │") and lines[4].startswith("     0 │")
    columns = [
        [i for i, c in enumerate(line[8:]) if "\u2800" < c <= "\u28ff"] for line in lines[:5]
    ]
    # A rising line: the higher the row, the further to the right; and no column is empty.
    assert columns[0][-1] == 19 and columns[4][0] == 0
    assert all(upper[0] > lower[0] for upper, lower in itertools.pairwise(columns))
    assert set().union(*columns) == set(range(20))
    marks = terminal.Curve("z", np.zeros(11), "", mark="o")
    assert (
        terminal.draw(x, [rising, marks], width=28, height=5).plain.splitlines()[4].count("o") == 7
    )


def test_a_terminal_without_unicode_gets_stand_ins():
    text = "KL(p‖q) −1 ⠙● é"
    error = UnicodeEncodeError("ascii", text, 0, len(text), "")
    assert cli.replace_unknown(error)[0].replace("?", "") == "||-.o"
    code = "import sys; from isthmus.cli import main; sys.argv[1:] = ['problems']; main()"
    command = [sys.executable, "-X", "utf8=0", "-c", code]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "KL(p||q), nats" in done.stdout


def test_end_to_end_with_the_real_estimator(tmp_path):
    # p = N(0, I), q = N((1, 0), I) with 2000 rows each and the columns in another order:
    # KL = 1/2. The standard error is the estimator's own; five of them are allowed.
    rng = np.random.default_rng(1)
    p, q = rng.normal(size=(2000, 2)), rng.normal(loc=[1.0, 0.0], size=(2000, 2))
    np.savetxt(tmp_path / "p.csv", p, delimiter=",", header="a,b", comments="")
    np.savetxt(tmp_path / "q.csv", q[:, ::-1], delimiter=",", header="b,a", comments="")
    command = [sys.executable, "-m", "isthmus", "compare", "p.csv", "q.csv", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout, parse_constant=refuse_constant)
    kl = document["divergences"]["kl"]
    assert 0 < kl["std_error"] < 0.1
    assert abs(kl["value"] - 0.5) < 5 * kl["std_error"]
    assert document["features"] == ["a", "b"]


def test_end_to_end_bad_input(tmp_path):
    command = [sys.executable, "-m", "isthmus", "compare", "p.csv", "q.csv"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "isthmus: error: p.csv: there is no such file.\n"


def test_the_real_example_beats_the_classifier():
    example = run_example()
    # The efficient limit of the relative error is sqrt(2 / 10,000) = 1.4 %; five times that.
    assert abs(example.error(example.comparison.kl.value)) < 0.07
    assert abs(example.error(example.kl_binary)) > 0.5
    # The log-ratio spans 2,000 nats over the plot; isthmus follows it within 7 % of that.
    assert np.abs(example.isthmus - example.true).max() < 0.07 * np.ptp(example.true)


def test_every_file_of_a_command_is_registered():
    helpers = {"__init__", "app", "cluster", "example", "options", "output", "terminal"}
    folder = Path(cli.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - helpers == set(cli.COMMANDS)
    names = {command.callback.__name__ for command in cli.app.registered_commands}
    assert names == set(cli.COMMANDS)


@pytest.mark.parametrize("arguments", ["['--help']", "['compare', '--help']"])
def test_help_waits_for_no_numbers(arguments):
    code = f"import sys; from isthmus.cli import app; app.run({arguments}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "typer" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "matplotlib", "narwhals", "pyarrow"}


def test_a_figure_is_written_whole_or_not_at_all(capsys, monkeypatch, stub, files, tmp_path):
    target = tmp_path / "out.png"
    target.write_bytes(b"old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    assert run(capsys, "compare", *files, "--plot", target)[0] == 2
    assert target.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv", "old.csv", "out.png"]


def test_a_divergence_above_its_limit_ends_with_code_3(capsys, stub, files):
    code, _, err = run(capsys, "compare", *files, "--fail-above", "js=0.4", "--quiet")
    told = "isthmus: too far apart: Jensen–Shannon is 0.5, at least 0.4804, above 0.4\n"
    assert code == 3 and err == told
    # The interval must be above it, not the value alone.
    assert run(capsys, "compare", *files, "--fail-above", "js=0.49")[0] == 0
    assert run(capsys, "compare", *files, "--fail-above", "js=0.6,tv=0.7")[0] == 0
    code, out, _ = run(capsys, "compare", *files, "--fail-above", "chi2=9", "--json")
    assert code == 3 and json.loads(out)["beyond"] == ["χ² of Pearson is inf, above 9"]

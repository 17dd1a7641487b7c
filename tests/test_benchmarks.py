"""The benchmark scripts run, and leave records whose numbers are finite. Seconds are not judged."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import runpy
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from unittest import mock

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(path.stem for path in (ROOT / "benchmarks").glob("[!_]*.py"))
# These and all that they start are processes of their own, as they are for a user.
PROCESSES = ("speed", "import_time")
BENCHMARKS = f"{ROOT / 'benchmarks'}{os.sep}"
one_task = threading.Lock()


def run_here(script, *arguments):
    """What a script prints if it runs in this process: the imports are the dearest part of it."""
    printed = io.StringIO()
    with (
        mock.patch.object(sys, "argv", [str(script), *map(str, arguments)]),
        mock.patch.object(sys, "path", [str(ROOT / "benchmarks"), *sys.path]),
        mock.patch.dict(os.environ),
        mock.patch.object(subprocess, "run", run_script),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")  # what a script is warned of is no error of the script
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as end:
            assert not end.code, end.code
    return printed.getvalue()


start_process = subprocess.run


def run_script(command, **how):
    """In place of ``subprocess.run``: a task of a benchmark is done in this process as well."""
    if not command[1].startswith(BENCHMARKS):
        return start_process(command, **how)
    with one_task:
        return subprocess.CompletedProcess(command, 0, run_here(*command[1:]), "")


def run_in_a_process(script, *arguments):
    run = start_process(
        [sys.executable, str(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def record(request, tmp_path_factory):
    """The record of a quick run of one script, which printed a table."""
    name = request.param
    path = tmp_path_factory.mktemp("records") / f"{name}.json"
    run = run_in_a_process if name in PROCESSES else run_here
    printed = run(ROOT / "benchmarks" / f"{name}.py", "--quick", "--out", path)
    assert len(printed.splitlines()) > 5, "a table is printed"
    return json.loads(path.read_text())


def missing_numbers(value, where=""):
    """Places in a record that hold no number: what is not finite is written as null."""
    if isinstance(value, dict):
        return [place for k, v in value.items() for place in missing_numbers(v, f"{where}/{k}")]
    if isinstance(value, list):
        return [place for i, v in enumerate(value) for place in missing_numbers(v, f"{where}/{i}")]
    bad = value is None or (isinstance(value, float) and not math.isfinite(value))
    return [where] if bad else []


@pytest.mark.parametrize("record", SCRIPTS, indirect=True)
def test_a_quick_run_leaves_a_complete_record(record):
    assert record["benchmark"] in SCRIPTS
    assert record["settings"]["quick"] is True
    assert set(record["versions"]) == {"python", "numpy", "scipy", "scikit-learn", "isthmus"}
    assert record["machine"]["cpu_count"] >= 1
    assert record["wall_seconds"] > 0
    assert record["results"]
    assert missing_numbers(record["results"]) == []
    getattr(sys.modules[__name__], f"check_{record['benchmark']}")(record)


def check_accuracy_1d(record):
    methods = {each["method"]: each for each in record["results"]}
    assert set(methods) == {"default", "compare", "cauchy x 20", "paper", "plug-in"}
    assert all(len(each["kl"]) == len(record["seeds"]) for each in methods.values())
    # The plug-in is the efficient estimate: far from its limit the scale would be wrong.
    assert methods["plug-in"]["rmse_over_limit"] < 5
    assert 0 <= methods["compare"]["coverage"] <= 1
    assert methods["paper"]["all_converged"]


def check_accuracy(record):
    problems = {each["problem"]: each for each in record["results"]}
    assert set(problems) == {"narrow/1e-3", "hard/gamma", "same/1"}
    assert record["failed"] == []
    for each in problems.values():
        assert each["seeds"] == [0] and len(each["kl"]) == 1
        # A stack of candidates has no auxiliary.
        assert {"p", "q"} <= set(each["log_ratio_rmse"]) <= {"p", "q", "m"}
        assert sum(each["chosen"].values()) == 1
        assert 0 <= each["coverage"] <= 1
        assert each["seconds"] > 0 and each["peak_mb"] > 0
    # The normal pair is what the plug-in was made for, and 150 rows leave it a standard error of
    # sqrt(2 / 150), 12 %; the gamma pair is not, and costs it four tenths.
    assert abs(problems["narrow/1e-3"]["plug_in"]["error_percent"]) < 25
    assert problems["hard/gamma"]["plug_in"]["error_percent"] < -20
    assert problems["same/1"]["truth"] == 0


def check_interval_coverage(record):
    chasm, same = record["results"]
    assert chasm["truth"] > 200 and same["truth"] == 0
    assert chasm["replications"] == len(chasm["values"]) == 2
    # For two normals the limit is that of maximum likelihood, sqrt(2 / n_q) times the KL; it
    # is found from 200,000 draws, to about half a per cent.
    assert abs(chasm["limit"] / (chasm["truth"] * math.sqrt(2 / 333)) - 1) < 0.05
    assert all(low <= high for low, high in zip(chasm["lows"], chasm["highs"], strict=True))
    assert "limit" not in same


def check_growth(record):
    results = record["results"]
    assert [each["method"] for each in results["columns"]] == ["compare", "fit"]
    assert [each["rows"] for each in results["rows"]] == [100, 100, 150, 150]
    assert set(results["slopes"]) == {"compare", "fit"}
    assert results["compare_over_fit"]["ratio"] > 0
    assert all(each["peak_mb"] > each["memory_mb"] for each in results["rows"])


def test_an_interrupted_run_of_accuracy_keeps_its_results(tmp_path):
    line = {
        **{"problem": "hard/gamma", "rows": 150, "seed": 0, "paper": False, "code": "old"},
        **{"kl": 1.8, "std_error": 0.1, "covered": True, "quantile": 5.0, "plug_in": 1.1},
        **{"warned": {}, "chosen": "this", "seconds": 1.0, "base_mb": 100.0, "peak_mb": 150.0},
        "log_ratio_error": {"rms": {"p": 0.1, "q": 0.2}, "median": {"p": 0.1, "q": 0.1}},
    }
    cut = json.dumps({**line, "problem": "same/1"})[:-20]
    (tmp_path / "accuracy.jsonl").write_text(f"{json.dumps(line)}\n{cut}")
    found = []
    for options in (["--any-code"], []):
        out = tmp_path / "accuracy.json"
        script = ROOT / "benchmarks" / "accuracy.py"
        run_here(script, "--quick", "--show", "--out", out, *options)
        found.append(json.loads(out.read_text())["results"])
    # What other code found counts only if it is asked for; a line cut short never does.
    assert [each["seeds"] for each in found[0]] == [[0]]
    assert found[0][0]["met"] is False
    assert found[1] == []


def check_wild(record):
    found = {each["problem"]: each for each in record["results"]}
    assert set(found) == {"wild/iris-quadratic", "wild/l-shape", "wild/null-one-column"}
    assert record["failed"] == []
    for each in found.values():
        assert each["seconds"] > 0 and max(each["n_p"], each["n_q"]) <= 80
        assert each["rivals"]["nothing"] == pytest.approx(math.log(2))
        assert each["above_best"] >= each["above_floor"]
        # The true log-ratio is out of reach but for the noise of the rows that it is tried on.
        assert each["bayes"] < min(each["loss"], *each["rivals"].values()) + 0.05
    assert found["wild/l-shape"]["truth"] == pytest.approx(-math.log(0.64))
    bars = {each["bar"]: each for each in record["summary"]}
    assert bars["within 10 %"]["of"] == 2 and bars["nulls: lower end above zero"]["of"] == 1
    assert all(0 <= each["share"] <= 1 for each in bars.values())


def test_wild_counts_an_interval_without_an_upper_end(tmp_path):
    line = {
        **{"problem": "wild/l-shape", "rows": 80, "seed": 0, "code": "old", "kl": 0.2},
        **{"std_error": 0.1, "low": 0.1, "high": math.inf, "trusted": False, "objections": []},
        **{"seconds": 1.0, "n_p": 120, "n_q": 120, "loss": 0.65, "bayes": 0.55, "rests_on": ""},
        "rivals": {"trees": 0.66, "ridge": 0.66, "normals": math.inf, "nothing": 0.693},
        "log_ratio_rmse": 0.3,
    }
    null = {**line, "problem": "wild/null-one-column", "kl": 0.06, "high": 0.1, "low": 0.02}
    null["trusted"] = True
    failed = {key: line[key] for key in ("rows", "seed", "code")}
    failed |= {"problem": "wild/iris-quadratic", "error": "no rows"}
    lines = [json.dumps(each) for each in (line, null, failed)]
    (tmp_path / "wild.jsonl").write_text("\n".join(lines))
    out = tmp_path / "wild.json"
    script = ROOT / "benchmarks" / "wild.py"
    printed = run_here(script, "--quick", "--show", "--any-code", "--out", out)
    assert "0.1 to inf" in printed
    record = json.loads(out.read_text())
    assert missing_numbers(record["results"]) == []
    open_ended, closed = record["results"]
    assert open_ended["covered"] and not open_ended["two_ended"] and "high" not in open_ended
    assert open_ended["above_best"] == pytest.approx(-0.01)
    # A truth below .05 nats: the error is over .05.
    assert closed["error"] == pytest.approx(0.06 / 0.05)
    bars = {each["bar"]: (each["share"], each["of"]) for each in record["summary"]}
    assert bars["no upper end"] == (0.5, 2) and bars["failed"] == (pytest.approx(1 / 3), 3)
    assert [each["error"] for each in record["failed"]] == ["no rows"]
    assert bars["... those with two ends"] == (0.0, 1) and bars["... those without"] == (1.0, 1)
    assert bars["trusted, off by more than 20 %, truth outside"] == (0.5, 2)
    assert bars["nulls: lower end above zero"] == (1.0, 1)


def test_a_run_of_wild_that_fails_is_told_and_the_others_go_on(tmp_path):
    out = tmp_path / "wild.json"
    options = ["--problems", "wild/l-shape", "wild/null-one-column", "--seeds", "1"]
    limits = ["--timeout", "0.01", "--jobs", "1", "--out", out]
    printed = run_in_a_process(ROOT / "benchmarks" / "wild.py", *options, *limits)
    record = json.loads(out.read_text())
    assert [each["error"] for each in record["failed"]] == ["took longer than 0.01 s"] * 2
    assert "wild/l-shape, seed 0: took longer" in printed
    assert record["summary"][-1] == {
        "bar": "failed", "share": 1.0, "of": 2, "goal": "<= 0%", "met": False
    }  # fmt: skip


def check_speed(record):
    ours, *rivals = record["results"]["d1"]
    assert ours["solver"] == "isthmus" and ours["converged"] and ours["reached"]
    assert rivals and all(each["solver"] == "scikit-learn" for each in rivals)
    # The same problem: both come to the same solution.
    assert ours["error"] < 0.1
    assert all(each["n_parameters"] == ours["n_parameters"] for each in rivals)
    assert all(each["peak_mb"] >= each["base_mb"] > 0 for each in [ours, *rivals])


def check_ordinary(record):
    (one,) = record["results"]
    assert one["ratio"] > 0 and one["ratio_unstopped"] > 0
    assert (one["rows"], one["columns"]) == (300, 4)


def check_kernel(record):
    for each in record["results"]:
        assert 0 < each["products"] and 0 < each["evaluation"]
        assert each["classes"] == 5


def check_golden(record):
    assert {"few rows", "mdre"} & set(record["results"])
    assert all(found for found in record["results"].values())


def check_house(record):
    for line in record["results"]:
        assert line["now"]["compare"] > 0 and line["now"]["kl"] > 0


def check_nuts(record):
    laplace, *sampled = record["results"]
    assert laplace["sampler"] == "laplace" and laplace["seconds"] > 0
    assert {each["sampler"] for each in sampled} | set(record["missing"]) == {"nutpie", "blackjax"}
    for each in sampled:
        # Few rows and few draws: the same posterior, roughly.
        assert each["rhat"] < 1.2 and each["divergences"] == 0 and each["sd_error"] < 0.5


def check_scoring(record):
    assert set(record["ratio"]) == {"boosted trees", "stack", "two densities"}
    for each in record["ratio"].values():
        assert set(each) == {"log_ratio", "frame", "parquet", "csv"}
        assert all(share > 0 for share in each.values())


def check_import_time(record):
    assert set(record["results"]) == {"isthmus", "scikit-learn"}
    assert record["heavy"] == {"isthmus": [], "scikit-learn": []}


def check_training(record):
    for each in record["results"]:
        assert set(each["rates"]) == {"bare", "fused", "train", "held out"}
        assert all(rate > 0 for rates in each["rates"].values() for rate in rates)
        assert each["ratio"] > 0


def check_neural(record):
    by_part = {}
    for each in record["results"]:
        by_part.setdefault(each["part"], []).append(each)
    assert set(by_part) == {"auto", "residual", "throughput"}
    assert {each["method"] for each in by_part["residual"]} == {"convex", "mlp", "auto"}
    # Few rows, but a network that never does worse than its start at the rows held out.
    assert all(run["held_out"] <= run["start"] for run in record["runs"] if "held_out" in run)
    assert by_part["throughput"][0]["ratio"] > 0


def check_rival_neural(record):
    results = record["results"]
    assert set(results) == {"classes", "mixture", "cap", "info"}
    assert len(results["classes"]) == len(results["mixture"]) == 16
    # Even an untrained network ranks some images rightly, and none ranks all.
    assert all(0.5 < each["value"] <= 1 for each in results["classes"])
    for each in results["cap"]:
        assert each["truth"] == pytest.approx(100) and each["value"] < math.log(each["used"])
    assert all(each["value"] <= each["cap"] for each in results["info"])


def check_rival_convex(record):
    results = record["results"]
    methods = {each["method"]: each for each in results["tre"]}
    assert set(methods) == {"TRE", "TRE, anchored", "BDRE", "plug-in"}
    # Few rows for 861 coefficients: without an anchor the estimates fall short.
    assert methods["BDRE"]["kl"] < methods["TRE"]["kl"] < methods["TRE, anchored"]["kl"]
    descents = {each["method"]: each["nearest"] for each in results["population"]}
    assert descents["eNCE, NGD, standardised"] < descents["NCE, NGD"] < descents["NCE, GD"]
    assert {each["method"] for each in results["samples"]} >= {"eNCE", "eNCE, Newton"}


def check_rival_flows(record):
    fdre, infinity = (
        {(each["dim"], each["method"]): each for each in record["results"][part]}
        for part in ("fdre", "infinity")
    )
    assert {method for _, method in fdre} >= {"separate, quadratic", "joint, mlp"}
    assert {method for _, method in infinity} >= {"gaussian", "quadratic", "mlp", "mlp alone"}
    for each in [*fdre.values(), *infinity.values()]:
        assert len(each["values"]) == len(record["seeds"]) and each["rmse"] > 0
    # The path between two normals is right here: 500 rows leave a tenth.
    gaussian = infinity[40, "gaussian"]
    assert gaussian["truth"] == pytest.approx(10)
    assert abs(gaussian["mean"] - gaussian["truth"]) < 1
    assert all(each["source"] for each in record["published"])


def check_pointwise(record):
    found = {(each["method"], each["kl"]): each for each in record["results"]}
    assert {kl for _, kl in found} == {0.3, 9.0}
    assert {name for name, _ in found} >= {"MDRE", "TRE", "spectral", "CTSM", "flow matching"}
    assert all(min(each["p"], each["q"], each["midway"]) > 0 for each in found.values())
    # Two fitted normals are the right model: 300 rows leave each of 18 moments some .08.
    assert max(found["plug-in", 0.3][kind] for kind in ("p", "q", "midway")) < 0.5
    assert all(each["source"] for each in record["published"])


def check_rival_kernel(record):
    results = record["results"]
    assert set(record["peers"]) == {"densratio", "adapt"}
    assert {line["method"] for line in results["least_squares"]} == {"uLSIF", "RuLSIF 0.1"}
    # The solver's own bound on what is missing, and the tolerance that it was given.
    assert all(line["gap"] <= 1e-9 for line in results["kliep"])
    # Where densratio is installed, the same problem has the same solution.
    assert all(line.get("difference", 0.0) < 1e-3 for line in results["least_squares"])
    # Weights that match the kernel means come nearer to them than equal weights do.
    assert all(line["mmd"] < 0.1 for line in results["kmm"])
    assert {line["truth"] for line in results["normals"] if line["mean"] == 0.5} == {0.125}


def check_omniglot(record):
    for each in record["results"]:
        assert each["d"] == 4 and each["images"] == 2 * 2 * (4 + 3) and each["ratio"] > 0
        assert all(rate > 0 for rates in each["rates"].values() for rate in rates)


def check_detector(record):
    found = record["summary"]
    assert (
        found["fits"]
        == len(record["results"])
        == sum(each["fits"] for each in found["classes"].values())
    )
    assert 0 <= found["auc"] <= 1
    for each in record["results"]:
        assert each["error"] == pytest.approx(
            min(abs(each["found"] - each["truth"]) / max(each["truth"], 0.1), 1e3)
        )
        # Something objects exactly if there is a point of doubt.
        assert (each["doubt"] >= 1) == bool(each["flags"])


def check_two_sample(record):
    results = record["results"]
    assert len(results["size"]) == 4
    assert all(0 <= each["rate"] <= 1 for each in [*results["size"], *results["power"]])
    methods = {each["method"] for each in results["power"]}
    assert "isthmus" in methods and len(methods) + len(record["missing"]) == 5


def check_mi_columns(record):
    scores = {
        (one["target"], one["method"], one["kind"]): one for one in record["results"]["scores"]
    }
    assert {method for _, method, _ in scores} == {
        "mi_scores", "mutual_info_classif", "mutual_info_regression",
    }  # fmt: skip
    own = [one for (_, method, _), one in scores.items() if method == "mi_scores"]
    assert len(own) == 10 and not any(one["impossible"] for one in own)
    assert scores["label", "mi_scores", "constant"]["mean_error"] == 0.0
    # Two columns to a kind, and whole numbers tell less than those that were rounded.
    assert 0 < scores["label", "mi_scores", "whole"]["truth"] < 0.0742
    pairs = record["results"]["pairs"]
    assert len(pairs) == 3 and all(one["holds"] for one in pairs)


def check_information(record):
    found = {(each["set"], each["method"]): each for each in record["results"]}
    sets = {group for group, _ in found}
    assert sets >= {"families", "adversarial", "independent", "discrete"} and len(sets) == 8
    assert {"auto", "ksg", "cca", "gaussian"} <= {method for _, method in found}
    assert all("failed" not in each for each in record["results"])
    # A thin ring has no correlation.
    ring = {method: each for (group, method), each in found.items() if group == "adversarial"}
    assert ring["ksg"]["value"] > 1 and ring["cca"]["error"] == pytest.approx(-2.48, abs=0.1)
    lines = {(each["set"], each["method"]): each for each in record["summary"]}
    assert lines["wide", "cca"]["runs"] == 1 and 0 <= lines["wide", "cca"]["coverage"] <= 1
    assert [each["least"] for each in record["least"] if each["method"] == "cca"] == [50]
    assert [each["replications"] for each in record["coverage"]] == [2, 2]
    assert set(record["runs"]) == {"results", "least", "coverage"}


def check_weights(record):
    (found,) = record["results"]["means"]
    for kind in ("ratio", "means"):
        assert 0 <= found[kind]["within_two"] <= 1 and found[kind]["count"] > 5


def check_conformal(record):
    (digits,) = record["results"]
    assert digits["table"] == "digits" and len(digits["runs"]) == digits["splits"] == 2
    for way in ("plain", "logistic odds", "isthmus", "truth"):
        # Two splits of 100 labels or more, at 90 %: nothing but a fault gives less than 70 %.
        assert 0.7 < digits[way]["coverage"] <= 1
    assert 1 < digits["effective_rows"] < digits["rows"] / 2
    assert 0 < digits["loss"] < 1 and 0 < digits["true_loss"] < 1


def check_drift(record):
    found = record["results"]
    assert set(found) == {"speed", "false_alarms", "power", "sizes"}
    assert found["speed"]["seconds"] > 0 and found["speed"]["windows"] == 2
    quiet = found["false_alarms"]
    assert len(quiet["p_values"]) == quiet["replications"] == 2
    assert all(0 < p <= 1 for p in quiet["p_values"])
    assert [one["alarms"] for one in quiet["levels"]] == sorted(
        one["alarms"] for one in quiet["levels"]
    )
    assert all(0 <= found["power"][kind]["found"] <= 1 for kind in ("mean", "correlation"))
    assert [one["rows"] for one in found["sizes"]] == [150]


def check_scale(record):
    found = record["results"]["found"]
    whole = record["results"]["sizes"][-1]
    assert whole["all_rows"] == 3000 and whole["passes"] == 0
    assert found["compare_over_bare"] > 1 and found["score_over_bare"] > 0.5
    # Both worker processes do the same sums.
    assert found["workers_apart"] < 1e-9
    assert set(record["goals"]) > {"compare_over_bare", "peak_mb", "slope"}

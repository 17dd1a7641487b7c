"""Drift: false alarms, power, sizes and speed on tables of 15 columns.

Replications are of one window each: whether a window raises an alarm does not depend on the
others, but by the reference, which is drawn anew every time.

    python benchmarks/drift.py                         # about 25 minutes of processor time
    python benchmarks/drift.py --evidently PYTHON      # and the time of evidently's column tests

PYTHON is an interpreter of an environment in which evidently and pandas are installed.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from _record import Run, console, options, progress, table, verdict

import isthmus

COLUMNS = 15
PARTS = ["speed", "false_alarms", "power", "sizes"]
LEVELS = [f"level {k}" for k in range(30)]
SHARES = np.r_[0.4, 0.2, 0.1, np.full(27, 0.3 / 27)]

EVIDENTLY = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import evidently, pandas as pd
from evidently import Report
from evidently.presets import DataDriftPreset
folder, windows = sys.argv[1], int(sys.argv[2])
reference = pd.read_csv(f"{folder}/reference.csv")
tables = [pd.read_csv(f"{folder}/{k}.csv") for k in range(windows)]
Report([DataDriftPreset()]).run(tables[0], reference).dict()
begin = time.process_time()
for one in tables:
    Report([DataDriftPreset()]).run(one, reference).dict()
print(json.dumps([time.process_time() - begin, evidently.__version__]))
"""


def rows(n: int, rng: np.random.Generator, kind: str = "none") -> dict[str, np.ndarray]:
    """A table of ten normal columns, three skewed ones, one with gaps, and two of text."""
    out = {f"normal{k}": rng.normal(size=n) for k in range(10)}
    if kind == "mean":
        out["normal3"] = out["normal3"] + 0.2
    if kind == "correlation":
        out["normal1"] = 0.2 * out["normal0"] + np.sqrt(0.96) * out["normal1"]
    out["amount"] = rng.lognormal(size=n)
    out["count"] = rng.poisson(2.0, n).astype(float)
    out["gaps"] = np.where(rng.random(n) < 0.1, np.nan, rng.exponential(size=n))
    out["plan"] = rng.choice(["basic", "gold", "free"], n, p=[0.5, 0.2, 0.3])
    out["town"] = rng.choice(LEVELS, n, p=SHARES)
    return out


def one(kind: str, n: int, windows: int, seed: int, before: int) -> list[isthmus.drifting.Window]:
    """Windows of one reference, which has so many rows before them."""
    rng = np.random.default_rng([seed, n, sum(map(ord, kind))])
    reference = isthmus.drift_reference(rows(before, rng))
    current = rows(n * windows, rng, kind)
    found = isthmus.drift(
        reference, current, window=n if windows > 1 else None, windows_per_year=365,
        random_state=seed,
    )  # fmt: skip
    return list(found.windows)


def replicate(kind: str, n: int, windows: int, count: int, before: int) -> list[list]:
    with progress() as bar:
        return [one(kind, n, windows, k, before) for k in bar.track(range(count), description=kind)]


def false_alarms(count: int, n: int, before: int) -> dict:
    found = [windows[0] for windows in replicate("none", n, 1, count, before)]
    p = np.array([one.p_value for one in found])
    out = {"replications": count, "rows": n, "p_values": p}
    shown = table("Without drift", "asked", "alarms expected", "alarms", "as rare")
    levels = []
    for level in (1 / 365, 0.01, 0.05, 0.1, 0.2):
        number = int((p <= level).sum())
        most = count * level + 2.6 * np.sqrt(count * level * (1 - level))
        levels.append({"level": level, "expected": count * level, "alarms": number})
        shown.add_row(f"{level:.4f}", f"{count * level:.1f}", str(number), verdict(number <= most))
    console.print(shown)
    values = np.array([one.estimate.value for one in found])
    zero = float(np.mean([one.estimate.low <= 0 for one in found]))
    columns = np.array([[c.effect.low <= 0 for c in one.columns] for one in found])
    out |= {"levels": levels, "js_mean": values.mean(), "js_sd": values.std(),
            "interval_reaches_zero": zero, "columns_reach_zero": columns.mean()}  # fmt: skip
    console.print(
        f"JS without drift: mean {values.mean():.5f}, standard deviation {values.std():.5f}; "
        f"{100 * zero:.1f} % of the intervals reach zero."
    )
    return out


def power(count: int, n: int, before: int) -> dict:
    out = {}
    shown = table("Found in the first two windows", "<drift", "replications", "share", "goal 90 %")
    for kind in ("mean", "correlation"):
        found = replicate(kind, n, 2, count, before)
        share = float(np.mean([any(w.alarm for w in windows) for windows in found]))
        first = float(np.mean([windows[0].alarm for windows in found]))
        alarms = [w for windows in found for w in windows if w.alarm]
        named = sum(_named(kind, w) for w in alarms) / max(len(alarms), 1)
        out[kind] = {"replications": count, "found": share, "in_the_first": first, "named": named}
        shown.add_row(kind, str(count), f"{share:.3f}", verdict(share >= 0.9))
    console.print(shown)
    return out


def _named(kind: str, window: isthmus.drifting.Window) -> bool:
    """Whether what changed is what is named first."""
    if kind == "mean":
        return window.columns[0].name == "normal3"
    pairs = [{pair.first, pair.second} for pair in window.pairs[:1]]
    return pairs == [{"normal0", "normal1"}]


def sizes(count: int, counts: tuple[int, ...], before: int) -> list[dict]:
    """A mean shifted by 0.2 standard deviations has a JS of 0.0050, whatever the rows."""
    out = []
    shown = table(
        "JS of the same drift, truth 0.0050", "rows", "mean", "sd", "intervals that hold it"
    )
    for n in counts:
        found = [windows[0].estimate for windows in replicate("mean", n, 1, count, before)]
        values = np.array([e.value for e in found])
        holds = float(np.mean([e.low <= 0.00497 <= e.high for e in found]))
        out.append({"rows": n, "mean": values.mean(), "sd": values.std(), "covered": holds})
        shown.add_row(f"{n:,}", f"{values.mean():.4f}", f"{values.std():.4f}", f"{holds:.2f}")
    console.print(shown)
    return out


def speed(windows: int, n: int, before: int, evidently: str | None) -> dict:
    """Processor seconds of all windows of one table, and of evidently on the same."""
    rng = np.random.default_rng(0)
    reference, current = rows(before, rng), rows(n * windows, rng)
    current["normal3"][n * windows // 2 :] += 0.2
    begin = time.process_time()
    isthmus.drift(reference, current, window=n, random_state=0)
    mine = time.process_time() - begin
    out = {"windows": windows, "rows": n, "columns": COLUMNS, "seconds": mine}
    console.print(f"{windows} windows of {n:,} rows: {mine:.1f} s of processor time (goal 90).")
    if evidently:
        import pandas as pd

        with tempfile.TemporaryDirectory() as folder:
            pd.DataFrame(reference).to_csv(Path(folder, "reference.csv"), index=False)
            frame = pd.DataFrame(current)
            for k in range(windows):
                frame[k * n : (k + 1) * n].to_csv(Path(folder, f"{k}.csv"), index=False)
            done = subprocess.run(
                [evidently, "-c", EVIDENTLY, folder, str(windows)],
                capture_output=True, text=True, check=True,
                env={"PATH": "/usr/bin:/bin", "HOME": folder, "OMP_NUM_THREADS": "1",
                     "OPENBLAS_NUM_THREADS": "1"},
            )  # fmt: skip
        theirs, version = json.loads(done.stdout.splitlines()[-1])
        out |= {"evidently": version, "evidently_seconds": theirs, "ratio": mine / theirs}
        console.print(
            f"evidently {version}: {theirs:.1f} s; isthmus takes {mine / theirs:.2f} times as long "
            "(goal 3)."
        )
    return out


def main() -> None:
    parser = options(__doc__, "drift")
    parser.add_argument("--evidently", default=None, help="a Python that has evidently")
    parser.add_argument("--replications", type=int, default=300)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS,
                        help="what to do anew; the rest of the record is kept")  # fmt: skip
    arguments = parser.parse_args()
    evidently, quick = arguments.evidently, arguments.quick
    arguments.evidently = evidently is not None
    run = Run("drift", arguments)
    n, before = (150, 300) if quick else (5000, 5000)
    work = {
        "speed": lambda: speed(2 if quick else 24, n, before, evidently),
        "false_alarms": lambda: false_alarms(2 if quick else arguments.replications, n, before),
        "power": lambda: power(1 if quick else 50, n, before),
        "sizes": lambda: sizes(*((1, (n,)) if quick else (20, (1000, 5000, 20000))), before),
    }
    found = json.loads(run.path.read_text())["results"] if run.path.exists() else {}
    run.write(results=found | {part: work[part]() for part in arguments.parts})


if __name__ == "__main__":
    main()

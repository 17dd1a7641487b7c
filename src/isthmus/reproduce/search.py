"""The paper's training where its authors publish no rate: a search by held-out loss."""

from __future__ import annotations

import time

from .. import MDRE, stack
from ..model.adam import Adam
from .record import Fields
from .results import distinct, number, select
from .runner import Experiment
from .samples import Samples, pair
from .show import Table

# The rate of their notebook for 40 columns and two lower ones, in steps of four to five; its
# batches and steps, a fifth of the batch, and that with as many rows in all.
RATES = (0.05, 0.01, 0.0025)
SIZES = ((500, 2_000), (100, 2_000), (100, 10_000))
PROBLEMS = ("table2/160", "table2/160-shifted", "table2/320", "table2/320-shifted")
ROWS, HELD = 100_000, 10_000


def grid() -> list[Fields]:
    """Every setting that is tried, as parameters of :class:`~isthmus.model.adam.Adam`."""
    return [
        {"lr": rate, "batch_size": batch, "steps": steps}
        for batch, steps in SIZES
        for rate in RATES
    ]


def chosen(results: list[Fields], problem: str) -> Fields:
    """The result with the lowest held-out loss of a problem."""
    return min(select(results, problem=problem), key=lambda each: each["held_out"])


class TrainingSearch(Experiment):
    """Rate, batches and steps in 160 and 320 columns."""

    name = "search"
    title = "The paper's training in 160 and 320 columns: rate, batches and steps by held-out loss"
    about = (
        "The authors' public notebook has the rate, batches and steps of 40 columns; for 160 and "
        "320 nothing is published. Here each setting of a grid is trained on 100,000 rows of "
        "each class, and the one with the lowest loss on 10,000 other rows of p and q, and on "
        "waymarks made of them, is chosen: never the one whose KL is nearest to the truth, which "
        "stands beside it. One seed. Table 2 has the chosen settings over three seeds."
    )

    def cells(self, quick: bool, seeds: int) -> list[Fields]:
        """A cell for each problem and setting, of one draw."""
        if quick:
            tried = [{**grid()[0], "steps": steps} for steps in (20, 60)]
            size = {"rows": 1_000, "held": 500}
            return [{"problem": "table2/40", **one, **size, "seed": 0} for one in tried]
        size = {"rows": ROWS, "held": HELD}
        return [{"problem": name, **one, **size, "seed": 0} for name in PROBLEMS for one in grid()]

    def run(self, cell: Fields) -> Fields:
        """Train, and judge by other rows."""
        samples = Samples.of(cell["problem"], cell)
        solver = Adam(**{name: cell[name] for name in ("lr", "batch_size", "steps")})
        model = MDRE.paper(cell["problem"], solver=solver, random_state=cell["seed"])
        begin = time.process_time()
        model.fit(*samples.stacked)
        taken = time.process_time() - begin
        fresh = samples.fresh(cell["held"])
        log_likelihood, accuracy = model.class_log_likelihood(*stack(**fresh))
        return {
            "held_out": -log_likelihood.mean(),
            "accuracy": dict(zip(model.class_names_, accuracy, strict=True)),
            "kl": model.log_ratio(fresh["p"]).mean(),
            "fit_seconds": taken,
        }

    def tables(self, results: list[Fields]) -> list[Table]:
        out = []
        for name in distinct(results, "problem"):
            best, problem = chosen(results, name), pair(name)
            rows = [
                [
                    f"{each['lr']:g}",
                    str(each["batch_size"]),
                    f"{each['steps']:,}",
                    f"{each['held_out']:.4f}" + ("*" if each is best else ""),
                    number(each["kl"]),
                    f"{100 * min(each['accuracy'].values()):.0f} to "
                    f"{100 * max(each['accuracy'].values()):.0f} %",
                    f"{each['fit_seconds']:.0f} s",
                ]
                for each in select(results, problem=name)
            ]
            head = ["rate", "rows of a class in a batch", "steps", "held-out loss", "KL"]
            head += ["accuracy of classes", "time"]
            title = f"{name.removeprefix('table2/')}: true KL {number(problem.kl)}"
            title += f", the paper's MDRE {number(problem.paper['mdre'])}"
            note = "An asterisk marks the lowest loss. Loss in nats a row; time of one processor."
            out.append(Table(title, head, rows, [note]))
        return out

    def remarks(self, results: list[Fields]) -> list[str]:
        out = []
        for name in distinct(results, "problem"):
            best, problem = chosen(results, name), pair(name)
            paper, spread = problem.paper["mdre"], problem.paper["mdre_spread"]
            away = abs(best["kl"] - paper) / spread
            # One seed against the mean of three: their standard error is the paper's spread
            # times sqrt(1 + 1/3).
            near = away <= 2 * (4 / 3) ** 0.5
            out.append(
                f"{name.removeprefix('table2/')}: held-out loss chooses a rate of {best['lr']:g}, "
                f"batches of {best['batch_size']} and {best['steps']:,} steps, where the KL is "
                f"{best['kl']:.1f}; the paper prints {paper:.1f} ± {spread:.1f}, which "
                f"{'it reproduces' if near else 'it does not reproduce'}; the truth is "
                f"{problem.kl:.1f}."
            )
        missing = [name for name in PROBLEMS if name not in distinct(results, "problem")]
        if missing and "table2/40" not in distinct(results, "problem"):
            out.append(f"Not searched yet: {', '.join(missing)}.")
        return out

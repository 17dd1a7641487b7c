"""What a network learns beyond given log-densities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from isthmus.data.sample import Sample  # noqa: E402
from isthmus.data.seeds import Seeds  # noqa: E402
from isthmus.neural import ClassInputs, Training, fit_residual, mlp, seeded  # noqa: E402

QUICK = Training(steps=150, every=15, patience=100, lr=1e-2, start=True)


def network(n_in=1, n_out=2, seed=0, **how):
    with seeded(np.random.default_rng(seed)):
        return mlp(n_in, n_out, width=16, **how)


def inputs(x, offset, weight=None):
    return ClassInputs(Sample.of(x, weight), offset)


def flat(mean, n, rng, classes=2):
    """Rows of a normal with offsets of zero."""
    return inputs(rng.normal(mean, 1, (n, 1)), np.zeros((n, classes)))


class TestResidual:
    @pytest.mark.parametrize("prior", [None, [0.8, 0.2]])
    def test_it_learns_a_log_ratio_whatever_the_priors(self, prior):
        rng = np.random.default_rng(0)
        classes = [flat(1, 4000, rng), flat(0, 4000, rng)]
        held = [flat(1, 1000, rng), flat(0, 1000, rng)]
        fit = fit_residual(network(), classes, held, prior=prior, settings=QUICK, rng=rng)
        x = np.linspace(-0.5, 1.5, 9)[:, None]
        h = fit.values(x)
        # The line x - 1/2 has, with 8000 rows, an error of about .05 in level and slope; a
        # network with weights that stop early may bend by as much again. Priors of four to one
        # would show as 1.4.
        assert np.abs(h[:, 0] - h[:, 1] - (x[:, 0] - 0.5)).max() < 0.25
        assert fit.report.held_out < fit.report.start

    def test_a_start_that_is_right_is_kept_unless_held_out_rows_gain(self):
        rng = np.random.default_rng(1)

        def exact(mean, n):
            x = rng.normal(mean, 1, (n, 1))
            return inputs(x, np.hstack([-0.5 * (x - 1) ** 2, -0.5 * x**2]))

        # Trained on classes that are exchanged, every step does harm at the rows held out.
        train, held = [exact(0, 500), exact(1, 500)], [exact(1, 500), exact(0, 500)]
        fit = fit_residual(network(), train, held, settings=QUICK, rng=rng)
        assert fit.report.best_step == 0 and fit.report.held_out == fit.report.start
        assert (fit.values(np.array([[0.0], [3.0]])) == 0).all()

    def test_only_learned_classes_are_moved(self):
        rng = np.random.default_rng(2)
        # The first two offsets are the log-densities; the third class is misplaced, and is the
        # only one to be learned.
        means = (0.0, 2.0, 1.0)

        def rows(c, n):
            x = rng.normal(means[c], 1, (n, 1))
            return inputs(x, np.hstack([-0.5 * x**2, -0.5 * (x - 2) ** 2, np.zeros((n, 1))]))

        classes, held = ([rows(c, n) for c in range(3)] for n in (3000, 800))
        fit = fit_residual(network(1, 1), classes, held, learned=[2], settings=QUICK, rng=rng)
        x = np.array([[0.5], [1.5]])
        # -(x - 1)^2 / 2, known up to nothing: the other classes fix the level. 3000 rows
        # give .05, the network's shape as much again.
        assert fit.values(x).shape == (2, 1)
        assert np.abs(fit.values(x)[:, 0] + 0.125).max() < 0.25

    def test_weights_count_as_copies_do(self):
        rng = np.random.default_rng(3)
        x = rng.normal(0, 1, (3000, 1))
        # Weighted by exp(x) a standard normal is one around 1.
        p, q = inputs(x, np.zeros((3000, 2)), np.exp(x[:, 0])), flat(0, 3000, rng)
        fit = fit_residual(network(), [p, q], [p, q], settings=QUICK, rng=rng)
        h = fit.values(np.array([[0.0], [1.0]]))
        # The slope is 1; the weights leave 3000 / e rows, whose standard error is .04.
        assert abs((h[1, 0] - h[1, 1]) - (h[0, 0] - h[0, 1]) - 1) < 0.3

    def test_shrinking_keeps_what_no_row_tells(self):
        rng = np.random.default_rng(4)
        ends = []
        for shrink in (0.0, 10.0):
            classes = [flat(1, 500, rng), flat(0, 500, rng)]
            held = [flat(1, 200, rng), flat(0, 200, rng)]
            fit = fit_residual(network(), classes, held, settings=QUICK, rng=rng, shrink=shrink)
            ends.append(np.abs(fit.values(np.array([[2.0]]))).max())
        assert ends[1] < 0.2 * ends[0]

    def test_fresh_rows_come_with_every_pass_and_survive_an_interruption(self, tmp_path):
        rng = np.random.default_rng(5)
        p, held = flat(1, 128, rng), [flat(1, 100, rng), flat(0, 100, rng)]
        epochs = []

        def fresh(epoch):
            epochs.append(epoch)
            return {1: flat(0, 128, Seeds(0)(f"epoch {epoch}"))}

        def run(stop=None, checkpoint=None):
            module = network()
            how = replace(QUICK, steps=20, every=5, checkpoint=checkpoint)

            def progress(done, total, what):
                if done == stop:
                    raise KeyboardInterrupt

            how = {"settings": how, "fresh": fresh, "batch_size": 32, "progress": progress}
            rows = [p, flat(0, 128, Seeds(0)("epoch 0"))]
            rng = np.random.default_rng(9)
            return fit_residual(module, rows, held, rng=rng, **how)

        whole = run()
        # 128 rows in batches of 32: a pass takes four steps.
        assert epochs == [1, 2, 3, 4]
        with pytest.raises(KeyboardInterrupt):
            run(stop=10, checkpoint=tmp_path / "run.pt")
        again = run(checkpoint=tmp_path / "run.pt")
        x = np.linspace(-1, 2, 5)[:, None]
        assert np.array_equal(whole.values(x), again.values(x))

    def test_progress_tells_loss_and_accuracies(self):
        rng = np.random.default_rng(6)
        classes, told = [flat(3, 200, rng), flat(0, 200, rng)], []
        fit_residual(
            network(),
            classes,
            classes,
            names=["p", "q"],
            settings=QUICK,
            rng=rng,
            progress=lambda done, total, what: told.append(what),
        )
        assert all(f"accuracy of {name}" in told[-1] for name in "pq")
        accuracy = float(told[-1].rsplit(" ", 1)[1])
        # Normals three apart are told apart at the middle: 93 %, ± 2 % with 200 rows.
        assert 0.86 < accuracy < 1

    def test_impossible_offsets_are_no_obstacle(self):
        rng = np.random.default_rng(7)
        x = rng.normal(0, 1, (100, 1))
        offset = np.zeros((100, 2))
        offset[:50, 1], offset[0] = -np.inf, -np.inf
        rows = [inputs(x, offset)] * 2
        fit = fit_residual(network(), rows, rows, settings=replace(QUICK, steps=30), rng=rng)
        assert np.isfinite(fit.values(x)).all() and np.isfinite(fit.report.held_out)

"""What draws of parameters say of ratios and divergences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from isthmus.functionals import get_divergence
from isthmus.uncertainty import laplace


class TestPosterior:
    def test_draws_are_ratios_of_models(self, model, grid):
        posterior = laplace(model, draws=3, random_state=0)
        names = model.class_names_
        for top, bottom in [("p", "q"), (names[-1], "p"), ("q", "q")]:
            draws = posterior.log_ratio_draws(grid, top, bottom)
            for theta, own in zip(posterior.draws, draws, strict=True):
                other = replace(model.model_, theta=theta)
                expected = other.log_ratio(grid[:, None], top, bottom)
                np.testing.assert_allclose(own, expected, atol=1e-8)

    def test_functionals_take_draws(self, paper, running_example):
        posterior = laplace(paper, draws=50, random_state=0)
        X, y = running_example(300)
        p, q = X[y == 1], X[y == 0]
        weight = np.random.default_rng(0).uniform(0.5, 2.0, 300)
        for spec in ("kl", "js", "renyi:0.5"):
            values = posterior.divergence_draws(spec, p, q, weight_p=weight)
            one = get_divergence(spec).value(
                posterior.log_ratio_draws(p)[7], posterior.log_ratio_draws(q)[7], weight
            )
            assert values[7] == pytest.approx(one, rel=1e-9)
        estimate = posterior.divergence("kl", p, q, level=0.8)
        values = posterior.divergence_draws("kl", p, q)
        assert estimate.value == pytest.approx(values.mean())
        assert estimate.std_error == pytest.approx(values.std(ddof=1))
        # Ten per cent of 50 draws lie below and above.
        assert (values < estimate.low).sum() == (values > estimate.high).sum() == 5

    def test_memory_is_bounded_by_blocks(self, paper, monkeypatch, running_example):
        posterior = laplace(paper, draws=20, random_state=0)
        X, y = running_example(300)
        whole = posterior.log_ratio(X, return_std=True)
        values = posterior.divergence_draws("kl", X[y == 1], X[y == 0])
        monkeypatch.setattr("isthmus.uncertainty.posterior.CHUNK_NUMBERS", 1000)
        np.testing.assert_allclose(posterior.log_ratio(X, return_std=True), whole, rtol=1e-12)
        blocks = posterior.divergence_draws("kl", X[y == 1], X[y == 0])
        np.testing.assert_allclose(blocks, values, rtol=1e-12)

    def test_names_of_classes_are_checked(self, paper, grid):
        with pytest.raises(ValueError, match="numerator must be one of"):
            laplace(paper).log_ratio(grid, numerator="r")
        with pytest.raises(ValueError, match="2 features"):
            laplace(paper).log_ratio(np.zeros((3, 2)))


def test_experiment():
    from isthmus.reproduce import load
    from isthmus.reproduce.record import as_json

    experiment = load("bayes")
    cells = experiment.cells(True, 3)
    assert {cell["problem"] for cell in cells} == {"running-example", "running-example-swapped"}
    some = [{**cell, "rows": 300} for cell in cells if cell["method"] == "laplace"]
    results = [{**cell, **as_json(experiment.run(cell)), "seconds": 0.0} for cell in some]
    (table,) = experiment.tables(results)
    assert len(table.rows) == len(some) == 4
    # What a sampler would give stands in for itself: a band, a mean, and a remark on the distance.
    nuts_too = [
        {**each, "method": "nuts", "rhat": 1.0, "ess": 900.0, "divergences": 0} for each in results
    ]
    assert set(experiment.figures(results + nuts_too)) == {"posterior"}
    told = experiment.remarks(results + nuts_too)
    assert "at most 0.0 %" in told[0] and "standard normal prior" in told[-1]
    # The variance is lowest between the means and rises towards both.
    for each in results:
        std = dict(zip(np.round(each["x"], 3), each["std"], strict=True))
        assert min(std.values()) < 0.9 * min(std[-1.0], std[1.0])
        assert std[2.0] > std[1.0] and std[-2.0] > std[-1.0]

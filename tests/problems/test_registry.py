"""Problems by name: registering and loading them."""

from __future__ import annotations

import pytest

from isthmus import problems
from isthmus.problems import DistributionPair, Gaussian, registry, truths


class TestRegistry:
    @pytest.fixture(autouse=True)
    def _own_registry(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(registry, "FACTORIES", dict(registry.FACTORIES))

    @staticmethod
    def _problem() -> DistributionPair:
        return DistributionPair(
            "mine", Gaussian(0.0), Gaussian(1.0), truths.MonteCarlo(2000), "Sampled truth."
        )

    def test_a_new_problem_is_one_entry(self) -> None:
        problems.register("mine", self._problem, replace=True)
        problem = problems.load("mine")
        assert "mine" in problems.names()
        assert problem.truth_by == "monte carlo"
        assert 0 < problem.kl_std_error < 0.05
        assert abs(problem.kl - 0.5) < 4 * problem.kl_std_error
        assert problem.auxiliaries == ()

    def test_unknown_names_are_answered_with_near_ones(self) -> None:
        with pytest.raises(ValueError, match=r"received 'table2/320shifted'.*table2/320-shifted"):
            problems.load("table2/320shifted")
        with pytest.raises(ValueError, match=r"received 'zzzzzzzz'.*problems\.names\(\)"):
            problems.load("zzzzzzzz")
        with pytest.raises(ValueError, match="name must be"):
            problems.load(["table1/row1"])  # type: ignore[arg-type]

    def test_a_taken_name_is_refused(self) -> None:
        with pytest.raises(ValueError, match="replace=True; received 'table1/row1'"):
            problems.register("table1/row1", self._problem)

    def test_a_factory_must_make_what_it_is_registered_for(self) -> None:
        problems.register("other", self._problem)
        with pytest.raises(ValueError, match=r"'other' must make .* received 'mine'"):
            problems.load("other")

    def test_bad_entries(self) -> None:
        with pytest.raises(ValueError, match="name must be a non-empty string"):
            problems.register("", self._problem)
        with pytest.raises(TypeError, match="factory must be callable"):
            problems.register("mine2", self._problem())  # type: ignore[arg-type]

    def test_sides_must_match(self) -> None:
        with pytest.raises(ValueError, match="share one dim; received 1 and 2"):
            DistributionPair("x", Gaussian(0.0), Gaussian(0.0, dim=2), truths.gaussians, "Bad.")

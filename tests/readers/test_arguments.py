"""What a generator is told wrongly is named."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.errors import BadArgument
from truerisk.datasets import (
    make_four_class,
    make_kearns,
    make_simple,
    make_sparse_gaussian,
)
from truerisk.datasets.problems import KearnsProblem, sparse_gaussian

PROBLEMS = [make_simple, make_kearns, make_sparse_gaussian, make_four_class]


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("given", ["x", -1, 0, 1.5, None, [3, 4], float("inf")])
def test_what_is_no_number_of_rows_is_refused(problem, given) -> None:
    """Whole numbers only, large enough for every class."""
    with pytest.raises(BadArgument, match="^n_samples="):
        problem(given)


@pytest.mark.parametrize("given", [(3,), (3, 4, 5), ("a", "b"), (1.5, 2), (0, 3)])
def test_rows_per_class_are_two_numbers(given) -> None:
    """A pair of whole numbers, one for each class."""
    with pytest.raises(BadArgument, match="^n_samples="):
        make_simple(given)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("seed", ["x", -1, 1.5])
def test_what_is_no_seed_is_refused(problem, seed) -> None:
    """Seeds are whole numbers, None or generators."""
    with pytest.raises(BadArgument, match="^random_state="):
        problem(10, random_state=seed)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_risk_is_that_of_a_rule_on_rows(problem) -> None:
    """Neither a word nor a class is a rule, and fresh rows are counted."""
    for rule in ("knn", dict, 3):
        with pytest.raises(BadArgument, match="^rule="):
            problem.true_risk(rule)
    with pytest.raises(BadArgument, match="^n_test="):
        problem.true_risk(lambda X: np.zeros(len(X)), n_test="x")


def test_the_makings_of_a_problem_are_checked() -> None:
    """Noise, intervals, correlations and features that are none."""
    for make, name in [
        (lambda: KearnsProblem(noise="x"), "noise"),
        (lambda: KearnsProblem(n_intervals=2.5), "n_intervals"),
        (lambda: make_four_class.with_noise_features("x"), "n_noise"),
        (lambda: type(make_four_class)(correlation="x"), "correlation"),
        (lambda: sparse_gaussian(1.5), "n_noise"),
    ]:
        with pytest.raises(BadArgument, match=f"^{name}="):
            make()

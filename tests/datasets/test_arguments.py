"""Wrong arguments of the generators of data are refused by name."""

import numpy as np
import pytest

from truerisk.datasets import (
    KearnsProblem,
    make_four_class,
    make_kearns,
    make_simple,
    make_sparse_gaussian,
    sparse_gaussian,
)
from truerisk.extend import BadArgument

PROBLEMS = [make_simple, make_kearns, make_sparse_gaussian, make_four_class]
WRONG = {
    "n_samples": ["x", -1, 0, 1.5, None, [3, 4], float("inf")],
    "random_state": ["x", -1, 1.5],
    "rule": ["knn", dict, 3],
    "n_test": ["x"],
}


def ask(problem, name, value):
    if name in ("rule", "n_test"):
        return problem.true_risk(**{"rule": lambda X: np.zeros(len(X)), name: value})
    return problem(**{"n_samples": 10, name: value})


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", WRONG)
def test_problem_refuses_an_argument_by_name(problem, name):
    for value in WRONG[name]:
        with pytest.raises(BadArgument, match=f"^{name}="):
            ask(problem, name, value)


MAKINGS = {
    "n_samples": [
        lambda n=n: make_simple(n) for n in ((3,), (3, 4, 5), (1.5, 2), (0, 3), ("a", 2))
    ],
    "noise": [lambda: KearnsProblem(noise="x")],
    "n_intervals": [lambda: KearnsProblem(n_intervals=2.5)],
    "n_noise": [lambda: make_four_class.with_noise_features("x"), lambda: sparse_gaussian(1.5)],
    "correlation": [lambda: type(make_four_class)(correlation="x")],
}


@pytest.mark.parametrize("name", MAKINGS)
def test_problem_refuses_what_it_cannot_be_made_of(name):
    for make in MAKINGS[name]:
        with pytest.raises(BadArgument, match=f"^{name}="):
            make()

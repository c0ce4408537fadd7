"""Settings drawn at random are those of scikit-learn's ParameterSampler."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.stats
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import ParameterSampler
from sklearn.svm import SVC

from truerisk.core.errors import BadArgument, BadData, TrueRiskWarning, UnknownName
from truerisk.core.family import Family

SPREAD = scipy.stats.loguniform(0.01, 100)
SPACES = {
    "a distribution": {"C": SPREAD},
    "distributions and a list": {"C": SPREAD, "gamma": SPREAD, "kernel": ["linear", "rbf"]},
    "lists": {"C": [0.1, 1, 10, 100], "gamma": np.array([0.1, 1.0, 2.0])},
    "dicts": [{"C": SPREAD, "kernel": ["linear"]}, {"gamma": SPREAD, "kernel": ["rbf"]}],
    "dicts of lists": [{"C": [1, 2, 3]}, {"gamma": [1, 2, 3], "C": [1]}],
}


def drawn(space, n_iter=5, seed=3):
    """The settings of a support vector machine."""
    return list(Family.drawn(SVC(), space, n_iter, seed).candidates)


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_they_are_those_of_the_parameter_sampler(space):
    """Setting for setting, in its order."""
    assert drawn(space) == list(ParameterSampler(space, 5, random_state=3))


def test_a_function_is_given_a_generator():
    """The same values for the same seed, others for another; beside it the rest is drawn."""
    space = {"C": lambda rng: 10 ** rng.uniform(-2, 2), "kernel": ["linear", "rbf"]}
    first, again, other = (drawn(space, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len({setting["C"] for setting in first}) == 5
    assert all(0.01 <= setting["C"] <= 100 for setting in first)


def test_a_smaller_grid_is_taken_whole_and_said():
    """Each setting once, as by RandomizedSearchCV, with one warning at the line of the caller."""
    with pytest.warns(TrueRiskWarning, match="has 4 settings, and n_iter=60 asks") as said:
        found = drawn({"C": [1, 2, 3, 4]}, 60)
    assert len(said) == 1
    assert sorted(setting["C"] for setting in found) == [1, 2, 3, 4]


@pytest.mark.parametrize("n_iter", [0, -1, 2.5, "ten", True])
def test_the_number_is_a_whole_one(n_iter):
    """Anything else is refused by its name."""
    with pytest.raises(BadArgument, match="n_iter=.*whole number of settings"):
        drawn({"C": SPREAD}, n_iter)


@pytest.mark.parametrize("space", [None, {}, [], [{}, {}], ()])
def test_nothing_to_draw_from_is_refused(space):
    """A number without distributions draws nothing."""
    with pytest.raises(BadArgument, match="nothing to draw from"):
        drawn(space)


@pytest.mark.parametrize("space", ["C", 3, ["C"], [{"C": [1]}, "gamma"], np.ones(2)])
def test_other_things_are_no_distributions(space):
    """What is neither a dict nor a list of dicts is shown as it was given."""
    with pytest.raises(BadArgument, match="draws from a dict of distributions and lists"):
        drawn(space)


def test_what_cannot_be_drawn_from_is_named():
    """No rvs, an rvs that fails, an rvs without a random state, a function that fails."""

    class Foreign:
        def rvs(self):
            return 1.0

    with pytest.raises(BadArgument, match=r"cannot give values of 'C': .* rvs"):
        drawn({"C": object()})
    with pytest.raises(BadArgument, match=r"no value of 'C' can be drawn from .*random_state"):
        drawn({"C": Foreign()})
    with pytest.raises(BadArgument, match=r"no value of 'C' .*ZeroDivisionError"):
        drawn({"C": lambda rng: 1 / 0})
    with pytest.raises(BadData, match="Parameter grid for parameter 'C'"):
        drawn({"C": [], "gamma": SPREAD})
    with pytest.raises(UnknownName, match="no parameter 'D'"):
        drawn({"D": SPREAD})


@pytest.mark.parametrize("value", [SVC, RBF()], ids=str)
def test_what_can_be_called_is_no_distribution_for_that(value):
    """A class and a kernel are values that somebody forgot to put in a list."""
    with pytest.raises(BadArgument, match="wrapped in a list"):
        Family.of(SVC(), {"kernel": value})
    with pytest.raises(BadArgument, match="cannot give values of 'kernel'"):
        drawn({"kernel": value})


@pytest.mark.parametrize("values", [SPREAD, lambda rng: 1.0, partial(pow, 2)])
def test_a_distribution_without_a_number_of_settings_is_refused(values):
    """Nobody says how many: the sentence says how to."""
    with pytest.raises(BadArgument, match=r"'C' has a distribution.*n_iter=60"):
        Family.of(SVC(), {"C": values})

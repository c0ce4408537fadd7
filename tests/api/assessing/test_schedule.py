"""An assessment's plans are drawn once, from the seed alone."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from truerisk.api.assessing.schedule import Schedule
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.run.problem import pose

X, Y = tr.datasets.make_simple(36, random_state=0)


def asked(settings=1, seed=0, **options):
    """The problem of so many settings of one learner."""
    grid = {"var_smoothing": np.geomspace(1e-9, 1e-6, settings)}
    return pose(Family.of(GaussianNB(), grid), X, Y, random_state=seed, **options)


def drawn(methods=("3-fold",), outer="4-fold", several=True, seed=0, **options):
    """The schedule of one problem, or of the same one under two names."""
    problem = asked(seed=seed, **options)
    return Schedule.draw(
        {"a": problem, "b": problem} if several else {"a": problem}, methods, outer
    )


def test_plans_depend_on_the_seed_alone():
    """The same seed draws the same plans, another one others."""
    one, again, other = drawn(seed=1), drawn(seed=1), drawn(seed=2)
    assert one.nested_plan.fingerprint == again.nested_plan.fingerprint
    assert one.plans[0].fingerprint == again.plans[0].fingerprint
    assert one.nested_plan.fingerprint != other.nested_plan.fingerprint


@pytest.mark.parametrize(
    ("several", "settings", "fits"), [(True, 1, 3 + 4 * 4), (False, 1, 3 + 4), (False, 2, 6 + 28)]
)
def test_inner_fits_are_made_where_something_is_chosen(several, settings, fits):
    """One setting of one learner is tested without inner fits; else each setting has them."""
    apparent, again = 1, 4  # the winners are fitted again where no loss asked for probabilities
    assert drawn(several=several).fits(asked(settings, loss="log")) == fits + apparent
    assert drawn(several=several).fits(asked(settings)) == fits + apparent + again


def test_methods_are_checked_before_anything_is_drawn():
    """What the loss or the data forbid is refused here."""
    with pytest.raises(Refusal, match="cannot be the inner method"):
        drawn(["three-way"])
    assert drawn(["3-fold", "apparent"]).methods[1].word == "apparent"

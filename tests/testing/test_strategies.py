"""What is drawn is valid, and reaches every form a plan can have."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from truerisk.core.errors import MissingExtra
from truerisk.core.plan.plan import Plan
from truerisk.testing import engine_checks, strategies
from truerisk.testing.strategies import data_sets, plans


@settings(max_examples=60, deadline=None)
@given(st.data(), st.booleans(), st.sampled_from(["classification", "regression"]))
def test_plans_are_sound(drawer, ties, task):
    """Every fit has rows, every question asks about rows, and JSON gives the plan back."""
    data = drawer.draw(data_sets(task, ties=ties))
    plan = drawer.draw(plans(data))
    assert plan.train_sizes.min() > 0
    assert plan.test_sizes.min() > 0
    assert Plan.from_dict(plan.to_dict()).fingerprint == plan.fingerprint
    assert ties or len(np.unique(data.X[:, 0])) == data.n_rows


@pytest.mark.parametrize(
    "wanted",
    [
        lambda plan: plan.blocks.counts is not None,
        lambda plan: plan.flips is not None,
        lambda plan: "inner" in plan.parts,
        lambda plan: "apparent" in plan.parts,
        lambda plan: plan.n_questions > plan.n_fits,
        lambda plan: plan.n_fits == plan.n_rows,
        lambda plan: np.diff(plan.train.offsets).max() > 1,
        lambda plan: bool((plan.train.base >= 0).any()),
    ],
    ids=["copies", "labels", "nested", "apparent", "shared fits", "loo", "minus two", "subsets"],
)
def test_every_form_of_plan_is_drawn(wanted):
    """Hypothesis finds a plan of each form within its usual number of draws."""
    drawn = data_sets().flatmap(plans)
    quick = settings(database=None, deadline=None, derandomize=True, phases=[Phase.generate])
    assert wanted(find(drawn, wanted, settings=quick))


def test_without_hypothesis_there_is_a_sentence(monkeypatch):
    """The checks that draw say what to install; making the checks needs nothing."""
    monkeypatch.setitem(sys.modules, "hypothesis.strategies", None)
    with pytest.raises(MissingExtra, match="pip install hypothesis"):
        strategies.data_sets()
    from truerisk.engines import Generic

    assert len(engine_checks(Generic())) > 10

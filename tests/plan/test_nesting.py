"""A plan whose fits are also asked about their own train sets."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.contracts import Streams
from truerisk.core.errors import Refusal
from truerisk.data.data import Data
from truerisk.methods.words import as_method
from truerisk.plan.builder import with_training_rows

DATA = Data.check(np.arange(24.0)[:, None], np.arange(24) % 2, task="classification")


@pytest.mark.parametrize("word", ["4-fold", "2x3-fold", "loo", "oob", "holdout"])
def test_the_second_half_asks_about_the_train_sets(word) -> None:
    """The fits and the first questions stay what they are; copies of a row are counted."""
    plan = as_method(word).plan(DATA, Streams(0))
    both, n = with_training_rows(plan), plan.n_questions
    assert (both.n_questions, both.n_fits) == (2 * n, plan.n_fits)
    assert both.only(np.arange(n)).asks_like(plan)
    for question in range(n):
        rows, counts = both.test_rows(n + question)
        seen, times = plan.train_rows(int(plan.fit[question]))
        np.testing.assert_array_equal(rows, seen)
        np.testing.assert_array_equal(
            np.ones(len(rows)) if counts is None else counts,
            np.ones(len(seen)) if times is None else times,
        )
    assert both.own_rows[n:].sum() == sum(plan.train_rows(int(fit))[1] is None for fit in plan.fit)
    assert both.parts[-1] == "apparent"
    assert len(both.positions[0]) == both.test_sizes.sum()


def test_drawn_train_sets_have_none() -> None:
    """They are not shown as they are."""
    plan = as_method("exact-oob").plan(DATA, Streams(0))
    with pytest.raises(Refusal, match="return_train_score=False"):
        with_training_rows(plan)

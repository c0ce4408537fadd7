"""Random points around rows: joining those of several plans."""

from __future__ import annotations

import numpy as np

from truerisk.plan.extras.moves import Moves


def test_moves_joined_keep_the_points_of_each_plan() -> None:
    """A question of the second plan is about the same points after its number was shifted."""
    first = Moves(np.array([0, 2], np.int32), np.array([5, 6]), np.ones(4), np.ones(2))
    second = Moves(np.array([1], np.int32), np.array([7]), np.ones(4), np.ones(2))
    both = first.joined([second.after(n_fits=1, n_questions=3)])
    rows = np.arange(4)
    assert both.question.tolist() == [0, 2, 4]
    np.testing.assert_array_equal(both.of_rows(2, rows), first.of_rows(2, rows))
    np.testing.assert_array_equal(both.of_rows(4, rows), second.of_rows(1, rows))
    assert both.of_rows(3, rows) is None

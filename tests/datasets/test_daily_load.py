"""The daily load has the pattern, the memory and the least risk that it states."""

from __future__ import annotations

import numpy as np
import pytest

import truerisk as tr
from truerisk.core.errors import BadArgument
from truerisk.datasets import DailyLoadProblem
from truerisk.datasets.daily_load import WEEK


def level(problem, n, seed):
    """What is left of the load without the week and the temperature."""
    X, y = problem(n, random_state=seed)
    return y - WEEK[X[:, 1].astype(int)] + 0.8 * X[:, 2]


def test_the_level_has_variance_1_and_the_stated_memory() -> None:
    """From the first day on, whatever the memory."""
    for memory in (0.0, 0.9):
        levels = np.array([level(DailyLoadProblem(memory), 40, seed) for seed in range(2000)])
        assert levels.var(axis=0) == pytest.approx(np.ones(40), abs=0.15)
        assert np.mean(levels[:, 1:] * levels[:, :-1]) == pytest.approx(memory, abs=0.05)


def test_days_are_rows_in_their_order() -> None:
    """Dates from a Monday on; the same seed gives the same load."""
    X, y = tr.datasets.make_daily_load(21, random_state=1)
    assert X[:, 0].tolist() == list(range(21))
    assert X[:, 1].tolist() == [*range(7)] * 3
    assert (np.diff(tr.datasets.make_daily_load.dates(21)) == np.timedelta64(1, "D")).all()
    assert np.array_equal(y, tr.datasets.make_daily_load(21, random_state=1)[1])
    assert tr.datasets.load("daily-load").X.shape == (730, 3)


@pytest.mark.parametrize("memory", [-0.1, 1, "0.5", None])
def test_a_memory_is_a_share(memory) -> None:
    """Of 1 the level would never come back."""
    with pytest.raises(BadArgument, match="a level remembers a share"):
        DailyLoadProblem(memory)

"""One listener hears every fit, under the name of the stage."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import truerisk as tr
from truerisk.core.progress import Progress, counting, listen, stage, tell

X, Y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2


def test_nobody_listens_by_default() -> None:
    """Telling without a listener does nothing."""
    tell(1, 2)


def test_stages_are_nested_by_name() -> None:
    """Inner stages are joined to the outer one; leaving a stage leaves its name."""
    heard: list[Progress] = []
    with listen(heard.append), stage("knn"):
        tell(0, 2)
        with stage("outer"):
            tell(1, 2)
        tell(2, 2)
    tell(9, 9)
    assert heard == [Progress("knn", 0, 2), Progress("knn: outer", 1, 2), Progress("knn", 2, 2)]


def test_a_stage_ends_with_an_error() -> None:
    """An error inside leaves no stage and no listener behind."""
    heard: list[Progress] = []
    with pytest.raises(ZeroDivisionError), listen(heard.append), stage("knn"):
        _ = 1 / 0
    tell(1, 1)
    assert heard == []


@pytest.mark.parametrize("executor", [None, 2])
def test_every_fit_is_heard(executor) -> None:
    """Events count up to the number of fits, on any executor."""
    heard: list[Progress] = []
    with listen(heard.append):
        grid = {"constant": [0, 1]}
        model = DummyClassifier(strategy="constant")
        tr.risk_curve(model, grid, X, Y, method="5-fold", executor=executor)
    done = [event.done for event in heard]
    assert done[0] == 0
    assert done[-1] == 10
    assert done == sorted(done)
    assert {event.total for event in heard} == {10}


def test_fits_of_several_computations_are_added_up() -> None:
    """Inside `counting` events go from 0 to the whole, also where an engine tells of other fits."""
    heard: list[Progress] = []
    with listen(heard.append), counting(10) as count:
        tell(0, 4)
        tell(4, 4)
        count.finish(4)
        tell(0, 1)  # an engine that answers six fits at a stroke
        tell(1, 1)
        count.finish(6)
        tell(0, 1)
    assert [event.done for event in heard] == [0, 4, 4, 5, 10]
    assert {event.total for event in heard} == {10}


def test_counting_never_goes_back_nor_beyond() -> None:
    """Two passes of one computation add up; more events than fits stop at the whole."""
    heard: list[Progress] = []
    with listen(heard.append), counting(5):
        for done, total in [(0, 3), (3, 3), (0, 9), (1, 9), (9, 9)]:
            tell(done, total)
    assert [event.done for event in heard] == [0, 3, 3, 4, 5]


def test_counting_without_a_listener() -> None:
    """Nobody need listen."""
    with counting(3) as count:
        tell(1, 3)
        count.finish(3)

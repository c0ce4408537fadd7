"""A forest plot of subgroups."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.interval import Interval
from truerisk.validation.subgroups import Subgroup, SubgroupRisk, SubgroupRisks, Subgroups

WHOLE = SubgroupRisk(Subgroup("", "all rows", 90, 40), 0.2, 0.05, Interval(0.1, 0.3, "logit-cv"))
LEVELS = (
    SubgroupRisk(Subgroup("site", "a", 60, 30), 0.15, 0.05, Interval(0.05, 0.3, "logit-cv"), 0.18),
    SubgroupRisk(Subgroup("site", "b", 25, 10), 0.3, 0.1, Interval(0.1, 0.6, "logit-cv"), 0.2),
    SubgroupRisk(Subgroup("site", "c", 5, 0), reason="5 rows: at least 10 are needed."),
)


def found(perfect):
    """The same lines as a pure loss, or as a score."""
    from dataclasses import replace

    whole, *levels = (replace(one, perfect=perfect) for one in (WHOLE, *LEVELS))
    risks = SubgroupRisks("auc" if perfect else "log", whole, tuple(levels), 2.4)
    return Subgroups((risks,), 0.95)


@pytest.mark.parametrize("perfect", [None, 1.0])
def test_values_intervals_and_shrunken_values_stand_in_their_lines(perfect):
    """Squares, bars and diamonds, on the score's own scale where it has one."""
    subgroups = found(perfect)
    ax = subgroups.plot()
    lines = (subgroups.risks[0].whole, *subgroups.risks[0].levels)
    squares = [line for line in ax.get_lines() if line.get_marker() == "s"]
    diamonds = [line for line in ax.get_lines() if line.get_marker() == "D"]
    own = [one.own_scale for one in lines[:3]]
    assert [line.get_xdata()[0] for line in squares] == [one.value for one in own]
    assert [line.get_ydata()[0] for line in squares] == [0, 1, 2]
    assert [d.get_xdata()[0] for d in diamonds] == [one.own_shrunken for one in lines[1:3]]
    bars = [list(line.get_xdata()) for line in ax.get_lines() if line.get_marker() == "|"]
    assert bars == [[one.interval.low, one.interval.high] for one in own]
    assert ("larger" if perfect else "lower") in ax.get_xlabel()


def test_small_levels_say_why():
    """The reason stands where the value would."""
    ax = found(None).plot()
    assert [text.get_text() for text in ax.texts] == ["5 rows: at least 10 are needed."]
    assert [text.get_text() for text in ax.get_yticklabels()][-1] == "site = c (5)"
    assert np.diff(ax.get_ylim()) < 0

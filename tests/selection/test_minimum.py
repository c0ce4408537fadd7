"""The smallest risk wins, the first of equal ones."""

from __future__ import annotations

import numpy as np
import pytest

from truerisk.core.errors import Refusal, UnknownName
from truerisk.selection import as_rule
from truerisk.selection.minimum import Minimum

NONE = np.full(4, np.nan)


@pytest.mark.parametrize(
    ("values", "best"),
    [
        ([0.3, 0.1, 0.2, 0.1], 1),
        ([0.3, 0.1 + 1e-14, 0.2, 0.1], 1),
        ([0.3, 0.1 + 1e-9, 0.2, 0.1], 3),
        ([np.nan, 0.4, 0.2, np.nan], 2),
        ([1e6 + 1e-8, 1e6, 2e6, 3e6], 0),
        ([-3.0, -5.0, -5.0, 0.0], 1),
        ([3e-14, 1e-14, 2e-14, 1e-14], 1),
        ([0.0, 1e-30, 0.0, 1.0], 0),
    ],
)
def test_the_first_of_the_smallest(values, best) -> None:
    """Failed candidates are left out; differences of rounding are ties."""
    assert Minimum().choose(np.array(values), NONE) == best


def test_nothing_to_choose_from() -> None:
    """If every candidate failed there is no choice."""
    with pytest.raises(Refusal, match="every candidate has a failed fit"):
        Minimum().choose(NONE, NONE)


def test_rules_by_word() -> None:
    """A rule is a word or a rule; anything else gets the nearest word."""
    rule = Minimum()
    assert as_rule(rule) is rule
    assert as_rule("min") == rule
    assert as_rule("1-se").word == "1-se"
    with pytest.raises(UnknownName, match="did you mean 'min'"):
        as_rule("minn")
    with pytest.raises(UnknownName, match="rule=3 is neither a word"):
        as_rule(3)

"""Differences are written to the precision of what they stand beside."""

from __future__ import annotations

import pytest

from truerisk.api.road.wording import signed, unsigned


@pytest.mark.parametrize(
    ("value", "beside", "expected"),
    [
        (0.01234, 0.2, "+0.0123"),
        (-0.01234, 0.2, "-0.0123"),
        (0.0, 0.2, "+0.0000"),
        (-0.00001, 0.2, "+0.0000"),
        (7.6448, 3012.0, "+7.6"),
        (-0.04, 3012.0, "+0.0"),
        (0.5, None, "+0.5000"),
    ],
)
def test_differences(value, beside, expected):
    """Four decimals, one beside large risks; a zero is never negative."""
    assert signed(value, beside) == expected
    assert unsigned(value, beside) == expected.lstrip("+")

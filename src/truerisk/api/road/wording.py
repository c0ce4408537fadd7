"""Differences of risks, written to the precision of the risks they stand beside."""

from __future__ import annotations

from truerisk.core.present import number

__all__ = ["signed", "unsigned"]


def unsigned(value: float, beside: float | None) -> str:
    """As many decimals as the risk it stands beside; a zero is never −0.

    >>> unsigned(-0.00001, 0.2), unsigned(7.6448, 3012.0)
    ('0.0000', '7.6')
    """
    decimals = 4 if beside is None or abs(beside) < 100 else 1
    return number(round(value, decimals) + 0.0, decimals)


def signed(value: float, beside: float | None) -> str:
    """The same with its sign.

    >>> signed(-0.00001, 0.2), signed(-7.6448, 3012.0)
    ('+0.0000', '-7.6')
    """
    text = unsigned(value, beside)
    return text if text.startswith("-") else f"+{text}"

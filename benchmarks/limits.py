"""A measured quantity, such as memory or an exponent, against the most it may be."""

from __future__ import annotations

from benchmarks.results import Result, Unit

__all__ = ["limit"]


def limit(
    what: str,
    ours: float,
    *,
    at_most: float | None = None,
    unit: Unit = "",
    peer: float | None = None,
) -> Result:
    """One line of the table; `peer` is what the peer needs for the same, where it was measured."""
    target = "" if at_most is None else f"<= {at_most:g} {unit}".rstrip()
    met = None if at_most is None else ours <= at_most
    return Result(what, target, peer, ours, unit, met)

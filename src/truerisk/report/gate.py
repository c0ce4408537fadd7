"""The gate on the page of an audit: the command or call that fails if a bound is missed."""

from __future__ import annotations

from math import floor, log10

from truerisk.core.frozen import frozen
from truerisk.report.layout import CLOSING_SECTIONS, Section
from truerisk.results.bounds import format_as_argument
from truerisk.results.interval import ResultWithBounds, get_honest_numbers

METHODS, REPEAT = CLOSING_SECTIONS
SECTIONS_WITH_GATE = METHODS, Section("gate", "A gate for a build"), REPEAT
OPTIONS_OF_GATE = ("--min-score", "--fail-above")


@frozen
class Gate:
    """Sentences about a bound, and the command or call that fails if the bound is missed.

    The call is empty if the result has no interval.
    """

    lead: str
    call: str


def make_gate(result: ResultWithBounds, call: str, *, is_command: bool) -> Gate:
    """Return the gate of a result that a call or a command has computed.

    Its bound is the strictest one of two significant digits that the interval of the result keeps.
    """
    name, number = next(iter(get_honest_numbers(result).items()))
    reported = number.reported_value
    if reported.interval is None:
        return Gate("Without an interval no bound is met, so this result cannot pass a gate.", "")
    is_score = reported.better_direction == "larger"
    interval = reported.interval
    end = interval.low if is_score else interval.high
    bound = f"{_round_down(end) if is_score else -_round_down(-end):.15g}"
    fails = "raises BoundMissed"
    if is_command:
        fails = "exits with code 4 if the claimed value lies outside the interval, and"
    missed = (
        "lower end of the interval is below" if is_score else "upper end of the interval is above"
    )
    lead = f"This {fails} if the {missed} the bound. "
    if is_command and any(option in call for option in OPTIONS_OF_GATE):
        return Gate(f"{lead}This is the command that computed the page.", call)
    lead += f"This result just meets the bound {bound}: replace it by the bound that you need."
    if not is_command:
        return Gate(lead, f"u = {call}\nu.require({format_as_argument(name, bound)})")
    option = f"--min-score {name}={bound}" if is_score else f"--fail-above {bound}"
    return Gate(lead, f"{call} {option}")


def _round_down(end: float) -> float:
    """Round down to two significant digits.

    >>> _round_down(0.7149), _round_down(-0.0141), _round_down(1234.0), _round_down(0.0)
    (0.71, -0.015, 1200.0, 0.0)
    """
    if end == 0:
        return 0.0
    unit = 10.0 ** (1 - floor(log10(abs(end))))
    rounded = floor(end * unit) / unit
    return rounded if rounded <= end else rounded - 1 / unit

"""The gate on the page of an audit: the command or call that fails if a bound is missed."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context

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


def make_gate(result: ResultWithBounds, call: str, names: str, *, is_command: bool) -> Gate:
    """Return the gate of a result that a call or a command has computed.

    Its bound is the strictest one of two significant digits that the interval of the result keeps.
    `names` says what the names of the user's objects in a call stand for.
    """
    name, number = next(iter(get_honest_numbers(result).items()))
    reported = number.reported_value
    if reported.interval is None:
        return Gate("Without an interval no bound is met, so this result cannot pass a gate.", "")
    is_score = reported.better_direction == "larger"
    interval = reported.interval
    bound = f"{_round_out(interval.low if is_score else interval.high, down=is_score):.15g}"
    fails = "raises BoundMissed"
    if is_command:
        fails = "exits with code 4 if the best score lies outside the interval, or"
    missed = (
        "lower end of the interval is below" if is_score else "upper end of the interval is above"
    )
    lead = f"This {fails} if the {missed} the bound. "
    if is_command and any(option in call for option in OPTIONS_OF_GATE):
        return Gate(f"{lead}This is the command that computed the page.", call)
    lead += f"This result just meets the bound {bound}: replace it by the bound that you need."
    if not is_command:
        requirement = f"u.require({format_as_argument(name, bound)})"
        return Gate(lead, f"import truerisk as tr\n\n# {names}\nu = {call}\n{requirement}")
    option = f"--min-score {name}={bound}" if is_score else f"--fail-above {bound}"
    return Gate(lead, f"{call} {option}")


def _round_out(end: float, *, down: bool) -> float:
    """Round down or up to two significant digits.

    >>> [_round_out(end, down=True) for end in (0.7149, -0.0141, 1234.0, 0.29)]
    [0.71, -0.015, 1200.0, 0.29]
    >>> _round_out(0.7149, down=False), _round_out(0.0, down=False)
    (0.72, 0.0)
    """
    context = Context(prec=2, rounding=ROUND_FLOOR if down else ROUND_CEILING)
    return float(context.create_decimal(repr(float(end))))

"""A bound on the honest end of an interval: exit code 4 if the user's bound is missed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import with_options
from truerisk.cli.output import say
from truerisk.core.registry import check_present

if TYPE_CHECKING:
    from truerisk.results.interval import Bounded, Scale

CLOSED = 4


def _scores_of(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, float]:
    """Return the minimum scores by name, read before anything is fitted."""
    bounds: dict[str, float] = {}
    for text in texts:
        name, _, value = map(str.strip, text.partition("="))
        if name in bounds:
            raise click.BadParameter(f"{name} has two bounds; give one.")
        try:
            bounds[name] = _finite(value)
        except ValueError:
            name = ""
        if not name:
            raise click.BadParameter(f"{text!r} is no bound; write a score as in auc=.75.")
    return bounds


def _finite(value: Any) -> float:
    """Return a finite number, because NaN and infinity cannot be missed."""
    number = float(value)
    if not isfinite(number):
        raise ValueError(value)
    return number


def _risk_of(
    _context: click.Context, _option: click.Parameter, value: float | None
) -> float | None:
    try:
        return None if value is None else _finite(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no bound; write a risk as in .25.") from None


gate_options = with_options(
    click.option(
        "--fail-above",
        type=float,
        metavar="NUMBER",
        callback=_risk_of,
        help="Exit code 4 unless the honest risk is at most this large: the upper end of its "
        "interval counts.",
    ),
    click.option(
        "--min-score",
        multiple=True,
        metavar="NAME=NUMBER",
        callback=_scores_of,
        help="Exit code 4 unless the honest score is at least this large: the lower end of its "
        "interval counts, as in auc=.75. May be given several times.",
    ),
)


def named_bounds(fail_above: float | None, min_score: Mapping[str, float]) -> str:
    """Write the bounds as options of a command.

    >>> named_bounds(1.0000001, {"auc": 0.75})
    '--fail-above 1.0000001, --min-score auc=0.75'
    """
    risks = [] if fail_above is None else [f"--fail-above {fail_above:.15g}"]
    return ", ".join(risks + [f"--min-score {name}={of:.15g}" for name, of in min_score.items()])


def with_bounded(scoring: Any, bounded: Iterable[str], task: str) -> Any:
    """Return the requested scores, followed by those with a bound."""
    from truerisk.losses.loss_words import USUAL

    requested = scoring if isinstance(scoring, list) else [scoring or USUAL[task]]
    more = [name for name in dict.fromkeys(bounded) if name not in requested]
    return [*requested, *more] if more else scoring


def refuse_bounds(
    fail_above: float | None,
    min_score: Mapping[str, float],
    measured: Mapping[str, Scale],
    remedy: str = "",
) -> None:
    """Raise for a bound that cannot be checked, before anything is fitted if possible.

    `measured` has the scale of each measured name, that of the loss first.
    """
    check_present("truerisk.results.bounds")
    from truerisk.results.bounds import (
        ALIKE,
    )  # The import is late, so that help works without numpy.

    loss = next(iter(measured))
    is_accuracy = loss == "accuracy" and measured[loss].perfect == 1
    if fail_above is not None and measured[loss].better == "larger" and not is_accuracy:
        raise click.UsageError(
            f"--fail-above bounds an error, and {loss} is a score, of which more is better: write "
            f"--min-score {loss}=NUMBER."
        )
    larger = [name for name, scale in measured.items() if scale.better == "larger"]
    if not larger and not remedy:
        remedy = f" An error is bounded by --fail-above: {loss} is one."
    for name, bound in min_score.items():
        found = next((one for one in (name, ALIKE.get(name)) if one in larger), None)
        if found is None:
            raise click.UsageError(
                f"--min-score {name}: this score is not measured here; measured are: "
                f"{', '.join(larger) or 'none'}.{remedy}"
            )
        most = measured[found].perfect
        if most is not None and bound > most:
            raise click.UsageError(
                f"--min-score {name}={bound:.15g}: this score is {most:g} at most, so that nothing "
                "keeps the bound; write a smaller one."
            )


def judged(result: Bounded | None, fail_above: float | None, min_score: Mapping[str, float]) -> int:
    """Report for each bound whether the honest numbers keep it, and return the exit code."""
    if result is None or (fail_above is None and not min_score):
        return 0
    # The import is late, so that help works without numpy.
    check_present("truerisk.results.bounds")
    from truerisk.results.bounds import ALIKE, judge
    from truerisk.results.interval import Scale, honest_numbers_of

    numbers = honest_numbers_of(result)
    refuse_bounds(fail_above, min_score, {name: Scale(one.most) for name, one in numbers.items()})
    verdicts = []
    if fail_above is not None:
        first = next(iter(numbers.values()))
        verdicts.append(judge(first.as_error, fail_above, f"--fail-above {fail_above:.15g}"))
    for name, bound in min_score.items():
        number = numbers[name if name in numbers else ALIKE[name]]
        verdicts.append(judge(number, bound, f"--min-score {name}={bound:.15g}"))
    for _, sentence in verdicts:  # All bounds are reported, not only the first.
        say(sentence)
    return CLOSED if any(is_missed for is_missed, _ in verdicts) else 0

"""Bounds that the user sets on the risk or a score; exit code 4 if a bound is missed.

The less favourable limit of the confidence interval is compared with the bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import combine_options
from truerisk.cli.output import print_stderr
from truerisk.core.registry import check_present

if TYPE_CHECKING:
    from truerisk.results.interval import ResultWithBounds, Scale

EXIT_CLAIM_OR_BOUND_MISSED = 4


def _read_min_scores(
    _context: click.Context, _option: click.Parameter, bound_texts: tuple[str, ...]
) -> dict[str, float]:
    """Read the values of --min-score, such as `auc=.75`, and return each minimum by score name."""
    bounds: dict[str, float] = {}
    for bound_text in bound_texts:
        score_name, _, number_text = map(str.strip, bound_text.partition("="))
        if score_name in bounds:
            raise click.BadParameter(f"{score_name} has two bounds; give one.")
        try:
            bounds[score_name] = _to_finite_float(number_text)
        except ValueError:
            score_name = ""
        if not score_name:
            raise click.BadParameter(f"{bound_text!r} is no bound; write a score as in auc=.75.")
    return bounds


def _to_finite_float(value: Any) -> float:
    """Convert a bound to a float; raise ValueError for NaN and infinity, which exclude nothing."""
    finite_number = float(value)
    if not isfinite(finite_number):
        raise ValueError(value)
    return finite_number


def _read_risk_bound(
    _context: click.Context, _option: click.Parameter, value: float | None
) -> float | None:
    try:
        return None if value is None else _to_finite_float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no bound; write a risk as in .25.") from None


bound_options = combine_options(
    click.option(
        "--fail-above",
        type=float,
        metavar="NUMBER",
        callback=_read_risk_bound,
        help="Exit code 4 unless the honest risk is at most this large: the upper end of its "
        "interval counts.",
    ),
    click.option(
        "--min-score",
        multiple=True,
        metavar="NAME=NUMBER",
        callback=_read_min_scores,
        help="Exit code 4 unless the honest score is at least this large: the lower end of its "
        "interval counts, as in auc=.75. May be given several times.",
    ),
)


def bounds_as_options(fail_above: float | None, min_score: Mapping[str, float]) -> str:
    """Return the bounds as the user would type them on the command line.

    >>> bounds_as_options(1.0000001, {"auc": 0.75})
    '--fail-above 1.0000001, --min-score auc=0.75'
    """
    risk_options = [] if fail_above is None else [f"--fail-above {fail_above:.15g}"]
    return ", ".join(
        risk_options + [f"--min-score {name}={bound:.15g}" for name, bound in min_score.items()]
    )


def add_scores_with_bound(scoring: Any, bounded_scores: Iterable[str], task: str) -> Any:
    """Return the requested scores, followed by the further scores that have a bound."""
    from truerisk.losses.loss_words import DEFAULT_LOSSES

    requested_scores = scoring if isinstance(scoring, list) else [scoring or DEFAULT_LOSSES[task]]
    added_scores = [name for name in dict.fromkeys(bounded_scores) if name not in requested_scores]
    return [*requested_scores, *added_scores] if added_scores else scoring


def refuse_invalid_bounds(
    fail_above: float | None,
    min_score: Mapping[str, float],
    measured_scales: Mapping[str, Scale],
    remedy: str = "",
) -> None:
    """Raise if the user bounds a score that is not computed, or sets a bound that it cannot reach.

    `measured_scales` maps the name of each computed loss or score to its scale. The first one is
    the loss that the risk is about.
    """
    check_present("truerisk.results.bounds")
    # This import stands in the function, so that --help works without NumPy.
    from truerisk.results.bounds import (
        AUC_SYNONYMS,
    )

    main_loss = next(iter(measured_scales))
    is_accuracy = main_loss == "accuracy" and measured_scales[main_loss].perfect == 1
    if fail_above is not None and measured_scales[main_loss].better == "larger" and not is_accuracy:
        raise click.UsageError(
            f"--fail-above bounds an error, and {main_loss} is a score, of which more is better: "
            f"write --min-score {main_loss}=NUMBER."
        )
    score_names = [name for name, scale in measured_scales.items() if scale.better == "larger"]
    complaint = f"this score is not measured here; measured are: {', '.join(score_names)}."
    if not score_names:
        complaint = f"no score is measured here, only {main_loss}, of which less is better."
        remedy = remedy or " Bound it by --fail-above NUMBER."
    for name, bound in min_score.items():
        measured_name = next(
            (
                known_name
                for known_name in (name, AUC_SYNONYMS.get(name))
                if known_name in score_names
            ),
            None,
        )
        if measured_name is None and name in measured_scales:
            option = "" if name == main_loss else f"--scoring {name} "
            raise click.UsageError(
                f"--min-score {name}: this is a loss, of which less is better, so that it has no "
                f"minimum: write {option}--fail-above NUMBER."
            )
        if measured_name is None:
            raise click.UsageError(f"--min-score {name}: {complaint}{remedy}")
        largest_value = measured_scales[measured_name].perfect
        if largest_value is not None and bound > largest_value:
            raise click.UsageError(
                f"--min-score {name}={bound:.15g}: this score is {largest_value:g} at most, so "
                "that nothing keeps the bound; write a smaller one."
            )


def judge_bounds(
    result: ResultWithBounds | None, fail_above: float | None, min_score: Mapping[str, float]
) -> int:
    """Print for each bound whether the result meets it; return exit code 4 if one is missed."""
    if result is None or (fail_above is None and not min_score):
        return 0
    # This import stands in the function, so that --help works without NumPy.
    check_present("truerisk.results.bounds")
    from truerisk.results.bounds import AUC_SYNONYMS, compare_with_bound
    from truerisk.results.interval import Scale, get_honest_numbers

    honest_estimates = get_honest_numbers(result)
    refuse_invalid_bounds(
        fail_above,
        min_score,
        {
            name: Scale(honest_estimate.largest_value)
            for name, honest_estimate in honest_estimates.items()
        },
    )
    verdicts = []
    if fail_above is not None:
        honest_risk = next(iter(honest_estimates.values()))
        verdicts.append(
            compare_with_bound(honest_risk.as_error, fail_above, f"--fail-above {fail_above:.15g}")
        )
    for name, bound in min_score.items():
        honest_score = honest_estimates[name if name in honest_estimates else AUC_SYNONYMS[name]]
        verdicts.append(compare_with_bound(honest_score, bound, f"--min-score {name}={bound:.15g}"))
    for _, sentence in verdicts:  # Every bound is reported, not only the first missed one.
        print_stderr(sentence)
    return EXIT_CLAIM_OR_BOUND_MISSED if any(is_missed for is_missed, _ in verdicts) else 0

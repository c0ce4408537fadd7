"""What to conclude from an assessment, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from truerisk.core import present

if TYPE_CHECKING:
    from truerisk.api.assessment import Assessment

__all__ = ["conclude"]


def conclude(found: Assessment) -> str:
    """The winner, how wrong it is, whether the runner-up differs, and the number to report."""
    sentences = [_winner(found), _runner_up(found), _whole_choice(found)]
    return " ".join(sentence for sentence in sentences if sentence)


def _winner(found: Assessment) -> str:
    best = found.learners[found.best]
    setting = present.params_text(best.curve.best_params)
    if best.risk.value is None:
        return "No learner has a risk: fits failed for all of them."
    text = f"Use {present.clean(found.best, 40)} ({setting}): its honest {best.risk.loss} risk is "
    text += present.number(best.risk.value)
    interval = best.risk.interval
    if interval is not None:
        level = f"{100 * interval.confidence_level:g} %"
        text += (
            f", {level} interval {present.number(interval.low)} to {present.number(interval.high)}"
        )
    if best.optimism is not None:
        text += f"; the score that tuned it said {present.number(best.selected.value)}"
    return text + _against_baseline(found) + "."


def _against_baseline(found: Assessment) -> str:
    if found.baseline is None:
        return ""
    interval = found.learners[found.best].risk.interval
    base = present.number(found.baseline)
    if interval is not None and interval.high >= found.baseline:
        return (
            f"; this is not shown to be better than always answering the commonest class ({base})"
        )
    return f" (always answering the commonest class: {base})"


def _runner_up(found: Assessment) -> str:
    second = found.runner_up
    if second is None:
        return ""
    paired = found.difference(found.best, second)
    if paired is None:
        return ""
    mean, error = paired
    size = f"{present.number(abs(mean))} with standard error {present.number(error)}"
    name = present.clean(second, 40)
    if abs(mean) < 2 * error or error == 0:
        return f"The difference to {name} ({size}) is within its noise."
    return f"It beats {name} (by {size})."


def _whole_choice(found: Assessment) -> str:
    if found.choice is None or found.choice.value is None:
        return ""
    sure = present.sureness(None, found.choice.interval)
    return (
        f"Report {present.number(found.choice.value)}{sure} "
        f"if the choice among the {len(found.learners)} learners is to be counted as well."
    )

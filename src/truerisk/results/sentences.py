"""Rows and sentences that printed results, pages and the command line share."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from truerisk.core.formats import (
    escape_and_truncate,
    format_number,
    format_params,
    format_percent,
    format_risk,
    format_seconds,
)
from truerisk.core.plain_values import to_json_value

RELATED_ROWS_BY_RELATION = {
    "time": "the rows around them in time",
    "space": "the rows beside them",
    "groups": "other rows of their group",
}
"""Description of training rows related to the tested rows, by the relation the splits ignore."""


TARGET_DESCRIPTIONS = {
    "Err": "the mean risk of the procedure over training sets (Err)",
    "Err_XY": "the risk of this fitted rule (Err_XY)",
    "CER": "the risk at these very rows with fresh labels (CER)",
    "training": "the training risk only",
}


def further_scores(estimate: Any) -> list[Any]:
    """Return the further scores of a RiskEstimate, without a duplicate of its main score."""
    own_score = estimate.named_scoring, estimate.value
    return [
        score
        for score in estimate.scores.values()
        if (score.named_scoring, score.value) != own_score
    ]


def estimate_rows(estimate: Any) -> list[list[str]]:
    """Return the table rows that describe a RiskEstimate, as pairs of name and value."""
    name, value = escape_and_truncate(estimate.named_scoring, 60), format_risk(estimate.value)
    rows = [
        [name, f"{value} (larger is better)"] if estimate.greater_is_better else ["risk", value],
        ["standard error", format_risk(estimate.std_error)],
        ["interval", _format_interval(estimate.interval)],
        *(row for score in further_scores(estimate) for row in score_rows(score)),
        ["scoring", f"{estimate.named_scoring}{', pooled' if estimate.pooled else ''}"],
        ["method", estimate.method],
        ["estimates", TARGET_DESCRIPTIONS.get(estimate.target, estimate.target)],
        ["bias", estimate.bias],
        ["setting", format_params(estimate.params)],
        ["fits", str(estimate.n_fits)],
        ["seconds", format_seconds(estimate.seconds)],
        ["engine", estimate.engine],
        ["seed", str(estimate.seed)],
    ]
    for name, value in (estimate.table or {}).items():
        rows.append([name, str(value) if isinstance(value, int) else format_risk(value)])
    severities = {finding.note: finding.severity for finding in estimate.findings}
    return rows + [[severities.get(note, "note"), note] for note in estimate.notes]


def finding_lines(findings: Iterable[Any]) -> list[str]:
    """Format findings as lines of at most 100 characters, to be printed below a result."""
    wrapper = textwrap.TextWrapper(100, break_long_words=False, break_on_hyphens=False)
    return [wrapper.fill(str(finding)) for finding in findings]


def score_rows(estimate: Any) -> list[list[str]]:
    """Return two table rows for a score or a further loss: its value and its interval."""
    name, better_direction = escape_and_truncate(estimate.named_scoring, 60), estimate.scale.better
    return [
        [name, f"{format_risk(estimate.value)} ({better_direction} is better)"],
        [f"{name}, interval", _format_interval(estimate.interval)],
    ]


def _format_interval(interval: Any) -> str:
    return f"{interval} ({interval.method})" if interval else "none"


def describe_interval(interval: Any) -> str:
    """Format an `Interval` for a sentence, or say that there is none."""
    if interval is None:
        return "no interval"
    level_text = format_percent(interval.confidence_level)
    return f"{level_text} interval {format_number(interval.low)} to {format_number(interval.high)}"


def format_setting(params: Mapping[str, Any]) -> str:
    """Format a hyperparameter setting as text.

    The text is the same before a result is written and after it is read.
    """
    return escape_and_truncate(format_params(to_json_value(params)), 120)


NO_SELECTION_TEXT = "one setting: nothing was selected"


def best_set_heading(level: str) -> str:
    """Return the heading of the column that marks the learners or settings that may be the best."""
    return f"best?: whether these rows leave open that it is the best ({level}, one-sided)"


WHOLE_SEARCH_LABEL = "whole search"  # Name of the table row for the choice among all learners.
SELECTED_SCORE_LABEL = "selected, in the rows of further scores: the score of the chosen setting"
METHODS_TESTING_SEEN_ROWS = ("bootstrap", ".632", "optimism", "swapping")


def describe_honest_risk(risk_noun: str, method_name: str, *, is_tuned: bool = True) -> str:
    """Describe on which rows the honest risk or score was measured, given the testing method.

    If no learner was tuned, it is the risk of fitting only.

    >>> describe_honest_risk("risk", "10-fold")
    'risk on rows used neither for tuning nor for fitting'
    >>> describe_honest_risk("score", ".632+ (B=50)")
    'score in part on rows that were used for tuning or fitting'
    >>> describe_honest_risk("risk", "10-fold", is_tuned=False)
    'risk on rows not used for fitting'
    """
    if method_name.startswith(METHODS_TESTING_SEEN_ROWS):
        return (
            f"{risk_noun} in part on rows that were used for "
            f"{'tuning or ' if is_tuned else ''}fitting"
        )
    return (
        f"{risk_noun} on rows {'used neither for tuning nor' if is_tuned else 'not used'} "
        "for fitting"
    )


def describe_testing_splits(method_name: str) -> str:
    """Describe the splits of a testing method in words that need no documentation.

    >>> describe_testing_splits("pairs"), describe_testing_splits("10-fold")
    ('leaving out pairs of these folds', '10-fold')
    """
    return (
        "leaving out pairs of these folds"
        if method_name == "pairs"
        else escape_and_truncate(method_name, 40)
    )

"""Rows and sentences that printed results, pages and the command line share."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from truerisk.core.formats import clean, params_text, risk, seconds
from truerisk.core.plain_values import plain

MODELS_SAW = {
    "time": "the rows around them in time",
    "space": "the rows beside them",
    "groups": "other rows of their group",
}
"""The rows related to the tested ones that models saw, by what the splits mix."""


TARGETS = {
    "Err": "the mean risk of the procedure over training sets (Err)",
    "Err_XY": "the risk of this fitted rule (Err_XY)",
    "CER": "the risk at these very rows with fresh labels (CER)",
    "training": "the training risk only",
}


def further(estimate: Any) -> list[Any]:
    """Return the scores of a RiskEstimate except the one that equals the estimate itself."""
    own = estimate.named_scoring, estimate.value
    return [each for each in estimate.scores.values() if (each.named_scoring, each.value) != own]


def estimate_rows(estimate: Any) -> list[list[str]]:
    """Return the lines that describe a RiskEstimate, as pairs of name and value."""
    name, value = clean(estimate.named_scoring, 60), risk(estimate.value)
    rows = [
        [name, f"{value} (larger is better)"] if estimate.greater_is_better else ["risk", value],
        ["standard error", risk(estimate.std_error)],
        ["interval", _interval(estimate.interval)],
        *(row for score in further(estimate) for row in scale_rows(score)),
        ["scoring", f"{estimate.named_scoring}{', pooled' if estimate.pooled else ''}"],
        ["method", estimate.method],
        ["estimates", TARGETS.get(estimate.target, estimate.target)],
        ["bias", estimate.bias],
        ["setting", params_text(estimate.params)],
        ["fits", str(estimate.n_fits)],
        ["seconds", seconds(estimate.seconds)],
        ["engine", estimate.engine],
        ["seed", str(estimate.seed)],
    ]
    for name, value in (estimate.table or {}).items():
        rows.append([name, str(value) if isinstance(value, int) else risk(value)])
    found = {finding.note: finding.severity for finding in estimate.findings}
    return rows + [[found.get(note, "note"), note] for note in estimate.notes]


def finding_lines(findings: Iterable[Any]) -> list[str]:
    """Return findings as the lines that are printed below a result."""
    wide = textwrap.TextWrapper(100, break_long_words=False, break_on_hyphens=False)
    return [wide.fill(str(each)) for each in findings]


def scale_rows(estimate: Any) -> list[list[str]]:
    """Return a score, or a further loss, with its interval."""
    name, better = clean(estimate.named_scoring, 60), estimate.scale.better
    return [
        [name, f"{risk(estimate.value)} ({better} is better)"],
        [f"{name}, interval", _interval(estimate.interval)],
    ]


def _interval(interval: Any) -> str:
    return f"{interval} ({interval.method})" if interval else "none"


def setting_text(params: Mapping[str, Any]) -> str:
    """Return a setting as text, which is the same before writing and after reading it."""
    return clean(params_text(plain(params)), 120)


NOTHING_CHOSEN = "one setting: nothing was selected"


def may_be_best(level: str) -> str:
    """Return the heading of the column that marks the confidence set of the best."""
    return f"best?: whether these rows leave open that it is the best ({level}, one-sided)"


WHOLE_SEARCH = "whole search"  # the choice among all learners, as an entry in a column of learners
SELECTED_SCORE = "selected, in the rows of further scores: the score of the chosen setting"
SEES_ITS_ROWS = ("bootstrap", ".632", "optimism", "swapping")


def honest_risk(noun: str, name: str, *, tuned: bool = True) -> str:
    """Return a description of the honest risk, or score, of an assessment, by its testing method.

    If no learner was tuned, it is the risk of fitting only.

    >>> honest_risk("risk", "10-fold")
    'risk on rows used neither for tuning nor for fitting'
    >>> honest_risk("score", ".632+ (B=50)")
    'score in part on rows that were used for tuning or fitting'
    >>> honest_risk("risk", "10-fold", tuned=False)
    'risk on rows not used for fitting'
    """
    if name.startswith(SEES_ITS_ROWS):
        return f"{noun} in part on rows that were used for {'tuning or ' if tuned else ''}fitting"
    return f"{noun} on rows {'used neither for tuning nor' if tuned else 'not used'} for fitting"


def tested_by(name: str) -> str:
    """Return the splits that test, in terms that a reader understands without the documentation.

    >>> tested_by("pairs"), tested_by("10-fold")
    ('leaving out pairs of these folds', '10-fold')
    """
    return "leaving out pairs of these folds" if name == "pairs" else clean(name, 40)

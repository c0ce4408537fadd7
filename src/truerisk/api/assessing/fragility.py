"""What makes the answer of an assessment fragile: too few rows, leaks, an unstable choice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from truerisk.api.assessing.tested_learners import TestedLearners
from truerisk.api.findings.finding import Finding, by_severity
from truerisk.api.findings.near_copies import neighbour_findings
from truerisk.api.findings.on_columns import column_findings, columns_of
from truerisk.api.findings.on_splits import row_findings, split_findings
from truerisk.api.findings.selected_columns import selection_findings
from truerisk.core.present import clean, number, params_text

__all__ = ["fragile"]

WIDE = 0.2  # of what the loss can reach, from end to end of the interval
FEWEST_PER_CLASS = 10
RARELY = 1 / 3  # of the outer splits
QUIETLY = ("scaled-outside", "columns-unseen")  # a table of an assessment may come as it is


def fragile(found: TestedLearners) -> tuple[Finding, ...]:
    """Findings on rows, columns, splits and the choice, the most serious first."""
    problem = found.problem
    data = problem.data
    columns = columns_of(data.X)
    if columns is not None and len(found.column_names) == len(columns.names):
        names = tuple(clean(name, 60) for name in found.column_names)
        by_place = dict(zip(columns.names, names, strict=True))
        numbered = tuple(by_place[name] for name in columns.numbered)
        columns = replace(columns, names=names, numbered=numbered, named=True)
    settings = sum(len(one.curve) for one in found.learners.values())
    outer = found.learners[found.best].answers
    findings = [
        *column_findings(data, columns),
        *selection_findings(data, columns),
        *neighbour_findings(data, columns),
        *row_findings(data, settings),
        *([] if outer is None else split_findings(data, outer.plan)),
        *_few_of_a_class(found),
        *_wide(found),
        *_unstable(found),
    ]
    return by_severity([one for one in findings if one.code not in QUIETLY])


def _few_of_a_class(found: TestedLearners) -> Iterator[Finding]:
    data = found.problem.data
    if data.codes is None:
        return
    sizes = [int((data.codes == code).sum()) for code in range(data.n_classes)]
    least = min(range(data.n_classes), key=sizes.__getitem__)
    if sizes[least] < FEWEST_PER_CLASS:
        yield Finding(
            "few-rows-of-a-class",
            f"Class {clean(str(data.label(least)), 60)!r} has {sizes[least]} rows: a fold holds "
            "one of them, or none.",
            "Gather more of it; nothing can be said of how well it is recognised.",
        )


def _wide(found: TestedLearners) -> Iterator[Finding]:
    """An interval that leaves most of the question open, and the rows that would halve it."""
    risk = found.learners[found.best].risk if found.choice is None else found.choice
    loss, interval = found.problem.loss, risk.interval
    if interval is None or loss.lower is None or loss.upper is None:
        return
    scale = loss.scale
    shown = scale.interval(interval)
    assert shown is not None
    if interval.width > WIDE * (loss.upper - loss.lower):
        yield Finding(
            "interval-wide",
            f"The interval reaches from {number(shown.low)} to {number(shown.high)}: "
            f"{found.n_rows} rows leave the {scale.noun} open.",
            f"About {4 * found.n_rows} rows would halve it (`truerisk plan`).",
        )


def _unstable(found: TestedLearners) -> Iterator[Finding]:
    """A setting that few of the outer splits chose, where they had several to choose from."""
    best = found.learners[found.best]
    stability = best.stability
    if stability.n_splits < 3 or stability.n_distinct < 3 or stability.agreement >= RARELY:
        return
    yield Finding(
        "setting-unstable",
        f"{clean(params_text(best.curve.best_params), 80)} was chosen in "
        f"{round(stability.agreement * stability.n_splits)} of {stability.n_splits} outer splits, "
        f"which chose {stability.n_distinct} different settings.",
        "The risk counts this; do not read the setting itself as a result.",
    )

"""Find what makes the result of an assessment fragile: rows, columns, splits and the choice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from truerisk.assessment.assessment import Assessment
from truerisk.checks.columns import column_findings, column_view
from truerisk.checks.rows import rarest_class_findings
from truerisk.checks.selected_columns import selection_findings
from truerisk.checks.splits import candidate_count_findings, split_findings
from truerisk.core import formats
from truerisk.core.formats import escape_and_truncate, format_params
from truerisk.losses.loss import Loss
from truerisk.results.finding import Finding, sort_by_severity

WIDE_INTERVAL_SHARE = (
    0.2  # An interval is wide if it covers more than this share of the loss's range.
)
# The chosen setting is unstable if a smaller share of the outer splits chooses it.
RARE_SETTING_SHARE = 1 / 3
# Findings with these codes are left out here. They concern only the table, and folds that truerisk
# draws itself.
OMITTED_FINDING_CODES = ("scaled-outside", "columns-unseen", "few-rows-per-fold")


def fragility_findings(assessment: Assessment) -> tuple[Finding, ...]:
    """Return findings on rows, columns, splits and the choice, the most serious finding first."""
    if assessment.problem is None:
        return ()
    data = assessment.problem.data
    columns = column_view(data.X)
    if columns is not None and len(assessment.column_names) == len(columns.names):
        names = tuple(escape_and_truncate(name, 60) for name in assessment.column_names)
        name_of_column = dict(zip(columns.names, names, strict=True))
        numeric_names = tuple(name_of_column[name] for name in columns.numeric_names)
        columns = replace(columns, names=names, numeric_names=numeric_names, has_names=True)
    n_settings = sum(len(learner.curve) for learner in assessment.learners.values())
    outer_answers = assessment.learners[assessment.best].answers
    earlier_findings = [*assessment.warned_findings]
    if assessment.checked:
        earlier_findings += [*column_findings(data, columns), *selection_findings(data, columns)]
        if all(finding.code != "few-events" for finding in earlier_findings):
            earlier_findings += rarest_class_findings(data)
    findings = [
        *earlier_findings,
        *candidate_count_findings(data, n_settings),
        *([] if outer_answers is None else split_findings(data, outer_answers.plan)),
        *_wide_interval_findings(assessment, assessment.problem.loss),
        *_unstable_setting_findings(assessment),
    ]
    return sort_by_severity(
        [finding for finding in findings if finding.code not in OMITTED_FINDING_CODES]
    )


def _wide_interval_findings(assessment: Assessment, loss: Loss) -> Iterator[Finding]:
    """Yield a finding if the interval is wide, with the number of rows that would halve it."""
    interval = assessment.report.interval
    if interval is None or loss.lower is None or loss.upper is None:
        return
    if interval.width > WIDE_INTERVAL_SHARE * (loss.upper - loss.lower):
        yield Finding(
            "interval-wide",
            f"The interval reaches from {formats.format_risk(interval.low)} to "
            f"{formats.format_risk(interval.high)}: {assessment.n_rows} rows are too few "
            f"for a precise {loss.scale.noun}.",
            f"About {4 * assessment.n_rows} rows would halve its width (`truerisk plan`).",
        )


def _unstable_setting_findings(assessment: Assessment) -> Iterator[Finding]:
    """Yield a finding if few outer splits chose the setting that is chosen on all rows."""
    best_learner = assessment.learners[assessment.best]
    stability = best_learner.stability
    if (
        stability.n_splits < 3
        or stability.n_distinct < 3
        or stability.agreement >= RARE_SETTING_SHARE
    ):
        return
    yield Finding(
        "setting-unstable",
        f"{escape_and_truncate(format_params(best_learner.curve.best_params), 80)} was chosen in "
        f"{round(stability.agreement * stability.n_splits)} of {stability.n_splits} outer splits, "
        f"which chose {stability.n_distinct} different settings.",
        "The risk takes this into account; do not read the setting itself as a result.",
    )

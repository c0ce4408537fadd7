"""Find what makes the result of an assessment fragile: rows, columns, splits and the choice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from truerisk.assessment.assessment import Assessment
from truerisk.checks.columns import column_findings, columns_of
from truerisk.checks.rows import rarest_class_findings
from truerisk.checks.selected_columns import selection_findings
from truerisk.checks.splits import row_findings, split_findings
from truerisk.core import formats
from truerisk.core.formats import clean, params_text
from truerisk.losses.loss import Loss
from truerisk.results.finding import Finding, by_severity

WIDE = 0.2  # an interval over more of the loss's range than this share is wide
RARELY = 1 / 3  # a setting that wins a smaller share of the outer splits is unstable
# findings that concern the table and our own folds
QUIETLY = ("scaled-outside", "columns-unseen", "few-rows-per-fold")


def fragile(tested: Assessment) -> tuple[Finding, ...]:
    """Return findings on rows, columns, splits and the choice, the most serious first."""
    if tested.problem is None:
        return ()
    data = tested.problem.data
    columns = columns_of(data.X)
    if columns is not None and len(tested.column_names) == len(columns.names):
        names = tuple(clean(name, 60) for name in tested.column_names)
        by_place = dict(zip(columns.names, names, strict=True))
        numbered = tuple(by_place[name] for name in columns.numbered)
        columns = replace(columns, names=names, numbered=numbered, named=True)
    settings = sum(len(finding.curve) for finding in tested.learners.values())
    outer = tested.learners[tested.best].answers
    seen = [*tested.warned_findings]
    if tested.checked:
        seen += [*column_findings(data, columns), *selection_findings(data, columns)]
        if all(finding.code != "few-events" for finding in seen):
            seen += rarest_class_findings(data)
    findings = [
        *seen,
        *row_findings(data, settings),
        *([] if outer is None else split_findings(data, outer.plan)),
        *_wide(tested, tested.problem.loss),
        *_unstable(tested),
    ]
    return by_severity([finding for finding in findings if finding.code not in QUIETLY])


def _wide(tested: Assessment, loss: Loss) -> Iterator[Finding]:
    """Yield a finding if the interval is wide, with the number of rows that would halve it."""
    interval = tested.report.interval
    if interval is None or loss.lower is None or loss.upper is None:
        return
    if interval.width > WIDE * (loss.upper - loss.lower):
        yield Finding(
            "interval-wide",
            f"The interval reaches from {formats.risk(interval.low)} to "
            f"{formats.risk(interval.high)}: {tested.n_rows} rows leave the "
            f"{loss.scale.noun} open.",
            f"About {4 * tested.n_rows} rows would halve it (`truerisk plan`).",
        )


def _unstable(tested: Assessment) -> Iterator[Finding]:
    """Yield a finding if few of the outer splits chose the setting, out of several."""
    best = tested.learners[tested.best]
    stability = best.stability
    if stability.n_splits < 3 or stability.n_distinct < 3 or stability.agreement >= RARELY:
        return
    yield Finding(
        "setting-unstable",
        f"{clean(params_text(best.curve.best_params), 80)} was chosen in "
        f"{round(stability.agreement * stability.n_splits)} of {stability.n_splits} outer splits, "
        f"which chose {stability.n_distinct} different settings.",
        "The risk takes this into account; do not read the setting itself as a result.",
    )

"""Result of `audit_table`: the claim of a search, its honest value, and who else may be best."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from truerisk.core import formats, tables
from truerisk.core.formats import unsigned_number
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.external.adaptive import OrderTest
from truerisk.results.bounds import HonestNumber, numbers_of
from truerisk.results.finding import Finding
from truerisk.results.interval import Interval, ResultOnScale, ResultWithBounds, Scale
from truerisk.results.records import (
    FINITE_RANGE,
    Column,
    Count,
    NonNegative,
    PerfectScore,
    Record,
    Share,
)

LINE_WIDTH = 88
# At most this many candidates are printed with their difference from the selected one.
MOST_SHOWN = 10

FiniteNumber = Annotated[float, FINITE_RANGE]


@frozen
class TableRisk(ResultOnScale, Record):
    """A risk or score that was computed from a table, with its interval if it has one.

    Parameters
    ----------
    value : float
        The value, on the requested scale.
    method : str
        How it was computed.
    scoring : str
        Name of the loss or score.
    candidate : str
        The candidate that the value is about.
    interval : Interval, optional
        Its interval.
    std_error : float, optional
        Its standard error.
    notes : tuple of str, optional
        Notes for the reader.
    perfect : float, optional
        The score of a perfect model, as in `RiskEstimate`; None for a loss.
    """

    value: FiniteNumber
    method: str
    scoring: str
    candidate: str
    interval: Interval | None = None
    std_error: NonNegative | None = None
    notes: tuple[str, ...] = ()
    perfect: PerfectScore | None = None

    @property
    def named_scoring(self) -> str:
        """Name of the score, without a class, because a table does not say which class is rated."""
        return self.scoring

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        interval_text = "" if self.interval is None else f" {self.interval}"
        name = self.scale.name_for(self.scoring)
        return f"{name} {formats.format_number(self.value)}{interval_text} ({self.method})"


@frozen
class CandidateDifference(Record):
    """Difference of a candidate's value from that of the selected one, with its interval.

    Parameters
    ----------
    candidate : str
        Name of the candidate.
    value : float
        The value of the candidate, on the requested scale.
    difference : float
        Its value minus that of the selected candidate.
    low, high : float or None
        The ends of the interval; all intervals of an audit hold together with its confidence. None
        if there is no interval.
    may_be_best : bool
        True if the candidate is in the confidence set for the best one.
    """

    candidate: str
    value: FiniteNumber
    difference: FiniteNumber
    low: FiniteNumber | None
    high: FiniteNumber | None
    may_be_best: bool

    def __str__(self) -> str:
        interval = "no interval"
        if self.low is not None and self.high is not None:
            interval = str(Interval(self.low, self.high, ""))
        difference = formats.signed_number(self.difference, self.value)
        may_be_best = "may" if self.may_be_best else "can hardly"
        return f"{self.candidate}: {difference} {interval}, {may_be_best} be the best"


@frozen(eq=False)
class TableAudit(ResultWithBounds, Record):
    """Result of `audit_table`, on the scale of the score.

    Parameters
    ----------
    selected : TableRisk
        The candidate with the best value on these rows, and that value, which is optimistic.
    honest : TableRisk
        The value corrected for the choice, with its interval (`bbc`).
    differences : tuple of CandidateDifference
        Every other candidate against the selected one, the best first.
    findings : tuple of Finding
        What else a reader should know, the most serious finding first.
    n_candidates : int
        The number of candidates.
    n_rows : int
        The number of rows.
    n_groups : int or None
        The number of groups, if there are any.
    confidence_level : float
        The nominal coverage of the intervals and of the confidence set.
    seed : int
        The seed of the bootstrap.
    conclusion : str
        The conclusion in sentences.
    order_test : OrderTest, optional
        Whether candidates depend on earlier scores, if their order is known.
    notes : tuple of str, optional
        Notes on how the table was read.
    source : str, optional
        Name of the file.
    command : str, optional
        The command that was typed, if there was one.

    See Also
    --------
    audit_table : Audit a table of losses or predictions.
    Audit : Result of an audit of a fitted search.

    Examples
    --------
    >>> import numpy as np
    >>> import truerisk as tr
    >>> losses = np.random.default_rng(0).integers(0, 2, size=(100, 1000))
    >>> u = tr.audit_table(losses)
    >>> u.selected.candidate, u.selected.value, round(u.honest.value, 2), len(u.best_set())
    ('20', 0.46, 0.5, 95)
    """

    schema: ClassVar[str] = "truerisk.table-audit/2"
    derived: ClassVar[tuple[str, ...]] = ("optimism", "refuted")

    selected: TableRisk
    honest: TableRisk
    differences: Annotated[tuple[CandidateDifference, ...], Column(most=100_000)]
    findings: tuple[Finding, ...]
    n_candidates: Count
    n_rows: Count
    n_groups: Count | None
    confidence_level: Share
    seed: Count
    conclusion: str
    order_test: OrderTest | None = None
    notes: tuple[str, ...] = ()
    source: str = ""
    command: str = ""

    @property
    def scale(self) -> Scale:
        """Scale of all values: a loss, or a score with its perfect value."""
        return Scale(self.selected.perfect)

    @property
    def optimism(self) -> float | None:
        """Amount by which the selected candidate's value is better than its corrected value."""
        return self.scale.compute_optimism(self.honest.value, self.selected.value)

    @property
    def refuted(self) -> bool | None:
        """True if the selected candidate's own value is outside the honest interval.

        It is None if there is no interval.
        """
        interval = self.honest.interval
        return None if interval is None else self.selected.value not in interval

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of all findings."""
        return tuple(finding.code for finding in self.findings)

    def best_set(self) -> list[str]:
        """Return the candidates that may be the best one, the selected candidate first.

        The set contains the candidate with the best true value with the probability
        `confidence_level`.

        Returns
        -------
        list of str
            Names of candidates.
        """
        return [self.selected.candidate, *(d.candidate for d in self.differences if d.may_be_best)]

    @property
    def _header(self) -> list[str]:
        return ["", self.scale.column_heading(self.selected.scoring), "interval", "by"]

    def _rows(self) -> list[list[str]]:
        named = {"selected": self.selected, "honest": self.honest}
        return [
            [name, formats.format_number(risk.value), str(risk.interval or "none"), risk.method]
            for name, risk in named.items()
        ]

    def _difference_rows(self) -> list[list[str]]:
        return [
            [
                d.candidate,
                formats.format_number(d.value),
                formats.signed_number(d.difference, d.value),
                "none"
                if d.low is None or d.high is None
                else str(Interval(d.low, d.high, "", self.confidence_level)),
                "yes" if d.may_be_best else "no",
            ]
            for d in self.differences[:MOST_SHOWN]
        ]

    @property
    def _difference_header(self) -> list[str]:
        value_heading = self.scale.short_name(self.selected.scoring)
        return ["candidate", value_heading, "− selected", "interval", "may be best"]

    @property
    def title(self) -> str:
        """Description of the table: candidates, rows, groups, and the selected candidate."""
        groups = "" if self.n_groups is None else f" in {self.n_groups} groups"
        return (
            f"{self.n_candidates} candidates on {self.n_rows} rows{groups}, selected "
            f"{formats.escape_and_truncate(self.selected.candidate, 60)}"
        )

    def __str__(self) -> str:
        findings = [
            textwrap.fill(f"- {finding}", LINE_WIDTH, subsequent_indent="  ")
            for finding in self.findings
        ]
        parts = [
            textwrap.fill(self.conclusion, LINE_WIDTH),
            self.title,
            tables.text_table(self._header, self._rows()),
        ]
        if self.differences:
            hidden = len(self.differences) - MOST_SHOWN
            parts.append(tables.text_table(self._difference_header, self._difference_rows()))
            if hidden > 0:
                parts[-1] += f"\n... and {hidden} more in `differences`"
        parts.append("\n".join(findings or ["No findings."]))
        notes = [f"note: {note}" for note in (*self.honest.notes, *self.notes)]
        return "\n\n".join(parts + (["\n".join(notes)] if notes else []))

    @override
    def blocks(self) -> list[tables.Block]:
        values = tables.Block(f"{self.conclusion} {self.title}", self._header, self._rows())
        level = formats.format_percent(self.confidence_level)
        caption = (
            f"The {min(MOST_SHOWN, len(self.differences))} candidates next to the selected one; "
            f"all {len(self.differences)} intervals hold together with {level}."
        )
        differences = tables.Block(caption, self._difference_header, self._difference_rows())
        findings = tables.Block(
            "Findings",
            ["severity", "what", "what to do", "code"],
            [[f.severity, f.sentence, f.remedy, f.code] for f in self.findings],
        )
        notes = tables.Block("Notes", ["note"], [[n] for n in (*self.honest.notes, *self.notes)])
        return [
            block
            for block, is_needed in (
                (values, True),
                (differences, bool(self.differences)),
                (findings, bool(self.findings)),
                (notes, bool(notes.rows)),
            )
            if is_needed
        ]

    @property
    def _honest_numbers(self) -> Mapping[str, HonestNumber]:
        return numbers_of(self.honest)

    def _metrics(self) -> Mapping[str, Any]:
        honest = self.honest.named(self.honest.scoring)
        return {**honest, "selected": self.selected.value, "optimism": self.optimism}


def conclusion_of(audit: TableAudit) -> str:
    """Describe the result of an audit of a table in two or three sentences."""
    scoring = audit.selected.scoring
    name = "mean loss" if scoring == "loss" else audit.scale.name_for(scoring)
    candidate = formats.escape_and_truncate(audit.selected.candidate, 60)
    interval = audit.honest.interval
    honest = f"{formats.format_number(audit.honest.value)} {interval or '(no interval)'}"
    optimism = audit.optimism or 0.0
    text = (
        f"Candidate {candidate} has the best {name} of {audit.n_candidates} candidates, "
        f"{formats.format_number(audit.selected.value)}. Corrected for this choice it is {honest}"
    )
    if abs(optimism) > 1e-12:
        direction = "optimistic" if optimism > 0 else "pessimistic"
        text += f", so the best {audit.scale.noun} is {direction} by "
        text += unsigned_number(abs(optimism), audit.selected.value)
    n_best = len(audit.best_set())
    text += "."
    if audit.n_candidates > 1 and any(d.low is not None for d in audit.differences):
        others = (
            "No other candidate may be the best one."
            if n_best == 1
            else f"{n_best - 1} other{'s' if n_best > 2 else ''} may be the best one."
        )
        text += f" {others}"
    return text

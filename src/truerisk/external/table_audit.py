"""Result of `audit_table`: the claim of a search, its honest value, and the possible winners."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import field
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
from truerisk.results.sentences import describe_interval

LINE_WIDTH = 88
# At most this many candidates are printed with their difference from the selected one.
MOST_SHOWN = 10
MOST_NAMED = 40  # of further candidates that may be the best

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
    positive : label, optional
        The class to which the score refers, if it is a score of one class.
    """

    value: FiniteNumber
    method: str
    scoring: str
    candidate: str
    interval: Interval | None = None
    std_error: NonNegative | None = None
    notes: tuple[str, ...] = ()
    perfect: PerfectScore | None = None
    positive: Any = None

    @property
    def named_scoring(self) -> str:
        """Name of the score, with the class to which it refers: "f1 of 'bad'"."""
        return formats.score_of_class(self.scoring, self.positive)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        interval_text = "" if self.interval is None else f" {self.interval}"
        name = self.scale.name_for(self.named_scoring)
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
        The ends of the interval. All intervals of an audit hold at once with its confidence level.
        None if there is no interval.
    may_be_best : bool
        True if the candidate is in the confidence set for the best one.
    """

    candidate: str
    value: FiniteNumber
    difference: FiniteNumber
    low: FiniteNumber | None
    high: FiniteNumber | None
    may_be_best: bool

    @property
    def interval(self) -> Interval | None:
        """The interval of the difference, or None if there is none."""
        return None if self.low is None or self.high is None else Interval(self.low, self.high, "")

    @property
    def _cells(self) -> list[str]:
        """Cells of the difference in a printed table."""
        return [
            self.candidate,
            formats.format_number(self.value),
            formats.signed_number(self.difference, self.value),
            str(self.interval or "none"),
            "yes" if self.may_be_best else "no",
        ]

    def __str__(self) -> str:
        candidate, _, difference, interval, _ = self._cells
        ability = "may" if self.may_be_best else "can hardly"
        name = formats.escape_and_truncate(candidate)
        return f"{name}: {difference} {interval}, {ability} be the best"


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
        Problems that were found, the most serious one first.
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
        Result of the test whether candidates depend on earlier scores. None if their order is
        unknown, if there are fewer than ten candidates, or if all have equal risks.
    is_declared_adaptive : bool, default=False
        True if the search was declared adaptive by `adaptive=True`.
    notes : tuple of str, optional
        Notes on how the table was read.
    arguments : mapping of str to str, optional
        The arguments of the call that differ from the defaults, as Python source.
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
    is_declared_adaptive: bool = False
    notes: tuple[str, ...] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
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
    def is_adaptive(self) -> bool:
        """True if the search was declared adaptive, or if the test of the order found it to be."""
        return self.is_declared_adaptive or bool(self.order_test and self.order_test.is_adaptive)

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of all findings."""
        return tuple(finding.code for finding in self.findings)

    def best_set(self) -> list[str]:
        """Return the candidates that may be the best one, the selected candidate first.

        The set contains the candidate with the best true value with a probability of at least
        `confidence_level`. It contains all candidates if the search is adaptive, or if the
        influences of the rows on the score are unknown.

        Returns
        -------
        list of str
            Names of candidates.
        """
        return [self.selected.candidate, *(d.candidate for d in self.differences if d.may_be_best)]

    @property
    def n_units(self) -> int:
        """The number of independent units: groups if there are any, and rows otherwise."""
        return self.n_rows if self.n_groups is None else self.n_groups

    @property
    def unit(self) -> str:
        """The name of an independent unit."""
        return "row" if self.n_groups is None else "group"

    @property
    def title(self) -> str:
        """Description of the table: candidates, rows, groups, and the selected candidate."""
        groups = "" if self.n_groups is None else f" in {self.n_groups} groups"
        return (
            f"{self.n_candidates} candidates on {self.n_rows} rows{groups}, selected "
            f"{formats.escape_and_truncate(self.selected.candidate, 60)}"
        )

    @property
    def number_tables(self) -> list[tables.Block]:
        """The values, and the best of the other candidates if there are any."""
        scoring = self.selected.named_scoring
        rows = [
            [name, formats.format_number(risk.value), str(risk.interval or "none"), risk.method]
            for name, risk in (("selected", self.selected), ("honest", self.honest))
        ]
        values_header = ["", self.scale.column_heading(scoring), "interval", "by"]
        values = tables.Block(self.title, values_header, rows)
        if not self.differences:
            return [values]
        shown = self.differences[:MOST_SHOWN]
        is_single = len(self.differences) == 1
        best = "next best candidate" if is_single else f"{len(shown)} best candidates"
        caption = f"The {best} after the selected one"
        if shown[0].interval is not None:
            intervals = f"all {len(self.differences)} intervals hold at once"
            hold = "its interval holds" if is_single else intervals
            caption += f"; {hold} with {formats.format_percent(self.confidence_level)}"
        value_heading = self.scale.short_name(scoring)
        header = ["candidate", value_heading, "− selected", "interval", "may be best"]
        return [values, tables.Block(f"{caption}.", header, [d._cells for d in shown])]

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Notes on the honest value and on the table."""
        is_excluded_in_interval = [
            not d.may_be_best and d.low is not None and d.high is not None and d.low <= 0 <= d.high
            for d in self.differences[:MOST_SHOWN]
        ]
        one_sided = (ONE_SIDED_NOTE,) if any(is_excluded_in_interval) else ()
        return *self.honest.notes, *self.notes, *one_sided

    def __str__(self) -> str:
        values, *differences = (block.text for block in self.number_tables)
        hidden = len(self.differences) - MOST_SHOWN
        if hidden > 0:
            differences[-1] += f"\n... and {hidden} more in `differences`"
            differences.append(textwrap.fill(name_best_not_shown(self), LINE_WIDTH))
        findings = [
            textwrap.fill(f"- {finding}", LINE_WIDTH, subsequent_indent="  ")
            for finding in self.findings
        ]
        parts = [textwrap.fill(self.conclusion, LINE_WIDTH), self.title, values, *differences]
        parts.append("\n".join(findings or ["No findings."]))
        parts.append("\n".join(f"note: {note}" for note in self.all_notes))
        return "\n\n".join(filter(None, parts))

    @override
    def blocks(self) -> list[tables.Block]:
        values, *differences = self.number_tables
        findings = tables.Block(
            "Findings",
            ["severity", "what", "what to do", "code"],
            [[f.severity, f.sentence, f.remedy, f.code] for f in self.findings],
        )
        notes = tables.Block("Notes", [""], [[note] for note in self.all_notes])
        sentences = f"{self.conclusion} {self.title}"
        lists = [block for block in (findings, notes) if block.rows]
        first = tables.blocks_with_caption(sentences, values.head, values.rows)
        return [*first, *differences, *lists]

    @property
    def _honest_numbers(self) -> Mapping[str, HonestNumber]:
        return numbers_of(self.honest)

    def _metrics(self) -> Mapping[str, Any]:
        honest = self.honest.named(self.honest.scoring)
        return {**honest, "selected": self.selected.value, "optimism": self.optimism}


ONE_SIDED_NOTE = (
    "what may be the best is decided by a one-sided test, which may exclude a candidate although "
    "the interval of its difference contains 0"
)


def conclusion_of(audit: TableAudit) -> str:
    """Describe the result of an audit of a table in sentences, in the form of those of `audit`."""
    scoring, honest, optimism = audit.selected.named_scoring, audit.honest, audit.optimism or 0.0
    name = "mean loss" if scoring == "loss" else audit.scale.name_for(scoring)
    candidate = formats.escape_and_truncate(audit.selected.candidate, 60)
    # The correction treats the candidates as fixed, so it is too small for an adaptive search.
    at_best, at_least = (" at best", "at least ") if audit.is_adaptive else ("", "")
    rank = f", the best of {audit.n_candidates} candidates" if audit.n_candidates > 1 else ""
    rows = "new rows" if audit.n_groups is None else "rows of new groups"
    text = (
        f"Expect the {name} on {rows} to be {formats.format_number(honest.value)}{at_best} "
        f"({describe_interval(honest.interval)}) for candidate {candidate}. In the table it is "
        f"{formats.format_number(audit.selected.value)}{rank}, which is "
    )
    if abs(optimism) > 1e-12:
        size = unsigned_number(abs(optimism), audit.selected.value)
        text += f"{at_least}{size} too good." if optimism > 0 else f"{size} worse."
    else:
        text += "the same."
    if audit.refuted:
        text += " It lies outside the interval, so it is refuted."
    if not any(d.low is not None for d in audit.differences):
        return text
    others = [
        formats.escape_and_truncate(name, 60)
        for name in audit.best_set()
        if name != audit.selected.candidate
    ]
    if not others:
        return f"{text} No other candidate may be the best one."
    named = formats.join_words(others) if len(others) <= 3 else f"{len(others)} other candidates"
    return f"{text} {named} may be the best one, too."


def name_best_not_shown(audit: TableAudit) -> str:
    """Return a sentence with the candidates that may be the best, but are not in the printed table.

    The sentence is empty if there are none.
    """
    names = [
        formats.escape_and_truncate(d.candidate, 60)
        for d in audit.differences[MOST_SHOWN:]
        if d.may_be_best and d.low is not None
    ]
    if not names:
        return ""
    more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return f"Not shown, but may be the best: {formats.join_words([*names[:MOST_NAMED], *more])}."

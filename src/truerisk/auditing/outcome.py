"""Result of an audit of a fitted search: its claim, the honest risk, and the findings."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import field
from math import isfinite
from typing import Annotated, Any, ClassVar

from truerisk.core import formats, tables
from truerisk.core.formats import unsigned_number
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.results.bounds import HonestNumber, numbers_of
from truerisk.results.finding import Finding
from truerisk.results.interval import (
    Interval,
    ReportedValue,
    ResultOnScale,
    ResultWithBounds,
    Scale,
)
from truerisk.results.records import (
    FINITE_RANGE,
    Column,
    Count,
    NonNegative,
    PerfectScore,
    Record,
    Share,
)
from truerisk.results.results import RiskEstimate
from truerisk.results.sentences import RELATED_ROWS_BY_RELATION, describe_interval
from truerisk.search.related_rows import RelationKind

LINE_WIDTH = 88
NOT_REFUTED_TEXT = "it lies in the interval, so these rows do not refute it"

UNCORRECTED_FINDINGS = {
    "selection-outside": "the columns were selected before the search",
    "duplicate-rows": "copies of a row are one case",
    "column-predicts-alone": "the column that predicts y is not known when a prediction is made",
}
"""Findings for which no risk is corrected, each with the condition that makes it too good."""


FiniteNumber = Annotated[float, FINITE_RANGE]


@frozen
class DeclaredOutcome(ResultOnScale, Record):
    """Value of a risk or score that was computed from the search's own scores.

    Without rows the value has no interval.

    `value`, `perfect` and `positive` refer to the score of the search, as in `RiskEstimate`.
    """

    value: FiniteNumber
    method: str
    scoring: str
    params: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    perfect: PerfectScore | None = None
    std_error: NonNegative | None = None
    interval: Interval | None = None
    positive: Any = None

    @property
    def named_scoring(self) -> str:
        """The name of the score, with the class to which it refers, if it is known."""
        return formats.score_of_class(self.scoring, self.positive)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        name, better_direction = self.scale.name_for(self.named_scoring), self.scale.better
        return (
            f"{name} {formats.format_number(self.value)} ({better_direction} is better, "
            f"{self.method})"
        )

    def _metrics(self) -> Mapping[str, Any]:
        return self.named(self.scoring)


@frozen(eq=False)
class Audit(ResultWithBounds, Record):
    """Result of `audit`, on the scale of the score of the search.

    If the splits of the search mix rows that belong together, `honest` is the risk with these rows
    kept apart, and `choosing` is the claim corrected for the choice alone, on the splits that mix.

    Parameters
    ----------
    search : str
        Class name of the audited search.
    level : {"scores", "bbc", "pairs", "nested"}
        How the honest risk was estimated.
    claimed : DeclaredOutcome
        The claim of the search, such as its `best_score_`.
    honest : RiskEstimate, DeclaredOutcome or None
        The risk by the requested level. At level "scores" it is the rough correction of Tibshirani
        and Tibshirani without an interval, or None if the scores of the splits were not stored.
    rough : DeclaredOutcome or None
        That rough correction, at every level.
    findings : tuple of Finding
        What else is wrong, the most serious finding first.
    within_one_error : tuple of int
        The candidates within one standard error, over splits, of the best one.
    n_candidates : int
        The number of candidates.
    confidence_level : float
        The nominal coverage of the interval.
    settings : tuple of mappings
        The settings of all candidates.
    chosen : int
        The number of the chosen candidate.
    risks : tuple of float or None
        The risk that the search measured of each candidate. It is None if a fit failed; the tuple
        is empty if the search stored no scores.
    conclusion : str
        The conclusion in sentences.
    choosing : RiskEstimate, DeclaredOutcome or None, default=None
        The claim corrected for the choice alone, if `mixes` is given.
    mixes : {"time", "space", "groups"}, optional
        The kind of rows that belong together and that the splits of the search mix.
    why : str, optional
        The reason why there is no honest risk in that case.
    versions : mapping of str to str, optional
        Versions of the packages.
    source : str, optional
        Name of the data, for a report.
    command : str, optional
        The command that was typed, if there was one.
    n_rows : int, optional
        The number of rows.
    class_counts : mapping of str to int, optional
        The number of rows of each class.

    See Also
    --------
    audit : Audit a fitted search.
    HonestSearchCV : Search that estimates the honest risk itself.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(50, random_state=1)
    >>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7, 9]}, cv=5)
    >>> u = tr.audit(search.fit(X, y), X, y)
    >>> u.level, round(u.claimed.value, 2), u.codes
    ('pairs', 0.9, ('flat-curve',))
    """

    schema: ClassVar[str] = "truerisk.audit/2"
    derived: ClassVar[tuple[str, ...]] = ("optimism", "refuted")

    search: str
    level: str
    claimed: DeclaredOutcome
    honest: RiskEstimate | DeclaredOutcome | None
    rough: DeclaredOutcome | None
    findings: tuple[Finding, ...]
    within_one_error: tuple[Count, ...]
    n_candidates: Count
    confidence_level: Share
    settings: Annotated[tuple[Mapping[str, Any], ...], Column(most=100_000)]
    chosen: Count
    risks: tuple[FiniteNumber | None, ...]
    conclusion: str
    choosing: RiskEstimate | DeclaredOutcome | None = None
    mixes: RelationKind | None = None
    why: str = ""
    versions: Mapping[str, str] = field(default_factory=dict, repr=False)
    source: str = ""
    command: str = ""
    n_rows: Count | None = None
    class_counts: Mapping[str, Count] = field(default_factory=dict)

    @property
    def flaw(self) -> tuple[str, str] | None:
        """Name of an invalid field and its requirement, or None if all fields are valid.

        Records that were read from a file are checked by this property.
        """
        n_settings = len(self.settings)
        if self.settings and self.chosen >= n_settings:
            return "chosen", "the number of a setting"
        if self.risks and len(self.risks) != n_settings:
            return "risks", f"as many risks as settings, {n_settings}"
        are_valid = max(self.within_one_error, default=-1) < n_settings
        return None if are_valid else ("within_one_error", "numbers of settings")

    @property
    def scale(self) -> Scale:
        """Scale of all risks, which is the scale of the search's score."""
        return Scale(self.claimed.perfect)

    @property
    def is_rough(self) -> bool:
        """True if the reported risk is a rough correction that was computed from scores alone."""
        return self.level == "scores" and self.mixes is None

    @property
    def optimism(self) -> float | None:
        """Amount by which the claim is better than the honest risk; None without an honest risk."""
        honest_value = None if self.honest is None else self.honest.value
        return self.scale.compute_optimism(honest_value, self.claimed.value)

    @property
    def refuted(self) -> bool | None:
        """True if the claim lies outside the honest interval.

        It is None if there is no interval, or if the claim is no finite number.
        """
        interval = None if self.honest is None else self.honest.interval
        if interval is None or not isfinite(self.claimed.value):
            return None
        return self.claimed.value not in interval

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of all findings."""
        return tuple(finding.code for finding in self.findings)

    def rows(self) -> list[list[str]]:
        """Return the table of the claimed and the honest risk: name, value, interval and method.

        Returns
        -------
        list of list of str
            One list of cells per number.
        """
        named_risks: list[tuple[str, RiskEstimate | DeclaredOutcome | None]] = [
            ("claimed", self.claimed)
        ]
        if self.mixes is not None:
            named_risks.append(("choosing", self.choosing))
        named_risks.append(("honest", self.honest))
        if self.level != "scores":
            named_risks.append(("rough", self.rough))
        return [
            [
                name,
                formats.format_number(risk.value),
                str(risk.interval or "none"),
                risk.method,
            ]
            for name, risk in named_risks
            if risk is not None
        ]

    @property
    def _header(self) -> list[str]:
        return ["", self.scale.column_heading(self.claimed.named_scoring), "interval", "by"]

    @property
    def title(self) -> str:
        """Description of the audit: class of search, number of settings, chosen setting, level."""
        setting_text = formats.format_params(self.claimed.params)
        return (
            f"{self.search}, {self.n_candidates} settings, chosen {setting_text}; "
            f"level '{self.level}', {self.scale.name_for(self.claimed.named_scoring)}"
        )

    def __str__(self) -> str:
        table = tables.text_table(self._header, self.rows())
        finding_texts = [
            textwrap.fill(
                f"- {finding}",
                LINE_WIDTH,
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
            for finding in self.findings
        ]
        conclusion_text = textwrap.fill(self.conclusion, LINE_WIDTH, break_long_words=False)
        return "\n".join(
            [conclusion_text, "", self.title, table, "", *(finding_texts or ["No findings."])]
        )

    @override
    def blocks(self) -> list[tables.Block]:
        findings = tables.Block(
            "Findings",
            ["severity", "what", "what to do", "code"],
            [
                [finding.severity, finding.sentence, finding.remedy, finding.code]
                for finding in self.findings
            ],
        )
        sentences = f"{self.conclusion} {self.title}"
        blocks = tables.blocks_with_caption(sentences, self._header, self.rows())
        return [*blocks, *([findings] if self.findings else [])]

    @property
    def _honest_numbers(self) -> Mapping[str, HonestNumber]:
        if self.honest is not None:
            return numbers_of(self.honest)
        unknown_risk = ReportedValue(None, None, self.scale.better)
        title = f"honest {self.scale.name_for(self.claimed.named_scoring)}"
        return {self.claimed.scoring: HonestNumber(title, unknown_risk, self.claimed.perfect)}

    def _metrics(self) -> Mapping[str, Any]:
        honest_metrics = {} if self.honest is None else self.honest.to_metrics()
        named_risks = {"claimed": self.claimed, "rough": self.rough, "choosing": self.choosing}
        values = {name: risk and risk.value for name, risk in named_risks.items()}
        return {**honest_metrics, **values, "optimism": self.optimism}


def write_conclusion(audit: Audit, score_name: str) -> str:
    """Describe the result of an audit in sentences.

    `score_name` is the attribute of the search that holds the claim; "best_score_" is not named.
    """
    name = audit.scale.name_for(audit.claimed.named_scoring)
    claim_text = formats.format_number(audit.claimed.value)
    if score_name != "best_score_":
        claim_text += f" ({score_name})"
    if audit.is_rough:
        return f"The {name} that the search reports, {claim_text}, {_rough_text(audit)}"
    if audit.honest is None or audit.honest.value is None or audit.optimism is None:
        return f"The {name} that the search reports, {claim_text}, {_unknown_text(audit, name)}"
    text = (
        f"Expect the {name} on new rows to be {formats.format_number(audit.honest.value)} "
        f"({describe_interval(audit.honest.interval)}). "
    )
    if not isfinite(audit.claimed.value):
        return f"{text}The search reports no finite number, so nothing can be refuted."
    text += f"The search reports {claim_text}, which is {_optimism_text(audit)}."
    text += _optimism_sources_text(audit)
    conditions = [
        condition for code, condition in UNCORRECTED_FINDINGS.items() if code in audit.codes
    ]
    if conditions:
        text += f" Both numbers are too good if {', or if '.join(conditions)}."
    return text


def _optimism_text(audit: Audit) -> str:
    """Describe how much better or worse the claim is than the honest risk, and if it is refuted."""
    refuted_text = ". It lies outside the interval, so it is refuted" if audit.refuted else ""
    if audit.optimism is None or abs(audit.optimism) <= 1e-12:
        return f"the same{refuted_text}"
    better_text = "too good" if audit.refuted else "better"
    text = unsigned_number(abs(audit.optimism), audit.claimed.value)
    text += f" {better_text if audit.optimism > 0 else 'worse'}{refuted_text}"
    if audit.refuted is None:
        return f"{text}; without an interval, these rows cannot refute it"
    return text if audit.refuted else f"{text}; {NOT_REFUTED_TEXT}"


def _optimism_sources_text(audit: Audit) -> str:
    """Describe how much of the optimism is due to the choice, and how much to mixed splits."""
    if audit.mixes is None:
        return ""
    training_text = f"models that saw {RELATED_ROWS_BY_RELATION[audit.mixes]}"
    if audit.choosing is None or audit.choosing.value is None or audit.optimism is None:
        return f" The splits of the search tested {training_text}."
    choice_text = (
        " Corrected for the choice of the best setting alone, it would be "
        f"{formats.format_number(audit.choosing.value)}."
    )
    choice_optimism = audit.scale.compute_optimism(audit.choosing.value, audit.claimed.value)
    split_optimism = audit.optimism - (choice_optimism or 0.0)
    if split_optimism <= 0:
        return f"{choice_text} Tests of {training_text} did not make it better."
    return (
        f"{choice_text} The remaining {unsigned_number(split_optimism, audit.claimed.value)} "
        f"comes from tests of {training_text}."
    )


def _unknown_text(audit: Audit, name: str) -> str:
    """Describe why there is no honest risk."""
    if audit.mixes is None:
        return "could not be checked, because fits failed."
    training_text = f"models that saw {RELATED_ROWS_BY_RELATION[audit.mixes]}"
    return (
        f"comes from tests of {training_text}. The {name} without these is not known: {audit.why}"
    )


def _rough_text(audit: Audit) -> str:
    sentence = "is that of its only setting."
    if audit.n_candidates > 1:
        sentence = (
            f"is the best of {audit.n_candidates} {audit.scale.noun}s and therefore too good."
        )
    if audit.rough is not None:
        sentence += (
            " A rough correction from the scores of the splits gives "
            f"{formats.format_number(audit.rough.value)}, without an interval."
        )
    return (
        f"{sentence} To learn what to expect on new rows, use level 'pairs' or 'nested' with X "
        "and y."
    )

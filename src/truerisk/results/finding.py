"""Findings of checks, each with a code, a sentence and a remedy, and the table of all codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar, Literal, get_args

from truerisk.core.arguments import repr_on_one_line
from truerisk.core.errors import FindingWarning, UnknownName, warn
from truerisk.core.frozen import frozen

Severity = Literal["serious", "warning", "note"]

FINDING_CODES: Mapping[str, tuple[Severity, str]] = {
    "adaptive-search": ("serious", "later candidates depend on the scores of earlier ones"),
    "claim-refuted": ("serious", "the claim lies outside the honest interval"),
    "selection-outside": ("serious", "the columns look selected with these very labels"),
    "state-survives-clone": ("serious", "the search carries what it learned from earlier fits"),
    "duplicate-rows": ("serious", "copies of a row stand on both sides of a split"),
    "groups-split": ("serious", "groups are given and the splits of the search ignore them"),
    "time-shuffled": ("serious", "the splits mix past and future, and the risk by time is larger"),
    "space-shuffled": (
        "serious",
        "the splits mix neighbours, and the risk of whole blocks is larger",
    ),
    "column-predicts-alone": ("serious", "one column predicts y without error"),
    "replay-differs": ("serious", "the splits were replayed and the scores are others"),
    "choice-differs": ("serious", "the chosen setting is not the one with the best score"),
    "class-missing": ("serious", "a training or test set lacks a class"),
    "failed-fits": ("serious", "some fits failed"),
    "non-finite-scores": ("serious", "a score is infinite"),
    "optimism-large": ("warning", "the claim flatters by more than a tenth of the honest risk"),
    "winners-curse": ("warning", "the split scores alone suggest that the claim flatters"),
    "edge-of-grid": ("warning", "the chosen value is the first or last one tried"),
    "many-candidates": ("warning", "more settings were tried than half the rows"),
    "few-rows-per-fold": ("warning", "test sets of fewer than ten rows"),
    "order-matters": (
        "warning",
        "the table is sorted by a count of its rows, and the risk of stretches is larger",
    ),
    "near-copies": ("warning", "many rows have a near copy: measured twice?"),
    "rows-in-order": ("warning", "y of rows that follow each other is alike beyond chance"),
    "group-numbers": ("warning", "a column looks like the number of a group of rows"),
    "few-events": ("warning", "a score rests on few rows of a class, or on few events"),
    "infinite-loss": ("warning", "a row's own class had probability 0: the log loss is infinite"),
    "rotated-outside": ("warning", "the columns are principal components of all rows"),
    "random-model": ("warning", "the models draw at random and their seed was not kept"),
    "interval-wide": ("warning", "the interval covers more than a fifth of what the loss can be"),
    "setting-unstable": ("warning", "few outer splits chose the setting that all rows choose"),
    "flat-curve": ("note", "half of the settings are within one standard error of the best"),
    "several-metrics": ("note", "the search kept several metrics and chose by one"),
    "text-never-repeats": ("note", "a column of text has another value in every row"),
    "scaled-outside": ("note", "the columns were scaled before the search saw them"),
    "imputed-outside": ("note", "gaps were filled before the search saw the column"),
    "warm-start": ("note", "a second fit of the same model goes on from the first"),
    "columns-unseen": ("note", "the table is too large, or no table of numbers"),
}
"""Code of every finding, with its severity and meaning."""

ALWAYS_CHECKED_CODES = (
    "near-copies",
    "rows-in-order",
    "group-numbers",
    "few-events",
    "infinite-loss",
)
"""Codes of findings that every public function checks for and issues as a warning."""

NEW_CODE_BY_OLD: Mapping[str, str] = {
    "few-rows-of-a-class": "few-events",
    "groups-suspected": "group-numbers",
}
"""Present code of a finding by its code in earlier versions, which stored results may contain."""


@frozen
class Finding:
    """Problem or note found by a check, and what to do about it."""

    derived: ClassVar[tuple[str, ...]] = ("severity",)

    code: str
    sentence: str
    remedy: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", NEW_CODE_BY_OLD.get(self.code, self.code))
        if self.code not in FINDING_CODES:
            raise UnknownName(f"{repr_on_one_line(self.code)} is the code of no finding.")

    @property
    def severity(self) -> Severity:
        """Severity of the finding: "serious", "warning" or "note"."""
        return FINDING_CODES[self.code][0]

    @property
    def note(self) -> str:
        """Text of the finding for the notes of a result: the problem and the remedy."""
        return f"{self.sentence} {self.remedy}"

    def __str__(self) -> str:
        return f"{self.severity}: {self.sentence} {self.remedy} [{self.code}]"


def sort_by_severity(findings: list[Finding]) -> tuple[Finding, ...]:
    """Sort findings by severity, the most serious first; keep the order of equal severities."""
    severities = get_args(Severity)
    return tuple(sorted(findings, key=lambda finding: severities.index(finding.severity)))


_is_inside_fit: ContextVar[bool] = ContextVar("is_inside_fit", default=False)


@contextmanager
def disable_checks() -> Iterator[None]:
    """Switch the checks of rows off inside a with-block, since its rows were already checked."""
    token = _is_inside_fit.set(True)
    try:
        yield
    finally:
        _is_inside_fit.reset(token)


def are_checks_on() -> bool:
    """Return True if rows are to be checked.

    They are always checked, except in fits that a call of this package makes.
    """
    return not _is_inside_fit.get()


def warn_of_findings(findings: Iterable[Finding]) -> None:
    """Issue one warning that lists all findings, unless there are none or the checks are off."""
    unique_findings = dict.fromkeys(findings)
    if unique_findings and are_checks_on():
        notes = (f"{finding.note} [{finding.code}]" for finding in unique_findings)
        warn(" ".join(notes), FindingWarning)

"""What an audit finds: a code, a sentence, a remedy; the table of all codes; checks of splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from truerisk.core.arguments import shown
from truerisk.core.errors import UnknownName
from truerisk.core.plan.leaks import leaks_of
from truerisk.core.plan.plan import Plan
from truerisk.core.table.data import Data

Severity = Literal["serious", "warning", "note"]

CODES: Mapping[str, tuple[Severity, str]] = {
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
    "groups-suspected": ("warning", "a column looks like the number of a group of rows"),
    "order-matters": (
        "warning",
        "the table is sorted by a count of its rows, and the risk of stretches is larger",
    ),
    "near-copies": ("warning", "many rows have a near copy: measured twice?"),
    "rotated-outside": ("warning", "the columns are principal components of all rows"),
    "random-model": ("warning", "the models draw at random and their seed was not kept"),
    "few-rows-of-a-class": ("warning", "a class has fewer than ten rows"),
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
"""Every code with its severity and what it means."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong or worth knowing, and what to do about it."""

    derived: ClassVar[tuple[str, ...]] = ("severity",)

    code: str
    sentence: str
    remedy: str

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise UnknownName(f"{shown(self.code)} is the code of no finding.")

    @property
    def severity(self) -> Severity:
        """How much it matters: "serious", "warning" or "note"."""
        return CODES[self.code][0]

    def __str__(self) -> str:
        return f"{self.severity}: {self.sentence} {self.remedy} [{self.code}]"


def by_severity(findings: list[Finding]) -> tuple[Finding, ...]:
    """The most serious first; equal ones in the order they were found."""
    order = get_args(Severity)
    return tuple(sorted(findings, key=lambda f: order.index(f.severity)))


FEWEST_ROWS = 10


def row_findings(data: Data, n_candidates: int) -> list[Finding]:
    """What rows alone tell."""
    if n_candidates <= data.n_rows / 2:
        return []
    return [
        Finding(
            "many-candidates",
            f"{n_candidates} settings were compared on {data.n_rows} rows.",
            "Try fewer settings: the more there are, the luckier the best one is.",
        )
    ]


def split_findings(data: Data, plan: Plan) -> list[Finding]:
    """What the splits do to the rows."""
    return [*_leaks(data, plan), *_classes(data, plan), *_sizes(plan)]


def _leaks(data: Data, plan: Plan) -> Iterator[Finding]:
    leaks = leaks_of(data, plan, "copies", "groups")
    if len(leaking := leaks["copies"]):
        yield Finding(
            "duplicate-rows",
            f"{len(leaking)} of {data.n_rows} rows (first: row {leaking[0]}) have an exact copy in "
            "a training set that they test.",
            "If they are copies of one case, remove them or split by groups.",
        )
    if len(leaking := leaks["groups"]):
        yield Finding(
            "groups-split",
            f"{len(leaking)} of {data.n_rows} rows (first: row {leaking[0]}) were tested by models "
            "that saw other rows of their group.",
            "Search with cv=GroupKFold() or StratifiedGroupKFold() and groups in fit.",
        )


def _classes(data: Data, plan: Plan) -> Iterator[Finding]:
    if data.codes is None:
        return
    sizes = data.class_sizes
    if (plan.test_sizes == 1).all():  # a left-out row may be the last of its class
        without, untested = np.flatnonzero(sizes == 1).tolist(), []
    else:
        without = [
            fit
            for fit in range(plan.n_fits)
            if len(np.unique(data.codes[plan.train_rows(fit)[0]])) < data.n_classes
        ]
        common = np.flatnonzero(sizes >= plan.n_questions)
        untested = [
            q
            for q in range(plan.n_questions)
            if not np.isin(common, data.codes[plan.test_rows(q)[0]]).all()
        ]
    if without or untested:
        part = "training" if without else "test"
        yield Finding(
            "class-missing",
            f"{len(without or untested)} of {plan.n_questions} {part} sets lack a class of y.",
            "Stratify: cv=StratifiedKFold(shuffle=True, random_state=0), with fewer folds where a "
            "class has fewer rows than folds.",
        )


def _sizes(plan: Plan) -> Iterator[Finding]:
    smallest = int(plan.test_sizes.min())
    if 1 < smallest < FEWEST_ROWS or (smallest == 1 and int(plan.test_sizes.max()) > 1):
        yield Finding(
            "few-rows-per-fold",
            f"The smallest test set has {smallest} row{'s' if smallest > 1 else ''}: its score "
            "takes few values, so the best of many settings is often the luckiest.",
            "Use fewer folds, or repeat them (RepeatedStratifiedKFold).",
        )

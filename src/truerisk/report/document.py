"""What a page shows, read from the JSON of `to_json`; damaged or foreign JSON is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

from truerisk.api.auditing.finding import Finding
from truerisk.core.interval import Interval
from truerisk.core.json_values import JsonValue, require_schema
from truerisk.core.present import NOTHING_CHOSEN, clean
from truerisk.core.records import read_record
from truerisk.core.scale import Scale, tied_groups
from truerisk.core.statistics.calibration import Calibration
from truerisk.core.statistics.roc import RocCurve
from truerisk.report.estimates import (
    Course,
    Curve,
    Estimate,
    Learned,
    read_interval,
    read_loss,
    read_setting,
    setting_text,
)
from truerisk.validation.measures import Measured
from truerisk.validation.validation import Validation

__all__ = [
    "Difference",
    "Document",
    "LearnerRecord",
    "read_document",
]

SCHEMA, NEWEST = "truerisk.assessment", 1


@dataclass(frozen=True)
class LearnerRecord:
    """One learner of the assessment."""

    name: str
    setting: Mapping[str, Any]
    apparent: Estimate | None
    selected: Estimate | None
    no_selected: str
    honest: Estimate
    optimism: float | None
    curve: Curve
    criteria: Mapping[str, Curve]
    agreement: float
    frequencies: tuple[tuple[int, int], ...]
    n_splits: int
    fold_risks: tuple[float, ...]
    learned: Learned | None
    no_learned: str
    course: Course | None
    no_course: str
    n_fits: int
    seconds: float

    @classmethod
    def read(cls, name: str, found: JsonValue) -> LearnerRecord:
        curve = Curve.read(found["curve"])
        stable = found["stability"]
        return cls(
            name=name,
            setting=read_setting(found["setting"]),
            apparent=found.get("apparent").maybe(Estimate.read),
            selected=found["selected"].maybe(Estimate.read),
            no_selected=found.get("no_selected").maybe(JsonValue.text) or "",
            honest=Estimate.read(found["risk"]),
            optimism=found["optimism"].maybe(JsonValue.number),
            curve=curve,
            criteria={word: Curve.read(one) for word, one in found["criteria"].items()},
            agreement=stable["agreement"].share(),
            frequencies=_frequencies(stable["frequencies"], len(curve.settings)),
            n_splits=stable["n_splits"].whole(),
            fold_risks=_kept(one["risk"].any_number() for one in found["outer"].each()),
            learned=found.get("learning_curve").maybe(Learned.read),
            no_learned=found.get("no_learning_curve").maybe(JsonValue.text) or "",
            course=found.get("over_time").maybe(Course.read),
            no_course=found.get("no_over_time").maybe(JsonValue.text) or "",
            n_fits=found["n_fits"].whole(),
            seconds=found["seconds"].number(),
        )

    @property
    def tuned(self) -> bool:
        """Whether anything was chosen: among the settings, or inside the learner's own fit."""
        return self.no_selected != NOTHING_CHOSEN

    @property
    def selected_value(self) -> float | None:
        """What tuning took for the value of the setting that it chose, where it is known."""
        return None if self.selected is None else self.selected.value

    @property
    def apparent_value(self) -> float | None:
        """What the rows say that were fitted."""
        return None if self.apparent is None else self.apparent.value

    @property
    def shown(self) -> str:
        """The name, cut and without characters that could break a line."""
        return clean(self.name, 60)

    @property
    def chosen(self) -> str:
        """The chosen setting in words."""
        return setting_text(self.setting)


@dataclass(frozen=True)
class Difference:
    """Paired difference of the risks of a learner and the best one, as far as it is known.

    `probability` is that of the best one being better by more than `rope`, `notes` say why there is
    none. Pages of earlier versions say neither that nor the interval.
    """

    learner: str
    mean: float
    std_error: float | None
    interval: Interval | None
    probability: float | None
    rope: float | None
    notes: tuple[str, ...]

    @classmethod
    def read(cls, found: JsonValue) -> Difference:
        return cls(
            found["learner"].text(),
            found["mean"].number(),
            found["std_error"].maybe(JsonValue.number),
            found.get("interval").maybe(read_interval),
            found.get("probability").maybe(JsonValue.share),
            found.get("rope").maybe(JsonValue.number),
            tuple(found.get("notes").maybe(JsonValue.texts) or ()),
        )


@dataclass(frozen=True)
class Document:
    """An assessment as it was written; pages of earlier versions do not say what was `given`."""

    best: LearnerRecord
    learners: tuple[LearnerRecord, ...]
    conclusion: str
    loss: str
    loss_word: str
    task: str
    tuned_by: str
    tested_by: str
    rule: str
    interval: str
    level: float
    n_rows: int
    seed: int
    baseline: float | None
    baseline_rule: str
    missing: tuple[str, ...]
    findings: tuple[Finding, ...]
    choice: Estimate | None
    best_set: tuple[str, ...] | None
    differences: tuple[Difference, ...]
    roc: RocCurve | None
    ranks: Mapping[str, str]
    no_roc: str
    calibration: Calibration | None
    validation: Validation | None
    no_validation: str
    monte_carlo: Mapping[str, tuple[float, ...]]
    source: str
    command: str
    given: Mapping[str, str]
    columns: tuple[str, ...]
    classes: tuple[str, ...]
    data_fingerprint: str
    plan_fingerprint: str
    versions: Mapping[str, str]

    @property
    def tuned(self) -> bool:
        """Whether any of the learners was tuned."""
        return any(one.tuned for one in self.learners)

    @property
    def scale(self) -> Scale:
        """How people read its risks."""
        return self.best.honest.scale

    @property
    def report(self) -> Estimate:
        """What to report: the choice among all learners, where there are several."""
        return self.best.honest if self.choice is None else self.choice

    def of_ranks(self, word: str) -> Estimate | Measured | None:
        """The honest "auc" or "average-precision" of the best learner, if the page has it."""
        name, honest = self.ranks.get(word), self.best.honest
        if name is None:
            return None if self.validation is None else self.validation.measure(word)
        return honest if name == honest.loss else honest.scores.get(name)


def read_document(content: Any) -> Document:
    """A document from plain values, or a sentence on what is wrong with them."""
    require_schema(content, SCHEMA, NEWEST)
    found = JsonValue(content)
    learners = {name: LearnerRecord.read(name, one) for name, one in found["learners"].items()}
    best = found["best"].text()
    if best not in learners:
        found["best"].wrong("one of the learners")
    every = list(learners.values())
    ranked = [every[at] for group in tied_groups(list(map(_rank, every))) for at in group]
    risk, scale = found["learners"][best]["risk"], learners[best].honest.scale
    return Document(
        best=learners[best],
        learners=(learners[best], *[one for one in ranked if one.name != best]),
        conclusion=found["conclusion"].text(),
        loss=read_loss(found),
        loss_word=found["loss"].text(),
        task=found["task"].text(),
        tuned_by=found["tuned_by"].text(),
        tested_by=found["tested_by"].text(),
        rule=found["rule"].text(),
        interval=found["interval"].maybe(JsonValue.text) or "",
        level=found["confidence_level"].share(),
        n_rows=found["n_rows"].whole(),
        seed=found["seed"].whole(),
        baseline=scale.value(found["baseline"].maybe(JsonValue.number)),
        baseline_rule=found["baseline_rule"].maybe(JsonValue.text) or "",
        missing=tuple(found["not_assessed"].texts()),
        findings=tuple(read_record(Finding, one) for one in found["findings"].each()),
        choice=found["choice"].maybe(Estimate.read),
        best_set=found.get("best_set").maybe(_names),
        differences=tuple(Difference.read(one) for one in found["differences"].each()),
        roc=found["roc"].maybe(partial(read_record, RocCurve)),
        ranks=found.get("ranks").maybe(JsonValue.words) or {},
        no_roc=found.get("no_roc").maybe(JsonValue.text) or "",
        calibration=found["calibration"].maybe(partial(read_record, Calibration)),
        validation=found.get("validation").maybe(partial(read_record, Validation)),
        no_validation=found.get("no_validation").maybe(JsonValue.text) or "",
        monte_carlo={
            name: _kept(scale.value(v.any_number()) for v in risks.each())
            for name, risks in found["monte_carlo"].items()
        },
        source=found["source"].text(),
        command=found["command"].text(),
        given=found.get("given").maybe(JsonValue.words) or {},
        columns=tuple(found["columns"].texts()),
        classes=tuple(found["classes"].texts()),
        data_fingerprint=risk["data_fingerprint"].text(),
        plan_fingerprint=risk["plan_fingerprint"].text(),
        versions=risk["versions"].words(),
    )


def _rank(learner: LearnerRecord) -> float:
    """The smallest risk first."""
    value = learner.honest.value
    return float("inf") if value is None else learner.honest.scale.gap(value)


def _names(found: JsonValue) -> tuple[str, ...]:
    return tuple(found.texts())


def _frequencies(found: JsonValue, n_settings: int) -> tuple[tuple[int, int], ...]:
    pairs = []
    for name, count in found.items():
        if not name.isdecimal() or int(name[:9]) >= n_settings:
            count.wrong("the count of a setting")
        pairs.append((int(name), count.whole()))
    return tuple(pairs)


def _kept(values: Any) -> tuple[float, ...]:
    """The finite ones: a fit that failed has no risk."""
    return tuple(v for v in values if isfinite(v))

"""What the page of a validation shows, read from its JSON with care."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from truerisk.core.interval import Interval
from truerisk.core.json_values import JsonValue, require_schema
from truerisk.core.present import clean
from truerisk.core.validation.measures import MEASURES
from truerisk.report.estimates import Estimate, read_interval
from truerisk.report.review_document import (
    FeaturesRecord,
    ItemRecord,
    PredictionsRecord,
    SubgroupsRecord,
    read_items,
    read_stability,
    read_subgroups,
)

__all__ = [
    "SCHEMA",
    "BenefitRecord",
    "CalibrationRecord",
    "CurveRecord",
    "MeasureRecord",
    "RanksRecord",
    "ValidationDocument",
    "read_validation",
    "validation_in",
]

SCHEMA, NEWEST = "truerisk.validation", 1
MOST_POINTS = 100_000

Line = tuple[float, ...]


@dataclass(frozen=True)
class MeasureRecord:
    """One measure, honest and otherwise."""

    word: str
    honest: float | None
    interval: Interval | None
    apparent: float | None
    training: float | None
    test: float | None
    optimism: float | None
    corrected: float | None
    n: int
    reason: str | None

    @property
    def title(self) -> str:
        return MEASURES[self.word].title

    @property
    def value(self) -> float | None:
        """That of held-out rows."""
        return self.honest

    @classmethod
    def read(cls, found: JsonValue) -> MeasureRecord:
        names = ("honest", "apparent", "training", "test", "optimism", "corrected")
        if found["word"].text() not in MEASURES:
            found["word"].wrong("the word of a measure")
        return cls(
            word=found["word"].text(),
            interval=found["interval"].maybe(read_interval),
            n=found["n"].whole(),
            reason=found["reason"].maybe(JsonValue.text),
            **{name: found[name].maybe(JsonValue.number) for name in names},
        )


@dataclass(frozen=True)
class RanksRecord:
    """Discrimination: its measures and the ROC curve, if there is one."""

    measures: tuple[MeasureRecord, ...]
    fpr: Line
    tpr: Line


@dataclass(frozen=True)
class CurveRecord:
    """A calibration curve with its band."""

    predicted: Line
    observed: Line
    low: Line | None
    high: Line | None
    apparent: Line | None
    corrected: Line | None


@dataclass(frozen=True)
class CalibrationRecord:
    """Calibration: measures, the curve or why there is none, and what was given in bins.

    `of_event` is False where y holds numbers.
    """

    of_event: bool
    measures: tuple[MeasureRecord, ...]
    curve: CurveRecord | None
    counts: tuple[Line, ...]
    edges: Line
    missing: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class BenefitRecord:
    """Net benefits against thresholds."""

    thresholds: Line
    honest: Line
    low: Line | None
    high: Line | None
    treat_all: Line
    treat_all_low: Line | None
    treat_all_high: Line | None
    apparent: Line
    corrected: Line | None


@dataclass(frozen=True)
class ValidationDocument:
    """A validation, as far as its page shows it."""

    risk: Estimate
    n_rows: int
    event: str
    n_events: int | None
    n_groups: int | None
    discrimination: RanksRecord | None
    calibration: CalibrationRecord | None
    net_benefit: BenefitRecord | None
    subgroups: tuple[SubgroupsRecord, ...]
    on_levels: tuple[str, ...]
    features: FeaturesRecord | None
    predictions: PredictionsRecord | None
    unstable: tuple[str, ...]
    items: tuple[ItemRecord, ...]
    methods_text: str
    missing: Mapping[str, str]
    notes: tuple[str, ...]
    given: Mapping[str, str]
    seed: int
    fingerprint: str
    versions: Mapping[str, str]

    @property
    def n_samples(self) -> int:
        """How many bootstrap samples there were at most."""
        parts = [part for part in (self.discrimination, self.calibration) if part is not None]
        return max((one.n for part in parts for one in part.measures), default=0)

    def measure(self, word: str) -> MeasureRecord | None:
        """The measure of that word, if there is one."""
        parts = [part for part in (self.discrimination, self.calibration) if part is not None]
        return next((one for part in parts for one in part.measures if one.word == word), None)


def read_validation(content: Any) -> ValidationDocument:
    """A document from plain values, or a sentence on what is wrong with them."""
    return validation_in(JsonValue(content))


def validation_in(found: JsonValue) -> ValidationDocument:
    """The same of a value inside another document."""
    require_schema(found.value, SCHEMA, NEWEST)
    rows, risk = found["rows"], found["risk"]
    stability = found["stability"].maybe(read_stability)
    features, predictions, unstable = stability or (None, None, ())
    return ValidationDocument(
        risk=Estimate.read(risk),
        n_rows=rows["n_rows"].whole(),
        event=clean(str(rows["event"].value), 60),
        n_events=rows["n_events"].maybe(JsonValue.whole),
        n_groups=rows["n_groups"].maybe(JsonValue.whole),
        discrimination=found["discrimination"].maybe(_ranks),
        calibration=found["calibration"].maybe(_calibration),
        net_benefit=found["net_benefit"].maybe(_benefit),
        subgroups=found["subgroups"].maybe(read_subgroups) or (),
        on_levels=tuple(found["subgroups"].maybe(lambda one: one["notes"].texts()) or ()),
        features=features,
        predictions=predictions,
        unstable=unstable,
        items=found["checklist"].maybe(read_items) or (),
        methods_text=clean(found["checklist"].maybe(_methods) or "", 8000),
        missing=found["missing"].words(),
        notes=tuple(found["notes"].texts()),
        given=found.get("given").maybe(JsonValue.words) or {},
        seed=risk["seed"].whole(),
        fingerprint=risk["data_fingerprint"].text(),
        versions=risk["versions"].words(),
    )


def _methods(found: JsonValue) -> str:
    return found["methods_text"].text()


def _measures(found: JsonValue) -> tuple[MeasureRecord, ...]:
    return tuple(MeasureRecord.read(one) for _, one in found.items())


def _ranks(found: JsonValue) -> RanksRecord:
    roc = found["roc"]
    fpr = roc.maybe(lambda one: _line(one["fpr"])) or ()
    return RanksRecord(
        measures=_measures(found["measures"]),
        fpr=fpr,
        tpr=roc.maybe(lambda one: _line(one["tpr"], len(fpr))) or (),
    )


def _calibration(found: JsonValue) -> CalibrationRecord:
    counts = tuple(_line(side) for side in found["counts"].each(2))
    if not counts:
        found["counts"].wrong("an array of bins")
    return CalibrationRecord(
        measures=_measures(found["measures"]),
        curve=found["curve"].maybe(_curve),
        of_event=found["event"].value is not None,
        counts=counts,
        edges=_line(found["edges"], len(counts[0]) + 1),
        missing=found["missing"].maybe(JsonValue.text),
        notes=tuple(found["notes"].texts()),
    )


def _curve(found: JsonValue) -> CurveRecord:
    predicted = _line(found["predicted"])
    n = len(predicted)
    names = ("low", "high", "apparent", "corrected")
    return CurveRecord(
        predicted=predicted,
        observed=_line(found["observed"], n),
        **{name: found[name].maybe(lambda one: _line(one, n)) for name in names},
    )


def _benefit(found: JsonValue) -> BenefitRecord:
    thresholds = _line(found["thresholds"])
    n = len(thresholds)
    names = ("low", "high", "treat_all_low", "treat_all_high", "corrected")
    return BenefitRecord(
        thresholds=thresholds,
        honest=_line(found["honest"], n),
        treat_all=_line(found["treat_all"], n),
        apparent=_line(found["apparent"], n),
        **{name: found[name].maybe(lambda one: _line(one, n)) for name in names},
    )


def _line(found: JsonValue, n: int | None = None) -> Line:
    """Numbers, as many as there should be."""
    values = found.numbers()
    if not values or len(values) > MOST_POINTS or (n is not None and len(values) != n):
        found.wrong(f"an array of {n or 'some'} numbers")
    return tuple(values)

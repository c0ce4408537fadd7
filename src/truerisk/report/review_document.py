"""What the page of a validation shows of subgroups, stability and checklists, read with care."""

from __future__ import annotations

from dataclasses import dataclass

from truerisk.core.interval import Interval
from truerisk.core.json_values import JsonValue
from truerisk.core.present import clean
from truerisk.core.scale import Scale
from truerisk.report.estimates import read_interval, read_loss

__all__ = [
    "FeaturesRecord",
    "ItemRecord",
    "LevelRecord",
    "PredictionsRecord",
    "SubgroupsRecord",
    "read_items",
    "read_stability",
    "read_subgroups",
]

MOST_LINES = 1000


@dataclass(frozen=True)
class LevelRecord:
    """One loss in one level, on its own scale."""

    name: str
    n_rows: int
    n_events: int | None
    value: float | None
    interval: Interval | None
    shrunken: float | None
    reason: str

    @classmethod
    def read(cls, found: JsonValue) -> LevelRecord:
        subgroup, perfect = found["subgroup"], found["perfect"].maybe(JsonValue.number)
        column, level = (clean(subgroup[n].text(), 60) for n in ("column", "level"))
        scale = Scale(perfect)
        return cls(
            name=f"{column} = {level}" if column else level,
            n_rows=subgroup["n_rows"].whole(),
            n_events=subgroup["n_events"].maybe(JsonValue.whole),
            value=scale.value(found["value"].maybe(JsonValue.number)),
            interval=scale.interval(found["interval"].maybe(read_interval)),
            shrunken=scale.value(found["shrunken"].maybe(JsonValue.number)),
            reason=clean(found["reason"].maybe(JsonValue.text) or "", 200),
        )


@dataclass(frozen=True)
class SubgroupsRecord:
    """One loss in all levels, that of all rows first."""

    loss: str
    is_score: bool
    lines: tuple[LevelRecord, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class FeaturesRecord:
    """How many of the models selected each feature, the most often selected first."""

    shares: tuple[tuple[str, float], ...]
    n_models: int
    index: float | None
    interval: Interval | None
    reason: str


@dataclass(frozen=True)
class PredictionsRecord:
    """Predictions of rows, with the range of those of further models."""

    source: str
    event: str | None
    threshold: float | None
    n_models: int
    summary: tuple[tuple[str, float], ...]
    given: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class ItemRecord:
    """An item of a checklist; `answer` is empty where it is open."""

    guideline: str
    number: str
    asks: str
    answer: str


def read_subgroups(found: JsonValue) -> tuple[SubgroupsRecord, ...]:
    """Every loss."""
    return tuple(
        SubgroupsRecord(
            loss=clean(read_loss(one), 60),
            is_score=one["whole"]["perfect"].value is not None,
            lines=tuple(
                LevelRecord.read(line) for line in (one["whole"], *one["levels"].each(MOST_LINES))
            ),
            notes=tuple(one["notes"].texts()),
        )
        for one in found["risks"].each(100)
    )


def read_stability(
    found: JsonValue,
) -> tuple[FeaturesRecord | None, PredictionsRecord | None, tuple[str, ...]]:
    """Features, predictions, and why one of them is missing."""
    missing = tuple(f"{name}: {why}" for name, why in found["missing"].words().items())
    return found["features"].maybe(_features), found["predictions"].maybe(_predictions), missing


def read_items(found: JsonValue) -> tuple[ItemRecord, ...]:
    """Every item of every guideline."""
    return tuple(
        ItemRecord(
            guideline=clean(one["guideline"].text(), 60),
            number=clean(one["number"].text(), 20),
            asks=clean(one["asks"].text(), 400),
            answer=clean(one["answer"].maybe(JsonValue.text) or "", 1000),
        )
        for one in found["items"].each(MOST_LINES)
    )


def _features(found: JsonValue) -> FeaturesRecord:
    names, shares = found["names"].texts(), found["shares"].shares()
    if len(names) != len(shares):
        found["shares"].wrong(f"an array of {len(names)} shares")
    pairs = sorted(zip(names, shares, strict=True), key=lambda pair: -pair[1])
    return FeaturesRecord(
        shares=tuple((clean(name, 60), share) for name, share in pairs),
        n_models=found["n_models"].whole(),
        index=found["index"].maybe(JsonValue.number),
        interval=found["interval"].maybe(read_interval),
        reason=clean(found["reason"].maybe(JsonValue.text) or "", 200),
    )


def _predictions(found: JsonValue) -> PredictionsRecord:
    given = tuple(found["given"].numbers())
    ends = {name: tuple(found[name].numbers()) for name in ("low", "high")}
    for name, values in ends.items():
        if len(values) != len(given) or not given:
            found[name].wrong(f"an array of {len(given)} numbers")
    event = found["event"].maybe(JsonValue.text)
    return PredictionsRecord(
        source=clean(found["source"].text(), 600),
        event=None if event is None else clean(event, 60),
        threshold=found["threshold"].maybe(JsonValue.number),
        n_models=found["n_models"].whole(),
        summary=tuple((clean(name, 80), one.number()) for name, one in found["summary"].items()),
        given=given,
        **ends,
    )

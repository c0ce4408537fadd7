"""Risks and curves on a page, read from the JSON of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

from truerisk.core.interval import Interval
from truerisk.core.json_values import JsonValue
from truerisk.core.present import clean, of_class, params_text, plain
from truerisk.core.scale import ERROR, Scale

__all__ = [
    "Course",
    "Curve",
    "Estimate",
    "Expected",
    "Learned",
    "read_interval",
    "read_loss",
    "read_setting",
    "setting_text",
]


@dataclass(frozen=True)
class Estimate:
    """An estimate as people read it: a score as a score, an error as an error."""

    value: float | None
    std_error: float | None
    interval: Interval | None
    loss: str
    method: str
    bias: str
    engine: str
    notes: tuple[str, ...]
    scale: Scale
    scores: Mapping[str, Estimate]

    @classmethod
    def read(cls, found: JsonValue) -> Estimate:
        scores = found.get("scores").maybe(JsonValue.items) or ()
        scale = read_scale(found)
        return cls(
            value=scale.value(found["value"].maybe(JsonValue.number)),
            std_error=found["std_error"].maybe(JsonValue.any_number),
            interval=scale.interval(found["interval"].maybe(read_interval)),
            loss=read_loss(found),
            method=found["method"].text(),
            bias=found["bias"].text(),
            engine=found["engine"].text(),
            notes=tuple(found["notes"].texts()),
            scale=scale,
            scores={one.loss: one for one in (Estimate.read(each) for _, each in scores)},
        )


@dataclass(frozen=True)
class Curve:
    """What every setting has by one method; `values[c]` is None where a fit failed.

    `best_set` are the numbers of the settings that may be the best, none where nothing tells.
    """

    method: str
    loss: str
    rule: str
    best: int
    settings: tuple[Mapping[str, Any], ...]
    values: tuple[float | None, ...]
    std_errors: tuple[float | None, ...]
    scale: Scale = ERROR
    best_set: frozenset[int] = frozenset()

    @classmethod
    def read(cls, found: JsonValue) -> Curve:
        points = found["estimates"].each(100_000)
        best = found["best"].whole()
        if best >= len(points):
            found["best"].wrong("the number of a setting")
        scale = read_scale(points[0])
        return cls(
            method=points[0]["method"].text(),
            loss=read_loss(points[0]),
            rule=found["rule"].text(),
            best=best,
            settings=tuple(read_setting(p["params"]) for p in points),
            values=tuple(scale.value(p["value"].maybe(JsonValue.number)) for p in points),
            scale=scale,
            std_errors=tuple(_finite(p["std_error"].maybe(JsonValue.any_number)) for p in points),
            best_set=found.get("best_set").maybe(_numbers) or frozenset(),
        )

    def said(self, candidate: int) -> str:
        """A setting in words."""
        return setting_text(self.settings[candidate])


@dataclass(frozen=True)
class Expected:
    """What a law says of so many training rows."""

    n_train: float
    value: float
    low: float
    high: float

    @classmethod
    def read(cls, found: JsonValue, scale: Scale) -> Expected:
        n, *risks = (found[name].number() for name in ("n_train", "value", "low", "high"))
        value, low, high = map(scale.value, risks)
        if not (n > 0 and risks[1] <= risks[2]):
            found.wrong("what to expect of some training rows, with its interval")
        return cls(n, value, *sorted((low, high)))


@dataclass(frozen=True)
class Learned:
    """A learning curve: the risk at some numbers of training rows, and what its law expects."""

    sizes: tuple[float, ...]
    estimates: tuple[Estimate, ...]
    expected: tuple[Expected, ...]
    lacking: str
    level: float

    @classmethod
    def read(cls, found: JsonValue) -> Learned:
        sizes = tuple(found["sizes"].numbers())
        estimates = tuple(Estimate.read(one) for one in found["estimates"].each(1000))
        if len(sizes) != len(estimates) or not sizes or sizes[0] <= 0:
            found["sizes"].wrong("numbers of training rows, one for each estimate")
        if any(b <= a for a, b in pairwise(sizes)):
            found["sizes"].wrong("ascending")
        scale = estimates[-1].scale
        return cls(
            sizes=sizes,
            estimates=estimates,
            expected=tuple(Expected.read(one, scale) for one in found["expected"].each(1000)),
            lacking=found["lacking"].maybe(JsonValue.text) or "",
            level=found["confidence_level"].share(),
        )


@dataclass(frozen=True)
class Course:
    """The mean loss in stretches of time, and what a test says of its trend."""

    starts: tuple[str, ...]
    ends: tuple[str, ...]
    values: tuple[float, ...]
    low: tuple[float, ...] | None
    high: tuple[float, ...] | None
    n_rows: tuple[int, ...]
    level: float
    said: str

    @classmethod
    def read(cls, found: JsonValue) -> Course:
        one = cls(
            starts=tuple(_time(entry) for entry in found["starts"].each(1000)),
            ends=tuple(_time(entry) for entry in found["ends"].each(1000)),
            values=tuple(found["values"].numbers()),
            low=found["low"].maybe(_row),
            high=found["high"].maybe(_row),
            n_rows=tuple(entry.whole() for entry in found["n_rows"].each(1000)),
            level=found["confidence_level"].share(),
            said=clean(found["said"].text(), 600),
        )
        columns = (one.starts, one.ends, one.low, one.high, one.n_rows)
        if any(c is not None and len(c) != len(one.values) for c in columns) or not one.values:
            found["values"].wrong("as long as the other columns, and not empty")
        return one


def _time(found: JsonValue) -> str:
    """A date as it is written, or a number."""
    if isinstance(found.value, str):
        return clean(found.text(), 40)
    return f"{found.number():.6g}"


def _row(found: JsonValue) -> tuple[float, ...]:
    return tuple(found.numbers())


def _numbers(found: JsonValue) -> frozenset[int]:
    return frozenset(entry.whole() for entry in found.each(100_000))


def read_scale(found: JsonValue) -> Scale:
    """How people read the estimate."""
    return Scale(found.get("perfect").maybe(JsonValue.number))


def read_loss(found: JsonValue) -> str:
    """A loss, with the class that it speaks of; files of earlier versions do not say which."""
    return of_class(found["loss"].text(), found.get("positive").value)


def read_interval(found: JsonValue) -> Interval:
    """An interval with finite ends, the lower one first."""
    low, high = found["low"].any_number(), found["high"].any_number()
    level = found["confidence_level"].share()
    if not (isfinite(low) and isfinite(high) and low <= high):
        found.wrong("an interval")
    return Interval(low, high, found["method"].text(), level)


def setting_text(params: Mapping[str, Any]) -> str:
    """A setting in words, the same before it is written and after it is read."""
    return clean(params_text(plain(params)), 120)


def read_setting(found: JsonValue) -> Mapping[str, Any]:
    """The parameters of a setting."""
    return {name: one.value for name, one in found.items()}


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None

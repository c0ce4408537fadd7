"""Documents of an earlier version of the JSON are read, and converted where they meant another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import truerisk as tr
from truerisk.core.errors import BadData
from truerisk.results import earlier_versions
from truerisk.results.records import Record

STORED = Path(__file__).parent / "version_1"
"""Documents that truerisk 0.1 wrote."""


@dataclass(frozen=True)
class Inner(Record):
    """A record that stands in another."""

    schema: ClassVar[str] = "truerisk.inner/3"

    value: float


@dataclass(frozen=True)
class Outer(Record):
    """A record that holds others, one of them in a union."""

    schema: ClassVar[str] = "truerisk.outer/2"

    value: float
    parts: Mapping[str, Inner]
    either: Inner | Other | None = None


@dataclass(frozen=True)
class Other(Record):
    """The other record of the union."""

    schema: ClassVar[str] = "truerisk.other/2"

    value: float


OLD = {
    "schema": "truerisk.outer/1",
    "value": 1,
    "parts": {"a": {"schema": "truerisk.inner/1", "value": 2}},
    "either": {"schema": "truerisk.inner/2", "value": 3},
}


@pytest.mark.parametrize(
    ("name", "cls"),
    [("estimate", tr.RiskEstimate), ("audit", tr.Audit), ("assessment", tr.Assessment)],
)
def test_stored_document_of_version_1_is_read(name, cls) -> None:
    """It is written as version 2: `loss` is `scoring`, and values are on the scale asked for.

    Version 1 wrote the score of an estimate beside its error.
    """
    old = json.loads((STORED / f"{name}.json").read_text("utf-8"))
    assert old["schema"] == f"{cls.schema.removesuffix('2')}1"
    written = json.loads(cls.from_json(STORED / f"{name}.json").to_json())
    numbers = [place for place, _ in numbers_that_differ(as_version_2(old), written)]
    assert not numbers


def as_version_2(old: Any, place: str = "") -> Any:
    """What version 2 writes for a part of a stored document, all of whose estimates are scores."""
    if isinstance(old, list):
        return [as_version_2(each, place) for each in old]
    if not isinstance(old, dict):
        return old.replace("/1", "/2") if place.endswith(".schema") else old
    names = {"loss": "scoring", "is_score": "greater_is_better"}
    new = {
        names.get(name, name): as_version_2(part, f"{place}.{name}") for name, part in old.items()
    }
    if "score" in old:  # an estimate
        new |= {"value": old["score"], "interval": old["score_interval"]}
        new |= {"greater_is_better": True}
        del new["score"], new["score_interval"]
    elif old.get("perfect") == 1:  # what a search states
        new["value"] = 1 - old["value"]
    elif "is_score" in old:
        ends = old["interval"]
        new |= {name: -old[name] for name in ("difference", "mean", "value", "statistic")}
        new["interval"] = {**ends, "low": -ends["high"], "high": -ends["low"]}
    elif "inner_risk" in old:
        new |= {name: 1 - old[name] for name in ("risk", "inner_risk")}
    if place == "" and "baseline" in old:
        new["baseline"] = 1 - old["baseline"]
    if place == "" and "risks" in old:
        new["risks"] = [1 - risk for risk in old["risks"]]
    return new


def numbers_that_differ(one: Any, other: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield where two documents differ by more than rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys(), place
        for name in one:
            yield from numbers_that_differ(one[name], other[name], f"{place}.{name}")
    elif isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other), place
        for i, pair in enumerate(zip(one, other, strict=True)):
            yield from numbers_that_differ(*pair, f"{place}[{i}]")
    elif isinstance(one, float) or isinstance(other, float):
        if one != pytest.approx(other, abs=1e-12):
            yield place, (one, other)
    elif one != other:
        yield place, (one, other)


def test_conversion_is_applied_to_each_record_from_its_own_version(monkeypatch) -> None:
    """Version after version, also inside another record and in a union."""

    def adding(amount: float):
        return lambda content: {**content, "value": content["value"] + amount}

    steps = {"truerisk.outer/1": adding(10), "truerisk.inner/1": adding(100)}
    steps["truerisk.inner/2"] = adding(1000)
    monkeypatch.setattr(earlier_versions, "CONVERSIONS", steps)
    read = Outer.from_dict(OLD)
    assert (read.value, read.parts["a"].value, read.either.value) == (11, 1102, 1003)
    assert OLD["value"] == 1
    assert Outer.from_dict(read.to_dict()) == read


@pytest.mark.parametrize("version", ["0", "01", "-1", "1.0", "x", "", "²"])
def test_version_that_never_was_is_refused_by_its_place(version) -> None:
    """The document, and a record inside it."""
    with pytest.raises(BadData, match="the results name no known version: 'truerisk.outer/"):
        Outer.from_dict({**OLD, "schema": f"truerisk.outer/{version}"})
    inner: dict[str, Any] = {"schema": f"truerisk.inner/{version}", "value": 2}
    for part, place in (({"parts": {"a": inner}}, r"parts\.a"), ({"either": inner}, "either")):
        with pytest.raises(BadData, match=rf"'{place}\.schema' is .*, not 'truerisk\.inner/3'"):
            Outer.from_dict({**OLD, **part})


@pytest.mark.parametrize("schema", [None, 3, "truerisk.else/1", "truerisk.outer/1", "else/1"])
def test_inner_record_with_another_schema_is_refused_by_its_place(schema) -> None:
    """In a union each schema that could stand there is named."""
    inner: dict[str, Any] = {"schema": schema, "value": 2}
    with pytest.raises(BadData, match=r"'parts\.a\.schema' is .*, not 'truerisk\.inner/3'"):
        Outer.from_dict({**OLD, "parts": {"a": inner}})
    with pytest.raises(BadData, match=r"'either\.schema' is "):
        Outer.from_dict({**OLD, "either": inner})


def test_later_version_is_refused_with_the_advice_to_upgrade() -> None:
    """Both versions are named."""
    with pytest.raises(BadData) as refused:
        Outer.from_dict({**OLD, "schema": "truerisk.outer/3"})
    assert str(refused.value) == (
        "these results are of version 3 of 'truerisk.outer', and this truerisk reads versions 1 "
        "to 2: upgrade truerisk to read them."
    )


def test_permutations_of_a_score_are_converted() -> None:
    """Version 1 wrote the losses behind them; of a loss nothing changes."""
    old = {"schema": "truerisk.permutation-test/1", "observed": 0.25, "null": [0.5, 0.75]}
    read = earlier_versions.CONVERSIONS["truerisk.permutation-test/1"]
    assert read({**old, "perfect": 1.0}) == {
        **old, "perfect": 1.0, "observed": 0.75, "null": [0.5, 0.25]
    }  # fmt: skip
    assert read({**old, "perfect": None}) == {**old, "perfect": None}


def test_a_comparison_of_scores_is_converted() -> None:
    """Its ends change places; the probabilities say who is better, and stay."""
    old = {"difference": 0.25, "statistic": 2.0, "interval": {"low": -0.5, "high": 1.0}}
    read = earlier_versions.CONVERSIONS["truerisk.comparison/1"]
    assert read({**old, "better": 0.125, "is_score": True}) == {
        "difference": -0.25, "statistic": -2.0, "interval": {"low": -1.0, "high": 0.5},
        "better": 0.125, "greater_is_better": True,
    }  # fmt: skip
    assert read({**old, "is_score": False}) == {**old, "greater_is_better": False}


def test_subgroups_and_risks_over_time_of_a_score_are_converted() -> None:
    """Values and what they were shrunken to; the band, whose ends change places, and the slope."""
    whole = {"value": 0.25, "interval": {"low": 0.0, "high": 0.5}, "shrunken": 0.125, "perfect": 1}
    read = earlier_versions.CONVERSIONS["truerisk.subgroups/1"]
    (risks,) = read({"risks": [{"whole": whole, "levels": [whole]}]})["risks"]
    assert risks["whole"] == risks["levels"][0] == {
        "value": 0.75, "interval": {"low": 0.5, "high": 1.0}, "shrunken": 0.875, "perfect": 1
    }  # fmt: skip
    over_time = {"values": [0.25], "low": [0.0], "high": [0.5], "slope": 0.125, "perfect": 1.0}
    learner = {"risk": {"perfect": 1.0}, "over_time": over_time}
    read = earlier_versions.CONVERSIONS["truerisk.assessment/1"]
    told = read({"best": "a", "learners": {"a": learner}})["learners"]["a"]["over_time"]
    assert told == {"values": [0.75], "low": [0.5], "high": [1.0], "slope": -0.125, "perfect": 1.0}

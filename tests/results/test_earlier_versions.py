"""Documents of an earlier version of the JSON are read, and converted where they meant another."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import truerisk as tr
from truerisk.extend import BadData, Record
from truerisk.results import earlier_versions

STORED = Path(__file__).parent / "version_1"
"""Documents that truerisk 0.1 wrote."""


@dataclass(frozen=True)
class Inner(Record):
    """A record that stands in another."""

    schema: ClassVar[str] = "truerisk.inner/3"

    value: float


@dataclass(frozen=True)
class Other(Record):
    """The other record of the union."""

    schema: ClassVar[str] = "truerisk.other/2"

    value: float


@dataclass(frozen=True)
class Outer(Record):
    """A record that holds others, one of them in a union."""

    schema: ClassVar[str] = "truerisk.outer/2"

    value: float
    parts: Mapping[str, Inner]
    either: Inner | Other | None = None


OLD = {
    "schema": "truerisk.outer/1",
    "value": 1,
    "parts": {"a": {"schema": "truerisk.inner/1", "value": 2}},
    "either": {"schema": "truerisk.inner/2", "value": 3},
}


def parts_of(old, new):
    """Yield each object of a stored document with the one of the same place that is written now."""
    if isinstance(old, dict):
        yield old, new
        for name in old.keys() & new.keys():
            yield from parts_of(old[name], new[name])
    elif isinstance(old, list):
        for pair in zip(old, new, strict=True):
            yield from parts_of(*pair)


@pytest.mark.parametrize(
    ("name", "cls", "n_estimates"),
    [("estimate", tr.RiskEstimate, 1), ("audit", tr.Audit, 2), ("assessment", tr.Assessment, 3)],
)
def test_stored_document_of_version_1_is_read(name, cls, n_estimates):
    """It is written as version 2: `loss` is `scoring`, and values are on the scale asked for.

    Version 1 wrote the score of an estimate, which is 1 at best, beside its error.
    """
    stored = json.loads((STORED / f"{name}.json").read_text("utf-8"))
    written = cls.from_json(STORED / f"{name}.json").to_dict()
    assert stored["schema"] == f"{cls.schema.removesuffix('2')}1"
    found = 0
    for old, new in parts_of(stored, json.loads(json.dumps(written))):
        kept = (old.keys() & new.keys()) - {"schema", "value", "interval"}
        if "score" in old:
            found += 1
            assert (new["value"], new["scoring"]) == (pytest.approx(old["score"]), old["loss"])
            assert new["interval"] == pytest.approx(old["score_interval"], nan_ok=True)
            kept -= {"scores"}
        elif old.get("perfect") == 1:
            assert new["value"] == pytest.approx(1 - old["value"])
        elif "is_score" in old:
            turned = {"difference", "mean", "statistic"} & kept
            assert {one: -new[one] for one in turned} == {one: old[one] for one in turned}
            low, high = new["interval"]["low"], new["interval"]["high"]
            assert (-high, -low) == (old["interval"]["low"], old["interval"]["high"])
            kept -= turned
        elif "inner_risk" in old:
            for one in ("risk", "inner_risk"):
                assert new[one] == pytest.approx(1 - old[one])
            kept -= {"risk", "inner_risk"}
        plain = {one for one in kept if isinstance(old[one], str | int | bool)}
        assert {one: new[one] for one in plain} == {one: old[one] for one in plain}
    assert found >= n_estimates
    for one in {"baseline", "risks"} & stored.keys():
        assert np.allclose(written[one], 1 - np.array(stored[one]))


def test_conversion_is_applied_to_each_record_from_its_own_version(monkeypatch):
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
def test_version_that_never_was_is_refused_by_its_place(version):
    with pytest.raises(BadData, match="the results name no known version: 'truerisk.outer/"):
        Outer.from_dict({**OLD, "schema": f"truerisk.outer/{version}"})
    inner: dict[str, Any] = {"schema": f"truerisk.inner/{version}", "value": 2}
    for part, place in (({"parts": {"a": inner}}, r"parts\.a"), ({"either": inner}, "either")):
        with pytest.raises(BadData, match=rf"'{place}\.schema' is .*, not 'truerisk\.inner/3'"):
            Outer.from_dict({**OLD, **part})


@pytest.mark.parametrize("schema", [None, 3, "truerisk.else/1", "truerisk.outer/1", "else/1"])
def test_inner_record_with_another_schema_is_refused_by_its_place(schema):
    inner: dict[str, Any] = {"schema": schema, "value": 2}
    with pytest.raises(BadData, match=r"'parts\.a\.schema' is .*, not 'truerisk\.inner/3'"):
        Outer.from_dict({**OLD, "parts": {"a": inner}})
    with pytest.raises(BadData, match=r"'either\.schema' is "):
        Outer.from_dict({**OLD, "either": inner})


PERMUTATIONS = {"schema": "truerisk.permutation-test/1", "observed": 0.25, "null": [0.5, 0.75]}
COMPARISON = {"difference": 0.25, "statistic": 2.0, "interval": {"low": -0.5, "high": 1.0}}
LEVEL = {"value": 0.25, "interval": {"low": 0.0, "high": 0.5}, "shrunken": 0.125, "perfect": 1}
TURNED = {"value": 0.75, "interval": {"low": 0.5, "high": 1.0}, "shrunken": 0.875, "perfect": 1}
COURSE = {"values": [0.25], "low": [0.0], "high": [0.5], "slope": 0.125, "perfect": 1.0}
RISING = {"values": [0.75], "low": [0.5], "high": [1.0], "slope": -0.125, "perfect": 1.0}


def learner(over_time):
    return {"learners": {"a": {"risk": {"perfect": 1.0}, "over_time": over_time}}}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        pytest.param(
            "permutation-test",
            {**PERMUTATIONS, "perfect": 1.0},
            {**PERMUTATIONS, "perfect": 1.0, "observed": 0.75, "null": [0.5, 0.25]},
            id="permutations of a score",
        ),
        pytest.param(
            "permutation-test",
            {**PERMUTATIONS, "perfect": None},
            {**PERMUTATIONS, "perfect": None},
            id="permutations of an error",
        ),
        pytest.param(
            "comparison",
            {**COMPARISON, "better": 0.125, "is_score": True},
            {
                "difference": -0.25, "statistic": -2.0, "interval": {"low": -1.0, "high": 0.5},
                "better": 0.125, "greater_is_better": True,
            },
            id="comparison of scores",
        ),
        pytest.param(
            "comparison",
            {**COMPARISON, "is_score": False},
            {**COMPARISON, "greater_is_better": False},
            id="comparison of errors",
        ),
        pytest.param(
            "subgroups",
            {"risks": [{"whole": LEVEL, "levels": [LEVEL]}]},
            {"risks": [{"whole": TURNED, "levels": [TURNED]}]},
            id="subgroups",
        ),
        pytest.param(
            "assessment",
            {"best": "a", **learner(COURSE)},
            {"best": "a", **learner(RISING)},
            id="risks over time",
        ),
        pytest.param(
            "validation",
            {"rows": {"n_rows": 9}, "updating": None},
            {"rows": {"n_rows": 9, "n_censored": None}, "updating": None},
            id="rows of a validation",
        ),
    ],
)  # fmt: skip
def test_conversion_turns_what_is_of_a_score(name, old, new):
    assert earlier_versions.CONVERSIONS[f"truerisk.{name}/1"](old) == new

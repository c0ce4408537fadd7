"""A record becomes JSON and comes back as its own class, or its damage is said by its place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest

from truerisk.extend import UNWRITTEN, BadData, Column, Interval, Record
from truerisk.results.interval import Breakdown
from truerisk.results.json_values import JsonValue
from truerisk.results.records import Count, Share

Points = Annotated[np.ndarray, Column("points", least=1)]


@dataclass(frozen=True)
class Part:
    """A part of a record needs no schema of its own."""

    share: Share
    kind: Literal["a", "b"] = "a"


@dataclass(frozen=True, eq=False)
class Toy(Record):
    """One field of each type that results have."""

    schema: ClassVar[str] = "truerisk.toy/2"
    derived: ClassVar[tuple[str, ...]] = ("twice",)

    count: Count
    x: Points
    y: Points | None
    value: float
    ends: tuple[float, float]
    parts: Mapping[str, Part]
    whole: Annotated[np.ndarray, Column(kind="i8", n_axes=2)] | None = None
    interval: Interval | None = None
    table: Breakdown | None = None
    notes: tuple[str, ...] = ()
    sure: bool = False
    setting: Mapping[str, Any] = field(default_factory=dict)
    raw: np.ndarray | None = field(default=None, metadata=UNWRITTEN)

    @property
    def twice(self) -> float:
        return 2 * self.value


TOY = Toy(
    count=3, x=np.array([1.0, np.nan]), y=np.array([0.5, np.inf]), value=0.25, ends=(0.0, 1.0),
    parts={"p": Part(0.5, "b")}, whole=np.array([[1, 2], [3, 4]]),
    interval=Interval(0.1, 0.2, "wald"), table=Breakdown({"n": 3, "v": 0.5}), notes=("a",),
    sure=True, setting={"k": [1, None]}, raw=np.zeros(9),
)  # fmt: skip


def test_record_comes_back_from_json_as_it_was():
    back = Toy.from_json(TOY.to_json())
    assert back.to_json() == TOY.to_json()
    assert back.raw is None
    assert json.loads(TOY.to_json())["twice"] == 0.5
    assert np.array_equal(back.x, TOY.x, equal_nan=True)
    assert back.whole.dtype.kind == "i"
    assert (back.parts, back.interval, back.table) == (TOY.parts, TOY.interval, TOY.table)
    assert isinstance(back.table, Breakdown)
    assert isinstance(back.table["n"], int)


def test_from_dict_has_defaults_of_fields_not_written_and_names_lacking_ones():
    content = {**TOY.to_dict(), "later": 1}
    del content["notes"], content["setting"]
    back = Toy.from_dict(content)
    assert (back.notes, back.setting) == ((), {})
    del content["count"]
    with pytest.raises(BadData, match="they lack 'count'"):
        Toy.from_dict(content)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"count": -1}, "'count' is -1, not 0 at least"),
        ({"count": 1.5}, "'count' is 1.5, not a whole number"),
        ({"value": None}, "'value' is null, not a number"),
        ({"value": True}, "'value' is true, not a number"),
        ({"value": 1e200}, "'value' is 1e+200, not a number that could be drawn"),
        ({"x": []}, "'x' is [], not of 1 entries at least"),
        ({"x": [0, "one"]}, "'x[1]' is \"one\", not a number"),
        ({"x": 3}, "'x' is 3, not an array"),
        ({"y": [0.5]}, "'y' is [0.5], not as long as 'x'"),
        ({"ends": [1]}, "'ends' is [1], not an array of 2"),
        ({"parts": {"p": {"share": 2}}}, "'parts.p.share' is 2, not 0 at least and 1 at most"),
        (
            {"parts": {"p": {"share": 1, "kind": 3}}},
            "'parts.p.kind' is 3, not one of 'a', 'b'",
        ),
        ({"parts": []}, "'parts' is [], not an object"),
        ({"whole": [[1], [1, 2]]}, "'whole' is [[1], [1, 2]], not an array of lines of one length"),
        ({"whole": [[0.5]]}, "'whole[0][0]' is 0.5, not a whole number"),
        ({"whole": [[2**70]]}, "not a whole number of 64 bits"),
        ({"interval": {"low": 1, "high": 0, "method": "w"}}, "not an interval"),
        ({"interval": {"low": 1, "high": 2}}, "'interval' lacks 'method'"),
        ({"notes": [1]}, "'notes[0]' is 1, not text"),
        ({"sure": 1}, "'sure' is 1, not true or false"),
        (
            {"schema": "truerisk.toy/3"},
            "and this truerisk reads versions 1 to 2: upgrade truerisk to read them",
        ),
        ({"schema": "truerisk.other/2"}, "a 'truerisk.toy' is wanted"),
        ({"schema": 3}, "not of truerisk"),
    ],
)
def test_from_dict_names_damage_and_its_place(change, said):
    with pytest.raises(BadData) as refused:
        Toy.from_dict({**TOY.to_dict(), **change})
    assert said in str(refused.value)


def nested(levels):
    """Write the JSON of a record whose setting is nested in so many levels."""
    return TOY.to_json().replace('"k": [1, null]', f'"k": {"[" * levels}1{"]" * levels}')


MANY_KEYS = json.dumps({**TOY.to_dict(), "setting": {f"k{i}": i for i in range(10_001)}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *[(text, ".") for text in ("", "{", "[" * 100_000, '{"schema": NaN}', "[]", "3")],
        (3, "3: give the text"),
        (None, "None: give the text"),
        ("results.json", "no JSON .*: give the text that .* or a pathlib.Path"),
        ("results", "wrote.$"),
        (b"\xff", "this is no JSON"),
        # Python reads 985 levels, and writes fewer: the sentence about them could not be made.
        *[(nested(n), "nested too deeply, in more than 64 levels") for n in (65, 500, 985, 5000)],
        # Which of two equal keys is meant cannot be known; Python's reader takes the last one.
        (
            TOY.to_json().replace('"share": 0.5', '"share": 0.1, "share": 0.5'),
            "the key 'share' stands twice in one object",
        ),
        # No system has a file whose name has a nul, and asking for one is a bare ValueError.
        (Path("a\0b"), "name a file"),
        # Settings of 400,000 names took 14 seconds to print.
        (MANY_KEYS, "'setting' is .* not an object of at most 10,000 keys"),
    ],
    ids=[str(i) for i in range(18)],
)
def test_from_json_refuses_what_is_no_json_of_results(text, message):
    assert Toy.from_json(nested(60)).setting
    with pytest.raises(BadData, match=message):
        Toy.from_json(text)


def test_from_json_reads_a_file_and_at_most_max_bytes(tmp_path):
    text, file = TOY.to_json(), tmp_path / "toy.json"
    file.write_text(text)
    assert Toy.from_json(file).to_json() == text
    for source in (text, file):
        assert Toy.from_json(source, max_bytes=len(text)).count == 3
        with pytest.raises(BadData, match=r"at most 99 are read.* raise the cap: max_bytes= "):
            Toy.from_json(source, max_bytes=99)
    with pytest.raises(BadData, match="max_bytes=0: give the largest number"):
        Toy.from_json(text, max_bytes=0)
    file.write_text("{}")
    with pytest.raises(BadData, match=r"^toy.json: .*not of truerisk"):
        Toy.from_json(file)


@pytest.mark.parametrize("content", [[["nan", 1, -2.5]], [[1, 2], [3, "inf"]], [[1e149]]])
def test_lines_of_reads_the_same_at_once_as_one_by_one(content):
    value = JsonValue(content)
    found = value.read_rows(JsonValue.any_number, int, float)
    one_by_one = [[entry.any_number() for entry in line.entries()] for line in value.entries()]
    assert np.array_equal(found, one_by_one, equal_nan=True)


def test_record_refuses_a_type_that_no_record_has():
    @dataclass(frozen=True)
    class Odd(Record):
        names: frozenset

    with pytest.raises(TypeError, match="no type of a record"):
        Odd.from_dict({"names": []})

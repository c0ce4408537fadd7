"""A record becomes JSON and comes back as its own class, or its damage is said by its place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest

from truerisk.core.errors import BadData
from truerisk.results.interval import Breakdown, Interval
from truerisk.results.json_values import JsonValue
from truerisk.results.records import UNWRITTEN, Column, Count, Record, Share

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


def test_it_comes_back_as_it_was():
    """Each value in its type; what is not written is None, and derived numbers are made anew."""
    back = Toy.from_json(TOY.to_json())
    assert back.to_json() == TOY.to_json()
    assert back.raw is None
    assert json.loads(TOY.to_json())["twice"] == 0.5
    assert np.array_equal(back.x, TOY.x, equal_nan=True)
    assert back.whole.dtype.kind == "i"
    assert (back.parts, back.interval, back.table) == (TOY.parts, TOY.interval, TOY.table)
    assert isinstance(back.table, Breakdown)
    assert isinstance(back.table["n"], int)


def test_what_an_earlier_version_did_not_write_has_its_default():
    """A field without a default must be there, and what is not known is left alone."""
    content = {**TOY.to_dict(), "later": 1}
    del content["notes"], content["setting"]
    back = Toy.from_dict(content)
    assert (back.notes, back.setting) == ((), {})


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
def test_damage_is_said_with_its_place(change, said):
    """What is there, and what should be."""
    with pytest.raises(BadData) as refused:
        Toy.from_dict({**TOY.to_dict(), **change})
    assert said in str(refused.value)


def test_a_lacking_field_is_named():
    """A cut file."""
    content = TOY.to_dict()
    del content["count"]
    with pytest.raises(BadData, match="they lack 'count'"):
        Toy.from_dict(content)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"schema": NaN}', "[]", "3"])
def test_what_is_no_json_of_ours_is_refused(text):
    """In a sentence, however deep or short it is."""
    with pytest.raises(BadData):
        Toy.from_json(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (3, "3: give the text"),
        (None, "None: give the text"),
        ("results.json", "no JSON .*: give the text that .* or a pathlib.Path"),
        ("results", "wrote.$"),
        (b"\xff", "this is no JSON"),
    ],
)
def test_what_is_no_text_of_results_is_told_from_it(text, message):
    """A number, and the name of the file in the place of what it holds."""
    with pytest.raises(BadData, match=message):
        Toy.from_json(text)


def test_a_result_is_read_from_the_path_of_its_file(tmp_path):
    """What is wrong with it is told with the name of the file."""
    (tmp_path / "toy.json").write_text(TOY.to_json())
    assert Toy.from_json(tmp_path / "toy.json").to_json() == TOY.to_json()
    (tmp_path / "toy.json").write_text("{}")
    with pytest.raises(BadData, match=r"^toy.json: .*not of truerisk"):
        Toy.from_json(tmp_path / "toy.json")


def nested(levels: int) -> str:
    """Write the JSON of a record whose setting is nested in so many levels."""
    return TOY.to_json().replace('"k": [1, null]', f'"k": {"[" * levels}1{"]" * levels}')


def test_from_json_refuses_what_is_nested_more_deeply_than_any_result():
    """Python reads 985 levels, and writes fewer: the sentence about them could not be made."""
    assert Toy.from_json(nested(60)).setting
    for levels in (65, 500, 985, 5000):
        with pytest.raises(BadData, match="nested too deeply, in more than 64 levels"):
            Toy.from_json(nested(levels))


def test_from_json_refuses_a_key_that_stands_twice():
    """Which of the two is meant cannot be known; Python's reader takes the last one."""
    twice = TOY.to_json().replace('"share": 0.5', '"share": 0.1, "share": 0.5')
    with pytest.raises(BadData, match="the key 'share' stands twice in one object"):
        Toy.from_json(twice)


def test_from_json_refuses_a_path_with_a_nul():
    """No system has such a file, and asking for one is a bare ValueError."""
    with pytest.raises(BadData, match="name a file"):
        Toy.from_json(Path("a\0b"))


def test_from_json_reads_at_most_max_bytes(tmp_path):
    """The sentence says the cap and how to raise it; a text and a file are treated alike."""
    text = TOY.to_json()
    file = tmp_path / "toy.json"
    file.write_text(text)
    for source in (text, file):
        assert Toy.from_json(source, max_bytes=len(text)).count == 3
        with pytest.raises(BadData, match=r"at most 99 are read.* raise the cap: max_bytes= "):
            Toy.from_json(source, max_bytes=99)
    with pytest.raises(BadData, match="max_bytes=0: give the largest number"):
        Toy.from_json(text, max_bytes=0)


def test_from_json_refuses_an_object_of_very_many_keys():
    """Settings of 400,000 names took 14 seconds to print."""
    content = {**TOY.to_dict(), "setting": {f"k{i}": i for i in range(10_001)}}
    with pytest.raises(BadData, match="'setting' is .* not an object of at most 10,000 keys"):
        Toy.from_json(json.dumps(content))


@pytest.mark.parametrize("content", [[["nan", 1, -2.5]], [[1, 2], [3, "inf"]], [[1e149]]])
def test_lines_of_reads_the_same_at_once_as_one_by_one(content):
    """The words for NaN and infinity are numbers in both."""
    value = JsonValue(content)
    found = value.lines_of(JsonValue.any_number, int, float)
    one_by_one = [[entry.any_number() for entry in line.each()] for line in value.each()]
    assert np.array_equal(found, one_by_one, equal_nan=True)


def test_a_type_that_no_record_has_is_an_error_of_ours():
    """Sets, say: the one who writes the class learns it at once."""

    @dataclass(frozen=True)
    class Odd(Record):
        names: frozenset

    with pytest.raises(TypeError, match="no type of a record"):
        Odd.from_dict({"names": []})

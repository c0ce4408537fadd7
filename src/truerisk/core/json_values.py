"""JSON read with care: every value is checked, and a sentence names the place of a wrong one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument, BadData
from truerisk.core.present import clean

T = TypeVar("T")

LARGEST = 512 * 2**20  # bytes of a file of results
LARGEST_COUNT = 2**53
LARGEST_INTEGER = 2**63
LARGEST_NUMBER = 1e150  # beyond it differences and squares overflow
WANTED = "give the text that to_json() or --json wrote, or a pathlib.Path of its file."
TO_WRITE = "write results with to_json() or --json."
_WORDS = {"nan": nan, "inf": inf, "-inf": -inf}


def parse(source: str | bytes | Path) -> Any:
    """What a JSON text says, or the file of a Path; NaN, which JSON does not know, is refused."""
    named, remedy = "this", "give the text that to_json() or --json wrote."
    text: str | bytes
    if isinstance(source, Path):
        named, remedy = f"'{clean(str(source), 200)}'", TO_WRITE
        text = _text_of(source)
    elif isinstance(source, str | bytes):
        text = source
    else:
        raise BadArgument(f"{shown(source)}: {WANTED}")
    if not text.strip():
        raise BadData(f"{named} is empty: {TO_WRITE}")
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise BadData(f"{named} is no file of results: it is nested too deeply.") from None
    except ValueError as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        if isinstance(source, str) and source.endswith(".json"):
            remedy = WANTED  # it looks like the name of a file
        raise BadData(f"{named} is no JSON{where}: {remedy}") from None


def _text_of(file: Path) -> str:
    named = f"'{clean(str(file), 200)}'"
    try:
        if file.stat().st_size > LARGEST:
            raise BadData(f"{named} is larger than {LARGEST >> 20} MiB: these are no results.")
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadData(f"{named} is no JSON: it is not text in UTF-8.") from None
    except OSError as error:
        raise BadData(f"{named} cannot be read: {error.strerror}.") from None


def _no_constant(word: str) -> NoReturn:
    raise ValueError(word)


def schema_of(content: Any) -> str:
    """What results say they are; anything else is not of truerisk."""
    schema = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(schema, str) or not schema.startswith("truerisk."):
        raise BadData(
            "this JSON is not of truerisk: a result's to_json(path), or `--json` on the command "
            "line, writes one that is."
        )
    return schema.partition("/")[0]


def require_schema(content: Any, wanted: str, newest: int) -> None:
    """Refuse what is something else, or younger than this truerisk."""
    name = schema_of(content)
    if name != wanted:
        raise BadData(
            f"this is a '{clean(name, 60)}', and a '{wanted}' is wanted: its to_json(path), or "
            "`--json` on the command line, writes one."
        )
    version = content["schema"].partition("/")[2]
    if version.isdecimal() and int(version[:9]) > newest:
        raise BadData(
            f"these results are of version {version[:9]} and this truerisk reads version {newest}: "
            "update truerisk to read them."
        )
    if version != str(newest):
        raise BadData(f"the results name no known version: '{clean(content['schema'], 60)}'.")


@dataclass(frozen=True)
class JsonValue:
    """A value and where it stands in the document."""

    value: Any
    place: str = ""

    def wrong(self, wanted: str) -> NoReturn:
        """Refuse the document for this value."""
        value = clean(json.dumps(self.value), 60)
        raise BadData(f"the results are damaged: '{self.place}' is {value}, not {wanted}.")

    def __getitem__(self, name: str | int) -> JsonValue:
        """A field of an object, which must be there, or the entry of an array."""
        if isinstance(name, int):
            return self.each()[name]
        entries = self._object()
        if name not in entries:
            inside = f"'{self.place}' lacks" if self.place else "they lack"
            raise BadData(f"the results are damaged: {inside} '{name}'.")
        return JsonValue(entries[name], self._inside(name))

    def has(self, name: str) -> bool:
        """Whether an object has that field, None or not."""
        return name in self._object()

    def get(self, name: str) -> JsonValue:
        """A field of an object, None where it is not there."""
        return JsonValue(self._object().get(name), self._inside(name))

    def _inside(self, name: str) -> str:
        return f"{self.place}.{clean(name, 40)}" if self.place else clean(name, 40)

    def _object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            self.wrong("an object")
        return self.value

    def items(self) -> Iterator[tuple[str, JsonValue]]:
        """The fields of an object."""
        return ((name, self[name]) for name in self._object())

    def each(self, longest: int = 10_000_000) -> list[JsonValue]:
        """The entries of an array."""
        if not isinstance(self.value, list):
            self.wrong("an array")
        if len(self.value) > longest:
            self.wrong(f"an array of at most {longest} entries")
        return [JsonValue(entry, f"{self.place}[{i}]") for i, entry in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.wrong("text")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            self.wrong("true or false")
        return self.value

    def integer(self) -> int:
        """A whole number of any sign."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.wrong("a whole number")
        if abs(self.value) > LARGEST_INTEGER:
            self.wrong("a whole number of 64 bits")
        return self.value

    def all_of(self, read: Callable[[JsonValue], T], *plain: type) -> list[T]:
        """The entries of an array, as `read` takes each; at once where all are of `plain` types."""
        entries: Any = self.value
        alike = isinstance(entries, list) and set(map(type, entries)) <= set(plain)
        if alike and max(map(abs, entries), default=0) <= LARGEST_COUNT:
            return list(entries)
        return [read(entry) for entry in self.each()]

    def whole(self) -> int:
        """A whole number, not negative and of a size that things are counted in."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.wrong("a whole number")
        if not 0 <= self.value <= LARGEST_COUNT:
            self.wrong(f"a whole number from 0 to {LARGEST_COUNT}")
        return self.value

    def any_number(self) -> float:
        """A number; NaN and infinity are written as words."""
        if isinstance(self.value, str) and self.value in _WORDS:
            return _WORDS[self.value]
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.wrong("a number")
        if not abs(self.value) <= LARGEST_NUMBER:
            self.wrong("a number that could be drawn")
        return float(self.value)

    def count_or_number(self) -> int | float:
        """A number, whole ones as they are written."""
        value = self.any_number()
        return self.value if isinstance(self.value, int) else value

    def number(self) -> float:
        """A finite number."""
        value = self.any_number()
        if not isfinite(value):
            self.wrong("a finite number")
        return value

    def share(self) -> float:
        """A number from 0 to 1."""
        value = self.number()
        if not 0 <= value <= 1:
            self.wrong("between 0 and 1")
        return value

    def numbers(self) -> list[float]:
        """An array of finite numbers."""
        return [entry.number() for entry in self.each()]

    def shares(self) -> list[float]:
        return [entry.share() for entry in self.each()]

    def maybe(self, read: Callable[[JsonValue], T]) -> T | None:
        """None, or what `read` makes of the value."""
        return None if self.value is None else read(self)

    def texts(self) -> list[str]:
        return [entry.text() for entry in self.each()]

    def words(self) -> dict[str, str]:
        """An object of texts, such as versions."""
        return {name: entry.text() for name, entry in self.items()}

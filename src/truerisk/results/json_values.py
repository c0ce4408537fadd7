"""Read JSON with checks: an error message names the place of any wrong value."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from truerisk.core.arguments import check_count, path_of, shown
from truerisk.core.errors import BadArgument, BadData
from truerisk.core.formats import clean
from truerisk.core.frozen import frozen
from truerisk.results.records import LARGEST_COUNT, MAX_BYTES

T = TypeVar("T")

MOST_KEYS = 10_000  # keys of one object: settings, learners, classes
DEEPEST = 64  # levels of objects and arrays; results have fewer than 20
LARGEST_INTEGER = 2**63
LARGEST_NUMBER = 1e150  # larger numbers overflow in differences and squares
WANTED = "give the text that to_json() or --json wrote, or a pathlib.Path of its file."
TO_WRITE = "write results with to_json() or --json."
_WORDS = {"nan": nan, "inf": inf, "-inf": -inf}


def parse(source: str | bytes | Path, *, max_bytes: int = MAX_BYTES) -> Any:
    """Parse a JSON text, or the file of a Path, and refuse content that no result has.

    NaN, which is not valid JSON, is refused, as are duplicate keys in an object, more than
    `DEEPEST` levels, and more than `max_bytes` of text.
    """
    check_count("max_bytes", max_bytes, 1, "give the largest number of bytes that shall be read")
    named, remedy = "this", "give the text that to_json() or --json wrote."
    text: str | bytes
    if isinstance(source, Path):
        named, remedy = f"'{clean(str(source), 200)}'", TO_WRITE
        text = _text_of(path_of("source", source, "results.json"), max_bytes)
    elif isinstance(source, str | bytes):
        text = source
        _refuse_size(named, len(text), max_bytes)
    else:
        raise BadArgument(f"{shown(source)}: {WANTED}")
    if not text.strip():
        raise BadData(f"{named} is empty: {TO_WRITE}")
    try:
        content = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_object_of)
        is_deep = _is_deeper(content, DEEPEST)
    except RecursionError:
        is_deep = True
    except _KeyTwice as error:
        raise BadData(
            f"{named} is damaged: the key {error} stands twice in one object, and which of the two "
            f"is meant cannot be known; {TO_WRITE}"
        ) from None
    except ValueError as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        if isinstance(source, str) and source.endswith(".json"):
            remedy = WANTED  # The text is probably a file name.
        raise BadData(f"{named} is no JSON{where}: {remedy}") from None
    if is_deep:
        raise BadData(
            f"{named} is no file of results: it is nested too deeply, in more than {DEEPEST} "
            f"levels; {TO_WRITE}"
        )
    return content


class _KeyTwice(Exception):
    """A key that occurs twice in an object, formatted for a message."""


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; raise _KeyTwice if a key occurs twice."""
    content = dict(pairs)
    if len(content) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _KeyTwice(f"'{clean(counts.most_common(1)[0][0], 40)}'")
    return content


def _is_deeper(content: Any, most: int) -> bool:
    """Return True if arrays and objects are nested in more than `most` levels."""
    level = [content]
    for _ in range(most + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _text_of(file: Path, max_bytes: int) -> str:
    """Read a file of at most `max_bytes`; a pipe, which has no size, is read up to this limit."""
    named = f"'{clean(str(file), 200)}'"
    try:
        _refuse_size(named, file.stat().st_size, max_bytes)
        with file.open("rb") as opened:
            content = opened.read(max_bytes + 1)
        _refuse_size(named, len(content), max_bytes)
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise BadData(f"{named} is no JSON: it is not text in UTF-8.") from None
    except OSError as error:
        raise BadData(f"{named} cannot be read: {error.strerror}.") from None


def _refuse_size(named: str, size: int, max_bytes: int) -> None:
    """Raise BadData if a document has more bytes than may be read."""
    if size > max_bytes:
        raise BadData(
            f"{named} holds {size:,} bytes or more, and at most {max_bytes:,} are read: results "
            "are seldom as large. If these are, raise the cap: max_bytes= of from_json(), or "
            "--max-bytes on the command line."
        )


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def schema_of(content: Any) -> str:
    """Return the schema name of results; refuse anything that is not from truerisk."""
    schema = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(schema, str) or not schema.startswith("truerisk."):
        raise BadData(
            "this JSON is not of truerisk: a result's to_json(path), or `--json` on the command "
            "line, writes one that is."
        )
    return schema.partition("/")[0]


@frozen
class JsonValue:
    """A value and its place in the document."""

    value: Any
    place: str = ""

    def wrong(self, wanted: str) -> NoReturn:
        """Refuse the document because of this value."""
        value = clean(json.dumps(self.value), 60)
        place = f"'{self.place}'" if self.place else "the document"
        raise BadData(f"the results are damaged: {place} is {value}, not {wanted}.")

    def __getitem__(self, name: str | int) -> JsonValue:
        """Return a field of an object, which must exist, or the entry of an array."""
        if isinstance(name, int):
            return self.entries()[name]
        entries = self._object()
        if name not in entries:
            inside = f"'{self.place}' lacks" if self.place else "they lack"
            raise BadData(f"the results are damaged: {inside} '{name}'.")
        return JsonValue(entries[name], self._inside(name))

    def has(self, name: str) -> bool:
        """Return True if an object has this field, even if it is None."""
        return name in self._object()

    def get(self, name: str) -> JsonValue:
        """Return a field of an object, None if it does not exist."""
        return JsonValue(self._object().get(name), self._inside(name))

    def _inside(self, name: str) -> str:
        return f"{self.place}.{clean(name, 40)}" if self.place else clean(name, 40)

    def _object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            self.wrong("an object")
        if len(self.value) > MOST_KEYS:
            self.wrong(f"an object of at most {MOST_KEYS:,} keys")
        return self.value

    def items(self) -> Iterator[tuple[str, JsonValue]]:
        """Return an iterator of the fields of an object."""
        return ((name, self[name]) for name in self._object())

    def entries(self, longest: int = 10_000_000) -> list[JsonValue]:
        """Return the entries of an array."""
        if not isinstance(self.value, list):
            self.wrong("an array")
        if len(self.value) > longest:
            self.wrong(f"an array of at most {longest} entries")
        return [JsonValue(entry, f"{self.place}[{i}]") for i, entry in enumerate(self.value)]

    def text(self) -> str:
        """Return the value if it is text; refuse it otherwise."""
        if not isinstance(self.value, str):
            self.wrong("text")
        return self.value

    def flag(self) -> bool:
        """Return the value if it is true or false; refuse it otherwise."""
        if not isinstance(self.value, bool):
            self.wrong("true or false")
        return self.value

    def integer(self) -> int:
        """Return a whole number of any sign."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.wrong("a whole number")
        if not -LARGEST_INTEGER <= self.value < LARGEST_INTEGER:
            self.wrong("a whole number of 64 bits")
        return self.value

    def all_of(self, read: Callable[[JsonValue], T], *plain: type) -> list[T]:
        """Read the entries of an array by `read`; faster if all are of `plain` types.

        If floats are plain, so are the words for NaN and infinity.
        """
        found = _read_at_once(self.value, plain) if isinstance(self.value, list) else None
        return [read(entry) for entry in self.entries()] if found is None else found

    def lines_of(self, read: Callable[[JsonValue], T], *plain: type) -> list[list[T]]:
        """Read the arrays of an array, each as `all_of` does; faster if all are numbers."""
        lines: Any = self.value
        if isinstance(lines, list) and set(map(type, lines)) == {list}:
            numbers = [*chain.from_iterable(lines)]
            if str not in set(map(type, numbers)) and _read_at_once(numbers, plain) is not None:
                return list(lines)
        return [line.all_of(read, *plain) for line in self.entries()]

    def as_count(self) -> int:
        """Return a whole number that is not negative and not too large for a count."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.wrong("a whole number")
        if not 0 <= self.value <= LARGEST_COUNT:
            self.wrong(f"a whole number from 0 to {LARGEST_COUNT}")
        return self.value

    def any_number(self) -> float:
        """Return a number; NaN and infinity are written as words."""
        if isinstance(self.value, str) and self.value in _WORDS:
            return _WORDS[self.value]
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.wrong("a number")
        if not abs(self.value) <= LARGEST_NUMBER:
            self.wrong("a number that could be drawn")
        return float(self.value)

    def count_or_number(self) -> int | float:
        """Return a number; an integer stays an integer."""
        value = self.any_number()
        return self.value if isinstance(self.value, int) else value

    def number(self) -> float:
        """Return a finite number."""
        value = self.any_number()
        if not isfinite(value):
            self.wrong("a finite number")
        return value

    def share(self) -> float:
        """Return a number from 0 to 1."""
        value = self.number()
        if not 0 <= value <= 1:
            self.wrong("between 0 and 1")
        return value

    def numbers(self) -> list[float]:
        """Return an array of finite numbers."""
        return [entry.number() for entry in self.entries()]

    def shares(self) -> list[float]:
        """Return the entries of a list of shares between 0 and 1."""
        return [entry.share() for entry in self.entries()]

    def maybe(self, read: Callable[[JsonValue], T]) -> T | None:
        """Return None for null, else the value read by `read`."""
        return None if self.value is None else read(self)

    def texts(self) -> list[str]:
        """Return the entries of a list of texts."""
        return [entry.text() for entry in self.entries()]

    def words(self) -> dict[str, str]:
        """Return an object of texts, such as versions."""
        return {name: entry.text() for name, entry in self.items()}


def _read_at_once(entries: list[Any], plain: tuple[type, ...]) -> list[Any] | None:
    """Return the entries if all are of `plain` types and of a normal size, else None."""
    kinds = set(map(type, entries))
    if str in kinds and float in plain:
        numbers = [entry for entry in entries if type(entry) is not str]
        if not all(type(entry) is not str or entry in _WORDS for entry in entries):
            return None
        if _read_at_once(numbers, plain) is None:
            return None
        return [_WORDS[entry] if type(entry) is str else entry for entry in entries]
    usual = kinds <= set(plain) and max(map(abs, entries), default=0) <= LARGEST_COUNT
    return list(entries) if usual else None

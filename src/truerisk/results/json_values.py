"""Read JSON with checks: an error message names the path of any wrong value in the document."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from truerisk.core.arguments import check_count, file_path, repr_on_one_line
from truerisk.core.errors import BadArgument, BadData
from truerisk.core.formats import escape_and_truncate
from truerisk.core.frozen import frozen
from truerisk.results.records import LARGEST_COUNT, MAX_BYTES

T = TypeVar("T")

MAX_KEYS = 10_000  # Maximum number of keys of a JSON object, whose keys may be learners or classes.
MAX_NESTING_DEPTH = (
    64  # Maximum depth of nested JSON objects and arrays. Results have fewer than 20 levels.
)
LARGEST_INTEGER = 2**63
# Maximum absolute value of a number. Differences and squares of larger numbers overflow.
LARGEST_NUMBER = 1e150
SOURCE_ADVICE = "give the text that to_json() or --json wrote, or a pathlib.Path of its file."
WRITE_ADVICE = "write results with to_json() or --json."
_NON_FINITE_BY_TEXT = {"nan": nan, "inf": inf, "-inf": -inf}


def parse_json(source: str | bytes | Path, *, max_bytes: int = MAX_BYTES) -> Any:
    """Parse a JSON text or a JSON file, and refuse content that no result of this package has.

    NaN, which is not valid JSON, is refused, as are duplicate keys in an object, more than
    `MAX_NESTING_DEPTH` levels, and more than `max_bytes` of text.
    """
    check_count("max_bytes", max_bytes, 1, "give the largest number of bytes that shall be read")
    source_name, remedy = "this", "give the text that to_json() or --json wrote."
    text: str | bytes
    if isinstance(source, Path):
        source_name, remedy = f"'{escape_and_truncate(str(source), 200)}'", WRITE_ADVICE
        text = _read_file_text(file_path("source", source, "results.json"), max_bytes)
    elif isinstance(source, str | bytes):
        text = source
        _refuse_size(source_name, len(text), max_bytes)
    else:
        raise BadArgument(f"{repr_on_one_line(source)}: {SOURCE_ADVICE}")
    if not text.strip():
        raise BadData(f"{source_name} is empty: {WRITE_ADVICE}")
    try:
        json_content = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_object_from_pairs
        )
        is_deep = _is_deeper(json_content, MAX_NESTING_DEPTH)
    except RecursionError:
        is_deep = True
    except _DuplicateKey as error:
        raise BadData(
            f"{source_name} is damaged: the key {error} stands twice in one object, and which of "
            f"the two is meant cannot be known; {WRITE_ADVICE}"
        ) from None
    except ValueError as error:
        line_note = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        if isinstance(source, str) and source.endswith(".json"):
            remedy = SOURCE_ADVICE  # The source is probably a file name and not JSON.
        raise BadData(f"{source_name} is no JSON{line_note}: {remedy}") from None
    if is_deep:
        raise BadData(
            f"{source_name} is no file of results: it is nested too deeply, in more than "
            f"{MAX_NESTING_DEPTH} levels; {WRITE_ADVICE}"
        )
    return json_content


class _DuplicateKey(Exception):
    """Exception for a key that occurs twice in a JSON object; its text is the key."""


def _object_from_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Convert a JSON object's pairs to a dict; raise _DuplicateKey if a key occurs twice."""
    json_object = dict(pairs)
    if len(json_object) < len(pairs):
        key_counts = Counter(key for key, _ in pairs)
        raise _DuplicateKey(f"'{escape_and_truncate(key_counts.most_common(1)[0][0], 40)}'")
    return json_object


def _is_deeper(json_content: Any, max_depth: int) -> bool:
    """Return True if a JSON text has arrays and objects nested in more than `max_depth` levels."""
    containers = [json_content]
    for _ in range(max_depth + 1):
        containers = [
            child
            for parent in containers
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not containers:
            return False
    return True


def _read_file_text(file: Path, max_bytes: int) -> str:
    """Return the text of a file that has at most `max_bytes` bytes.

    A pipe is read up to this limit.
    """
    file_name = f"'{escape_and_truncate(str(file), 200)}'"
    try:
        _refuse_size(file_name, file.stat().st_size, max_bytes)
        with file.open("rb") as opened_file:
            file_bytes = opened_file.read(max_bytes + 1)
        _refuse_size(file_name, len(file_bytes), max_bytes)
        return file_bytes.decode("utf-8")
    except UnicodeDecodeError:
        raise BadData(f"{file_name} is no JSON: it is not text in UTF-8.") from None
    except OSError as error:
        raise BadData(f"{file_name} cannot be read: {error.strerror}.") from None


def _refuse_size(source_name: str, n_bytes: int, max_bytes: int) -> None:
    """Raise BadData if a JSON document has more than `max_bytes` bytes."""
    if n_bytes > max_bytes:
        raise BadData(
            f"{source_name} holds {n_bytes:,} bytes or more, and at most {max_bytes:,} are read: "
            "results are seldom as large. If these are, raise the cap: max_bytes= of from_json(), "
            "or --max-bytes on the command line."
        )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def read_schema_name(json_content: Any) -> str:
    """Return the schema name of a result without its version; raise BadData if there is none."""
    schema_text = json_content.get("schema") if isinstance(json_content, dict) else None
    if not isinstance(schema_text, str) or not schema_text.startswith("truerisk."):
        raise BadData(
            "this JSON is not of truerisk: a result's to_json(path), or `--json` on the command "
            "line, writes one that is."
        )
    return schema_text.partition("/")[0]


@frozen
class JsonValue:
    """A value of a JSON document, and its path in the document for error messages."""

    value: Any
    path: str = ""

    def refuse(self, wanted: str) -> NoReturn:
        """Raise BadData: the document is damaged, because this value is not what was expected."""
        value_text = escape_and_truncate(json.dumps(self.value), 60)
        path_text = f"'{self.path}'" if self.path else "the document"
        raise BadData(f"the results are damaged: {path_text} is {value_text}, not {wanted}.")

    def __getitem__(self, name: str | int) -> JsonValue:
        """Return a field of an object or an entry of an array; raise BadData if it is missing."""
        if isinstance(name, int):
            return self.entries()[name]
        fields_by_name = self._fields_by_name()
        if name not in fields_by_name:
            missing_text = f"'{self.path}' lacks" if self.path else "they lack"
            raise BadData(f"the results are damaged: {missing_text} '{name}'.")
        return JsonValue(fields_by_name[name], self._field_path(name))

    def has_field(self, name: str) -> bool:
        """Return True if a JSON object has a field of this name, even if its value is null."""
        return name in self._fields_by_name()

    def get(self, name: str) -> JsonValue:
        """Return a field of a JSON object; if the field is missing, its value is None."""
        return JsonValue(self._fields_by_name().get(name), self._field_path(name))

    def _field_path(self, name: str) -> str:
        return (
            f"{self.path}.{escape_and_truncate(name, 40)}"
            if self.path
            else escape_and_truncate(name, 40)
        )

    def _fields_by_name(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            self.refuse("an object")
        if len(self.value) > MAX_KEYS:
            self.refuse(f"an object of at most {MAX_KEYS:,} keys")
        return self.value

    def items(self) -> Iterator[tuple[str, JsonValue]]:
        """Iterate over the names and values of the fields of a JSON object."""
        return ((name, self[name]) for name in self._fields_by_name())

    def entries(self, longest: int = 10_000_000) -> list[JsonValue]:
        """Return the entries of a JSON array with their paths; raise BadData for another value."""
        if not isinstance(self.value, list):
            self.refuse("an array")
        if len(self.value) > longest:
            self.refuse(f"an array of at most {longest} entries")
        return [
            JsonValue(array_entry, f"{self.path}[{i}]") for i, array_entry in enumerate(self.value)
        ]

    def text(self) -> str:
        """Return the JSON value if it is text; raise BadData otherwise."""
        if not isinstance(self.value, str):
            self.refuse("text")
        return self.value

    def boolean(self) -> bool:
        """Return the JSON value if it is true or false; raise BadData otherwise."""
        if not isinstance(self.value, bool):
            self.refuse("true or false")
        return self.value

    def integer(self) -> int:
        """Return the JSON value as a whole number of any sign; raise BadData for another value."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.refuse("a whole number")
        if not -LARGEST_INTEGER <= self.value < LARGEST_INTEGER:
            self.refuse("a whole number of 64 bits")
        return self.value

    def read_entries(self, read_entry: Callable[[JsonValue], T], *plain_types: type) -> list[T]:
        """Return the entries of a JSON array, each converted by `read_entry`.

        If all entries have `plain_types`, they are returned at once, which is fast. If float is
        among these types, the words for NaN and infinity count as floats.
        """
        plain_entries = (
            _entries_if_plain(self.value, plain_types) if isinstance(self.value, list) else None
        )
        return (
            [read_entry(array_entry) for array_entry in self.entries()]
            if plain_entries is None
            else plain_entries
        )

    def read_rows(self, read_entry: Callable[[JsonValue], T], *plain_types: type) -> list[list[T]]:
        """Return the rows of a JSON array of arrays.

        If the array consists of numbers only, it is read faster, without a call for each number.
        """
        rows: Any = self.value
        if isinstance(rows, list) and set(map(type, rows)) == {list}:
            flat_entries = [*chain.from_iterable(rows)]
            if (
                str not in set(map(type, flat_entries))
                and _entries_if_plain(flat_entries, plain_types) is not None
            ):
                return list(rows)
        return [row.read_entries(read_entry, *plain_types) for row in self.entries()]

    def as_count(self) -> int:
        """Return the JSON value if it is a count from 0 to LARGEST_COUNT; else raise BadData."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.refuse("a whole number")
        if not 0 <= self.value <= LARGEST_COUNT:
            self.refuse(f"a whole number from 0 to {LARGEST_COUNT}")
        return self.value

    def any_number(self) -> float:
        """Return the JSON value as a number; "nan", "inf" and "-inf" become NaN and infinities."""
        if isinstance(self.value, str) and self.value in _NON_FINITE_BY_TEXT:
            return _NON_FINITE_BY_TEXT[self.value]
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.refuse("a number")
        if not abs(self.value) <= LARGEST_NUMBER:
            self.refuse("a number that could be drawn")
        return float(self.value)

    def count_or_number(self) -> int | float:
        """Return the JSON value as a number; an integer in the JSON stays an integer."""
        value = self.any_number()
        return self.value if isinstance(self.value, int) else value

    def number(self) -> float:
        """Return the JSON value as a finite number; raise BadData for another value."""
        value = self.any_number()
        if not isfinite(value):
            self.refuse("a finite number")
        return value

    def share(self) -> float:
        """Return the JSON value as a number from 0 to 1; raise BadData for another value."""
        value = self.number()
        if not 0 <= value <= 1:
            self.refuse("between 0 and 1")
        return value

    def numbers(self) -> list[float]:
        """Return the entries of a JSON array as finite numbers."""
        return [array_entry.number() for array_entry in self.entries()]

    def shares(self) -> list[float]:
        """Return the entries of a JSON array as numbers from 0 to 1."""
        return [array_entry.share() for array_entry in self.entries()]

    def read_or_none(self, read_value: Callable[[JsonValue], T]) -> T | None:
        """Return None for a JSON null, else the value converted by `read_value`."""
        return None if self.value is None else read_value(self)

    def texts(self) -> list[str]:
        """Return the entries of a JSON array as texts."""
        return [array_entry.text() for array_entry in self.entries()]

    def text_by_key(self) -> dict[str, str]:
        """Return a JSON object as a dict of texts, such as versions by package name."""
        return {name: field_value.text() for name, field_value in self.items()}


def _entries_if_plain(array_entries: list[Any], plain_types: tuple[type, ...]) -> list[Any] | None:
    """Return the entries of an array if all of them have one of the `plain_types`.

    The result is None if an entry has another type or is too large.

    The words for NaN and infinity are converted to numbers.
    """
    entry_types = set(map(type, array_entries))
    if str in entry_types and float in plain_types:
        non_text_entries = [
            array_entry for array_entry in array_entries if type(array_entry) is not str
        ]
        if not all(
            type(array_entry) is not str or array_entry in _NON_FINITE_BY_TEXT
            for array_entry in array_entries
        ):
            return None
        if _entries_if_plain(non_text_entries, plain_types) is None:
            return None
        return [
            _NON_FINITE_BY_TEXT[array_entry] if type(array_entry) is str else array_entry
            for array_entry in array_entries
        ]
    is_plain = (
        entry_types <= set(plain_types) and max(map(abs, array_entries), default=0) <= LARGEST_COUNT
    )
    return list(array_entries) if is_plain else None

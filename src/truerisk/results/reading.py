"""Read records from their JSON by the types of their fields; imported when JSON is read.

Damaged content is refused with a message that names its place.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial, reduce
from inspect import get_annotations, getattr_static
from pathlib import Path
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import numpy as np

from truerisk.core import formats
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.core.registry import Line
from truerisk.results.earlier_versions import to_present_version
from truerisk.results.json_values import JsonValue, parse
from truerisk.results.records import Column, Range, Record

T = TypeVar("T")
Reader = Callable[[JsonValue], Any]


def read_dict(cls: type[T], content: Mapping[str, Any]) -> T:
    """Read the result that `to_dict` wrote."""
    return read_record(cls, JsonValue(content))


def read_json(cls: type[Record], source: str | bytes | Path, max_bytes: int) -> Record:
    """Read the result that `to_json` wrote; an error message names the file."""
    content = parse(source, max_bytes=max_bytes)
    with formats.named(source.name) if isinstance(source, Path) else nullcontext():
        return cls.from_dict(content)


def read_record(cls: type[T], content: JsonValue) -> T:
    """Read a dataclass from its JSON, in the present or an earlier version of its schema.

    A field that is missing in the document gets its default.
    """
    schema: str = getattr(cls, "schema", "")
    if schema:
        content = to_present_version(content, schema)
    values: dict[str, Any] = {}
    lengths: dict[str, tuple[str, int]] = {}
    for name, (key, read, column, default) in _readers(cls).items():
        if default is not MISSING and not content.has(key):
            values[name] = default() if callable(default) else default
            continue
        values[name] = value = read(content[key])
        if column and value is not None:
            first, n = lengths.setdefault(column, (key, len(value)))
            if len(value) != n:
                content[key].wrong(f"as long as '{first}', {n}")
    try:
        made = cls(**values)
    except (BadArgument, UnknownName) as refusal:
        raise BadData(f"the results are damaged: in '{content.place}', {refusal}") from None
    for name, (key, read_stored) in _stored(cls).items():
        if content.has(key):
            vars(made)[name] = read_stored(content[key])
    flaw = getattr(made, "flaw", None)
    if flaw is not None:
        *path, wanted = flaw
        reduce(JsonValue.__getitem__, path, content).wrong(wanted)
    return made


def _made_readers(cls: Any) -> dict[str, tuple[str, Reader, str, Any]]:
    """Return for each field its key, its reader, its column, and its default."""
    hints, readers = _hints_of_fields(cls), {}
    for each in fields(cls):
        if not each.metadata.get("written", True):
            continue
        default = each.default if each.default_factory is MISSING else each.default_factory
        hint, key = hints[each.name], each.metadata.get("key", each.name)
        readers[each.name] = key, _reader(hint), _column(hint).name, default
    return readers


_readers: Callable[[Any], dict[str, tuple[str, Reader, str, Any]]] = cache(_made_readers)


def _made_stored(cls: Any) -> dict[str, tuple[str, Reader]]:
    """Return the key and the reader of each cached property that is written."""
    stored: Mapping[str, str] = getattr(cls, "stored", {})
    made = {name: getattr_static(cls, name).func for name in stored.values()}
    hints = {
        name: get_type_hints(function, None, _elsewhere(cls), include_extras=True)
        for name, function in made.items()
    }
    return {name: (key, _reader(hints[name]["return"])) for key, name in stored.items()}


_stored: Callable[[Any], dict[str, tuple[str, Reader]]] = cache(_made_stored)


def _column(hint: Any) -> Column:
    """Return the description of an array, which may be combined with None."""
    marks = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Column)]
    if marks or get_origin(hint) not in (Union, types.UnionType):
        return marks[0] if marks else Column()
    return next((column for part in get_args(hint) if (column := _column(part)).name), Column())


def _reader(hint: Any) -> Reader:
    """Return the function that converts JSON to a value of this type."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated(parts[0], hint.__metadata__[0])
    if hint is np.ndarray:
        return _array(Column())
    if hint in SIMPLE:
        return SIMPLE[hint]
    if origin in (Union, types.UnionType):
        return _union(parts)
    if origin is Literal:
        return _one_of(parts)
    if origin in (list, Sequence):
        return _tuple((parts[0], ...))
    if origin is tuple:
        return _tuple(parts)
    if origin is not None and issubclass(origin, Mapping):
        key, each = _number_of if parts[0] is int else lambda name, _: name, _reader(parts[1])
        return lambda content: {key(name, value): each(value) for name, value in content.items()}
    if isinstance(hint, type) and issubclass(hint, _TypeElsewhere):
        return _read_elsewhere(hint.where)
    if is_typeddict(hint):
        values = get_type_hints(hint, include_extras=True)
        return _dict({name: _reader(value) for name, value in values.items()})
    if isinstance(hint, type) and is_dataclass(hint):
        return _mapping(hint) if issubclass(hint, Mapping) else partial(read_record, hint)
    raise TypeError(f"{hint} is no type of a record")


def _mapping(cls: Any) -> Reader:
    """Return the reader of a mapping class that wraps a plain mapping."""
    ((_, read, _, _),) = _readers(cls).values()
    return lambda content: cls(read(content))


def _number_of(name: str, content: JsonValue) -> int:
    """Return the whole number in a key, which JSON writes as text."""
    if not name.isdecimal() or len(name) > 15:
        content.wrong("beside a whole number")
    return int(name)


def _dict(readers: Mapping[str, Reader]) -> Reader:
    return lambda content: {name: read(content[name]) for name, read in readers.items()}


def _read_elsewhere(where: str) -> Reader:
    """Return the reader of a type that is imported when the first value is read."""

    def read(content: JsonValue) -> Any:
        return _reader(Line(where, "").load())(content)

    return read


class _TypeElsewhere:
    """Placeholder in a hint for a type that is imported when a value of it is read."""

    where: ClassVar[str]


def _elsewhere(cls: Any) -> dict[str, Any]:
    """Return a placeholder for each type that a class names by its module."""
    places: Mapping[str, str] = getattr(cls, "_types_elsewhere", {})
    return {name: type(name, (_TypeElsewhere,), {"where": at}) for name, at in places.items()}


def _hints_of_fields(cls: Any) -> dict[str, Any]:
    """Return the types of the fields that are written; other types may be unknown here."""
    written = {each.name for each in fields(cls) if each.metadata.get("written", True)}
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        own = {n: hint for n, hint in get_annotations(base).items() if n in written}
        annotated = types.SimpleNamespace(__annotations__=own)
        names = vars(sys.modules[base.__module__])
        hints |= get_type_hints(annotated, names, _elsewhere(cls), include_extras=True)
    return hints


def _annotated(hint: Any, mark: Range | Column) -> Reader:
    if isinstance(mark, Range):
        return _ranged(_reader(hint), mark)
    if hint is np.ndarray:
        return _array(mark)
    read = _reader(hint)

    def long_enough(content: JsonValue) -> Any:
        if len(value := read(content)) < mark.least:
            content.wrong(f"of {mark.least} entries at least")
        if len(value) > mark.most:
            content.wrong(f"of {mark.most} entries at most")
        return value

    return long_enough


def _ranged(read: Reader, within: Range) -> Reader:
    def ranged(content: JsonValue) -> Any:
        value = read(content)
        if not within.low <= value <= within.high:
            content.wrong(str(within))
        return value

    return ranged


def _union(parts: tuple[Any, ...]) -> Reader:
    """Return the reader of a number, of one type, or of several records; possibly None."""
    types_of_values = [part for part in parts if part is not type(None)]
    mappings = [part for part in types_of_values if get_origin(part) is Mapping]
    if set(types_of_values) == {int, float}:
        read: Reader = JsonValue.count_or_number
    elif mappings and len(types_of_values) == 2:
        read = _number_or(_reader(mappings[0]))
    elif len(types_of_values) > 1:
        read = _of_schema({record_type.schema: record_type for record_type in types_of_values})
    else:
        (one_type,) = types_of_values
        read = _reader(one_type)
    return (lambda content: content.maybe(read)) if type(None) in parts else read


def _number_or(read: Reader) -> Reader:
    """Return a function that reads either one number or several numbers by key."""
    return lambda content: (
        read(content) if isinstance(content.value, Mapping) else content.count_or_number()
    )


def _of_schema(classes: Mapping[str, type[Record]]) -> Reader:
    """Return the reader of a record of one of these classes, chosen by its schema ("" for none)."""
    by_name = {schema.partition("/")[0]: cls for schema, cls in classes.items()}

    def record(content: JsonValue) -> Any:
        schema = content.get("schema").maybe(JsonValue.text) or ""
        name = schema.partition("/")[0]
        if name not in by_name:
            content["schema"].wrong(" or ".join(filter(None, classes)))
        return read_record(by_name[name], content)

    return record


def _one_of(words: tuple[Any, ...]) -> Reader:
    def literal(content: JsonValue) -> Any:
        if content.value not in words:
            content.wrong(f"one of {', '.join(map(repr, words))}")
        return content.value

    return literal


def _tuple(parts: tuple[Any, ...]) -> Reader:
    if parts[-1] is Ellipsis:
        each = _reader(parts[0])
        return lambda content: tuple(each(entry) for entry in content.entries())
    readers = [_reader(part) for part in parts]

    def exactly(content: JsonValue) -> Any:
        entries = content.entries()
        if len(entries) != len(readers):
            content.wrong(f"an array of {len(readers)}")
        return tuple(read(entry) for read, entry in zip(readers, entries, strict=True))

    return exactly


def _array(mark: Column) -> Reader:
    def array(content: JsonValue) -> np.ndarray:
        if mark.kind == "times":
            return _times(content, mark)
        read, *plain = ENTRIES[mark.kind[0]]
        rows: Any = content.lines_of(read, *plain) if mark.n_axes == 2 else None
        if rows is not None and len({len(row) for row in rows}) > 1:
            content.wrong("an array of lines of one length")
        entries = content.all_of(read, *plain) if rows is None else rows
        values = np.array(entries, dtype=mark.kind)
        if len(values) < mark.least:
            content.wrong(f"of {mark.least} entries at least")
        within = mark.numbers
        if within is not None and not ((values >= within.low) & (values <= within.high)).all():
            content.wrong(f"of numbers {within}")
        return values

    return array


def _times(content: JsonValue, mark: Column) -> np.ndarray:
    """Return dates, or numbers."""
    entries = content.entries(mark.most)
    if not entries or not isinstance(entries[0].value, str):
        return np.array([entry.number() for entry in entries], dtype=float)
    texts = [entry.text() for entry in entries]
    if not all(map(DATE.fullmatch, texts)):
        content.wrong("an array of dates, or of numbers")
    try:
        return np.array(texts, dtype="datetime64")
    except ValueError:
        content.wrong("an array of dates, or of numbers")


DATE = re.compile(r"-?\d{4,9}(-\d\d(-\d\d(T[\d:.]{2,18})?)?)?")

SIMPLE: dict[Any, Reader] = {
    Any: lambda found: found.value,
    str: JsonValue.text,
    bool: JsonValue.flag,
    int: JsonValue.integer,
    float: JsonValue.any_number,
}

ENTRIES: dict[str, tuple[Any, ...]] = {
    "f": (JsonValue.any_number, int, float),
    "i": (JsonValue.integer, int),
}

"""Read records from JSON by the type hints of their fields; imported only when JSON is read.

Damaged content raises an error whose message gives its path in the document.
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
from truerisk.core.registry import RegistryEntry
from truerisk.results.earlier_versions import to_present_version
from truerisk.results.json_values import JsonValue, parse
from truerisk.results.records import Column, Range, Record

T = TypeVar("T")
Reader = Callable[[JsonValue], Any]


def read_dict(cls: type[T], content: Mapping[str, Any]) -> T:
    """Build a result of class `cls` from the content that `to_dict` returned."""
    return read_record(cls, JsonValue(content))


def read_json(cls: type[Record], source: str | bytes | Path, max_bytes: int) -> Record:
    """Build a result of class `cls` from JSON that `to_json` wrote; errors name the file."""
    content = parse(source, max_bytes=max_bytes)
    with formats.errors_named(source.name) if isinstance(source, Path) else nullcontext():
        return cls.from_dict(content)


def read_record(cls: type[T], content: JsonValue) -> T:
    """Build a dataclass from its JSON, in the present or an earlier version of its schema.

    A field that is missing in the document gets its default value.
    """
    schema: str = getattr(cls, "schema", "")
    if schema:
        content = to_present_version(content, schema)
    values: dict[str, Any] = {}
    lengths: dict[str, tuple[str, int]] = {}
    for name, (key, read, column, default) in _readers_of(cls).items():
        if default is not MISSING and not content.has(key):
            values[name] = default() if callable(default) else default
            continue
        values[name] = value = read(content[key])
        if column and value is not None:
            first_key, n = lengths.setdefault(column, (key, len(value)))
            if len(value) != n:
                content[key].refuse(f"as long as '{first_key}', {n}")
    try:
        record = cls(**values)
    except (BadArgument, UnknownName) as refusal:
        raise BadData(f"the results are damaged: in '{content.place}', {refusal}") from None
    for name, (key, read_stored) in _stored_readers_of(cls).items():
        if content.has(key):
            vars(record)[name] = read_stored(content[key])
    flaw_path = getattr(record, "flaw", None)
    if flaw_path is not None:
        *path, wanted = flaw_path
        reduce(JsonValue.__getitem__, path, content).refuse(wanted)
    return record


def _build_readers(cls: Any) -> dict[str, tuple[str, Reader, str, Any]]:
    """Return the JSON key, the reader, the column name and the default of each dataclass field."""
    hints, readers = _hints_of_fields(cls), {}
    for data_field in fields(cls):
        if not data_field.metadata.get("written", True):
            continue
        default = (
            data_field.default
            if data_field.default_factory is MISSING
            else data_field.default_factory
        )
        hint, key = hints[data_field.name], data_field.metadata.get("key", data_field.name)
        readers[data_field.name] = key, _reader_of(hint), _column_of(hint).name, default
    return readers


_readers_of: Callable[[Any], dict[str, tuple[str, Reader, str, Any]]] = cache(_build_readers)


def _build_stored_readers(cls: Any) -> dict[str, tuple[str, Reader]]:
    """Return the JSON key and the reader of each cached property that is written to JSON."""
    stored: Mapping[str, str] = getattr(cls, "stored", {})
    functions = {name: getattr_static(cls, name).func for name in stored.values()}
    hints = {
        name: get_type_hints(function, None, _placeholders_of(cls), include_extras=True)
        for name, function in functions.items()
    }
    return {name: (key, _reader_of(hints[name]["return"])) for key, name in stored.items()}


_stored_readers_of: Callable[[Any], dict[str, tuple[str, Reader]]] = cache(_build_stored_readers)


def _column_of(hint: Any) -> Column:
    """Return the `Column` in a type hint, also in a union with None, or an empty `Column`."""
    columns = [
        annotation
        for annotation in getattr(hint, "__metadata__", ())
        if isinstance(annotation, Column)
    ]
    if columns or get_origin(hint) not in (Union, types.UnionType):
        return columns[0] if columns else Column()
    return next(
        (column for argument in get_args(hint) if (column := _column_of(argument)).name), Column()
    )


def _reader_of(hint: Any) -> Reader:
    """Return the function that converts JSON to a value of this type."""
    origin, type_arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _annotated_reader(type_arguments[0], hint.__metadata__[0])
    if hint is np.ndarray:
        return _array_reader(Column())
    if hint in SIMPLE_READERS:
        return SIMPLE_READERS[hint]
    if origin in (Union, types.UnionType):
        return _union_reader(type_arguments)
    if origin is Literal:
        return _literal_reader(type_arguments)
    if origin in (list, Sequence):
        return _tuple_reader((type_arguments[0], ...))
    if origin is tuple:
        return _tuple_reader(type_arguments)
    if origin is not None and issubclass(origin, Mapping):
        read_key, read_value = (
            _key_to_number if type_arguments[0] is int else lambda name, _: name,
            _reader_of(type_arguments[1]),
        )
        return lambda content: {
            read_key(name, value): read_value(value) for name, value in content.items()
        }
    if isinstance(hint, type) and issubclass(hint, _TypeElsewhere):
        return _deferred_reader(hint.module_path)
    if is_typeddict(hint):
        values = get_type_hints(hint, include_extras=True)
        return _dict_reader({name: _reader_of(value) for name, value in values.items()})
    if isinstance(hint, type) and is_dataclass(hint):
        return _mapping_reader(hint) if issubclass(hint, Mapping) else partial(read_record, hint)
    raise TypeError(f"{hint} is no type of a record")


def _mapping_reader(cls: Any) -> Reader:
    """Return the reader of a class that wraps a plain mapping, such as `Breakdown`."""
    ((_, read, _, _),) = _readers_of(cls).values()
    return lambda content: cls(read(content))


def _key_to_number(name: str, content: JsonValue) -> int:
    """Convert the key of a JSON object, which is always text, to a whole number."""
    if not name.isdecimal() or len(name) > 15:
        content.refuse("beside a whole number")
    return int(name)


def _dict_reader(readers: Mapping[str, Reader]) -> Reader:
    return lambda content: {name: read(content[name]) for name, read in readers.items()}


def _deferred_reader(module_path: str) -> Reader:
    """Return the reader of a type whose module is imported when the first value is read."""

    def read(content: JsonValue) -> Any:
        return _reader_of(RegistryEntry(module_path, "").load())(content)

    return read


class _TypeElsewhere:
    """Placeholder in a type hint for a type that is imported when a value of it is read."""

    module_path: ClassVar[str]


def _placeholders_of(cls: Any) -> dict[str, Any]:
    """Return a placeholder for each type in `_types_elsewhere` of a class, by name."""
    module_paths: Mapping[str, str] = getattr(cls, "_types_elsewhere", {})
    return {
        name: type(name, (_TypeElsewhere,), {"module_path": module_path})
        for name, module_path in module_paths.items()
    }


def _hints_of_fields(cls: Any) -> dict[str, Any]:
    """Return the type hints of the fields that are written; other hints may be unresolvable."""
    written_names = {
        data_field.name for data_field in fields(cls) if data_field.metadata.get("written", True)
    }
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        own_hints = {n: hint for n, hint in get_annotations(base).items() if n in written_names}
        annotated = types.SimpleNamespace(__annotations__=own_hints)
        module_names = vars(sys.modules[base.__module__])
        hints |= get_type_hints(annotated, module_names, _placeholders_of(cls), include_extras=True)
    return hints


def _annotated_reader(hint: Any, mark: Range | Column) -> Reader:
    if isinstance(mark, Range):
        return _range_reader(_reader_of(hint), mark)
    if hint is np.ndarray:
        return _array_reader(mark)
    read = _reader_of(hint)

    def read_with_length(content: JsonValue) -> Any:
        if len(value := read(content)) < mark.least:
            content.refuse(f"of {mark.least} entries at least")
        if len(value) > mark.most:
            content.refuse(f"of {mark.most} entries at most")
        return value

    return read_with_length


def _range_reader(read: Reader, allowed_range: Range) -> Reader:
    def read_in_range(content: JsonValue) -> Any:
        value = read(content)
        if not allowed_range.low <= value <= allowed_range.high:
            content.refuse(str(allowed_range))
        return value

    return read_in_range


def _union_reader(type_arguments: tuple[Any, ...]) -> Reader:
    """Return the reader of a union: a number, one type, or one of several records, or None."""
    types_of_values = [argument for argument in type_arguments if argument is not type(None)]
    mappings = [argument for argument in types_of_values if get_origin(argument) is Mapping]
    if set(types_of_values) == {int, float}:
        read_value: Reader = JsonValue.count_or_number
    elif mappings and len(types_of_values) == 2:
        read_value = _number_or_mapping_reader(_reader_of(mappings[0]))
    elif len(types_of_values) > 1:
        read_value = _schema_reader(
            {record_type.schema: record_type for record_type in types_of_values}
        )
    else:
        (one_type,) = types_of_values
        read_value = _reader_of(one_type)
    return (
        (lambda content: content.or_none(read_value))
        if type(None) in type_arguments
        else read_value
    )


def _number_or_mapping_reader(read: Reader) -> Reader:
    """Return a reader of either one number or a mapping of several numbers."""
    return lambda content: (
        read(content) if isinstance(content.value, Mapping) else content.count_or_number()
    )


def _schema_reader(classes: Mapping[str, type[Record]]) -> Reader:
    """Return a reader that chooses among record classes by the schema in the JSON ("" for none)."""
    classes_by_name = {schema.partition("/")[0]: cls for schema, cls in classes.items()}

    def read_by_schema(content: JsonValue) -> Any:
        schema = content.get("schema").or_none(JsonValue.text) or ""
        name = schema.partition("/")[0]
        if name not in classes_by_name:
            content["schema"].refuse(" or ".join(filter(None, classes)))
        return read_record(classes_by_name[name], content)

    return read_by_schema


def _literal_reader(allowed_values: tuple[Any, ...]) -> Reader:
    def read_literal(content: JsonValue) -> Any:
        if content.value not in allowed_values:
            content.refuse(f"one of {', '.join(map(repr, allowed_values))}")
        return content.value

    return read_literal


def _tuple_reader(type_arguments: tuple[Any, ...]) -> Reader:
    if type_arguments[-1] is Ellipsis:
        read_value = _reader_of(type_arguments[0])
        return lambda content: tuple(read_value(entry) for entry in content.entries())
    readers = [_reader_of(argument) for argument in type_arguments]

    def read_fixed_length(content: JsonValue) -> Any:
        entries = content.entries()
        if len(entries) != len(readers):
            content.refuse(f"an array of {len(readers)}")
        return tuple(read(entry) for read, entry in zip(readers, entries, strict=True))

    return read_fixed_length


def _array_reader(mark: Column) -> Reader:
    def read_array(content: JsonValue) -> np.ndarray:
        if mark.kind == "times":
            return _read_times(content, mark)
        read, *plain_types = ENTRY_READERS[mark.kind[0]]
        rows: Any = content.lines_of(read, *plain_types) if mark.n_axes == 2 else None
        if rows is not None and len({len(row) for row in rows}) > 1:
            content.refuse("an array of lines of one length")
        entries = content.all_of(read, *plain_types) if rows is None else rows
        values = np.array(entries, dtype=mark.kind)
        if len(values) < mark.least:
            content.refuse(f"of {mark.least} entries at least")
        allowed_range = mark.numbers
        if (
            allowed_range is not None
            and not ((values >= allowed_range.low) & (values <= allowed_range.high)).all()
        ):
            content.refuse(f"of numbers {allowed_range}")
        return values

    return read_array


def _read_times(content: JsonValue, mark: Column) -> np.ndarray:
    """Convert a JSON array to a NumPy array of dates or of numbers."""
    entries = content.entries(mark.most)
    if not entries or not isinstance(entries[0].value, str):
        return np.array([entry.number() for entry in entries], dtype=float)
    texts = [entry.text() for entry in entries]
    if not all(map(DATE_PATTERN.fullmatch, texts)):
        content.refuse("an array of dates, or of numbers")
    try:
        return np.array(texts, dtype="datetime64")
    except ValueError:
        content.refuse("an array of dates, or of numbers")


DATE_PATTERN = re.compile(r"-?\d{4,9}(-\d\d(-\d\d(T[\d:.]{2,18})?)?)?")

SIMPLE_READERS: dict[Any, Reader] = {
    Any: lambda found: found.value,
    str: JsonValue.text,
    bool: JsonValue.flag,
    int: JsonValue.integer,
    float: JsonValue.any_number,
}

ENTRY_READERS: dict[str, tuple[Any, ...]] = {
    "f": (JsonValue.any_number, int, float),
    "i": (JsonValue.integer, int),
}

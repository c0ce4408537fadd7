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
from truerisk.results.json_values import JsonValue, parse_json
from truerisk.results.records import Column, Range, Record

T = TypeVar("T")
Reader = Callable[[JsonValue], Any]


def read_dict(cls: type[T], content: Mapping[str, Any]) -> T:
    """Build a result of class `cls` from the content that `to_dict` returned."""
    return read_record(cls, JsonValue(content))


def read_json(cls: type[Record], source: str | bytes | Path, max_bytes: int) -> Record:
    """Build a result of class `cls` from JSON that `to_json` wrote.

    Error messages name the file.
    """
    json_content = parse_json(source, max_bytes=max_bytes)
    with formats.prefix_errors(source.name) if isinstance(source, Path) else nullcontext():
        return cls.from_dict(json_content)


def read_record(cls: type[T], json_record: JsonValue) -> T:
    """Build a dataclass from JSON in the present version of its schema, or in an earlier one.

    A field that is missing in the document gets its default value.
    """
    schema: str = getattr(cls, "schema", "")
    if schema:
        json_record = to_present_version(json_record, schema)
    field_values: dict[str, Any] = {}
    column_lengths: dict[str, tuple[str, int]] = {}
    for name, (key, read_field, column, default) in _cached_field_readers(cls).items():
        if default is not MISSING and not json_record.has_field(key):
            field_values[name] = default() if callable(default) else default
            continue
        field_values[name] = value = read_field(json_record[key])
        if column and value is not None:
            first_key, expected_length = column_lengths.setdefault(column, (key, len(value)))
            if len(value) != expected_length:
                json_record[key].refuse(f"as long as '{first_key}', {expected_length}")
    try:
        record = cls(**field_values)
    except (BadArgument, UnknownName) as refusal:
        raise BadData(f"the results are damaged: in '{json_record.path}', {refusal}") from None
    for name, (key, read_stored) in _cached_stored_readers(cls).items():
        if json_record.has_field(key):
            vars(record)[name] = read_stored(json_record[key])
    flaw_path = getattr(record, "flaw", None)
    if flaw_path is not None:
        *path, requirement = flaw_path
        reduce(JsonValue.__getitem__, path, json_record).refuse(requirement)
    return record


def _build_readers(cls: Any) -> dict[str, tuple[str, Reader, str, Any]]:
    """Return how each field of a dataclass is read from JSON, by the name of the field.

    The values are tuples of JSON key, reader, column name and default value.
    """
    hints, readers = _field_type_hints(cls), {}
    for data_field in fields(cls):
        if not data_field.metadata.get("written", True):
            continue
        default = (
            data_field.default
            if data_field.default_factory is MISSING
            else data_field.default_factory
        )
        hint, key = hints[data_field.name], data_field.metadata.get("key", data_field.name)
        readers[data_field.name] = key, _make_reader(hint), _find_column(hint).name, default
    return readers


_cached_field_readers: Callable[[Any], dict[str, tuple[str, Reader, str, Any]]] = cache(
    _build_readers
)


def _build_stored_readers(cls: Any) -> dict[str, tuple[str, Reader]]:
    """Return the JSON key and the reader of each cached property that is written to JSON."""
    stored_properties: Mapping[str, str] = getattr(cls, "stored", {})
    property_functions = {
        name: getattr_static(cls, name).func for name in stored_properties.values()
    }
    hints = {
        name: get_type_hints(function, None, _make_placeholders(cls), include_extras=True)
        for name, function in property_functions.items()
    }
    return {
        name: (key, _make_reader(hints[name]["return"])) for key, name in stored_properties.items()
    }


_cached_stored_readers: Callable[[Any], dict[str, tuple[str, Reader]]] = cache(
    _build_stored_readers
)


def _find_column(hint: Any) -> Column:
    """Return the `Column` annotation in a type hint, or an empty `Column` if there is none.

    The annotation may also be part of a union with None.
    """
    columns = [
        annotation
        for annotation in getattr(hint, "__metadata__", ())
        if isinstance(annotation, Column)
    ]
    if columns or get_origin(hint) not in (Union, types.UnionType):
        return columns[0] if columns else Column()
    return next(
        (column for argument in get_args(hint) if (column := _find_column(argument)).name), Column()
    )


def _make_reader(hint: Any) -> Reader:
    """Return the function that converts JSON to a value of the type that `hint` names."""
    generic_type, type_arguments = get_origin(hint), get_args(hint)
    if generic_type is Annotated:
        return _annotated_reader(type_arguments[0], hint.__metadata__[0])
    if hint is np.ndarray:
        return _array_reader(Column())
    if hint in SIMPLE_READERS:
        return SIMPLE_READERS[hint]
    if generic_type in (Union, types.UnionType):
        return _union_reader(type_arguments)
    if generic_type is Literal:
        return _literal_reader(type_arguments)
    if generic_type in (list, Sequence):
        return _tuple_reader((type_arguments[0], ...))
    if generic_type is tuple:
        return _tuple_reader(type_arguments)
    if generic_type is not None and issubclass(generic_type, Mapping):
        read_key, read_value = (
            _key_to_number if type_arguments[0] is int else lambda name, _: name,
            _make_reader(type_arguments[1]),
        )
        return lambda json_value: {
            read_key(name, value): read_value(value) for name, value in json_value.items()
        }
    if isinstance(hint, type) and issubclass(hint, _DeferredType):
        return _deferred_reader(hint.module_path)
    if is_typeddict(hint):
        values = get_type_hints(hint, include_extras=True)
        return _dict_reader({name: _make_reader(value) for name, value in values.items()})
    if isinstance(hint, type) and is_dataclass(hint):
        return _mapping_reader(hint) if issubclass(hint, Mapping) else partial(read_record, hint)
    raise TypeError(f"{hint} is no type of a record")


def _mapping_reader(cls: Any) -> Reader:
    """Return the reader of a class that wraps a plain mapping, such as `Breakdown`."""
    ((_, read_mapping, _, _),) = _cached_field_readers(cls).values()
    return lambda json_value: cls(read_mapping(json_value))


def _key_to_number(name: str, json_value: JsonValue) -> int:
    """Convert the key of a JSON object, which is always text, to a whole number."""
    if not name.isdecimal() or len(name) > 15:
        json_value.refuse("beside a whole number")
    return int(name)


def _dict_reader(readers: Mapping[str, Reader]) -> Reader:
    return lambda json_value: {
        name: read_field(json_value[name]) for name, read_field in readers.items()
    }


def _deferred_reader(module_path: str) -> Reader:
    """Return the JSON reader of a type; the type's module is imported at the first read."""

    def read(json_value: JsonValue) -> Any:
        return _make_reader(RegistryEntry(module_path, "").load())(json_value)

    return read


class _DeferredType:
    """Placeholder in a type hint for a type whose module is imported when a value is read."""

    module_path: ClassVar[str]


def _make_placeholders(cls: Any) -> dict[str, Any]:
    """Return a placeholder class by name for each type in `_types_elsewhere` of a class."""
    module_paths: Mapping[str, str] = getattr(cls, "_types_elsewhere", {})
    return {
        name: type(name, (_DeferredType,), {"module_path": module_path})
        for name, module_path in module_paths.items()
    }


def _field_type_hints(cls: Any) -> dict[str, Any]:
    """Return the type hints of a class's fields that are written to JSON.

    Other hints may be unresolvable.
    """
    written_names = {
        data_field.name for data_field in fields(cls) if data_field.metadata.get("written", True)
    }
    hints: dict[str, Any] = {}
    for base_class in reversed(cls.__mro__):
        own_hints = {
            n: hint for n, hint in get_annotations(base_class).items() if n in written_names
        }
        annotated_namespace = types.SimpleNamespace(__annotations__=own_hints)
        module_names = vars(sys.modules[base_class.__module__])
        hints |= get_type_hints(
            annotated_namespace, module_names, _make_placeholders(cls), include_extras=True
        )
    return hints


def _annotated_reader(hint: Any, annotation: Range | Column) -> Reader:
    if isinstance(annotation, Range):
        return _range_reader(_make_reader(hint), annotation)
    if hint is np.ndarray:
        return _array_reader(annotation)
    read_value = _make_reader(hint)

    def read_with_length(json_value: JsonValue) -> Any:
        if len(value := read_value(json_value)) < annotation.least:
            json_value.refuse(f"of {annotation.least} entries at least")
        if len(value) > annotation.most:
            json_value.refuse(f"of {annotation.most} entries at most")
        return value

    return read_with_length


def _range_reader(read_number: Reader, allowed_range: Range) -> Reader:
    def read_in_range(json_value: JsonValue) -> Any:
        value = read_number(json_value)
        if not allowed_range.low <= value <= allowed_range.high:
            json_value.refuse(str(allowed_range))
        return value

    return read_in_range


def _union_reader(type_arguments: tuple[Any, ...]) -> Reader:
    """Return the JSON reader of a union type.

    The union is of None with a number, with one other type, or with several record classes.
    """
    non_none_types = [argument for argument in type_arguments if argument is not type(None)]
    mapping_types = [argument for argument in non_none_types if get_origin(argument) is Mapping]
    if set(non_none_types) == {int, float}:
        read_value: Reader = JsonValue.count_or_number
    elif mapping_types and len(non_none_types) == 2:
        read_value = _number_or_mapping_reader(_make_reader(mapping_types[0]))
    elif len(non_none_types) > 1:
        read_value = _schema_reader(
            {record_type.schema: record_type for record_type in non_none_types}
        )
    else:
        (only_type,) = non_none_types
        read_value = _make_reader(only_type)
    return (
        (lambda json_value: json_value.read_or_none(read_value))
        if type(None) in type_arguments
        else read_value
    )


def _number_or_mapping_reader(read_mapping: Reader) -> Reader:
    """Return a reader of a JSON value that is either one number or a mapping of numbers."""
    return lambda json_value: (
        read_mapping(json_value)
        if isinstance(json_value.value, Mapping)
        else json_value.count_or_number()
    )


def _schema_reader(classes: Mapping[str, type[Record]]) -> Reader:
    """Return a reader that chooses the record class by the schema name in the JSON.

    A class under the schema "" is chosen for JSON without a schema.
    """
    classes_by_name = {schema.partition("/")[0]: cls for schema, cls in classes.items()}

    def read_by_schema(json_record: JsonValue) -> Any:
        schema = json_record.get("schema").read_or_none(JsonValue.text) or ""
        name = schema.partition("/")[0]
        if name not in classes_by_name:
            json_record["schema"].refuse(" or ".join(filter(None, classes)))
        return read_record(classes_by_name[name], json_record)

    return read_by_schema


def _literal_reader(allowed_values: tuple[Any, ...]) -> Reader:
    def read_literal(json_value: JsonValue) -> Any:
        if json_value.value not in allowed_values:
            json_value.refuse(f"one of {', '.join(map(repr, allowed_values))}")
        return json_value.value

    return read_literal


def _tuple_reader(type_arguments: tuple[Any, ...]) -> Reader:
    if type_arguments[-1] is Ellipsis:
        read_value = _make_reader(type_arguments[0])
        return lambda json_array: tuple(
            read_value(array_entry) for array_entry in json_array.entries()
        )
    readers = [_make_reader(argument) for argument in type_arguments]

    def read_fixed_length(json_array: JsonValue) -> Any:
        array_entries = json_array.entries()
        if len(array_entries) != len(readers):
            json_array.refuse(f"an array of {len(readers)}")
        return tuple(
            read_entry(array_entry)
            for read_entry, array_entry in zip(readers, array_entries, strict=True)
        )

    return read_fixed_length


def _array_reader(column: Column) -> Reader:
    def read_array(json_array: JsonValue) -> np.ndarray:
        if column.kind == "times":
            return _read_times(json_array, column)
        read_entry, *plain_types = ENTRY_READERS[column.kind[0]]
        rows: Any = json_array.read_rows(read_entry, *plain_types) if column.n_axes == 2 else None
        if rows is not None and len({len(row) for row in rows}) > 1:
            json_array.refuse("an array of lines of one length")
        array_entries = json_array.read_entries(read_entry, *plain_types) if rows is None else rows
        values = np.array(array_entries, dtype=column.kind)
        if len(values) < column.least:
            json_array.refuse(f"of {column.least} entries at least")
        allowed_range = column.numbers
        if (
            allowed_range is not None
            and not ((values >= allowed_range.low) & (values <= allowed_range.high)).all()
        ):
            json_array.refuse(f"of numbers {allowed_range}")
        return values

    return read_array


def _read_times(json_array: JsonValue, column: Column) -> np.ndarray:
    """Convert a JSON array to a NumPy array of dates or of numbers."""
    array_entries = json_array.entries(column.most)
    if not array_entries or not isinstance(array_entries[0].value, str):
        return np.array([array_entry.number() for array_entry in array_entries], dtype=float)
    texts = [array_entry.text() for array_entry in array_entries]
    if not all(map(DATE_PATTERN.fullmatch, texts)):
        json_array.refuse("an array of dates, or of numbers")
    try:
        return np.array(texts, dtype="datetime64")
    except ValueError:
        json_array.refuse("an array of dates, or of numbers")


DATE_PATTERN = re.compile(r"-?\d{4,9}(-\d\d(-\d\d(T[\d:.]{2,18})?)?)?")

SIMPLE_READERS: dict[Any, Reader] = {
    Any: lambda found: found.value,
    str: JsonValue.text,
    bool: JsonValue.boolean,
    int: JsonValue.integer,
    float: JsonValue.any_number,
}

ENTRY_READERS: dict[str, tuple[Any, ...]] = {
    "f": (JsonValue.any_number, int, float),
    "i": (JsonValue.integer, int),
}

"""Results that are data: written as JSON, and read back into the same class, by their types.

The fields of a frozen dataclass say what its JSON holds. What a type cannot say stands in
`Annotated`: the range of a number, the dtype and the axes of an array, and which columns are as
long as each other. What is damaged is refused by a sentence that names its place.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache, partial, reduce
from inspect import getattr_static
from math import inf
from pathlib import Path
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import numpy as np

from truerisk.core import present
from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.results.earlier_versions import to_present_version
from truerisk.results.json_values import MAX_BYTES, JsonValue, parse
from truerisk.results.writing import Written

T = TypeVar("T")
Reader = Callable[[JsonValue], Any]


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`."""

    low: float
    high: float

    def __str__(self) -> str:
        most = "" if self.high >= 1e15 else f" and {self.high:g} at most"
        return f"{self.low:g} at least{most}"


@dataclass(frozen=True)
class Column:
    """An array, or a tuple, as long as the other columns with this `name`; "" for any length.

    `kind` is a dtype, or "times": dates or numbers.
    """

    name: str = ""
    kind: str = "f8"
    n_axes: int = 1
    least: int = 0
    most: int = 10_000_000
    numbers: Range | None = None


Share = Annotated[float, Range(0, 1)]
Count = Annotated[int, Range(0, 2**53)]
FINITE = Range(-1e150, 1e150)
Finite = Annotated[float, FINITE]
Points = Annotated[np.ndarray, Column("points", least=1, numbers=FINITE)]
Positive = Annotated[int, Range(1, 2**53)]
Perfect = Annotated[float, Range(FINITE.low, inf)]
Size = Annotated[float, Range(0, FINITE.high)]


UNWRITTEN = {"written": False}
"""`field(metadata=UNWRITTEN)` is no part of the JSON, nor of a result that was read from it.

Another name in the JSON is `field(metadata={"key": ...})`.
"""

UNLESS_EMPTY = {"written": "unless empty"}
"""`field(metadata=UNLESS_EMPTY)` is left out of the JSON where it is empty, which few are not."""


class Record(Written):
    """A frozen result whose JSON is its fields and, beside them, the properties in `derived`.

    Those in `stored` are read again, too: cached properties of what is no part of the JSON, such as
    rows. Both name properties, or map a key of the JSON to each.
    """

    schema: ClassVar[str] = ""
    derived: ClassVar[tuple[str, ...] | Mapping[str, str]] = ()
    stored: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Read the result that `to_dict` wrote."""
        return read_record(cls, JsonValue(content))

    @classmethod
    def from_json(cls, source: str | bytes | Path, *, max_bytes: int = MAX_BYTES) -> Self:
        """Read the result that `to_json` wrote.

        Parameters
        ----------
        source : str, bytes or pathlib.Path
            The text, or the Path of its file.
        max_bytes : int, default 64 MiB
            Refuse a larger document.

        Returns
        -------
        Self
            A result of this class.

        Raises
        ------
        BadData
            If the document is damaged, of another class, or too large. One sentence names the
            place.
        """
        content = parse(source, max_bytes=max_bytes)
        with present.named(source.name) if isinstance(source, Path) else nullcontext():
            return cls.from_dict(content)

    def __str__(self) -> str:
        return "\n\n".join(block.text for block in self.blocks())

    def to_frame(self) -> Any:
        """Its lines as a frame of pandas, or of polars where only that is installed.

        There is a line for each of its `measures`, or for each entry of its first array and of
        those that are as long; else one line, where a number of a part has its path for a name,
        `interval.low`, and lists are left out.
        """
        measures = getattr(self, "measures", None)
        if measures is not None:
            return present.frame_of_rows(
                [dict(present.leaves(measure.to_dict())) for measure in measures.values()]
            )
        known = fields(self)  # type: ignore[arg-type]  # every record is a dataclass
        written = {f.name: getattr(self, f.name) for f in known if f.metadata != UNWRITTEN}
        arrays = {n: a for n, a in written.items() if isinstance(a, np.ndarray) and a.ndim == 1}
        lengths = [len(array) for array in arrays.values()]
        if lengths:
            return present.frame_of({n: a for n, a in arrays.items() if len(a) == lengths[0]})
        return present.frame_of_rows([dict(present.leaves(self.to_dict()))])

    def frame(self, *args: Any, **options: Any) -> Any:
        """`to_frame` by its older name."""
        return self.to_frame(*args, **options)


def read_record(cls: type[T], content: JsonValue) -> T:
    """Read a dataclass from its JSON, of this or an earlier version of its schema.

    A field that the document lacks has its default.
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
    """How to read each field, the column it is, and its default where it may be lacking."""
    hints, readers = _hints(cls), {}
    for each in fields(cls):
        if not each.metadata.get("written", True):
            continue
        default = each.default if each.default_factory is MISSING else each.default_factory
        hint, key = hints[each.name], each.metadata.get("key", each.name)
        readers[each.name] = key, _reader(hint), _column(hint).name, default
    return readers


_readers: Callable[[Any], dict[str, tuple[str, Reader, str, Any]]] = cache(_made_readers)


def _made_stored(cls: Any) -> dict[str, tuple[str, Reader]]:
    """How to read each cached property that is written, and its key."""
    stored: Mapping[str, str] = getattr(cls, "stored", {})
    made = {name: getattr_static(cls, name).func for name in stored.values()}
    return {name: (key, _reader(_hints(made[name])["return"])) for key, name in stored.items()}


_stored: Callable[[Any], dict[str, tuple[str, Reader]]] = cache(_made_stored)


def _column(hint: Any) -> Column:
    """What is said of an array, None beside it or not."""
    marks = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Column)]
    if marks or get_origin(hint) not in (Union, types.UnionType):
        return marks[0] if marks else Column()
    return next((column for part in get_args(hint) if (column := _column(part)).name), Column())


def _reader(hint: Any) -> Reader:
    """How JSON becomes a value of this type."""
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
    if is_typeddict(hint):
        return _dict({name: _reader(value) for name, value in _hints(hint).items()})
    if isinstance(hint, type) and is_dataclass(hint):
        return _mapping(hint) if issubclass(hint, Mapping) else partial(read_record, hint)
    raise TypeError(f"{hint} is no type of a record")


def _mapping(cls: Any) -> Reader:
    """A mapping with a class of its own, which holds a plain one."""
    ((_, read, _, _),) = _readers(cls).values()
    return lambda content: cls(read(content))


def _number_of(name: str, content: JsonValue) -> int:
    """The whole number that is a key: JSON writes it as a text."""
    if not name.isdecimal() or len(name) > 15:
        content.wrong("beside a whole number")
    return int(name)


def _dict(readers: Mapping[str, Reader]) -> Reader:
    return lambda content: {name: read(content[name]) for name, read in readers.items()}


def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


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
    """A number as it is written, or a value of one type or of several records; or None."""
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
    """One number, or several by a key."""
    return lambda content: (
        read(content) if isinstance(content.value, Mapping) else content.count_or_number()
    )


def _of_schema(classes: Mapping[str, type[Record]]) -> Reader:
    """Read a record of one of these classes; the schema tells which, "" where there is none."""
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
        return lambda content: tuple(each(entry) for entry in content.each())
    readers = [_reader(part) for part in parts]

    def exactly(content: JsonValue) -> Any:
        entries = content.each()
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
    """Dates, or numbers."""
    entries = content.each(mark.most)
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

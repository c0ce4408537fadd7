"""JSON of an earlier version: accepted here, and converted to what the present version means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from truerisk.core.errors import BadData
from truerisk.core.present import clean
from truerisk.results.json_values import JsonValue, schema_of

Conversion = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def _with_scoring(record: Any) -> Any:
    """Rename `loss` of version 1 to `scoring`; a part that is no mapping stays as it is."""
    if not isinstance(record, Mapping) or "loss" not in record:
        return record
    return {"scoring" if name == "loss" else name: value for name, value in record.items()}


def _of_parts(*parts: str) -> Conversion:
    """Return the same for a record with parts, or lists of parts, of these names.

    Parts that name a schema of their own are converted by its entry.
    """
    names = frozenset(parts)

    def convert(record: Mapping[str, Any]) -> Mapping[str, Any]:
        converted = dict(_with_scoring(record))
        for name in names & converted.keys():
            part = converted[name]
            if isinstance(part, list):
                converted[name] = [_with_scoring(each) for each in part]
            elif isinstance(part, Mapping) and "schema" not in part:
                converted[name] = _with_scoring(part)
        return converted

    return convert


def _assessment(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert an assessment, whose learners may have risks over time."""
    converted = dict(_of_parts("differences")(record))
    learners = converted.get("learners")
    if isinstance(learners, Mapping):
        converted["learners"] = {
            name: _of_parts("over_time")(each) if isinstance(each, Mapping) else each
            for name, each in learners.items()
        }
    return converted


CONVERSIONS: Mapping[str, Conversion] = {
    "truerisk.assessment/1": _assessment,
    "truerisk.audit/1": _of_parts("claimed", "rough", "honest"),
    "truerisk.comparison/1": _with_scoring,
    "truerisk.permutation-test/1": _with_scoring,
    "truerisk.risk-estimate/1": _with_scoring,
    "truerisk.subgroups/1": _of_parts("risks"),
    "truerisk.validation/1": _of_parts("updating"),
}
"""Functions that turn the plain values of a record into those of the next version, by schema.

An entry "truerisk.audit/1" turns version 1 of an audit into version 2, before any field is read. A
schema without an entry means the same in both versions. A record inside another names its own
schema and is converted by its own entry; a part without a schema is converted with its record.
"""


def to_present_version(content: JsonValue, schema: str) -> JsonValue:
    """Convert a record of this schema to the version that the schema names.

    Parameters
    ----------
    content : JsonValue
        The record as it was written, by this version or an earlier one.
    schema : str
        Name and present version, such as "truerisk.audit/2".

    Returns
    -------
    JsonValue
        The record as this version writes it.

    Raises
    ------
    BadData
        If the record is another, or of a version that is unknown or later.
    """
    name, _, present = schema.partition("/")
    for version in range(_version_of(content, schema), int(present)):
        convert = CONVERSIONS.get(f"{name}/{version}")
        if convert is not None:
            content = JsonValue(convert(content.value), content.place)
    return content


def _version_of(content: JsonValue, schema: str) -> int:
    """Return the version of a record; refuse another record, and a version that is not read."""
    name, _, present = schema.partition("/")
    is_inside = bool(content.place)
    if is_inside:
        found = content["schema"].value
        if not isinstance(found, str) or found.partition("/")[0] != name:
            content["schema"].wrong(f"'{schema}'")
    elif (whole := schema_of(content.value)) != name:
        raise BadData(
            f"this is a '{clean(whole, 60)}', and a '{name}' is wanted: its to_json(path), or "
            "`--json` on the command line, writes one."
        )
    named = content["schema"].value
    version = named.partition("/")[2]
    known = [str(each) for each in range(1, int(present) + 1)]
    if version in known:
        return int(version)
    if version.isdecimal() and int(version[:9]) > int(present):
        raise BadData(
            f"these results are of version {version[:9]} of '{name}', and this truerisk reads "
            f"versions 1 to {present}: upgrade truerisk to read them."
        )
    if is_inside:
        content["schema"].wrong(f"'{schema}'")
    raise BadData(f"the results name no known version: '{clean(named, 60)}'.")

"""Read JSON of earlier versions, and convert it to the present version.

Version 1 named the score `loss`, and all its values were losses: an AUC of .8 was written as .2,
together with `perfect` 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from truerisk.core.errors import BadData
from truerisk.core.formats import clean
from truerisk.results.interval import RISKS_OF_PARTS
from truerisk.results.json_values import JsonValue, schema_of

Conversion = Callable[[Mapping[str, Any]], Any]


def _with_scoring(record: Any) -> Any:
    """Rename `loss` of version 1 to `scoring`; leave a value that is not a mapping unchanged."""
    if not isinstance(record, Mapping) or "loss" not in record:
        return record
    return {"scoring" if name == "loss" else name: value for name, value in record.items()}


def _turned(value: Any, perfect: float) -> Any:
    """Return the score of a loss, of each of several losses, or of both ends of an interval.

    A value that is not a number is returned unchanged, and refused where it is read.
    """
    if isinstance(value, list):
        return [_turned(each, perfect) for each in value]
    if isinstance(value, Mapping):
        ends = {"low": value.get("high"), "high": value.get("low")}
        return {**value, **{name: _turned(end, perfect) for name, end in ends.items()}}
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return perfect - value


def _perfect_of(record: Any) -> float | None:
    """Return the score of an error-free rule given in a record of version 1, or None."""
    perfect = record.get("perfect") if isinstance(record, Mapping) else None
    if isinstance(perfect, bool) or not isinstance(perfect, int | float):
        return None
    return float(perfect)


def _scored(record: Any, perfect: float | None, *names: str) -> Any:
    """Convert the named entries from losses to scores; no `perfect` means no conversion."""
    if perfect is None or not isinstance(record, Mapping):
        return record
    entries = {name: _turned(record[name], perfect) for name in names if name in record}
    return {**record, **entries}


def _estimate(record: Any) -> Any:
    """Convert an estimate, or a number that a search reports."""
    record = _with_scoring(record)
    perfect = _perfect_of(record)
    record = _scored(record, perfect, "value", "interval", "shrunken")
    table = record.get("table") if isinstance(record, Mapping) else None
    if perfect is None or not isinstance(table, Mapping):
        return record
    if isinstance(numbers := table.get("numbers"), Mapping):
        return {**record, "table": {**table, "numbers": _scored(numbers, perfect, *RISKS_OF_PARTS)}}
    return {**record, "table": _scored(table, perfect, *RISKS_OF_PARTS)}


def _comparison(record: Any, is_score: Any = None) -> Any:
    """Convert a comparison, whose difference was that of two losses."""
    record = _with_scoring(record)
    if not isinstance(record, Mapping):
        return record
    is_score = record.get("is_score", False) if is_score is None else is_score
    rest = {name: value for name, value in record.items() if name != "is_score"}
    if is_score is True:
        rest = _scored(rest, 0.0, "difference", "mean", "statistic", "interval")
    return {**rest, "greater_is_better": is_score}


def _permutation_test(record: Mapping[str, Any]) -> Any:
    return _scored(_with_scoring(record), _perfect_of(record), "observed", "null")


def _over_time(record: Any) -> Any:
    """Convert risks over time, and exchange the ends of the band."""
    record, perfect = _with_scoring(record), _perfect_of(record)
    if perfect is None:
        return record
    ends = {"low": record.get("high"), "high": record.get("low")}
    turned = _scored({**record, **ends}, perfect, "values", "low", "high")
    return _scored(turned, 0.0, "slope")


def _parts(record: Any, **convert: Callable[[Any], Any]) -> Any:
    """Return the record with the named parts converted; lists are converted entry by entry."""
    if not isinstance(record, Mapping):
        return record
    found = dict(record)
    for name in convert.keys() & found.keys():
        part = found[name]
        is_list = isinstance(part, list)
        found[name] = [convert[name](each) for each in part] if is_list else convert[name](part)
    return found


def _convert_stated(record: Any) -> Any:
    """Convert a number that a search reports; an estimate has a schema and an entry of its own."""
    return record if isinstance(record, Mapping) and "schema" in record else _estimate(record)


def _audit(record: Mapping[str, Any]) -> Any:
    names = ("claimed", "rough", "honest", "choosing")
    perfect = _perfect_of(record.get("claimed"))
    return _scored(_parts(record, **dict.fromkeys(names, _convert_stated)), perfect, "risks")


def _of_subgroups(record: Any) -> Any:
    """Convert one score of all subgroups."""
    return _parts(_with_scoring(record), whole=_estimate, levels=_estimate)


def _assessment(record: Mapping[str, Any]) -> Any:
    """Convert an assessment; the risk of its best learner shows whether it is about a score."""
    learners = record.get("learners")
    best = learners.get(str(record.get("best"))) if isinstance(learners, Mapping) else None
    perfect = _perfect_of(best.get("risk")) if isinstance(best, Mapping) else None

    def fold(part: Any) -> Any:
        return _scored(part, perfect, "risk", "inner_risk")

    def learner(part: Any) -> Any:
        return _parts(part, outer=fold, over_time=_over_time)

    def every(part: Any) -> Any:
        return _parts(part, **dict.fromkeys(part, learner)) if isinstance(part, Mapping) else part

    def difference(part: Any) -> Any:
        return _comparison(part, perfect is not None)

    converted = _parts(_with_scoring(record), differences=difference, learners=every)
    return _scored(converted, perfect, "baseline")


CONVERSIONS: Mapping[str, Conversion] = {
    "truerisk.assessment/1": _assessment,
    "truerisk.audit/1": _audit,
    "truerisk.comparison/1": _comparison,
    "truerisk.permutation-test/1": _permutation_test,
    "truerisk.risk-estimate/1": _estimate,
    "truerisk.subgroups/1": lambda record: _parts(record, risks=_of_subgroups),
    "truerisk.validation/1": lambda record: _parts(record, updating=_with_scoring),
}
"""Functions that turn the plain values of a record into those of the next version, by schema.

An entry "truerisk.audit/1" converts version 1 of an audit to version 2, before any field is read. A
schema without an entry has the same meaning in both versions. A record inside another names its own
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
    """Return the version of a record; refuse other records and unsupported versions."""
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

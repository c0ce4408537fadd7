"""Convert results that earlier versions of truerisk wrote as JSON to the present version.

Version 1 named the score `loss`, and all its values were losses: an AUC of .8 was written as .2,
together with `perfect` 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from truerisk.core.errors import BadData
from truerisk.core.formats import escape_and_truncate
from truerisk.results.interval import BREAKDOWN_RISK_NAMES
from truerisk.results.json_values import JsonValue, read_schema_name

Conversion = Callable[[Mapping[str, Any]], Any]


def _rename_loss_to_scoring(record: Any) -> Any:
    """Rename the key `loss` of a version-1 JSON record to `scoring`.

    A value that is no such record is returned unchanged.
    """
    if not isinstance(record, Mapping) or "loss" not in record:
        return record
    return {"scoring" if name == "loss" else name: value for name, value in record.items()}


def _loss_to_score(value: Any, perfect_score: float) -> Any:
    """Convert a loss, a list of losses or the two ends of an interval to scores.

    A value that is not a number is returned unchanged, and refused where it is read.
    """
    if isinstance(value, list):
        return [_loss_to_score(loss, perfect_score) for loss in value]
    if isinstance(value, Mapping):
        swapped_ends = {"low": value.get("high"), "high": value.get("low")}
        return {
            **value,
            **{
                name: _loss_to_score(interval_end, perfect_score)
                for name, interval_end in swapped_ends.items()
            },
        }
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return perfect_score - value


def _read_perfect_score(record: Any) -> float | None:
    """Return the score of an error-free model that a version-1 JSON record states, or None."""
    perfect_score = record.get("perfect") if isinstance(record, Mapping) else None
    if isinstance(perfect_score, bool) or not isinstance(perfect_score, int | float):
        return None
    return float(perfect_score)


def _with_scores(record: Any, perfect_score: float | None, *names: str) -> Any:
    """Convert the named fields of a record from losses to scores.

    If `perfect_score` is None, the fields are losses in every version and do not change.
    """
    if perfect_score is None or not isinstance(record, Mapping):
        return record
    converted_entries = {
        name: _loss_to_score(record[name], perfect_score) for name in names if name in record
    }
    return {**record, **converted_entries}


def _convert_estimate(record: Any) -> Any:
    """Convert a risk in a version-1 JSON record from loss to score.

    The risk is an estimate or a number that a search reports.
    """
    record = _rename_loss_to_scoring(record)
    perfect_score = _read_perfect_score(record)
    record = _with_scores(record, perfect_score, "value", "interval", "shrunken")
    table = record.get("table") if isinstance(record, Mapping) else None
    if perfect_score is None or not isinstance(table, Mapping):
        return record
    if isinstance(table_numbers := table.get("numbers"), Mapping):
        return {
            **record,
            "table": {
                **table,
                "numbers": _with_scores(table_numbers, perfect_score, *BREAKDOWN_RISK_NAMES),
            },
        }
    return {**record, "table": _with_scores(table, perfect_score, *BREAKDOWN_RISK_NAMES)}


def _convert_comparison(record: Any, is_score: Any = None) -> Any:
    """Convert a version-1 comparison to the difference of two scores if it compares scores.

    Version 1 stored the difference of the two losses even for scores.
    """
    record = _rename_loss_to_scoring(record)
    if not isinstance(record, Mapping):
        return record
    is_score = record.get("is_score", False) if is_score is None else is_score
    converted_fields = {name: value for name, value in record.items() if name != "is_score"}
    if is_score is True:
        converted_fields = _with_scores(
            converted_fields, 0.0, "difference", "mean", "statistic", "interval"
        )
    return {**converted_fields, "greater_is_better": is_score}


def _convert_permutation_test(record: Mapping[str, Any]) -> Any:
    return _with_scores(
        _rename_loss_to_scoring(record), _read_perfect_score(record), "observed", "null"
    )


def _convert_risk_over_time(record: Any) -> Any:
    """Convert risks over time to scores, and exchange the lower and upper ends of their band."""
    record, perfect_score = _rename_loss_to_scoring(record), _read_perfect_score(record)
    if perfect_score is None:
        return record
    swapped_ends = {"low": record.get("high"), "high": record.get("low")}
    converted_record = _with_scores(
        {**record, **swapped_ends}, perfect_score, "values", "low", "high"
    )
    return _with_scores(converted_record, 0.0, "slope")


def _convert_entries(record: Any, **converters: Callable[[Any], Any]) -> Any:
    """Convert the named fields of a record, each field by its own function.

    A list is converted item by item.
    """
    if not isinstance(record, Mapping):
        return record
    converted_record = dict(record)
    for name in converters.keys() & converted_record.keys():
        field_value = converted_record[name]
        is_list = isinstance(field_value, list)
        converted_record[name] = (
            [converters[name](list_item) for list_item in field_value]
            if is_list
            else converters[name](field_value)
        )
    return converted_record


def _convert_reported_risk(record: Any) -> Any:
    """Convert a number that a search reports from loss to score.

    A record with a schema of its own is returned unchanged.
    """
    return (
        record if isinstance(record, Mapping) and "schema" in record else _convert_estimate(record)
    )


def _convert_audit(record: Mapping[str, Any]) -> Any:
    reported_names = ("claimed", "rough", "honest", "choosing")
    perfect_score = _read_perfect_score(record.get("claimed"))
    return _with_scores(
        _convert_entries(record, **dict.fromkeys(reported_names, _convert_reported_risk)),
        perfect_score,
        "risks",
    )


def _convert_subgroups(record: Any) -> Any:
    """Convert the risks of all subgroups for one score of version 1 from losses to scores."""
    return _convert_entries(
        _rename_loss_to_scoring(record), whole=_convert_estimate, levels=_convert_estimate
    )


def _convert_assessment(record: Mapping[str, Any]) -> Any:
    """Convert an assessment of version 1; its best learner shows whether its values are scores."""
    learners = record.get("learners")
    best_learner = learners.get(str(record.get("best"))) if isinstance(learners, Mapping) else None
    perfect_score = (
        _read_perfect_score(best_learner.get("risk")) if isinstance(best_learner, Mapping) else None
    )

    def convert_fold(fold: Any) -> Any:
        return _with_scores(fold, perfect_score, "risk", "inner_risk")

    def convert_learner(learner: Any) -> Any:
        return _convert_entries(learner, outer=convert_fold, over_time=_convert_risk_over_time)

    def convert_all_learners(learners_by_name: Any) -> Any:
        return (
            _convert_entries(learners_by_name, **dict.fromkeys(learners_by_name, convert_learner))
            if isinstance(learners_by_name, Mapping)
            else learners_by_name
        )

    def convert_difference(difference: Any) -> Any:
        return _convert_comparison(difference, perfect_score is not None)

    converted_record = _convert_entries(
        _rename_loss_to_scoring(record),
        differences=convert_difference,
        learners=convert_all_learners,
    )
    return _with_scores(converted_record, perfect_score, "baseline")


def _without_censored_rows(record: Any) -> Any:
    """Add that the number of censored rows is unknown to the numbers of rows."""
    return {"n_censored": None, **record} if isinstance(record, Mapping) else record


CONVERSIONS: Mapping[str, Conversion] = {
    "truerisk.assessment/1": _convert_assessment,
    "truerisk.audit/1": _convert_audit,
    "truerisk.comparison/1": _convert_comparison,
    "truerisk.permutation-test/1": _convert_permutation_test,
    "truerisk.risk-estimate/1": _convert_estimate,
    "truerisk.subgroups/1": lambda record: _convert_entries(record, risks=_convert_subgroups),
    "truerisk.validation/1": lambda record: _convert_entries(
        record, rows=_without_censored_rows, updating=_rename_loss_to_scoring
    ),
}
"""Functions that convert the JSON content of a record to its next version, by schema and version.

An entry "truerisk.audit/1" converts version 1 of an audit to version 2, before any field is read. A
schema without an entry has the same meaning in both versions. A record inside another names its own
schema and is converted by its own entry; one without a schema is converted with its outer record.
"""


def to_present_version(content: JsonValue, schema: str) -> JsonValue:
    """Convert the JSON content of a record to the version that `schema` names.

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
    name, _, present_version = schema.partition("/")
    for version in range(_read_version(content, schema), int(present_version)):
        convert = CONVERSIONS.get(f"{name}/{version}")
        if convert is not None:
            content = JsonValue(convert(content.value), content.path)
    return content


def _read_version(json_record: JsonValue, schema: str) -> int:
    """Return the version number in the schema of a JSON record.

    BadData is raised if the record has another schema or an unknown version.
    """
    name, _, present_version = schema.partition("/")
    is_nested_record = bool(json_record.path)
    if is_nested_record:
        inner_schema = json_record["schema"].value
        if not isinstance(inner_schema, str) or inner_schema.partition("/")[0] != name:
            json_record["schema"].refuse(f"'{schema}'")
    elif (schema_name := read_schema_name(json_record.value)) != name:
        raise BadData(
            f"this is a '{escape_and_truncate(schema_name, 60)}', and a '{name}' is wanted: its "
            "to_json(path), or `--json` on the command line, writes one."
        )
    written_schema = json_record["schema"].value
    version = written_schema.partition("/")[2]
    known_versions = [str(version_number) for version_number in range(1, int(present_version) + 1)]
    if version in known_versions:
        return int(version)
    if version.isdecimal() and int(version[:9]) > int(present_version):
        raise BadData(
            f"these results are of version {version[:9]} of '{name}', and this truerisk reads "
            f"versions 1 to {present_version}: upgrade truerisk to read them."
        )
    if is_nested_record:
        json_record["schema"].refuse(f"'{schema}'")
    raise BadData(
        f"the results name no known version: '{escape_and_truncate(written_schema, 60)}'."
    )

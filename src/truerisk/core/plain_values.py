"""Conversion of results to plain values, for JSON and for experiment trackers such as MLflow."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from truerisk.core.arguments import is_number
from truerisk.core.formats import escape_and_truncate, format_dates, strip_folders

_INVALID_IN_METRIC_NAME = re.compile(
    r"[^\w. /-]|^[./]+|(?<=/)[./]+|/+$"
)  # MLflow refuses metric names such as ../a.


def to_json_value(value: Any) -> Any:
    """Convert a value to JSON types; objects of any other type, such as estimators, become text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    if isinstance(value, np.generic):
        return to_json_value(value.item())
    if isinstance(value, np.ndarray):
        is_date = value.dtype.kind == "M"
        return [
            to_json_value(list_element)
            for list_element in (format_dates(value) if is_date else value).tolist()
        ]
    if isinstance(value, Mapping):
        return {
            str(key_of_entry): to_json_value(entry_value)
            for key_of_entry, entry_value in value.items()
        }
    if isinstance(value, Sequence | set | frozenset):
        return [to_json_value(list_element) for list_element in value]
    if is_dataclass(value) and not isinstance(value, type):
        schema, derived_names = getattr(value, "schema", ""), getattr(value, "derived", ())
        derived_names = (
            derived_names
            if isinstance(derived_names, Mapping)
            else {field_name: field_name for field_name in derived_names}
        )
        written_fields = [
            dataclass_field
            for dataclass_field in fields(value)
            if _is_written(value, dataclass_field)
        ]
        name_by_key = {
            dataclass_field.metadata.get("key", dataclass_field.name): dataclass_field.name
            for dataclass_field in written_fields
        }
        name_by_key |= {**derived_names, **getattr(value, "stored", {})}
        schema_entry = {"schema": schema} if schema else {}
        return {
            **schema_entry,
            **{
                key: to_json_value(getattr(value, field_name))
                for key, field_name in name_by_key.items()
            },
        }
    return escape_and_truncate(strip_folders(str(value)))


def _is_written(instance: Any, dataclass_field: Any) -> bool:
    """Return True if this field of a dataclass instance is part of its JSON form.

    The metadata entry "written" of a field says if the field is written always, never or "unless
    empty".
    """
    if dataclass_field.metadata.get("written", True) != "unless empty":
        return bool(dataclass_field.metadata.get("written", True))
    return bool(getattr(instance, dataclass_field.name))


def iterate_leaves(content: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and texts in nested mappings, each with its dotted path; skip lists."""
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from iterate_leaves(value, f"{path}{key}.")
        elif not isinstance(value, list):
            yield f"{path}{key}", value


def extract_metrics(nested_mapping: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite numbers in nested mappings, by paths that experiment trackers accept.

    >>> extract_metrics(
    ...     {"auc": 0.5, "../b": {"n": 2, "a": float("nan"), "t": "x", "b%": 1, "b#": 2}}
    ... )
    {'auc': 0.5, '_b.n': 2.0, '_b.b_': 1.0, '_b.b__': 2.0}
    """
    metrics: dict[str, float] = {}
    for dotted_path, value in iterate_leaves(nested_mapping):
        # An integer, for instance a class label, may be too large for a double.
        if is_number(value) and math.isfinite(float(value)):
            metric_name = _INVALID_IN_METRIC_NAME.sub("_", dotted_path)
            # Distinguish names that differ only in replaced characters.
            while metric_name in metrics:
                metric_name += "_"
            metrics[metric_name] = float(value)
    return metrics

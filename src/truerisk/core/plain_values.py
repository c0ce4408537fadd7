"""Conversion of results to plain values, for JSON and for experiment trackers such as MLflow."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from truerisk.core.arguments import is_number
from truerisk.core.formats import dates_text, escape_and_truncate, without_folders

_UNTRACKED = re.compile(r"[^\w. /-]|^[./]+|(?<=/)[./]+|/+$")  # MLflow refuses paths such as ../a.


def to_plain(value: Any) -> Any:
    """Convert a value to JSON types; objects of any other type, such as estimators, become text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, np.ndarray):
        is_date = value.dtype.kind == "M"
        return [to_plain(entry) for entry in (dates_text(value) if is_date else value).tolist()]
    if isinstance(value, Mapping):
        return {str(k): to_plain(entry) for k, entry in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [to_plain(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        schema, derived_names = getattr(value, "schema", ""), getattr(value, "derived", ())
        derived_names = (
            derived_names
            if isinstance(derived_names, Mapping)
            else {name: name for name in derived_names}
        )
        written_fields = [
            dataclass_field
            for dataclass_field in fields(value)
            if _is_written(value, dataclass_field)
        ]
        names = {
            dataclass_field.metadata.get("key", dataclass_field.name): dataclass_field.name
            for dataclass_field in written_fields
        }
        names |= {**derived_names, **getattr(value, "stored", {})}
        head = {"schema": schema} if schema else {}
        return {**head, **{key: to_plain(getattr(value, name)) for key, name in names.items()}}
    return escape_and_truncate(without_folders(str(value)))


def _is_written(value: Any, field: Any) -> bool:
    """Return False for fields that are never written, and for empty fields that may be omitted."""
    if field.metadata.get("written", True) != "unless empty":
        return bool(field.metadata.get("written", True))
    return bool(getattr(value, field.name))


def leaves(content: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and texts in nested mappings, each with its dotted path; skip lists."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{path}{name}.")
        elif not isinstance(value, list):
            yield f"{path}{name}", value


def metrics_of(content: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite numbers in nested mappings, by paths that experiment trackers accept.

    >>> metrics_of({"auc": 0.5, "../b": {"n": 2, "a": float("nan"), "t": "x", "b%": 1, "b#": 2}})
    {'auc': 0.5, '_b.n': 2.0, '_b.b_': 1.0, '_b.b__': 2.0}
    """
    metrics: dict[str, float] = {}
    for path, value in leaves(content):
        # An integer, for instance a class label, may be too large for a double.
        if is_number(value) and math.isfinite(float(value)):
            name = _UNTRACKED.sub("_", path)
            while name in metrics:  # Distinguish names that differ only in replaced characters.
                name += "_"
            metrics[name] = float(value)
    return metrics

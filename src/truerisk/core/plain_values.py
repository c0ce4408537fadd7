"""Convert results to plain values, for JSON and for experiment trackers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from truerisk.core.arguments import is_number
from truerisk.core.formats import clean, dates_text, without_folders

_UNTRACKED = re.compile(r"[^\w. /-]|^[./]+|(?<=/)[./]+|/+$")  # MLflow refuses paths such as ../a.


def plain(value: Any) -> Any:
    """Convert a value for JSON; other values, such as an estimator in a grid, become text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        dates = value.dtype.kind == "M"
        return [plain(v) for v in (dates_text(value) if dates else value).tolist()]
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [plain(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        schema, derived = getattr(value, "schema", ""), getattr(value, "derived", ())
        derived = derived if isinstance(derived, Mapping) else {name: name for name in derived}
        written = [each for each in fields(value) if _is_written(value, each)]
        names = {each.metadata.get("key", each.name): each.name for each in written}
        names |= {**derived, **getattr(value, "stored", {})}
        head = {"schema": schema} if schema else {}
        return {**head, **{key: plain(getattr(value, name)) for key, name in names.items()}}
    return clean(without_folders(str(value)))


def _is_written(value: Any, field: Any) -> bool:
    """Return False for fields that are never written, and for empty ones that may be omitted."""
    if field.metadata.get("written", True) != "unless empty":
        return bool(field.metadata.get("written", True))
    return bool(getattr(value, field.name))


def leaves(content: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and texts of nested plain values, with their paths."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{path}{name}.")
        elif not isinstance(value, list):
            yield f"{path}{name}", value


def metrics_of(content: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite numbers of nested plain values, by paths that trackers accept as names.

    >>> metrics_of({"auc": 0.5, "../b": {"n": 2, "a": float("nan"), "t": "x", "b%": 1, "b#": 2}})
    {'auc': 0.5, '_b.n': 2.0, '_b.b_': 1.0, '_b.b__': 2.0}
    """
    metrics: dict[str, float] = {}
    for path, value in leaves(content):
        # A label may be an integer that a double cannot hold.
        if is_number(value) and math.isfinite(float(value)):
            name = _UNTRACKED.sub("_", path)
            while name in metrics:  # Distinguish names that differ only in replaced characters.
                name += "_"
            metrics[name] = float(value)
    return metrics

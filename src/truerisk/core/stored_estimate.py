"""A written estimate read again: what it lacks, or what was changed in it, is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from truerisk.core.arguments import is_number, shown
from truerisk.core.breakdown import Breakdown
from truerisk.core.errors import BadData
from truerisk.core.interval import Interval

__all__ = ["SCHEMA", "content_of", "values_of"]

SCHEMA = "truerisk.risk-estimate/1"
YOUNGER: dict[str, Any] = {  # than the schema
    "perfect": None,
    "scores": {},
    "table": None,
    "splits": None,
    "n_groups": None,
    "weighted": False,
    "ordered": False,
    "placed": False,
}
ARRAYS = {"losses": "f8", "split_risks": "f8", "loss_rows": "i8", "splits": "i8"}


def content_of(text: str) -> Mapping[str, Any]:
    """What the text of a stored estimate holds."""
    try:
        content: Mapping[str, Any] = json.loads(text)
    except (TypeError, ValueError) as error:
        raise BadData(f"this is not a stored estimate: it is no JSON ({error}).") from None
    return content


def values_of(content: Any, names: Iterable[str]) -> dict[str, Any]:
    """The values of these names, each of its type; the estimates of further scores as written."""
    if not hasattr(content, "get") or content.get("schema") != SCHEMA:
        raise BadData(f"this is not a stored estimate: its schema is not '{SCHEMA}'.")
    content = YOUNGER | dict(content)
    lacking = sorted(set(names) - set(content))
    if lacking:
        raise BadData(f"this stored estimate lacks {', '.join(lacking)}: it was cut.")
    values = {name: content[name] for name in names}
    for name in ("value", "std_error"):
        if values[name] is not None and not is_number(values[name]):
            raise BadData(f"{name} of this stored estimate is {shown(values[name])}: no number.")
    try:
        if values["interval"] is not None:
            values["interval"] = Interval(**values["interval"])
        for name, kind in ARRAYS.items():
            if values[name] is not None:
                values[name] = np.array(values[name], dtype=kind)  # JSON says NaN as "nan"
        if values["table"] is not None:
            values["table"] = Breakdown(values["table"])
        values["notes"] = tuple(values["notes"])
        values["scores"] = dict(values["scores"].items())
    except (TypeError, ValueError, AttributeError) as error:
        raise BadData(f"this stored estimate was changed: {error}.") from None
    return values

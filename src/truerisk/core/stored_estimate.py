"""A written estimate read again: what it lacks, or what was changed in it, is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from truerisk.core.arguments import as_array, shown
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
    "positive": None,
}
NONE, NUMBER = type(None), (int, float)
KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("method", "target", "bias", "loss", "engine"), (str,)),
    **dict.fromkeys(("value", "std_error", "perfect"), (*NUMBER, NONE)),
    **dict.fromkeys(("n_rows", "n_fits"), (int,)),
    "n_groups": (int, NONE),
    "seconds": NUMBER,
    "params": (dict,),
    "notes": (list,),
    "table": (dict, NONE),
}
"""What JSON may hold under a name, as far as results count on it."""

ARRAYS = {
    "losses": ("f8", 1),
    "split_risks": ("f8", 1),
    "loss_rows": ("i8", 1),
    "splits": ("i8", 2),
}


def content_of(text: str) -> Mapping[str, Any]:
    """What the text of a stored estimate holds."""
    try:
        content: Mapping[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
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
    for name, kinds in KINDS.items():
        if not isinstance(values[name], kinds) or isinstance(values[name], bool):
            raise BadData(f"this stored estimate was changed: {name} is {shown(values[name])}.")
    try:
        for name in ("value", "std_error", "perfect"):
            values[name] = None if values[name] is None else float(values[name])
        if values["interval"] is not None:
            values["interval"] = Interval(**values["interval"])
        for name, (kind, n_axes) in ARRAYS.items():
            if values[name] is not None:
                values[name] = as_array(values[name], kind)  # JSON says NaN as "nan"
                if values[name].ndim != n_axes:
                    raise ValueError(f"{name} has {values[name].ndim} dimensions")
        if values["table"] is not None:
            values["table"] = Breakdown(values["table"])
        values["notes"] = tuple(map(str, values["notes"]))
        values["scores"] = dict(values["scores"].items())
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise BadData(f"this stored estimate was changed: {error}.") from None
    return values

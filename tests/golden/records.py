"""From the answer of a call to what is kept of it: text, JSON, warnings, or the refusal."""

import json
import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from truerisk.extend import TrueRiskError

__all__ = ["differences", "record"]

PASSING = ("versions", "seconds", "created", "truerisk", "schema_version")
"""Keys of JSON that change from run to run or from release to release."""
VERSION = re.compile(r"\b(truerisk|sklearn|scikit-learn|numpy|NumPy|scipy|python|Python) \d[\w.]*")
LONG = 12
CLOSE = 1e-7


def record(call: Callable[[], Any]) -> dict[str, Any]:
    """What the call says, without the seconds that it took."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            answer = _plain(call())
        except TrueRiskError as error:  # a refusal is an answer
            answer = {"refused": f"{type(error).__name__}: {error}"}
    said = sorted({f"{one.category.__name__}: {one.message}" for one in heard})
    return {"answer": answer, **({"warnings": said} if said else {})}


def _plain(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return {"text": _timeless(str(value)), "json": _plain(json.loads(value.to_json()))}
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items() if key not in PASSING}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return _digest(value) if _is_long(value) else [_plain(one) for one in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return _timeless(str(value))


def _is_long(values: Any) -> bool:
    return len(values) > LONG and all(isinstance(one, int | float) for one in values)


def _digest(values: Any) -> dict[str, float]:
    """Length, sum, and a sum that hangs on the order, in the place of a long list of numbers."""
    ordered = math.fsum(one * math.cos(place) for place, one in enumerate(values))
    return {"n": len(values), "sum": math.fsum(values), "ordered": ordered}


def _timeless(text: str) -> str:
    """Without versions, and without the last column of an assessment's table, its seconds."""
    text = VERSION.sub(r"\1 …", text)
    lines = text.splitlines()
    head = next((line for line in lines if line.rstrip().endswith("  time")), None)
    if head is None:
        return text
    end = len(head.rstrip().removesuffix("time").rstrip())  # seconds end where "time" does
    first = lines.index(head)
    until = lines.index("", first) if "" in lines[first:] else len(lines)
    return "\n".join(
        line[:end].rstrip() if first <= number < until else line
        for number, line in enumerate(lines)
    )


def differences(kept: Any, new: Any, where: str = "") -> list[str]:
    """Where the two differ, numbers beyond a ten-millionth of their size."""
    if isinstance(kept, dict) and isinstance(new, dict):
        return [
            line
            for key in sorted({*kept, *new})
            for line in differences(kept.get(key), new.get(key), f"{where}.{key}")
        ]
    if isinstance(kept, list) and isinstance(new, list) and len(kept) == len(new):
        return [
            line
            for place, pair in enumerate(zip(kept, new, strict=True))
            for line in differences(*pair, f"{where}[{place}]")
        ]
    numbers = all(isinstance(one, int | float) for one in (kept, new))
    if numbers and math.isclose(kept, new, rel_tol=CLOSE, abs_tol=CLOSE):
        return []
    return [] if kept == new else [f"{where}: {kept!r} is now {new!r}"]

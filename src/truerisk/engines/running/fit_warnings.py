"""Warnings of single fits, kept apart so that a thousand fits say the same thing once."""

from __future__ import annotations

import re
import threading
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from truerisk.core.errors import BadData, first_line, kind_of, said_by, warn
from truerisk.core.formats import clean
from truerisk.core.identity import PIPELINE, is_a
from truerisk.data.data import Data, columns
from truerisk.data.targets import as_shown

Warned = tuple[type[Warning], str]

_NUMBER = re.compile(r"(?:(?<!\w)-)?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
_COUNTED = re.compile(r"(.*) \[(\d+) times in (\d+) fits\]", re.DOTALL)


@contextmanager
def kept_warnings() -> Iterator[list[Warned]]:
    """Collect what the user's filters let through; only in a main thread, where filters are ours.

    In other threads warnings go their usual way: `catch_warnings` would race.
    """
    warned: list[Warned] = []
    if threading.current_thread() is not threading.main_thread():
        yield warned
        return
    with warnings.catch_warnings(record=True) as caught:
        try:
            yield warned
        finally:
            warned.extend((w.category, str(w.message)) for w in caught)


class Tally:
    """Warnings counted as they come: each distinct one is held once, however many fits give it.

    Texts that differ in their numbers only (a duality gap, say) are one warning, said as the first.
    """

    def __init__(self, warned: Iterable[Warned] = ()) -> None:
        self._texts: dict[tuple[type[Warning], str], str] = {}
        self._times: Counter[tuple[type[Warning], str]] = Counter()
        self.add(warned)

    def add(self, warned: Iterable[Warned]) -> None:
        """Count what a fit warned of."""
        for category, text in warned:
            key = category, alike(text)
            self._texts.setdefault(key, text)
            self._times[key] += 1

    def say(self, n_fits: int) -> None:
        """Repeat each distinct warning once, with how many fits gave it."""
        for key, text in self._texts.items():
            warn(counted(text, self._times[key], n_fits), key[0])


def alike(text: str) -> str:
    """The text without its numbers: what two tellings of one warning share.

    >>> alike("gap 1.5e-3 after 20 steps")
    'gap # after # steps'
    >>> alike("best gain: -inf"), alike("best gain: -0.5") == alike("best gain: 0")
    ('best gain: -inf', True)
    """
    return _NUMBER.sub("#", text)


def counted(text: str, times: int, n_fits: int) -> str:
    """The text with how many of so many fits gave it; of one fit, the text alone.

    >>> counted("no convergence", 3, 10)
    'no convergence [3 times in 10 fits]'
    """
    return text if n_fits <= 1 else f"{text} [{times} times in {n_fits} fits]"


def apart(said: str) -> tuple[str, int, int]:
    """What `counted` joined: the text, how many times, in how many fits; (text, 1, 0) for others.

    >>> apart("no convergence [3 times in 10 fits]")
    ('no convergence', 3, 10)
    """
    match = _COUNTED.fullmatch(said)
    return (match[1], int(match[2]), int(match[3])) if match else (said, 1, 0)


def reason_of(model: Any, data: Data, y: np.ndarray, error: BaseException) -> tuple[str, str]:
    """What a failing fit says, and the kind of its error: of the data where these are at fault.

    `y` are the targets of the rows that it was to learn from.
    """
    why = f"{_step_of(model, error)}{said_by(error)}{_advice(error)}"
    where = columns().non_finite(data.X)
    # scikit-learn has no kind of its own for gaps, which a pipeline may impute.
    gaps = any(word in first_line(error).lower() for word in ("nan", "infinity", "missing"))
    if where is not None and gaps:
        return f"{where} ({why})", BadData.__name__
    what = (
        columns().unreadable(data.X)
        if _speaks_of_cells(error) or "float() argument" in why
        else None
    )
    if what is not None and what.startswith("X has dates"):  # NumPy's words are long and tell less
        return f"{_step_of(model, error)}{what}", BadData.__name__
    if what is not None and _speaks_of_cells(error):
        return f"{what} ({why})", BadData.__name__
    if data.classes is not None and len(np.unique(y)) == 1:
        only = clean(repr(as_shown(y[0])), 40)
        return f"its training rows hold class {only} only ({why})", kind_of(error)
    return why, kind_of(error)


def _step_of(model: Any, error: BaseException) -> str:
    """The step of a pipeline, before its learner, whose code raised the error; or nothing."""
    steps = model.steps[:-1] if is_a(model, PIPELINE) else []
    names = {id(step): name for name, step in steps}
    trace = error.__traceback__
    while trace is not None:
        name = names.get(id(trace.tb_frame.f_locals.get("self")))
        if name is not None:
            return f"step '{name}': "
        trace = trace.tb_next
    return ""


def _advice(error: BaseException) -> str:
    """What to do about what is common: a new level, no memory, a fit that lacks rows to end it."""
    if isinstance(error, MemoryError):
        return " (use fewer workers, fewer rows, or a setting of the model that needs less memory)"
    complaint = first_line(error)
    if "unknown categories" in complaint:
        return " (a level that no training row had: set handle_unknown='ignore' of the encoder)"
    if "Invalid classes inferred" in complaint:  # of XGBoost, whose classes are 0, 1, …
        return " (LabelledXGBClassifier of truerisk.models.labelled_xgboost takes any labels)"
    if "early stopping" in complaint.lower() and "at least" in complaint:
        return " (tr.models.EarlyStopping(model) sets rows of each training set aside for it)"
    return ""


def _speaks_of_cells(error: BaseException) -> bool:
    """Whether the complaint is that text, dates or equal names were read as columns of numbers."""
    complaint = f"{type(error).__name__} {first_line(error)}".lower()
    return any(word in complaint for word in ("to float", "dtype", "unique column names"))

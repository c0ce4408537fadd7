"""Record the warnings of single fits, so that a warning of a thousand fits is shown once."""

from __future__ import annotations

import re
import threading
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from truerisk.core.errors import BadData, first_line, kind_of, message_of, warn
from truerisk.core.formats import clean
from truerisk.core.identity import PIPELINE, is_a
from truerisk.data.data import Data, columns
from truerisk.data.targets import as_shown

Warned = tuple[type[Warning], str]

_NUMBER = re.compile(r"(?:(?<!\w)-)?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
_COUNTED = re.compile(r"(.*) \[(\d+) times in (\d+) fits\]", re.DOTALL)


@contextmanager
def collect_warnings() -> Iterator[list[Warned]]:
    """Collect the warnings of the block that the user's filters let through.

    This is done only in the main thread. In other threads warnings are issued as usual, because
    `catch_warnings` is not thread-safe.
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
    """Counts of warnings: each distinct warning is stored once, however many fits issue it.

    Texts that differ in their numbers only (such as a duality gap) are one warning, which is shown
    with its first text.
    """

    def __init__(self, warned: Iterable[Warned] = ()) -> None:
        self._texts: dict[tuple[type[Warning], str], str] = {}
        self._times: Counter[tuple[type[Warning], str]] = Counter()
        self.add(warned)

    def add(self, warned: Iterable[Warned]) -> None:
        """Count the warnings of a fit."""
        for category, text in warned:
            key = category, alike(text)
            self._texts.setdefault(key, text)
            self._times[key] += 1

    def say(self, n_fits: int) -> None:
        """Issue each distinct warning once, with the number of fits that caused it."""
        for key, text in self._texts.items():
            warn(counted(text, self._times[key], n_fits), key[0])


def alike(text: str) -> str:
    """Return the text without its numbers, which is equal for two instances of one warning.

    >>> alike("gap 1.5e-3 after 20 steps")
    'gap # after # steps'
    >>> alike("best gain: -inf"), alike("best gain: -0.5") == alike("best gain: 0")
    ('best gain: -inf', True)
    """
    return _NUMBER.sub("#", text)


def counted(text: str, times: int, n_fits: int) -> str:
    """Return the text with the number of fits that caused it; of a single fit, the text alone.

    >>> counted("no convergence", 3, 10)
    'no convergence [3 times in 10 fits]'
    """
    return text if n_fits <= 1 else f"{text} [{times} times in {n_fits} fits]"


def split_counted(text: str) -> tuple[str, int, int]:
    """Split a text of `counted` into the text, the number of times and the number of fits.

    Return (text, 1, 0) for any other text.

    >>> split_counted("no convergence [3 times in 10 fits]")
    ('no convergence', 3, 10)
    """
    match = _COUNTED.fullmatch(text)
    return (match[1], int(match[2]), int(match[3])) if match else (text, 1, 0)


def reason_of(model: Any, data: Data, y: np.ndarray, error: BaseException) -> tuple[str, str]:
    """Return why a fit failed, and the name of the error class: BadData if the data are at fault.

    `y` are the targets of the fit's training rows.
    """
    why = f"{_step_of(model, error)}{message_of(error)}{_advice(error)}"
    where = columns().non_finite(data.X)
    # scikit-learn raises no error class of its own for missing values, which a pipeline may impute.
    gaps = any(name in first_line(error).lower() for name in ("nan", "infinity", "missing"))
    if where is not None and gaps:
        return f"{where} ({why})", BadData.__name__
    what = (
        columns().unreadable(data.X)
        if _speaks_of_cells(error) or "float() argument" in why
        else None
    )
    # NumPy's message is long and less specific.
    if what is not None and what.startswith("X has dates"):
        return f"{_step_of(model, error)}{what}", BadData.__name__
    if what is not None and _speaks_of_cells(error):
        return f"{what} ({why})", BadData.__name__
    if data.classes is not None and len(np.unique(y)) == 1:
        only = clean(repr(as_shown(y[0])), 40)
        return f"its training rows hold class {only} only ({why})", kind_of(error)
    return why, kind_of(error)


def _step_of(model: Any, error: BaseException) -> str:
    """Return the name of the preprocessing step whose code raised the error, or an empty string."""
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
    """Return advice on common causes, such as an unseen category or too little memory."""
    if isinstance(error, MemoryError):
        return " (use fewer workers, fewer rows, or a setting of the model that needs less memory)"
    complaint = first_line(error)
    if "unknown categories" in complaint:
        return " (a level that no training row had: set handle_unknown='ignore' of the encoder)"
    if "Invalid classes inferred" in complaint:  # XGBoost expects the classes 0, 1, …
        return " (LabelledXGBClassifier of truerisk.models.labelled_xgboost takes any labels)"
    if "early stopping" in complaint.lower() and "at least" in complaint:
        return " (tr.models.EarlyStopping(model) sets rows of each training set aside for it)"
    return ""


def _speaks_of_cells(error: BaseException) -> bool:
    """Return True if text, dates or equal column names were read as numeric columns."""
    complaint = f"{type(error).__name__} {first_line(error)}".lower()
    return any(name in complaint for name in ("to float", "dtype", "unique column names"))

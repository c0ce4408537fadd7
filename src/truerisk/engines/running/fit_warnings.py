"""Record the warnings of single fits, so that a warning of many fits is shown only once."""

from __future__ import annotations

import re
import threading
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from truerisk.core.errors import BadData, builtin_type_name, describe_error, first_line, warn
from truerisk.core.formats import escape_and_truncate
from truerisk.core.identity import PIPELINE, is_a
from truerisk.data.data import Data, columns
from truerisk.data.targets import to_python_scalar

FitWarning = tuple[type[Warning], str]

_NUMBER_PATTERN = re.compile(r"(?:(?<!\w)-)?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
_COUNTED_TEXT_PATTERN = re.compile(r"(.*) \[(\d+) times in (\d+) fits\]", re.DOTALL)


@contextmanager
def collect_warnings() -> Iterator[list[FitWarning]]:
    """Collect the warnings issued in a `with` block that the user's filters let through.

    Warnings are collected only in the main thread. In other threads they are issued as usual,
    because `catch_warnings` is not thread-safe.
    """
    fit_warnings: list[FitWarning] = []
    if threading.current_thread() is not threading.main_thread():
        yield fit_warnings
        return
    with warnings.catch_warnings(record=True) as caught_warnings:
        try:
            yield fit_warnings
        finally:
            fit_warnings.extend(
                (caught_warning.category, str(caught_warning.message))
                for caught_warning in caught_warnings
            )


class WarningCounts:
    """Distinct warnings of all fits, with the number of times that each was issued.

    Texts that differ only in their numbers (such as a duality gap) count as one warning. It is
    shown with the text of its first occurrence.
    """

    def __init__(self, warned: Iterable[FitWarning] = ()) -> None:
        self._texts: dict[tuple[type[Warning], str], str] = {}
        self._n_occurrences: Counter[tuple[type[Warning], str]] = Counter()
        self.add(warned)

    def add(self, warned: Iterable[FitWarning]) -> None:
        """Add the warnings of one fit to the counts."""
        for category, text in warned:
            warning_key = category, mask_numbers(text)
            self._texts.setdefault(warning_key, text)
            self._n_occurrences[warning_key] += 1

    def issue_all(self, n_fits: int) -> None:
        """Issue each distinct warning once, with the number of times that it occurred."""
        for key, text in self._texts.items():
            warn(append_count(text, self._n_occurrences[key], n_fits), key[0])


def mask_numbers(text: str) -> str:
    """Replace the numbers in a warning by #, so that repeated warnings have equal texts.

    >>> mask_numbers("gap 1.5e-3 after 20 steps")
    'gap # after # steps'
    >>> mask_numbers("best gain: -0.5"), mask_numbers("best gain: -inf")
    ('best gain: #', 'best gain: -inf')
    """
    return _NUMBER_PATTERN.sub("#", text)


def append_count(text: str, n_occurrences: int, n_fits: int) -> str:
    """Append to a warning's text how often it occurred in how many fits.

    If there was only one fit, return the text unchanged.

    >>> append_count("no convergence", 3, 10)
    'no convergence [3 times in 10 fits]'
    """
    return text if n_fits <= 1 else f"{text} [{n_occurrences} times in {n_fits} fits]"


def split_count(text: str) -> tuple[str, int, int]:
    """Split the text that `append_count` returns into warning, count and number of fits.

    Return (text, 1, 0) for a text without counts.

    >>> split_count("no convergence [3 times in 10 fits]")
    ('no convergence', 3, 10)
    """
    text_match = _COUNTED_TEXT_PATTERN.fullmatch(text)
    return (text_match[1], int(text_match[2]), int(text_match[3])) if text_match else (text, 1, 0)


def failure_reason(model: Any, data: Data, y: np.ndarray, error: BaseException) -> tuple[str, str]:
    """Return why a fit failed, and the name of the error class to raise.

    The class is BadData if the data are at fault. `y` holds the targets of the fit's training rows.
    """
    message = f"{_failing_step(model, error)}{describe_error(error)}{_advice(error)}"
    cell_message = columns().message_on_non_finite_cell(data.X)
    # scikit-learn has no error class for missing values, so the message is searched for them.
    is_about_missing_values = any(
        phrase in first_line(error).lower() for phrase in ("nan", "infinity", "missing")
    )
    if cell_message is not None and is_about_missing_values:
        return f"{cell_message} ({message})", BadData.__name__
    column_message = (
        columns().message_on_unreadable_column(data.X)
        if _is_about_cells(error) or "float() argument" in message
        else None
    )
    # For dates NumPy's own message is left out, because it is long and says less.
    if column_message is not None and column_message.startswith("X has dates"):
        return f"{_failing_step(model, error)}{column_message}", BadData.__name__
    if column_message is not None and _is_about_cells(error):
        return f"{column_message} ({message})", BadData.__name__
    if data.classes is not None and len(np.unique(y)) == 1:
        only_class = escape_and_truncate(repr(to_python_scalar(y[0])), 40)
        return f"its training rows hold class {only_class} only ({message})", builtin_type_name(
            error
        )
    return message, builtin_type_name(error)


def _failing_step(model: Any, error: BaseException) -> str:
    """Return a prefix that names the pipeline step in which the error was raised, or ""."""
    steps = model.steps[:-1] if is_a(model, PIPELINE) else []
    step_names = {id(step): step_name for step_name, step in steps}
    traceback = error.__traceback__
    while traceback is not None:
        step_name = step_names.get(id(traceback.tb_frame.f_locals.get("self")))
        if step_name is not None:
            return f"step '{step_name}': "
        traceback = traceback.tb_next
    return ""


def _advice(error: BaseException) -> str:
    """Return advice in parentheses if the error is a common one, else an empty string."""
    if isinstance(error, MemoryError):
        return " (use fewer workers, fewer rows, or a setting of the model that needs less memory)"
    message = first_line(error)
    if "unknown categories" in message:
        return " (a level that no training row had: set handle_unknown='ignore' of the encoder)"
    if "Invalid classes inferred" in message:  # XGBoost expects the classes 0, 1, …
        return " (LabelledXGBClassifier of truerisk.models.labelled_xgboost takes any labels)"
    if "early stopping" in message.lower() and "at least" in message:
        return " (tr.models.EarlyStopping(model) sets rows of each training set aside for it)"
    return ""


def _is_about_cells(error: BaseException) -> bool:
    """Return True if the error says that cells are not numeric or that column names are equal."""
    message = f"{type(error).__name__} {first_line(error)}".lower()
    return any(phrase in message for phrase in ("to float", "dtype", "unique column names"))

"""Formatting of numbers, names and hyperparameter settings for users."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from truerisk.core.errors import TrueRiskError, escape_invisible

_QUOTED_FOLDERS = re.compile(r"""(['"])(?:~[^/\\'"]*|[A-Za-z]:)?[/\\][^'"\n]*[/\\](?=[^'"/\\])""")
_FOLDERS = re.compile(
    r"""(?<![\w.~/\\])(?:file://|~[\w.-]*|[A-Za-z]:)?[/\\](?:[^\s/\\'"<>|:;,()\[\]]+[/\\]+)+(?=[^\s/\\])"""
)


def format_dates(dates: np.ndarray) -> np.ndarray:
    """Format dates as text, each in its coarsest exact unit: a midnight is written as a day."""
    return np.datetime_as_string(dates, unit="auto")


def strip_folders(text: str) -> str:
    """Shorten the file paths in a text to file names.

    A text that is passed on must not reveal who ran the computation and where.

    >>> strip_folders("[Errno 2] No such file: '/a folder/trial/rows.csv' (see /c/d/b.log)")
    "[Errno 2] No such file: 'rows.csv' (see b.log)"
    >>> strip_folders("1/2 of https://example.org/a/b and /x stay")
    '1/2 of https://example.org/a/b and /x stay'
    """
    return _FOLDERS.sub("", _QUOTED_FOLDERS.sub(r"\1", text))


def format_number(value: float | None, digits: int = 4) -> str:
    """Format a number with fixed decimals, or a dash for None and NaN.

    Zero never has a minus sign.

    >>> format_number(-0.25), format_number(-2e-16), format_number(None)
    ('-0.2500', '0.0000', '–')
    """
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:z.{digits}f}" if abs(value) < 1000 else f"{value:.{digits}g}"


def format_risk(value: float | None, other: float = 0.0) -> str:
    """Format a risk, in exponent form if four decimals would show only zeros.

    `other` is the risk printed beside it. Exponent form is used only if both would read 0.0000.

    >>> (
    ...     format_risk(0.12345),
    ...     format_risk(0.0),
    ...     format_risk(7.8344e-13),
    ...     format_risk(2e-6, other=0.1),
    ...     format_risk(None),
    ... )
    ('0.1235', '0.0000', '7.834e-13', '0.0000', '–')
    """
    is_tiny = value is not None and 0 < max(abs(value), abs(other)) < 0.00005
    return f"{value:.4g}" if is_tiny else format_number(value)


def format_percent(level: float) -> str:
    """Format a confidence level in percent.

    >>> format_percent(0.95), format_percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:.15g} %"


def describe_row_counts(
    n_rows: int | None,
    class_counts: Mapping[str, int],
    n_groups: int | None = None,
    *,
    noun: str = "rows",
) -> str:
    """Describe the number of rows, of groups, and of the rows of each class.

    >>> describe_row_counts(178, {"ill": 48, "healthy": 130})
    "178 rows (48 'ill', 130 'healthy')"
    """
    groups_text = "" if n_groups is None else f" in {n_groups} groups"
    classes_text = ", ".join(
        f"{class_count} '{escape_and_truncate(class_name, 40)}'"
        for class_name, class_count in class_counts.items()
    )
    return f"{n_rows} {noun}{groups_text}" + (f" ({classes_text})" if classes_text else "")


def format_seconds(value: float | None) -> str:
    """Format a duration in seconds, or a dash if it is None."""
    if value is None:
        return "–"
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def format_uncertainty(std_error: float | None, interval: Any) -> str:
    """Format the interval of a risk, as in ', 95 % interval [.1, .2] (wald)', or its error.

    The standard error is given if there is no interval. The text is empty if there is neither.
    """
    if interval is not None:
        level_in_percent = round(100 * interval.confidence_level, 6)
        return f", {level_in_percent:.15g} % interval {interval} ({interval.method})"
    return "" if std_error is None else f", standard error {format_risk(std_error)}"


def escape_and_truncate(text: str, limit: int = 200) -> str:
    """Escape control characters, and truncate a long text."""
    visible_text = escape_invisible(text[: limit + 1])
    return visible_text if len(visible_text) <= limit else visible_text[: limit - 1] + "…"


def format_params(setting: Mapping[str, Any]) -> str:
    """Format a hyperparameter setting, as in 'n_neighbors=5, weights=uniform'.

    Step names are omitted if the parameter names remain distinct.
    """
    short_names = [parameter_name.rpartition("__")[2] for parameter_name in setting]
    printed_names = short_names if len(set(short_names)) == len(short_names) else list(setting)
    parameter_texts = [
        f"{parameter_name}={format_parameter(parameter_value)}"
        for parameter_name, parameter_value in zip(printed_names, setting.values(), strict=True)
    ]
    return ", ".join(parameter_texts) or "as given"


def format_parameter(parameter_value: Any) -> str:
    """Format the value of a hyperparameter, without the folders of paths.

    >>> format_parameter(1 / 3), format_parameter("uniform")
    ('0.3333', 'uniform')
    """
    if isinstance(parameter_value, float | np.floating):
        return f"{parameter_value:.4g}"
    value_text = (
        parameter_value if isinstance(parameter_value, str) else strip_folders(str(parameter_value))
    )
    return escape_and_truncate(" ".join(value_text.split()), 60)


def score_of_class(score: str, positive: Any) -> str:
    """Return the name of a score, followed by the class to which it refers, if any.

    >>> score_of_class("f1", "bad"), score_of_class("f1", 1), score_of_class("mcc", None)
    ("f1 of 'bad'", 'f1 of class 1', 'mcc')
    """
    if positive is None:
        return score
    class_text = "" if isinstance(positive, str) else "class "
    return f"{score} of {class_text}{escape_and_truncate(repr(positive), 40)}"


def yes_or_no(answer: bool | None) -> str:
    """Format a bool for a table as "yes" or "no", with a dash for None."""
    return "–" if answer is None else "yes" if answer else "no"


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences, without breaking decimal numbers and names.

    >>> split_sentences("The risk is 0.1. Report it.")
    ['The risk is 0.1.', 'Report it.']
    """
    return text.replace(". ", ".\n").splitlines()


def join_words(words: Iterable[str], conjunction: str = "and") -> str:
    """Join the words of an enumeration, with `conjunction` before the last.

    >>> join_words(["knn"]), join_words(["knn", "lda", "tree"], "or")
    ('knn', 'knn, lda or tree')
    """
    *first_words, last_word = words
    return f"{', '.join(first_words)} {conjunction} {last_word}" if first_words else last_word


def join_first_words(words: Sequence[str], max_words: int) -> str:
    """Join the first words of a list, followed by the number of omitted words.

    >>> join_first_words(["knn", "lda", "tree"], 2)
    'knn, lda and 1 more'
    """
    joined_words = ", ".join(words[:max_words])
    return (
        joined_words
        if len(words) <= max_words
        else f"{joined_words} and {len(words) - max_words} more"
    )


def unsigned_number(value: float, reference_risk: float | None) -> str:
    """Format a value with as many decimals as a risk of the size of `reference_risk`.

    A zero never has a minus sign.

    >>> unsigned_number(-0.00001, 0.2), unsigned_number(7.6448, 3012.0)
    ('0.0000', '7.6')
    """
    decimals = 4 if reference_risk is None or abs(reference_risk) < 100 else 1
    return format_number(round(value, decimals) + 0.0, decimals)


def signed_number(value: float | None, reference_risk: float | None) -> str:
    """Format a value like `unsigned_number`, but with its sign; None gives a dash.

    >>> signed_number(-0.00001, 0.2), signed_number(-7.6448, 3012.0), signed_number(None, 0.2)
    ('+0.0000', '-7.6', '–')
    """
    if value is None:
        return "–"
    unsigned_text = unsigned_number(value, reference_risk)
    return unsigned_text if unsigned_text.startswith("-") else f"+{unsigned_text}"


@contextmanager
def prefix_errors(prefix: str) -> Iterator[None]:
    """Prefix the messages of errors raised in this context with the name of a learner or a file.

    The type of the error is preserved.
    """
    try:
        yield
    except TrueRiskError as error:
        prefixed_error = type(error)(
            f"{escape_and_truncate(prefix, 40)}: {error.sentence.marked_text}"
        )
        for error_note in getattr(error, "__notes__", ()):
            prefixed_error.add_note(error_note)
        raise prefixed_error from error

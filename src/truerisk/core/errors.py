"""Errors and warnings, each with a message that says what is wrong, where, and what to do."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import traceback
import unicodedata
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from truerisk.core.mentions import Sentence

__all__ = [
    "BadArgument",
    "BadData",
    "BadStore",
    "BoundMissed",
    "Brief",
    "CompiledModuleWarning",
    "DuplicateRowsWarning",
    "FindingWarning",
    "FitFailed",
    "FitFailedTypeError",
    "FitFailedValueError",
    "FitFailedWarning",
    "FittedPartWarning",
    "GroupLeakWarning",
    "LeakWarning",
    "MissingBranch",
    "MissingExtra",
    "MissingResult",
    "NoEngine",
    "NotWritten",
    "Refusal",
    "SpaceLeakWarning",
    "StoreLocked",
    "StudyIncomplete",
    "TimeLeakWarning",
    "TrueRiskError",
    "TrueRiskWarning",
    "UnknownName",
    "first_line",
    "is_failure",
    "kind_of",
    "message_of",
    "users_code",
    "visible",
    "warn",
    "xml_text",
]

LONGEST = 300  # longest text of a third-party error in a message


class Printable(Exception):
    """Exception whose text cannot send control characters to the terminal, whatever it quotes."""

    def __str__(self) -> str:
        return "\n".join(visible(line) for line in super().__str__().split("\n"))


class TrueRiskError(Printable):
    """Base class of all errors that truerisk raises; the command line prints them as one sentence.

    `sentence` is the message with its mentions of arguments, which the command line replaces by its
    own options.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.extend.TrueRiskWarning : Base class of all warnings.

    Examples
    --------
    >>> import truerisk as tr
    >>> errors = tr.extend.BadArgument, tr.extend.BadData, tr.extend.Refusal
    >>> all(issubclass(error, tr.extend.TrueRiskError) for error in errors)
    True
    """

    def __init__(self, message: str = "", **context: Any) -> None:
        self.sentence = Sentence(message)
        super().__init__(str(self.sentence), **context)


class BadData(TrueRiskError, ValueError):
    """Error for data that cannot be used as they are.

    On the command line the exit code is 3.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.extend.BadArgument : Error for an argument of a wrong type or size.
    truerisk.extend.Refusal : Error for an answer that cannot be justified.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> try:
    ...     tr.estimate_risk(GaussianNB(), [[0.0], [1.0]], [0])
    ... except tr.extend.BadData as error:
    ...     print(error)
    X has 2 rows and y has 1: they must be equally long.
    """


class BadArgument(BadData, TypeError):
    """Error for an argument of a wrong type or size.

    On the command line it is a usage error (exit code 2).

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.extend.BadData : Error for data that cannot be used.

    Examples
    --------
    >>> import truerisk as tr
    >>> try:
    ...     tr.methods.KFold(1)
    ... except tr.extend.BadArgument as error:
    ...     print(error)
    k=1: K-fold cross-validation needs a whole number K >= 2.
    """


class BadStore(BadData):
    """The file is not a store of truerisk, or it is broken or has a newer format."""


class StoreLocked(TrueRiskError):
    """Another run writes to the store; the message says which."""


class NotWritten(TrueRiskError, OSError):
    """A file of results cannot be written to its path; the message says why."""


class MissingResult(TrueRiskError, AttributeError):
    """The result was not requested; the message says how to get it."""


class BoundMissed(TrueRiskError):
    """The interval of an honest estimate violates the bound that a user set."""


class StudyIncomplete(TrueRiskError):
    """A study stopped before its end; its results are stored, and it can resume (exit code 5)."""


class Refusal(TrueRiskError, ValueError):
    """Error of a method or an engine that cannot justify an answer.

    The message gives the reason and a remedy.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.extend.BadData : Error for data that cannot be used.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> try:
    ...     tr.estimate_risk(GaussianNB(), X, y, cv="swapping", scoring="log")
    ... except tr.extend.Refusal as error:
    ...     print(str(error)[:51])
    method 'swapping' is defined for zero-one loss, not
    """


class NoEngine(Refusal):
    """No engine, or not the requested one, can answer.

    `reason` is the reason of the last engine that was tried.
    """

    def __init__(self, sentence: str, reason: str = "") -> None:
        super().__init__(sentence)
        self.reason = reason or str(self)


class UnknownName(TrueRiskError, ValueError):
    """The name of a parameter, a column or an option is unknown."""


class FitFailed(TrueRiskError, RuntimeError):
    """A model raised an error in a fit; the message names the split, the step and the parameters.

    The error is also raised if a function given as a loss, a refit on all rows, or an executor
    fails.
    """

    @classmethod
    def from_error(cls, error: BaseException, what: str) -> FitFailed:
        """Return a FitFailed that says what failed and why, with the traceback as a note."""
        trace = "".join(traceback.format_exception(error))
        return cls.like(kind_of(error), f"{what}: {message_of(error)}", trace)

    @classmethod
    def like(cls, kind: str, sentence: str, trace: str = "") -> FitFailed:
        """Return a FitFailed that is also a ValueError or TypeError if the model raised one.

        Callers may expect the built-in type.
        """
        found = {"ValueError": FitFailedValueError, "TypeError": FitFailedTypeError}.get(kind, cls)
        error = found(sentence)
        if trace:
            error.add_note(trace)
        return error


class FitFailedValueError(FitFailed, ValueError):
    """The model raised a ValueError."""


class FitFailedTypeError(FitFailed, TypeError):
    """The model raised a TypeError."""


@contextlib.contextmanager
def users_code(what: str) -> Iterator[None]:
    """Raise FitFailed for any error of a user's code that runs inside, including `sys.exit`."""
    try:
        yield
    except TrueRiskError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        raise FitFailed.from_error(error, what) from error


class MissingExtra(TrueRiskError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


class MissingBranch(TrueRiskError, ImportError):
    """A part of truerisk itself is not installed; the message names it."""


class TrueRiskWarning(Printable, UserWarning):
    """Base class of all warnings of the package.

    See Also
    --------
    truerisk.extend.TrueRiskError : Base class of all errors.

    Examples
    --------
    >>> import warnings
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     risk = tr.estimate_risk(GaussianNB(), [*X, *X], [*y, *y])
    >>> issubclass(caught[0].category, tr.extend.TrueRiskWarning)
    True
    """


class LeakWarning(TrueRiskWarning):
    """Base of the warnings that a model may have seen rows that it was tested on."""


class DuplicateRowsWarning(LeakWarning):
    """Copies of a row are on both sides of a split: the estimate is optimistic."""


class GroupLeakWarning(LeakWarning):
    """Rows of one group are on both sides of a split: the estimate is optimistic."""


class TimeLeakWarning(LeakWarning):
    """Times are given, and rows are tested by models that saw later rows.

    The estimate may be too good.
    """


class SpaceLeakWarning(LeakWarning):
    """Places are given, and most rows are tested by models that saw the row next to them."""


class FittedPartWarning(LeakWarning):
    """A part of the model stays fitted in all folds.

    If it was fitted on rows that are tested, the estimate is too good.
    """


class FindingWarning(TrueRiskWarning):
    """The checks of a call found a problem in the rows or the answers; the text has a remedy."""


class CompiledModuleWarning(TrueRiskWarning):
    """The compiled module is missing: the results are the same, but computation is slower."""


class FitFailedWarning(TrueRiskWarning):
    """Some fits failed, and the affected candidates have no risk."""


def is_failure(error: BaseException) -> bool:
    """Return True if an error is a failure of called code; any other one ends the program.

    A failure is reported to the user. A panic of code written in Rust (polars, tokenizers) is not
    an Exception: each such library has its own class for it, which cannot be imported, but all of
    them have the same name. SystemExit, which `sys.exit` raises, counts as a failure too, because a
    model that calls it must not end the program that estimates its risk.
    """
    kind = type(error)
    panicked = (kind.__module__, kind.__name__) == ("pyo3_runtime", "PanicException")
    return isinstance(error, Exception | SystemExit) or panicked


def first_line(error: BaseException) -> str:
    """Return the first line of a third-party error's text, truncated if it is long."""
    try:
        text = str(error).strip()
    except Exception:  # noqa: BLE001  `__str__` is third-party code, too
        text = ""
    line = text.splitlines()[0] if text else "no message"
    if len(line) <= LONGEST:
        return line
    head, _, last = line[:LONGEST].rpartition(" ")
    return f"{head or last} …"


def message_of(error: BaseException) -> str:
    """Return the type of an error and its first line, as in 'ValueError: no rows'."""
    if isinstance(error, SystemExit):
        left = error.code  # A copy by tblib, which Dask installs, preserves only the arguments.
        if left is None and error.args:
            left = error.args[0]
        code = "" if left is None else visible(repr(left)[:60])
        return f"SystemExit: it called sys.exit({code}); let it raise an error instead"
    return f"{type(error).__name__}: {first_line(error)}"


def kind_of(error: BaseException) -> str:
    """Return the name of the built-in type that callers may expect, for `FitFailed.like`."""
    return next((k.__name__ for k in (ValueError, TypeError) if isinstance(error, k)), "")


LONGEST_REPR = 12  # lines


def visible(text: str) -> str:
    r"""Escape control characters, so that text can neither break a line nor reorder it.

    >>> visible("a\x1b[31mb\n")
    'a\\x1b[31mb\\x0a'
    """
    if text.isprintable():
        return text
    return "".join(f"\\x{ord(c):02x}" if _is_invisible(c) else c for c in text)


def _is_invisible(character: str) -> bool:
    """Return True for control and formatting characters and for code points without a character."""
    code = ord(character)
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:  # U+FFFE, U+FFFF and their like
        return True
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    r"""Escape every character that XML 1.0 forbids as its number.

    XML has no escape for these characters: a file with one of them, for instance in a label, is not
    well-formed.

    >>> xml_text("a\ufffe\x00\ud800é\n") == "a\\xfffe\\x00\\xd800é\n"
    True
    """
    return _NOT_IN_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


class Brief:
    """Base of results whose `repr` is the beginning of their printed form, for notebooks."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # The `repr` of a dataclass would list all fields, including arrays.
        if "__repr__" not in vars(cls):
            cls.__repr__ = Brief.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        lines = str(self).split("\n")
        if len(lines) <= LONGEST_REPR:
            return "\n".join(lines)
        rest = f"... print() shows {len(lines) - LONGEST_REPR + 1} lines more"
        return "\n".join([*lines[: LONGEST_REPR - 1], rest])


INSIDE = (f"{Path(__file__).parents[1]}{os.sep}", str(contextlib.__file__))


def warn(text: str, category: type[Warning]) -> None:
    """Issue a warning that points to the first line outside of this package."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level - (frame is None))

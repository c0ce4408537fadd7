"""What can go wrong, each with a sentence that says what, where, and what to do."""

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
from typing import Any, Self

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
    "said_by",
    "users_code",
    "visible",
    "warn",
    "xml_text",
]

LONGEST = 300  # characters kept of a foreign error's text


class Printable(Exception):
    """A text that cannot drive the terminal it is printed on, whatever names it quotes."""

    def __str__(self) -> str:
        return "\n".join(visible(line) for line in super().__str__().split("\n"))


class TrueRiskError(Printable):
    """Any failure that truerisk words itself; the command line prints it as one sentence.

    `arguments` are the arguments that the sentence names, as in `folds=5` or `folds=`. The command
    line writes its options in their place.
    """

    arguments: tuple[str, ...] = ()

    def about(self, *arguments: str) -> Self:
        """Say which arguments the sentence names, and return the error."""
        self.arguments = arguments
        return self


class BadData(TrueRiskError, ValueError):
    """The data cannot be used as they are (exit code 3)."""


class BadArgument(BadData, TypeError):
    """An argument of a wrong kind or size; a usage error on the command line (exit code 2)."""


class BadStore(BadData):
    """A file that is no store of truerisk, or a broken or newer one."""


class StoreLocked(TrueRiskError):
    """Another run writes to the store; the message says which."""


class NotWritten(TrueRiskError, OSError):
    """A file of results cannot be written where it was asked for; the message says why."""


class MissingResult(TrueRiskError, AttributeError):
    """A result that was not asked for; the message says how to get it."""


class BoundMissed(TrueRiskError):
    """The interval of an honest number does not keep the bound that a user set."""


class StudyIncomplete(TrueRiskError):
    """A study stopped before its end; what it found is stored and it can go on (exit code 5)."""


class Refusal(TrueRiskError, ValueError):
    """A method or an engine cannot justify an answer; the message holds reason and remedy."""


class NoEngine(Refusal):
    """No engine, or not the one asked for, can answer; `reason` is what the last one said."""

    def __init__(self, sentence: str, reason: str = "") -> None:
        super().__init__(sentence)
        self.reason = reason or sentence


class UnknownName(TrueRiskError, ValueError):
    """A word, a parameter or a column that nothing answers to."""


class FitFailed(TrueRiskError, RuntimeError):
    """A model raised inside a fit; the message names the split, the step and the parameters.

    Also of a function given as a loss, of a refit on all rows, and of an executor.
    """

    @classmethod
    def of(cls, error: BaseException, what: str) -> FitFailed:
        """What failed, and what the error says in a line; its traceback goes along."""
        trace = "".join(traceback.format_exception(error))
        return cls.like(kind_of(error), f"{what}: {said_by(error)}", trace)

    @classmethod
    def like(cls, kind: str, sentence: str, trace: str = "") -> FitFailed:
        """A FitFailed that is also of the built-in kind the model raised, as callers expect."""
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
    """Raise FitFailed for whatever the code of a user raises inside, `sys.exit` included."""
    try:
        yield
    except TrueRiskError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        raise FitFailed.of(error, what) from error


class MissingExtra(TrueRiskError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


class MissingBranch(TrueRiskError, ImportError):
    """A part of truerisk itself is not installed; the message names it."""


class TrueRiskWarning(Printable, UserWarning):
    """Base of all warnings of the package."""


class LeakWarning(TrueRiskWarning):
    """Base of those that say that a model may have seen what it was tested on."""


class DuplicateRowsWarning(LeakWarning):
    """A row, or copies of it, stand on both sides of a split: the estimate is too good."""


class GroupLeakWarning(LeakWarning):
    """Rows of one group stand on both sides of a split: the estimate is too good."""


class TimeLeakWarning(LeakWarning):
    """Times are given, and rows are tested by models that saw later ones: maybe too good."""


class SpaceLeakWarning(LeakWarning):
    """Places are given, and most rows are tested by models that saw the row next to them."""


class FittedPartWarning(LeakWarning):
    """A part of the model is fitted before all folds: if it saw these rows, it is too good."""


class FindingWarning(TrueRiskWarning):
    """The checks of a call found something in the rows or in the answers, and say what to do."""


class CompiledModuleWarning(TrueRiskWarning):
    """The compiled module is missing: the numbers are the same, and come later."""


class FitFailedWarning(TrueRiskWarning):
    """Some fits failed and the affected candidates have no risk."""


def is_failure(error: BaseException) -> bool:
    """Whether code that was called failed, which its user is told; all else ends the program.

    A panic of code written in Rust (polars, tokenizers) is no Exception. Each such library has a
    class of its own for it, which cannot be imported; they share this name. SystemExit, which
    `sys.exit` raises, is a failure as well: a model that calls it shall not end the program of
    whoever asks for its risk.
    """
    kind = type(error)
    panicked = (kind.__module__, kind.__name__) == ("pyo3_runtime", "PanicException")
    return isinstance(error, Exception | SystemExit) or panicked


def first_line(error: BaseException) -> str:
    """What an error of other people's code says, as far as a sentence can hold it."""
    try:
        text = str(error).strip()
    except Exception:  # noqa: BLE001  even this is their code
        text = ""
    line = text.splitlines()[0] if text else "no message"
    if len(line) <= LONGEST:
        return line
    head, _, last = line[:LONGEST].rpartition(" ")
    return f"{head or last} …"


def said_by(error: BaseException) -> str:
    """'ValueError: no rows': the kind of an error and its first line."""
    if isinstance(error, SystemExit):
        left = error.code  # a copy made by tblib, which Dask installs, keeps the arguments alone
        if left is None and error.args:
            left = error.args[0]
        code = "" if left is None else visible(repr(left)[:60])
        return f"SystemExit: it called sys.exit({code}); let it raise an error instead"
    return f"{type(error).__name__}: {first_line(error)}"


def kind_of(error: BaseException) -> str:
    """The word of the built-in kind that callers may expect, for `FitFailed.like`."""
    return next((k.__name__ for k in (ValueError, TypeError) if isinstance(error, k)), "")


LONGEST_REPR = 12  # lines


def visible(text: str) -> str:
    r"""Text that can neither break a line nor reorder it: control characters become visible.

    >>> visible("a\x1b[31mb\n")
    'a\\x1b[31mb\\x0a'
    """
    if text.isprintable():
        return text
    return "".join(f"\\x{ord(c):02x}" if _is_invisible(c) else c for c in text)


def _is_invisible(character: str) -> bool:
    """Return True for characters that act on a line, and for code points that are no characters."""
    code = ord(character)
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:  # U+FFFE, U+FFFF and their like
        return True
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    r"""Return the text with every character that XML 1.0 forbids written as its number.

    No escape of XML helps: a file that holds one of them, in a label, say, is not well-formed.

    >>> xml_text("a\ufffe\x00\ud800é\n") == "a\\xfffe\\x00\\xd800é\n"
    True
    """
    return _NOT_IN_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


class Brief:
    """A result whose `repr` is the beginning of what it prints: a notebook shows it unasked."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "__repr__" not in vars(cls):  # a dataclass would list all fields, arrays too
            cls.__repr__ = Brief.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        lines = str(self).split("\n")
        if len(lines) <= LONGEST_REPR:
            return "\n".join(lines)
        rest = f"... print() shows {len(lines) - LONGEST_REPR + 1} lines more"
        return "\n".join([*lines[: LONGEST_REPR - 1], rest])


INSIDE = (f"{Path(__file__).parents[1]}{os.sep}", str(contextlib.__file__))


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the first line outside of this package."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level - (frame is None))

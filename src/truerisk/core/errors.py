"""Errors and warnings; each message says what is wrong, where it is wrong, and what to do."""

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
    "BriefRepr",
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
    "builtin_type_name",
    "describe_error",
    "escape_for_xml",
    "escape_invisible",
    "first_line",
    "is_failure",
    "reraise_as_fit_failed",
    "warn",
]

LONGEST_QUOTATION = 300  # longest quotation of a third-party error, in characters


class PrintableException(Exception):
    """Exception whose printed message contains no control characters, even in quoted text."""

    def __str__(self) -> str:
        return "\n".join(
            escape_invisible(message_line) for message_line in super().__str__().split("\n")
        )


class TrueRiskError(PrintableException):
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
    truerisk.exceptions.TrueRiskWarning : Base class of all warnings.

    Examples
    --------
    >>> import truerisk as tr
    >>> errors = tr.exceptions.BadArgument, tr.exceptions.BadData, tr.exceptions.Refusal
    >>> all(issubclass(error, tr.exceptions.TrueRiskError) for error in errors)
    True
    """

    def __init__(self, message: str = "", **context: Any) -> None:
        self.sentence = Sentence(message)
        super().__init__(str(self.sentence), **context)


class BadData(TrueRiskError, ValueError):
    """Error for data that cannot be used as they are; exit code 3 on the command line.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.BadArgument : Error for an argument of a wrong type or size.
    truerisk.exceptions.Refusal : Error for an answer that cannot be justified.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> try:
    ...     tr.estimate_risk(GaussianNB(), [[0.0], [1.0]], [0])
    ... except tr.exceptions.BadData as error:
    ...     print(error)
    X has 2 rows and y has 1: they must be equally long.
    """


class BadArgument(BadData, TypeError):
    """Error for an argument of a wrong type or size; exit code 2 on the command line.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.BadData : Error for data that cannot be used.

    Examples
    --------
    >>> import truerisk as tr
    >>> try:
    ...     tr.methods.KFold(1)
    ... except tr.exceptions.BadArgument as error:
    ...     print(error)
    k=1: K-fold cross-validation needs a whole number K >= 2.
    """


class BadStore(BadData):
    """Error for a file that is no store of truerisk, is broken, or has a newer format.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.BadData : Error for data that cannot be used.

    Examples
    --------
    >>> import truerisk as tr
    >>> try:
    ...     tr.Study(None, tr.__file__)
    ... except tr.exceptions.BadStore as error:
    ...     print(str(error).partition("__init__.py ")[2])
    is no store of truerisk: it is no SQLite file.
    """


class StoreLocked(TrueRiskError):
    """Error because another run, named in the message, writes to the store.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.BadStore : Error for a file that is no store of truerisk.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import truerisk as tr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lock_file = pathlib.Path(folder, "runs.db.lock")
    ...     _ = lock_file.write_text('{"pid": 7, "host": "cluster", "time": 0}')
    ...     try:
    ...         tr.experiments.reproduce("kearns-figure-2", store=f"{folder}/runs.db")
    ...     except tr.exceptions.StoreLocked as error:
    ...         print(str(error).partition("runs.db ")[2])
    is in use by process 7 on cluster since ...
    """


class NotWritten(TrueRiskError, OSError):
    """Error because a file of results cannot be written to its path; the message says why.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.BadStore : Error for a file that is no store of truerisk.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> try:
    ...     tr.estimate_risk(GaussianNB(), X, y).to_json("no-such-folder/risk.json")
    ... except tr.exceptions.NotWritten as error:
    ...     print(str(error).partition("risk.json ")[2])
    cannot be written: there is no folder 'no-such-folder'; make it, or name another place.
    """


class MissingResult(TrueRiskError, AttributeError):
    """Error for a result that was not requested; the message says how to get it.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.UnknownName : Error for an unknown name of a parameter.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> try:
    ...     tr.HonestSearchCV(GaussianNB(), {}).risk_
    ... except tr.exceptions.MissingResult as error:
    ...     print(error)
    this search has no risk_ before it is fitted: fit(X, y).
    """


class BoundMissed(TrueRiskError):
    """Error because the interval of an honest estimate violates a bound that a user set.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.Refusal : Error for a result that cannot be justified.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> try:
    ...     tr.estimate_risk(GaussianNB(), X, y).require(zero_one=0.01)
    ... except tr.exceptions.BoundMissed as error:
    ...     print(error)
    bound missed: zero-one risk 0.1000, the upper end of its interval ...
    """


class StudyIncomplete(TrueRiskError):
    """Error for a study that stopped before its end (exit code 5).

    Its results are stored, so that it can be resumed.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.StoreLocked : Error because another run writes to the store.

    Examples
    --------
    >>> import truerisk as tr
    >>> issubclass(tr.exceptions.StudyIncomplete, tr.exceptions.TrueRiskError)
    True
    """


class Refusal(TrueRiskError, ValueError):
    """Error of a method or an engine that cannot give a justified result.

    The message gives the reason and a remedy.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.BadData : Error for data that cannot be used.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> try:
    ...     tr.estimate_risk(GaussianNB(), X, y, cv="swapping", scoring="log")
    ... except tr.exceptions.Refusal as error:
    ...     print(str(error)[:51])
    method 'swapping' is defined for zero-one loss, not
    """


class NoEngine(Refusal):
    """Error because no engine, or not the requested one, can compute the predictions.

    `reason` is the reason of the last engine that was tried.

    Parameters
    ----------
    sentence : str
        The message.
    reason : str, default=""
        The reason of the last engine; by default the message.

    See Also
    --------
    truerisk.exceptions.Refusal : Error for a result that cannot be justified.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> try:
    ...     tr.estimate_risk(GaussianNB(), X, y, engine="least-squares")
    ... except tr.exceptions.NoEngine as error:
    ...     print(error.reason)
    the learner is GaussianNB, not LinearRegression or Ridge or RidgeClassifier.
    """

    def __init__(self, sentence: str, reason: str = "") -> None:
        super().__init__(sentence)
        self.reason = reason or str(self)


class UnknownName(TrueRiskError, ValueError):
    """Error for an unknown name of a parameter, a column or an option.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.BadArgument : Error for an argument of a wrong type or size.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> try:
    ...     tr.risk_curve(GaussianNB(), {"smoothing": [0.1]}, X, y)
    ... except tr.exceptions.UnknownName as error:
    ...     print(error)
    GaussianNB has no parameter 'smoothing'; did you mean 'var_smoothing'? It has: ...
    """


class FitFailed(TrueRiskError, RuntimeError):
    """Error for a fit in which the model raised an error.

    The message names the split, the pipeline step and the parameters. FitFailed is also raised if a
    user's loss function, a refit on all rows, or an executor fails.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.FitFailedWarning : Warning that some fits failed.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> try:
    ...     tr.estimate_risk(LinearDiscriminantAnalysis(shrinkage=0.1), X, y)
    ... except tr.exceptions.FitFailed as error:
    ...     print(error)
    LinearDiscriminantAnalysis (as given) failed in the test split (repeat 0, fold 0), fit 0 of 5
    on 48 rows (n_features=2): NotImplementedError: shrinkage not supported with 'svd' solver.
    """

    @classmethod
    def from_error(cls, error: BaseException, failed_code: str) -> FitFailed:
        """Return a FitFailed error with the cause in its message and the traceback as a note.

        Parameters
        ----------
        error : BaseException
            The error that the user's code raised.
        failed_code : str
            The code that failed, for the message.

        Returns
        -------
        FitFailed
            The error to raise.
        """
        traceback_text = "".join(traceback.format_exception(error))
        return cls.with_kind(
            builtin_type_name(error), f"{failed_code}: {describe_error(error)}", traceback_text
        )

    @classmethod
    def with_kind(cls, type_name: str, sentence: str, traceback_text: str = "") -> FitFailed:
        """Return a FitFailed error that is also a ValueError or TypeError if `type_name` is that.

        Callers may expect the built-in type that the model raised.

        Parameters
        ----------
        type_name : str
            "ValueError", "TypeError" or any other text.
        sentence : str
            The message.
        traceback_text : str, default=""
            The traceback, which becomes a note of the error.

        Returns
        -------
        FitFailed
            The error to raise.
        """
        error_class = {"ValueError": FitFailedValueError, "TypeError": FitFailedTypeError}.get(
            type_name, cls
        )
        error = error_class(sentence)
        if traceback_text:
            error.add_note(traceback_text)
        return error


class FitFailedValueError(FitFailed, ValueError):
    """FitFailed for a model that raised a ValueError.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.FitFailed : Error for a fit in which the model raised any error.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> try:
    ...     tr.estimate_risk(GaussianNB(priors=[0.5]), X, y)
    ... except tr.exceptions.FitFailedValueError as error:
    ...     print(isinstance(error, ValueError))
    True
    """


class FitFailedTypeError(FitFailed, TypeError):
    """FitFailed for a model that raised a TypeError.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.FitFailed : Error for a fit in which the model raised any error.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> try:
    ...     tr.estimate_risk(KNeighborsClassifier(metric=len), X, y)
    ... except tr.exceptions.FitFailedTypeError as error:
    ...     print(isinstance(error, TypeError))
    True
    """


@contextlib.contextmanager
def reraise_as_fit_failed(failure_description: str) -> Iterator[None]:
    """Convert any error of the user's code in this context to FitFailed, including `sys.exit`.

    `failure_description` says in the message which code failed.
    """
    try:
        yield
    except TrueRiskError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        raise FitFailed.from_error(error, failure_description) from error


class MissingExtra(TrueRiskError, ImportError):
    """Error because an optional dependency is not installed; the message names the extra.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.MissingBranch : Error because a module of truerisk is not installed.

    Examples
    --------
    >>> import truerisk as tr
    >>> issubclass(tr.exceptions.MissingExtra, ImportError)
    True
    """


class MissingBranch(TrueRiskError, ImportError):
    """Error because a module of truerisk itself is not installed; the message names it.

    Parameters
    ----------
    message : str, optional
        The message.
    **context
        Further values that the error keeps.

    See Also
    --------
    truerisk.exceptions.MissingExtra : Error because an optional dependency is not installed.

    Examples
    --------
    >>> import truerisk as tr
    >>> issubclass(tr.exceptions.MissingBranch, ImportError)
    True
    """


class TrueRiskWarning(PrintableException, UserWarning):
    """Base class of all warnings of the package.

    See Also
    --------
    truerisk.exceptions.TrueRiskError : Base class of all errors.

    Examples
    --------
    >>> import warnings
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     risk = tr.estimate_risk(GaussianNB(), [*X, *X], [*y, *y])
    >>> issubclass(caught[0].category, tr.exceptions.TrueRiskWarning)
    True
    """


class LeakWarning(TrueRiskWarning):
    """Base class of the warnings that a model may have seen rows on which it was tested.

    See Also
    --------
    truerisk.exceptions.FindingWarning : Warning about problems that the checks found.

    Examples
    --------
    >>> import truerisk as tr
    >>> leaks = tr.exceptions.DuplicateRowsWarning, tr.exceptions.GroupLeakWarning
    >>> all(issubclass(leak, tr.exceptions.LeakWarning) for leak in leaks)
    True
    """


class DuplicateRowsWarning(LeakWarning):
    """Warning that copies of a row are in training and test sets; the estimate is optimistic.

    Copies are rows with equal X and equal y.

    See Also
    --------
    truerisk.exceptions.GroupLeakWarning : Warning about groups instead of copies.

    Examples
    --------
    >>> import warnings
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     risk = tr.estimate_risk(GaussianNB(), [*X, *X], [*y, *y])
    >>> print(caught[0].message)
    104 of 120 rows are exact copies (rows 0 and 60, for example, have equal X and equal y): ...
    """


class GroupLeakWarning(LeakWarning):
    """Warning that rows of one group are in training and test sets; the estimate is optimistic.

    See Also
    --------
    truerisk.exceptions.DuplicateRowsWarning : Warning about copies instead of groups.

    Examples
    --------
    >>> import warnings
    >>> import truerisk as tr
    >>> from sklearn.model_selection import KFold
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     risk = tr.estimate_risk(GaussianNB(), X, y, cv=KFold(2), groups=[*range(30)] * 2)
    >>> print(caught[0].message)
    groups are given but method 'KFold(n_splits=2)' ignores them: 60 rows ...
    """


class TimeLeakWarning(LeakWarning):
    """Warning that rows with times are tested by models that were trained on later rows.

    The estimate may be too good.

    See Also
    --------
    truerisk.exceptions.SpaceLeakWarning : Warning about rows that are close in space.

    Examples
    --------
    >>> import warnings
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     risk = tr.estimate_risk(GaussianNB(), X, y, cv="5-fold", time=range(60))
    >>> print(caught[0].message)
    time is given but method '5-fold' ignores it: 59 rows (first: row 0) are tested by models ...
    """


class SpaceLeakWarning(LeakWarning):
    """Warning that most rows are tested by models that were trained on the spatially next row.

    See Also
    --------
    truerisk.exceptions.TimeLeakWarning : Warning about rows with times.

    Examples
    --------
    >>> import warnings
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     risk = tr.estimate_risk(GaussianNB(), X, y, cv="5-fold", block=X)
    >>> print(caught[0].message)
    block is given but method '5-fold' ignores it: 44 of 60 rows (first: row 0) are tested ...
    """


class FittedPartWarning(LeakWarning):
    """Warning that a component of the model keeps an earlier fit in all folds.

    If it was fitted on rows that are tested, the estimate is too good.

    See Also
    --------
    truerisk.exceptions.LeakWarning : Base class of the warnings about leaks.

    Examples
    --------
    >>> import warnings
    >>> import truerisk as tr
    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     risk = tr.estimate_risk(FrozenEstimator(GaussianNB().fit(X, y)), X, y)
    >>> print(caught[0].message)
    clone keeps what FrozenEstimator learned, and so does every fold: ...
    """


class FindingWarning(TrueRiskWarning):
    """Warning about problems that the checks found in the rows or the predictions.

    See Also
    --------
    truerisk.exceptions.LeakWarning : Base class of the warnings about leaks.

    Examples
    --------
    >>> import warnings
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, _ = tr.datasets.make_simple(60, random_state=0)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     risk = tr.estimate_risk(GaussianNB(), X, [0] * 57 + [1] * 3, cv="3-fold", scoring="auc")
    >>> print(caught[-1].message)
    auc rests on only 3 rows of class '1' (fewer than 12): ...
    """


class CompiledModuleWarning(TrueRiskWarning):
    """Warning that the compiled module is missing: the results are the same, but slower.

    See Also
    --------
    truerisk.exceptions.TrueRiskWarning : Base class of all warnings.

    Examples
    --------
    >>> import warnings
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", tr.exceptions.CompiledModuleWarning)
    ...     risk = tr.estimate_risk(GaussianNB(), X, y)
    """


class FitFailedWarning(TrueRiskWarning):
    """Warning that some fits failed; the affected candidates have no risk.

    See Also
    --------
    truerisk.exceptions.FitFailed : Error for a fit in which the model raised an error.

    Examples
    --------
    >>> import warnings
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     engine = tr.engines.Generic(error="warn")
    ...     risk = tr.estimate_risk(GaussianNB(priors=[0.5]), X, y, engine=engine)
    >>> print(caught[0].message)
    5 of 5 fits failed; their candidates have no risk. The first: ...
    """


def is_failure(error: BaseException) -> bool:
    """Return True if an error should be reported to the user; other errors end the program.

    A panic of code written in Rust (polars, tokenizers) is not an Exception: each such library has
    its own class for it, which cannot be imported, but all of them have the same name. SystemExit,
    which `sys.exit` raises, counts as a failure too, because a model that calls it must not end the
    program that estimates its risk.
    """
    error_class = type(error)
    is_panic = (error_class.__module__, error_class.__name__) == ("pyo3_runtime", "PanicException")
    return isinstance(error, Exception | SystemExit) or is_panic


def first_line(error: BaseException) -> str:
    """Return the first line of a third-party error's message, truncated if it is long."""
    try:
        message_text = str(error).strip()
    except Exception:  # noqa: BLE001  `__str__` is third-party code, too
        message_text = ""
    message_line = message_text.splitlines()[0] if message_text else "no message"
    if len(message_line) <= LONGEST_QUOTATION:
        return message_line
    truncated_line, _, last_word = message_line[:LONGEST_QUOTATION].rpartition(" ")
    return f"{truncated_line or last_word} …"


def describe_error(error: BaseException) -> str:
    """Return the type and the first line of an error, as in 'ValueError: no rows'."""
    if isinstance(error, SystemExit):
        exit_status = (
            error.code
            # Dask installs tblib, whose copies of errors keep only the arguments.
        )
        if exit_status is None and error.args:
            exit_status = error.args[0]
        exit_text = "" if exit_status is None else escape_invisible(repr(exit_status)[:60])
        return f"SystemExit: it called sys.exit({exit_text}); let it raise an error instead"
    return f"{type(error).__name__}: {first_line(error)}"


def builtin_type_name(error: BaseException) -> str:
    """Return "ValueError" or "TypeError" if the error has that type, else an empty string."""
    return next(
        (
            builtin_type.__name__
            for builtin_type in (ValueError, TypeError)
            if isinstance(error, builtin_type)
        ),
        "",
    )


LONGEST_REPR = 12  # largest number of lines in a `repr`


def escape_invisible(text: str) -> str:
    r"""Escape control characters, so that a text can neither break a line nor reorder it.

    >>> escape_invisible("a\x1b[31mb\n")
    'a\\x1b[31mb\\x0a'
    """
    if text.isprintable():
        return text
    return "".join(
        f"\\x{ord(character):02x}" if _is_invisible(character) else character for character in text
    )


def _is_invisible(character: str) -> bool:
    """Return True for control and formatting characters and for code points without a character."""
    code_point = ord(character)
    if code_point & 0xFFFE == 0xFFFE or 0xFDD0 <= code_point <= 0xFDEF:  # noncharacters
        return True
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escape_for_xml(text: str) -> str:
    r"""Replace every character that XML 1.0 forbids by an escape with its number.

    XML has no escape for these characters: a file with one of them, for instance in a label, is not
    well-formed.

    >>> escape_for_xml("a\ufffe\x00\ud800é\n") == "a\\xfffe\\x00\\xd800é\n"
    True
    """
    return _NOT_IN_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


class BriefRepr:
    """Base class of results whose `repr` is the beginning of their printed form, for notebooks."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # The `repr` of a dataclass would list all fields, including arrays.
        if "__repr__" not in vars(cls):
            cls.__repr__ = BriefRepr.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        text_lines = str(self).split("\n")
        if len(text_lines) <= LONGEST_REPR:
            return "\n".join(text_lines)
        omission_note = f"... print() shows {len(text_lines) - LONGEST_REPR + 1} lines more"
        return "\n".join([*text_lines[: LONGEST_REPR - 1], omission_note])


PACKAGE_FILE_PREFIXES = (f"{Path(__file__).parents[1]}{os.sep}", str(contextlib.__file__))


def warn(text: str, category: type[Warning]) -> None:
    """Issue a warning that points to the first line of code outside of this package."""
    frame, stack_level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_FILE_PREFIXES):
        frame, stack_level = frame.f_back, stack_level + 1
    warnings.warn(text, category, stacklevel=stack_level - (frame is None))

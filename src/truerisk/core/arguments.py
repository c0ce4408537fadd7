"""Checks of arguments; each message names the argument, its value and what is required.

`format_arguments` formats arguments as a user would type them again: short values as they are,
arrays by the name of the argument.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial, wraps
from inspect import isroutine, signature
from numbers import Integral, Rational, Real
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

from truerisk.core.errors import BadArgument, BadData, UnknownName, first_line
from truerisk.core.identity import is_exactly
from truerisk.core.mentions import OMITTED_OPTION, Mention

if TYPE_CHECKING:
    import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

LONGEST_FILE_NAME = 255  # longest file name on common systems
LEAST_LEVEL, LARGEST_LEVEL = 1e-9, 1 - 1e-12  # smallest and largest confidence level
NO_VALUE = object()  # default of arguments for which None is a value
LARGEST_COUNT = 10**9  # A count above this limit is taken for a typing error.


def repr_on_one_line(value: Any) -> str:
    """Return the `repr` of a value on one line, truncated if it is long.

    >>> repr_on_one_line("ten"), repr_on_one_line(list(range(100)))
    ("'ten'", '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, …')
    """
    try:
        one_line_text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001  a user's `repr`, or an integer with too many digits
        one_line_text = f"<{type(value).__name__}>"
    return one_line_text if len(one_line_text) <= 60 else f"{one_line_text[:59]}…"


def mention(argument_name: str, value: Any = NO_VALUE, text: str | None = None) -> str:
    """Return a marked mention of an argument, which a `Sentence` can reword for the command line.

    `text` is the value as Python writes it; by default `repr_on_one_line` formats it.

    >>> str(BadArgument(f"{mention('folds', 1)} is too few; use {mention('cv', 'loo')}."))
    "folds=1 is too few; use cv='loo'."
    """
    if value is NO_VALUE:
        return Mention(argument_name, "", "").marked_text
    python_text = repr_on_one_line(value) if text is None else text
    if value is None or value is False:
        command_line_text = OMITTED_OPTION
    elif value is True:
        command_line_text = ""
    elif isinstance(value, str):
        command_line_text = (
            f" {quote(value if text is not None or len(value) <= 60 else f'{value[:59]}…')}"
        )
    elif isinstance(value, list | tuple) and all(
        isinstance(list_element, str) for list_element in value
    ):
        command_line_text = f" {quote(','.join(value))}"
    else:
        command_line_text = f" {quote(python_text)}"
    return Mention(argument_name, python_text, command_line_text).marked_text


def as_array(values: Any, dtype: Any = None) -> np.ndarray:
    """Convert values to an array; raise a ValueError for everything that NumPy cannot convert.

    NumPy is not uniform here: old releases accept lists of unequal lengths, text among numbers can
    raise a TypeError, an integer of 400 digits an OverflowError, and an object may raise anything.
    """
    import warnings

    import numpy as np

    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Creating an ndarray from ragged")
        warnings.filterwarnings("error", "Casting complex values to real discards")
        try:
            return np.asarray(values, dtype)
        except Exception as error:
            raise ValueError(first_line(error)) from error


def real_array(values: Any) -> np.ndarray:
    """Return the values as doubles; raise a ValueError for complex numbers.

    NumPy would drop their imaginary parts.

    >>> real_array([1j, 2])
    Traceback (most recent call last):
    ValueError: complex numbers, of which only the real parts would be taken
    """
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError("complex numbers, of which only the real parts would be taken")
    return array.astype(np.float64, copy=False)


def to_row_array(argument_name: str, values: Any, requirement: str) -> np.ndarray:
    """Convert an argument with one entry per row to an array, or raise BadData.

    `requirement` describes the required entries for the message.
    """
    try:
        return as_array(values)
    except ValueError as error:
        is_list = isinstance(values, list | tuple)
        reason = "a list of rows that are not equally long" if is_list else f"no array ({error})"
        raise BadData(f"{argument_name} is {reason}: {requirement}.") from None


def is_count(value: Any) -> bool:
    """Return True for an integer of at least 1 that is not a bool."""
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= 1


def check_count(
    argument_name: str, value: Any, minimum: int = 1, requirement_text: str = ""
) -> None:
    """Raise BadArgument unless the value is an integer of at least `minimum`.

    `requirement_text` says for the message what needs so many.

    >>> check_count("repeats", "5")
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: repeats='5': a whole number is wanted, at least one.
    """
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if is_integer and minimum <= value <= LARGEST_COUNT:
        return
    if is_integer and value > LARGEST_COUNT:
        raise _bad_argument(
            argument_name, value, f" is more than {LARGEST_COUNT:,}, which nothing serves."
        )
    requirement = (
        requirement_text
        or f"a whole number is wanted, at least {'one' if minimum == 1 else minimum}"
    )
    raise _bad_argument(argument_name, value, f": {requirement}.")


def _bad_argument(argument_name: str, value: Any, complaint: str) -> BadArgument:
    return BadArgument(f"{mention(argument_name, value)}{complaint}")


def is_distribution(values: Any) -> bool:
    """Return True if values can be drawn from this object: it has `rvs` or is a function.

    The function takes a random generator. Other callables, such as classes and kernels, are
    parameter values themselves.
    """
    return hasattr(values, "rvs") or isroutine(values) or isinstance(values, partial)


def is_number(value: Any) -> bool:
    """Return True for one real number that a double can hold and that is not a bool."""
    if isinstance(value, bool):
        return False
    if isinstance(value, Integral):
        return abs(int(value)) <= sys.float_info.max
    # Rationals such as Fraction are excluded, because they cannot be formatted with :g.
    return isinstance(value, Real) and not isinstance(value, Rational)


def check_number(
    argument_name: str, value: Any, lower_limit: float, upper_limit: float, requirement_text: str
) -> None:
    """Raise BadArgument unless the value is a number from `lower_limit` to `upper_limit`.

    `requirement_text` says for the message what is required.

    >>> check_number("gamma", "1", 0, 1, "the price of the choice lies between 0 and 1")
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: gamma='1': the price of the choice lies between 0 and 1.
    """
    if not is_number(value) or not lower_limit <= value <= upper_limit:
        raise _bad_argument(argument_name, value, f": {requirement_text}.")


def check_share(argument_name: str, value: Any, upper_limit: float = 1) -> None:
    """Raise BadArgument unless the value is a proportion strictly between 0 and `upper_limit`.

    >>> check_share("test_share", 30)
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: test_share=30: use a share of the rows, 0 < test_share < 1.
    """
    if not is_number(value) or not 0 < value < upper_limit:
        raise _bad_argument(
            argument_name,
            value,
            f": use a share of the rows, 0 < {argument_name} < {upper_limit:g}.",
        )


def check_clip(value: Any) -> None:
    """Raise BadArgument unless the value can be the smallest probability that a loss uses.

    >>> check_clip(1e-3)
    >>> check_clip(0)
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: clip=0: give how near to 0 and 1 probabilities may come, ...
    """
    if not is_number(value) or not 0 < value < 0.5:
        requirement = "give how near to 0 and 1 probabilities may come, 0 < clip < 0.5"
        raise _bad_argument("clip", value, f": {requirement}.")


def check_level(argument_name: str, value: Any) -> None:
    """Raise BadArgument unless the value is a level of a confidence interval or a test.

    >>> check_level("level", 95)
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: level=95: use a level between 0 and 1, such as 0.95.
    """
    if not is_number(value) or not 0 < value < 1:
        raise _bad_argument(argument_name, value, ": use a level between 0 and 1, such as 0.95.")
    if not LEAST_LEVEL <= value <= LARGEST_LEVEL:
        raise _bad_argument(
            argument_name,
            value,
            f": use a level from {LEAST_LEVEL:g} to 1 - {1 - LARGEST_LEVEL:.0e}, beyond which its "
            "quantiles are rounding.",
        )


def check_flag(argument_name: str, value: Any) -> None:
    """Raise BadArgument unless the value is a bool: text such as "no" would count as True.

    >>> check_flag("stratify", "no")
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: stratify='no': use True or False.
    """
    if not isinstance(value, bool) and not is_exactly(value, "numpy:bool_"):
        raise _bad_argument(argument_name, value, ": use True or False.")


def file_path(argument_name: str, value: Any, example: str) -> Path:
    """Return the argument as the path of a file; raise BadArgument if it is none.

    >>> file_path("store", None, "runs.db")
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: store=None: name a file, such as 'runs.db'.
    """
    path = os.fsdecode(value) if isinstance(value, str | bytes | os.PathLike) else ""
    if not path or "\0" in path:
        raise _bad_argument(argument_name, value, f": name a file, such as {example!r}.")
    return Path(path)


def to_store_path(value: Any, argument_name: str = "store", example: str = "runs.db") -> Path:
    """Return the path of a store; raise BadArgument if its name is too long for a file.

    >>> to_store_path(".")
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: store='.': name a file, such as 'runs.db'.
    """
    path = file_path(argument_name, value, example)
    if not path.name or max(map(len, path.parts)) > LONGEST_FILE_NAME:
        raise _bad_argument(argument_name, value, f": name a file, such as {example!r}.")
    return path


def refuse_both(first_name: str, first_value: Any, second_name: str, second_value: Any) -> None:
    """Raise BadArgument if two arguments with the same meaning are both given."""
    if first_value is not None and second_value is not None:
        raise BadArgument(
            f"{mention(first_name, first_value)} and {mention(second_name, second_value)} say the "
            "same thing: give one of them."
        )


def refuse_class(argument_name: str, value: Any) -> None:
    """Raise UnknownName if the value is a class instead of an instance.

    >>> refuse_class("cv", dict)
    Traceback (most recent call last):
    truerisk.core.errors.UnknownName: cv=dict is a class: make an object of it, dict().
    """
    if isinstance(value, type):
        class_name = value.__name__
        raise UnknownName(
            f"{mention(argument_name, value, class_name)} is a class: make an object of it, "
            f"{class_name}()."
        )


def check_has_name(kind_of_object: str, user_object: Any) -> None:
    """Raise BadArgument if a user's method, rule, loss, interval or engine has no `name`.

    >>> check_has_name("rule", object())
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: rule object has no name: give its class a `name`, a text by \
which results call it.
    """
    if not isinstance(getattr(user_object, "name", None), str):
        raise BadArgument(
            f"{kind_of_object} {type(user_object).__name__} has no name: give its class a `name`, "
            "a text by which results call it."
        )


def to_random_generator(random_state: Any) -> np.random.Generator:
    """Return the random generator for a seed, or the generator that was passed."""
    import numpy as np

    try:
        if isinstance(random_state, bool):
            raise TypeError
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise BadArgument(
            f"{mention('random_state', random_state)} is no seed; use an integer of at least 0, "
            "None, or a numpy Generator."
        ) from None


LONGEST_ARGUMENT = 120  # longest formatted argument, in characters


def format_arguments(**arguments: Any) -> dict[str, str]:
    """Format each argument that was given as Python source, without the name and "=".

    Rows are not written out: an array is represented by a variable with the name of the argument.

    >>> import numpy as np
    >>> format_arguments(
    ...     time=np.arange(3), block=None, scoring=["auc"], validate={"subgroups": "sex"}
    ... )
    {'time': 'time', 'scoring': "['auc']", 'validate': "{'subgroups': 'sex'}"}
    """
    return {
        argument_name: _source_or_name(argument_name, value)
        for argument_name, value in arguments.items()
        if value is not None
    }


def _source_or_name(argument_name: str, value: Any) -> str:
    source_text = _source_text(argument_name, value)
    return (
        source_text
        if len(source_text) <= LONGEST_ARGUMENT and "\n" not in source_text
        else argument_name
    )


def _source_text(argument_name: str, argument_value: Any) -> str:
    """Return the `repr` of a plain value or of a mapping of plain values, else the argument's name.

    The name stands for a variable that holds the value.
    """
    import numpy as np

    if isinstance(argument_value, np.generic):
        argument_value = argument_value.item()
    if _is_plain_value(argument_value):
        return repr(argument_value)
    if isinstance(argument_value, list | tuple) and all(map(_is_plain_value, argument_value)):
        return repr(list(argument_value))
    if isinstance(argument_value, Mapping):
        entry_texts = (
            f"{str(key)!r}: {_source_text(_name_of_key(key, argument_name), entry_value)}"
            for key, entry_value in argument_value.items()
        )
        return f"{{{', '.join(entry_texts)}}}"
    return argument_name


def _is_plain_value(value: Any) -> bool:
    return value is None or type(value) in (bool, int, float, str)


def _name_of_key(mapping_key: Any, default_name: str) -> str:
    return (
        mapping_key if isinstance(mapping_key, str) and mapping_key.isidentifier() else default_name
    )


# ---------------------------------------------------------------- old parameter names, until 1.0

NEW_NAME_BY_OLD = {
    "executor": "n_jobs",
    "loss": "scoring",
    "method": "cv",
    "methods": "cv",
    "scores": "scoring",
    "select_by": "cv",
}


def refuse_old_names(given_names: Iterable[str], known_names: Container[str]) -> None:
    """Raise BadArgument if a parameter is given by its old name.

    >>> refuse_old_names(["executor"], {"n_jobs"})
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: `executor` is now `n_jobs`.
    """
    for given_name in given_names:
        if NEW_NAME_BY_OLD.get(given_name) in known_names and given_name not in known_names:
            raise BadArgument(f"`{given_name}` is now `{NEW_NAME_BY_OLD[given_name]}`.")


class RenamedAttribute:
    """Old name of an attribute; reading it raises an AttributeError with the new name.

    >>> class Curve:
    ...     of = RenamedAttribute("from_scores")
    >>> Curve.of
    Traceback (most recent call last):
    AttributeError: `Curve.of` is now `from_scores`.
    """

    def __init__(self, new: str) -> None:
        self.new_name = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.old = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type | None = None) -> NoReturn:
        raise AttributeError(f"`{self.old}` is now `{self.new_name}`.")


class Extensible:
    """Base class of classes from which users derive; subclasses may not use old attribute names.

    Otherwise the definition under the old name of an attribute would be ignored.
    """

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name in vars(cls):
            for base_class in cls.__mro__[1:]:
                if isinstance(renamed_attribute := vars(base_class).get(name), RenamedAttribute):
                    raise BadArgument(
                        f"{cls.__name__}: `{name}` is now `{renamed_attribute.new_name}`."
                    )


def refuses_old_names(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that it raises an error for old names of its parameters."""
    known_parameters = signature(function).parameters

    @wraps(function)
    def wrapper(*args: P.args, **options: P.kwargs) -> R:
        refuse_old_names(options, known_parameters)
        return function(*args, **options)

    return wrapper

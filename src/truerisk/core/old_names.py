"""Old names of parameters: until 1.0 each is refused with the name that took its place."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from truerisk.core.errors import BadArgument

P = ParamSpec("P")
R = TypeVar("R")

NEW_NAMES = {
    "executor": "n_jobs",
    "loss": "scoring",
    "method": "cv",
    "methods": "cv",
    "scores": "scoring",
    "select_by": "cv",
}


def refuse_old_names(given: Iterable[str], known: Container[str]) -> None:
    """Raise a TypeError if one of the given names is an old one of a parameter that is known.

    >>> refuse_old_names(["executor"], {"n_jobs"})
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: `executor` is now `n_jobs`.
    """
    for name in given:
        if NEW_NAMES.get(name) in known and name not in known:
            raise BadArgument(f"`{name}` is now `{NEW_NAMES[name]}`.")


def refuses_old_names(call: Callable[P, R]) -> Callable[P, R]:
    """Wrap a call so that it refuses the old names of its parameters."""
    known = signature(call).parameters

    @wraps(call)
    def refusing(*args: P.args, **options: P.kwargs) -> R:
        refuse_old_names(options, known)
        return call(*args, **options)

    return refusing

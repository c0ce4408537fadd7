"""Old names of parameters: until 1.0 each is refused with the name that took its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from truerisk.core.errors import BadArgument

P = ParamSpec("P")
R = TypeVar("R")

NEW_NAMES = {
    "executor": "n_jobs",
    "method": "cv",
    "methods": "cv",
    "select_by": "cv",
}


def refuse_old_names(names: Iterable[str]) -> None:
    """Raise a TypeError that gives the new name of the first old one.

    >>> refuse_old_names(["executor"])
    Traceback (most recent call last):
    truerisk.core.errors.BadArgument: `executor` is now `n_jobs`.
    """
    for name in names:
        if name in NEW_NAMES:
            raise BadArgument(f"`{name}` is now `{NEW_NAMES[name]}`.")


def refuses_old_names(call: Callable[P, R]) -> Callable[P, R]:
    """A call that refuses the old names of its parameters."""
    own = signature(call).parameters

    @wraps(call)
    def refusing(*args: P.args, **options: P.kwargs) -> R:
        if not options.keys() <= own.keys():
            refuse_old_names(options)
        return call(*args, **options)

    return refusing

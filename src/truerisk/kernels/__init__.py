"""Access to the compiled module, and numerical routines that several engines share.

Other C++ sources are next to the Python code of their engine, each with one caller. The caller
checks shapes and bounds, which the compiled loop does not check. Nothing falls back on NumPy
silently: without the compiled module `available` returns False, `why_not` returns the reason, and a
call of a compiled function raises `truerisk.core.errors.Refusal`. An engine therefore calls
`why_not` first and reports the reason.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from truerisk.core.errors import Refusal

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["available", "native", "why_not"]

NATIVE = "truerisk.kernels._native"


@cache
def attempt() -> tuple[ModuleType | None, str | None]:
    """Import the compiled module once; return it, or None and the reason of the failure."""
    try:
        return import_module(NATIVE), None
    except ImportError as error:
        return None, f"the compiled module {NATIVE} cannot be imported ({error})"


def available() -> bool:
    """Return True if the compiled functions can be called."""
    return attempt()[0] is not None


def why_not() -> str | None:
    """Return why the compiled functions cannot be called, or None if they can."""
    return attempt()[1]


def native() -> ModuleType:
    """Return the compiled module, or raise if it cannot be imported.

    Raises
    ------
    Refusal
        When it cannot be imported; the message holds the reason and the remedy.
    """
    module, reason = attempt()
    if module is None:
        raise Refusal(
            f"{reason}. Install a wheel of truerisk, or build it with a C++17 compiler "
            "(`make setup` in a clone); engine='generic' gives the same numbers without it."
        )
    return module

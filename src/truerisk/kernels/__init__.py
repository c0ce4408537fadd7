"""Access to the compiled module, and numerical routines that several engines share.

Other C++ sources are next to the Python code of their engine, each with one caller. The caller
checks shapes and bounds, which the compiled loop does not check. Nothing falls back on NumPy
silently: without the compiled module `is_available` returns False, `unavailability_reason` returns
the reason, and a call of a compiled function raises `truerisk.core.errors.Refusal`. An engine
therefore calls `unavailability_reason` first and reports the reason.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from truerisk.core.errors import Refusal

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["is_available", "native_module", "unavailability_reason"]

NATIVE_MODULE_NAME = "truerisk.kernels._native"


@cache
def import_native() -> tuple[ModuleType | None, str | None]:
    """Import the compiled module once; return it, or None and the reason of the failure."""
    try:
        return import_module(NATIVE_MODULE_NAME), None
    except ImportError as error:
        return None, f"the compiled module {NATIVE_MODULE_NAME} cannot be imported ({error})"


def is_available() -> bool:
    """Return True if the compiled functions can be called."""
    return import_native()[0] is not None


def unavailability_reason() -> str | None:
    """Return why the compiled functions cannot be called, or None if they can."""
    return import_native()[1]


def native_module() -> ModuleType:
    """Return the compiled module, or raise if it cannot be imported.

    Raises
    ------
    Refusal
        When it cannot be imported; the message holds the reason and the remedy.
    """
    module, reason = import_native()
    if module is None:
        raise Refusal(
            f"{reason}. Install a wheel of truerisk, or build it with a C++17 compiler "
            "(`make setup` in a clone); engine='generic' gives the same numbers without it."
        )
    return module

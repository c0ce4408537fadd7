"""Branches: parts of truerisk without which all other calls work as ever.

A call enters a branch through a door: a registry, or one function that imports it late and checks
first that it is there. The table of ARCHITECTURE.md lists them, and `make branches` cuts each off.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from truerisk.core.errors import MissingBranch


def is_present(module: str) -> bool:
    """Return True if this module of truerisk, and each package around it, can be imported."""
    return _missing_part(module) is None


def check_present(module: str) -> None:
    """Refuse a call that needs a module of truerisk which is missing.

    >>> check_present("truerisk.methods.racing")
    """
    missing = _missing_part(module)
    if missing is not None:
        raise MissingBranch(
            f"this call needs {missing}, which is missing from this installation; "
            "install truerisk anew."
        )


def _missing_part(module: str) -> str | None:
    """Return the first of the packages around a module, or the module, that is not there."""
    if module in sys.modules:
        return None
    names = module.split(".")
    parts = (".".join(names[:end]) for end in range(2, len(names) + 1))
    return next((p for p in parts if p not in sys.modules and find_spec(p) is None), None)

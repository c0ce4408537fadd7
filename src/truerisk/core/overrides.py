"""The decorator that marks a method as overriding one of a base class, where its docstring stands.

`typing.override` exists from Python 3.12 on. Type checkers see it on every version, and refuse a
marked method that overrides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import override
else:

    def override(method):
        """Return the method unchanged; only type checkers read the mark."""
        return method


__all__ = ["override"]

"""What is shown of names and results: text that does nothing but stand there, and little of it."""

from __future__ import annotations

import unicodedata
from typing import Any

__all__ = ["Brief", "visible"]

LONGEST_REPR = 12  # lines


def visible(text: str) -> str:
    r"""Text that can neither break a line nor reorder it: control characters become visible.

    >>> visible("a\x1b[31mb\n")
    'a\\x1b[31mb\\x0a'
    """
    if text.isprintable():
        return text
    return "".join(
        f"\\x{ord(c):02x}" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c
        for c in text
    )


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

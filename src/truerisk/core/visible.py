"""Text that does nothing but stand there."""

from __future__ import annotations

import unicodedata

__all__ = ["visible"]


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

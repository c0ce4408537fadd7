"""How names and cells of a file are quoted inside a message, whatever characters they hold."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["counted", "listed", "quoted"]

_LONGEST = 40


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def quoted(text: object, longest: int = _LONGEST) -> str:
    r"""`text` in quotes, on one line, no longer than `longest`; invisible characters are escaped.

    >>> quoted("colour")
    "'colour'"
    >>> print(quoted("a\nb"))
    'a\x0ab'
    """
    whole = str(text)
    shown = "".join(map(_visible, whole[:longest]))
    return f"'{shown[:longest]}...'" if max(len(whole), len(shown)) > longest else f"'{shown}'"


def listed(names: Sequence[object], most: int = 8) -> str:
    """Quoted names with commas; after `most` of them how many more there are."""
    shown = ", ".join(quoted(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def counted(n: int, one: str, many: str | None = None) -> str:
    """`n` with its noun.

    >>> counted(1, "row"), counted(2, "row"), counted(2, "class", "classes")
    ('1 row', '2 rows', '2 classes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"

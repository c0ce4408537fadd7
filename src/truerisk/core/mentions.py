"""Sentences that mention arguments, which Python and the command line write in different ways.

`mention` in `core/arguments.py` puts a mention into an f-string, between characters that Unicode
reserves for the inside of programs. A `Sentence` reads these characters and is text without them.
"""

from __future__ import annotations

from typing import NamedTuple, Self

from truerisk.core.overrides import override

ABSENT = "absent"  # how None and False are typed: the option is left out
_START, _FIELD, _END = "\ufdd0", "\ufdd1", "\ufdd2"


class Mention(NamedTuple):
    """An argument in a sentence, such as `cv='10-fold'`, or `cv=` without a value.

    `typed` is the value as one types it after the option, with a space before it. It is empty for
    a name without a value and for True, which a flag stands for.
    """

    argument: str
    value: str
    typed: str

    def __str__(self) -> str:
        return f"{self.argument}={self.value}"

    @property
    def marked(self) -> str:
        """The mention as a part of an f-string that becomes a sentence."""
        return f"{_START}{_FIELD.join(self)}{_END}"


class Sentence(str):
    """Text as Python writes it; `parts` are its mentions and the texts between them."""

    __slots__ = ("parts",)
    parts: tuple[str | Mention, ...]

    @override
    def __new__(cls, marked: str) -> Self:
        parts = marked.parts if isinstance(marked, Sentence) else tuple(_parts_of(marked))
        sentence = super().__new__(cls, "".join(map(str, parts)))
        sentence.parts = parts
        return sentence

    @property
    def marked(self) -> str:
        """The sentence with its mentions, as a part of a longer one."""
        return "".join(part.marked if isinstance(part, Mention) else part for part in self.parts)


def _parts_of(marked: str) -> list[str | Mention]:
    """Split a text at the characters around its mentions."""
    before, *pieces = marked.split(_START)
    parts: list[str | Mention] = [before]
    for piece in pieces:
        inside, end, after = piece.partition(_END)
        fields = inside.split(_FIELD)
        if end and len(fields) == len(Mention._fields):
            parts += [Mention(*fields), after]
        else:  # The character belongs to a text that the sentence quotes.
            parts.append(_START + piece)
    return parts

"""Sentences that mention arguments, which Python and the command line write in different ways.

`mention` in `core/arguments.py` puts a mention into an f-string, between characters that Unicode
reserves for internal use. A `Sentence` splits the text at these characters and removes them.
"""

from __future__ import annotations

from typing import NamedTuple, Self

from truerisk.core.overrides import override

OMITTED = "absent"  # for None and False, which the command line expresses by omitting the option
_START, _FIELD, _END = "\ufdd0", "\ufdd1", "\ufdd2"


class Mention(NamedTuple):
    """Argument mentioned in a sentence, such as `cv='10-fold'`, or `cv=` without a value.

    `typed` is the value as one types it after the option, with a space before it. It is empty for a
    name without a value and for True, which is typed as a flag.
    """

    argument: str
    value: str
    typed: str

    def __str__(self) -> str:
        return f"{self.argument}={self.value}"

    @property
    def marked(self) -> str:
        """Text of the mention between marks, to be put into an f-string."""
        return f"{_START}{_FIELD.join(self)}{_END}"


class Sentence(str):
    """Message as Python writes it; `parts` holds its mentions and the text between them."""

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
        """Text of the sentence with its mentions marked, to be put into a longer sentence."""
        return "".join(part.marked if isinstance(part, Mention) else part for part in self.parts)


def _parts_of(marked: str) -> list[str | Mention]:
    """Split a marked text into its mentions and the text between them."""
    text_before, *pieces = marked.split(_START)
    parts: list[str | Mention] = [text_before]
    for piece in pieces:
        marked_fields, end_mark, text_after = piece.partition(_END)
        fields = marked_fields.split(_FIELD)
        if end_mark and len(fields) == len(Mention._fields):
            parts += [Mention(*fields), text_after]
        else:  # The sentence quotes a text that contains the mark itself.
            parts.append(_START + piece)
    return parts

"""Sentences that mention arguments, which Python and the command line write in different ways.

`mention` in `core/arguments.py` puts a mention into an f-string, between characters that Unicode
reserves for internal use. A `Sentence` splits the text at these characters and removes them.
"""

from __future__ import annotations

from typing import NamedTuple, Self

from truerisk.core.overrides import override

OMITTED_OPTION = (
    "absent"  # the option is left out on the command line if the value is None or False
)
_MARK_START, _FIELD_SEPARATOR, _MARK_END = "\ufdd0", "\ufdd1", "\ufdd2"


class Mention(NamedTuple):
    """Argument mentioned in a sentence, such as `cv='10-fold'`, or `cv=` without a value.

    `option_value` is the value as one types it after the option, with a space before it. It is
    empty for a name without a value and for True, which is typed as a flag.
    """

    argument: str
    value: str
    option_value: str

    def __str__(self) -> str:
        return f"{self.argument}={self.value}"

    @property
    def marked_text(self) -> str:
        """Text of the mention between two mark characters, as it is put into an f-string."""
        return f"{_MARK_START}{_FIELD_SEPARATOR.join(self)}{_MARK_END}"


class Sentence(str):
    """Message that mentions arguments as one writes them in Python, such as `cv='10-fold'`.

    `parts` holds the mentions and the pieces of text between them.
    """

    __slots__ = ("parts",)
    parts: tuple[str | Mention, ...]

    @override
    def __new__(cls, marked_text: str) -> Self:
        mentions_and_texts = (
            marked_text.parts
            if isinstance(marked_text, Sentence)
            else tuple(_split_at_mentions(marked_text))
        )
        sentence = super().__new__(cls, "".join(map(str, mentions_and_texts)))
        sentence.parts = mentions_and_texts
        return sentence

    @property
    def marked_text(self) -> str:
        """Text of the sentence with its mentions marked, to be put into a longer sentence."""
        return "".join(
            mention_or_text.marked_text if isinstance(mention_or_text, Mention) else mention_or_text
            for mention_or_text in self.parts
        )


def _split_at_mentions(marked_text: str) -> list[str | Mention]:
    """Split a marked text into its mentions and the text between them."""
    text_before, *marked_pieces = marked_text.split(_MARK_START)
    mentions_and_texts: list[str | Mention] = [text_before]
    for marked_piece in marked_pieces:
        marked_fields, end_mark, text_after = marked_piece.partition(_MARK_END)
        mention_fields = marked_fields.split(_FIELD_SEPARATOR)
        if end_mark and len(mention_fields) == len(Mention._fields):
            mentions_and_texts += [Mention(*mention_fields), text_after]
        else:  # The sentence quotes a text that contains the mark itself.
            mentions_and_texts.append(_MARK_START + marked_piece)
    return mentions_and_texts

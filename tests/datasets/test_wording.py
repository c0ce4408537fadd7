"""Names and cells are quoted short, visible and on one line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from truerisk.datasets.wording import counted, listed, quoted


@given(st.text(max_size=100))
def test_a_quoted_text_is_short_and_visible(text: str) -> None:
    """Whatever the characters, the quotation is printable and has at most 45 of them."""
    shown = quoted(text)
    assert shown.isprintable()
    assert len(shown) <= 45


def test_plain_names_stand_as_they_are() -> None:
    """Letters of any script and punctuation are not escaped."""
    assert quoted("Größe <cm>, שם") == "'Größe <cm>, שם'"


def test_what_is_cut_or_escaped_shows() -> None:
    """Three dots stand for the rest; an invisible character has its number."""
    assert quoted("x" * 41) == f"'{'x' * 40}...'"
    assert quoted("a\u202eb\n") == "'a\\u202eb\\x0a'"


def test_long_lists_are_counted() -> None:
    """After the eighth name the number of the others is told."""
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed(list(range(10))).endswith("'7' and 2 more")


def test_nouns_follow_their_number() -> None:
    """One row, two rows, 0 classes."""
    assert counted(1, "row") == "1 row"
    assert counted(2000, "row") == "2,000 rows"
    assert counted(0, "class", "classes") == "0 classes"

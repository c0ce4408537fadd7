"""The numbers an estimate was made of print as one line, in text and in a notebook."""

from __future__ import annotations

from truerisk.results.interval import Breakdown

TABLE = Breakdown({"apparent": 0.1, "optimism": -0.025, "n": 200})


def test_is_a_mapping() -> None:
    """Names lead to numbers, in order."""
    assert list(TABLE.items()) == [("apparent", 0.1), ("optimism", -0.025), ("n", 200)]
    assert Breakdown(dict(TABLE)) == TABLE
    assert len(TABLE) == 3


def test_prints_as_a_table() -> None:
    """Risks with four digits, counts as they are."""
    head, line, numbers = str(TABLE).splitlines()
    assert head.split() == ["apparent", "optimism", "n"]
    assert set(line) == {"-"}
    assert numbers.split() == ["0.1000", "-0.0250", "200"]


def test_shows_itself_in_a_notebook() -> None:
    """A table of one row."""
    html = TABLE._repr_html_()
    assert html.count("<th") == 3 + 1  # and <thead>
    assert "<td>0.1000</td><td>-0.0250</td><td>200</td>" in html

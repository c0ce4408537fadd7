"""The line of a value in a TOML text."""

from __future__ import annotations

import pytest

from truerisk.study.spec import line_of

TEXT = """# a comment that says nest
a = 1

list = [
  "one",  # nest
  "nest",
  { x = 1, y = 2 },
]
[table]
b = true
[[many]]
c = "x"
[[many]]
c = "y"
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("a",), 2),
        (("list", 0), 5),
        (("list", 1), 6),
        (("list", 2, "y"), 7),
        (("table", "b"), 10),
        (("many", 1, "c"), 14),
        (("nowhere",), None),
        (("list", 7), None),
    ],
)
def test_the_line_of_a_value(place, line):
    """Of keys, elements of lists over several lines, tables and lists of tables."""
    assert line_of(TEXT, place) == line

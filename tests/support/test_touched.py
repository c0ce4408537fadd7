"""`make check` runs the tests of what was touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.touched import chosen, places_of_tests


@pytest.mark.parametrize(
    ("touched", "tests"),
    [
        (
            "src/truerisk/readers/table.py",
            ["tests/readers/test_table.py", "tests/readers/test_table_refusals.py"],
        ),
        ("src/truerisk/methods/bolstered.py", ["tests/methods/test_bolstered.py"]),
        ("src/truerisk/selection/rules.py", ["tests/selection/test_rules.py"]),
        ("src/truerisk/selection/__init__.py", ["tests/selection"]),
        ("tests/selection/test_rules.py", ["tests/selection/test_rules.py"]),
        ("tests/selection/test_gone.py", []),
        ("src/truerisk/engines/trees/_tree.cpp", []),
        ("src/truerisk/__init__.py", []),
        ("README.md", []),
    ],
)
def test_a_file_leads_to_its_tests(touched, tests):
    """The test files of its name, else those of its package; itself if it is a test that exists."""
    assert [path.as_posix() for path in places_of_tests(Path(touched))] == tests


def test_a_room_holds_the_places_of_tests_its_files():
    """Nothing is run twice."""
    paths = ["src/truerisk/selection/__init__.py", "src/truerisk/selection/rules.py"]
    assert chosen([Path(path) for path in paths]) == [Path("tests/selection")]

"""The table of branches is true to the sources, and its checks can fail."""

import ast
from dataclasses import replace

import pytest
from tests import branches as tool
from tests.branches import Branch

TEXT = (tool.ROOT / "ARCHITECTURE.md").read_text("utf-8")
TABLE = tool.branches_of(TEXT)
SOURCES = tool.all_sources()
DOORS = tool.doors_of(TEXT)
RACING = Branch("racing", ("methods/racing.py",), (), "tr.methods")


def sources(**texts):
    return {f"{name}.py": ast.parse(text) for name, text in texts.items()}


def test_table_is_true_to_the_sources():
    """Modules exist; only the named files import a branch; late imports stand at doors, which ask.

    Nobody catches the absence of a branch.
    """
    assert len({branch.name for branch in TABLE}) == len(TABLE) >= 42
    assert tool.missing_modules(TABLE) == []
    assert tool.unforeseen_importers(TABLE, SOURCES) == []
    assert tool.late_imports(SOURCES) == DOORS
    assert tool.unchecked_doors(TABLE, SOURCES) == []
    assert tool.caught_imports(SOURCES) == []


def test_missing_modules_are_found():
    moved = replace(RACING, paths=("methods/divination.py", "methods/tea"))
    assert tool.missing_modules([moved]) == ["methods/divination.py", "methods/tea"]


@pytest.mark.parametrize(
    "text",
    [
        "from truerisk.methods.racing import Racing",
        "import truerisk.methods.racing",
        "def late():\n    from truerisk.methods import racing",
    ],
)
def test_unforeseen_importers_are_found(text):
    (found,) = tool.unforeseen_importers([RACING], sources(other=text))
    assert found.startswith("other.py:")
    allowed = replace(RACING, importers=("other.py",))
    assert tool.unforeseen_importers([allowed], sources(other=text)) == []


def test_late_imports_are_found_by_their_function():
    text = "class A:\n    def b(self):\n        if self:\n            from truerisk.core import c"
    assert tool.late_imports(sources(one=text)) == {"one.py: b"}
    early = "from truerisk.core import c\nif TYPE_CHECKING:\n    from truerisk.core import d"
    assert tool.late_imports(sources(one=early)) == set()


def test_unchecked_doors_are_found():
    text = "def door():\n    {}from truerisk.methods.racing import Racing"
    unasked = text.format("")
    assert tool.unchecked_doors([RACING], sources(one=unasked)) == ["one.py: door"]
    asked = text.format("check_present('truerisk.methods.racing')\n    ")
    assert tool.unchecked_doors([RACING], sources(one=asked)) == []


@pytest.mark.parametrize(
    ("text", "n_found"),
    [
        ("try:\n    from truerisk.core import c\nexcept ImportError:\n    c = None", 1),
        ("try:\n    from truerisk.core import c\nexcept:\n    c = None", 1),
        ("try:\n    load()\nexcept (KeyError, MissingBranch):\n    pass", 1),
        ("with suppress(ModuleNotFoundError):\n    import truerisk.core.c", 1),
        ("try:\n    import pandas\nexcept ImportError:\n    pandas = None", 0),
    ],
)
def test_caught_imports_are_those_of_truerisk(text, n_found):
    assert len(tool.caught_imports(sources(one=text))) == n_found


def test_main_refuses_an_unknown_branch(capsys):
    assert tool.main(["tea"]) == 2
    assert "no branch is called tea; there are: Bayesian errors" in capsys.readouterr().out


USUAL = {"estimate": [0.1, 0.05, 0.2]}
SENTENCE = ["MissingBranch", "this call needs truerisk.methods.racing, which is missing"]


@pytest.mark.parametrize(
    ("numbers", "raised", "fault"),
    [
        ({"failed": []}, ["ModuleNotFoundError: No module"], "a common call fails"),
        ({"estimate": [0.1, 0.05, 0.21]}, SENTENCE, "estimate gives other numbers"),
        ({"estimate": [0.1]}, SENTENCE, "estimate gives other numbers"),
        (USUAL, ["nothing", "the call needs no such branch"], "raises nothing"),
        (USUAL, ["ModuleNotFoundError", "No module named"], "raises ModuleNotFoundError"),
        (USUAL, ["MissingBranch", "this call needs truerisk.methods.other"], "MissingBranch"),
    ],
)
def test_fault_of_a_branch_is_told(numbers, raised, fault):
    """There is none where only its call misses it."""
    assert tool.fault_of(RACING, USUAL, SENTENCE, USUAL) is None
    assert fault in tool.fault_of(RACING, numbers, raised, USUAL)

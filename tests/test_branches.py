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


def sources(**texts: str) -> dict[str, ast.Module]:
    return {f"{name}.py": ast.parse(text) for name, text in texts.items()}


def test_the_table_lists_at_least_42_branches_by_distinct_names():
    assert len({branch.name for branch in TABLE}) == len(TABLE) >= 42


def test_every_module_of_the_table_exists():
    assert tool.missing_modules(TABLE) == []


def test_a_module_that_does_not_exist_is_found():
    moved = replace(RACING, paths=("methods/divination.py", "methods/tea"))
    assert tool.missing_modules([moved]) == ["methods/divination.py", "methods/tea"]


def test_only_the_named_files_import_a_branch():
    assert tool.unforeseen_importers(TABLE, SOURCES) == []


@pytest.mark.parametrize(
    "text",
    [
        "from truerisk.methods.racing import Racing",
        "import truerisk.methods.racing",
        "def late():\n    from truerisk.methods import racing",
    ],
)
def test_an_importer_that_no_row_names_is_found(text):
    found = tool.unforeseen_importers([RACING], sources(other=text))
    assert len(found) == 1
    assert found[0].startswith("other.py:")
    allowed = replace(RACING, importers=("other.py",))
    assert tool.unforeseen_importers([allowed], sources(other=text)) == []


def test_late_imports_stand_at_doors_alone():
    assert tool.late_imports(SOURCES) <= DOORS


def test_every_door_of_the_table_imports_late():
    assert tool.late_imports(SOURCES) >= DOORS


def test_a_late_import_is_found_by_its_function():
    text = "class A:\n    def b(self):\n        if self:\n            from truerisk.core import c"
    assert tool.late_imports(sources(one=text)) == {"one.py: b"}
    early = "from truerisk.core import c\nif TYPE_CHECKING:\n    from truerisk.core import d"
    assert tool.late_imports(sources(one=early)) == set()


def test_every_door_to_a_branch_asks_whether_it_is_there():
    assert tool.unchecked_doors(TABLE, SOURCES) == []


def test_a_door_that_does_not_ask_is_found():
    text = "def door():\n    {}from truerisk.methods.racing import Racing"
    unasked = text.format("")
    assert tool.unchecked_doors([RACING], sources(one=unasked)) == ["one.py: door"]
    asked = text.format("check_present('truerisk.methods.racing')\n    ")
    assert tool.unchecked_doors([RACING], sources(one=asked)) == []


def test_an_unknown_branch_is_refused(capsys):
    assert tool.main(["tea"]) == 2
    assert "no branch is called tea; there are: Bayesian errors" in capsys.readouterr().out


def test_nobody_catches_the_absence_of_a_branch():
    assert tool.caught_imports(SOURCES) == []


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    from truerisk.core import c\nexcept ImportError:\n    c = None",
        "try:\n    from truerisk.core import c\nexcept:\n    c = None",
        "try:\n    load()\nexcept (KeyError, MissingBranch):\n    pass",
        "with suppress(ModuleNotFoundError):\n    import truerisk.core.c",
    ],
)
def test_a_caught_absence_is_found(text):
    assert len(tool.caught_imports(sources(one=text))) == 1


def test_other_imports_may_be_caught():
    text = "try:\n    import pandas\nexcept ImportError:\n    pandas = None"
    assert tool.caught_imports(sources(one=text)) == []


USUAL = {"estimate": [0.1, 0.05, 0.2]}
SENTENCE = ["MissingBranch", "this call needs truerisk.methods.racing, which is missing"]


def test_a_branch_that_only_its_call_misses_has_no_fault():
    assert tool.fault_of(RACING, USUAL, SENTENCE, USUAL) is None


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
def test_a_fault_of_a_branch_is_told(numbers, raised, fault):
    assert fault in tool.fault_of(RACING, numbers, raised, USUAL)

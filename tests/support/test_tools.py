"""Tools of the tests: what was touched, examples of results, generators of modules."""

from pathlib import Path

import numpy as np
import pytest
from tests.support.results import RESULTS, classes_without_figure, examples_in_tests
from tests.support.touched import chosen, places_of_tests

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("turn", range(2))
def test_generator_of_a_module_begins_anew_in_each_test(turn):
    assert RNG.random() == np.random.default_rng(0).random()


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
def test_places_of_tests_are_found_by_the_name_of_a_file(touched, tests):
    """The test files of its name, else those of its package; itself if it is a test that exists."""
    assert [path.as_posix() for path in places_of_tests(Path(touched))] == tests


def test_chosen_runs_nothing_twice():
    paths = ["src/truerisk/selection/__init__.py", "src/truerisk/selection/rules.py"]
    assert chosen([Path(path) for path in paths]) == [Path("tests/selection")]


def test_examples_are_found_by_their_names(tmp_path):
    """With and without a figure; names inside a function and files that give none do not count."""
    texts = {"a": "EXAMPLE = 1\n", "b": "def f():\n    EXAMPLE = 1\n", "c": "X = 1\nEXAMPLES = 2\n"}
    texts["d"] = "X = 1\nEXAMPLE_WITHOUT_FIGURE = 2\n"
    for name, text in texts.items():
        path = tmp_path / "tests" / "results" / f"test_{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert [*examples_in_tests(tmp_path)] == [
        ("tests/results/test_a.py", "EXAMPLE"),
        ("tests/results/test_d.py", "EXAMPLE_WITHOUT_FIGURE"),
    ]


def test_examples_are_results_by_their_paths():
    assert type(RESULTS["tests/results/test_roc.py"]()).__name__ == "RocCurve"
    assert type(RESULTS["tests/planning/test_plan_model.py"]()).__name__ == "RowsNeeded"
    assert "RocCurve" not in classes_without_figure()

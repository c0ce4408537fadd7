"""Examples of results are found in the test files of records."""

from __future__ import annotations

from tests.support.results import RESULTS, classes_without_figure, examples_in_tests


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
    """One with a figure and one without."""
    assert type(RESULTS["tests/results/test_roc.py"]()).__name__ == "RocCurve"
    assert type(RESULTS["tests/planning/test_plan_model.py"]()).__name__ == "RowsNeeded"
    assert "RowsNeeded" in classes_without_figure()
    assert "RocCurve" not in classes_without_figure()

"""The table of fits and seconds asks the library."""

from __future__ import annotations

from benchmarks import seconds


def test_a_cell_has_the_fits_and_the_seconds_of_the_result():
    """Ten folds are ten fits; a search of four settings in pairs of ten folds takes 4 times 55."""
    assert seconds.measured("wine", "naive Bayes", "10-fold", search=False)[0] == 10
    fits, took = seconds.measured("wine", "naive Bayes", "pairs", search=True)
    assert fits == 4 * 55
    assert took > 0


def test_the_table_has_a_line_for_each_method(monkeypatch):
    """And a column for each learner."""
    monkeypatch.setattr(seconds, "LEARNERS", {"naive Bayes": seconds.LEARNERS["naive Bayes"]})
    monkeypatch.setattr(seconds, "METHODS", ("holdout", "10-fold"))
    monkeypatch.setattr(seconds, "SEARCHES", ("pairs",))
    lines = list(seconds.table("wine"))
    assert [line.count("|") for line in lines] == [3] * 5
    assert lines[3].startswith("| `10-fold` | 10, ")

"""The display of studies: one line per learner and method against the size."""

from __future__ import annotations

import pytest

from truerisk.core.errors import BadData, UnknownName
from truerisk.study.results import StudyResults


def results(**more):
    """Two methods at two sizes."""
    cells = [
        {
            "problem": "simple", "learner": "knn", "method": method, "size": size,
            "bias": 0.01 * size, "bias_error": 0.002, "rmse": 0.1, "coverage": None,
            "coverage_error": None, "seconds": 0.5, **more,
        }
        for method in ("loo", "nested") for size in (50, 30)
    ]  # fmt: skip
    return StudyResults("mine", tuple(cells))


@pytest.mark.parametrize("what", ["bias", "rmse", "seconds"])
def test_one_line_per_method(what):
    """Named by what differs, with sizes in ascending order."""
    ax = results().plot(what)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["loo", "nested"]
    assert ax.get_lines()[0].get_xdata().tolist() == [30, 50]


def test_what_is_not_there_is_not_drawn():
    """No coverage without intervals; an unknown quantity names the nearest."""
    with pytest.raises(BadData, match="no coverage to draw"):
        results().plot("coverage")
    with pytest.raises(UnknownName, match="did you mean 'bias'"):
        results().plot("bais")

"""The page of stored results says what is stored."""

from benchmarks.history import PAGE, STORED, page, read


def stored(date, ratio, coverage=None):
    """Return stored results of one case, and of one interval where its coverage is given."""
    results = [{"row": "kfold", "what": "Ridge", "ratio": ratio, "ours": 1.0}]
    if coverage is not None:
        results.append({"row": "coverage", "what": "beta-cv", "ratio": None, "ours": coverage})
    machine = dict.fromkeys(("truerisk", "processor", "python", "scikit-learn"), "x")
    return {"date": date, "machine": machine, "results": results}


def test_history_page_is_that_of_the_stored_results():
    """`make benchmarks-page` writes the page anew."""
    assert PAGE.read_text("utf-8") == page(read(STORED))


def test_history_page_marks_a_notable_change_only():
    """Results of a date without the case are passed over; a coverage has no change."""
    contents = [stored("1", 0.5, 0.951), stored("2", 0.8), {**stored("3", 0.0), "results": []}]
    lines = page(contents).splitlines()
    assert "| `kfold` | Ridge | 0.5 | 0.8 |  | **1.60** |" in lines
    assert "| beta-cv | 95.1 |  |  |" in lines
    assert "| 1.10 |" in page([stored("1", 0.5), stored("2", 0.55)])

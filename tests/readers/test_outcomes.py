"""Outcomes in time of a file: whether the event came, and when it did or a row was last seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from truerisk.core.errors import BadArgument, BadData, UnknownName
from truerisk.readers.table import Table, read_table

ROWS = [("3", "0.5"), ("1", "2"), ("4", "7"), ("2", "0"), ("5", "9")]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Table]:
    """The rows above, with these cells of the event and these times."""

    def reader(cells: str, times: str = "", event: str | None = "died", **options: Any) -> Table:
        days = times.split() or [day for _, day in ROWS]
        lines = [
            f"{x},{day},{cell}"
            for (x, _), day, cell in zip(ROWS, days, cells.split(" "), strict=True)
        ]
        path = tmp_path / "t.csv"
        path.write_text("\n".join(["x,days,died", *lines]) + "\n")
        return read_table(path, **{"event": event, "time_to_event": "days", **options})

    return reader


@pytest.mark.parametrize(
    ("cells", "event", "label"),
    [
        ("1 0 1 0 0", "died", "1"),
        ("1.0 0 1 0 0.0", "died", "1.0"),
        ("true FALSE True false false", "died", "true"),
        ("dead alive dead alive alive", "died=dead", "dead"),
        ("2 1 2 1 1", " died = 2", "2"),
        ("0 1 0 1 1", "died=0", "0"),
    ],
)
def test_two_columns_are_pairs(read, cells: str, event: str, label: str) -> None:
    """As scikit-survival has them; neither is a feature."""
    table = read(cells, event=event)
    assert table.y.dtype.names == ("event", "time")
    assert table.y["event"].tolist() == [True, False, True, False, False]
    assert table.y["time"].tolist() == [0.5, 2.0, 7.0, 0.0, 9.0]
    assert (table.task, table.target, table.feature_names) == ("survival", "died", ("x",))
    assert table.n_classes == 0
    assert table.notes[0] == (
        f"target 'died' is '{label}' in 2 of 5 rows, the times 'days' go from 0 to 9: survival"
    )


def test_the_event_may_come_in_every_row(read) -> None:
    """Then nobody was lost."""
    assert read("1 1 1 1 1").y["event"].all()


@pytest.mark.parametrize(
    ("cells", "times", "event", "message"),
    [
        ("1 0 1  0", "", "died", r"event 'died' has an empty cell among 5 rows, the first on li"),
        ("1 0 1 0 0", "1 2 NA 4 5", "died", r"time to event 'days' has an empty cell .* on line 4"),
        ("1 0 1 0 0", "1 2 -3 4 5", "died", r"'days' is '-3' on line 4: it is a number from 0 on"),
        ("1 0 1 0 0", "1 2 3 inf 5", "died", r"'days' is 'inf' on line 5"),
        ("1 0 1 0 0", "1 2 3 4 long", "died", r"'days' is 'long' on line 6"),
        ("0 0 0 0 0", "", "died", r"'died' is '0' in every row: it came in none"),
        (
            "1 2 1 2 2",
            "",
            "died",
            r"'died' is '1', '2', and not 1 and 0 .*event='died=1' or event='died=2' \(in R's",
        ),
        ("a a a a a", "", "died", r"'died' is 'a', and not 1 and 0"),
        ("0 1 2 0 0", "", "died", r"'died' has 3 labels, '0', '1', '2': it came or not"),
        ("0 1 2 0 0", "", "died=1", r"'died' has 3 labels"),
        ("1 0 1 0 0", "", "died=dead", r"'died' is never 'dead': its labels are '1', '0'"),
    ],
)
def test_cells_that_are_no_outcome_are_a_sentence(
    read, cells: str, times: str, event: str, message: str
) -> None:
    """What is wrong, where, and what to do."""
    with pytest.raises(BadData, match=message):
        read(cells, times, event)


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"time_to_event": None}, BadArgument, "time_to_event=None: an outcome in time needs"),
        ({"event": None}, BadArgument, "event=None: an outcome in time needs the names of two"),
        ({"target": "x"}, BadArgument, "stands instead of target= and target_type="),
        ({"target_type": "regression"}, BadArgument, "stands instead of target= and target_type="),
        ({"event": None, "time_to_event": None}, BadArgument, "target=None: give the name"),
        ({"event": "dead"}, UnknownName, "no column 'dead'"),
        ({"time_to_event": "day"}, UnknownName, "no column 'day'; did you mean 'days'"),
        ({"event": "days"}, BadData, "'days' is named as the event and as the time to event"),
        ({"time": "days"}, BadData, "'days' is named as the time to event and as the time"),
    ],
)
def test_names_that_are_no_outcome_are_a_sentence(read, given, kind, message: str) -> None:
    """Both columns, and nothing that stands for a target."""
    with pytest.raises(kind, match=message):
        read("1 0 1 0 0", **given)


def test_a_file_of_the_outcome_alone_has_no_features(tmp_path: Path) -> None:
    """Both columns are named."""
    path = tmp_path / "t.csv"
    path.write_text("days,died\n1,0\n2,1\n")
    with pytest.raises(BadData, match="no column but the target 'died', 'days': add features"):
        read_table(path, event="died", time_to_event="days")

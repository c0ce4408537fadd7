"""A file or a bundled data set becomes X, y and the layout of the columns."""

from itertools import count

import click
import numpy as np
import pytest
from tests.cli.conftest import write_csv

from truerisk.cli.output import reword_for_command_line
from truerisk.cli.source import label_from_text, read_source
from truerisk.core.arguments import mention
from truerisk.core.mentions import Sentence
from truerisk.datasets import load
from truerisk.exceptions import UnknownName
from truerisk.extend import BadData

NOTHING = dict.fromkeys(
    ("file", "target", "groups", "target_type", "delimiter", "max_cells", "max_bytes", "dataset")
)


def read(**given):
    """Return the source of these options, all others left out."""
    return read_source(**{**NOTHING, **given})


@pytest.mark.parametrize("name", ["iris", "diabetes"])
def test_read_source_of_a_bundled_data_set(name):
    """The note says what the data are and where from."""
    source, bundle = read(dataset=name), load(name)
    np.testing.assert_array_equal(source.X, bundle.X)
    np.testing.assert_array_equal(source.y, bundle.y)
    assert (source.task, source.n_classes) == (bundle.task, len(bundle.class_names))
    assert source.column_layout == {"n_features": bundle.X.shape[1], "missing": False}
    assert bundle.description in source.notes[0]
    assert bundle.source in source.notes[0]


def test_read_source_lays_out_the_columns_of_a_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,c,y\n1,red,u\n,blue,v\n4,red,u\n3,blue,v\n")
    source = read(file=str(path), target="y")
    assert source.column_layout == {"n_features": 2, "numeric": (0,), "text": (1,), "missing": True}
    assert (source.task, source.n_classes, len(source.y)) == ("classification", 2, 4)
    assert any("one-hot encoded inside the folds" in note for note in source.notes)
    assert any("imputed inside the folds" in note for note in source.notes)


def test_read_source_of_an_outcome_in_time_has_two_columns(tmp_path):
    """Pairs; what each option names is no feature, and is known by that option."""
    path = tmp_path / "t.csv"
    path.write_text("x,days,state\n1,4,dead\n2,3,alive\n5,9,dead\n")
    source = read(file=str(path), event="state=dead", time_to_event="days")
    assert source.y["event"].tolist() == [True, False, True]
    assert (source.task, source.n_classes, source.columns) == ("survival", 0, ("x",))
    assert source.option_by_column == {"days": "--time-to-event", "state": "--event"}
    with pytest.raises(click.UsageError, match="--positive names a class; the event"):
        label_from_text(source, "dead")


BOTH = {"event": "b", "time_to_event": "a"}
COLUMNS = "no column 'zz'. Its columns: 'a', 'b', 'y'"


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"target": "b", "target_type": "classification"}, BadData, "classes"),
        ({"target": "b", "max_cells": 10}, BadData, "max_cells="),
        ({"target": "b", "max_bytes": 10}, BadData, "max_bytes="),
        ({"target": "b", "delimiter": "|"}, BadData, "delimiter"),
        ({"target": "aa"}, BadData, "no column 'aa'; did you mean 'a'"),
        ({"target": "zz"}, BadData, COLUMNS),
        ({"target": "y", "block": "a,b", "groups": "zz"}, BadData, COLUMNS),
        ({"target": "y", "block": "a,b", "time": "zz"}, BadData, COLUMNS),
        ({"target": "y", "block": "a,b,zz"}, BadData, COLUMNS),
        ({"event": "b"}, click.UsageError, "--event and --time-to-event go together"),
        ({"time_to_event": "a"}, click.UsageError, "--event and --time-to-event go together"),
        ({**BOTH, "target": "y"}, click.UsageError, "stand instead of --target and"),
        ({**BOTH, "target_type": "regression"}, click.UsageError, "stand instead of --target and"),
        ({**BOTH, "file": None, "dataset": "iris"}, click.UsageError, "target: leave --event out"),
        ({"file": None, "dataset": "wien"}, UnknownName, "did you mean 'wine'"),
    ],
    ids=count(),
)
def test_read_source_refuses_options_that_do_not_fit(table, given, error, sentence):
    """A missing column is a fault of the data, and told with all columns that there are."""
    with pytest.raises(error, match=sentence):
        read(**{"file": str(table), **given})


@pytest.mark.parametrize(
    ("argument", "in_python", "in_words"),
    [
        (("event",), "event=", "--event"),
        (("event", "event=dead"), "event='event=dead'", "--event event=dead"),
        (("event", "a b"), "event='a b'", "--event 'a b'"),
        (("event", "it's"), 'event="it\'s"', "--event 'it'\"'\"'s'"),
        (("event", "a" * 80), f"event='{'a' * 58}…", f"--event '{'a' * 59}…'"),
        (("event", "a" * 80, "text"), "event=text", f"--event {'a' * 80}"),
        (("level", 0.95), "level=0.95", "--level 0.95"),
        (("level", 0.123456, "0.123"), "level=0.123", "--level 0.123"),
        (("level", ["auc", "log"]), "level=['auc', 'log']", "--level auc,log"),
        (("level", None), "level=None", "no --level"),
        (("resume", True), "resume=True", "--resume"),
        (("resume", False), "resume=False", "no --resume"),
        (("which", 1), "which=1", "which=1"),
    ],
)
def test_mentions_of_a_sentence_are_written_as_options(argument, in_python, in_words):
    """An argument that the command has no option for stays as Python writes it."""
    options = {name: f"--{name}" for name in ("event", "level", "resume")}
    said = Sentence(f"level=1 and event='b': give {mention(*argument)}.")
    assert said == f"level=1 and event='b': give {in_python}."
    assert reword_for_command_line(said, options) == f"level=1 and event='b': give {in_words}."
    assert reword_for_command_line(said, {}) == said
    assert reword_for_command_line(str(said), options) == said


def test_notes_leave_alone_a_column_called_like_an_argument(tmp_path):
    """Only what the note says to do is written as an option."""
    rows = [(i % 5 + 0.5, f"2024-01-{i + 1:02}", "uv"[i % 2]) for i in range(28)]
    path = write_csv(tmp_path / "a.csv", "x,time=3,groups=b", rows)
    notes = read(file=str(path), target="groups=b").notes
    assert notes == (
        "target 'groups=b' has 2 classes ('u' 14, 'v' 14): classification",
        (
            "column 'time=3' has a different value in every row and is left out; if its dates are "
            "the times of the rows: --time time=3"
        ),
    )

"""A file or a bundled data set becomes X, y and the layout of the columns."""

from __future__ import annotations

import click
import numpy as np
import pytest

from truerisk.cli.app import run
from truerisk.cli.output import in_options
from truerisk.cli.source import label_written, read_source
from truerisk.core.arguments import mention
from truerisk.core.errors import BadData, UnknownName
from truerisk.core.mentions import Sentence
from truerisk.datasets import load

NOTHING = dict.fromkeys(
    ("file", "target", "groups", "target_type", "delimiter", "max_cells", "max_bytes", "dataset")
)


def read(**given):
    """The source of these options, all others left out."""
    return read_source(**{**NOTHING, **given})


@pytest.mark.parametrize("name", ["iris", "diabetes"])
def test_a_bundled_data_set(name):
    """Its arrays are those of `load`; the note says what the data are and where from."""
    source, bundle = read(dataset=name), load(name)
    np.testing.assert_array_equal(source.X, bundle.X)
    np.testing.assert_array_equal(source.y, bundle.y)
    assert (source.task, source.n_classes) == (bundle.task, len(bundle.class_names))
    assert source.layout == {"n_features": bundle.X.shape[1], "missing": False}
    assert bundle.description in source.notes[0]
    assert bundle.source in source.notes[0]


def test_a_file(tmp_path):
    """Columns of text, of numbers, and missing cells are laid out for the learners."""
    path = tmp_path / "t.csv"
    path.write_text("a,c,y\n1,red,u\n,blue,v\n4,red,u\n3,blue,v\n")
    source = read(file=str(path), target="y")
    assert source.layout == {"n_features": 2, "numeric": (0,), "text": (1,), "missing": True}
    assert (source.task, source.n_classes, len(source.y)) == ("classification", 2, 4)
    assert any("one-hot encoded inside the folds" in note for note in source.notes)
    assert any("imputed inside the folds" in note for note in source.notes)


def test_options_reach_the_reader(table):
    """Delimiter, kind of target and caps are those given."""
    given = {"file": str(table), "target": "b"}
    assert read(**given).task == "regression"
    with pytest.raises(BadData, match="classes"):
        read(**given, target_type="classification")
    with pytest.raises(BadData, match="max_cells="):
        read(**given, max_cells=10)
    with pytest.raises(BadData, match="max_bytes="):
        read(**given, max_bytes=10)
    with pytest.raises(BadData, match="delimiter"):
        read(**given, delimiter="|")


def test_a_missing_column_is_a_fault_of_the_data(table):
    """The file is to blame, so it is BadData with the closest column, not a usage mistake."""
    with pytest.raises(BadData, match="no column 'aa'; did you mean 'a'"):
        read(file=str(table), target="aa")


def test_an_outcome_in_time_has_two_columns(tmp_path):
    """Pairs; what each option names is no feature, and is known by that option."""
    path = tmp_path / "t.csv"
    path.write_text("x,days,state\n1,4,dead\n2,3,alive\n5,9,dead\n")
    source = read(file=str(path), event="state=dead", time_to_event="days")
    assert source.y["event"].tolist() == [True, False, True]
    assert (source.task, source.n_classes, source.columns) == ("survival", 0, ("x",))
    assert source.named == {"days": "--time-to-event", "state": "--event"}
    with pytest.raises(click.UsageError, match="--positive names a class; the event"):
        label_written(source, "dead")


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
def test_in_options_writes_the_mentions_of_a_sentence_as_options(argument, in_python, in_words):
    """An argument that the command has no option for stays as Python writes it."""
    options = {name: f"--{name}" for name in ("event", "level", "resume")}
    said = Sentence(f"level=1 and event='b': give {mention(*argument)}.")
    assert said == f"level=1 and event='b': give {in_python}."
    assert in_options(said, options) == f"level=1 and event='b': give {in_words}."
    assert in_options(said, {}) == said
    assert in_options(str(said), options) == said


def test_notes_leave_alone_a_column_called_like_an_argument(tmp_path):
    """Only what the note says to do is written as an option."""
    path = tmp_path / "a.csv"
    days = [f"2024-01-{day:02}" for day in range(1, 29)]
    rows = [f"{i % 5 + 0.5},{day},{'uv'[i % 2]}" for i, day in enumerate(days)]
    path.write_text("\n".join(["x,time=3,groups=b", *rows]) + "\n")
    notes = read(file=str(path), target="groups=b").notes
    assert notes == (
        "target 'groups=b' has 2 classes ('u' 14, 'v' 14): classification",
        (
            "column 'time=3' has a different value in every row and is left out; if its dates are "
            "the times of the rows: --time time=3"
        ),
    )


def test_run_leaves_alone_what_an_error_is_not_about(capsys, tmp_path):
    """A column may be called like an option with its value."""
    path = tmp_path / "a.csv"
    path.write_text("x,rule=min\n1,inf\n2,3.5\n")
    with pytest.raises(SystemExit):
        run(["assess", str(path), "--target", "rule=min", "--models", "knn"])
    assert "the target 'rule=min' holds 'inf' on line 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"event": "b"}, "--event and --time-to-event go together"),
        ({"time_to_event": "a"}, "--event and --time-to-event go together"),
        ({"event": "b", "time_to_event": "a", "target": "y"}, "stand instead of --target and"),
        (
            {"event": "b", "time_to_event": "a", "target_type": "regression"},
            "stand instead of --target and",
        ),
    ],
)
def test_both_columns_or_the_target(table, given, sentence):
    """One without the other, or besides a target, is no question."""
    with pytest.raises(click.UsageError, match=sentence):
        read(file=str(table), **given)
    with pytest.raises(click.UsageError, match="has its own target: leave --event out"):
        read(dataset="iris", event="b", time_to_event="a")


def test_an_unknown_data_set_is_a_usage_mistake():
    """A word that no registry knows."""
    with pytest.raises(UnknownName, match="did you mean 'wine'"):
        read(dataset="wien")


@pytest.mark.parametrize("option", ["block", "groups", "time", "target"])
def test_a_missing_column_is_told_with_all_that_there_are(table, option):
    """Also those that other options name."""
    named = {"file": str(table), "target": "y", "block": "a,b", option: "zz"}
    if option == "block":
        named["block"] = "a,b,zz"
    with pytest.raises(BadData, match="no column 'zz'. Its columns: 'a', 'b', 'y'"):
        read(**named)

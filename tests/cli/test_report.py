"""`assess --report` and `report`: one page, the same from the data and from the JSON."""

from __future__ import annotations

import io
import sys

import pytest


def test_assess_writes_a_page(call, table, quick, tmp_path):
    """The page names file, command and target; stdout is what it is without a page."""
    page = tmp_path / "out.html"
    words = ("assess", table, "--target", "y", "--models", "knn,lda", *quick)
    said = call(*words, "--report", page)
    text = page.read_text("utf-8")
    assert said.code == 0
    assert f"wrote {page}" in said.sentences
    assert f">truerisk assess {table.name} --target y --models knn,lda" in text
    assert "--report" not in text
    assert said.out.splitlines()[0] == call(*words).out.splitlines()[0]


def test_report_draws_the_same_page_again(call, table, quick, tmp_path):
    """From the JSON of the same run comes the same page but for the time that it took."""
    first, results = tmp_path / "first.html", tmp_path / "results.json"
    words = ("assess", table, "--target", "y", "--models", "knn", *quick)
    results.write_text(call(*words, "--json", "--report", first).out)
    said = call("report", results)
    assert said.code == 0
    assert (tmp_path / "results.html").read_text("utf-8") == first.read_text("utf-8")
    assert call("report", results, "-o", "-").out.startswith("<!doctype html>")


def test_report_reads_a_pipe(call, table, quick, tmp_path, monkeypatch):
    """`-` is stdin, and the page goes to stdout."""
    text = call("assess", table, "--target", "y", "--models", "knn", *quick, "--json").out
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    said = call("report", "-")
    assert said.code == 0
    assert said.out.startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "results.json' is no JSON (line 1): write results with to_json() or --json."),
        ("", "results.json' is empty"),
        ("{}", "results.json: this JSON is not of truerisk"),
        ('{"schema": "truerisk.assessment/9"}', "of version 9"),
    ],
)
def test_what_is_no_assessment_is_bad_data(call, tmp_path, text, sentence):
    """Exit code 3 and one sentence, no page."""
    results = tmp_path / "results.json"
    results.write_text(text)
    said = call("report", results)
    assert said.code == 3
    assert sentence in said.err
    assert not (tmp_path / "results.html").exists()


@pytest.mark.parametrize("place", ["folder", "folder/none/out.html"])
def test_a_bad_place_is_refused_before_anything_runs(call, table, tmp_path, place):
    """A folder, and a file in a folder that is not there, are usage errors."""
    (tmp_path / "folder").mkdir()
    said = call("assess", table, "--target", "y", "--report", tmp_path / place)
    assert said.code == 2
    assert "folder" in said.err


def test_a_page_that_cannot_be_written_is_a_sentence(call, table, quick, tmp_path):
    """`report` says why, without a traceback."""
    results = tmp_path / "results.json"
    words = ("assess", table, "--target", "y", "--models", "knn", *quick, "--json")
    results.write_text(call(*words).out)
    said = call("report", results, "-o", tmp_path / "none" / "out.html")
    assert said.code == 1
    assert "cannot be written: there is no folder" in said.err


def test_further_methods_are_drawn_beside(call, table, quick):
    """`--cv 2-fold,loo` tunes by the first and keeps the curve of the second."""
    words = ("assess", table, "--target", "y", "--models", "knn", "--json", *quick)
    said = call(*words, "--cv", "2-fold,loo").content
    assert said["tuned_by"] == "2-fold"
    assert list(said["learners"]["knn"]["criteria"]) == ["loo"]
    assert call("assess", table, "--target", "y", "--cv", ",").code == 2


def test_a_dry_run_says_that_it_writes_nothing(call, table, quick, tmp_path):
    """The options are not ignored in silence."""
    page, folder = tmp_path / "out.html", tmp_path / "figures"
    words = ("assess", table, "--target", "y", "--models", "knn", *quick, "--dry-run")
    said = call(*words, "--report", page, "--figures", folder)
    for place in (page, folder):
        assert f"note: a dry run writes nothing to {place}" in said.err
        assert not place.exists()


def test_figures_go_into_a_folder(call, table, quick, tmp_path, monkeypatch):
    """The same from the data and from the JSON; without matplotlib SVG alone, which is said."""
    first, second, results = tmp_path / "first", tmp_path / "second", tmp_path / "results.json"
    words = ("assess", table, "--target", "y", "--models", "knn", *quick)
    said = call(*words, "--json", "--figures", first)
    assert f"wrote {len([*first.iterdir()])} files to {first}" in said.sentences
    assert "--figures" not in said.content["command"]
    results.write_text(said.out)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    said = call("report", results, "-o", "-", "--figures", second)
    assert "note: PNG and PDF need matplotlib: pip install 'truerisk[plot]'" in said.err
    names = {place: sorted(path.name for path in place.glob("*.svg")) for place in (first, second)}
    assert len(names[second]) == len([*second.iterdir()]) == len([*first.iterdir()]) / 3 > 2
    assert names[first] == names[second]
    assert all((first / name).read_text() == (second / name).read_text() for name in names[first])


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_made_is_refused_before_anything_runs(call, table, tmp_path, place):
    """A file stands in its place."""
    (tmp_path / "file").write_text("")
    said = call("assess", table, "--target", "y", "--figures", tmp_path / place)
    assert said.code == 2
    assert f"--figures: {tmp_path / place} cannot be made: name another folder." in said.err

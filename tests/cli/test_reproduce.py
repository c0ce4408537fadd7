"""`truerisk reproduce`: lists, runs, writes, refuses."""

from __future__ import annotations

import json

import pytest

from truerisk import experiments as papers


def test_without_a_name_it_lists_them(call):
    """As text, or as one object."""
    said = call("reproduce")
    assert said.code == 0
    assert said.out == f"{papers.registry}\n"
    assert list(call("reproduce", "--json").content) == papers.names()
    assert call("reproduce", "--list").out == said.out
    named = call("reproduce", "kearns-figure-2", "--list")
    assert (named.code, named.out) == (2, "")
    assert "leave out kearns-figure-2" in named.err


def test_one_replicate_is_refused_with_the_reason(call):
    """By the sentence that Python says, too."""
    said = call("reproduce", "kearns-figure-2", "--replicates", 1)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("truerisk: --replicates 1: give a whole number from 2 to")
    assert "standard error, which one replicate does not have" in said.err


def test_the_whole_breadth_is_refused_where_there_is_none(call):
    """One sentence; nothing is run."""
    said = call("reproduce", "kearns-figure-2", "--full")
    assert (said.code, said.out) == (2, "")
    assert "kearns-figure-2 has no --full" in said.err


def test_a_name_is_run(call):
    """Tables on stdout; where to get the figure on stderr."""
    said = call("reproduce", "kearns-figure-2", "--replicates", 3)
    assert said.code == 0
    assert said.out.startswith("Daudin and Mary-Huard, Figure 2")
    assert "3 trials, seed 0" in said.out
    assert said.err == "note: the figure is drawn where a folder is named with --out\n"


def test_json_is_one_document(call):
    """Nothing else on stdout; the seed reaches the numbers."""
    words = ("reproduce", "kearns-figure-2", "--replicates", 3, "--json")
    first, again, other = call(*words), call(*words), call(*words, "--seed", 1)
    assert first.content["schema"] == "truerisk.reproduction/2"
    assert first.content["tables"] == again.content["tables"] != other.content["tables"]
    assert other.content["seed"] == 1


def test_out_gets_the_report_and_the_figures(call, tmp_path):
    """Text, JSON, a page, PNG and SVG of each panel; each path is said."""
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    folder = tmp_path / "new"
    said = call("reproduce", "kearns-figure-2", "--replicates", 3, "--out", folder)
    names = sorted(path.name for path in folder.iterdir())
    panels = [f"{i:02}-kearns-figure-2-{i}.{kind}" for i in (1, 2) for kind in ("png", "svg")]
    assert names == panels + [f"kearns-figure-2.{kind}" for kind in ("html", "json", "txt")]
    assert (folder / "kearns-figure-2.txt").read_text("utf-8") == said.out
    assert json.loads((folder / "kearns-figure-2.json").read_text("utf-8"))["replicates"] == 3
    assert said.err.count("wrote ") == 7


def test_an_unknown_name_gets_the_nearest(call):
    """A usage error."""
    said = call("reproduce", "wallman-table1")
    assert (said.code, said.out) == (2, "")
    assert "did you mean 'wallman-table-1'?" in said.err


def test_missing_data_are_bad_data(call, monkeypatch):
    """Exit code 3 and one sentence."""
    from truerisk.experiments import colon_table_1

    colon_table_1._standardised.cache_clear()
    monkeypatch.delenv("TRUERISK_DATA", raising=False)
    said = call("reproduce", "colon-table-1", "--quick")
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith("truerisk: data set 'colon' does not come with truerisk")


@pytest.mark.parametrize(
    "words", [("--replicates", "few"), ("--seed", -1), ("--jobs", 0), ("--quikc",)]
)
def test_wrong_options_are_usage_errors(call, words):
    """Exit code 2."""
    assert call("reproduce", "kearns-figure-2", *words).code == 2


def test_a_folder_that_cannot_be_made_is_said_first(call, tmp_path):
    """Before anything is drawn."""
    (tmp_path / "file").write_text("")
    said = call("reproduce", "kearns-figure-2", "--out", tmp_path / "file" / "inside")
    assert said.code == 2
    assert "--out" in said.err

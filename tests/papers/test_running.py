"""Replicates do not depend on how many are drawn, nor on who draws them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pytest

from truerisk import papers
from truerisk.core.errors import BadData, UnknownName
from truerisk.core.progress import Progress, listen, tell
from truerisk.papers.experiment import Experiment, stream
from truerisk.papers.report import Findings, PaperTable, mean_row
from truerisk.papers.running import draw_replicates, run


class Toy(Experiment):
    """The mean of three normal numbers."""

    word: ClassVar[str] = "toy"
    title: ClassVar[str] = "A toy"
    document: ClassVar[str] = "none"
    replicates: ClassVar[int] = 20
    quick: ClassVar[int] = 5
    unit: ClassVar[str] = "throws"

    def replicate(self, seed, number):
        tell(0, 1)  # what an engine tells inside a replicate is nobody's business
        values = stream("toy", seed, number).standard_normal(3)
        return {"values": values, "mean": values.mean()}

    def findings(self, draws):
        row = mean_row("mean", draws["mean"], 0.0)
        return Findings((PaperTable("means", "exact", (row,)),))


class Lacking(Toy):
    """Cannot be run."""

    def check(self):
        raise BadData("something is missing.")


def test_every_quantity_is_stacked():
    """Replicates stand along the first axis."""
    draws = draw_replicates(Toy(), 7)
    assert draws["values"].shape == (7, 3)
    np.testing.assert_allclose(draws["mean"], draws["values"].mean(axis=1))


def test_more_replicates_keep_the_first_ones():
    """Replicate i depends on (seed, i) alone."""
    few, many = draw_replicates(Toy(), 4, seed=3), draw_replicates(Toy(), 9, seed=3)
    np.testing.assert_array_equal(few["values"], many["values"][:4])
    assert not np.array_equal(few["values"], draw_replicates(Toy(), 4, seed=4)["values"])


def test_an_executor_gives_the_same_numbers():
    """In whatever batches, in whatever order."""
    with ThreadPoolExecutor(3) as executor:
        there = draw_replicates(Toy(), 60, executor=executor)
    np.testing.assert_array_equal(there["values"], draw_replicates(Toy(), 60)["values"])


def test_worker_processes_give_the_same_numbers():
    """A registered experiment can be sent to another process."""
    here = papers.reproduce("kearns-figure-2", replicates=4)
    there = papers.reproduce("kearns-figure-2", replicates=4, executor=2)
    assert here.to_dict()["tables"] == there.to_dict()["tables"]


def test_progress_counts_replicates():
    """In the experiment's own unit, under its word; nothing from inside a replicate."""
    heard: list[Progress] = []
    with listen(heard.append):
        run(Toy(), replicates=3)
    assert heard == [Progress("toy", done, 3, "throws") for done in range(4)]


def test_the_report_has_its_papers():
    """Number of replicates, seed and seconds; `quick` takes fewer."""
    report = run(Toy(), seed=2)
    assert (report.replicates, report.seed, report.unit) == (20, 2, "throws")
    assert report.seconds > 0
    assert run(Toy(), quick=True).replicates == 5
    assert run(Toy(), quick=True, replicates=6).replicates == 6


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"replicates": 1}, "two at least"), ({"seed": -1}, "0 or a positive number")],
)
def test_what_makes_no_sense_is_refused(options, sentence):
    """One replicate has no standard error; a seed is not negative."""
    with pytest.raises(UnknownName, match=sentence):
        run(Toy(), **options)


def test_what_is_missing_is_said_before_anything_is_drawn():
    """`check` comes first."""
    heard: list[Progress] = []
    with listen(heard.append), pytest.raises(BadData, match="missing"):
        run(Lacking())
    assert not heard


def test_an_unknown_word_names_the_nearest():
    """As every registry does."""
    with pytest.raises(UnknownName, match="did you mean 'kearns-figure-1'"):
        papers.reproduce("kearns-figure1")


@pytest.mark.parametrize("word", papers.names())
def test_every_experiment_says_what_it_is(word):
    """Its word is that of the registry, its file is named like it, and quick is quicker."""
    experiment = papers.registry.load(word)
    assert experiment.word == word
    assert papers.registry[word].module.endswith(word.replace("-", "_"))
    assert 2 <= experiment.quick < experiment.replicates
    assert experiment.title
    assert experiment.document

"""Experiments in a store: the same report, after interruptions, too."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from tests.support.cut_off import interrupted_at

from truerisk import papers
from truerisk.core.errors import BadStore, StudyIncomplete, UnknownName
from truerisk.core.progress import Progress, listen
from truerisk.papers.experiment import Experiment, stream
from truerisk.papers.report import Findings, PaperTable, mean_row
from truerisk.papers.running import draw_replicates, run
from truerisk.study.store import Store


class Throws(Experiment):
    """Three normal numbers; replicate 4 fails while `failing`."""

    word: ClassVar[str] = "throws"
    title: ClassVar[str] = "A toy"
    document: ClassVar[str] = "none"
    replicates: ClassVar[int] = 12
    quick: ClassVar[int] = 5
    unit: ClassVar[str] = "throws"
    failing: ClassVar[bool] = False

    def replicate(self, seed, number):
        if self.failing and number == 4:
            raise RuntimeError("out of luck")
        values = stream("throws", seed, number).standard_normal(3).astype(np.float32)
        return {"values": values, "mean": values.mean(), "first": bool(values[0] > 0)}

    def findings(self, draws):
        row = mean_row("mean", draws["mean"], 0.0)
        return Findings(
            (PaperTable("means", "exact", (row,)),), notes=(str(draws["values"].dtype),)
        )


def test_the_report_is_that_without_a_store(tmp_path):
    """To the last bit and the last type; the next run reads it all, and more replicates add."""
    alone = run(Throws()).to_dict()
    path = tmp_path / "runs.db"
    kept = run(Throws(), store=path).to_dict()
    again = run(Throws(), store=path, resume=True).to_dict()
    for report in (kept, again):
        assert {k: v for k, v in report.items() if k != "seconds"} == {
            k: v for k, v in alone.items() if k != "seconds"
        }
    more = run(Throws(), store=path, resume=True, replicates=20).to_dict()
    assert more["tables"] == run(Throws(), replicates=20).to_dict()["tables"]


def test_a_registered_experiment_in_worker_processes(tmp_path):
    """By the public verb, two experiments in one store."""
    for word in ("kearns-figure-2", "kearns-figure-1"):
        here = papers.reproduce(word, replicates=3)
        there = papers.reproduce(word, replicates=3, executor=2, store=tmp_path / "runs.db")
        assert here.to_dict()["tables"] == there.to_dict()["tables"]


def test_an_interrupted_experiment_goes_on(tmp_path):
    """What was drawn is kept; progress counts on."""
    path = tmp_path / "runs.db"

    with listen(interrupted_at(1)), pytest.raises(KeyboardInterrupt):
        run(Throws(), store=path, replicates=2000)
    with Store.read(path) as store:
        held = store.tally(store.cells()[0]).done
    assert 0 < held < 2000
    heard: list[Progress] = []
    with listen(heard.append):
        report = run(Throws(), store=path, resume=True, replicates=2000)
    assert heard[0] == Progress("throws", held, 2000, "throws")
    assert report.to_dict()["tables"] == run(Throws(), replicates=2000).to_dict()["tables"]


def test_results_that_are_there_are_not_taken_unasked(tmp_path):
    """Without `resume` the store of an earlier run is refused, another seed is another matter."""
    path = tmp_path / "runs.db"
    run(Throws(), store=path)
    with pytest.raises(UnknownName, match="holds 12 of 12 replicates of throws: add --resume"):
        run(Throws(), store=path)
    run(Throws(), store=path, seed=1)
    with pytest.raises(UnknownName, match="name it by --store"):
        run(Throws(), resume=True)


def test_a_failed_replicate_is_no_report(tmp_path, monkeypatch):
    """The others are kept; mended, it is drawn again."""
    path = tmp_path / "runs.db"
    monkeypatch.setattr(Throws, "failing", True)
    with pytest.raises(StudyIncomplete, match=r"1 of 12 .*replicate 4 failed: .*out of luck"):
        run(Throws(), store=path)
    monkeypatch.setattr(Throws, "failing", False)
    assert run(Throws(), store=path, resume=True).replicates == 12


def test_another_kind_of_store_is_refused(tmp_path):
    """A study is no reproduction."""
    with Store.write(tmp_path / "runs.db") as store:
        store.note({"kind": "study"})
    with pytest.raises(BadStore, match="holds a study, not a reproduction"):
        run(Throws(), store=tmp_path / "runs.db")


def test_draws_are_as_in_memory(tmp_path):
    """Every quantity with its type and shape."""
    memory = draw_replicates(Throws(), 5)
    from truerisk.papers.stored import stored_replicates

    stored = stored_replicates(Throws(), 5, 0, None, tmp_path / "runs.db")
    for name, values in memory.items():
        assert stored[name].dtype == values.dtype
        np.testing.assert_array_equal(stored[name], values)

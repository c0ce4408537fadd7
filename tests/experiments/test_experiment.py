"""Replicates depend on seed and number alone, whoever draws them, kept in a store or not."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from tests.support.cut_off import interrupted_at

from truerisk import experiments as papers
from truerisk.core.errors import BadData, BadStore, StudyIncomplete, TrueRiskError, UnknownName
from truerisk.core.progress import Progress, listen, tell
from truerisk.datasets.documents import FOLDER
from truerisk.experiments import bee_real, colon_table_1, mehta
from truerisk.experiments.experiment import Experiment, experiment, stream
from truerisk.experiments.figures import Findings, PaperTable
from truerisk.experiments.insa_ozone import _forecasts
from truerisk.experiments.reproducing import draw_replicates, reproduce, stored_replicates
from truerisk.study import versions
from truerisk.study.store import Store

FAILING: set[int] = set()  # replicates that raise


def _throw(seed, number):
    if number in FAILING:
        raise RuntimeError("out of luck")
    tell(0, 1)  # what an engine tells inside a replicate is nobody's business
    values = stream("toy", seed, number).standard_normal(3).astype(np.float32)
    return {"values": values, "mean": values.mean(), "first": bool(values[0] > 0)}


def _means(draws):
    table = PaperTable.of("means", "exact", {"mean": draws["mean"]}, {"mean": 0.0})
    return Findings((table,), notes=(str(draws["values"].dtype),))


def _lacking():
    raise BadData("something is missing.")


TOY = Experiment(
    word="toy",
    title="A toy",
    document="none",
    replicates=20,
    quick=5,
    replicate=_throw,
    findings=_means,
    unit="throws",
)


THROWS = 3


@experiment(_throw, replicates=20, quick=5, unit="throws")
def small_toy(draws):
    """A toy, §1: told in words.

    {THROWS} numbers each,
    whoever throws

    a note of {THROWS:.1f}.
    """
    yield PaperTable.of("means", "exact", {"mean": draws["mean"]})
    yield "another."


def test_the_text_of_an_experiment_is_what_it_says():
    """Title, what is run, notes; names in braces are computed; the function's name is its word."""
    report = reproduce(small_toy, replicates=3)
    assert (report.word, report.title) == ("small-toy", "A toy, §1: told in words")
    assert report.document == "3 numbers each, whoever throws"
    assert report.notes == ("a note of 3.0.", "another.")
    assert [row.name for row in report.tables[0].rows] == ["mean"]


def test_without_docstrings_it_is_refused():
    """`python -OO` leaves them out, and with them what an experiment says."""
    script = "import truerisk; truerisk.experiments.reproduce('kearns-figure-2', replicates=2)"
    command, kept = [sys.executable, "-OO", "-c", script], {"capture_output": True, "text": True}
    ran = subprocess.run(command, check=False, **kept)
    sentence = "experiments are told in docstrings, of which python -OO (PYTHONOPTIMIZE=2) reads"
    assert sentence in ran.stderr
    assert ran.stderr.rstrip().endswith("run them without -OO.")


def test_the_whole_breadth_is_run_where_there_is_one():
    """Its own draws under its own word; where there is none the call is refused."""
    whole = replace(TOY, word="toy-full", replicates=4)
    assert reproduce(replace(TOY, full=whole), full=True).word == "toy-full"
    assert reproduce(replace(TOY, full=whole), full=True).replicates == 4
    assert reproduce(replace(TOY, full=whole), replicates=3).word == "toy"
    with pytest.raises(UnknownName, match="toy has no full="):
        reproduce(TOY, full=True)


def test_a_stream_depends_on_name_seed_and_number():
    """Each of the three gives other numbers, and the same three the same ones."""
    first = stream("a", 0, 0).random(3).tolist()
    assert stream("a", 0, 0).random(3).tolist() == first
    others = [stream("b", 0, 0), stream("a", 1, 0), stream("a", 0, 1)]
    assert all(rng.random(3).tolist() != first for rng in others)


def test_every_quantity_is_stacked():
    """Replicates stand along the first axis."""
    draws = draw_replicates(TOY, 7)
    assert draws["values"].shape == (7, 3)
    np.testing.assert_allclose(draws["mean"], draws["values"].mean(axis=1))


def test_more_replicates_keep_the_first_ones():
    """Replicate i depends on (seed, i) alone."""
    few, many = draw_replicates(TOY, 4, seed=3), draw_replicates(TOY, 9, seed=3)
    np.testing.assert_array_equal(few["values"], many["values"][:4])
    assert not np.array_equal(few["values"], draw_replicates(TOY, 4, seed=4)["values"])


def test_an_executor_gives_the_same_numbers():
    """In whatever batches, in whatever order."""
    with ThreadPoolExecutor(3) as executor:
        there = draw_replicates(TOY, 60, executor=executor)
    np.testing.assert_array_equal(there["values"], draw_replicates(TOY, 60)["values"])


def test_worker_processes_give_the_same_numbers():
    """A registered experiment can be sent to another process."""
    here = reproduce("kearns-figure-2", replicates=4)
    there = reproduce("kearns-figure-2", replicates=4, n_jobs=2)
    assert here.to_dict()["tables"] == there.to_dict()["tables"]


def test_progress_counts_replicates():
    """In the experiment's own unit, under its word; nothing from inside a replicate."""
    heard: list[Progress] = []
    with listen(heard.append):
        reproduce(TOY, replicates=3)
    assert heard == [Progress("toy", done, 3, "throws") for done in range(4)]


def test_the_report_has_its_papers():
    """Number of replicates, seed and seconds; `quick` takes fewer."""
    report = reproduce(TOY, seed=2)
    assert (report.replicates, report.seed, report.unit) == (20, 2, "throws")
    assert report.seconds > 0
    assert reproduce(TOY, quick=True).replicates == 5
    assert reproduce(TOY, quick=True, replicates=6).replicates == 6


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"replicates": 1}, "which one replicate does not have"),
        ({"seed": -1}, "0 or a positive number"),
    ],
)
def test_what_makes_no_sense_is_refused(options, sentence):
    """One replicate has no standard error; a seed is not negative."""
    with pytest.raises(UnknownName, match=sentence):
        reproduce(TOY, **options)


def test_what_is_missing_is_said_before_anything_is_drawn():
    """`check` comes first."""
    heard: list[Progress] = []
    with listen(heard.append), pytest.raises(BadData, match="missing"):
        reproduce(replace(TOY, check=_lacking))
    assert not heard


def test_an_unknown_word_names_the_nearest():
    """As every registry does."""
    with pytest.raises(UnknownName, match="did you mean 'kearns-figure-1'"):
        papers.reproduce("kearns-figure1")


@pytest.mark.parametrize("word", papers.names())
def test_every_experiment_says_what_it_is(word):
    """Its word is that of the registry, and quick is quicker."""
    one = papers.registry.load(word)
    assert one.word == word
    assert 2 <= one.quick < one.replicates
    assert one.title
    assert one.document


def test_the_report_is_that_without_a_store(tmp_path):
    """To the last bit and the last type; the next run reads it all, and more replicates add."""
    alone = reproduce(TOY).to_dict()
    path = tmp_path / "runs.db"
    kept = reproduce(TOY, store=path).to_dict()
    again = reproduce(TOY, store=path, resume=True).to_dict()
    for report in (kept, again):
        assert {k: v for k, v in report.items() if k != "seconds"} == {
            k: v for k, v in alone.items() if k != "seconds"
        }
    more = reproduce(TOY, store=path, resume=True, replicates=30).to_dict()
    assert more["tables"] == reproduce(TOY, replicates=30).to_dict()["tables"]


def test_a_registered_experiment_in_worker_processes(tmp_path):
    """By the public verb, two experiments in one store."""
    for word in ("kearns-figure-2", "kearns-figure-1"):
        here = reproduce(word, replicates=3)
        there = reproduce(word, replicates=3, n_jobs=2, store=tmp_path / "runs.db")
        assert here.to_dict()["tables"] == there.to_dict()["tables"]


def test_an_interrupted_experiment_goes_on(tmp_path):
    """What was drawn is kept; progress counts on."""
    path = tmp_path / "runs.db"

    with listen(interrupted_at(1)), pytest.raises(KeyboardInterrupt):
        reproduce(TOY, store=path, replicates=2000)
    with Store.read(path) as store:
        held = store.tally(store.cells()[0]).done
    assert 0 < held < 2000
    heard: list[Progress] = []
    with listen(heard.append):
        report = reproduce(TOY, store=path, resume=True, replicates=2000)
    assert heard[0] == Progress("toy", held, 2000, "throws")
    assert report.to_dict()["tables"] == reproduce(TOY, replicates=2000).to_dict()["tables"]


def test_results_that_are_there_are_not_taken_unasked(tmp_path):
    """Without `resume` the store of an earlier run is refused, another seed is another matter."""
    path = tmp_path / "runs.db"
    reproduce(TOY, store=path)
    with pytest.raises(UnknownName, match="holds 20 of 20 replicates of toy: add resume=True"):
        reproduce(TOY, store=path)
    reproduce(TOY, store=path, seed=1)
    for word in ("resume", "mixed_versions"):
        with pytest.raises(UnknownName, match=rf"{word}= goes on with a store: name it by store="):
            reproduce(TOY, **{word: True})


def test_replicates_of_other_versions_go_on_where_that_is_allowed(tmp_path, monkeypatch):
    """The refusal names the option, which the command has."""
    path = tmp_path / "runs.db"
    reproduce(TOY, store=path)
    now = versions.versions()
    monkeypatch.setattr(versions, "versions", lambda: {**now, "numpy": "9.9"})
    with pytest.raises(BadStore, match="allow it by mixed_versions=True"):
        reproduce(TOY, store=path, resume=True)
    assert reproduce(TOY, store=path, resume=True, mixed_versions=True).replicates == 20


def test_a_failed_replicate_is_no_report(tmp_path):
    """The others are kept; mended, it is drawn again."""
    path = tmp_path / "runs.db"
    FAILING.add(4)
    with pytest.raises(StudyIncomplete, match=r"1 of 20 .*replicate 4 failed: .*out of luck"):
        reproduce(TOY, store=path)
    FAILING.clear()
    assert reproduce(TOY, store=path, resume=True).replicates == 20


def test_another_kind_of_store_is_refused(tmp_path):
    """A study is no reproduction."""
    with Store.write(tmp_path / "runs.db") as store:
        store.note({"kind": "study"})
    with pytest.raises(BadStore, match="holds a study, not a reproduction"):
        reproduce(TOY, store=tmp_path / "runs.db")


def test_draws_are_as_in_memory(tmp_path):
    """Every quantity with its type and shape."""
    memory = draw_replicates(TOY, 5)
    stored = stored_replicates(TOY, 5, 0, None, tmp_path / "runs.db")
    for name, values in memory.items():
        assert stored[name].dtype == values.dtype
        np.testing.assert_array_equal(stored[name], values)


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("colon-table-1", r"'colon' .* TRUERISK_DATA is not set: .* colon\.csv\.gz"),
        ("mehta-spam", r"'spam' .* TRUERISK_DATA is not set: .* spam\.csv\.gz"),
        ("insa-ozone", r"'ozone-level' .* TRUERISK_DATA is not set: .* ozone\.csv"),
        ("bee-figure-2", r"'ovarian' .* TRUERISK_DATA is not set.* ovarian_4000\.npz"),
        ("bee-figure-3", r"'yeast' .* TRUERISK_DATA is not set: .* yeast\.csv\.gz"),
        ("bee-figure-3-end", r"'satellite' .* satellite_train.csv.gz and satellite_test"),
    ],
)
def test_without_the_data_it_says_what_is_missing(word, sentence, monkeypatch):
    """Variable and file are named before anything is drawn."""
    for rows in (bee_real._rows, colon_table_1._standardised, mehta._messages, _forecasts):
        rows.cache_clear()
    monkeypatch.delenv(FOLDER, raising=False)
    with pytest.raises(BadData, match=sentence):
        reproduce(word, quick=True)


def test_a_store_needs_functions_that_stand_in_a_file(tmp_path):
    """Replicates are known by the text of the experiment, which a notebook does not have."""
    space: dict = {}
    exec("def replicate(seed, number):\n    return {'mean': 1.0}", space)
    typed = replace(TOY, replicate=space["replicate"])
    with pytest.raises(UnknownName, match="stand in no file: import them from one"):
        reproduce(typed, replicates=2, store=tmp_path / "kept")


def _leaving(seed, number):
    sys.exit(3)


ODD_FIELDS = {
    "replicate": {
        "no dict": lambda seed, number: 5,
        "no names": lambda seed, number: {},
        "a number as a name": lambda seed, number: {1: 2.0},
        "text": lambda seed, number: {"mean": "x"},
        "complex numbers": lambda seed, number: {"mean": 1j},
        "objects": lambda seed, number: {"mean": object()},
        "uneven lists": lambda seed, number: {"mean": [[1], [1, 2]]},
        "another name each time": lambda seed, number: {f"mean {number}": 1.0},
        "another shape each time": lambda seed, number: {"mean": np.zeros(number)},
        "an error": lambda seed, number: 1 / 0,
        "sys.exit": _leaving,
        "no function": 5,
    },
    "findings": {
        "nothing": lambda draws: None,
        "a dict": lambda draws: {},
        "odd tables": lambda draws: Findings(tables=5),
        "an odd row": lambda draws: Findings((PaperTable("t", "r", (5,)),)),
        "an error": lambda draws: draws["none"],
        "sys.exit": lambda draws: sys.exit(),
        "no function": None,
    },
    "check": {"an error": lambda: 1 / 0, "sys.exit": lambda: sys.exit("no"), "no function": 0},
    "replicates": {"none": None, "text": "x", "one": 1, "half": 2.5},
    "quick": {"none": None, "negative": -1},
    "word": {"number": 5, "empty": " "},
    "full": {"number": 5, "text": "x"},
}


@pytest.mark.parametrize(
    ("name", "what"), [(name, what) for name, odd in ODD_FIELDS.items() for what in odd]
)
def test_reproduce_refuses_an_odd_experiment_with_a_sentence(name, what):
    """Whatever an experiment of one's own gives, raises, or is made of."""
    with pytest.raises(TrueRiskError) as refused:
        reproduce(replace(TOY, **{name: ODD_FIELDS[name][what]}))
    assert str(refused.value).isprintable()
    assert " " in str(refused.value)


@pytest.mark.parametrize(
    "options",
    [
        *({"name": odd} for odd in (None, 5, "", ["toy"], Experiment, b"kearns")),
        *({"replicates": odd} for odd in (2.5, "3", np.nan, 10**9, 10**30, True, [5], -3)),
        *({"seed": odd} for odd in (0.5, "0", None, -1, 2**63, 10**400, np.nan, [0])),
        *({"n_jobs": odd} for odd in ("x", 0, 1.5, True, object())),
        *({"store": odd} for odd in (5, "", ".", "a\0b", ["x"])),
        *({flag: odd} for flag in ("quick", "full", "resume") for odd in ("no", 5, None, [1])),
    ],
)
def test_reproduce_refuses_odd_arguments_with_a_sentence(options):
    """Each argument, of a wrong type or size."""
    with pytest.raises(TrueRiskError):
        reproduce(**{"name": TOY, **options})

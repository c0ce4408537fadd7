"""Replicates depend on seed and number alone, whoever draws them, kept in a store or not."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from tests.support.cut_off import interrupted_at
from tests.support.data import checked
from tests.support.missing import output_without

import truerisk as tr
from truerisk import experiments as papers
from truerisk.core.progress import Progress, listen, report_progress
from truerisk.datasets.documents import FOLDER_VARIABLE
from truerisk.exceptions import BadStore, StudyIncomplete, UnknownName
from truerisk.experiments import bee_real, colon_table_1, mehta, reproduce
from truerisk.experiments.experiment import (
    Experiment,
    evaluate_method,
    experiment,
    index_of_first_minimum,
    replicate_rng,
)
from truerisk.experiments.figures import Findings, PaperTable
from truerisk.experiments.insa_ozone import _load_ozone_data
from truerisk.experiments.reproducing import draw_replicates, stored_replicates
from truerisk.extend import BadData, Family, TrueRiskError
from truerisk.losses import ZeroOne
from truerisk.methods import as_method
from truerisk.results.evaluation import risk_values
from truerisk.study import versions
from truerisk.study.store import Store

FAILING = set()  # replicates that raise


def _throw(seed, number):
    if number in FAILING:
        raise RuntimeError("out of luck")
    report_progress(0, 1)  # what an engine tells inside a replicate is nobody's business
    values = replicate_rng("toy", seed, number).standard_normal(3).astype(np.float32)
    return {"values": values, "mean": values.mean(), "first": bool(values[0] > 0)}


def _means(draws):
    table = PaperTable.from_values("means", "exact", {"mean": draws["mean"]}, {"mean": 0.0})
    return Findings((table,), notes=(str(draws["values"].dtype),))


def _lacking():
    raise BadData("something is missing.")


TOY = Experiment(
    name="toy",
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
    yield PaperTable.from_values("means", "exact", {"mean": draws["mean"]})
    yield "another."


def test_experiment_text_is_its_docstring():
    report = reproduce(small_toy, replicates=3)
    assert (report.name, report.title) == ("small-toy", "A toy, §1: told in words")
    assert report.document == "3 numbers each, whoever throws"
    assert report.notes == ("a note of 3.0.", "another.")
    assert [row.name for row in report.tables[0].rows] == ["mean"]


def test_reproduce_without_docstrings_is_refused():
    script = "import truerisk; truerisk.experiments.reproduce('kearns-figure-2', replicates=2)"
    command, kept = [sys.executable, "-OO", "-c", script], {"capture_output": True, "text": True}
    ran = subprocess.run(command, check=False, **kept)
    sentence = "experiments are told in docstrings, of which python -OO (PYTHONOPTIMIZE=2) reads"
    assert sentence in ran.stderr
    assert ran.stderr.rstrip().endswith("run them without -OO.")


def test_reproduce_names_what_is_missing_before_it_draws():
    heard = []
    with listen(heard.append), pytest.raises(BadData, match="missing"):
        reproduce(replace(TOY, check=_lacking))
    assert not heard


@pytest.mark.parametrize("word", papers.names())
def test_experiment_has_title_document_and_replicates(word):
    one = papers.registry.load(word)
    assert one.name == word
    assert 2 <= one.quick < one.replicates
    assert one.title
    assert one.document


def test_reproduce_goes_on_after_an_interruption(tmp_path):
    path = tmp_path / "runs.db"

    with listen(interrupted_at(1)), pytest.raises(KeyboardInterrupt):
        reproduce(TOY, store=path, replicates=2000)
    with Store.open_for_reading(path) as store:
        held = store.count_tasks(store.cells()[0]).done
    assert 0 < held < 2000
    heard = []
    with listen(heard.append):
        report = reproduce(TOY, store=path, resume=True, replicates=2000)
    assert heard[0] == Progress("toy", held, 2000, "throws")
    assert report.to_dict()["tables"] == reproduce(TOY, replicates=2000).to_dict()["tables"]


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
def test_reproduce_names_the_data_file_that_is_missing(word, sentence, monkeypatch):
    for rows in (
        bee_real._load_rows,
        colon_table_1._load_standardised_data,
        mehta._load_messages,
        _load_ozone_data,
    ):
        rows.cache_clear()
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    with pytest.raises(BadData, match=sentence):
        reproduce(word, quick=True)


def test_reproduce_with_store_needs_functions_of_a_file(tmp_path):
    space = {}
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
    "name": {"number": 5, "empty": " "},
    "full": {"number": 5, "text": "x"},
}


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        *(
            pytest.param({name: value}, {}, id=f"{name}: {what}")
            for name, odd in ODD_FIELDS.items()
            for what, value in odd.items()
        ),
        *(
            ({}, {"name": odd})
            for odd in (None, 5, "", ["toy"], Experiment, b"kearns", "kearns-figure1")
        ),
        *(({}, {"replicates": odd}) for odd in (2.5, "3", np.nan, 10**9, 10**30, True, [5], -3)),
        *(({}, {"seed": odd}) for odd in (0.5, "0", None, -1, 2**63, 10**400, np.nan, [0])),
        *(({}, {"n_jobs": odd}) for odd in ("x", 0, 1.5, True, object())),
        *(({}, {"store": odd}) for odd in (5, "", ".", "a\0b", ["x"])),
        *(
            ({}, {flag: odd})
            for flag in ("quick", "full", "resume")
            for odd in ("no", 5, None, [1])
        ),
    ],
)
def test_reproduce_refuses_odd_experiments_and_arguments_with_a_sentence(fields, options):
    with pytest.raises(TrueRiskError) as refused:
        reproduce(**{"name": replace(TOY, **fields), **options})
    assert str(refused.value).isprintable()
    assert " " in str(refused.value)


def test_reproduce_runs_the_full_experiment_if_there_is_one():
    whole = replace(TOY, name="toy-full", replicates=4)
    full = reproduce(replace(TOY, full=whole), full=True)
    assert (full.name, full.replicates) == ("toy-full", 4)
    assert reproduce(replace(TOY, full=whole), replicates=3).name == "toy"
    for call, message in (
        (lambda: reproduce(TOY, full=True), "toy has no full="),
        (lambda: reproduce(TOY, replicates=1), "which one replicate does not have"),
        (lambda: reproduce(TOY, seed=-1), "0 or a positive number"),
        (lambda: reproduce("kearns-figure1"), "did you mean 'kearns-figure-1'"),
    ):
        with pytest.raises(UnknownName, match=message):
            call()


def test_report_has_replicates_seed_and_progress():
    heard = []
    with listen(heard.append):
        report = reproduce(TOY, seed=2, replicates=3)
    assert heard == [Progress("toy", done, 3, "throws") for done in range(4)]
    assert (report.replicates, report.seed, report.unit) == (3, 2, "throws")
    assert report.seconds > 0
    assert reproduce(TOY, quick=True).replicates == 5
    assert reproduce(TOY, quick=True, replicates=6).replicates == 6
    assert reproduce(TOY).replicates == 20


def test_replicates_depend_on_word_seed_and_number_alone(tmp_path):
    first = replicate_rng("a", 0, 0).random(3).tolist()
    assert replicate_rng("a", 0, 0).random(3).tolist() == first
    others = [replicate_rng("b", 0, 0), replicate_rng("a", 1, 0), replicate_rng("a", 0, 1)]
    assert all(rng.random(3).tolist() != first for rng in others)
    few, many = draw_replicates(TOY, 4, seed=3), draw_replicates(TOY, 60, seed=3)
    assert few["values"].shape == (4, 3)
    np.testing.assert_allclose(few["mean"], few["values"].mean(axis=1))
    np.testing.assert_array_equal(few["values"], many["values"][:4])
    assert not np.array_equal(few["values"], draw_replicates(TOY, 4, seed=4)["values"])
    with ThreadPoolExecutor(3) as executor:
        there = draw_replicates(TOY, 60, seed=3, executor=executor)
    np.testing.assert_array_equal(there["values"], many["values"])
    stored = stored_replicates(TOY, 4, 3, None, tmp_path / "runs.db")
    for name, values in few.items():
        assert stored[name].dtype == values.dtype
        np.testing.assert_array_equal(stored[name], values)


def test_reproduce_gives_the_same_tables_by_workers_and_stores(tmp_path):
    path = tmp_path / "runs.db"
    alone = reproduce(TOY).to_dict()
    for words in ({}, {"resume": True}):
        kept = reproduce(TOY, store=path, **words).to_dict()
        assert {**kept, "seconds": 0} == {**alone, "seconds": 0}
    more = reproduce(TOY, store=path, resume=True, replicates=30).to_dict()
    assert more["tables"] == reproduce(TOY, replicates=30).to_dict()["tables"]
    with pytest.raises(UnknownName, match="holds 20 of 20 replicates of toy: add resume=True"):
        reproduce(TOY, store=path)
    reproduce(TOY, store=path, seed=1)
    here = reproduce("kearns-figure-2", replicates=3)
    for words in ({}, {"store": path}):
        there = reproduce("kearns-figure-2", replicates=3, n_jobs=2, **words)
        assert here.to_dict()["tables"] == there.to_dict()["tables"]
    for word in ("resume", "mixed_versions"):
        with pytest.raises(UnknownName, match=rf"{word}= goes on with a store: name it by store="):
            reproduce(TOY, **{word: True})


def test_reproduce_refuses_store_with_failures_of_other_versions_or_kinds(tmp_path, monkeypatch):
    path, other = tmp_path / "runs.db", tmp_path / "other.db"
    FAILING.add(4)
    with pytest.raises(StudyIncomplete, match=r"1 of 20 .*replicate 4 failed: .*out of luck"):
        reproduce(TOY, store=path)
    FAILING.clear()
    assert reproduce(TOY, store=path, resume=True).replicates == 20
    with Store.open_for_writing(other) as store:
        store.note({"kind": "study"})
    with pytest.raises(BadStore, match="holds a study, not a reproduction"):
        reproduce(TOY, store=other)
    now = versions.versions()
    monkeypatch.setattr(versions, "versions", lambda: {**now, "numpy": "9.9"})
    with pytest.raises(BadStore, match="allow it by mixed_versions=True"):
        reproduce(TOY, store=path, resume=True)
    assert reproduce(TOY, store=path, resume=True, mixed_versions=True).replicates == 20


@pytest.mark.parametrize("word", ["loo", "4-fold", "three-way"])
def test_evaluated_is_what_risk_curve_finds(word):
    X, y = tr.datasets.make_simple(40, random_state=0)
    grid = {"n_neighbors": [1, 5, 9]}
    curve = tr.risk_curve(KNeighborsClassifier(), grid, X, y, cv=word, random_state=3)
    family = Family.from_grid(KNeighborsClassifier(), grid)
    found = evaluate_method(as_method(word), family, checked(X, y), ZeroOne(), 3)
    np.testing.assert_allclose(risk_values(found.tested), curve.values)
    if curve.procedure is not None:
        assert found.procedure.value == curve.procedure.value


def test_first_least_is_the_first_of_equals():
    assert index_of_first_minimum(np.array([0.3, 0.1 + 1e-14, 0.1, 0.2])) == 1


SAID = "this call needs {}, which is missing from this installation; install truerisk anew."
CALLS = """
import truerisk as tr
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from truerisk.cli import app

def tell(call):
    try:
        print(call())
    except Exception as error:
        print(f"{type(error).__name__}: {error}")

X, y = load_iris(return_X_y=True)
"""


WITHOUT_EXPERIMENTS = """
estimate = tr.estimate_risk(GaussianNB(), X, y)
tell(lambda: "<svg" in estimate.to_html() and "<svg" in estimate._repr_html_())
tell(lambda: "<svg" in tr.ErrorPosterior(3, 50)._repr_html_())
tell(lambda: tr.experiments.reproduce)
app.sys.stderr = app.sys.stdout
try:
    app.run(["reproduce"])
except SystemExit:
    pass
"""
WITHOUT_STUDIES = """
run = tr.experiments.reproduce
tell(lambda: run("kearns-figure-2", replicates=2).replicates)
tell(lambda: run("kearns-figure-2", replicates=2, store={store!r}))
"""


@pytest.mark.parametrize(
    ("missing", "code", "told"),
    [
        (
            "truerisk.experiments",
            WITHOUT_EXPERIMENTS,
            ["True", "True", f"MissingBranch: {SAID}", f"truerisk: {SAID}"],
        ),
        ("truerisk.study", WITHOUT_STUDIES, ["2", f"MissingBranch: {SAID}"]),
    ],
    ids=["experiments", "studies"],
)
def test_experiment_without_missing_package_runs_and_others_are_refused(
    missing, code, told, tmp_path
):
    found = output_without(missing, code=CALLS + code.format(store=str(tmp_path / "runs.db")))
    assert found == [line.format(missing) for line in told]

"""`truerisk audit-table` and `truerisk ladder`: the table of a search, and a holdout, as files."""

import json

import numpy as np
import pandas as pd
import pytest

import truerisk as tr
from truerisk.external.ladder import Submission

GUESSES = np.random.default_rng(0).integers(0, 2, size=(20, 120))
OVERFITTED = np.random.default_rng(2).integers(0, 2, size=(300, 40))
Y = np.random.default_rng(1).permutation(np.arange(120) % 2)
NOISE = np.random.default_rng(2).normal(size=(3, 120))


def frame_of(losses):
    return pd.DataFrame(losses.T, columns=[f"trial {number}" for number in range(len(losses))])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Tables of candidates and predictions, by name."""
    shares = 1 / (1 + np.exp(-(Y - 0.5 + NOISE)))
    long = [
        pd.DataFrame(
            {
                "candidate": f"model {number}",
                "row": np.arange(120),
                "y": Y,
                "probability_0": 1 - share,
                "probability_1": share,
            }
        )
        for number, share in enumerate(shares)
    ]
    tables = {
        "plain": frame_of(GUESSES),
        "sites": frame_of(GUESSES).assign(site=np.arange(120) // 4),
        "overfitted": frame_of(OVERFITTED),
        "long": pd.concat(long),
        "truth": pd.DataFrame({"y": Y, "site": np.arange(120) // 4}),
        "texts": pd.DataFrame({"y": np.where(Y == 1, "well", "sick")}),
        "base": pd.DataFrame({"prediction": np.where(np.arange(120) < 60, 1 - Y, Y)}),
        "better": pd.DataFrame({"prediction": np.where(np.arange(120) < 56, 1 - Y, Y)}),
        "worse": pd.DataFrame({"prediction": 1 - Y}),
        "perfect": pd.DataFrame({"prediction": Y}),
        "words": pd.DataFrame({"prediction": np.where(Y == 1, "well", "sick")}),
        "shares": pd.DataFrame(
            {"probability_well": Y * 0.8 + 0.1, "probability_sick": 0.9 - Y * 0.8}
        ),
        "scores": pd.DataFrame({"id": np.arange(120), "prediction": Y + NOISE[0]}),
    }
    folder = tmp_path_factory.mktemp("tables")
    paths = {name: folder / f"{name}.csv" for name in tables}
    for name, table in tables.items():
        table.to_csv(paths[name], index=False)
    return paths


# ---------------- audit-table

TABLES = {
    "wide": ("plain", {}),
    "groups": ("sites", {"groups": "site"}),
    "score of losses": ("plain", {"scoring": "accuracy"}),
    "long": ("long", {"scoring": "roc_auc"}),
    "positive": ("long", {"scoring": "roc_auc", "positive": "0"}),
    "replicates": ("plain", {"replicates": 100, "seed": 3}),
    "level": ("plain", {"confidence": 0.8}),
    "not trained": ("plain", {"trained": False}),
    "adaptive": ("plain", {"adaptive": True}),
}
FLAGS = {"trained": "--not-trained", "adaptive": "--adaptive"}
ARGUMENTS = {"seed": "random_state", "confidence": "confidence_level"}


@pytest.mark.parametrize("case", TABLES)
def test_audit_table_is_that_of_python(call, files, case):
    """All numbers; the command adds its own line and the name of the file."""
    name, options = TABLES[case]
    said = call(
        "audit-table",
        files[name],
        "--json",
        *(
            word
            for option, value in options.items()
            for word in ([FLAGS[option]] if option in FLAGS else [f"--{option}", value])
        ),
    )
    arguments = {ARGUMENTS.get(option, option): value for option, value in options.items()}
    expected = json.loads(tr.audit_table(files[name], **arguments).to_json())
    assert said.content.pop("source") == f"{name}.csv"
    different = {"source", "command"}
    assert {k: v for k, v in said.content.items() if k not in different} == {
        k: v for k, v in expected.items() if k not in different
    }
    assert said.code == 0


def test_audit_table_prints_the_conclusion(call, files):
    audit = tr.audit_table(files["plain"])
    said = call("audit-table", files["plain"])
    assert said.out == f"{audit}\n"
    assert said.err == ""


def test_audit_table_writes_a_page_that_report_draws_again(call, files, tmp_path):
    options = ("--groups", "site", "--not-trained")
    page, stored = tmp_path / "page.html", tmp_path / "audit.json"
    said = call("audit-table", files["sites"], *options, "--report", page, "--json")
    assert said.err == f"wrote {page}\n"
    text = page.read_text("utf-8")
    assert "truerisk audit-table sites.csv --groups site --not-trained</pre>" in text
    assert "Report this risk" in text
    stored.write_text(said.out, "utf-8")
    call("report", stored)
    assert stored.with_suffix(".html").read_text("utf-8").count("sites.csv: audit of 20") == 2


@pytest.mark.parametrize(
    ("words", "side", "code", "verdict"),
    [
        (("--scoring", "roc_auc", "--min-score", "roc_auc={}"), -1e-6, 0, "bound kept: roc_auc"),
        (("--scoring", "roc_auc", "--min-score", "roc_auc={}"), 1e-6, 4, "bound missed: roc_auc"),
        (("--scoring", "log", "--fail-above", "{}"), 1e-6, 0, "bound kept: log risk"),
        (("--scoring", "log", "--fail-above", "{}"), -1e-6, 4, "bound missed: log risk"),
    ],
)
def test_audit_table_judges_the_honest_end_of_the_interval(call, files, words, side, code, verdict):
    interval = tr.audit_table(files["long"], scoring=words[1]).honest.interval
    end = interval.low if words[1] == "roc_auc" else interval.high
    said = call("audit-table", files["long"], *(word.format(end + side) for word in words))
    assert said.code == code
    assert verdict in said.err


@pytest.mark.parametrize("bound", [(), ("--fail-above", 1)])
def test_audit_table_exits_with_4_for_a_refuted_score(call, files, bound):
    """Even if a bound is kept."""
    said = call("audit-table", files["overfitted"], "--json", *bound)
    assert said.content["refuted"] is True
    assert said.code == 4
    assert said.sentences[-1] == "the best score is refuted: it lies outside the honest interval."


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("sites", "--groups", "sit"), 2, "--groups sit is no column of the table; did you mean"),
        (("long", "--order", "trail"), 2, "--order trail is no column of the table"),
        (("plain", "--scoring", "acuracy"), 2, "acuracy"),
        (("long", "--scoring", "f1", "--positive", "7"), 2, "--positive 7 is no class of y"),
        (("plain", "--min-score", "loss=.5"), 2, "loss: this is a loss, of which less is better"),
        (("plain", "--min-score", "r2=.5"), 2, "only loss, of which less is better. Bound it by"),
        (("plain", "--replicates", 0), 2, "--replicates"),
        (("plain", "--scoring", "roc_auc"), 1, "--scoring roc_auc rates whole sets of rows"),
    ],
)
def test_audit_table_refuses(call, files, words, code, message):
    said = call("audit-table", files[words[0]], *words[1:])
    assert said.code == code
    assert message in said.err


# ---------------- ladder


@pytest.fixture
def submit(call, files, tmp_path):
    """Submit the predictions of a file to a ladder of this test."""

    def submitted(name, *words, truth="truth"):
        store = ("--store", tmp_path / "ladder.jsonl")
        holdout = ("--holdout", files[truth], "--target", "y")
        return call("ladder", "submit", files[name], *holdout, *store, *words)

    return submitted


@pytest.mark.parametrize(
    ("second", "code", "line"),
    [
        ("perfect", 0, "perfect: accepted; best zero-one risk 0.0000\n"),
        ("worse", 4, "worse: not better by more than the noise; best zero-one risk 0.5000\n"),
    ],
)
def test_ladder_submit_exits_with_4_for_what_is_not_accepted(submit, second, code, line):
    assert submit("base").code == 0
    said = submit(second)
    assert (said.code, said.out, said.err) == (code, line, "")


def test_ladder_submit_writes_json(submit):
    said = submit("base", "--json", "--name", "mine", "--scoring", "accuracy")
    expected = Submission(1, "mine", True, 0.5, "accuracy", 1.0)
    assert Submission.from_json(said.out) == expected


@pytest.mark.parametrize(
    ("name", "words", "truth", "value"),
    [
        ("perfect", ("--scoring", "accuracy"), "truth", 1.0),
        ("words", ("--scoring", "accuracy"), "texts", 1.0),
        ("shares", ("--scoring", "log"), "texts", -np.log(0.9)),
        ("shares", ("--scoring", "roc_auc"), "texts", 1.0),
        ("scores", ("--scoring", "roc_auc", "--positive", 0), "truth", None),
        ("scores", ("--scoring", "roc_auc"), "truth", None),
    ],
    ids=["single column", "texts", "probabilities", "ranks", "positive", "scores"],
)
def test_ladder_submit_reads(submit, name, words, truth, value):
    """Probabilities by the name of their class, whatever the order of their columns."""
    if value is None:
        positive = 0 if "--positive" in words else None
        ladder = tr.Ladder(Y, scoring="roc_auc", positive=positive)
        value = ladder.submit(Y + NOISE[0]).value
    assert submit(name, *words, "--json", truth=truth).content["value"] == pytest.approx(value)


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--groups", "site"), 4)])
def test_ladder_submit_uses_groups(submit, words, code):
    """Four errors fewer are more than noise if they are single rows, and not if they are a site."""
    submit("base", *words)
    assert submit("better", *words).code == code


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("perfect", "--groups", "sit"), 2, "truth.csv has no column 'sit'; did you mean 'site'?"),
        (("perfect", "--target", "z"), 2, "truth.csv has no column 'z'"),
        (("perfect", "--scoring", "jaccard"), 1, "--scoring jaccard is a scorer"),
        (("truth",), 3, "neither the column 'prediction' nor 'probability_0', 'probability_1'"),
        (("words",), 3, "no class of y"),
        (("perfect", "--store", "none/ladder.jsonl"), 2, "there is no folder"),
    ],
)
def test_ladder_submit_refuses(submit, words, code, message):
    said = submit(*words)
    assert (said.code, said.out) == (code, "")
    assert message in said.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no ladder"),
        ("a,b\n1,2\n", "is no ladder, or was changed"),
        (
            '{"schema": "truerisk.ladder/0", "scoring": "log", "perfect": null}\n',
            "is no ladder, or was changed",
        ),
        ("", "is no ladder, or was changed"),
    ],
    ids=["missing", "other file", "other schema", "empty"],
)
def test_ladder_status_refuses(call, tmp_path, content, message):
    if content is not None:
        (tmp_path / "store").write_text(content)
    said = call("ladder", "status", "--store", tmp_path / "store")
    assert (said.code, said.out) == (3, "")
    assert message in said.err


def test_ladder_status_prints_the_steps(submit, call, tmp_path):
    for name in ("base", "worse", "perfect"):
        submit(name)
    said = call("ladder", "status", "--store", tmp_path / "ladder.jsonl")
    heading, *table = said.out.splitlines()
    assert heading == "3 submissions, 2 accepted"
    assert [line.split() for line in table[2:]] == [
        ["1", "base", "0.5000"],
        ["3", "perfect", "0.0000"],
    ]
    assert table[0].split() == ["submission", "name", "risk"]

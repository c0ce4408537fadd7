"""What each command refuses: exit code, a sentence, and nothing that was fitted or written."""

import gzip
import io
import random
import re
import shlex
import struct
import subprocess
import sys
from datetime import date
from itertools import count

import polars as pl
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.cli.conftest import TRUERISK, write_csv

import truerisk as tr
from truerisk.core.progress import listen

SEARCH = """
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.neighbors import KNeighborsClassifier

def search(cv=3, **words):
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=cv, **words)

def make():
    return search()

def auc():
    return search(scoring="roc_auc")

def lost():
    return search(KFold(3, shuffle=True))

def grouped():
    return search(GroupKFold(3))

def nothing():
    return 42

def leaving():
    raise SystemExit(0)
"""
SPEC = """
replicates = 2
sizes = [20]
n_test = 50
problems = ["simple", "difficult", "highleyman"]
learners = [{word = "knn", set = {n_neighbors = 1}, name = "1nn"}, "lda"]
methods = ["2-fold", "3-fold"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory, call):
    """A folder of files for all commands: tables, a search, results, a study."""
    place = tmp_path_factory.mktemp("refusals")
    draw = random.Random(1)
    rows = [
        (f"{draw.gauss(i % 2, 1.5):.3f}", f"{draw.random():.3f}", f"{draw.random():.2f}", *more)
        for i in range(60)
        for more in [(f"s{i % 5}", 1, "uv"[i % 2], i * i % 11 / 7, f"c{i % 3}")]
    ]
    write_csv(place / "t.csv", "a,b,p,site,one,y,amount,y3", rows)
    numbers = [(a, b, i % 5, "uv"[i % 2]) for i, (a, b, *_) in enumerate(rows)]
    write_csv(place / "r.csv", "a,b,site,y", numbers)
    write_csv(place / "text.csv", "a,y", [("uv"[i % 3 % 2], i % 2) for i in range(60)])
    gap = [["" if i == 3 else i, "uv"[i % 2]] for i in range(40)]
    write_csv(place / "gap.csv", "score,y", gap)
    write_csv(place / "flat.csv", "flat,y", [(0.5, "uv"[i % 2]) for i in range(40)])
    (place / "search.py").write_text(SEARCH)
    (place / "raising.py").write_text("1 / 0\n")
    (place / "spec.toml").write_text(SPEC)
    (place / "kn.toml").write_text(SPEC.replace("knn", "kn"))
    X, y = tr.datasets.make_difficult(40, random_state=0)
    for name, seed in (("a", 0), ("other", 1)):
        found = tr.estimate_risk(GaussianNB(), X, y, cv="5-fold", random_state=seed)
        (place / f"{name}.json").write_text(found.to_json())
    contents = {"empty": "", "cut": "{", "foreign": "{}", "v9": '{"schema": "truerisk.audit/9"}'}
    for name, content in contents.items():
        (place / f"{name}.json").write_text(content)
    (place / "file").touch()
    (place / "sub").mkdir()
    (place / "circle").symlink_to("circle")
    words = ("--models", "lda", "--cv", "2-fold", "--outer", "2-fold", "--json")
    (place / "assessed.json").write_text(call("assess", "--dataset", "iris", *words).out)
    assert call("study", "run", place / "spec.toml", "--store", place / "runs.db").code == 0
    return place


USUAL = "t.csv --target y"
CANCER = "--dataset breast-cancer"
AUDIT = "--target y --allow-import"
BOUNDS = [
    ("--min-score auc", 2, "'auc' is no bound; write a score as in auc=.75"),
    ("--min-score auc=high", 2, "'auc=high' is no bound"),
    ("--min-score auc=nan", 2, "'auc=nan' is no bound"),
    ("--min-score auc=.5=.4", 2, "'auc=.5=.4' is no bound"),
    ("--min-score auc=.9 --min-score auc=.1", 2, "auc has two bounds"),
    ("--fail-above nan", 2, "nan is no bound; write a risk as in .25"),
    ("--scoring auc --fail-above .1", 2, "write --min-score auc=NUMBER"),
    ("--min-score log=.1", 2, "--min-score log: this is a loss, of which less is better"),
    ("--min-score zero-one=.1", 2, "has no minimum: write --fail-above NUMBER"),
    ("--scoring auc,log --min-score log=.1", 2, "write --scoring log --fail-above NUMBER"),
    ("--min-score auc=75", 2, "auc=75: this score is 1 at most, so that nothing keeps"),
    ("--min-score auc=1.0000001", 2, "auc=1.0000001: this score is 1 at most"),
]
REFUSED = {
    f"assess {CANCER} --models lda": BOUNDS,
    f"assess {CANCER} --models lda --dry-run": BOUNDS,
    "": [
        ("asses", 2, "did you mean 'assess'?"),
        ("qqqq", 2, "No such command 'qqqq'."),
        ("", 2, "Usage: truerisk"),
    ],
    "ladder": [
        ("", 2, "write `truerisk ladder submit` or `truerisk ladder status`"),
        ("summit", 2, "write `truerisk ladder submit` or `truerisk ladder status`"),
    ],
    "assess": [
        ("", 2, "give a FILE with --target COL, or --dataset NAME."),
        ("t.csv", 2, "--target COL is missing"),
        ("t.csv --dataset iris", 2, "not both"),
        ("--dataset iris --target y", 2, "has its own target"),
        ("--dataset irsi", 2, "did you mean 'iris'?"),
        ("- --target y", 2, "FILE cannot be stdin: save the table as a file"),
        ("'' --target y", 2, "give a FILE with --target COL"),
        ("t.csv --target y --target z", 2, "one target is predicted"),
        ("--dataset iris --models knn,knn", 2, "'knn' is named twice"),
        ("--dataset iris --seed -1", 2, "'--seed'"),
        (". --target y", 3, "is a directory"),
        ("none.csv --target y", 3, "does not exist"),
        ("/dev/null/x --target y", 3, "cannot be read: Not a directory"),
        (f"{'n' * 5000} --target y", 3, "truerisk: "),
        ("t.csv --target site_", 3, "did you mean 'site'? Its columns: 'a', 'b', 'p', 'site', 'o"),
        (f"{CANCER} --validate --clip 3", 2, "'--clip': 3.0 is not in the range 0<x<0.5"),
    ],
    f"assess {USUAL}": [
        ("--delimiter ;;", 2, "is not one character"),
        ("--models lda,tre", 2, "did you mean 'tree'?"),
        ("--models ,", 2, "--models names no learner"),
        ("--cv ,", 2, "--cv"),
        ("--cv 0-fold", 2, "k=0: K-fold cross-validation needs a whole number K >= 2"),
        ("--models lda,ridge", 1, "truerisk: ridge does regression only"),
        ("--models tree,svm --scoring log", 1, "truerisk: svm: SVC gives no probabilities"),
        ("--cv three-way", 1, "truerisk: 'three-way' cannot be the inner method"),
        ("--scoring squared", 1, "truerisk: loss 'squared' is not defined for classification"),
        ("--cv 45-fold --outer 2-fold --models lda", 3, "45 folds need at least 45 rows, and the"),
        ("--learning-curve forest --models lda", 2, "there is no learner 'forest'"),
        ("--learning-curve , --models lda", 2, "--learning-curve"),
        ("--report sub", 2, "folder"),
        ("--report sub/none/out.html", 2, "there is no folder"),
        ("--figures file/below", 2, "--figures: file/below cannot be made: name another folder."),
        ("--store none/a.db", 2, "there is no folder 'none'"),
        ("--mixed-versions", 2, "--mixed-versions needs --store"),
        ("--store t.csv", 3, "t.csv is no store of truerisk"),
        ("--replicates 2", 2, "--replicates needs --validate"),
        ("--subgroups a", 2, "--subgroups needs --validate"),
    ],
    "estimate": [
        (f"{USUAL} --model kn", 2, "did you mean 'knn'?"),
        ("--dataset iris --groups a --model knn", 2, "--groups names a column of a FILE"),
        *[
            (f"{USUAL} --model knn {words}", code, said)
            for words, code, said in (
                ("--set n_neighbours=5", 2, "has no parameter 'n_neighbours'; did you mean"),
                ("--set qqqq=5", 2, "knn has no parameter 'qqqq'. It has: algorithm, leaf_size"),
                ("--set n_neighbors", 2, "write NAME=VALUE"),
                ("--set n_neighbors=1 --set n_neighbors=2", 2, "given twice"),
                ("--scoring ,", 2, "--scoring names no score"),
                ("--time c", 3, "the file has no column 'c'"),
                ("--time y", 3, "column 'y' is named as the target and as the time"),
                ("--time a --block a", 3, "column 'a' is named as the time and as the block"),
                ("--block ' , '", 2, "--block names no column"),
                ("--set n_neighbors=5000 --cv 3-fold", 1, "n_neighbors=5000"),
            )
        ],
    ],
    "audit": [
        ("search.py:make r.csv --target y", 2, "--allow-import"),
        (f"search.py:grouped r.csv {AUDIT} --groups sight", 3, "did you mean 'site'"),
        (f"search.py:lost r.csv {AUDIT} --level bbc", 1, "drawn anew each time"),
        (f"search.py:nothing r.csv {AUDIT}", 1, "is no search"),
        (f"search.py:grouped r.csv {AUDIT}", 1, "groups"),
        (f"search.py:maki r.csv {AUDIT}", 2, "did you mean 'make'"),
        (f"search.py:SEARCH r.csv {AUDIT}", 2, "has no search or function 'SEARCH'"),
        (f"search.py r.csv {AUDIT}", 2, "file.py:name"),
        (f"none.py:make r.csv {AUDIT}", 2, "there is no file"),
        (f"no_such_module:make r.csv {AUDIT}", 1, "no_such_module failed: ModuleNotFoundError"),
        (f"raising.py:make r.csv {AUDIT}", 1, "raising.py failed: ZeroDivisionError"),
        (f"search.py:leaving r.csv {AUDIT}", 1, "called sys.exit(0): let it return"),
        (f"search.py:make r.csv {AUDIT} --report none/a.html", 2, "folder"),
        (f"search.py:make text.csv {AUDIT}", 1, "could not convert string to float"),
        (
            f"search.py:auc r.csv {AUDIT} --min-score f1=.5",
            2,
            "is not measured here; measured are",
        ),
        (
            f"search.py:auc r.csv {AUDIT} --fail-above .5",
            2,
            "roc_auc is a score, of which more is",
        ),
        (
            f"search.py:auc r.csv {AUDIT} --min-score auc=75",
            2,
            "auc=75: this score is 1 at most",
        ),
        (
            f"search.py:make r.csv {AUDIT} --min-score auc=.5",
            2,
            "accuracy. An audit bounds the s",
        ),
        (
            f"search.py:auc r.csv {AUDIT} --positive sick",
            3,
            "--positive sick is no class of the",
        ),
    ],
    f"validate {USUAL}": [
        ("--clip 0.7", 2, "'--clip': 0.7 is not in the range"),
        ("--report no/v.html", 2, "there is no folder"),
        ("--subgroups 'site, age'", 3, "no column 'age'; it has a, b, p, site"),
        ("--subgroups one", 3, "--subgroups: column 'one' is constant and is left out: it has no"),
        ("--subgroups y", 3, "--subgroups: column 'y' is that of --target; name a feature"),
        ("--positive perhaps", 3, "--positive perhaps is no class of the target, which has u, v."),
        ("--checklist a.pdf", 2, "name a file .docx, .xlsx or .csv"),
        ("--checklist no/a.csv", 1, "there is no folder"),
        ("--scoring roc_auc --fail-above .2", 2, "is a score, of which more is better: write --m"),
        ("--predictions site", 3, "--predictions site is no column of numbers: the file has a, b"),
        ("--predictions amount", 3, "must be: 1.28571428571429 in row 4 is the first"),
        ("--predictions p --model lda", 2, "--model is not for --predictions"),
        ("--predictions p --cv 5", 2, "--cv is not for --predictions"),
        ("--model lda --replicates 0 --min-score log=.1", 2, "write --fail-above NUMBER"),
        ("--predictions p --min-score log=.1", 2, "minimum: write --fail-above NUMBER"),
        (
            "--model lda --replicates 0 --min-score f1=.5",
            2,
            "r2, d. Scores that --scoring names are",
        ),
    ],
    "validate": [
        (f"{CANCER} --subgroups site", 2, "--subgroups"),
        (f"{CANCER} --predictions p", 2, "--predictions names a column of a FILE: a --dataset has"),
        ("t.csv --target y3 --predictions p", 3, "is of one of two classes, and the target has 3"),
        ("--dataset diabetes --model ridge --positive 3", 1, "names a class, and y holds numbers"),
        ("--dataset diabetes --model ridge --replicates 0 --min-score auc=.1", 2, "auc"),
    ],
    "permute": [
        (USUAL, 2, "--model"),
        (f"{USUAL} --model lda --permutations 0", 2, "--permutations"),
        (f"{USUAL} --model kn", 2, "kn"),
        (
            f"{USUAL} --model lda --scoring auc,log",
            2,
            "a permutation test is of one score",
        ),
    ],
    "plan": [
        ("--error 2 --width .1", 2, "--error 2.0: an error is a share"),
        ("--width .1", 2, "Missing option '--error'"),
        ("--error .1", 2, "--width, --rows, or both"),
        ("development --parameters 3 --r2 .2", 2, "A binary outcome needs --prevalence."),
        ("developmnt --parameters 3", 2, "did you mean 'development'?"),
        ("pilot --target y --model knn", 3, "pilot"),
        ("development --parameters 0 --r2 .2", 2, "--parameters 0: a model has"),
        ("development --parameters 3 --r2 .8 --prevalence .3", 1, "--r2 0.8"),
        ("--error x --width .1", 2, "neither an error"),
        ("--error 30:.1 --error 30:.2 --rows 90", 2, "same number"),
        ("--error .1 --rows 90", 1, "does not say what tuning gains"),
        ("--dataset iris --error .1 --rows 90", 2, "leave one out"),
        ("--dataset iris", 2, "--model is missing"),
        ("--model knn", 2, "give a FILE with --target"),
        ("t.csv --target amount --model ridge --width .1", 3, "the target has no classes"),
    ],
    "posterior --errors": [
        ("6", 2, "Missing option '--rows'"),
        ("1 --rows 6 --level 1", 2, "range"),
        ("1 --rows 6 --prior 0 1", 2, "prior"),
        ("1 --rows 6 --prior 1e308 1e308 --json", 2, "is worth more than"),
    ],
    "roc": [
        (USUAL, 2, "Missing option '--score'"),
        (f"{USUAL} --score site", 3, "--score site is a column of text"),
        (f"{USUAL} --score third", 3, "--score third is no column beside the target"),
        (f"{USUAL} --score p --prevalence 0.1", 2, "--prevalence needs --cost"),
        (f"{USUAL} --score p --score b --score p", 2, "--score names a column twice"),
        (f"{USUAL} --score p --target-type regression", 2, "a ROC curve tells classes"),
        (f"{USUAL} --score p --sensitivity 2", 3, "no rate between 0 and 1"),
        (f"{USUAL} --score one", 3, "--score one is constant: it ranks no row before another."),
        ("flat.csv --target y --score flat", 3, "--score flat is constant: it ranks no row before"),
        ("gap.csv --target y --score score", 3, "non-finite scores have no order"),
    ],
    "report": [
        ("cut.json", 3, "cut.json' is no JSON (line 1): write results with to_json() or --json."),
        ("foreign.json", 3, "foreign.json: this JSON is not of truerisk"),
        ("v9.json", 3, "of version 9"),
        ("assessed.json -o none/out.html", 1, "cannot be written: there is no folder"),
    ],
    "compare": [
        ("a.json other.json", 1, "made on different splits"),
        ("a.json foreign.json", 3, "foreign.json: this JSON is not of truerisk"),
        ("a.json cut.json", 3, "cut.json' is no JSON"),
        ("a.json none.json", 3, "none.json' cannot be read"),
        ("a.json", 2, "Missing"),
        ("a.json a.json --test foo", 2, "'mcnemar', '5x2'"),
    ],
    "reproduce": [
        ("kearns-figure-2 --list", 2, "leave out kearns-figure-2"),
        ("kearns-figure-2 --replicates 1", 2, "--replicates 1: give a whole number from 2 to"),
        ("kearns-figure-2 --full", 2, "kearns-figure-2 has no --full"),
        ("kearns-figure-2 --quikc", 2, "--quikc"),
        ("kearns-figure-2 --out file/inside", 2, "--out"),
        ("wallman-table1", 2, "did you mean 'wallman-table-1'?"),
        ("colon-table-1 --quick", 3, "truerisk: data set 'colon' does not come with truerisk"),
    ],
    "study": [
        ("run no.toml --store a.db", 3, "no.toml: No such file"),
        ("run kn.toml --store a.db", 3, "in line 6 of the specification: there is no learner 'kn'"),
        ("run spec.toml --store a.db --n-jobs four", 2, "number of worker"),
        ("run spec.toml", 2, "--store"),
        ("run spec.toml --store none/a.db", 2, "there is no folder 'none'"),
        ("status --store a.db", 3, "there is no such store"),
        ("retry --failed --store a.db", 2, "there is no such store"),
        ("retry --store a.db", 2, "--failed"),
        ("export --store runs.db --out runs.db", 2, "is the store: name another file."),
        ("export --store runs.db --out circle", 2, "be written"),
        ("compare --store a.db", 3, "there is no such store"),
        ("compare --store runs.db", 2, "give --of learner or --of method, and name one"),
        ("compare --store runs.db --of learner", 2, "several methods (2-fold, 3-fold)"),
        ("compare --store runs.db --of learner --method loo", 2, "no method 'loo'. It has: 2-fold"),
        ("compare --store runs.db --report none/a.html", 2, "there is no folder 'none'"),
    ],
}
ROWS = [(f"{start} {words}", *more) for start, rows in REFUSED.items() for words, *more in rows]


def listing(folder):
    """List the files that are there; those of SQLite and of compiled Python come and go."""
    names = (path.name for path in folder.rglob("*"))
    return sorted(name for name in names if not re.search(r"-(wal|shm)$|pyc", name))


def is_one_sentence(said):
    """Nothing is on stdout, one line besides notes on stderr; of bad data it ends as a sentence."""
    if said.out or len(said.sentences) != 1 or not said.sentences[0].isprintable():
        return False
    return re.fullmatch("truerisk: .*[.?']" if said.code == 3 else "truerisk: .*", *said.sentences)


@pytest.mark.parametrize(("line", "code", "sentence"), ROWS, ids=count())
def test_command_refuses_with_code_and_sentence(call, folder, monkeypatch, line, code, sentence):
    """Usage is 2, bad data 3, what cannot be computed 1; options and files are looked at first."""
    monkeypatch.chdir(folder)
    monkeypatch.delenv("TRUERISK_DATA", raising=False)
    heard, files = [], listing(folder)
    with listen(heard.append):
        said = call(*shlex.split(line))
    assert (said.code, said.out) == (code, ""), said.err
    assert sentence in said.err
    assert "Traceback" not in said.err
    assert is_one_sentence(said) or code == 2
    assert not heard or code == 1
    assert listing(folder) == files


# ---------------------------------------------------------------- files

DRAW = random.Random(9)
CELLS = [(f"{i % 2 * 2 + DRAW.random():.3f}", f"{DRAW.random():.3f}") for i in range(30)]
GOOD = "a,colour,y\n" + "".join(f"{a},{b},{'uv'[i % 2]}\n" for i, (a, b) in enumerate(CELLS))
BAD = {
    "wrong delimiter": (GOOD.replace(",", ";"), r"delimiter looks wrong.*--delimiter ';'"),
    "empty targets": (GOOD.replace(",u\n", ",\n", 3), "'y' has 3 empty cells among 30 rows"),
    "rubbish": (random.Random(3).randbytes(4000), "is not a text table|cannot be decoded|UTF-8"),
    "cut gzip": (gzip.compress(GOOD.encode(), mtime=0)[:-20], "is damaged: .*; fetch it again"),
    "bomb": (gzip.compress(b"a,y\n" + b"1,2\n" * 50_000), "cap of 20,000 bytes.*--max-bytes"),
    "few rows": ("a,b,y\n1,4,u\n2,4,v\n4,7,u\n3,2,v\n", "5 folds need at least 5 rows"),
    "rule=min": ("x,rule=min\n1,inf\n2,3.5\n", "the target 'rule=min' holds 'inf' on line 2"),
}


@pytest.mark.parametrize("what", BAD)
def test_assess_refuses_a_bad_file_with_one_sentence(call, tmp_path, what):
    """Each sentence is that of `read_table`, with options in the place of arguments."""
    content, expected = BAD[what]
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    target = what if "=" in what else "y"
    said = call("assess", path, "--target", target, "--models", "lda,knn", "--max-bytes", 20_000)
    assert said.code == 3
    assert is_one_sentence(said)
    assert re.search(expected, said.err)


HOSTILE = {
    "script": "</script><b>&",
    "escape": "\x1b[31mred\x07",
    "right-to-left": "\u202ecsv.exe",
    "long": "c" * 10_000,
    "quotes": "'\"'",
    "wide": "漢字" * 20,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_assess_shows_hostile_names_and_cells_harmlessly(call, tmp_path, what):
    """What is printed can be printed, and a sentence stays one line."""
    cell = '"' + HOSTILE[what].replace('"', '""') + '"'
    label = cell if len(cell) < 90 else "n"  # longer labels are refused
    rows = [(cell if i % 3 else "x", a, label if i % 2 else "m") for i, (a, _) in enumerate(CELLS)]
    path = write_csv(tmp_path / "t.csv", f"{cell},a,y", rows)
    refused = call("assess", path, "--target", "zzz")
    assert is_one_sentence(refused)
    assert len(refused.sentences[0]) < 300
    words = ("assess", path, "--target", "y", "--models", "lda", "--cv", "2-fold")
    said = call(*words, "--outer", "2-fold")
    assert said.code == 0
    assert all(line.isprintable() for line in (said.out + said.err).splitlines())
    assert call(*words, "--outer", "2-fold", "--json").content["schema"] == "truerisk.assessment/2"


CONTROLS = "\x1b[2J\x1b]0;owned\x07\u202e\x9b"


@pytest.mark.parametrize(
    "command",
    [
        ("validate", "--model", "lda", "--replicates", 2, "--subgroups", f"b{CONTROLS}"),
        ("assess", "--models", "lda", "--validate", "--replicates", 2),
        ("assess", "--models", "lda", "--scoring", f"auc{CONTROLS}"),
        ("roc", "--score", f"b{CONTROLS}", "--positive", f"u{CONTROLS}"),
        ("permute", "--model", "lda", "--permutations", 1),
        ("estimate", "--model", "lda", f"--{CONTROLS}"),
        ("plan", CONTROLS),
    ],
    ids=count(),
)
def test_command_prints_no_control_sequences(call, tmp_path, command):
    """Labels, columns, files and words of the command line may hold them."""
    rows = [(i % 7, i * i % 11, f"{'uv'[i % 2]}{CONTROLS}") for i in range(40)]
    path = write_csv(tmp_path / f"t{CONTROLS}.csv", f"a,b{CONTROLS},y{CONTROLS}", rows)
    verb, *words = command
    said = call(verb, path, "--target", f"y{CONTROLS}", *words)
    assert all(line.isprintable() for text in (said.out, said.err) for line in text.split("\n"))


def test_command_says_one_sentence_of_a_panic_in_another_language(tmp_path):
    """Rust writes its own lines to stderr when it panics."""
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"a": range(30), "day": [date(2020, 1, 1 + i) for i in range(30)]})
    content = io.BytesIO()
    frame.with_columns(y=pl.col("a") % 2).write_ipc(content)
    days = struct.pack("<i", (date(2020, 1, 1) - date(1970, 1, 1)).days)
    path.write_bytes(content.getvalue().replace(days, struct.pack("<i", 2**31 - 1), 1))
    words = [sys.executable, *TRUERISK, "assess", str(path), "--target", "y"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (3, "")
    (sentence,) = done.stderr.splitlines()
    assert re.fullmatch(r"truerisk: '.*t.parquet' is damaged: out-of-range date; .*", sentence)

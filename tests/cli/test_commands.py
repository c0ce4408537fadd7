"""Commands that print what one call of Python gives: its text, and its JSON with --json."""

import json
import shlex

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from tests.cli.conftest import timeless, write_csv

import truerisk as tr
from truerisk import experiments
from truerisk.models import learner

X, Y = tr.datasets.make_difficult(60, random_state=0)
LOAD, DAYS = tr.datasets.make_daily_load(200, random_state=2), np.arange(200)
A = tr.estimate_risk(GaussianNB(), X, Y, cv="5-fold")
B = tr.estimate_risk(KNeighborsClassifier(5), X, Y, cv="5-fold")
SPEC = {
    "replicates": 2, "sizes": [20], "n_test": 50, "problems": ["simple", "difficult", "highleyman"],
    "learners": [{"word": "knn", "set": {"n_neighbors": k}, "name": f"{k}nn"} for k in (1, 5)],
    "methods": ["2-fold", "3-fold"],
}  # fmt: skip
RNG = np.random.default_rng(0)
STATE = np.repeat(["healthy", "sick"], 40)
FIRST = np.round(RNG.normal(size=80) + (STATE == "sick"), 1)
SECOND = np.round(RNG.normal(size=80) + 0.5 * (STATE == "sick"), 2)
AGE = np.round(FIRST - SECOND, 2)
WARD = np.arange(80) % 20
ROC, OTHER = (
    tr.RocCurve.from_scores(STATE, score, method=name)
    for name, score in (("first", FIRST), ("second", SECOND))
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("commands")
    for name, estimate in (("a", A), ("b", B)):
        (place / f"{name}.json").write_text(estimate.to_json(), encoding="utf-8")
    write_csv(place / "pilot.csv", "a,b,y", np.c_[X, Y].tolist())
    write_csv(
        place / "scores.csv", "state,first,second,age,ward", zip(STATE, FIRST, SECOND, AGE, WARD)
    )
    grouped = [(i % 2 + (i // 3) % 4 / 9, f"p{i // 3}", "uv"[i // 3 % 2]) for i in range(60)]
    write_csv(place / "grouped.csv", "a,who,y", grouped)
    columns = ",".join([*(f"x{j}" for j in range(LOAD[0].shape[1])), "load", "when"])
    write_csv(place / "load.csv", columns, np.column_stack([*LOAD, DAYS]).tolist())
    tr.Study(SPEC, place / "runs.db").run()
    return place


def permuted(X, y, word="lda", task="classification", n=19, seed=0, **more):
    own = {name: more.pop(name) for name in ("cv", "scoring") if name in more}
    classes = {"n_classes": 2} if task == "classification" else {}
    given = learner(word, task, n_rows=len(X), n_features=X.shape[1], **classes)
    search = tr.HonestSearchCV(*given, random_state=seed, **own)
    return tr.permutation_test(search, X, y, n_permutations=n, random_state=seed, **more)


def studied(*words, **options):
    return lambda folder: tr.Study(None, folder / "runs.db").results().compare(*words, **options)


def grouped(folder):
    read = tr.datasets.read_table(folder / "grouped.csv", "y", groups="who")
    return permuted(read.X, read.y, n=9, cv="3-fold", groups=read.groups)


def forecast(folder):
    read = tr.datasets.read_table(folder / "load.csv", "load", time="when")
    return permuted(read.X, read.y, word="ridge", task="regression", n=9, time=read.time)


CURVE = "--error 30:.25 --error 60:.21 --error 150:.19"
BINARY = {"prevalence": 0.1, "auc": 0.75, "threshold": 0.1, "auc_width": 0.2}
NUMBERS = {"parameters": 5, "r2": 0.3, "mean": 1, "sd": 2, "ratio": 1.2}
OF_METHODS = {
    "learner": "5nn", "by": "seconds", "control": "2-fold", "rope": 0.5, "missing": "last",
    "pairwise": "ranks", "confidence_level": 0.9, "random_state": 3, "size": 20,
}  # fmt: skip
SAME = {
    "plan --error .15 --width .05": lambda _: tr.plan_sample(0.15, width=0.05),
    f"plan {CURVE} --rows 180 --level .9": lambda _: tr.plan_sample(
        {30: 0.25, 60: 0.21, 150: 0.19}, n=180, confidence_level=0.9
    ),
    "plan development --parameters 24 --prevalence .174 --r2 .288": lambda _: tr.plan_development(
        parameters=24, prevalence=0.174, r2=0.288
    ),
    "plan development --outcome continuous --parameters 5 --r2 .3 --mean 1 --sd 2 --ratio 1.2"
    " --confidence .9": lambda _: tr.plan_development(
        "continuous", confidence_level=0.9, **NUMBERS
    ),
    "plan validation --prevalence .1 --auc .75 --linear-predictor -2.5 1 --threshold .1"
    " --auc-width .2": lambda _: tr.plan_validation(linear_predictor=(-2.5, 1), **BINARY),
    "compare a.json b.json": lambda _: tr.compare(A, B),
    "compare a.json b.json --test bayes --rope 0.05 --level 0.8": lambda _: tr.compare(
        A, B, test="bayes", rope=0.05, confidence_level=0.8
    ),
    "compare a.json b.json --test mcnemar": lambda _: tr.compare(A, B, test="mcnemar"),
    "study compare --store runs.db --of learner --method 2-fold": studied(
        "learner", method="2-fold"
    ),
    "study compare --store runs.db --of method --learner 5nn --by seconds --control 2-fold --rope"
    " .5 --missing last --pairwise ranks --confidence .9 --seed 3 --size 20": studied(
        "method", **OF_METHODS
    ),
    "permute pilot.csv --target y --model lda --permutations 19 --cv 3-fold --seed 3": lambda _: (
        permuted(X, Y, cv="3-fold", seed=3)
    ),
    "permute pilot.csv --target y --model lda --permutations 9 --cv 3-fold --scoring auc"
    " --jobs 2": lambda _: permuted(X, Y, n=9, cv="3-fold", scoring="auc"),
    "permute grouped.csv --target y --groups who --model lda --permutations 9 --cv 3-fold": grouped,
    "permute load.csv --target load --time when --model ridge --permutations 9": forecast,
}


@pytest.mark.parametrize("line", SAME, ids=range(len(SAME)))
def test_command_prints_what_python_gives(call, folder, monkeypatch, line):
    monkeypatch.chdir(folder)
    same = SAME[line](folder)
    said = call(*shlex.split(line))
    assert said.code == 0
    assert not said.sentences
    assert said.out.strip() == str(same).strip()
    content = call(*shlex.split(line), "--json").content
    assert timeless(content) == timeless(json.loads(same.to_json()))


def test_plan_of_a_table_draws_its_learning_curve(call, folder):
    """A search over the word's grid, tuned at every size; with --rows what to expect and share."""
    options = (folder / "pilot.csv", "--target", "y", "--model", "lda", "--seed", "2")
    content = call("plan", *options, "--rows", "150", "--json").content
    curve = tr.LearningCurve.from_dict(content["curve"])
    assert curve.sizes[-1] == 48
    assert content["expected"]["value"] == curve.at(150).value
    assert [split["n_tuning"] for split in content["splits"]][-1] == 149
    assert call("plan", *options).out.strip() == str(curve)


def test_study_compare_says_how_far_it_is(call, folder):
    """Draws of the Bayesian tests, then pairs: many methods take a while."""
    words = ("--store", folder / "runs.db", "--of", "learner", "--method", "2-fold")
    assert call("study", "compare", *words, quiet=0.0).sentences == [
        "Bayesian tests: 50000 of 50000 draws",
        "signed-rank tests: 1 of 1 pairs",
    ]


def test_posterior_prints_the_measures_of_wallman(call):
    said = call("posterior", "--errors", 6, "--rows", 60)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        "6 errors in 60 test rows, prior Beta(1, 1)",
        "mean                   0.1129",
        "95 % interval          [0.0474, 0.2019]",
        "95 % bound (ub)        0.1849",
        "P(error > ½) (50 %)    2.69e-11",
        "E[error²] (q2)         0.0143",
        "share of errors (err)  0.1000",
    ]
    options = ("--level", 0.9, "--prior", 0.5, 2, "--json")
    content = call("posterior", "--errors", 15, "--rows", 150, *options).content
    post = tr.ErrorPosterior(15, 150, (0.5, 2))
    assert content["schema"] == "truerisk.posterior/2"
    assert (content["errors"], content["n"], content["prior"]) == (15, 150, [0.5, 2])
    interval = post.interval(0.9)
    assert content["interval"] == {"low": interval.low, "high": interval.high}
    assert content["measures"] == post.measures(0.9)._asdict()
    assert (content["mean"], content["std"]) == (post.mean, post.std)


@pytest.fixture
def roc(call, folder):
    def called(*words, scores=("first",)):
        asked = [word for score in scores for word in ("--score", score)]
        return call("roc", folder / "scores.csv", "--target", "state", *asked, *words)

    return called


def test_roc_prints_the_curve_and_its_thresholds(roc):
    said = roc("--cost", 1, 5, "--specificity", 0.9, "--threshold", 0.5)
    points = ROC.at(0.5), ROC.at_cost(1, 5), ROC.at_rate(specificity=0.9)
    assert said.code == 0
    assert said.out.splitlines() == ["positive: sick", str(ROC), *map(str, points)]
    assert "imputed" not in said.err


def test_roc_compares_two_scores(roc):
    """The paired difference of their areas; each threshold says whose it is."""
    two = {"scores": ("first", "second")}
    difference = f"first − second: {ROC.minus(OTHER)}"
    assert roc(**two).out.splitlines() == ["positive: sick", str(ROC), str(OTHER), difference]
    at = ("--threshold", 0, "--threshold", 1)
    assert roc(*at, **two).out.splitlines()[3:7] == [
        f"first: {ROC.at(0)}", f"first: {ROC.at(1)}",
        f"second: {OTHER.at(0)}", f"second: {OTHER.at(1)}",
    ]  # fmt: skip
    content = roc(*at, "--json", **two).content
    assert (content["auc"], content["other"]["auc"]) == (ROC.auc, OTHER.auc)
    assert content["difference"]["p_value"] == pytest.approx(ROC.minus(OTHER).p_value)
    assert content["points"] == [ROC.at(t).to_dict() for t in (0, 1)]
    assert content["other"]["points"] == [OTHER.at(t).to_dict() for t in (0, 1)]


def test_roc_compares_any_number_of_scores_and_draws_them(roc, tmp_path):
    """Each pair of scores is compared; the figure has a line and an area for each score."""
    out = tmp_path / "figures"
    three = {"scores": ("first", "second", "age")}
    lines = roc("--figures", out, **three).out.splitlines()
    pairs = ["first − second", "first − age", "second − age"]
    assert [line.partition(":")[0] for line in lines[4:]] == pairs
    svg = (out / "01-roc.svg").read_text("utf-8")
    assert [f"{name}: AUC" in svg for name in three["scores"]] == [True] * 3
    assert svg.count('class="line s') == 3
    content = roc("--json", **three).content
    assert [one["method"] for one in content["others"]] == ["second", "age"]
    assert content["differences"][0] == content["difference"]
    assert len(content["differences"]) == 3


def test_roc_takes_the_other_class_groups_level_and_prevalence(roc):
    words = ("--positive", "healthy", "--groups", "ward", "--level", 0.8)
    content = roc(*words, "--cost", 2, 1, "--prevalence", 0.1, "--json").content
    options = {"groups": WARD, "confidence_level": 0.8, "method": "first"}
    same = tr.RocCurve.from_scores(STATE, FIRST, positive="healthy", **options)
    points = content.pop("points")
    assert content == same.to_dict()
    assert points == [same.at_cost(2, 1, prevalence=0.1).to_dict()]


FIGURE = ("reproduce", "kearns-figure-2")


def test_reproduce_without_a_name_lists_them(call):
    said = call("reproduce")
    assert said.code == 0
    assert said.out == f"{experiments.registry}\n" == call("reproduce", "--list").out
    assert list(call("reproduce", "--json").content) == experiments.names()


def test_reproduce_prints_tables_of_the_seed(call):
    said = call(*FIGURE, "--replicates", 3)
    assert said.code == 0
    assert said.out.startswith("Daudin and Mary-Huard, Figure 2")
    assert "3 trials, seed 0" in said.out
    assert said.err == "note: the figure is drawn where a folder is named with --out\n"
    words = (*FIGURE, "--replicates", 3, "--json")
    first, again, other = call(*words), call(*words), call(*words, "--seed", 1)
    assert first.content["schema"] == "truerisk.reproduction/2"
    assert first.content["tables"] == again.content["tables"] != other.content["tables"]
    assert other.content["seed"] == 1


def test_reproduce_writes_the_report_and_the_figures(call, tmp_path):
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    place = tmp_path / "new"
    said = call(*FIGURE, "--replicates", 3, "--out", place)
    names = sorted(path.name for path in place.iterdir())
    panels = [f"{i:02}-kearns-figure-2-{i}.{kind}" for i in (1, 2) for kind in ("png", "svg")]
    assert names == panels + [f"kearns-figure-2.{kind}" for kind in ("html", "json", "txt")]
    assert (place / "kearns-figure-2.txt").read_text("utf-8") == said.out
    assert json.loads((place / "kearns-figure-2.json").read_text("utf-8"))["replicates"] == 3
    assert said.err.count("wrote ") == 7


def test_reproduce_says_that_an_experiment_has_no_figure(call, tmp_path):
    said = call("reproduce", "aicc-simulation", "--replicates", 2, "--out", tmp_path)
    assert said.code == 0
    assert said.err.splitlines()[-1] == "note: aicc-simulation has tables, and no figure"
    names = [f"aicc-simulation.{kind}" for kind in ("html", "json", "txt")]
    assert sorted(path.name for path in tmp_path.iterdir()) == names

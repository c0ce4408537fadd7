"""Names become the words of a clinical journal; what has no entry stays as it is."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import all_estimators

import truerisk as tr
from truerisk.intervals import as_form
from truerisk.models.stated.model_parts import describe_penalty
from truerisk.validation.checklists import paper_words
from truerisk.validation.checklists.paper_words import (
    cited_references,
    interval_words,
    model_words,
    read_toml,
    score_words,
    split_words,
)
from truerisk.validation.measures import SANDWICH, SANDWICH_PAIRS, SANDWICH_SETTING


@pytest.mark.parametrize(
    "interval", [*tr.intervals.registry, SANDWICH, SANDWICH_PAIRS, SANDWICH_SETTING, "pointwise"]
)
def test_interval_words_name_a_publication_and_no_internal_word(interval):
    """A reader of the paper finds the method by author and year, or by its reference."""
    said = interval_words({interval: ["AUC", "Brier score"]})
    publication = r"\([A-Z]\S+( and \S+| et al\.)?, .*\d{4}\).*"
    if interval not in read_toml("paper_words")["intervals"]:
        publication = re.escape(f"({as_form(interval).reference})")
    assert re.search(f"{publication} for AUC and Brier score$", said)
    assert not re.search(r"-cv|ncv|hac\b|bbc|sandwich-", said)
    assert "cluster" in interval_words({f"{interval}-grouped": ["AUC"]})
    assert cited_references(said)


@pytest.mark.parametrize("file", ["study_words", "paper_words"])
def test_cited_references_know_every_citation_of_the_sentences(file):
    """A citation without a reference would be missing below the paragraph that cites it."""
    text = (Path(paper_words.__file__).parent / f"{file}.toml").read_text("utf-8")
    cited = re.findall(r"\(([^\W\d][^()]*, \d{4})\)", text)
    of_forms = "".join(
        read_toml("paper_words")["intervals"][name] for name in tr.intervals.registry
    )
    assert len(cited) > 6
    for citation in cited:
        if citation not in of_forms:
            (reference,) = cited_references(f"As said ({citation}).")
            assert reference.split()[0] == re.split("[ ,]", citation)[0]
            assert f"({citation[-4:]}). " in reference


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (score_words("neg_brier_score"), "Brier score"),
        (score_words("f1 of ill"), "F1 score of ill"),
        (score_words("uno-5"), "Uno's C up to 5"),
        (score_words("net-gain"), "net-gain"),
        (split_words("blocks-4"), "cross-validation over 4 parts of space"),
        (split_words("5 unshuffled folds"), "cross-validation with 5 unshuffled folds"),
        (split_words("my-splits"), "my-splits"),
        (model_words(["PCA", "Own"], ""), "Own after principal components"),
        (interval_words({"own": ["AUC"]}), "by the formula own for AUC"),
    ],
)
def test_words_of_a_name(said, words):
    assert said == words


@pytest.mark.parametrize(
    ("options", "penalty"),
    [
        ({}, "ridge"),
        ({"C": np.inf}, "unpenalised"),
        ({"l1_ratio": 1.0, "solver": "saga"}, "lasso"),
        ({"penalty": "l1", "solver": "saga"}, "lasso"),
        ({"penalty": None}, "unpenalised"),
        ({"penalty": "elasticnet", "l1_ratio": 0.5, "solver": "saga"}, "elastic-net"),
    ],
)
def test_describe_penalty_of_a_logistic_regression(options, penalty):
    model = LogisticRegression(**options)
    assert describe_penalty(model) == describe_penalty(make_pipeline(StandardScaler(), model))
    assert describe_penalty(model) == penalty
    assert describe_penalty(StandardScaler()) == ""


def test_methods_text_has_every_requested_score_in_words():
    """Scores, model, grid and intervals; the negative log loss becomes the log loss."""
    X, y = tr.datasets.make_difficult(120, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    scoring = ["neg_log_loss", "roc_auc", "f1"]
    search = tr.HonestSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, scoring=scoring)
    found = tr.validate(search.fit(X, y), X, y, replicates=0)
    text = found.checklist.methods_text
    loss = -found.risk.value
    assert f"log loss {loss:.3f} ({-found.risk.interval.high:.3f} to " in text
    assert f"F1 score {found.risk.scores['f1'].value:.3f} (" in text
    assert text.count("AUC 0.") == text.count("average precision 0.") == 1
    assert "ridge logistic regression on standardised predictors (StandardScaler → " in text
    assert "values of C of 0.1 and 1 were compared by 5-fold cross-validation (log loss)" in text
    for word in ("rows", "beta-cv", "logit-cv", "log-cv", "neg_log", "roc_auc", "sandwich-"):
        assert word not in text


def test_methods_text_looks_into_the_preparation_of_columns():
    coded = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), [0]), (OneHotEncoder(), [1])
    )
    X, y = np.stack([np.arange(60), np.arange(60) % 3], axis=1), np.arange(60) % 2
    found = tr.validate(make_pipeline(coded, LogisticRegression()), X, y, replicates=0)
    said = "after imputation of missing values, standardisation of predictors and dummy coding of"
    assert said in found.checklist.methods_text


def test_words_of_models_are_classes_that_exist():
    known = {name for name, _ in all_estimators()}
    words = read_toml("paper_words")
    survival = {"CoxPHSurvivalAnalysis", "CoxnetSurvivalAnalysis", "RandomSurvivalForest"}
    assert {*words["learners"], *words["steps"]} - known - survival <= {"IterativeImputer"}

"""`--cv`, `--scoring` and `--confidence` say in every command what the words of Python say."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

WORDS = ("--dataset", "breast-cancer", "--cv", 4, "--scoring", "roc_auc", "--confidence", 0.8)


def test_estimate_says_the_score_of_scikit_learn(call):
    """Of the folds that it makes, at the level that was asked for."""
    told = call("estimate", *WORDS, "--model", "tree", "--set", "max_depth=2", "--json").content
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2, random_state=0))
    theirs = cross_val_score(model, *load_breast_cancer(return_X_y=True), cv=4, scoring="roc_auc")
    assert told["value"] == pytest.approx(theirs.mean())
    assert told["interval"]["confidence_level"] == 0.8


def test_assess_tunes_by_them(call):
    """The method, the loss and the level of the assessment."""
    told = call("assess", *WORDS, "--models", "tree", "--json").content
    assert (told["tuned_by"], told["scoring"]) == ("4 unshuffled folds", "roc_auc")
    assert told["confidence_level"] == 0.8


def test_permute_and_validate_hear_them(call):
    """Folds and score of the permuted search; the level of the validation."""
    few = ("--model", "tree", "--permutations", 1, "--json")
    told = call("permute", "--dataset", "wine", "--cv", 3, "--scoring", "f1_macro", *few).content
    assert (told["scoring"], told["method"]) == ("f1_macro", "pairs (3 unshuffled folds)")
    level = ("--model", "logistic", "--replicates", 0, "--confidence", 0.8, "--json")
    told = call("validate", "--dataset", "breast-cancer", *level).content
    assert told["risk"]["interval"]["confidence_level"] == 0.8

"""What people type into the search, and the page that answers: entries of the index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docutils import nodes
from sphinx import addnodes

# Entries of the index come before all else that the search finds.
WORDS: Mapping[str, tuple[str, ...]] = {
    "which-call": ("which method", "which call", "compare two models", "how many rows"),
    "coming-from": (
        "cross_val_score",
        "cross_validate",
        "caret",
        "tidymodels",
        "mlr3",
        "glmnet",
        "GridSearchCV",
        "scoring",
        "error_score",
        "n_jobs",
    ),
    "honest-search": (
        "nested cv",
        "nested cross-validation",
        "best_score_",
        "progress bar",
        "ProgressBar",
        "callbacks",
        "hyperparameter",
        "hyperparameter tuning",
        "skops",
        "save a model",
    ),
    "engines": ("parallel_config", "joblib", "n_jobs=-1"),
    "adaptive-searches": ("RandomizedSearchCV", "HalvingGridSearchCV", "random search", "optuna"),
    "what-to-report": ("report accuracy", "standard deviation over folds", "publish", "reviewer"),
    "intervals": ("confidence interval", "confidence interval accuracy", "standard error"),
    "scores": ("AUC confidence interval", "AUC", "F1", "multiple metrics"),
    "losses": (
        "positive class",
        "class imbalance",
        "imbalanced classes",
        "balanced accuracy",
        "cost-sensitive",
    ),
    "methods-bootstrap": ("bootstrap", ".632+"),
    "methods-splits": ("leave-one-out", "LOOCV"),
    "time": ("time series", "TimeSeriesSplit", "walk-forward", "embargo"),
    "forecast": ("forecast", "forecasting"),
    "space": ("spatial cross-validation", "block cross-validation", "coordinates"),
    "validation": ("calibration slope", "calibration curve", "net benefit", "decision curve"),
    "subgroups": ("subgroup", "fairness", "performance by group"),
    "stability": ("feature selection stability", "instability"),
    "checklists": ("TRIPOD", "PROBAST"),
    "compare": ("compare models", "compare classifiers", "paired t-test", "McNemar"),
    "compare-many": ("critical difference", "Friedman test", "Nemenyi"),
    "best-set": ("best model", "which model is best"),
    "permutation-test": ("permutation_test_score", "permutation test", "p-value"),
    "learning-curves": ("learning curve", "learning_curve"),
    "plan": ("sample size", "power analysis", "pmsampsize", "events per variable"),
    "gate": ("github actions", "ci gate", "gate", "fail-above", "require", "merge"),
    "audit": ("data leakage", "leak", "overfitting", "selection bias", "too good to be true"),
    "any-search": ("AutoML", "LLM evaluation", "prompts", "data snooping", "TPE"),
    "tables-of-searches": ("autogluon", "FLAML", "collect_predictions"),
    "ladder": ("holdout", "leaderboard", "Kaggle"),
    "roc": ("ROC curve", "threshold", "precision recall"),
    "pipelines": ("pipeline", "ColumnTransformer"),
    "survival": ("survival", "censored", "Cox", "time to event"),
    "missing-values": ("missing values", "NaN", "imputation"),
    "skrub": ("skrub", "DataOps", "TableVectorizer", "StringEncoder", "ParamSearch"),
    "conformal": ("conformal prediction", "MAPIE", "prediction set"),
    "learners": ("early stopping",),
    "other-estimators": ("xgboost", "lightgbm", "imbalanced-learn", "SMOTE"),
    "questions": ("LOO variance", "which model after nested cv", "p-hacking", "cherry-picking"),
    "studies": ("simulation study",),
    "clusters": ("cluster", "SLURM", "Dask"),
    "hours": ("interrupted", "resume", "time limit", "timeout"),
    "cost": ("slow", "n_jobs slow", "runtime", "number of fits"),
    "troubleshooting": ("error message", "ValueError", "has only one class"),
    "getting-started": ("install", "pip install", "quickstart"),
    "data": ("csv", "pandas", "groups", "GroupKFold"),
    "report": ("html report", "print", "pdf"),
    "command-line": ("cli", "command line"),
}


GLOSSARY = "glossary"


def add(app: Any, doctree: nodes.document) -> None:
    """Give the page its entries in the index, as main places; the glossary steps back."""
    words = WORDS.get(app.env.docname, ())
    if app.env.docname == GLOSSARY:
        for term in doctree.findall(addnodes.index):
            term["entries"] = [(*entry[:3], "", entry[4]) for entry in term["entries"]]
    if words:
        entries = [("single", word, "", "main", None) for word in words]
        doctree.insert(0, addnodes.index(entries=entries))


def setup(app: Any) -> dict[str, Any]:
    """Register it for every page that is read."""
    app.connect("doctree-read", add)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

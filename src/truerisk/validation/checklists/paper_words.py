"""Translate names of scores, models, splits and intervals into the words of a clinical journal.

The words are in paper_words.toml. A name without an entry stays as it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from truerisk.core.formats import join_words
from truerisk.intervals import as_form, names


@cache
def read_toml(name: str) -> dict[str, Any]:
    """Read a TOML file of this folder, given by its name without the extension."""
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text("utf-8"))


def _words(kind: str) -> Mapping[str, str]:
    words: Mapping[str, str] = read_toml("paper_words")[kind]
    return words


def _look_up(kind: str, name: str) -> str | None:
    """Return the words of a name, or of its beginning up to a hyphen, filled in with the rest."""
    words = _words(kind)
    if name in words:
        return words[name]
    beginning, hyphen, rest = name.rpartition("-")
    pattern = words.get(f"{beginning}{hyphen}") if hyphen else None
    return None if pattern is None else pattern.format(rest)


def score_words(name: str) -> str:
    """Return the words for a score or loss, such as "AUC" for "roc_auc".

    A negative score of scikit-learn has the words of its loss.

    >>> score_words("neg_log_loss"), score_words("brier-at-730"), score_words("balanced_accuracy")
    ('log loss', 'Brier score at 730', 'balanced accuracy')
    """
    plain_name, space, ending = name.removeprefix("neg_").partition(" ")
    words = _look_up("scores", plain_name)
    return (plain_name.replace("_", " ") if words is None else words) + space + ending


def split_words(name: str) -> str:
    """Return the words for a method that splits rows, such as "forward-5"."""
    if name.endswith("-fold"):
        return f"{name} cross-validation"
    words = f"cross-validation with {name}" if name.endswith(" folds") else name
    return _look_up("splits", name) or words


def model_words(steps: Sequence[str], penalty: str) -> str:
    """Return the words for a model with these classes as steps, the learner last.

    >>> model_words(["StandardScaler", "LogisticRegression"], "ridge")
    'ridge logistic regression on standardised predictors'
    """
    *earlier_steps, learner = steps
    words = _words("learners").get(learner, learner)
    text = words.format(penalty=f"{penalty} " if penalty else "")
    if earlier_steps == ["StandardScaler"]:
        return f"{text} on standardised predictors"
    step_words = [_words("steps").get(step, step) for step in earlier_steps]
    return f"{text} after {join_words(step_words)}" if step_words else text


def interval_words(measures_by_interval: Mapping[str, Sequence[str]]) -> str:
    """Say how the intervals of measures were computed, with publications.

    `measures_by_interval` maps the name of an interval's formula to the measures that have it.

    >>> interval_words({"sandwich": ["calibration slope"]})
    'by the sandwich estimator (White, Econometrica 50:1, 1982) for calibration slope'
    """
    return "; ".join(
        f"{_method_words(name)} for {join_words(measures)}"
        for name, measures in measures_by_interval.items()
    )


def _method_words(interval: str) -> str:
    name = interval.removesuffix("-grouped")
    grouping = ", with each cluster as one unit" if name != interval else ""
    known_words = _words("intervals").get(name)
    if known_words is not None:
        return f"{known_words}{grouping}"
    reference = as_form(name).reference if name in names() else ""
    return f"by the formula {name}{f' ({reference})' if reference else ''}{grouping}"

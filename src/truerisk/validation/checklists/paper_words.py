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


def _words_of_kind(kind: str) -> Mapping[str, str]:
    words: Mapping[str, str] = read_toml("paper_words")[kind]
    return words


def _look_up(kind: str, name: str) -> str | None:
    """Return the words for a name, or None; "uno-5" has the words for "uno-", filled in with 5."""
    words = _words_of_kind(kind)
    if name in words:
        return words[name]
    beginning, hyphen, rest = name.rpartition("-")
    pattern = words.get(f"{beginning}{hyphen}") if hyphen else None
    return None if pattern is None else pattern.format(rest)


def score_words(name: str) -> str:
    """Return the words for a score or loss, such as "AUC" for "roc_auc".

    A score of scikit-learn that starts with "neg_" has the words for its loss.

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
    """Return the words for a model whose steps have these class names, the learner last.

    >>> model_words(["StandardScaler", "LogisticRegression"], "ridge")
    'ridge logistic regression on standardised predictors'
    """
    *earlier_steps, learner = steps
    words = _words_of_kind("learners").get(learner, learner)
    text = words.format(penalty=f"{penalty} " if penalty else "")
    if earlier_steps == ["StandardScaler"]:
        return f"{text} on standardised predictors"
    step_words = [_words_of_kind("steps").get(step, step) for step in earlier_steps]
    return f"{text} after {join_words(step_words)}" if step_words else text


def interval_words(measures_by_interval: Mapping[str, Sequence[str]]) -> str:
    """Describe how the intervals of measures were computed, with publications.

    `measures_by_interval` maps the name of an interval's formula to the measures that have it.

    >>> interval_words({"sandwich": ["calibration slope"]})
    'by the sandwich estimator (White, Econometrica 50:1, 1982) for calibration slope'
    """
    return "; ".join(
        f"{_describe_interval_method(name)} for {join_words(measures)}"
        for name, measures in measures_by_interval.items()
    )


def cited_references(text: str) -> list[str]:
    """Return the references of the publications that a paragraph cites, in the order of citation.

    >>> cited_references("Weights (Graf et al., Stat Med 18:2529, 1999).")[0][:40]
    'Graf E, Schmoor C, Sauerbrei W, Schumach'
    """
    references = dict(_words_of_kind("publications"))
    for name in names():
        words = _words_of_kind("intervals").get(name, f"{UNKNOWN_INTERVAL_WORDS}{name} ")
        if words in text:  # The class of an interval that is not used is not imported.
            references[words] = as_form(name).reference
    cited = sorted((words for words in references if words in text), key=text.find)
    return list(dict.fromkeys(references[words] for words in cited if references[words]))


UNKNOWN_INTERVAL_WORDS = "by the formula "


def _describe_interval_method(interval: str) -> str:
    name = interval.removesuffix("-grouped")
    grouping = ", with each cluster as one unit" if name != interval else ""
    known_words = _words_of_kind("intervals").get(name)
    if known_words is not None:
        return f"{known_words}{grouping}"
    reference = as_form(name).reference if name in names() else ""
    return f"{UNKNOWN_INTERVAL_WORDS}{name}{f' ({reference})' if reference else ''}{grouping}"

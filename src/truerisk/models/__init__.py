"""Learners by word, and learners that scikit-learn lacks.

learners.py      the words of `--models`; `learner` gives a pipeline and a grid
builders.py      what each word builds
preparation.py   what happens to columns before a learner sees them, inside the folds

To add a word: one `Learner` and one line in `registry`.
"""

from __future__ import annotations

from truerisk.models.builders import Learner
from truerisk.models.learners import default_words, learner, names, registry
from truerisk.models.preparation import prepare

__all__ = ["Learner", "default_words", "learner", "names", "prepare", "registry"]

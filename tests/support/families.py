"""Families of learners on rows, as an assessment reads them."""

from truerisk.assessment.families import build_families, learner_task, read_learners
from truerisk.extend import Data

__all__ = ["families_on"]


def families_on(learners, X, y):
    """By name, from whatever `assess` takes."""
    named = read_learners(learners)
    return build_families(named, Data.check(X, y, task=learner_task(named, y)))

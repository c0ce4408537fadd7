"""Families of learners on rows, as an assessment reads them."""

from truerisk.assessment.families import families_of, read_learners, task_of
from truerisk.extend import Data

__all__ = ["families_on"]


def families_on(learners, X, y):
    """By name, from whatever `assess` takes."""
    named = read_learners(learners)
    return families_of(named, Data.check(X, y, task=task_of(named, y)))

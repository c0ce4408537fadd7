"""Plans read as plain sets of rows."""

import numpy as np

from truerisk.extend import Streams

__all__ = ["drawn", "drawn_with_copies", "sets_of", "splits_of"]


def drawn(method, data, seed=0):
    """Draw a plan of the method."""
    return method.plan(data, Streams(seed))


def splits_of(plan, part=None):
    """List the training rows and the tested rows of every question, or of those of one part."""
    questions = range(plan.n_questions) if part is None else plan.questions(part)
    return [(plan.train_rows(int(plan.fit[q]))[0], plan.test_rows(int(q))[0]) for q in questions]


def sets_of(plan, part=None):
    """List the same as plain lists."""
    return [(train.tolist(), test.tolist()) for train, test in splits_of(plan, part)]


def drawn_with_copies(plan, fit):
    """Return the training rows of a fit, each as often as it was drawn."""
    rows, times = plan.train_rows(int(fit))
    return rows if times is None else np.repeat(rows, times)

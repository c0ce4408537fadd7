"""`verbose`: what a search fitted, printed as GridSearchCV prints it."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from truerisk.api.road.compute import Computed
from truerisk.core.arguments import shown
from truerisk.core.errors import BadArgument
from truerisk.core.present import params_text

__all__ = ["check_verbose", "say_fits"]


def check_verbose(verbose: Any) -> None:
    """Refuse what is no number of lines, before fits that may take long."""
    if not isinstance(verbose, Integral) or verbose < 0:
        raise BadArgument(
            f"verbose={shown(verbose)}: use 0, or 1 for the number of fits, 2 for a line for each, "
            "3 for its score as well."
        )


def say_fits(computed: Computed, results: Mapping[str, Any], verbose: int) -> None:
    """How many fits; from 2 on a line for each with its time, from 3 on with its score.

    Settings that share a fit have no moment of their own, so all is printed when they are tuned.
    """
    plan, answers = computed.answers.plan, computed.answers
    n_splits, settings = plan.n_questions, results["params"]
    made = answers.made[:, plan.fit]
    if verbose > 0:
        raced = "" if made.all() else "up to "
        print(  # noqa: T201  what verbose asks for
            f"Fitting {raced}{n_splits} folds for each of {len(settings)} candidates, "
            f"totalling {made.sum()} fits"
        )
    if verbose < 2:
        return
    seconds = answers.fit_seconds + answers.answer_seconds
    for number, params in enumerate(settings):
        for split in np.flatnonzero(made[number]).tolist():
            score = f" {_score(results, split, number)}" if verbose > 2 else ""
            spent = seconds[number, plan.fit[split]]
            print(  # noqa: T201
                f"[CV {split + 1}/{n_splits}] END {params_text(params)};{score} "
                f"total time={spent:6.1f}s"
            )


def _score(results: Mapping[str, Any], split: int, number: int) -> str:
    test = results[f"split{split}_test_score"][number]
    trained = results.get(f"split{split}_train_score", np.empty(0))
    if not len(trained):
        return f"score={test:.3f}"
    return f"score=(train={trained[number]:.3f}, test={test:.3f})"

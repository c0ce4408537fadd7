"""Whether the steps of a pipeline may be fitted apart from its learner: nothing could tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truerisk.core.family import Family

__all__ = ["why_not_apart"]

OWN = {"memory", "verbose", "transform_input"}  # parameters of the pipeline itself


def why_not_apart(family: Family) -> str | None:
    """Why a pipeline has to fit its steps itself, or None; of other estimators as well."""
    if not family.is_piped:
        return None
    from sklearn import get_config

    pipe = family.estimator
    if pipe.memory is not None:
        return "the pipeline caches its steps (memory=), which may hold anything."
    if pipe.verbose:
        return "the pipeline says how long its steps take (verbose=True)."
    if getattr(pipe, "transform_input", None) is not None:
        return "the pipeline hands fit parameters through its steps (transform_input=)."
    if set_ := sorted(OWN.intersection(family.named)):
        return f"the grid sets {', '.join(set_)} of the pipeline."
    if any(getattr(one, "_skl_callbacks", None) for one in _objects(family)):
        return "callbacks follow the fits of the pipeline or of its steps."
    if get_config().get("enable_metadata_routing", False):
        return "metadata are routed to the steps."
    return None


def _objects(family: Family) -> Iterator[Any]:
    """The pipeline, its steps, and whatever the grid puts in their place."""
    yield family.estimator
    yield from (step for _, step in family.estimator.steps)
    for given in family.candidates:
        yield from given.values()

"""What the last step of a family is set to, and which candidates one pass can answer together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.core.contracts import Request
from truerisk.core.family import Family
from truerisk.core.identity import PIPELINE, is_exactly, is_from, is_plain
from truerisk.core.table.data import Data
from truerisk.engines.preparation.apart import why_not_apart
from truerisk.engines.preparation.by_rows import may_not_draw

__all__ = [
    "Group",
    "family_refusal",
    "groups_along",
    "key_of",
    "last_step",
    "learner_refusal",
    "prefix_of",
    "response_refusal",
    "settings_of",
    "steps_key",
]

# what they make of a row is the same whichever other rows they were fitted on
STATELESS = tuple(
    f"sklearn.preprocessing:{name}" for name in ("Normalizer", "Binarizer", "PolynomialFeatures")
)
FEW = 3  # classes that a refusal names
NEEDS = {  # of a response: methods of which the model has one, and what it lacks without
    "probability": (("predict_proba",), "no probabilities"),
    "score": (("decision_function", "predict_proba"), "neither decision values nor probabilities"),
}


@dataclass(frozen=True, eq=False)
class Group:
    """Candidates whose settings differ along one pass only (the penalties of one decomposition).

    `settings[i]` are all parameters of the last step of candidate `candidates[i]`. `preparation`
    are the unfitted steps before it that learn from the rows, `rowwise` those that treat each row
    by itself (None: none; where one step learns, all are in `preparation`).
    """

    candidates: np.ndarray
    settings: tuple[Mapping[str, Any], ...]
    preparation: Any = None
    rowwise: Any = None

    @property
    def steps(self) -> Any:
        """All unfitted steps before the learner, None where there is none."""
        return self.rowwise if self.preparation is None else self.preparation

    def values(self, name: str) -> np.ndarray:
        """One parameter of every candidate."""
        return np.array([setting[name] for setting in self.settings])

    def only(self, place: int) -> Group:
        """One of its candidates alone."""
        return self.part(np.array([place]))

    def part(self, places: np.ndarray) -> Group:
        """Some of its candidates."""
        settings = tuple(self.settings[int(place)] for place in places)
        return Group(self.candidates[places], settings, self.preparation, self.rowwise)


def last_step(family: Family) -> Any:
    """The learner itself: the last step of a pipeline, else the estimator."""
    return family.last


def family_refusal(family: Family, served: Sequence[type]) -> str | None:
    """Why the family is not one of these learners, alone or last in a plain pipeline, or None."""
    reason = why_not_apart(family) or learner_refusal(family, served)
    if reason is None and family.is_piped and _prepares_at_random(family):
        return "a step before the learner is random and has no seed of its own."
    return reason


def learner_refusal(family: Family, served: Sequence[type]) -> str | None:
    """Why the learner is not, or not in all candidates, an object of one of these very classes."""
    if family.is_piped and not is_exactly(family.estimator, PIPELINE):
        return f"{_called(family.estimator)} is a pipeline of its own, which may do otherwise."
    last = last_step(family)
    if not is_plain(last, *served):
        ours = is_from(last, "sklearn") or is_from(last, "truerisk")
        few = len(served) <= FEW
        names = " or ".join(kind.__name__ for kind in served) if few else "one that it reads"
        return f"the learner is {type(last).__name__ if ours else _called(last)}, not {names}."
    if any(name == "steps" or f"{name}__" == prefix_of(family) for name in family.named):
        return "the grid replaces the learner itself."
    return None


def response_refusal(family: Family, data: Data, request: Request) -> str | None:
    """Why the learner gives no such answers, or only its fitted model does; None where it does."""
    if request.response == "scored":
        return "a scikit-learn scorer needs the fitted model itself."
    if request.response == "score" and data.n_classes != 2:
        return "a score is asked for, and there are more classes than two."
    methods, lacking = NEEDS.get(request.response, ((), ""))
    if methods and not any(hasattr(family.make(0), name) for name in methods):
        return f"{family.name} gives {lacking}."
    return None


def _called(value: Any) -> str:
    """A class of the user's by its whole name, which tells it from a namesake."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _prepares_at_random(family: Family) -> bool:
    prefix = prefix_of(family)
    return any(
        not name.startswith(prefix) and not _may_not_draw(model, name)
        for model in map(family.make, range(len(family)))
        for name in family.random_parameters(model)
    )


def _may_not_draw(model: Any, name: str) -> bool:
    """Whether a step that has no seed may draw nothing: it says so once it is fitted."""
    step, _, parameter = name.partition("__")
    return parameter == "random_state" and may_not_draw(model.named_steps[step])


def prefix_of(family: Family) -> str:
    """What stands before the names of the learner's parameters in a pipeline: "ridge__"."""
    return family.prefix


def settings_of(family: Family) -> tuple[dict[str, Any], ...]:
    """The parameters of every candidate's last step, without making the models."""
    return family.settings


def groups_along(family: Family, names: Sequence[str]) -> list[Group]:
    """The candidates by everything but these parameters of the last step."""
    prefix = prefix_of(family)
    free = {prefix + name for name in names}
    if free.issuperset(family.named):  # as in most grids
        return [_group(family, range(len(family)), family.settings)]
    members: dict[str, list[int]] = {}
    for number, params in enumerate(family.candidates):
        key = key_of({name: params[name] for name in params.keys() - free})
        members.setdefault(key, []).append(number)
    return [_group(family, numbers, family.settings) for numbers in members.values()]


def steps_key(family: Family, candidate: int) -> str:
    """Equal for candidates of a family whose steps before the learner are set alike."""
    given = family.candidates[candidate]
    own = {"steps", family.prefix.removesuffix("__")}  # the learner itself
    before = {n: v for n, v in given.items() if not n.startswith(family.prefix) and n not in own}
    return key_of(before)


def key_of(params: Mapping[str, Any]) -> str:
    """Equal for equal settings; objects in a grid are told apart by identity."""
    plain = (str, int, float, bool, type(None))
    return repr(sorted((n, v if isinstance(v, plain) else id(v)) for n, v in params.items()))


def _group(family: Family, numbers: Sequence[int], settings: Sequence[Mapping[str, Any]]) -> Group:
    steps = family.make(numbers[0]).steps[:-1] if family.is_piped else []  # making takes time
    steps = [(name, step) for name, step in steps if step is not None and step != "passthrough"]
    before = _pipeline(steps)
    alone = all(is_exactly(step, *STATELESS) for _, step in steps)
    return Group(
        candidates=np.array(numbers),
        settings=tuple(settings[number] for number in numbers),
        preparation=None if alone else before,
        rowwise=before if alone else None,
    )


def _pipeline(steps: list[Any]) -> Any:
    from sklearn.pipeline import Pipeline

    return Pipeline(steps) if steps else None

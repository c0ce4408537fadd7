"""Group the candidates whose last step one pass can answer together, and check their settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import CURVES, Family
from truerisk.core.frozen import frozen
from truerisk.core.identity import PIPELINE, is_exactly, is_from, is_plain
from truerisk.core.registry import check_present, is_present
from truerisk.data.data import Data
from truerisk.engines.prepared import may_not_draw

PREPARATION = "truerisk.engines.preparation.fitted"
# These transformers treat a row alike, whichever other rows they were fitted on.
STATELESS = tuple(
    f"sklearn.preprocessing:{name}" for name in ("Normalizer", "Binarizer", "PolynomialFeatures")
)
ELSEWHERE = -1
OWN = {"memory", "verbose", "transform_input"}  # parameters of the pipeline itself
FEW = 3  # the number of classes that a refusal lists
NEEDS = {  # for each response: methods of which the model needs one, and what it lacks without them
    "probability": (("predict_proba",), "no probabilities"),
    "score": (("decision_function", "predict_proba"), "neither decision values nor probabilities"),
}


@frozen(eq=False)
class Group:
    """Candidates that one pass answers together, because they differ in the pass parameters only.

    An example are the penalties of one decomposition. If any step learns from the rows, all steps
    are in `preparation`.

    Parameters
    ----------
    candidates : array of int
        Numbers of the candidates.
    settings : tuple of mappings
        All parameters of the last step of each candidate.
    preparation : object, optional
        The unfitted steps before the learner that learn from the rows; None if there are none.
    rowwise : object, optional
        The steps that treat each row by itself; None if there are none.

    See Also
    --------
    truerisk.extend.OnePass : Engine that answers groups.

    Examples
    --------
    >>> import numpy as np
    >>> from truerisk.extend import Group
    >>> Group(np.array([0, 1]), ({"alpha": 0.1}, {"alpha": 1.0})).values("alpha").tolist()
    [0.1, 1.0]
    """

    candidates: np.ndarray
    settings: tuple[Mapping[str, Any], ...]
    preparation: Any = None
    rowwise: Any = None

    @property
    def steps(self) -> Any:
        """All unfitted steps before the learner, or None if there are none."""
        return self.rowwise if self.preparation is None else self.preparation

    def values(self, name: str) -> np.ndarray:
        """Return the value of one parameter for every candidate.

        Parameters
        ----------
        name : str
            Name of the parameter.

        Returns
        -------
        array
            The values.
        """
        return np.array([setting[name] for setting in self.settings])

    def places_of(self, only: np.ndarray) -> np.ndarray:
        """Return the position in the group of each candidate of `only`, or ELSEWHERE.

        Parameters
        ----------
        only : array of int
            Numbers of candidates.

        Returns
        -------
        array of int
            The positions.
        """
        match = only == self.candidates[:, None]
        return np.where(match.any(axis=0), match.argmax(axis=0), ELSEWHERE)

    def part(self, places: np.ndarray) -> Group:
        """Return the group that consists of the candidates at these positions.

        Parameters
        ----------
        places : array of int
            Positions in the group.

        Returns
        -------
        Group
            The smaller group.
        """
        settings = tuple(self.settings[place] for place in places)
        return Group(self.candidates[places], settings, self.preparation, self.rowwise)


def family_refusal(family: Family, served: Sequence[type], *, apart: bool = True) -> str | None:
    """Return why a candidate's learner is not exactly of one of the classes `served`, or None.

    The learner may be the last step of a pipeline. With `apart`, it must be a plain pipeline, whose
    steps can be fitted separately from the learner.
    """
    piped, last = family.is_piped, family.last
    if piped and apart and (reason := why_not_apart(family)) is not None:
        return reason
    if piped and not is_exactly(family.estimator, PIPELINE):
        return f"{_called(family.estimator)} is a pipeline of its own, which may do otherwise."
    if not is_plain(last, *served):
        ours = is_from(last, "sklearn", "truerisk")
        few = len(served) <= FEW
        names = " or ".join(kind.__name__ for kind in served) if few else "one that it reads"
        return f"the learner is {type(last).__name__ if ours else _called(last)}, not {names}."
    if not piped:
        return None
    if any(name == "steps" or f"{name}__" == family.prefix for name in family.named):
        return "the grid replaces the learner itself."
    if apart and _prepares_at_random(family):
        return "a step before the learner is random and has no seed of its own."
    if apart and not is_present(PREPARATION):
        return f"{PREPARATION} is missing from this installation."
    return None


def fit_steps(*given: Any) -> tuple[Any, list[Any]]:
    """Fit the steps before a learner on a training set; see `preparation.fitted.fitted_steps`."""
    check_present(PREPARATION)
    from truerisk.engines.preparation.fitted import fitted_steps

    return fitted_steps(*given)


def why_not_apart(family: Family) -> str | None:
    """Return why a pipeline must fit its own steps, or None; None for other estimators."""
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
    steps = [pipe, *(step for _, step in pipe.steps)]
    steps += [value for given in family.candidates for value in given.values()]
    if any(getattr(step, "_skl_callbacks", None) for step in steps):
        return "callbacks follow the fits of the pipeline or of its steps."
    if get_config().get("enable_metadata_routing", False):
        return "metadata are routed to the steps."
    return None


def response_refusal(family: Family, data: Data, request: Request) -> str | None:
    """Return why the learner cannot give this response, or only its fitted model can, or None."""
    if request.response == "scored":
        return "a scikit-learn scorer needs the fitted model itself."
    if request.response == "score" and data.n_classes != 2:
        return "a score is asked for, and there are more classes than two."
    methods, lacking = NEEDS.get(request.response, ((), ""))
    if data.task == "survival" and methods:
        methods, lacking = (CURVES,), "no curves of survival"
    if methods:
        model = family.make(0)
        if not any(hasattr(model, method) for method in methods):
            return f"{family.name} gives {lacking}."
    return None


def _called(value: Any) -> str:
    """Return the module and name of a class, which identify it among classes of the same name."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _prepares_at_random(family: Family) -> bool:
    """Return True if a step before the learner surely draws random numbers without a seed.

    A step that may turn out to have drawn nothing, such as a PCA, is judged after its fit.
    """
    for model in map(family.make, range(len(family))):
        for name in family.random_parameters(model):
            step, _, parameter = name.partition("__")
            undecided = parameter == "random_state" and may_not_draw(model.named_steps[step])
            if not name.startswith(family.prefix) and not undecided:
                return True
    return False


def groups_along(family: Family, names: Sequence[str]) -> list[Group]:
    """Group the candidates that agree in everything except these parameters of the last step."""
    fixed = set(family.named)
    for name in names:
        fixed.discard(family.prefix + name)
    if not fixed:  # This is the case in most grids.
        return [_group(family, range(len(family)))]
    members: dict[str, list[int]] = {}
    for number, params in enumerate(family.candidates):
        key = key_of({name: params[name] for name in params.keys() & fixed})
        members.setdefault(key, []).append(number)
    return [_group(family, numbers) for numbers in members.values()]


def steps_key(family: Family, candidate: int) -> str:
    """Return a key that is equal for candidates whose preprocessing has equal settings."""
    given = family.candidates[candidate]
    own = {"steps", family.prefix.removesuffix("__")}  # parameters that replace the learner itself
    before = {n: v for n, v in given.items() if not n.startswith(family.prefix) and n not in own}
    return key_of(before)


def key_of(params: Mapping[str, Any]) -> str:
    """Return a key that is equal for equal settings; objects in a grid are compared by identity."""
    plain = (str, int, float, bool, type(None))
    return repr(sorted((n, v if isinstance(v, plain) else id(v)) for n, v in params.items()))


def _group(family: Family, numbers: Sequence[int]) -> Group:
    candidates = np.array(numbers)
    settings = tuple(family.settings[number] for number in numbers)
    if not family.is_piped:
        return Group(candidates, settings)
    from sklearn.pipeline import Pipeline

    steps = family.make(numbers[0]).steps[:-1]
    steps = [(name, step) for name, step in steps if step is not None and step != "passthrough"]
    before = Pipeline(steps) if steps else None
    if all(is_exactly(step, *STATELESS) for _, step in steps):
        return Group(candidates, settings, rowwise=before)
    return Group(candidates, settings, preparation=before)

"""Groups of candidates for which one pass can predict together, and checks of their settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import SURVIVAL_METHOD, Family
from truerisk.core.frozen import frozen
from truerisk.core.identity import PIPELINE, is_exact_instance, is_exactly, is_from
from truerisk.core.registry import check_present, is_present
from truerisk.data.data import Data
from truerisk.engines.prepared import may_be_nonrandom

PREPARATION_MODULE = "truerisk.engines.preparation.fitted"
# These transformers learn nothing from the rows on which they are fitted.
STATELESS_STEPS = tuple(
    f"sklearn.preprocessing:{name}" for name in ("Normalizer", "Binarizer", "PolynomialFeatures")
)
NOT_IN_GROUP = -1
# These are parameters of the pipeline itself, not of one of its steps.
PIPELINE_PARAMETERS = {"memory", "verbose", "transform_input"}
MAX_LISTED_CLASSES = 3  # A refusal message lists at most this number of classes.
# For each response: methods of which a model needs one, and words for what it lacks otherwise.
METHODS_BY_RESPONSE = {
    "probability": (("predict_proba",), "no probabilities"),
    "score": (("decision_function", "predict_proba"), "neither decision values nor probabilities"),
}


@frozen(eq=False)
class Group:
    """Candidates whose predictions one pass computes together, because they differ little.

    They differ only in the hyperparameters that the pass covers. An example are the
    penalties of one matrix decomposition. If any preprocessing step learns from the rows, all steps
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
        """Pipeline of all unfitted steps before the learner, or None if there are none."""
        return self.rowwise if self.preparation is None else self.preparation

    def values(self, name: str) -> np.ndarray:
        """Return the value of one hyperparameter for every candidate of the group.

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
        """Return the position in the group of each candidate in `only`.

        Candidates that are not in the group have position −1.

        Parameters
        ----------
        only : array of int
            Numbers of candidates.

        Returns
        -------
        array of int
            The positions.
        """
        is_match = only == self.candidates[:, None]
        return np.where(is_match.any(axis=0), is_match.argmax(axis=0), NOT_IN_GROUP)

    def part(self, places: np.ndarray) -> Group:
        """Return the smaller group of those candidates that are at the given positions.

        Parameters
        ----------
        places : array of int
            Positions in the group.

        Returns
        -------
        Group
            The smaller group.
        """
        settings = tuple(self.settings[candidate_position] for candidate_position in places)
        return Group(self.candidates[places], settings, self.preparation, self.rowwise)


def family_refusal(
    family: Family, served_classes: Sequence[type], *, needs_separate_steps: bool = True
) -> str | None:
    """Return why an engine for the `served_classes` cannot serve the family, or None if it can.

    The class of every candidate's learner must be exactly one of the `served_classes`.

    The learner may be the last step of a pipeline. With `needs_separate_steps`, it must be a plain
    pipeline, whose steps can be fitted separately from the learner.
    """
    is_piped, learner = family.is_piped, family.last
    if (reason := _callbacks_refusal(family)) is not None:
        return reason
    if is_piped and needs_separate_steps and (reason := separate_steps_refusal(family)) is not None:
        return reason
    if is_piped and not is_exactly(family.estimator, PIPELINE):
        return f"{_class_path(family.estimator)} is a pipeline of its own, which may do otherwise."
    if not is_exact_instance(learner, *served_classes):
        is_known_package = is_from(learner, "sklearn", "truerisk")
        lists_all_classes = len(served_classes) <= MAX_LISTED_CLASSES
        names = (
            " or ".join(served_class.__name__ for served_class in served_classes)
            if lists_all_classes
            else "one that it reads"
        )
        learner_name = type(learner).__name__ if is_known_package else _class_path(learner)
        return f"the learner is {learner_name}, not {names}."
    if not is_piped:
        return None
    if any(name == "steps" or f"{name}__" == family.prefix for name in family.named):
        return "the grid replaces the learner itself."
    if needs_separate_steps and _has_random_steps(family):
        return "a step before the learner is random and has no seed of its own."
    if needs_separate_steps and not is_present(PREPARATION_MODULE):
        return f"{PREPARATION_MODULE} is missing from this installation."
    return None


def _callbacks_refusal(family: Family) -> str | None:
    """Return that callbacks of scikit-learn follow the fits of an estimator or step, or None."""
    estimators = [family.estimator]
    if family.is_piped:
        estimators += [step for _, step in family.estimator.steps]
    for params in family.candidates:
        estimators += params.values()
    for estimator in estimators:
        if getattr(estimator, "_skl_callbacks", None):
            return "callbacks follow the fits of the estimator or of its steps."
    return None


def fit_steps(*arguments: Any) -> tuple[Any, list[Any]]:
    """Fit the steps before a learner on a training set; see `preparation.fitted.fitted_steps`."""
    check_present(PREPARATION_MODULE)
    from truerisk.engines.preparation.fitted import fit_preprocessing_steps

    return fit_preprocessing_steps(*arguments)


def separate_steps_refusal(family: Family) -> str | None:
    """Return why the steps of a pipeline cannot be fitted separately from its learner, or None.

    The result is None for estimators that are no pipeline.
    """
    if not family.is_piped:
        return None
    from sklearn import get_config

    pipeline = family.estimator
    if pipeline.memory is not None:
        return "the pipeline caches its steps (memory=), which may hold anything."
    if pipeline.verbose:
        return "the pipeline says how long its steps take (verbose=True)."
    if getattr(pipeline, "transform_input", None) is not None:
        return "the pipeline hands fit parameters through its steps (transform_input=)."
    if pipeline_params := sorted(PIPELINE_PARAMETERS.intersection(family.named)):
        return f"the grid sets {', '.join(pipeline_params)} of the pipeline."
    if (reason := _callbacks_refusal(family)) is not None:
        return reason
    if get_config().get("enable_metadata_routing", False):
        return "metadata are routed to the steps."
    return None


def response_refusal(family: Family, data: Data, request: Request) -> str | None:
    """Return why an engine cannot compute the response that a loss needs, or None if it can.

    Either the learner lacks the method for this response, or it needs the fitted model itself.
    """
    if request.response == "scored":
        return "a scikit-learn scorer needs the fitted model itself."
    if request.response == "score" and data.n_classes != 2:
        return "a score is asked for, and there are more classes than two."
    methods, missing_method = METHODS_BY_RESPONSE.get(request.response, ((), ""))
    if data.task == "survival" and methods:
        methods, missing_method = (SURVIVAL_METHOD,), "no curves of survival"
    if methods:
        model = family.make(0)
        if not any(hasattr(model, method) for method in methods):
            return f"{family.name} gives {missing_method}."
    return None


def _class_path(value: Any) -> str:
    """Return the module and name of an object's class, since several classes may share a name."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _has_random_steps(family: Family) -> bool:
    """Return True if a step before the learner surely draws random numbers without a seed.

    A step that may turn out to have drawn nothing, such as a PCA, is judged after its fit.
    """
    for model in map(family.make, range(len(family))):
        for name in family.random_parameters(model):
            step, _, parameter = name.partition("__")
            may_be_deterministic = parameter == "random_state" and may_be_nonrandom(
                model.named_steps[step]
            )
            if not name.startswith(family.prefix) and not may_be_deterministic:
                return True
    return False


def group_candidates(family: Family, names: Sequence[str]) -> list[Group]:
    """Group the candidates that agree in everything except these hyperparameters of the learner."""
    fixed_parameters = set(family.named)
    for name in names:
        fixed_parameters.discard(family.prefix + name)
    if not fixed_parameters:  # In most grids only these hyperparameters vary.
        return [_make_group(family, range(len(family)))]
    candidates_by_key: dict[str, list[int]] = {}
    for candidate, params in enumerate(family.candidates):
        key = settings_key({name: params[name] for name in params.keys() & fixed_parameters})
        candidates_by_key.setdefault(key, []).append(candidate)
    return [
        _make_group(family, candidate_numbers) for candidate_numbers in candidates_by_key.values()
    ]


def steps_key(family: Family, candidate: int) -> str:
    """Return a key that is equal for candidates whose preprocessing steps have equal settings."""
    params = family.candidates[candidate]
    # These parameters replace the learner itself.
    learner_param_names = {"steps", family.prefix.removesuffix("__")}
    step_params = {
        name: value
        for name, value in params.items()
        if not name.startswith(family.prefix) and name not in learner_param_names
    }
    return settings_key(step_params)


def settings_key(params: Mapping[str, Any]) -> str:
    """Return a key that is equal for equal settings.

    Objects in a grid are compared by identity.
    """
    plain_types = (str, int, float, bool, type(None))
    return repr(
        sorted(
            (name, value if isinstance(value, plain_types) else id(value))
            for name, value in params.items()
        )
    )


def _make_group(family: Family, candidate_numbers: Sequence[int]) -> Group:
    candidates = np.array(candidate_numbers)
    settings = tuple(family.settings[candidate] for candidate in candidate_numbers)
    if not family.is_piped:
        return Group(candidates, settings)
    from sklearn.pipeline import Pipeline

    steps = family.make(candidate_numbers[0]).steps[:-1]
    steps = [(name, step) for name, step in steps if step is not None and step != "passthrough"]
    preprocessing = Pipeline(steps) if steps else None
    if all(is_exactly(step, *STATELESS_STEPS) for _, step in steps):
        return Group(candidates, settings, rowwise=preprocessing)
    return Group(candidates, settings, preparation=preprocessing)

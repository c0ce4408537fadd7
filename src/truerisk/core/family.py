"""`Family`: an estimator with its candidates, the hyperparameter settings to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from inspect import isfunction, unwrap
from itertools import chain, product
from types import CodeType
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from truerisk.core.arguments import (
    RenamedAttribute,
    is_distribution,
    mention,
    refuse_class,
    repr_on_one_line,
)
from truerisk.core.errors import BadArgument, BadData, Refusal, UnknownName, first_line
from truerisk.core.formats import escape_and_truncate
from truerisk.core.frozen import frozen
from truerisk.core.identity import PIPELINE, is_a, is_from, takes_environment
from truerisk.core.registry import check_present, suggestion_for

BEST_PARAMS = "best_params_"
SURVIVAL_METHOD = "predict_survival_function"  # name of the prediction method in scikit-survival
MAX_LISTED_PARAMETERS = 30  # largest number of parameters that a message lists

TaskName = Literal["classification", "regression", "survival", "other"]


@frozen(eq=False)
class Family:
    """An estimator with its candidates, the hyperparameter settings to choose from, in order.

    Parameters
    ----------
    estimator : estimator
        The learner, or a pipeline whose last step is the learner.
    candidates : tuple of mappings, default=({},)
        The settings, each a mapping from parameter names to values.

    Attributes
    ----------
    is_piped : bool
        True for a Pipeline, or an instance of a subclass, whose last step is a learner.
    last : object
        The learner itself: the last step of a pipeline, otherwise the estimator.
    name : str
        The class name of the learner.
    prefix : str
        The prefix of the learner's parameter names in a pipeline, such as ``ridge__``.
    named : tuple of str
        Names of the parameters that at least one candidate sets.

    See Also
    --------
    truerisk.extend.Asking : Computes the predictions of a family.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from truerisk.extend import Family
    >>> family = Family.from_grid(KNeighborsClassifier(), {"n_neighbors": [1, 5]})
    >>> family.candidates, family.make(1)
    (({'n_neighbors': 1}, {'n_neighbors': 5}), KNeighborsClassifier())
    """

    estimator: Any
    candidates: tuple[Mapping[str, Any], ...] = ({},)
    is_piped: bool = field(init=False)
    last: Any = field(init=False)
    name: str = field(init=False)
    prefix: str = field(init=False)
    named: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        is_piped = is_a(self.estimator, PIPELINE) and bool(self.estimator.steps)
        step_name, learner = self.estimator.steps[-1][:2] if is_piped else ("", self.estimator)
        vars(self).update(
            is_piped=is_piped,
            last=learner,
            name=type(learner).__name__,
            prefix=f"{step_name}__" if is_piped else "",
            named=tuple(dict.fromkeys(chain.from_iterable(self.candidates))),
        )

    of = RenamedAttribute("from_grid")

    @classmethod
    def from_grid(cls, estimator: Any, grid: Any = None) -> Family:
        """Make a family from an estimator and a grid as in GridSearchCV, in the order of the grid.

        Parameters
        ----------
        estimator : estimator
            The learner.
        grid : dict, list of dicts or iterable of settings, optional
            A dict of lists, a list of such dicts, or an iterable of single settings made with
            `ParameterGrid`. None stands for the estimator with its own parameters.

        Returns
        -------
        Family
            The family.
        """
        check_is_estimator(estimator)
        return cls._from_candidates(
            estimator, ({},) if grid is None else tuple(_iterate_grid(grid))
        )

    @classmethod
    def drawn(cls, estimator: Any, distributions: Any, n_iter: Any, seed: int) -> Family:
        """Make a family of `n_iter` settings drawn with this seed, as by RandomizedSearchCV.

        Parameters
        ----------
        estimator : estimator
            The learner.
        distributions : dict or list of dicts
            Distributions or lists of values, by parameter name.
        n_iter : int
            The number of settings to draw.
        seed : int
            The seed.

        Returns
        -------
        Family
            The family.
        """
        check_is_estimator(estimator)
        check_present("truerisk.core.drawn_settings")
        from truerisk.core.drawn_settings import drawn_settings

        settings = drawn_settings(distributions, n_iter, seed, _value_lists)
        return cls._from_candidates(estimator, tuple(settings))

    @classmethod
    def _from_candidates(cls, estimator: Any, candidates: tuple[Mapping[str, Any], ...]) -> Family:
        """Make a family; raise an error if the estimator cannot be cloned or lacks a parameter."""
        from sklearn.base import clone

        if not candidates:
            raise BadData("the grid is empty: it names no setting.")
        family = cls(estimator, candidates)
        try:
            # A generator cannot be copied; the code that needs a copy raises an error.
            with suppress(TypeError):
                clone(estimator)
        except RuntimeError as error:  # CatBoost raises it because it copies list parameters.
            raise BadArgument(
                f"{first_line(error)}. A tuple in the place of a list may help, as in "
                "cat_features=('city', 'sex') of CatBoost."
            ) from None
        if family.named and not get_shallow_params(estimator).keys() >= set(family.named):
            _check_parameter_names(family)
        return family

    @cached_property
    def task(self) -> TaskName:
        """Task of the estimator by scikit-learn's tags: classification, regression or survival.

        A search without tags (OptunaSearchCV) has the task of the estimator that it tunes.
        """
        from sklearn.base import is_classifier, is_regressor

        try:
            for model in (self.estimator, get_tuned_estimator(self.last)):
                if is_survival_model(model):  # Some survival models are also regressors.
                    return "survival"
                if is_classifier(model):
                    return "classification"
                if is_regressor(model):
                    return "regression"
        except AttributeError as error:
            raise BadData(_missing_tags_message(self.estimator)) from error
        raise BadData(
            f"{type(self.estimator).__name__} is neither a classifier nor a regressor, nor of "
            "survival: it makes no predictions whose risk could be estimated."
        )

    @cached_property
    def takes_y_as_given(self) -> bool:
        """True if y is passed to the learner exactly as the user gave it.

        A third-party learner may require y as float32 or as a column.

        Learners of scikit-learn and of this package accept y in any numeric form.
        """
        step_name, possible_learners = self.prefix.removesuffix("__"), [self.last]
        if step_name in self.named:
            possible_learners += [
                setting[step_name] for setting in self.candidates if step_name in setting
            ]
        if hasattr(self.last, "get_params"):
            for parameter_value in get_shallow_params(self.last).values():
                if hasattr(parameter_value, "get_params") or isinstance(parameter_value, list):
                    possible_learners += self.last.get_params(deep=True).values()
                    break
        for possible_learner in possible_learners:
            is_estimator = hasattr(possible_learner, "fit") and not isinstance(
                possible_learner, type
            )
            if is_estimator and not is_from(possible_learner, "sklearn", "truerisk"):
                return True
        return False

    @cached_property
    def settings(self) -> tuple[dict[str, Any], ...]:
        """All parameters of the learner for every candidate, without building the models."""
        settings, learner_params = [], get_shallow_params(self.last)
        for candidate in self.candidates:
            setting = dict(learner_params)
            for parameter_name, parameter_value in candidate.items():
                if parameter_name.startswith(self.prefix):
                    setting[parameter_name.removeprefix(self.prefix)] = parameter_value
            settings.append(setting)
        return tuple(settings)

    @cached_property
    def pairwise(self) -> tuple[bool, ...]:
        """Flag of each candidate: True if X must be a square kernel or distance matrix.

        The flag is scikit-learn's tag `pairwise`. Such a fit gets the rows and columns of the
        training set, and predicts from the rows of the test set and the columns of the training
        set.
        """
        from sklearn.utils import get_tags

        is_pairwise = bool(get_tags(self.estimator).input_tags.pairwise)
        # A value of these types, such as C=1, does not switch to a precomputed kernel.
        scalar_types = (int, float, type(None))
        return tuple(
            is_pairwise
            if all(
                isinstance(parameter_value, scalar_types) for parameter_value in setting.values()
            )
            else bool(get_tags(self.make(candidate_number)).input_tags.pairwise)
            for candidate_number, setting in enumerate(self.candidates)
        )

    def __len__(self) -> int:
        return len(self.candidates)

    def make(self, candidate: int, seed: Sequence[int] | None = None) -> Any:
        """Make a fresh, unfitted model of one candidate.

        Parameters
        ----------
        candidate : int
            The number of the candidate.
        seed : sequence of int, optional
            The seed of the `random_state` parameters that are None.

        Returns
        -------
        estimator
            The unfitted model.
        """
        model = _clone_with_params(self.estimator, self.candidates[candidate])
        if seed is not None and (seed_parameters := sorted(self.random_parameters(model))):
            model.set_params(
                **dict(
                    zip(seed_parameters, random_states_for(seed, len(seed_parameters)), strict=True)
                )
            )
        return model

    def random_parameters(self, model: Any) -> list[str]:
        """Return the names of a model's `random_state` parameters that are None.

        Parameters
        ----------
        model : estimator
            A model of the family.

        Returns
        -------
        list of str
            The names.
        """
        seed_parameters = []
        for parameter_name, parameter_value in model.get_params(deep=True).items():
            if parameter_value is None and parameter_name.rpartition("__")[2] == "random_state":
                seed_parameters.append(parameter_name)
        return seed_parameters

    @cached_property
    def is_random(self) -> bool:
        """True if `random_state` is None for some candidate."""
        return any(map(self.random_parameters, map(self.make, range(len(self)))))


def is_survival_model(model: Any) -> bool:
    """Return True for a survival model, recognised by its class or its survival curves."""
    return is_a(model, "sksurv.base:SurvivalAnalysisMixin") or hasattr(model, SURVIVAL_METHOD)


def has_best_params(learner: Any) -> bool:
    """Return True if the learner's class defines `best_params_`, so that it is a search.

    The class has `best_params_` as a property, or one of its methods refers to it. The estimators
    that a learner holds or takes do not count: an ensemble of searches is not a search.
    """
    learner_class = type(learner)
    if hasattr(learner_class, BEST_PARAMS):
        return True
    class_members = (
        class_member
        for base_class in learner_class.__mro__
        for class_member in vars(base_class).values()
    )
    code_objects = [
        unwrap(class_member).__code__ for class_member in class_members if isfunction(class_member)
    ]
    for code_object in code_objects:  # The loop adds nested functions to the list.
        if BEST_PARAMS in code_object.co_names or BEST_PARAMS in code_object.co_consts:
            return True
        code_objects += [
            nested_code
            for nested_code in code_object.co_consts
            if isinstance(nested_code, CodeType)
        ]
    return False


def tunes_inside(family: Family) -> bool:
    """Return True if the family has a single candidate that is a search or has its own `cv`."""
    if len(family) != 1:
        return False
    if has_best_params(family.last):
        return True
    parameters = family.estimator.get_params(deep=True)
    for parameter_path in parameters:
        owner_name, _, parameter_name = parameter_path.rpartition("__")
        cv_owner = parameters[owner_name] if owner_name else family.estimator
        if parameter_name == "cv" and callable(getattr(cv_owner, "fit", 0)):
            return True
    return False


def get_tuned_estimator(model: Any) -> Any:
    """Return the estimator that a search tunes, or the model itself if it is no search.

    A search has a parameter `cv`, or its class sets ``best_params_``.
    """
    inner_estimator = getattr(model, "estimator", None)
    if not hasattr(inner_estimator, "get_params") or not hasattr(type(model), "predict"):
        return model
    return inner_estimator if hasattr(model, "cv") or has_best_params(model) else model


def _clone_with_params(estimator: Any, new_params: Mapping[str, Any]) -> Any:
    """Clone an estimator and set these parameters, whose values are cloned as well."""
    from sklearn.base import clone

    model = clone(estimator)
    if new_params:
        model.set_params(**clone(dict(new_params), safe=False))
    return model


_PARAMETER_NAMES: WeakKeyDictionary[type, tuple[str, ...]] = (
    WeakKeyDictionary()
)  # parameter names by class


def get_shallow_params(model: Any) -> dict[str, Any]:
    """Return `model.get_params(deep=False)`, with the parameter names of each class cached.

    Without the cache scikit-learn inspects the signature of the class at every call.
    """
    from sklearn.base import BaseEstimator

    model_class, parameters = type(model), {}
    if (
        model_class.get_params is not BaseEstimator.get_params
        or model_class not in _PARAMETER_NAMES
    ):
        parameters = model.get_params(deep=False)
        _PARAMETER_NAMES[model_class] = tuple(parameters)
        return parameters
    for parameter_name in _PARAMETER_NAMES[model_class]:
        parameters[parameter_name] = getattr(model, parameter_name)
    return parameters


def random_states_for(seed: Sequence[int], n_states: int) -> list[int]:
    """Draw `n_states` integers from a seed, as `random_state` values of one model."""
    return [
        int(state) for state in np.random.SeedSequence(list(seed)).generate_state(n_states) // 2
    ]


def _missing_tags_message(estimator: Any) -> str:
    return (
        f"{type(estimator).__name__} has no tags of scikit-learn, which say whether it is a "
        "classifier or a regressor: derive it from ClassifierMixin or RegressorMixin and, after "
        "that, BaseEstimator of sklearn.base."
    )


def check_has_tags(estimator: Any) -> None:
    """Raise BadData for an estimator without scikit-learn's tags, which say what kind it is."""
    from sklearn.utils import get_tags

    try:
        get_tags(estimator)
    except AttributeError as error:
        raise BadData(_missing_tags_message(estimator)) from error


def check_is_estimator(estimator: Any) -> None:
    """Raise an error if a class, a name or None is given instead of an estimator instance.

    Nested estimators are checked as well, such as the steps of a pipeline. The check comes before
    scikit-learn reads the tags. Some models have a parameter that is a class on purpose; they are
    accepted if scikit-learn can determine their tags.
    """
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        value_text = escape_and_truncate(" ".join(repr(estimator).split()), 80)
        example = "KNeighborsClassifier(), not its class or its name"
        if is_a(estimator, "skrub:DataOp"):
            example = "that of .skb.make_learner() or .skb.make_grid_search()"
        raise UnknownName(
            f"{value_text} is not an estimator instance; give one, such as {example}."
        )
    if takes_environment(estimator):
        raise Refusal(
            f"{type(estimator).__name__} of skrub computes X and y from an environment: write "
            "tr.HonestSearchCV(search).fit(environment), tr.estimate_risk(learner, environment) or "
            "tr.audit(search, environment); two fitted HonestSearchCV are compared by tr.compare."
        )
    if is_a(estimator, PIPELINE) and not (
        isinstance(estimator.steps, list | tuple) and all(map(_is_named_pair, estimator.steps))
    ):
        raise BadArgument(
            f"{type(estimator).__name__} has {mention('steps', estimator.steps)}: give a list of "
            "(name, object) pairs."
        )
    for parameter, value in get_shallow_params(estimator).items():
        named_components = [(parameter, value)]
        if isinstance(value, list | tuple):
            named_components += [
                named_pair[:2] for named_pair in value if _is_named_pair(named_pair)
            ]
        for component_name, component in named_components:
            if not isinstance(component, type) and hasattr(component, "get_params"):
                check_is_estimator(component)
            elif hasattr(component, "fit") and (component is not value or not _has_tags(estimator)):
                refuse_class(component_name, component)


def _is_named_pair(possible_pair: Any) -> bool:
    """Return True for a pair (name, object), possibly followed by more entries."""
    return (
        isinstance(possible_pair, list | tuple)
        and len(possible_pair) > 1
        and isinstance(possible_pair[0], str)
    )


def _has_tags(model: Any) -> bool:
    """Return True if scikit-learn can determine the tags of a model."""
    from sklearn.utils import get_tags

    try:
        get_tags(model)
    except (TypeError, AttributeError):  # scikit-learn raises "got estimator class instead".
        return False
    return True


def _iterate_grid(grid: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every setting of the grid in ParameterGrid's order: the last name varies fastest."""
    if isinstance(grid, Mapping):
        grid = [grid]
    else:
        from sklearn.model_selection import ParameterGrid

        if isinstance(grid, ParameterGrid):
            yield from grid
            return
    if isinstance(grid, str) or not isinstance(grid, Iterable) or getattr(grid, "ndim", 1) == 0:
        raise UnknownName(
            f"{mention('grid', grid)} is no grid; write {{'n_neighbors': [1, 3, 5]}} or a list of "
            "such dicts."
        )
    for values_by_name in list(map(_value_lists, grid)):
        parameter_names = sorted(values_by_name)
        for combination in product(*map(values_by_name.__getitem__, parameter_names)):
            yield dict(zip(parameter_names, combination, strict=True))


def _value_lists(grid_dict: Any) -> dict[str, list[Any]]:
    """Convert each parameter's values to a list; raise an error if a parameter has no values."""
    if not isinstance(grid_dict, Mapping):
        raise UnknownName(
            f"{repr_on_one_line(grid_dict)} in the grid is no dict of parameter values."
        )
    value_lists = {}
    for parameter_name, parameter_values in grid_dict.items():
        if not isinstance(parameter_name, str):
            raise UnknownName(
                f"{parameter_name!r} in the grid is no name of a parameter: names are text."
            )
        if is_distribution(parameter_values):
            raise BadArgument(
                f"{parameter_name!r} has a distribution, and the number of settings to draw is "
                "missing: use HonestSearchCV(model, distributions, n_iter=60), or (model, "
                "distributions, 60) in assess."
            )
        if isinstance(parameter_values, str) or not isinstance(parameter_values, Iterable):
            raise BadArgument(
                f"Parameter grid for parameter {parameter_name!r} needs to be a list or a numpy "
                f"array, but got {parameter_values!r} (of type {type(parameter_values).__name__}) "
                "instead. Single values need to be wrapped in a list with one element."
            )
        if isinstance(parameter_values, np.ndarray) and parameter_values.ndim > 1:
            raise BadData(
                f"Parameter grid for parameter {parameter_name!r} has {parameter_values.ndim} "
                "dimensions: give a list of values, of arrays where each value is one."
            )
        value_lists[parameter_name] = list(parameter_values)
        if not value_lists[parameter_name]:
            raise BadData(
                f"Parameter grid for parameter {parameter_name!r} need to be a non-empty sequence, "
                "got: []; give at least one value."
            )
    return value_lists


def _check_parameter_names(family: Family) -> None:
    """Raise UnknownName for a parameter that the estimator does not have.

    Some models list only parameters that were set before, so only names that `set_params` refuses
    are unknown.
    """
    estimator = family.estimator
    known_params = estimator.get_params(deep=True)
    for parameter_name in family.named:
        if parameter_name not in known_params and not _can_be_set(
            family, parameter_name, known_params
        ):
            error_text = f"{type(estimator).__name__} has no parameter {parameter_name!r}"
            raise UnknownName(
                f"{error_text}{suggestion_for(parameter_name, known_params) or '.'} "
                f"{_format_parameter_list(parameter_name, known_params)}"
            )


def _format_parameter_list(unknown_name: str, parameters: Mapping[str, Any]) -> str:
    """List the estimator's parameters in a sentence for a message.

    A pipeline has dozens of parameters. Then only those that end like `unknown_name` are listed,
    or else the steps.
    """
    parameter_names = sorted(parameters)
    if len(parameter_names) <= MAX_LISTED_PARAMETERS:
        return f"It has: {', '.join(parameter_names)}."
    parameter_suffix = unknown_name.rpartition("__")[2]
    similar_names = [
        parameter_name
        for parameter_name in parameter_names
        if parameter_name.rpartition("__")[2] == parameter_suffix
    ]
    return (
        f"Of {len(parameter_names)} it has: "
        f"{', '.join(similar_names or [step for step in parameter_names if '__' not in step])}."
    )


def _can_be_set(family: Family, tested_name: str, parameters: Mapping[str, Any]) -> bool:
    """Return True if at least one candidate can set the named parameter.

    The steps that the candidate itself sets are set first.
    """
    for setting in family.candidates:
        if tested_name in setting:
            step_names = (
                parameter_name
                for parameter_name in setting
                if parameter_name in parameters or tested_name.startswith(f"{parameter_name}__")
            )
            try:
                _clone_with_params(
                    family.estimator,
                    {
                        parameter_name: setting[parameter_name]
                        for parameter_name in (*step_names, tested_name)
                    },
                )
            except Exception:  # noqa: BLE001  each library has an error of its own
                continue
            return True
    return False

"""A Family is a learner with its candidates, the settings from which one will be chosen."""

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

from truerisk.core.arguments import Renamed, is_distribution, mention, refuse_class, shown
from truerisk.core.errors import BadArgument, BadData, UnknownName, first_line
from truerisk.core.formats import clean
from truerisk.core.frozen import frozen
from truerisk.core.identity import PIPELINE, is_a, is_from
from truerisk.core.registry import check_present, closest

BEST = "best_params_"
CURVES = "predict_survival_function"  # the name in scikit-survival
MOST_SHOWN = 30  # largest number of parameters that a message lists

TaskWord = Literal["classification", "regression", "survival", "other"]


@frozen(eq=False)
class Family:
    """An estimator with its ordered hyperparameter settings (`step__param` names in pipelines).

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
        step, last = self.estimator.steps[-1][:2] if is_piped else ("", self.estimator)
        vars(self).update(
            is_piped=is_piped,
            last=last,
            name=type(last).__name__,
            prefix=f"{step}__" if is_piped else "",
            named=tuple(dict.fromkeys(chain.from_iterable(self.candidates))),
        )

    of = Renamed("from_grid")

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
        refuse_no_estimator(estimator)
        return cls._checked(estimator, ({},) if grid is None else tuple(_expand(grid)))

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
        refuse_no_estimator(estimator)
        check_present("truerisk.core.drawn_settings")
        from truerisk.core.drawn_settings import drawn_settings

        settings = drawn_settings(distributions, n_iter, seed, _listed)
        return cls._checked(estimator, tuple(settings))

    @classmethod
    def _checked(cls, estimator: Any, candidates: tuple[Mapping[str, Any], ...]) -> Family:
        """Make a family; refuse an estimator that cannot be cloned, and unknown parameters."""
        from sklearn.base import clone

        if not candidates:
            raise BadData("the grid is empty: it names no setting.")
        family = cls(estimator, candidates)
        try:
            # A generator cannot be copied; the code that needs the copy raises an error.
            with suppress(TypeError):
                clone(estimator)
        except RuntimeError as error:  # CatBoost copies its list parameters
            raise BadArgument(
                f"{first_line(error)}. A tuple in the place of a list may help, as in "
                "cat_features=('city', 'sex') of CatBoost."
            ) from None
        if family.named and not parameters_of(estimator).keys() >= set(family.named):
            _refuse_unknown(family)
        return family

    @cached_property
    def task(self) -> TaskWord:
        """The task of the estimator by scikit-learn's tags: classification or regression.

        Models of survival are recognised as well. A search without tags (OptunaSearchCV) has the
        task of the estimator that it tunes.
        """
        from sklearn.base import is_classifier, is_regressor

        try:
            for model in (self.estimator, tuned_by(self.last)):
                if of_survival(model):  # Some survival models are also regressors.
                    return "survival"
                if is_classifier(model):
                    return "classification"
                if is_regressor(model):
                    return "regression"
        except AttributeError as error:
            raise BadData(_without_tags(self.estimator)) from error
        raise BadData(
            f"{type(self.estimator).__name__} is neither a classifier nor a regressor, nor of "
            "survival: it makes no predictions whose risk could be estimated."
        )

    @cached_property
    def takes_y_as_given(self) -> bool:
        """True if a third-party learner is fitted, which may require float32 or a column vector.

        Learners of scikit-learn and of this package accept any y and use the numbers in it.
        """
        step, parts = self.prefix.removesuffix("__"), [self.last]
        if step in self.named:
            parts += [setting[step] for setting in self.candidates if step in setting]
        if hasattr(self.last, "get_params"):
            for value in parameters_of(self.last).values():
                if hasattr(value, "get_params") or isinstance(value, list):
                    parts += self.last.get_params(deep=True).values()
                    break
        for part in parts:
            is_estimator = hasattr(part, "fit") and not isinstance(part, type)
            if is_estimator and not is_from(part, "sklearn", "truerisk"):
                return True
        return False

    @cached_property
    def settings(self) -> tuple[dict[str, Any], ...]:
        """All parameters of the last step for every candidate, without building the models."""
        settings, common = [], parameters_of(self.last)
        for candidate in self.candidates:
            setting = dict(common)
            for name, value in candidate.items():
                if name.startswith(self.prefix):
                    setting[name.removeprefix(self.prefix)] = value
            settings.append(setting)
        return tuple(settings)

    @cached_property
    def pairwise(self) -> tuple[bool, ...]:
        """One flag per candidate: True if it takes X as a square matrix of rows against rows.

        The flag is scikit-learn's tag `pairwise`. Such a fit gets the rows and columns of the
        training set, and predicts from the rows of the test set and the columns of the training
        set.
        """
        from sklearn.utils import get_tags

        own = bool(get_tags(self.estimator).input_tags.pairwise)
        plain = (
            int,
            float,
            type(None),
        )  # No setting of this type, such as C=1, makes a kernel precomputed.
        return tuple(
            own
            if all(isinstance(value, plain) for value in setting.values())
            else bool(get_tags(self.make(number)).input_tags.pairwise)
            for number, setting in enumerate(self.candidates)
        )

    def __len__(self) -> int:
        return len(self.candidates)

    def make(self, candidate: int, seed: Sequence[int] | None = None) -> Any:
        """Make a fresh, unfitted model; `seed` sets each `random_state` that is None.

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
        model = _clone_with(self.estimator, self.candidates[candidate])
        if seed is not None and (names := sorted(self.random_parameters(model))):
            model.set_params(**dict(zip(names, drawn_states(seed, len(names)), strict=True)))
        return model

    def random_parameters(self, model: Any) -> list[str]:
        """Return the names of the `random_state` parameters that are None.

        Parameters
        ----------
        model : estimator
            A model of the family.

        Returns
        -------
        list of str
            The names.
        """
        names = []
        for name, value in model.get_params(deep=True).items():
            if value is None and name.rpartition("__")[2] == "random_state":
                names.append(name)
        return names

    @cached_property
    def is_random(self) -> bool:
        """True if some candidate leaves a `random_state` at None."""
        return any(map(self.random_parameters, map(self.make, range(len(self)))))


def of_survival(model: Any) -> bool:
    """Return True for a survival model, recognised by its class or by its survival curves."""
    return is_a(model, "sksurv.base:SurvivalAnalysisMixin") or hasattr(model, CURVES)


def has_best_params(learner: Any) -> bool:
    """Return True if the class of a learner gives a fitted model `best_params_`.

    The class has it as a property, or one of its methods refers to it. The estimators that a
    learner holds or takes do not count: an ensemble of searches is not a search.
    """
    kind = type(learner)
    if hasattr(kind, BEST):
        return True
    members = (member for base in kind.__mro__ for member in vars(base).values())
    codes = [unwrap(member).__code__ for member in members if isfunction(member)]
    for code in codes:  # The list grows in the loop by nested functions.
        if BEST in code.co_names or BEST in code.co_consts:
            return True
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    return False


def tunes_inside(family: Family) -> bool:
    """Return True for a single setting that is a search or has inner splits to tune by."""
    if len(family) != 1:
        return False
    if has_best_params(family.last):
        return True
    parameters = family.estimator.get_params(deep=True)
    for name in parameters:
        place, _, label = name.rpartition("__")
        owner = parameters[place] if place else family.estimator
        if label == "cv" and callable(getattr(owner, "fit", 0)):
            return True
    return False


def tuned_by(model: Any) -> Any:
    """Return the estimator that a search tunes; for any other model, return the model itself.

    A search has splits of its own (`cv`), or its class sets ``best_params_``.
    """
    tuned = getattr(model, "estimator", None)
    if not hasattr(tuned, "get_params") or not hasattr(type(model), "predict"):
        return model
    return tuned if hasattr(model, "cv") or has_best_params(model) else model


def _clone_with(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Clone an estimator and set these parameters, which are cloned as well."""
    from sklearn.base import clone

    model = clone(estimator)
    if params:
        model.set_params(**clone(dict(params), safe=False))
    return model


_NAMES: WeakKeyDictionary[type, tuple[str, ...]] = WeakKeyDictionary()  # parameter names by class


def parameters_of(model: Any) -> dict[str, Any]:
    """Return `get_params(deep=False)`, with the parameter names of each class cached.

    scikit-learn inspects the signature of the class at every call.
    """
    from sklearn.base import BaseEstimator

    kind, parameters = type(model), {}
    if kind.get_params is not BaseEstimator.get_params or kind not in _NAMES:
        parameters = model.get_params(deep=False)
        _NAMES[kind] = tuple(parameters)
        return parameters
    for name in _NAMES[kind]:
        parameters[name] = getattr(model, name)
    return parameters


def drawn_states(seed: Sequence[int], n: int) -> list[int]:
    """Return the integers that `Family.make` sets n `random_state` parameters to, by name order."""
    return [int(s) for s in np.random.SeedSequence(list(seed)).generate_state(n) // 2]


def _without_tags(estimator: Any) -> str:
    return (
        f"{type(estimator).__name__} has no tags of scikit-learn, which say whether it is a "
        "classifier or a regressor: derive it from ClassifierMixin or RegressorMixin and, after "
        "that, BaseEstimator of sklearn.base."
    )


def refuse_no_tags(estimator: Any) -> None:
    """Refuse an estimator without scikit-learn's tags, which say what kind of model it is."""
    from sklearn.utils import get_tags

    try:
        get_tags(estimator)
    except AttributeError as error:
        raise BadData(_without_tags(estimator)) from error


def refuse_no_estimator(estimator: Any) -> None:
    """Refuse a class, a name or None in place of an estimator, also as a step of a pipeline.

    This comes before scikit-learn asks for tags. A class is also refused where a model lists or
    wraps an estimator. Some models are meant to be given a class; models that need the estimator's
    tags are not.
    """
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        text = clean(" ".join(repr(estimator).split()), 80)
        raise UnknownName(
            f"{text} is not an estimator instance; give one, such as "
            "KNeighborsClassifier(), not its class or its name."
        )
    if is_a(estimator, PIPELINE) and not (
        isinstance(estimator.steps, list | tuple) and all(map(_is_named, estimator.steps))
    ):
        raise BadArgument(
            f"{type(estimator).__name__} has {mention('steps', estimator.steps)}: give a list of "
            "(name, object) pairs."
        )
    for parameter, value in parameters_of(estimator).items():
        parts = [(parameter, value)]
        if isinstance(value, list | tuple):
            parts += [pair[:2] for pair in value if _is_named(pair)]
        for name, part in parts:
            if not isinstance(part, type) and hasattr(part, "get_params"):
                refuse_no_estimator(part)
            elif hasattr(part, "fit") and (part is not value or not _has_tags(estimator)):
                refuse_class(name, part)


def _is_named(value: Any) -> bool:
    """Return True for (name, object), possibly followed by more entries."""
    return isinstance(value, list | tuple) and len(value) > 1 and isinstance(value[0], str)


def _has_tags(model: Any) -> bool:
    """Return True if scikit-learn can determine the tags of a model."""
    from sklearn.utils import get_tags

    try:
        get_tags(model)
    except (TypeError, AttributeError):  # scikit-learn raises "got estimator class instead".
        return False
    return True


def _expand(grid: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every combination in the order of ParameterGrid: the last name varies fastest."""
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
    for values_by_name in list(map(_listed, grid)):
        names = sorted(values_by_name)
        for values in product(*map(values_by_name.__getitem__, names)):
            yield dict(zip(names, values, strict=True))


def _listed(part: Any) -> dict[str, list[Any]]:
    """Return the values of each parameter as a list; refuse anything but a dict of such lists."""
    if not isinstance(part, Mapping):
        raise UnknownName(f"{shown(part)} in the grid is no dict of parameter values.")
    listed = {}
    for name, values in part.items():
        if not isinstance(name, str):
            raise UnknownName(f"{name!r} in the grid is no name of a parameter: names are text.")
        if is_distribution(values):
            raise BadArgument(
                f"{name!r} has a distribution, and the number of settings to draw is missing: use "
                "HonestSearchCV(model, distributions, n_iter=60), or (model, distributions, 60) "
                "in assess."
            )
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise BadArgument(
                f"Parameter grid for parameter {name!r} needs to be a list or a numpy array, but "
                f"got {values!r} (of type {type(values).__name__}) instead. Single values need to "
                "be wrapped in a list with one element."
            )
        if isinstance(values, np.ndarray) and values.ndim > 1:
            raise BadData(
                f"Parameter grid for parameter {name!r} has {values.ndim} dimensions: give a list "
                "of values, of arrays where each value is one."
            )
        listed[name] = list(values)
        if not listed[name]:
            raise BadData(
                f"Parameter grid for parameter {name!r} need to be a non-empty sequence, got: []; "
                "give at least one value."
            )
    return listed


def _refuse_unknown(family: Family) -> None:
    """Refuse unknown parameters.

    They are refused only if `set_params` refuses them, because some models list only parameters
    that were set before.
    """
    estimator = family.estimator
    params = estimator.get_params(deep=True)
    for name in family.named:
        if name not in params and not _can_be_set(family, name, params):
            missing = f"{type(estimator).__name__} has no parameter {name!r}"
            raise UnknownName(f"{missing}{closest(name, params) or '.'} {_those_of(name, params)}")


def _those_of(name: str, parameters: Mapping[str, Any]) -> str:
    """List the parameters in a sentence for a message.

    A pipeline has dozens: list those with the same last part, or else its steps.
    """
    names = sorted(parameters)
    if len(names) <= MOST_SHOWN:
        return f"It has: {', '.join(names)}."
    end = name.rpartition("__")[2]
    alike = [n for n in names if n.rpartition("__")[2] == end]
    return f"Of {len(names)} it has: {', '.join(alike or [n for n in names if '__' not in n])}."


def _can_be_set(family: Family, name: str, parameters: Mapping[str, Any]) -> bool:
    """Return True if some candidate's value can be set, after the steps that it sets itself."""
    for setting in family.candidates:
        if name in setting:
            steps = (n for n in setting if n in parameters or name.startswith(f"{n}__"))
            try:
                _clone_with(family.estimator, {n: setting[n] for n in (*steps, name)})
            except Exception:  # noqa: BLE001  each library has an error of its own
                continue
            return True
    return False

"""Parameters of XGBoost, LightGBM and CatBoost with which a long fit begins with a shorter fit.

A tree is fitted to the residuals of the trees before it, with random numbers drawn in one sequence.
The first m of n trees are therefore those of a fit of m trees, and the package itself can predict
with them. There are three exceptions: a parameter ends the fit early, depends on n (as the learning
rate that CatBoost chooses), or changes the contribution of earlier trees when later ones are added
(dart). A parameter is refused unless it is known to do none of these.

Nothing here imports a package: learners are recognised by their class if the package is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from truerisk.core.frozen import frozen
from truerisk.core.identity import imported_class

AcceptedValues = tuple[Any, ...]
PREDICTION_METHODS = ("predict", "predict_proba", "decision_function")


@frozen
class Package:
    """Names of a boosting package's parameters, by whether a longer fit begins with equal trees.

    `size_parameters` are the names of the number of trees, and `first_trees_arguments(model, m)`
    returns the arguments with which the package predicts by its first m trees.
    `size_independent_parameters` are the parameters that treat every tree alike, `accepted_values`
    the accepted values of other parameters, and `fit_params` the names that `fit` accepts.
    """

    size_parameters: tuple[str, ...]
    first_trees_arguments: Callable[[Any, int], dict[str, Any]]
    size_independent_parameters: frozenset[str]
    accepted_values: Mapping[str, AcceptedValues]
    fit_params: frozenset[str]
    # Names of parameters that, if not set, get a value that depends on the number of trees.
    size_dependent_parameters: tuple[tuple[str, ...], ...] = ()

    def size_parameter(self, setting: Mapping[str, Any]) -> str:
        """Return the name that a setting uses for the number of trees, or else the usual name."""
        return next(
            (name for name in self.size_parameters if name in setting), self.size_parameters[0]
        )

    def setting_refusal(self, setting: Mapping[str, Any]) -> str | None:
        """Return why a fit of more trees may not begin with the trees of this setting, or None."""
        size_names = [name for name in self.size_parameters if name in setting]
        if len(size_names) != 1:
            return f"the number of trees has {len(size_names) or 'no'} names in one setting."
        for synonymous_names in self.size_dependent_parameters:
            if all(setting.get(name) is None for name in synonymous_names):
                return (
                    f"{synonymous_names[0]} is chosen by the number of trees where it is not set: "
                    "set it, and all numbers are read off one fit."
                )
        if any(callable(setting.get(name)) for name in ("objective", "loss_function")):
            return "an objective of your own may remember what it was asked before."
        for name, value in setting.items():
            if name in self.size_independent_parameters or name in size_names or value is None:
                continue
            if name not in self.accepted_values:
                return f"it does not know whether {name} treats every tree alike."
            if not any(
                value is accepted_value or value == accepted_value
                for accepted_value in self.accepted_values[name]
            ):
                return f"{name}={value!r} {REFUSAL_REASONS.get(name, UNKNOWN_EFFECT)}."
        return None

    def fit_param_refusal(self, params: Mapping[str, Any], prefix: str) -> str | None:
        """Return why a fit of more trees with these fit parameters may begin differently.

        Return None if it begins with the same trees.
        """
        unknown_names = [
            name for name in params if name.removeprefix(prefix) not in self.fit_params
        ]
        return (
            f"{unknown_names[0]} of fit may end it, or have it begin elsewhere."
            if unknown_names
            else None
        )


class FirstTrees:
    """Wrapper of a fitted boosting model that predicts with the model's first trees only."""

    def __init__(self, model: Any, n_trees: int) -> None:
        package = find_package(model)
        assert package is not None
        self._model, self._first_trees_arguments = (
            model,
            package.first_trees_arguments(model, n_trees),
        )

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the wrapped model; prediction methods use only its first trees."""
        attribute = getattr(self._model, name)
        return (
            partial(attribute, **self._first_trees_arguments)
            if name in PREDICTION_METHODS
            else attribute
        )


def package_learners() -> tuple[type, ...]:
    """Return the learner classes of the boosting packages that have been imported."""
    return tuple(learner_class for learner_class, _ in _imported_classes())


def find_package(model: Any) -> Package | None:
    """Return the boosting package of a learner, found by its exact class, or None."""
    return next(
        (package for learner_class, package in _imported_classes() if type(model) is learner_class),
        None,
    )


def _imported_classes() -> Iterator[tuple[type, Package]]:
    for class_path, package in PACKAGES_BY_LEARNER.items():
        learner_class = imported_class(class_path)
        if learner_class is not None:
            yield learner_class, package


UNKNOWN_EFFECT = "is not known to treat every tree alike"
ENDS_FIT_EARLY = "ends the fit where a part of the rows says so"
CHANGES_EARLIER_TREES = "has later trees change what earlier ones say"
REFUSAL_REASONS = {
    "booster": CHANGES_EARLIER_TREES,
    "boosting_type": CHANGES_EARLIER_TREES,
    "model_shrink_rate": CHANGES_EARLIER_TREES,
    "langevin": CHANGES_EARLIER_TREES,
    "cat_features": "is encoded by CatBoost in a way that depends on the number of trees",
    "posterior_sampling": CHANGES_EARLIER_TREES,
    "early_stopping_rounds": ENDS_FIT_EARLY,
    "od_type": ENDS_FIT_EARLY,
    "od_wait": ENDS_FIT_EARLY,
    "od_pval": ENDS_FIT_EARLY,
    "use_best_model": ENDS_FIT_EARLY,
    "callbacks": "may end the fit, or change it on the way",
    "save_snapshot": "begins where another fit ended",
}


def _split_names(*name_lists: str) -> frozenset[str]:
    return frozenset(" ".join(name_lists).split())


XGBOOST = Package(
    size_parameters=("n_estimators",),
    first_trees_arguments=lambda model, m: {"iteration_range": (0, m)},
    size_independent_parameters=_split_names(
        "objective base_score colsample_bylevel colsample_bynode colsample_bytree",
        "enable_categorical eval_metric feature_types feature_weights gamma grow_policy",
        "importance_type interaction_constraints learning_rate max_bin max_cat_threshold",
        "max_cat_to_onehot max_delta_step max_depth max_leaves min_child_weight missing",
        "monotone_constraints multi_strategy n_jobs num_parallel_tree random_state reg_alpha",
        "reg_lambda sampling_method scale_pos_weight subsample tree_method validate_parameters",
        "verbosity quantile_alpha tweedie_variance_power huber_slope",
    ),
    accepted_values={
        "booster": ("gbtree",),
        "device": ("cpu",),
        "early_stopping_rounds": (),
        "callbacks": (),
    },
    fit_params=_split_names("sample_weight feature_weights verbose"),
)
LIGHTGBM = Package(
    size_parameters=("n_estimators",),
    first_trees_arguments=lambda model, m: {"num_iteration": m},
    size_independent_parameters=_split_names(
        "class_weight colsample_bytree importance_type learning_rate max_depth min_child_samples",
        "min_child_weight min_split_gain n_jobs num_leaves objective random_state reg_alpha",
        "reg_lambda subsample subsample_for_bin subsample_freq verbose verbosity force_col_wise",
        "force_row_wise deterministic max_bin min_data_in_bin bagging_seed feature_fraction_seed",
        "extra_seed data_random_seed feature_fraction_bynode extra_trees path_smooth linear_tree",
        "linear_lambda boost_from_average is_unbalance scale_pos_weight pos_bagging_fraction",
        "neg_bagging_fraction bagging_freq cat_smooth cat_l2 max_cat_threshold max_cat_to_onehot",
        "min_data_per_group monotone_constraints categorical_feature use_quantized_grad alpha",
        "tweedie_variance_power seed top_rate other_rate",
    ),
    accepted_values={
        "boosting_type": ("gbdt", "goss", "rf"),
        "data_sample_strategy": ("bagging", "goss"),
        "early_stopping_rounds": (),
        "device_type": ("cpu",),
    },
    fit_params=_split_names("sample_weight feature_name categorical_feature"),
)
CATBOOST = Package(
    size_parameters=("iterations", "n_estimators", "num_trees", "num_boost_round"),
    first_trees_arguments=lambda model, m: {"ntree_end": min(m, model.tree_count_)},
    size_independent_parameters=_split_names(
        "learning_rate eta depth max_depth l2_leaf_reg reg_lambda rsm colsample_bylevel",
        "loss_function objective border_count max_bin feature_border_type nan_mode",
        "leaf_estimation_iterations leaf_estimation_method thread_count random_seed random_state",
        "verbose silent logging_level metric_period max_ctr_complexity has_time class_weights",
        "auto_class_weights scale_pos_weight class_names one_hot_max_size random_strength",
        "ignored_features train_dir bagging_temperature allow_writing_files bootstrap_type",
        "subsample mvs_reg sampling_frequency grow_policy min_data_in_leaf",
        "min_child_samples max_leaves num_leaves score_function monotone_constraints",
        "feature_weights boost_from_average",
    ),
    accepted_values={
        "boosting_type": ("Plain", "Ordered"),
        "task_type": ("CPU",),
        "cat_features": ([],),
        "langevin": (False,),
        "posterior_sampling": (False,),
        "model_shrink_rate": (0,),
        "use_best_model": (False,),
        "save_snapshot": (False,),
        "early_stopping_rounds": (),
        "od_type": (),
        "od_wait": (),
        "od_pval": (),
        "callbacks": (),
    },
    fit_params=_split_names("sample_weight verbose"),
    size_dependent_parameters=(("learning_rate", "eta"), ("leaf_estimation_iterations",)),
)
PACKAGES_BY_LEARNER = {
    "xgboost.sklearn:XGBClassifier": XGBOOST,
    "xgboost.sklearn:XGBRegressor": XGBOOST,
    "truerisk.models.labelled_xgboost:LabelledXGBClassifier": XGBOOST,
    "lightgbm.sklearn:LGBMClassifier": LIGHTGBM,
    "lightgbm.sklearn:LGBMRegressor": LIGHTGBM,
    "truerisk.models.levelled_lightgbm:CategoricalLGBMClassifier": LIGHTGBM,
    "truerisk.models.levelled_lightgbm:CategoricalLGBMRegressor": LIGHTGBM,
    "truerisk.models.levelled_catboost:CategoricalCatBoostClassifier": CATBOOST,
    "truerisk.models.levelled_catboost:CategoricalCatBoostRegressor": CATBOOST,
    "catboost.core:CatBoostClassifier": CATBOOST,
    "catboost.core:CatBoostRegressor": CATBOOST,
}

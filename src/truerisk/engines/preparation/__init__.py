"""Fitted preprocessing steps before a learner, and the list of steps with a closed form."""

from __future__ import annotations

from truerisk.core.registry import parse_registry_table

CLOSED_FORMS = parse_registry_table(
    "truerisk.engines.preparation.closed",
    """
    sklearn.preprocessing:StandardScaler  scaling:standard
        means and deviations
    sklearn.preprocessing:MinMaxScaler  scaling:min_max
        a range
    sklearn.preprocessing:MaxAbsScaler  scaling:max_abs
        the greatest size
    sklearn.preprocessing:RobustScaler  scaling:robust
        medians and percentiles
    sklearn.preprocessing:OneHotEncoder  encoding:one_hot
        indicators of levels
    sklearn.preprocessing:OrdinalEncoder  encoding:ordinal
        codes of levels
    sklearn.preprocessing:FunctionTransformer  joining:identity
        no function
    sklearn.impute:SimpleImputer  imputing:simple_imputer
        one value in the gaps of a column
    sklearn.feature_selection:VarianceThreshold  selecting:variance_threshold
        columns that vary
    sklearn.feature_selection:SelectKBest  selecting:select_k_best
        columns by their scores
    sklearn.feature_selection:SelectPercentile  selecting:select_percentile
        columns by their scores
    sklearn.pipeline:Pipeline  joining:pipeline
        steps in turn
    sklearn.pipeline:FeatureUnion  joining:feature_union
        steps side by side
    sklearn.compose:ColumnTransformer  joining:column_transformer
        steps for some of the columns each
    """,
)
"""Closed forms of preprocessing steps, by the import paths of the steps' classes."""

"""A search for the page of the command line: k nearest neighbours on patients.csv."""

import math

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler


def make():
    """Not fitted: the command fits it on the rows of the file."""
    text = make_column_selector(dtype_exclude="number")
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=math.nan)
    coded = make_column_transformer((codes, text), remainder="passthrough")
    model = make_pipeline(coded, SimpleImputer(), StandardScaler(), KNeighborsClassifier())
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return GridSearchCV(model, {"kneighborsclassifier__n_neighbors": range(1, 30)}, cv=folds)

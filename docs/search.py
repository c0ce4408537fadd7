"""A search for the page of the command line: k nearest neighbours on patients.csv."""

from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def make():
    """Not fitted: the command fits it on the rows of the file."""
    model = make_pipeline(SimpleImputer(), StandardScaler(), KNeighborsClassifier())
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return GridSearchCV(model, {"kneighborsclassifier__n_neighbors": range(1, 30)}, cv=folds)

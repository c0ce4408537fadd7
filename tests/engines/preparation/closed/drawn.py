"""Tables, steps and train sets, drawn from a seed."""

import numpy as np
import pandas as pd
import polars as pl
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.feature_selection import (
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
    chi2,
    f_classif,
    f_regression,
)
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)

N = 80


class Draw:
    """One case: a table, a pipeline of steps, rows with their times, and asked rows."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.holes = self.chance(0.5)
        self.frame = self._frame()
        self.numbers = [name for name in self.frame if name[0] in "ni"]
        self.texts = [name for name in self.frame if name[0] in "tc"]
        self.X = self._table()
        self.steps = self._steps()

    def chance(self, p):
        return bool(self.rng.random() < p)

    def one(self, *values):
        return values[self.rng.integers(len(values))]

    def _frame(self):
        rng, columns = self.rng, {}
        for j in range(rng.integers(1, 5)):
            values = rng.normal(size=N) * 10.0 ** rng.integers(-3, 4) + rng.integers(-3, 4)
            if self.holes and self.chance(0.7):
                values[rng.random(N) < 0.15] = np.nan
            columns[f"n{j}"] = np.round(values, int(rng.integers(0, 6)))
        for j in range(rng.integers(0, 3)):
            columns[f"i{j}"] = rng.integers(0, rng.integers(2, 30), N)
        for j in range(rng.integers(0, 4)):
            levels = np.array([f"{self.one('a', 'Z', 'é')}{i}" for i in range(rng.integers(1, 9))])
            cells = levels[rng.integers(0, len(levels), N)].astype(object)
            if self.holes and self.chance(0.7):
                cells[rng.random(N) < 0.1] = self.one(None, np.nan)
                cells[rng.random(N) < 0.05] = self.one(None, np.nan)
            columns[f"t{j}"] = cells
        if self.chance(0.2):
            columns["b0"] = rng.random(N) < 0.5
        names = list(columns)
        return {names[j]: columns[names[j]] for j in rng.permutation(len(names))}

    def _table(self):
        kind = self.one("pandas", "pandas", "polars", "array")
        if kind == "polars":
            plain = {
                name: [None if v != v else v for v in cells.tolist()] if name[0] == "t" else cells
                for name, cells in self.frame.items()
            }
            return pl.DataFrame(plain)
        frame = pd.DataFrame(self.frame)
        if self.chance(0.3):  # the numbers of a row lie beside each other
            block = np.column_stack([self.frame[name] for name in self.numbers])
            others = frame.drop(columns=self.numbers)
            frame = pd.concat([pd.DataFrame(block, columns=self.numbers), others], axis=1)
            self.frame = {name: self.frame[name] for name in frame}
        if kind == "pandas":
            for name in self.texts:
                frame[name] = frame[name].astype(self.one("object", "category", "str"))
            return frame
        columns = list(self.frame.values())
        if not self.texts:
            return np.array(np.column_stack(columns), order=self.one("C", "F"))
        if self.numbers and self.chance(0.5):
            columns = [self.frame[name] for name in self.texts]
            self.numbers = []
        array = np.empty((N, len(columns)), dtype=object)
        for j, column in enumerate(columns):
            array[:, j] = column
        return array

    def _steps(self):
        if self.texts or self.chance(0.5):
            steps = [self._columns(), *self._on_numbers(int(self.rng.integers(0, 2)))]
        else:
            steps = self._on_numbers(int(self.rng.integers(1, 4)))
        steps += [self._unknown()] if self.chance(0.15) else []
        return self._named(steps)

    def _unknown(self):
        """A step without a closed form, which goes through its rows together."""
        return self.one(PCA(1), PCA(1, svd_solver="full"), PowerTransformer(), KNNImputer())

    def _named(self, steps):
        return Pipeline([(f"s{j}", step) for j, step in enumerate(steps)])

    def _columns(self):
        parts = []
        if self.numbers:
            which = self._which(self.numbers)
            if self.chance(0.2) and isinstance(self.X, pd.DataFrame):
                which = make_column_selector(dtype_include=np.number)
            steps = self._on_numbers(int(self.rng.integers(1, 3)))
            parts.append(("numbers", self._named(steps) if self.chance(0.8) else steps[0], which))
        if self.texts:
            parts.append(("texts", self._on_texts(), self._which(self.texts)))
        if self.numbers and self.chance(0.3):
            encode = self.one(OneHotEncoder, OrdinalEncoder)
            encoder = encode() if self.chance(0.2) else self._encoder()
            parts.append(("again", encoder, self._which(self.numbers[:1])))
        order = self.rng.permutation(len(parts))
        return ColumnTransformer(
            [parts[j] for j in order],
            remainder=self.one("drop", "drop", "passthrough", StandardScaler()),
            sparse_threshold=self.one(0.3, 0.0, 1.0),
        )

    def _which(self, names):
        listed = list(self.frame)
        if isinstance(self.X, np.ndarray) and self.X.shape[1] < len(listed):
            listed = self.texts
        places = [listed.index(name) for name in names]
        if isinstance(self.X, np.ndarray) or self.chance(0.3):
            if places == list(range(min(places), max(places) + 1)):
                return self.one(slice(min(places), max(places) + 1), places)
            mask = [j in places for j in range(len(listed))]
            return self.one(places, np.array(places), mask)
        return names

    def _on_texts(self):
        steps = []
        if self.chance(0.5):
            constant = {"strategy": "constant", "fill_value": self.one(None, "a0", "m")}
            steps.append(SimpleImputer(**self.one({"strategy": "most_frequent"}, constant)))
        return self._named([*steps, self._encoder()])

    def _encoder(self):
        if self.chance(0.3):
            known = self.one({}, {"handle_unknown": "use_encoded_value", "unknown_value": -1})
            return OrdinalEncoder(**known, encoded_missing_value=self.one(np.nan, -2))
        more = {}
        if self.chance(0.3):
            more = {"min_frequency": self.one(5, 0.1)}
        if self.chance(0.3):
            more |= {"max_categories": self.one(1, 2, 3)}
        return OneHotEncoder(
            handle_unknown=self.one("error", "ignore", "infrequent_if_exist"),
            sparse_output=self.chance(0.5),
            drop=None if more else self.one(None, None, "first", "if_binary"),
            **more,
        )

    def _on_numbers(self, n):
        some = [self._scaler() for _ in range(n)]
        if self.holes or self.chance(0.2):
            strategy = self.one("mean", "median", "most_frequent", "constant")
            fill = {"fill_value": self.one(None, 1, 0.5)} if strategy == "constant" else {}
            indicator, keep = self.chance(0.3), self.chance(0.3)
            imputer = SimpleImputer(
                strategy=strategy, add_indicator=indicator, keep_empty_features=keep, **fill
            )
            some.insert(0, imputer)
        return some[: max(n, 1)] if n else []

    def _scaler(self):
        return self.one(
            StandardScaler(with_mean=self.chance(0.8), with_std=self.chance(0.8)),
            StandardScaler(),
            MinMaxScaler(feature_range=self.one((0, 1), (-1.5, 2)), clip=self.chance(0.5)),
            MaxAbsScaler(),
            RobustScaler(
                with_centering=self.chance(0.8), quantile_range=self.one((25.0, 75.0), (10, 80))
            ),
            VarianceThreshold(self.one(0.0, 0.2)),
            SelectKBest(self.one(f_classif, f_regression, chi2), k=self.one(1, 2, "all")),
            SelectPercentile(f_classif, percentile=self.one(50, 30.0, 100)),
            FunctionTransformer(),
            FeatureUnion([("a", StandardScaler()), ("b", self.one("passthrough", MinMaxScaler()))]),
        )

    def train(self):
        """Rows, and how often each comes."""
        rows = np.sort(self.rng.choice(N, int(self.rng.integers(30, 70)), replace=False))
        times = self.rng.integers(1, 4, len(rows)) if self.chance(0.4) else None
        return rows, times

    def asked(self):
        """None, one or several questions."""
        n = int(self.rng.integers(0, 4))
        return [np.sort(self.rng.choice(N, 12, replace=False)) for _ in range(n)]

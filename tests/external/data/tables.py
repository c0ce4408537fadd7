"""Write predictor.pickle and prompts.csv: ``python tests/external/data/tables.py``.

`predictor.pickle` is what AutoGluon's bagged models leave: for each model an array of out-of-fold
probabilities, and the labels. `prompts.csv` is an evaluation of a language model: a line for each
prompt and question, with four or five questions about each of 30 documents.
"""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

HERE = Path(__file__).parent
MODELS = {
    "KNeighborsUnif_BAG_L1": KNeighborsClassifier(25),
    "KNeighborsDist_BAG_L1": KNeighborsClassifier(25, weights="distance"),
    "RandomForest_BAG_L1": RandomForestClassifier(30, min_samples_leaf=5, random_state=0),
    "ExtraTrees_BAG_L1": ExtraTreesClassifier(30, min_samples_leaf=5, random_state=0),
    "LinearModel_BAG_L1": LogisticRegression(C=0.01, solver="liblinear"),
    "NaiveBayes_BAG_L1": GaussianNB(),
}
SKILLS = {"short": 0.1, "role": 0.2, "steps": 0.6, "examples": 0.8, "steps and examples": 0.85}


def write_predictor() -> None:
    """Write probabilities of two columns of noisy features, in single precision as AutoGluon."""
    rng = np.random.default_rng(0)
    X, y = (part[:180] for part in load_breast_cancer(return_X_y=True))
    X = X[:, :4] + 2 * X[:, :4].std(axis=0) * rng.normal(size=(180, 4))
    folds = StratifiedKFold(8, shuffle=True, random_state=0)
    left = {
        "labels": np.array(["malignant", "benign"])[y].tolist(),
        "classes": ["malignant", "benign"],
    }
    left["oof"] = {
        name: cross_val_predict(model, X, y, cv=folds, method="predict_proba").astype(np.float32)
        for name, model in MODELS.items()
    }
    # Protocol 2 and the old name of numpy's module can be read by NumPy 1 and 2.
    stored = pickle.dumps(left, protocol=2).replace(b"numpy._core", b"numpy.core")
    (HERE / "predictor.pickle").write_bytes(stored)


def write_prompts() -> None:
    """Write the answers to questions with four choices; documents differ in difficulty."""
    rng = np.random.default_rng(0)
    document = np.repeat(np.arange(30), rng.integers(4, 6, 30))
    ease = 0.8 * rng.normal(size=30)[document] + 0.6 * rng.normal(size=len(document))
    target = rng.choice(list("ABCD"), len(document))
    lines = []
    for prompt, skill in SKILLS.items():
        is_right = skill + ease + 0.8 * rng.normal(size=len(document)) > 0
        guess = rng.choice(list("ABCD"), len(document))
        lines.append(
            pd.DataFrame(
                {
                    "prompt": prompt,
                    "item": [f"q{i:03d}" for i in range(len(document))],
                    "document": [f"doc{d:02d}" for d in document],
                    "target": target,
                    "answer": np.where(is_right, target, guess),
                }
            )
        )
    pd.concat(lines).to_csv(HERE / "prompts.csv", index=False)


if __name__ == "__main__":
    write_predictor()
    write_prompts()

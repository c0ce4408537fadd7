"""The verbs: what a user calls. Each checks what it was given, then takes one step.

| place | what it holds |
|---|---|
| `estimate.py` | `estimate_risk`, `risk_curve` |
| `search.py` | `HonestSearchCV` |
| `assess.py` | `assess` |
| `audit.py` | `audit` of a search that is fitted already, also as a check of skore |
| `bayesian_error.py` | `bayesian_error` of a linear rule given by its coefficients |
| `show_versions.py` | `show_versions`: versions, and engines that are off |
| `permutation_test.py` | `permutation_test`: whether a procedure learns anything |
| `validate.py` | `validate`: what a reviewer of a model asks |
| `plan_model.py` | `plan_development`: rows to develop a prediction model |
| `plan_validation.py` | `plan_validation`: rows to validate one |
| `plan_sample.py` | `plan_sample`: test rows for a width, rows shared |
| `learning_curve.py` | `learning_curve`: fewer rows, and more |
| `risk_over_time.py` | `risk_over_time`: losses along time, and whether they drift |
| `study.py` | `Study`: many replicates in a store |
| `permutations.py`, `learner_by_size.py` | orders of labels; fits on fewer rows |
| `replicate.py` | one replicate of a study |
| `assessing/`, `searching/`, `auditing/` | their parts |
"""

"""Numbers of rows: to develop a model, to validate it, to tune and to test.

| file | what it holds |
|---|---|
| `plan_sample.py` | `plan_sample`: test rows for a width, rows shared by tuning and testing |
| `plan_model.py` | `plan_development`: rows to develop a prediction model |
| `plan_validation.py` | `plan_validation`: rows to validate one |
| `model_size.py` | the formulas of both |
"""

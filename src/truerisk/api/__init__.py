"""The verbs: what a user calls. Each checks what it was given, then takes one step.

| file | verb |
|---|---|
| `estimate.py` | `estimate_risk`, `risk_curve` |
| `search.py`, `missing.py` | `HonestSearchCV`; what it was not asked for |
| `assess.py` | `assess` |
| `assessment.py`, `conclusion.py` | what `assess` gives: a table, and what to conclude from it |
| `audit.py`, `auditing/` | `audit` of a search that is fitted already, and its parts |
| `drawn.py` | its `plot_*()` |
| `record.py` | the JSON of an assessment, from which its report is drawn |
| `out_of_fold.py` | scores of rows without part in tuning or fit: ROC, calibration |
| `skore_check.py` | the audit as a check of skore reports |
| `forecast.py`, `pace.py` | what an assessment will cost, told from a few of its fits |
| `schedule.py` | its plans, drawn once for all learners |
| `own_claim.py` | what a learner that tunes inside its own fit claims |
| `ranking.py` | which learner comes first of equal ones |
| `choice.py`, `constant.py`, `paired.py` | the risks it compares with, and their differences |
| `compare.py`, `comparing/` | `compare`: paired tests of two rules, one file each |
| `plan_sample.py`, `sample_plan.py` | `plan_sample`: test rows for a width, rows shared |
| `compute.py` | the one road from a family and data to an evaluation |
| `origin.py` | seeds, versions, fingerprints: what a result says of its making |
| `leaks.py` | warnings about copies and groups on both sides of a split |
| `weights.py` | how sample weights reach a fit |
"""

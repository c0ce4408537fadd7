"""What `assess` is made of.

| file | what it holds |
|---|---|
| `families.py` | the learners that a user named, or the usual four |
| `plans.py` | the plans, drawn once for all learners |
| `forecast.py`, `pace.py` | fits and seconds that it will take, told from a few of its fits |
| `learning_curves.py` | of which learners a learning curve is measured, and what it takes |
| `own_claim.py` | what a learner that tunes inside its own fit claims |
| `ranking.py` | which learner comes first of equal ones |
| `tuned_learner.py` | what was found of one learner |
| `tested_learners.py` | what was found of all of them: every number of an assessment |
| `assessment.py` | `Assessment`: the same, printed, drawn and written |
| `apparent_risk.py` | the risk on the very rows of the fit |
| `fragility.py` | findings: what makes the answer fragile |
| `baseline.py` | the risk of the best constant answer |
| `risk_of_choice.py` | the risk of choosing among the learners as well |
| `paired_difference.py` | whether two risks on the same rows differ |
| `as_given.py` | whether tuning is shown to do better than the setting as it was given |
| `conclusion.py` | what to conclude, in words |
| `out_of_fold.py` | answers about rows without part in tuning or fit: ROC, calibration |
| `over_time.py` | its losses in stretches of time |
| `assessment_json.py` | the JSON from which its report is drawn |
| `assessment_plots.py` | its `plot_*()` |
"""

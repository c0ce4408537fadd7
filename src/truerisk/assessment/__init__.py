"""`assess`: several tuned learners on the same splits, and what to conclude.

| file | what it holds |
|---|---|
| `assess.py` | `assess` |
| `families.py` | the learners that a user named, or the usual four, and their order |
| `schedule.py` | what will be run: plans, drawn once; fits, seconds, learning curves |
| `pace.py` | how long fits take, told from a few of them |
| `tuned_learner.py` | one learner tuned and tested, its apparent risk, and what was found |
| `out_of_fold.py` | answers about rows without part in tuning or fit: ROC, calibration |
| `tested_learners.py` | all of them on the same splits: what is written, and what follows |
| `risk_of_choice.py` | the risk of choosing among them |
| `conclusion.py` | what to conclude, in words, and what makes the answer fragile |
| `assessment.py` | `Assessment`: the same, printed and drawn |
"""

"""Nouns and contracts: what the other rooms speak of. Nothing here knows a learner or a method.

| place | what it holds |
|---|---|
| `table/` | rows of any table: `Data` |
| `plan/` | which fit sees what and is asked what: `Plan` |
| `statistics/` | ROC curves, calibration, posteriors, sample sizes |
| `family.py`, `drawn_settings.py` | a learner with its candidates; candidates drawn at random |
| `identity.py` | whether an object is what a known class makes |
| `answers.py` | predictions of all candidates in flat blocks; coefficients of their models |
| `loss.py`, `losses.py` | what a loss is, and the positive one of two labels; losses of rows, R² |
| `confusion_scores.py`, `rank_scores.py` | scores of test sets by counted labels, and by ranks |
| `survival_losses.py` | losses of outcomes in time: their order, and curves of survival |
| `loss_words.py` | what users may write as `loss=` |
| `scorer_losses.py` | scorers of scikit-learn as losses |
| `contracts.py` | Method, Engine, Rule, and what passes between them |
| `evaluation.py` | what a method found, what was answered about every row and what it does |
| `results.py` | frozen results |
| `interval.py` | their numbers: intervals, and the scale on which people read a risk, tied or not |
| `records.py`, `json_values.py` | results as JSON and back into their class |
| `learning_curve.py` | risks at several numbers of training rows, and their law |
| `comparison.py` | a difference of two risks; which of several candidates may be the best |
| `present.py`, `writing.py` | numbers and tables as text and HTML; files of results |
| `registry.py` | words, and the pictures of results by word |
| `errors.py`, `progress.py` | sentences, warnings at the line of the user; the line of progress |
| `arguments.py`, `version.py` | checks of arguments, and their text; the version |
"""

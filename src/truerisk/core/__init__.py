"""Nouns and contracts: what the other rooms speak of. Nothing here knows a learner or a method.

| place | what it holds |
|---|---|
| `table/` | rows of any table: `Data` |
| `plan/` | which fit sees what and is asked what: `Plan` |
| `statistics/` | ROC curves, calibration, posteriors, sample sizes |
| `family.py`, `drawn_settings.py` | a learner with its candidates; candidates drawn at random |
| `identity.py` | whether an object is what a known class makes |
| `answers.py`, `linear_rules.py` | predictions of all candidates in flat blocks; coefficients |
| `loss.py`, `losses.py`, `scores/` | what a loss is; losses of rows; scores of test sets |
| `loss_words.py` | what users may write as `loss=` |
| `scorer_losses.py` | scorers of scikit-learn as losses |
| `positive.py` | scores of one class: which of two labels is the positive one |
| `contracts.py` | Method, Engine, Rule, and what passes between them |
| `evaluation.py` | what a method found |
| `results.py`, `breakdown.py`, `interval.py` | frozen results |
| `scale.py` | how people read a risk: a score as a score |
| `records.py`, `json_values.py` | results as JSON and back into their class |
| `displays.py` | pictures of results, by the room that draws them |
| `learning_curve.py` | risks at several numbers of training rows |
| `answered_rows.py`, `influences.py` | what was answered about every row; what it does to a value |
| `comparison.py` | a difference of two risks, and how sure it is |
| `best_set.py` | which of several candidates may be the best |
| `ties.py` | what counts as the same risk |
| `present.py`, `writing.py` | numbers and tables as text and HTML; files of results |
| `registry.py`, `errors.py`, `warned.py`, `progress.py` | words, sentences, who listens |
| `arguments.py`, `as_typed.py`, `version.py` | checks of arguments; their text; the version |
| `visible.py` | text that moves no terminal |
| `moved.py` | documented places of modules that have moved |
"""

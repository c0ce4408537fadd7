"""Arithmetic that several methods share.

| file | what it holds |
|---|---|
| `joint_covariance.py` | how the errors of risks of the same rows go together |
| `interval_choice.py` | who gets which interval |
| `averages.py` | from answers to mean losses and their standard errors |
| `in_time.py` | lengths of time, and what is said of forecasts |
| `set_risks.py` | losses of rows and of whole test sets, from answers |
| `paired_losses.py` | losses of several candidates on the same rows |
| `subgroup_risks.py` | the risk in every level of columns |
| `ahead.py` | what is said of tests in the order of time: how far ahead, of which windows |
| `apart.py` | how far tested rows lie from training rows |
| `in_space.py` | what methods share that leave out rows which lie together |
| `few_rows.py` | whether a mean loss rests on a few rows |
| `choosing_inside.py` | choosing in each outer split, and the story of each |
| `race.py` | candidates asked fold by fold until they cannot win any more |
| `row_influences.py` | scores of whole test sets as losses of rows |
| `procedure.py` | what methods share that tune inside and test outside |
| `bootstrap_answers.py` | answers of drawn samples as risks |
| `no_information.py` | the risk of answers that have nothing to do with y |
| `infinitesimal_jackknife.py` | the standard error of the leave-one-out bootstrap |
| `likelihood.py` | minus twice the log-likelihood |
| `ncv_spread.py` | means and variances of nested cross-validation |
| `bolstering_width.py` | how far bolstered rows are spread |
"""

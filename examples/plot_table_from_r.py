"""
A search that was made in R
===========================

A tree was tuned in R over eight settings, in five folds. Everything that truerisk needs of the
search is the table of its out-of-fold predictions, in the form in which ``collect_predictions()``
of tidymodels returns it. The guide shows the lines of R that write the file.
"""

import truerisk as tr

u = tr.audit_table("../docs/tidymodels.csv", scoring="roc_auc", positive="yes")

# %%
# **The best AUC, and the AUC to expect.** The best of eight noisy numbers is too good. The
# corrected value comes from bootstrap samples of the rows, in each of which the best setting is
# chosen again.

print(u.conclusion.replace(". ", ".\n"))
print(u.selected)
print(u.honest)

# %%
# **Which settings may be the best?** Intervals that contain zero leave it open. Among settings that
# may be the best, take the simplest.

print(u.best_set())
ax = u.plot()
_ = ax.set_title("Differences from the selected setting")

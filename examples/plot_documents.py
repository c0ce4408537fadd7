"""
A document's figure, drawn again
================================

The methods of truerisk come from several publications, and their tables and figures can be computed
again. This example is Figure 1 of Daudin and Mary-Huard. The target is a rule with ten intervals,
and the noise is .2: each label is wrong with this probability. Rules with k intervals are learned
on training sets of 100 points. The more intervals a rule has, the fewer errors it makes on the
training points (empirical error rate, EER). Beyond ten intervals it makes more errors on fresh
labels of these points (conditional error rate, CER) and on new points (true error rate, TER).
"""

import matplotlib.pyplot as plt

from truerisk.experiments import reproduce

report = reproduce("kearns-figure-1", replicates=60)
_, panels = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
report.plot(ax=panels)
for axes in panels[:2]:
    axes.axvline(10, color="C1", linewidth=1, label="intervals of the target")
    axes.legend(fontsize="small", frameon=False)

_ = panels[0].set_title("beyond ten intervals a rule learns noise")

# %%
# A statistical test judges every statement of the publication. This example uses sixty trials,
# which decide fewer statements than the two thousand trials of ``truerisk reproduce
# kearns-figure-1``. That command takes a minute and a half (`list of all experiments
# <../reproduce.html>`__):

for claim in report.claims:
    print(claim)

"""
A document's figure, drawn again
================================

Tables and figures of the documents behind truerisk can be run again. This is Figure 1 of
Daudin and Mary-Huard: a target of ten intervals, learned from 100 points with noise .2 by rules of
k intervals. The more intervals, the fewer errors on the training points (EER), and from ten on the
more on fresh labels (CER) and on new points (TER).
"""

import matplotlib.pyplot as plt

from truerisk.experiments import reproduce

report = reproduce("kearns-figure-1", replicates=60)
_, both = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
report.plot(ax=both)
for axes in both:
    axes.axvline(10, color="C1", linewidth=1, label="intervals of the target")
    axes.legend(fontsize="small", frameon=False)

_ = both[0].set_title("beyond ten intervals a rule learns noise")

# %%
# Every sentence of the document is judged by a test. Sixty trials decide less than the two thousand
# of ``truerisk reproduce kearns-figure-1``, four seconds' work
# (`all experiments <../reproduce.html>`__):

for claim in report.claims:
    print(claim)

"""
A document's figure, drawn again
================================

Twenty-seven tables and figures of the documents behind truerisk can be run again. This is Figure 1
of Daudin and Mary-Huard: a target of ten intervals, learned from 100 points with noise .2 by rules
of k intervals. The more intervals, the fewer errors on the training points (EER), and from ten on
the more on fresh labels (CER) and on new points (TER).
"""

import matplotlib.pyplot as plt

from truerisk.papers import reproduce

words = {
    "EER": "training points (EER)",
    "CER": "fresh labels (CER)",
    "TER": "new points (TER)",
}
report = reproduce("kearns-figure-1", replicates=60)
figure, both = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for axes, panel in zip(both, report.figures[0].panels, strict=True):
    for series in panel.series:
        label = words.get(series.label, series.label)
        axes.plot(series.x, series.y, series.style, linewidth=series.width, label=label)
        band = series.y - 2 * series.error, series.y + 2 * series.error
        axes.fill_between(series.x, *band, color="0.5", alpha=0.2, linewidth=0)
    axes.axvline(10, color="C1", linewidth=1, label="intervals of the target")
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    axes.legend(fontsize="small", frameon=False)

_ = both[0].set_title("beyond ten intervals a rule learns noise")

# %%
# Every sentence of the document is judged by a test. Sixty trials decide less than the two thousand
# of ``truerisk reproduce kearns-figure-1``, four seconds' work
# (`all experiments <../reproduce.html>`__):

for claim in report.claims:
    print(claim)

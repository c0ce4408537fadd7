"""Loaders that import functions to read, write, draw or compare results when first needed.

Result classes do not import the modules that draw them, nor modules of their own package that few
calls need. They call the loaders in this file with a name, and the function is imported then.
"""

from __future__ import annotations

from truerisk.core.registry import make_loader

# Functions of other subpackages, which draw, print or compare results.
load_from_package = make_loader(
    "truerisk",
    """
    difference  comparison.paired:difference  two estimates on the same splits
    notebook-picture  report.page:picture  the picture of a result, for a notebook
    page  report.page:draw_record  a result as one HTML page
    picture  report.plots.pictures:draw_picture  the figure of a result, as its page has it
    files  report.plots.figure_files:save_figures  the figures of a page as SVG, PNG and PDF
    figure-files  report.plots.figure_files:write_figures  given figures as SVG, PNG and PDF
    calibration-curve  report.plots.pictures:draw_picture
        the smoothed share of events over the probability, with its band
    decision-curve  report.plots.pictures:draw_picture  net benefit against the threshold
    estimate  report.plots.pictures:draw_estimate  risks with their intervals, a row for each
    critical-difference  report.plots.pictures:draw_picture
        average ranks, and which of them lie too close to be told apart
    fold-map  report.plots.fold_map:draw_fold_map  the rows of a split in space, on a map
    risk-curve  report.plots.curve:draw_curve  risk against the candidates
    learning-curve  report.plots.curve:draw_learning_curve  risk against training rows
    risk-over-time  report.plots.curve:draw_over_time  risk in stretches of time, and its trend
    coefficient-path  report.plots.curve:draw_path  coefficients against λ
    posterior  report.plots.curve:draw_posterior  densities of an error
    ladder  report.plots.pictures:draw_ladder  apparent, selected, honest risks
    boxes  report.plots.pictures:draw_boxes  risks of single random splits
    stability  report.plots.pictures:draw_stability  how often which setting was chosen
    calibration  report.plots.pictures:draw_calibration  observed shares over probabilities
    roc  report.plots.pictures:draw_roc  true against false positive rate
    precision-recall  report.plots.pictures:draw_precision_recall  precision against recall
    subgroups  report.plots.pictures:draw_forest  a loss in every subgroup, a forest plot
    instability  report.plots.pictures:draw_instability  how far single predictions move
    selected-features  report.plots.pictures:draw_features  how often features were selected
    study  report.plots.curve:draw_study  what a study found against the size
    """,
)

# Few calls need these functions of this subpackage, so they are imported at their first use.
load_from_results = make_loader(
    "truerisk.results",
    """
    read-dict  reading:read_dict  a result from plain values
    read-json  reading:read_json  a result from its JSON
    answered-rows  answered_rows:columns_of  a line for each test of a row
    best-set  best_set:may_be_best  the candidates that may be the best
    curve-text  curve_tables:curve_text  what is printed for a risk curve
    curve-blocks  curve_tables:curve_blocks  the tables of a risk curve, for notebooks and pages
    honest-numbers  bounds:numbers_of  the numbers of an estimate and of its scores, by name
    require  bounds:require  bounds on honest numbers, kept or not
    also-written  writing:written_text  a text that is also written to a file
    """,
)

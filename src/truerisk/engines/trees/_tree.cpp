// Trees on many samples of one table. Called by trees.py, which checks shapes and
// bounds. Compiled without contraction of products and sums: the rounding decides ties.

#include <cstddef>
#include <cstdint>

#include "_arrays.hpp"
#include "_tree_growth.hpp"
#include "_tree_impurity.hpp"

namespace {

template <typename T>
using List = Input<T, nb::ndim<1>>;

std::int32_t leaf_of(const tree::Table& table, const tree::Nodes& nodes, std::size_t row) {
    std::size_t at = 0;
    while (nodes.left[at] != tree::NONE) {
        const float value = table.column(static_cast<std::size_t>(nodes.column[at]))[row];
        at = static_cast<std::size_t>(value <= nodes.threshold[at] ? nodes.left[at]
                                                                   : nodes.right[at]);
    }
    return static_cast<std::int32_t>(at);
}

// Fit f is given rows[row_offsets[f]:row_offsets[f + 1]], each so many times, and asked about
// asked[asked_offsets[f]:...]. The nodes of all fits follow each other in the outputs.
template <typename Impurity>
void grow(const tree::Table& table, List<std::int32_t>& codes, List<double>& targets,
          std::size_t n_classes,
          List<std::int32_t>& rows, List<std::int32_t>& times, List<std::int64_t>& row_offsets,
          List<std::int32_t>& asked, List<std::int64_t>& asked_offsets,
          List<std::uint32_t>& seeds, Input<double, nb::ndim<2>>& limits, std::size_t n_tried,
          float close, tree::Nodes nodes, std::int64_t* n_nodes, std::int32_t* leaves) {
    tree::Grower<Impurity> grower(table, codes.data(), targets.data(), n_classes);
    for (std::size_t f = 0; f < seeds.shape(0); ++f) {
        const auto first = static_cast<std::size_t>(row_offsets.data()[f]);
        const auto last = static_cast<std::size_t>(row_offsets.data()[f + 1]);
        const double* const own = limits.data() + 5 * f;
        const tree::Limits limit{static_cast<std::int64_t>(own[0]), own[1], own[2], own[3], own[4],
                                 n_tried, close};
        const std::size_t made = grower.grow(rows.data() + first, times.data() + first,
                                             last - first, seeds.data()[f], limit, nodes);
        const auto end = static_cast<std::size_t>(asked_offsets.data()[f + 1]);
        for (auto i = static_cast<std::size_t>(asked_offsets.data()[f]); i < end; ++i)
            leaves[i] = leaf_of(table, nodes, static_cast<std::size_t>(asked.data()[i]));
        n_nodes[f] = static_cast<std::int64_t>(made);
        nodes = {nodes.left + made,      nodes.right + made,    nodes.column + made,
                 nodes.threshold + made, nodes.impurity + made, nodes.weight + made,
                 nodes.counts + made * n_classes};
    }
}

void grow_trees(Input<float, nb::ndim<2>> values, bool carried, List<std::int32_t> slots,
                Input<std::int32_t, nb::ndim<2>> order, List<std::int64_t> starts,
                List<std::int32_t> lists, List<float> low, List<float> high,
                List<std::int32_t> codes, List<double> targets, std::size_t n_classes, int measure,
                List<std::int32_t> rows, List<std::int32_t> times,
                List<std::int64_t> row_offsets, List<std::int32_t> asked,
                List<std::int64_t> asked_offsets, List<std::uint32_t> seeds,
                Input<double, nb::ndim<2>> limits, std::size_t n_tried, float close,
                Output<std::int32_t, nb::ndim<1>> left, Output<std::int32_t, nb::ndim<1>> right,
                Output<std::int32_t, nb::ndim<1>> column,
                Output<double, nb::ndim<1>> threshold, Output<double, nb::ndim<1>> impurity,
                Output<double, nb::ndim<1>> weight, Output<double, nb::ndim<2>> counts,
                Output<std::int64_t, nb::ndim<1>> n_nodes,
                Output<std::int32_t, nb::ndim<1>> leaves) {
    const tree::Table table{values.data(), values.shape(0), values.shape(1), carried,
                            slots.data(),  order.shape(0),  order.data(),    starts.data(),
                            lists.data(),  low.data(),      high.data()};
    const tree::Nodes nodes{left.data(),      right.data(),  column.data(), threshold.data(),
                            impurity.data(), weight.data(), counts.data()};
    nb::gil_scoped_release no_gil;
    const auto chosen = measure == 0   ? &grow<tree::Gini>
                        : measure == 1 ? &grow<tree::Entropy>
                                       : &grow<tree::Squares>;
    chosen(table, codes, targets, n_classes, rows, times, row_offsets, asked, asked_offsets, seeds, limits,
           n_tried, close, nodes, n_nodes.data(), leaves.data());
}

}  // namespace

void register_tree(nb::module_& m) {
    m.def("grow_trees", &grow_trees, "Trees on samples of one table.");
}

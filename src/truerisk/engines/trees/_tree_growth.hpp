// One tree after another on samples of one table, each as scikit-learn grows it.
//
// Every column of the table is sorted once, for all samples. A sample takes its rows out of the
// sorted columns, and each split divides them without disturbing their order, so that no node sorts.
// Where a node tries few of many columns, dividing all of them would take longer: the table is not
// carried along then, and the tried ones are sorted. Nodes are made depth first, the left child first.
//
// A column of two values has one place to split. Its rarer value is listed row by row, and a node
// counts what its rows list: of indicators of a text column's levels, one for all of them.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "_tree_draw.hpp"

namespace tree {

inline constexpr std::int32_t NONE = -1, NO_COLUMN = -2, NO_SLOT = -1;

struct Table {
    const float* values;  // (column, row)
    std::size_t n_columns, n_rows;
    bool carried;               // whether nodes keep the order of the columns
    const std::int32_t* slots;  // of a carried column among those that are sorted, or NO_SLOT
    std::size_t n_slots;
    const std::int32_t* order;  // (slot, place): the rows of a column by ascending value
    const std::int64_t* starts;  // of each row's list: the columns of two values whose rarer it has
    const std::int32_t* lists;
    const float *low, *high;  // the values of a column of two
    const float* column(std::size_t c) const { return values + c * n_rows; }
    bool of_two(std::size_t c) const { return carried && slots[c] == NO_SLOT; }
};

struct Limits {
    std::int64_t depth;
    double n_split, n_leaf, weight_leaf;  // rows are counted with their copies
    double decrease;
    std::size_t n_tried;
    float close;  // values no further apart are not split
};

// Where the nodes of a tree are written.
struct Nodes {
    std::int32_t *left, *right, *column;
    double *threshold, *impurity, *weight, *counts;  // counts: (node, class)
};

struct Entry {
    float value;
    std::uint32_t row;
};

template <typename Impurity>
class Grower {
public:
    Grower(Table table, const std::int32_t* codes, const double* targets, std::size_t n_classes)
        : table_(table),
          times_(table.n_rows),
          goes_left_(table.n_rows),
          draw_(table.n_columns),
          impurity_({codes, targets, times_.data()}, n_classes) {
        if (table.carried && table.n_slots < table.n_columns) {
            is_listed_.assign(table.n_columns, 0);
            tallies_.resize(table.n_columns * impurity_.tally_size());
        }
    }

    // Returns the number of nodes.
    std::size_t grow(const std::int32_t* rows, const std::int32_t* times, std::size_t n,
                     std::uint32_t seed, const Limits& limits, Nodes nodes) {
        load(rows, times, n);
        draw_.start_tree(seed);
        n_nodes_ = 0;
        impurity_.node(rows_.data(), n);
        whole_ = impurity_.whole();
        stack_.assign(1, root(n, limits));
        while (!stack_.empty()) {
            const Part part = stack_.back();
            stack_.pop_back();
            add_node(part, limits, nodes);
        }
        for (std::size_t i = 0; i < n; ++i) times_[rows_[i]] = 0.0;
        return n_nodes_;
    }

private:
    // A node to be made: its rows, and what is known of it.
    struct Part {
        std::size_t start, end;
        std::int64_t depth;
        std::int32_t parent;
        bool is_left, is_leaf;
        double impurity;
        std::size_t n_constant;
    };

    struct Split {
        bool found = false;
        std::size_t column = 0;
        double threshold = 0.0;
    };

    void load(const std::int32_t* rows, const std::int32_t* times, std::size_t n) {
        n_ = n;
        rows_.resize(n);
        spare_rows_.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            rows_[i] = static_cast<std::uint32_t>(rows[i]);
            times_[rows_[i]] = static_cast<double>(times[i]);
        }
        spare_.resize(n);
        entries_.resize(table_.carried ? n * table_.n_slots : n);
        if (!table_.carried) return;
        Entry* to = entries_.data();
        for (std::size_t c = 0; c < table_.n_columns; ++c) {
            if (table_.of_two(c)) continue;
            const float* const value = table_.column(c);
            const std::int32_t* const order = table_.order + slot(c) * table_.n_rows;
            for (std::size_t i = 0; i < table_.n_rows; ++i) {
                const auto row = static_cast<std::uint32_t>(order[i]);
                if (times_[row] > 0.0) *to++ = {value[row], row};
            }
        }
    }

    std::size_t slot(std::size_t column) const {
        return static_cast<std::size_t>(table_.slots[column]);
    }

    Part root(std::size_t n, const Limits& limits) const {
        const double impurity = impurity_.impurity();
        return {0, n, 0, NONE, false, is_leaf(0, whole_, impurity, limits), impurity, 0};
    }

    static bool is_leaf(std::int64_t depth, double n, double impurity, const Limits& limits) {
        return depth >= limits.depth || n < limits.n_split || n < 2 * limits.n_leaf ||
               n < 2 * limits.weight_leaf || impurity <= std::numeric_limits<double>::epsilon();
    }

    void add_node(const Part& part, const Limits& limits, Nodes& nodes) {
        const std::size_t at = n_nodes_++, m = part.end - part.start;
        impurity_.node(rows_.data() + part.start, m);
        if (part.parent != NONE) {
            const auto above = static_cast<std::size_t>(part.parent);
            (part.is_left ? nodes.left : nodes.right)[above] = static_cast<std::int32_t>(at);
        }
        const std::vector<double>& totals = impurity_.totals();
        std::copy(totals.begin(), totals.end(), nodes.counts + at * totals.size());
        nodes.weight[at] = impurity_.whole();
        nodes.impurity[at] = part.impurity;
        nodes.left[at] = nodes.right[at] = NONE;
        nodes.column[at] = NO_COLUMN;
        nodes.threshold[at] = NO_COLUMN;
        if (part.is_leaf) return;
        std::size_t n_constant = part.n_constant;
        const Split split = best_split(part, limits, n_constant);
        if (!split.found) return;
        const std::size_t n_left = take_sides(part, split);
        const double left = impurity_.left_impurity(), right = impurity_.right_impurity();
        if (improvement(part.impurity, left, right) + std::numeric_limits<double>::epsilon() <
            limits.decrease) {
            return;
        }
        nodes.column[at] = static_cast<std::int32_t>(split.column);
        nodes.threshold[at] = split.threshold;
        const std::int64_t depth = part.depth + 1;
        const bool left_ends = is_leaf(depth, impurity_.left(), left, limits);
        const bool right_ends = is_leaf(depth, impurity_.right(), right, limits);
        divide(part, n_left, n_constant, left_ends, right_ends);
        const auto parent = static_cast<std::int32_t>(at);
        const std::size_t middle = part.start + n_left;
        stack_.push_back({middle, part.end, depth, parent, false, right_ends, right, n_constant});
        stack_.push_back({part.start, middle, depth, parent, true, left_ends, left, n_constant});
    }

    Split best_split(const Part& part, const Limits& limits, std::size_t& n_constant) {
        const std::size_t m = part.end - part.start;
        Split best;
        double most = -std::numeric_limits<double>::infinity();
        if (!tallies_.empty()) tally(part);
        draw_.start_node(part.n_constant, limits.n_tried);
        for (std::size_t column = 0; draw_.next(column);) {
            if (table_.of_two(column)) {
                if (!divides(column, limits.close)) {
                    draw_.constant();
                    continue;
                }
                draw_.varies();
                split_in_two(column, limits, most, best);
                continue;
            }
            const Entry* const sorted = sorted_column(part, column);
            if (sorted[m - 1].value <= sorted[0].value + limits.close) {
                draw_.constant();
                continue;
            }
            draw_.varies();
            search(sorted, m, column, limits, most, best);
        }
        n_constant = draw_.end_node();
        return best;
    }

    // Every place between two values of a column that are not close; the first of equals stays.
    void search(const Entry* sorted, std::size_t m, std::size_t column, const Limits& limits,
                double& most, Split& best) {
        const double least = std::max(limits.n_leaf, limits.weight_leaf);
        impurity_.reset();
        for (std::size_t i = 0; i + 1 < m; ++i) {
            impurity_.move(sorted[i].row);
            if (sorted[i + 1].value <= sorted[i].value + limits.close) continue;
            const double left = impurity_.left(), right = impurity_.right();
            if (left < least || right < least) continue;
            const double gain = impurity_.gain();
            if (gain > most) {
                most = gain;
                best.found = true;
                best.column = column;
                best.threshold = sorted[i].value / 2.0 + sorted[i + 1].value / 2.0;
            }
        }
    }

    // What the listed values of the node's rows add up to, column by column.
    void tally(const Part& part) {
        const std::size_t size = impurity_.tally_size();
        for (const std::size_t column : listed_) is_listed_[column] = 0;
        listed_.clear();
        for (std::size_t i = part.start; i < part.end; ++i) {
            const std::uint32_t row = rows_[i];
            for (std::int64_t e = table_.starts[row]; e < table_.starts[row + 1]; ++e) {
                const auto column = static_cast<std::size_t>(table_.lists[e]);
                double* const own = tallies_.data() + column * size;
                if (!is_listed_[column]) {
                    is_listed_[column] = 1;
                    listed_.push_back(column);
                    std::fill_n(own, size, 0.0);
                }
                impurity_.add(own, row);
            }
        }
    }

    // Whether a column of two values has both among the node's rows.
    bool divides(std::size_t column, float close) const {
        return is_listed_[column] && !(table_.high[column] <= table_.low[column] + close) &&
               tallies_[column * impurity_.tally_size()] != impurity_.whole();
    }

    // The listed rows stand for the left side: which side is which changes no gain, not by a bit.
    void split_in_two(std::size_t column, const Limits& limits, double& most, Split& best) {
        const double least = std::max(limits.n_leaf, limits.weight_leaf);
        impurity_.divide(tallies_.data() + column * impurity_.tally_size());
        if (impurity_.left() < least || impurity_.right() < least) return;
        const double gain = impurity_.gain();
        if (!(gain > most)) return;
        most = gain;
        best.found = true;
        best.column = column;
        best.threshold = table_.low[column] / 2.0 + table_.high[column] / 2.0;
    }

    const Entry* sorted_column(const Part& part, std::size_t column) {
        if (table_.carried) return entries_.data() + slot(column) * n_ + part.start;
        const float* const value = table_.column(column);
        const std::size_t m = part.end - part.start;
        for (std::size_t i = 0; i < m; ++i) {
            const std::uint32_t row = rows_[part.start + i];
            entries_[i] = {value[row], row};
        }
        std::sort(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(m),
                  [](const Entry& a, const Entry& b) { return a.value < b.value; });
        return entries_.data();
    }

    // Which rows go left; they are moved there for the impurity of both sides.
    std::size_t take_sides(const Part& part, const Split& split) {
        const float* const value = table_.column(split.column);
        std::size_t n_left = 0;
        impurity_.reset();
        for (std::size_t i = part.start; i < part.end; ++i) {
            const std::uint32_t row = rows_[i];
            const bool left = value[row] <= split.threshold;
            goes_left_[row] = left;
            if (left) impurity_.move(row);
            n_left += left;
        }
        return n_left;
    }

    double improvement(double parent, double left, double right) const {
        const double n = impurity_.whole();
        return n / whole_ *
               (parent - impurity_.right() / n * right - impurity_.left() / n * left);
    }

    // The rows of both children, and the sorted columns of those that will be split.
    void divide(const Part& part, std::size_t n_left, std::size_t n_constant, bool left_ends,
                bool right_ends) {
        const std::size_t m = part.end - part.start;
        std::size_t kept = 0, gone = 0;
        for (std::size_t i = part.start; i < part.end; ++i) {
            const std::uint32_t row = rows_[i];
            rows_[part.start + kept] = row;
            spare_rows_[gone] = row;
            const std::size_t left = goes_left_[row];
            kept += left;
            gone += 1 - left;
        }
        std::copy_n(spare_rows_.begin(), m - n_left, &rows_[0] + part.start + n_left);
        if (!table_.carried || (left_ends && right_ends)) return;
        for (std::size_t k = n_constant; k < table_.n_columns; ++k) {
            const std::size_t column = draw_.order()[k];
            if (table_.of_two(column)) continue;
            Entry* const mine = entries_.data() + slot(column) * n_ + part.start;
            if (right_ends) {
                keep_left(mine, m);
            } else if (left_ends) {
                keep_right(mine, m);
            } else {
                keep_both(mine, m, n_left);
            }
        }
    }

    void keep_left(Entry* mine, std::size_t m) const {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < m; ++i) {
            const Entry entry = mine[i];
            mine[kept] = entry;
            kept += goes_left_[entry.row];
        }
    }

    // From the end, so that nothing is written over before it is read.
    void keep_right(Entry* mine, std::size_t m) const {
        std::size_t kept = m;
        for (std::size_t i = m; i-- > 0;) {
            const Entry entry = mine[i];
            if (!goes_left_[entry.row]) mine[--kept] = entry;
        }
    }

    void keep_both(Entry* mine, std::size_t m, std::size_t n_left) {
        std::size_t kept = 0, gone = 0;
        for (std::size_t i = 0; i < m; ++i) {
            const Entry entry = mine[i];
            mine[kept] = entry;
            spare_[gone] = entry;
            const std::size_t left = goes_left_[entry.row];
            kept += left;
            gone += 1 - left;
        }
        std::copy_n(spare_.begin(), m - n_left, mine + n_left);
    }

    Table table_;
    std::vector<double> times_;
    std::vector<std::uint8_t> goes_left_;
    Draw draw_;
    Impurity impurity_;
    std::size_t n_ = 0, n_nodes_ = 0;
    double whole_ = 0.0;
    std::vector<std::uint32_t> rows_, spare_rows_;
    std::vector<Entry> entries_, spare_;
    std::vector<Part> stack_;
    std::vector<std::uint8_t> is_listed_;
    std::vector<std::size_t> listed_;
    std::vector<double> tallies_;  // of each column of two values, in the node at hand
};

}  // namespace tree

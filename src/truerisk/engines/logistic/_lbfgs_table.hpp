// The rows of a fit of logistic regression, in blocks that a cache holds, columns of zeros apart.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "_lbfgs.hpp"
#include "_lbfgs_blocks.hpp"

namespace lbfgs {

constexpr std::size_t AT_ONCE = 128;  // rows of a block
constexpr std::size_t APART = 8;      // numbers between columns, that they share no place in the cache
constexpr std::size_t FEW = 16;       // of so many cells one that is not 0: picking them out is quicker

inline std::size_t up_to(std::size_t n, std::size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

// The cells that are not 0 in columns that are mostly zeros, with their places; where these are all
// equal, as those that say whether a word is the level, the places alone: what is read takes the time.
class Sparse {
public:
    // The next column, of `length` cells.
    void append(const double* cells, std::size_t length) {
        Column own{true, cells_.size(), places_.size(), 0, 0.0};
        for (std::size_t i = 0; i < length; ++i) {
            if (cells[i] == 0.0) continue;
            if (own.same == 0.0) own.same = cells[i];
            own.equal = own.equal && cells[i] == own.same;
            places_.push_back(static_cast<std::uint32_t>(i));
        }
        own.size = places_.size() - own.place;
        for (std::size_t t = own.place; !own.equal && t < places_.size(); ++t)
            cells_.push_back(cells[places_[t]]);
        columns_.push_back(own);
    }

    // y += d x of a column x
    void add(std::size_t j, double d, double* y) const {
        const Column& own = columns_[j];
        const double* const x = cells_.data() + own.cell;
        const std::uint32_t* const at = places_.data() + own.place;
        const double step = d * own.same;
        for (std::size_t t = 0; t < own.size; ++t) y[at[t]] += own.equal ? step : d * x[t];
    }

    // Σ x r of a column x
    double dot(std::size_t j, const double* r) const {
        const Column& own = columns_[j];
        const double* const x = cells_.data() + own.cell;
        const std::uint32_t* const at = places_.data() + own.place;
        double total = 0.0;
        for (std::size_t t = 0; t < own.size; ++t) total += own.equal ? r[at[t]] : x[t] * r[at[t]];
        return own.equal ? own.same * total : total;
    }

private:
    struct Column {
        bool equal;
        std::size_t cell, place, size;  // where its cells and their places begin, how many are not 0
        double same;
    };

    std::vector<Column> columns_;
    Vector cells_;
    std::vector<std::uint32_t> places_;
};

// Memory that is written before it is read. On Linux it lies on large pages, as NumPy's does: a table of
// half a million rows has as many small ones as take half the time of copying it.
inline std::unique_ptr<double[]> unset(std::size_t n) {
    std::unique_ptr<double[]> cells(new double[n]);
#ifdef __linux__
    constexpr std::size_t PAGE = 4096, LARGE = 1 << 22;
    const std::size_t size = n * sizeof(double);
    const std::size_t gap = PAGE - reinterpret_cast<std::uintptr_t>(cells.get()) % PAGE;
    if (size > LARGE) madvise(reinterpret_cast<char*>(cells.get()) + gap, size - gap, MADV_HUGEPAGE);
#endif
    return cells;
}

// Rows of a fit: `length` of them from `first` on, filled up with rows of weight 0.
struct Block {
    std::size_t first, length;
    std::size_t at;  // where its dense columns begin
    Sparse sparse;
};

struct Table {
    std::size_t length, p, width;       // `width`: dense columns, filled up with zeros
    std::vector<std::size_t> dense, sparse;  // which columns are kept how
    std::vector<Block> blocks;
    std::unique_ptr<double[]> cells;
    Vector most;            // the largest cell of each column
    Vector weight, second;  // the weights add up to one; 1 for the second class
    std::vector<std::int32_t> code;

    logistic::Cells cells_of(const Block& block) const {
        return {cells.get() + block.at, block.length + APART, block.length, width};
    }

    // Sparse columns leave the cells of the blocks, and dense ones move up.
    void set_apart() {
        width = up_to(dense.size(), logistic::COLUMNS);
        std::unique_ptr<double[]> left = unset((length + blocks.size() * APART) * width);
        double* to = left.get();
        for (Block& block : blocks) {
            const std::size_t stride = block.length + APART;
            const double* const own = cells.get() + block.at;
            for (const std::size_t j : sparse) block.sparse.append(own + j * stride, block.length);
            block.at = static_cast<std::size_t>(to - left.get());
            for (const std::size_t j : dense) to = std::copy_n(own + j * stride, stride, to);
            to = std::fill_n(to, (width - dense.size()) * stride, 0.0);
        }
        cells = std::move(left);
    }
};

inline Table table_of(const double* X, std::size_t by_row, std::size_t by_column, std::size_t p,
               const std::int64_t* rows, std::size_t n, const double* weights,
               const std::int32_t* codes) {
    Table table;
    table.length = up_to(n, logistic::BLOCK);
    table.p = p;
    table.most.assign(p, 0.0);
    for (Vector* each : {&table.weight, &table.second}) each->assign(table.length, 0.0);
    table.code.assign(table.length, 0);
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) total += weights[i];
    for (std::size_t i = 0; i < n; ++i) {
        table.weight[i] = weights[i] / total;
        table.code[i] = codes[i];
    }
    for (std::size_t i = 0; i < table.length; ++i) table.second[i] = table.code[i] == 1 ? 1.0 : 0.0;
    table.width = up_to(p, logistic::COLUMNS);
    table.cells = unset((table.length + up_to(n, AT_ONCE) / AT_ONCE * APART) * table.width);
    std::vector<std::size_t> nonzero(p, 0);
    std::size_t at = 0;
    for (std::size_t first = 0; first < table.length; first += AT_ONCE) {
        const std::size_t length = std::min(AT_ONCE, table.length - first), stride = length + APART;
        const std::size_t some = std::min(length, n - first);
        double* const cells = table.cells.get() + at;
        std::fill_n(cells, table.width * stride, 0.0);
        const std::int64_t* const own = rows + first;
        if (by_column < by_row) {
            for (std::size_t i = 0; i < some; ++i) {
                const double* const row = X + static_cast<std::size_t>(own[i]) * by_row;
                for (std::size_t j = 0; j < p; ++j) cells[j * stride + i] = row[j * by_column];
            }
        } else {
            for (std::size_t j = 0; j < p; ++j) {
                const double* const column = X + j * by_column;
                for (std::size_t i = 0; i < some; ++i)
                    cells[j * stride + i] = column[static_cast<std::size_t>(own[i]) * by_row];
            }
        }
        for (std::size_t j = 0; j < p; ++j) {
            double* const column = cells + j * stride;
            table.most[j] = std::max(table.most[j], logistic::centre(column, 0.0, some));
            for (std::size_t i = 0; i < some; ++i) nonzero[j] += column[i] != 0.0;
        }
        table.blocks.push_back({first, length, at, {}});
        at += table.width * stride;
    }
    for (std::size_t j = 0; j < p; ++j) (nonzero[j] * FEW > n ? table.dense : table.sparse).push_back(j);
    if (!table.sparse.empty()) table.set_apart();
    return table;
}

}  // namespace lbfgs

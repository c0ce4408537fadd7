// Where L-BFGS-B stops on penalised logistic regression. Called by lbfgs.py, which checks.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "_lbfgs.hpp"
#include "_logistic_loops.hpp"

namespace nb = nanobind;

namespace {

template <typename T, typename Shape>
using Input = nb::ndarray<const T, Shape, nb::c_contig, nb::device::cpu>;
template <typename T, typename Shape>
using Output = nb::ndarray<T, Shape, nb::c_contig, nb::device::cpu>;
using Rowwise = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Columnwise = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using lbfgs::Vector;

constexpr std::size_t WAYS = 2;  // as the numbers are, and with noise of the size of rounding

// Some rows, column by column. Of a column that is mostly zeros the other cells are kept, with their
// places; if these are all equal, as those that say whether a word is the level, the places alone:
// what is read takes the time.
class Rows {
  public:
    std::size_t first, length;

    Rows(std::size_t begin, std::size_t n_rows) : first(begin), length(n_rows) {}

    // The next column, of `length` cells.
    void append(const double* cells) {
        Column own{ALL, cells_.size(), places_.size(), 0, 0.0};
        for (std::size_t i = 0; i < length; ++i) own.size += cells[i] != 0.0;
        if (own.size * FEW > length) {
            cells_.insert(cells_.end(), cells, cells + length);
            columns_.push_back(own);
            return;
        }
        own.kind = EQUAL;
        for (std::size_t i = 0; i < length; ++i) {
            if (cells[i] == 0.0) continue;
            if (own.same == 0.0) own.same = cells[i];
            if (cells[i] != own.same) own.kind = SOME;
            places_.push_back(static_cast<std::uint32_t>(i));
        }
        for (std::size_t t = own.place; own.kind == SOME && t < places_.size(); ++t)
            cells_.push_back(cells[places_[t]]);
        columns_.push_back(own);
    }

    // y += d x of a column x
    void add(std::size_t j, double d, double* y) const {
        const Column& own = columns_[j];
        const double* const x = cells_.data() + own.cell;
        const std::uint32_t* const at = places_.data() + own.place;
        if (own.kind == ALL) {
            logistic::add(y, x, d, length);
        } else if (own.kind == SOME) {
            for (std::size_t t = 0; t < own.size; ++t) y[at[t]] += d * x[t];
        } else {
            const double step = d * own.same;
            for (std::size_t t = 0; t < own.size; ++t) y[at[t]] += step;
        }
    }

    // Σ x r of a column x
    double dot(std::size_t j, const double* r) const {
        const Column& own = columns_[j];
        const double* const x = cells_.data() + own.cell;
        const std::uint32_t* const at = places_.data() + own.place;
        if (own.kind == ALL) return logistic::dot(x, r, length);
        if (own.kind == EQUAL)
            return own.same * summed(own.size, [&](std::size_t t) { return r[at[t]]; });
        return summed(own.size, [&](std::size_t t) { return x[t] * r[at[t]]; });
    }

  private:
    static constexpr std::size_t FEW = 4;    // of so many cells one: picking them out is quicker then
    static constexpr std::size_t LANES = 4;  // sums at a time, that none waits for the one before

    enum Kind : std::uint8_t { ALL, SOME, EQUAL };

    struct Column {
        Kind kind;
        std::size_t cell, place, size;  // where its cells and their places begin, how many are not 0
        double same;
    };

    template <typename Part>
    static double summed(std::size_t n, const Part& part) {
        double sums[LANES] = {}, total = 0.0;
        std::size_t t = 0;
        for (; t + LANES <= n; t += LANES)
            for (std::size_t k = 0; k < LANES; ++k) sums[k] += part(t + k);
        for (; t < n; ++t) total += part(t);
        for (const double sum : sums) total += sum;
        return total;
    }

    std::vector<Column> columns_;
    Vector cells_;
    std::vector<std::uint32_t> places_;
};

constexpr std::size_t AT_ONCE = 2048;  // rows whose scores stay in the nearest cache for all columns

// Rows of a fit, filled up to whole blocks with rows of weight 0.
struct Table {
    std::size_t length, p;
    std::vector<Rows> parts;
    Vector most;    // the largest cell of each column
    Vector weight;  // they add up to one
    std::vector<std::int32_t> code;
};

// How turned coordinates stand to those of the solver: `rows` directions, one row per column of the
// table as it was, and `size`, the length of its columns' largest cells. The last coordinate of a turned
// table is no direction: it stands for what lies across the rows, where rounding alone moves anything.
struct Turn {
    const double* rows;
    std::size_t p, width;
    double size;
};

// The mean deviance (halved) and λ/2 times the squares of the coefficients. One function for two
// classes, else one per class; coefficients first, the intercept of each function last.
class Objective {
public:
    double penalty = 0.0;

    Objective(const Table& rows, std::size_t classes, const Turn* turning)
        : table(rows), turn(turning), functions(classes == 2 ? 1 : classes),
          eta(functions * rows.length), left(functions * rows.length), second(rows.length),
          most(rows.most), highest(functions, 0) {
        if (turn) {  // as long in all as the noise of the solver's columns is
            const double each = turn->size / std::sqrt(static_cast<double>(rows.p));
            std::fill(most.begin(), most.end(), each);
        }
        for (std::size_t i = 0; i < second.size(); ++i) second[i] = table.code[i] == 1 ? 1.0 : 0.0;
    }

    std::size_t size() const { return functions * (table.p + 1); }

    // How far no row's function moves farther when x moves by d.
    double reach(const Vector& d) const {
        double farthest = 0.0;
        for (std::size_t f = 0; f < functions; ++f) {
            const double* const own = d.data() + f * (table.p + 1);
            double sum = 0.0;
            for (std::size_t j = 0; j < table.p; ++j) {
                sum += turn ? own[j] * own[j] : std::fabs(own[j]) * most[j];
            }
            if (turn) sum = std::sqrt(sum) * turn->size;
            farthest = std::max(farthest, sum + std::fabs(own[table.p]));
        }
        return farthest;
    }

    // The size of the gradient's largest component; where it is above `enough`, that of any above it.
    double largest(const Vector& gradient, double enough) const {
        double found = 0.0;
        for (std::size_t f = 0; f < functions; ++f) {
            const double* const own = gradient.data() + f * (table.p + 1);
            found = larger(found, own[table.p]);
            if (!turn) {
                for (std::size_t j = 0; j < table.p; ++j) found = larger(found, own[j]);
                continue;
            }
            found = larger(found, component(own, highest[f]));  // it often stays the largest
            double most_here = 0.0;
            for (std::size_t j = 0; j < turn->p && !(found > enough); ++j) {
                const double here = std::fabs(component(own, j));
                if (here > most_here) {
                    most_here = here;
                    highest[f] = j;
                }
                found = larger(found, here);
            }
        }
        return found;
    }

    // What the rounding of a value is relative to. Of many classes it is a difference of predictors.
    double value_size(const Vector& x, double value) const {
        return functions == 1 ? std::fabs(value) : std::max(std::fabs(value), reach(x));
    }

    double operator()(const Vector& x, Vector& gradient, lbfgs::Shaking& shaking) const {
        const std::size_t n = table.length, width = table.p + 1;
        double squares = 0.0;
        for (std::size_t f = 0; f < functions; ++f) {
            const double* const own = x.data() + f * width;
            std::fill_n(eta.begin() + static_cast<std::ptrdiff_t>(f * n), n, own[table.p]);
            for (const Rows& part : table.parts) {
                double* const scores = eta.data() + f * n + part.first;
                for (std::size_t j = 0; j < table.p; ++j)
                    if (own[j] != 0.0) part.add(j, own[j], scores);
            }
            for (std::size_t j = 0; j < table.p; ++j) squares += own[j] * own[j];
        }
        if (shaking.on) {
            const double size = reach(x);
            for (double& each : eta) each += size * shaking();
        }
        const double value = functions == 1 ? logistic::deviance(second.data(), table.weight.data(),
                                                                 eta.data(), left.data(), n)
                                            : of_many();
        for (std::size_t f = 0; f < functions; ++f) {
            double* const own = left.data() + f * n;
            double sum = 0.0, size = 0.0;
            for (std::size_t i = 0; i < n; ++i) {
                if (shaking.on && functions > 1) own[i] += table.weight[i] * shaking();
                sum += own[i];
                size += std::fabs(own[i]);
            }
            double* const slope = gradient.data() + f * width;
            std::fill_n(slope, table.p, 0.0);
            for (const Rows& part : table.parts)
                for (std::size_t j = 0; j < table.p; ++j) slope[j] += part.dot(j, own + part.first);
            for (std::size_t j = 0; j < table.p; ++j)
                slope[j] = slope[j] + size * most[j] * shaking() + penalty * x[f * width + j];
            slope[table.p] = sum + size * shaking();
        }
        return value + 0.5 * penalty * squares + value_size(x, value) * shaking();
    }

private:
    const Table& table;
    const Turn* turn;
    std::size_t functions;
    mutable Vector eta, left;
    Vector second, most;  // 1 for the second class; the largest cell of each column
    mutable std::vector<std::size_t> highest;  // where each function's gradient was largest

    static double larger(double found, double g) {
        return std::fabs(g) > found || g != g ? std::fabs(g) : found;
    }

    // What a gradient in turned coordinates is in one column of the table as it was.
    double component(const double* own, std::size_t j) const {
        const double* const row = turn->rows + j * turn->width;
        double sums[4] = {};
        std::size_t i = 0;
        for (; i + 4 <= turn->width; i += 4) {
            for (std::size_t k = 0; k < 4; ++k) sums[k] += row[i + k] * own[i + k];
        }
        for (; i < turn->width; ++i) sums[0] += row[i] * own[i];
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

    // Σ w (log Σ e^η − η of its class), and w (share − whether it is the class)
    double of_many() const {
        const std::size_t n = table.length;
        double total = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            double top = eta[i];
            for (std::size_t f = 1; f < functions; ++f) top = std::max(top, eta[f * n + i]);
            for (std::size_t f = 0; f < functions; ++f) left[f * n + i] = eta[f * n + i] - top;
        }
        for (std::size_t i = 0; i < n; ++i) {
            const auto own = static_cast<std::size_t>(table.code[i]);
            total -= table.weight[i] * left[own * n + i];
        }
        for (std::size_t f = 0; f < functions; ++f) {
            logistic::exp_all(left.data() + f * n, left.data() + f * n, n);
        }
        for (std::size_t i = 0; i < n; ++i) {
            double sum = 0.0;
            for (std::size_t f = 0; f < functions; ++f) sum += left[f * n + i];
            const double w = table.weight[i];
            total += w * std::log(sum);
            for (std::size_t f = 0; f < functions; ++f) left[f * n + i] *= w / sum;
            left[static_cast<std::size_t>(table.code[i]) * n + i] -= w;
        }
        return total;
    }
};

Table table_of(const double* X, std::size_t stride, std::size_t p, const std::int64_t* rows,
               std::size_t n, const double* weights, const std::int32_t* codes) {
    Table table;
    const std::size_t blocks = (n + logistic::BLOCK - 1) / logistic::BLOCK;
    table.length = blocks * logistic::BLOCK;
    table.p = p;
    table.most.assign(p, 0.0);
    table.weight.assign(table.length, 0.0);
    table.code.assign(table.length, 0);
    for (std::size_t first = 0; first < table.length; first += AT_ONCE)
        table.parts.emplace_back(first, std::min(AT_ONCE, table.length - first));
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) total += weights[i];
    for (std::size_t i = 0; i < n; ++i) {
        table.weight[i] = weights[i] / total;
        table.code[i] = codes[i];
    }
    Vector own(table.length, 0.0);
    for (std::size_t j = 0; j < p; ++j) {
        const double* const column = X + j * stride;
        for (std::size_t i = 0; i < n; ++i) own[i] = column[rows[i]];
        for (const double cell : own) table.most[j] = std::max(table.most[j], std::fabs(cell));
        for (Rows& part : table.parts) part.append(own.data() + part.first);
    }
    return table;
}

void logistic_lbfgs(Columnwise X, Input<std::int64_t, nb::ndim<1>> rows,
                    Input<double, nb::ndim<1>> weights, Input<std::int32_t, nb::ndim<1>> codes,
                    std::int64_t n_classes, Input<double, nb::ndim<1>> penalties, double tolerance,
                    std::int64_t most, Rowwise directions, double size_of_columns,
                    Output<double, nb::ndim<3>> ends,
                    Output<std::int64_t, nb::ndim<2>> iterations,
                    Output<std::uint8_t, nb::ndim<1>> how, Output<double, nb::ndim<1>> rough) {
    const double* const cells = X.data();
    const std::size_t stride = X.shape(0), p = X.shape(1);
    nb::gil_scoped_release no_gil;
    const Table table = table_of(cells, stride, p, rows.data(), rows.shape(0), weights.data(),
                                 codes.data());
    const Turn turn{directions.data(), directions.shape(0), directions.shape(1), size_of_columns};
    const bool turned = turn.p > 0;
    Objective objective(table, static_cast<std::size_t>(n_classes), turned ? &turn : nullptr);
    const std::size_t size = objective.size();
    for (std::size_t c = 0; c < penalties.shape(0); ++c) {
        objective.penalty = penalties.data()[c];
        std::uint8_t end = lbfgs::CONVERGED;
        for (std::size_t way = 0; way < WAYS && end == lbfgs::CONVERGED; ++way) {
            Vector x(size, 0.0);
            const lbfgs::Shaking shaking(way > 0, turned);
            const lbfgs::Outcome outcome =
                lbfgs::Minimiser<Objective>(objective, x, tolerance, shaking).run(most);
            end = outcome.end;
            iterations.data()[c * WAYS + way] = outcome.iterations;
            rough.data()[c] = std::max(rough.data()[c], outcome.rough);
            std::copy(x.begin(), x.end(), ends.data() + (c * WAYS + way) * size);
        }
        how.data()[c] = end;
    }
}

}  // namespace

void register_lbfgs(nb::module_& m) {
    m.def("logistic_lbfgs", &logistic_lbfgs,
          "Where L-BFGS-B ends at each penalty, once as it is and once shaken, on rows of X.");
}

// The columns of X as _logistic.cpp reads them: dense or sparse, all rows or those of one fit.
// Neither copies the rows of a fit: a dense column is gathered when it first may enter the model.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "_logistic_loops.hpp"

namespace logistic {

using Vector = std::vector<double>;

// Rows of positive weight, weights that add up to one, and the class of each.
struct Rows {
    std::size_t n_all;                // rows of X
    std::vector<std::int64_t> at;     // the place in X of each row of the fit, ascending
    Vector weight;                    // of each place of the work vectors; 0 where nothing stands
    std::vector<std::int32_t> code;   // class, -1 where nothing stands
    std::size_t length;               // of the work vectors: a multiple of BLOCK
};

inline std::size_t padded(std::size_t n) { return (n + BLOCK - 1) / BLOCK * BLOCK; }

// Mean and standard deviation of every column under the weights; a constant has deviation 0.
struct Moments {
    Vector mean, deviation;
    void put(std::size_t j, double m, double variance, double largest) {
        mean[j] = m;
        // what is left of a constant after rounding is no deviation
        const bool constant = variance <= 1e-26 * largest * largest;
        deviation[j] = constant ? 0.0 : std::sqrt(variance);
    }
};

// Column-major X. Work vectors hold the rows of the fit side by side; columns are centred by the
// weighted mean of the fit when gathered, which changes the intercept only and keeps digits.
class Dense {
  public:
    Dense(const double* x, std::int64_t stride, std::size_t p, const Rows& rows)
        : x_(x), stride_(stride), rows_(rows), gathered_(p), full_(padded(rows.n_all)) {
        moments.mean.resize(p);
        moments.deviation.resize(p);
        whole_ = rows.at.size() == rows.n_all;
        Vector values(rows.length);
        for (std::size_t j = 0; j < p; ++j) measure(j, values);
    }

    static void place(Rows& rows) { rows.length = padded(rows.at.size()); }
    static std::size_t place_of(const Rows&, std::size_t i) { return i; }

    double mean_shift(std::size_t j) const { return moments.mean[j]; }

    void enter(std::size_t j) {
        if (gathered_[j]) return;
        gathered_[j].reset(new double[rows_.length]);
        double* const out = gathered_[j].get();
        const double* const in = column(j);
        const double mean = moments.mean[j];
        const std::size_t n = rows_.at.size();
        for (std::size_t i = 0; i < n; ++i) out[i] = in[rows_.at[i]] - mean;
        std::fill(out + n, out + rows_.length, 0.0);
    }

    double dot_with(std::size_t j, const double* r) const {
        return dot(gathered_[j].get(), r, rows_.length);
    }
    void curve_of(std::size_t j, const double* v, double* first, double* second) const {
        curve(gathered_[j].get(), v, rows_.length, first, second);
    }
    // r −= d v (x − centre); nothing is put off
    double step_along(std::size_t j, double d, double centre, double* r, const double* v) const {
        step(r, gathered_[j].get(), v, d, centre, rows_.length);
        return 0.0;
    }
    void add_to(std::size_t j, double d, double* y) const {
        add(y, gathered_[j].get(), d, rows_.length);
    }

    // Spread a work vector over all rows of X; then `product` is Σ x_j r.
    void spread(const double* r) {
        if (whole_) {
            std::copy(r, r + rows_.at.size(), full_.begin());
            return;
        }
        for (std::size_t i = 0; i < rows_.at.size(); ++i)
            full_[static_cast<std::size_t>(rows_.at[i])] = r[i];
    }
    double product(std::size_t j) const {
        const double* const in = column(j);
        const std::size_t even = rows_.n_all / BLOCK * BLOCK;
        double total = dot(in, full_.data(), even);
        for (std::size_t i = even; i < rows_.n_all; ++i) total += in[i] * full_[i];
        return total;
    }

    Moments moments;

  private:
    const double* column(std::size_t j) const {
        return x_ + static_cast<std::int64_t>(j) * stride_;
    }
    void measure(std::size_t j, Vector& values) {
        const double* const in = column(j);
        const std::size_t n = rows_.at.size();
        double mean = 0.0, largest = 0.0;
        if (whole_) {
            std::copy(in, in + n, values.begin());
        } else {
            for (std::size_t i = 0; i < n; ++i) values[i] = in[rows_.at[i]];
        }
        mean = dot(values.data(), rows_.weight.data(), rows_.length);
        for (std::size_t i = 0; i < n; ++i) {
            largest = std::max(largest, std::fabs(values[i]));
            values[i] -= mean;
        }
        double first = 0.0, second = 0.0;
        curve(values.data(), rows_.weight.data(), rows_.length, &first, &second);
        moments.put(j, mean, second, largest);
    }

    const double* x_;
    std::int64_t stride_;
    const Rows& rows_;
    std::vector<std::unique_ptr<double[]>> gathered_;
    Vector full_;
    bool whole_ = false;
};

// Compressed columns. Work vectors hold all rows of X, rows outside the fit with weight 0; nothing
// is centred. A step moves every row through the centre: that part, d · centre · v, is put off and
// kept by the caller as one number.
template <typename Index>
class Sparse {
  public:
    Sparse(const double* value, const Index* row, const Index* start, std::size_t p,
           const Rows& rows)
        : value_(value), row_(row), start_(start), full_(rows.length) {
        moments.mean.resize(p);
        moments.deviation.resize(p);
        for (std::size_t j = 0; j < p; ++j) {
            double mean = 0.0, square = 0.0, largest = 0.0, touched = 0.0;
            each(j, [&](std::size_t i, double x) {
                mean += rows.weight[i] * x;
                largest = std::max(largest, std::fabs(x));
            });
            each(j, [&](std::size_t i, double x) {
                square += rows.weight[i] * (x - mean) * (x - mean);
                touched += rows.weight[i];
            });
            moments.put(j, mean, square + std::max(0.0, 1.0 - touched) * mean * mean, largest);
        }
    }

    static void place(Rows& rows) { rows.length = padded(rows.n_all); }
    static std::size_t place_of(const Rows& rows, std::size_t i) {
        return static_cast<std::size_t>(rows.at[i]);
    }

    double mean_shift(std::size_t) const { return 0.0; }
    void enter(std::size_t) {}

    double dot_with(std::size_t j, const double* r) const {
        double total = 0.0;
        each(j, [&](std::size_t i, double x) { total += x * r[i]; });
        return total;
    }
    void curve_of(std::size_t j, const double* v, double* first, double* second) const {
        double a = 0.0, b = 0.0;
        each(j, [&](std::size_t i, double x) {
            a += v[i] * x;
            b += v[i] * x * x;
        });
        *first = a;
        *second = b;
    }
    double step_along(std::size_t j, double d, double centre, double* r, const double* v) const {
        each(j, [&](std::size_t i, double x) { r[i] -= d * v[i] * x; });
        return d * centre;
    }
    void add_to(std::size_t j, double d, double* y) const {
        each(j, [&](std::size_t i, double x) { y[i] += d * x; });
    }

    void spread(const double* r) { std::copy(r, r + full_.size(), full_.begin()); }
    double product(std::size_t j) const { return dot_with(j, full_.data()); }

    Moments moments;

  private:
    template <typename Visit>
    void each(std::size_t j, Visit visit) const {
        for (Index k = start_[j]; k < start_[j + 1]; ++k)
            visit(static_cast<std::size_t>(row_[k]), value_[k]);
    }

    const double* value_;
    const Index* row_;
    const Index* start_;
    Vector full_;
};

}  // namespace logistic

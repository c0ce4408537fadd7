// The columns of X as _logistic.cpp reads them: dense or sparse, all rows or those of one fit.
// Whether the rows of a fit are picked out of a larger X or are X, every number is computed from
// the same terms in the same order: the answers are the same to the bit.
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
    std::vector<std::int64_t> at;     // the place in X of each row of the fit; it may come again
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

// Column-major X. Columns that may enter are centred by the weighted mean of the fit, which changes
// the intercept only and keeps digits.
class Dense {
  public:
    Dense(const double* x, std::int64_t stride, std::size_t p, const Rows& rows)
        : x_(x), stride_(stride), rows_(rows), centred_(p), residual_(rows.length) {
        moments.mean.resize(p);
        moments.deviation.resize(p);
        const std::size_t n = rows.at.size();
        bool whole = n == rows.n_all;
        for (std::size_t i = 0; whole && i < n; ++i)
            whole = rows.at[i] == static_cast<std::int64_t>(i);
        if (!whole) {
            picked_.reset(new double[n * p]);
            for (std::size_t j = 0; j < p; ++j) {
                const double* const in = column(j);
                double* const out = picked_.get() + j * n;
                for (std::size_t i = 0; i < n; ++i) out[i] = in[rows.at[i]];
            }
            x_ = picked_.get();
            stride_ = static_cast<std::int64_t>(n);
        }
        Vector values(rows.length);
        for (std::size_t j = 0; j < p; ++j) measure(j, values);
    }

    static void place(Rows& rows) { rows.length = padded(rows.at.size()); }
    static std::size_t place_of(const Rows&, std::size_t i) { return i; }

    double mean_shift(std::size_t j) const { return moments.mean[j]; }

    void enter(std::size_t j) {
        if (centred_[j]) return;
        centred_[j].reset(new double[rows_.length]);
        double* const out = centred_[j].get();
        const double* const in = column(j);
        const double mean = moments.mean[j];
        const std::size_t n = rows_.at.size();
        for (std::size_t i = 0; i < n; ++i) out[i] = in[i] - mean;
        std::fill(out + n, out + rows_.length, 0.0);
    }

    double dot_with(std::size_t j, const double* r) const {
        return dot(centred_[j].get(), r, rows_.length);
    }
    void curve_of(std::size_t j, const double* v, double* first, double* second) const {
        curve(centred_[j].get(), v, rows_.length, first, second);
    }
    // r −= d v (x − centre); nothing is put off
    double step_along(std::size_t j, double d, double centre, double* r, const double* v) const {
        step(r, centred_[j].get(), v, d, centre, rows_.length);
        return 0.0;
    }
    void add_to(std::size_t j, double d, double* y) const {
        add(y, centred_[j].get(), d, rows_.length);
    }

    // Keep a work vector; then `product` is Σ (x_j − mean) r for any column.
    void keep(const double* r) {
        std::copy(r, r + rows_.length, residual_.begin());
        sum_ = 0.0;
        for (std::size_t i = 0; i < rows_.length; ++i) sum_ += r[i];
    }
    double product(std::size_t j) const {
        const double* const in = column(j);
        const std::size_t n = rows_.at.size(), even = n / BLOCK * BLOCK;
        double total = dot(in, residual_.data(), even);
        if (even < n) {
            double last[BLOCK] = {0, 0, 0, 0, 0, 0, 0, 0};
            std::copy(in + even, in + n, last);
            total += dot(last, residual_.data() + even, BLOCK);
        }
        return total - moments.mean[j] * sum_;
    }

    Moments moments;

  private:
    const double* column(std::size_t j) const {
        return x_ + static_cast<std::int64_t>(j) * stride_;
    }
    void measure(std::size_t j, Vector& values) {
        const double* const in = column(j);
        const std::size_t n = rows_.at.size();
        double first = 0.0, second = 0.0;
        std::copy(in, in + n, values.begin());
        const double mean = dot(values.data(), rows_.weight.data(), rows_.length);
        const double largest = centre(values.data(), mean, n);
        curve(values.data(), rows_.weight.data(), rows_.length, &first, &second);
        moments.put(j, mean, second, largest);
    }

    const double* x_;
    std::int64_t stride_;
    const Rows& rows_;
    std::unique_ptr<double[]> picked_;
    std::vector<std::unique_ptr<double[]>> centred_;
    Vector residual_;
    double sum_ = 0.0;
};

// Compressed columns. Work vectors hold all rows of X, those without weight too; nothing is
// centred. A step moves every row through the centre: that part, d · centre · v, is put off and
// kept by the caller as one number.
template <typename Index>
class Sparse {
  public:
    Sparse(const double* value, const Index* row, const Index* start, std::size_t p,
           const Rows& rows)
        : value_(value), row_(row), start_(start), residual_(rows.length) {
        moments.mean.resize(p);
        moments.deviation.resize(p);
        for (std::size_t j = 0; j < p; ++j) {
            double mean = 0.0, square = 0.0, largest = 0.0, touched = 0.0;
            std::size_t n_touched = 0;
            each(j, [&](std::size_t i, double x) {
                mean += rows.weight[i] * x;
                largest = std::max(largest, std::fabs(x));
            });
            each(j, [&](std::size_t i, double x) {
                square += rows.weight[i] * (x - mean) * (x - mean);
                touched += rows.weight[i];
                n_touched += rows.weight[i] > 0.0;
            });
            // where no row is left, what rounding leaves of the weight is none
            const double left = n_touched < rows.at.size() ? std::max(0.0, 1.0 - touched) : 0.0;
            moments.put(j, mean, square + left * mean * mean, largest);
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

    void keep(const double* r) {
        std::copy(r, r + residual_.size(), residual_.begin());
        sum_ = 0.0;
        for (std::size_t i = 0; i < residual_.size(); ++i) sum_ += r[i];
    }
    double product(std::size_t j) const {
        return dot_with(j, residual_.data()) - moments.mean[j] * sum_;
    }

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
    Vector residual_;
    double sum_ = 0.0;
};

}  // namespace logistic

// The minimum of a quadratic with an L1 penalty where the signs are known, by Cholesky: to the
// minimum of the orthant, or to where the first coefficients become zero, and on without them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "_logistic_columns.hpp"

namespace logistic {

constexpr std::size_t LARGEST_DIRECT = 1500;  // coefficients solved for at once

//   min over d of  −g'd + ½ d'Gd + Σ l1_k |b_k + d_k| + ½ l2_k (b_k + d_k)²
//
// with b + d in the orthant of b (its closure); where l1 is 0 there is no orthant to keep.
// The caller fills the lower half of `gram` (n × n) and the four vectors; `moved` is d.
class Orthant {
  public:
    Vector gram, gradient, b, l1, l2, moved;

    void resize(std::size_t n) {
        n_ = n;
        gram.resize(n * n);
        for (Vector* const each : {&gradient, &b, &l1, &l2, &moved}) each->assign(n, 0.0);
    }

    void solve() {
        for (std::size_t k = 0; k < n_; ++k)
            for (std::size_t j = 0; j < k; ++j) gram[j * n_ + k] = gram[k * n_ + j];
        in_.clear();
        for (std::size_t k = 0; k < n_; ++k)
            if (l1[k] == 0.0 || b[k] != 0.0) in_.push_back(k);
        for (int round = 0; round < 8 && !in_.empty(); ++round) {
            direct();
            double part = 1.0;
            for (std::size_t i = 0; i < in_.size(); ++i)
                if (leaves(i)) part = std::min(part, -b[in_[i]] / direction_[i]);
            left_.clear();
            for (std::size_t i = 0; i < in_.size(); ++i) {
                const std::size_t k = in_[i];
                const bool ends =
                    part < 1.0 && leaves(i) && -b[k] / direction_[i] <= part * (1.0 + 1e-12);
                const double d = ends ? -b[k] : part * direction_[i];
                const double* const row = gram.data() + k * n_;
                for (const std::size_t other : in_) gradient[other] -= d * row[other];
                moved[k] += d;
                b[k] += d;
                if (ends) {
                    b[k] = 0.0;
                } else {
                    left_.push_back(k);
                }
            }
            if (part >= 1.0) return;
            in_.swap(left_);
        }
    }

  private:
    bool leaves(std::size_t i) const {
        const double value = b[in_[i]];
        return l1[in_[i]] > 0.0 && value * (value + direction_[i]) < 0.0;
    }

    // Newton's direction on `in_`. Directions without curvature (dependent columns, the shift that
    // softmax does not know) get a little, so that a penalty can still move along them.
    void direct() {
        const std::size_t m = in_.size(), width = padded(m);
        factor_.assign(m * width, 0.0);
        direction_.resize(m);
        for (std::size_t k = 0; k < m; ++k) {
            const std::size_t at = in_[k];
            const double sign = b[at] > 0.0 ? l1[at] : -l1[at];
            direction_[k] = gradient[at] - l2[at] * b[at] - (l1[at] > 0.0 ? sign : 0.0);
            double* const row = factor_.data() + k * width;
            for (std::size_t j = 0; j < k; ++j) {
                const double* const other = factor_.data() + j * width;
                row[j] = (gram[at * n_ + in_[j]] - dot(row, other, padded(j))) / other[j];
            }
            const double whole = gram[at * n_ + at] + l2[at];
            const double rest = whole - dot(row, row, padded(k));
            row[k] = std::sqrt(std::max(rest, 1e-10 * whole + 1e-300));
        }
        for (std::size_t k = 0; k < m; ++k) {
            const double* const row = factor_.data() + k * width;
            for (std::size_t j = 0; j < k; ++j) direction_[k] -= row[j] * direction_[j];
            direction_[k] /= row[k];
        }
        for (std::size_t k = m; k-- > 0;) {
            const double* const row = factor_.data() + k * width;
            direction_[k] /= row[k];
            for (std::size_t j = 0; j < k; ++j) direction_[j] -= row[j] * direction_[k];
        }
    }

    std::size_t n_ = 0;
    std::vector<std::size_t> in_, left_;
    Vector factor_, direction_;
};

}  // namespace logistic

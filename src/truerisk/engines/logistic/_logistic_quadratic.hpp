// One Newton step of one class: the weighted least-squares problem with its penalty.
//
//   min over d, b0 of  −Σ r (d0 + x'd) + ½ Σ v (d0 + x'd)² + Σ_j l1_j |b_j + d_j| + ½ l2_j (b_j + d_j)²
//
// The intercept is profiled out: columns are centred by their v-weighted means, so it is optimal
// after every move. Coordinate descent over the candidates (`set`), then over those not zero; where
// that is slow, the quadratic is solved directly on the orthant it has found.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "_logistic_orthant.hpp"

namespace logistic {

struct Penalty {
    double l1, l2;  // of a coefficient in units of `scale`
};

constexpr double LOOSE = 0.1;

template <typename Columns>
class Quadratic {
  public:
    Quadratic(Columns& columns, const Vector& scale, std::size_t length)
        : columns_(columns), scale_(scale), length_(length), mean_(scale.size()),
          curvature_(scale.size()), known_(scale.size(), 0), work_(length), ones_(length, 1.0) {}

    // Moves b (of the columns in `set`) and b0; r becomes the residual of the quadratic. False:
    // `passes` ran out. The stopping rule is on v-weighted squared moves, against LOOSE times the
    // largest of the first pass where that is more: the next Newton step goes on from there.
    bool solve(std::vector<std::int32_t>& set, double* b, double* b0, double* r, const double* v,
               Penalty penalty, double tolerance, std::int64_t* passes, double weight) {
        ++stamp_;
        r_ = r, v_ = v, b_ = b, penalty_ = penalty, weight_ = weight, put_off_ = 0.0;
        const double total = dot(r, ones_.data(), length_);
        // rounding alone moves nothing: classes of equal weight keep the intercept 0
        shift_ = std::fabs(total) > 1e-15 ? total / weight : 0.0;
        if (shift_ != 0.0) put_off_ = -shift_;
        if (put_off_ != 0.0) settle();
        bool solved = false, everything = true;
        active_.clear();
        std::size_t slow = 0;
        bool first = true;
        while (*passes > 0) {
            --*passes;
            double moved = 0.0;
            if (everything) {
                active_.clear();
                for (const std::int32_t j : set) {
                    moved = std::max(moved, update(static_cast<std::size_t>(j)));
                    if (b[j] != 0.0) active_.push_back(j);
                }
            } else {
                for (const std::int32_t j : active_)
                    moved = std::max(moved, update(static_cast<std::size_t>(j)));
            }
            if (first) tolerance = std::max(tolerance, LOOSE * moved);
            if (moved < tolerance) {
                if (everything) {
                    solved = true;
                    break;
                }
                everything = true;
                continue;
            }
            everything = first = false;
            const std::size_t n_active = active_.size();
            // as many passes as cost what solving costs; whatever the number of rows, so that a
            // weight of two goes the way of two rows
            if (++slow > 6 + n_active / 3 && n_active > 1 && n_active <= LARGEST_DIRECT) {
                jump();
                slow = 0;
                everything = true;
            }
        }
        settle();
        *b0 += shift_;
        return solved;
    }

  private:
    void know(std::size_t j) {
        if (known_[j] == stamp_) return;
        double first = 0.0, second = 0.0;
        columns_.curve_of(j, v_, &first, &second);
        mean_[j] = first / weight_;
        curvature_[j] = std::max(0.0, second - first * mean_[j]);
        known_[j] = stamp_;
    }

    // Σ x r, the part of r that was put off included
    double gradient(std::size_t j) {
        double g = columns_.dot_with(j, r_);
        if (put_off_ != 0.0) {
            know(j);
            g += put_off_ * mean_[j] * weight_;
        }
        return g;
    }

    void settle() {
        if (put_off_ == 0.0) return;
        for (std::size_t i = 0; i < length_; ++i) r_[i] += put_off_ * v_[i];
        put_off_ = 0.0;
    }

    void move(std::size_t j, double d) {
        b_[j] += d;
        put_off_ += columns_.step_along(j, d, mean_[j], r_, v_);
        shift_ -= d * mean_[j];
    }

    double update(std::size_t j) {
        const double l1 = penalty_.l1 * scale_[j], l2 = penalty_.l2 * scale_[j] * scale_[j];
        const double g = gradient(j), old = b_[j];
        if (old == 0.0 && std::fabs(g) <= l1) return 0.0;
        know(j);
        const double bend = curvature_[j] + l2;
        if (!(bend > 1e-300)) return 0.0;  // a constant column says nothing
        const double u = g + curvature_[j] * old;
        const double size = std::fabs(u) - l1;
        const double now = size <= 0.0 ? 0.0 : std::copysign(size, u) / bend;
        const double d = now - old;
        if (d == 0.0) return 0.0;
        move(j, d);
        b_[j] = now;
        return bend * d * d;
    }

    // To the minimum over the coefficients that are not zero, signs held
    void jump() {
        std::size_t n = 0;
        for (const std::int32_t j : active_)
            if (b_[j] != 0.0) active_[n++] = j;  // zero has no sign to hold
        active_.resize(n);
        orthant_.resize(n);
        for (std::size_t k = 0; k < n; ++k) {
            const auto column = static_cast<std::size_t>(active_[k]);
            know(column);
            const double s = scale_[column];
            orthant_.gradient[k] = gradient(column);
            orthant_.b[k] = b_[column];
            orthant_.l1[k] = penalty_.l1 * s;
            orthant_.l2[k] = penalty_.l2 * s * s;
            for (std::size_t i = 0; i < length_; ++i) work_[i] = -mean_[column] * v_[i];
            columns_.step_along(column, -1.0, 0.0, work_.data(), v_);  // v (x − mean)
            for (std::size_t j = 0; j <= k; ++j)
                orthant_.gram[k * n + j] =
                    columns_.dot_with(static_cast<std::size_t>(active_[j]), work_.data());
        }
        orthant_.solve();
        for (std::size_t k = 0; k < n; ++k) {
            const auto column = static_cast<std::size_t>(active_[k]);
            if (orthant_.moved[k] == 0.0) continue;
            move(column, orthant_.moved[k]);
            b_[column] = orthant_.b[k];
        }
    }

    Columns& columns_;
    const Vector& scale_;
    std::size_t length_;
    Vector mean_, curvature_;
    std::vector<std::int64_t> known_;
    std::int64_t stamp_ = 0;
    Vector work_, ones_;
    Orthant orthant_;
    std::vector<std::int32_t> active_;
    double* r_ = nullptr;
    const double* v_ = nullptr;
    double* b_ = nullptr;
    Penalty penalty_{};
    double weight_ = 0.0, put_off_ = 0.0, shift_ = 0.0;
};

}  // namespace logistic

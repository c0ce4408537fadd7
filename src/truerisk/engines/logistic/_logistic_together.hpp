// What several classes have to themselves: a Newton step of all of them at once, and shifts that
// softmax does not know.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "_logistic_newton.hpp"
#include "_logistic_orthant.hpp"

namespace logistic {

template <typename Columns>
class ClassesTogether : public NewtonSteps<Columns> {
    using Base = NewtonSteps<Columns>;

  public:
    using Base::Base;

  protected:
    using Base::columns_;
    using Base::rows_;
    using Base::setting_;
    using Base::n_;
    using Base::p_;
    using Base::fitted_;
    using Base::scale_;
    using Base::exponential_;
    using Base::whole_;
    using Base::r_;
    using Base::change_;
    using Base::state_;
    using Base::b_of;
    using Base::eta_of;
    using Base::admit;
    using Base::refresh_all;
    using Base::residual_of;
    using Base::nonzero;

    // A Newton step of all classes at once on the coefficients that are not zero, signs held: class
    // by class alone creeps where classes compete
    void together(Penalty penalty, std::int64_t* passes) {
        joint_.clear();
        for (std::size_t k = 0; k < fitted_; ++k)
            for (const std::int32_t j : state_.set[k])
                if (b_of(k)[j] != 0.0) joint_.push_back({k, static_cast<std::size_t>(j)});
        const std::size_t n_joint = joint_.size(), n = n_joint + fitted_;
        if (n > LARGEST_DIRECT) return;
        *passes -= static_cast<std::int64_t>(n / 8 + 1);
        orthant_.resize(n);
        cross_.resize(fitted_ * n_);
        for (std::size_t a = 0; a < n; ++a) {
            const bool is_intercept = a >= n_joint;
            const std::size_t k = is_intercept ? a - n_joint : joint_[a].first;
            for (std::size_t c = 0; c < fitted_; ++c) cross_of(k, c);
            residual_of(k);
            if (is_intercept) {
                for (std::size_t i = 0; i < n_; ++i) orthant_.gradient[a] += r_[i];
            } else {
                const std::size_t j = joint_[a].second;
                const double s = scale_[j];
                orthant_.gradient[a] = columns_.dot_with(j, r_.data());
                orthant_.b[a] = b_of(k)[j];
                orthant_.l1[a] = penalty.l1 * s;
                orthant_.l2[a] = penalty.l2 * s * s;
                for (std::size_t c = 0; c <= k; ++c) {  // curvature times the column
                    double* const u = cross_.data() + c * n_;
                    std::fill(change_.begin(), change_.end(), 0.0);
                    columns_.step_along(j, -1.0, 0.0, change_.data(), u);
                    std::copy(change_.begin(), change_.end(), u);
                }
            }
            for (std::size_t b = 0; b <= a; ++b) {
                double& cell = orthant_.gram[a * n + b];
                if (b < n_joint) {
                    const double* const u = cross_.data() + joint_[b].first * n_;
                    cell = columns_.dot_with(joint_[b].second, u);
                } else {
                    const double* const u = cross_.data() + (b - n_joint) * n_;
                    cell = 0.0;
                    for (std::size_t i = 0; i < n_; ++i) cell += u[i];
                }
            }
        }
        orthant_.solve();
        go_together();
    }

    // w p_k ([k = c] − p_c), the curvature between two classes
    void cross_of(std::size_t k, std::size_t c) {
        double* const u = cross_.data() + c * n_;
        const double* const e = exponential_.data() + k * n_;
        const double* const f = exponential_.data() + c * n_;
        for (std::size_t i = 0; i < n_; ++i)
            u[i] = rows_.weight[i] * e[i] / whole_[i] * ((k == c ? 1.0 : 0.0) - f[i] / whole_[i]);
    }

    // Take the step that `together` has found, halved while the objective rises steeply at its end
    void go_together() {
        const std::size_t n_joint = joint_.size();
        cross_.assign(fitted_ * n_, 0.0);  // the change of the predictors
        double bend = 0.0;
        for (std::size_t a = 0; a < n_joint + fitted_; ++a) {
            const double d = orthant_.moved[a];
            if (d == 0.0) continue;
            if (a < n_joint) {
                columns_.add_to(joint_[a].second, d, cross_.data() + joint_[a].first * n_);
            } else {
                for (std::size_t i = 0; i < n_; ++i) cross_[(a - n_joint) * n_ + i] += d;
            }
        }
        for (std::size_t i = 0; i < n_; ++i) {
            double mean = 0.0, square = 0.0;
            for (std::size_t k = 0; k < fitted_; ++k) {
                const double q = exponential_[k * n_ + i] / whole_[i], d = cross_[k * n_ + i];
                mean += q * d;
                square += q * d * d;
            }
            bend += rows_.weight[i] * (square - mean * mean);
        }
        double gone = 0.0, part = 1.0;
        for (int halving = 0; halving < 40; ++halving, part *= 0.5) {
            const double more = part - gone;
            gone = part;
            for (std::size_t a = 0; a < n_joint; ++a) {
                double& b = b_of(joint_[a].first)[joint_[a].second];
                const double old = orthant_.b[a] - orthant_.moved[a];
                b = part == 1.0 ? orthant_.b[a] : old + part * orthant_.moved[a];
            }
            for (std::size_t k = 0; k < fitted_; ++k) {
                state_.b0[k] += more * orthant_.moved[n_joint + k];
                for (std::size_t i = 0; i < n_; ++i) eta_of(k)[i] += more * cross_[k * n_ + i];
            }
            refresh_all();
            double slope = 0.0;
            for (std::size_t k = 0; k < fitted_; ++k) {
                residual_of(k);
                for (std::size_t i = 0; i < n_; ++i) slope -= r_[i] * cross_[k * n_ + i];
            }
            for (std::size_t a = 0; a < n_joint; ++a) {
                const double b = b_of(joint_[a].first)[joint_[a].second], d = orthant_.moved[a];
                const double sign = b > 0.0 ? 1.0 : b < 0.0 ? -1.0 : (d > 0.0 ? -1.0 : 1.0);
                slope += d * (orthant_.l2[a] * b + orthant_.l1[a] * sign);
            }
            if (slope <= 0.3 * bend + 1e-300) return;
        }
    }

    // Softmax does not know a common shift of a column's coefficients; the penalty does. Its least
    // value along the shift: for a lasso the median, else the root of a slope that only rises.
    void shift_columns() {
        const double a = setting_.l1_ratio, l2 = 1.0 - a;
        const double half = 0.5 * static_cast<double>(fitted_);
        bool any = false;
        for (std::size_t j = 0; j < p_; ++j) {
            std::size_t nonzero = 0;
            double mean = 0.0;
            for (std::size_t k = 0; k < fitted_; ++k) {
                nonzero += b_of(k)[j] != 0.0;
                mean += b_of(k)[j] / static_cast<double>(fitted_);
            }
            if (2 * nonzero < fitted_ || nonzero == 0) continue;  // zero is a median
            column_.clear();
            for (std::size_t k = 0; k < fitted_; ++k) column_.push_back(b_of(k)[j]);
            std::sort(column_.begin(), column_.end());
            const double s = scale_[j], bend = l2 * s * s * static_cast<double>(fitted_);
            // t from the slope  bend (t − mean) + a s (#below − #above); the first t where it is ≥ 0
            double t = 0.0;
            if (a == 0.0) {
                t = mean;
            } else {
                const auto below = [&](double x) {  // slope just right of x
                    double count = 0.0;
                    for (const double b : column_) count += b <= x ? 1.0 : -1.0;
                    return bend * (x - mean) + a * s * count;
                };
                const auto above = [&](double x) {  // slope just left of x
                    double count = 0.0;
                    for (const double b : column_) count += b < x ? 1.0 : -1.0;
                    return bend * (x - mean) + a * s * count;
                };
                if (above(0.0) <= 0.0 && below(0.0) >= 0.0) continue;
                bool found = false;
                for (const double b : column_)
                    if (!found && above(b) <= 0.0 && below(b) >= 0.0) t = b, found = true;
                if (!found) {  // between two of them the slope is a line
                    double count = -2.0 * half;
                    for (const double b : column_) {
                        if (below(b) < 0.0) count += 2.0;
                    }
                    t = mean - a * s * count / bend;
                }
            }
            if (t == 0.0) continue;
            any = true;
            for (std::size_t k = 0; k < fitted_; ++k) {
                admit(k, j);
                b_of(k)[j] -= t;
                columns_.add_to(j, -t, eta_of(k));
            }
        }
        if (any) refresh_all();
    }

    // Softmax does not know a common shift of the intercepts: theirs adds up to zero
    void centre_intercepts() {
        if (fitted_ == 1) return;
        double mean = 0.0;
        for (const double b0 : state_.b0) mean += b0 / static_cast<double>(fitted_);
        for (std::size_t k = 0; k < fitted_; ++k) {
            state_.b0[k] -= mean;
            for (std::size_t i = 0; i < n_; ++i) eta_of(k)[i] -= mean;
        }
        refresh_all();
    }

    std::vector<std::pair<std::size_t, std::size_t>> joint_;  // (class, column) not zero
    Orthant orthant_;
    Vector cross_, column_;
};

}  // namespace logistic

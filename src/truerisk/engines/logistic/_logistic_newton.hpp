// Newton steps of one class after the other: the quadratic solved on the columns that may enter, and
// the step halved where it was far off.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "_logistic_fit.hpp"

namespace logistic {

template <typename Columns>
class NewtonSteps : public Fit<Columns> {
    using Base = Fit<Columns>;

  public:
    NewtonSteps(Columns& columns, const Rows& rows, std::size_t n_classes, const Setting& setting)
        : Base(columns, rows, n_classes, setting), ones_(n_, 1.0), quadratic_(columns, scale_, n_) {}

  protected:
    using Base::columns_;
    using Base::n_;
    using Base::scale_;
    using Base::r_;
    using Base::v_;
    using Base::change_;
    using Base::fresh_;
    using Base::state_;
    using Base::b_of;
    using Base::eta_of;
    using Base::refresh;
    using Base::residual_of;

    // One Newton step of a class; the largest weighted squared move
    double newton(std::size_t k, Penalty penalty, double tolerance, std::int64_t* passes) {
        residual_of(k);
        fresh_ = -1;  // the quadratic works on it
        old_.clear();
        double* const b = b_of(k);
        for (const std::int32_t j : state_.set[k]) old_.push_back(b[j]);
        const double weight = dot(v_.data(), ones_.data(), n_);
        double shift = 0.0;
        quadratic_.solve(state_.set[k], b, &shift, r_.data(), v_.data(), penalty, tolerance, passes,
                         weight);
        std::fill(change_.begin(), change_.end(), shift);
        bool any = shift != 0.0;
        for (std::size_t t = 0; t < old_.size(); ++t) {
            const auto j = static_cast<std::size_t>(state_.set[k][t]);
            const double d = b[j] - old_[t];
            if (d == 0.0) continue;
            any = true;
            columns_.add_to(j, d, change_.data());
        }
        state_.b0[k] += shift;
        if (!any) return 0.0;
        double first = 0.0, bend = 0.0;  // of the smooth part along the step; padding has v = 0
        curve(change_.data(), v_.data(), n_, &first, &bend);
        add(eta_of(k), change_.data(), 1.0, n_);
        refresh(k);
        shorten(k, penalty, shift, bend);
        return bend;
    }

    // Halve a step at whose end the objective still rises steeply: the quadratic was far off
    void shorten(std::size_t k, Penalty penalty, double shift, double bend) {
        double* const b = b_of(k);
        double part = 1.0;
        for (int halving = 0; halving < 40; ++halving) {
            residual_of(k);
            double slope = -dot(r_.data(), change_.data(), n_);
            for (std::size_t t = 0; t < old_.size(); ++t) {
                const auto j = static_cast<std::size_t>(state_.set[k][t]);
                const double d = (b[j] - old_[t]) / part, s = scale_[j];
                if (d == 0.0) continue;
                const double sign = b[j] > 0.0 ? 1.0 : b[j] < 0.0 ? -1.0 : (d > 0.0 ? -1.0 : 1.0);
                slope += d * (penalty.l2 * s * s * b[j] + penalty.l1 * s * sign);
            }
            if (slope <= 0.3 * bend) return;
            part *= 0.5;
            for (std::size_t t = 0; t < old_.size(); ++t) {
                const auto j = static_cast<std::size_t>(state_.set[k][t]);
                b[j] = old_[t] + 0.5 * (b[j] - old_[t]);
            }
            state_.b0[k] -= part * shift;
            add(eta_of(k), change_.data(), -part, n_);
            refresh(k);
        }
    }

    Vector ones_, old_;
    Quadratic<Columns> quadratic_;
};

}  // namespace logistic

// A fit of penalised logistic regression on its way: coefficients, predictors of every row, residuals
// and curvatures; where it starts, and what must be computed anew after a move.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "_logistic_bounds.hpp"
#include "_logistic_quadratic.hpp"

namespace logistic {

struct Setting {
    double l1_ratio, tolerance;
    bool standardize;
    std::int64_t max_passes;
};

template <typename Columns>
class Fit {
  public:
    Fit(Columns& columns, const Rows& rows, std::size_t n_classes, const Setting& setting)
        : columns_(columns), rows_(rows), setting_(setting), n_(rows.length),
          p_(columns.moments.mean.size()), fitted_(n_classes == 2 ? 1 : n_classes),
          scale_(p_, 1.0), y_(fitted_ * n_, 0.0), exponential_(fitted_ > 1 ? fitted_ * n_ : 0),
          whole_(n_, 1.0), r_(n_), v_(n_), change_(n_), known_(fitted_) {
        if (setting.standardize) scale_ = columns.moments.deviation;
        start(n_classes);
    }

    // Largest λ with a coefficient that is not zero (for a pure ridge: at l1_ratio 0.001)
    double largest() const { return largest_; }

  protected:
    struct State {
        Vector b, b0, eta, slope;                     // fitted × p, fitted, fitted × n, fitted × p
        std::vector<std::vector<std::int32_t>> set;   // columns that may enter, per class
        std::vector<std::uint8_t> in;
    };

    double* b_of(std::size_t k) { return state_.b.data() + k * p_; }
    double* eta_of(std::size_t k) { return state_.eta.data() + k * n_; }

    // The fit without coefficients, and its gradient
    void start(std::size_t n_classes) {
        Vector share(n_classes, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            if (rows_.code[i] < 0) continue;
            const auto code = static_cast<std::size_t>(rows_.code[i]);
            share[code] += rows_.weight[i];
            if (fitted_ == 1)
                y_[i] = code == 1 ? 1.0 : 0.0;
            else
                y_[code * n_ + i] = 1.0;
        }
        null_ = 0.0;
        for (const double s : share) null_ -= s * std::log(s);
        state_.b.assign(fitted_ * p_, 0.0);
        state_.slope.assign(fitted_ * p_, 0.0);
        state_.in.assign(fitted_ * p_, 0);
        state_.set.resize(fitted_);
        state_.eta.resize(fitted_ * n_);
        for (std::size_t k = 0; k < fitted_; ++k) {
            // equal shares, whatever rounding says, are an intercept of 0
            const double against = fitted_ == 1 ? share[0] : 1.0;
            const double own = fitted_ == 1 ? share[1] : share[k];
            const bool equal = fitted_ == 1 && std::fabs(own - against) < 1e-14;
            state_.b0.push_back(equal ? 0.0 : std::log(own / against));
            std::fill(eta_of(k), eta_of(k) + n_, state_.b0[k]);
        }
        refresh_all();
        if (setting_.l1_ratio == 0.0)
            for (std::size_t k = 0; k < fitted_; ++k)
                for (std::size_t j = 0; j < p_; ++j) admit(k, j);
        largest_ = 0.0;
        for (std::size_t k = 0; k < fitted_; ++k) {
            residual_of(k);
            known_[k].start(r_, p_);
            columns_.keep(r_.data());
            for (std::size_t j = 0; j < p_; ++j) {
                const double g = columns_.moments.deviation[j] > 0.0 ? columns_.product(j) : 0.0;
                state_.slope[k * p_ + j] = std::fabs(g);
                known_[k].slope[j] = known_[k].older_slope[j] = g;
                if (scale_[j] > 0.0) largest_ = std::max(largest_, std::fabs(g) / scale_[j]);
            }
        }
        largest_ /= std::max(setting_.l1_ratio, 1e-3);
    }

    void admit(std::size_t k, std::size_t j) {
        if (state_.in[k * p_ + j] || !(columns_.moments.deviation[j] > 0.0)) return;
        state_.in[k * p_ + j] = 1;
        state_.set[k].push_back(static_cast<std::int32_t>(j));
        columns_.enter(j);
    }

    void refresh(std::size_t k) {  // after the predictor of a class has moved
        fresh_ = -1;
        if (fitted_ == 1) return;
        double* const e = exponential_.data() + k * n_;
        exp_all(eta_of(k), e, n_);
        std::fill(whole_.begin(), whole_.end(), 0.0);
        for (std::size_t c = 0; c < fitted_; ++c)
            for (std::size_t i = 0; i < n_; ++i) whole_[i] += exponential_[c * n_ + i];
    }

    void refresh_all() {
        fresh_ = -1;
        for (std::size_t k = 0; fitted_ > 1 && k < fitted_; ++k)
            exp_all(eta_of(k), exponential_.data() + k * n_, n_);
        if (fitted_ > 1) refresh(0);
    }

    void residual_of(std::size_t k) {
        if (fresh_ == static_cast<std::int64_t>(k)) return;
        fresh_ = static_cast<std::int64_t>(k);
        const double* const y = y_.data() + k * n_;
        if (fitted_ == 1)
            binary(y, rows_.weight.data(), eta_of(0), r_.data(), v_.data(), n_);
        else
            residual(y, rows_.weight.data(), exponential_.data() + k * n_, whole_.data(), r_.data(),
                     v_.data(), n_);
    }

    double nonzero(std::size_t k) {
        double count = 0.0;
        for (const std::int32_t j : state_.set[k]) count += b_of(k)[j] != 0.0;
        return count;
    }

    Columns& columns_;
    const Rows& rows_;
    Setting setting_;
    std::size_t n_, p_, fitted_;
    Vector scale_, y_, exponential_, whole_, r_, v_, change_;
    std::vector<Remembered> known_;  // per class
    double null_ = 0.0, largest_ = 0.0;
    std::int64_t fresh_ = -1;  // the class whose residual and curvature r_ and v_ hold
    State state_;
};

}  // namespace logistic

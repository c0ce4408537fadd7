// The path of penalised logistic regression, λ after λ: Newton steps (one class after the other for
// several classes), each solved by _logistic_quadratic.hpp on the columns that may enter.
//
// Which may enter: the sequential strong rule. What it may have missed: the gradient of the others
// afterwards, computed only where a bound on how far it has moved does not settle it. The start:
// the last two solutions continued.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "_logistic_together.hpp"

namespace logistic {

// Where the solutions go: lines of lambda × fitted × p, and of lambda × fitted; which of the p
// columns have a coefficient somewhere.
struct Found {
    double* coefficients;
    double* intercepts;
    std::int64_t* passes;
    std::uint8_t* converged;
    std::uint8_t* used;
};

constexpr std::size_t FEW = 48;  // columns whose gradients are computed sooner than bounded

template <typename Columns>
class Path : public ClassesTogether<Columns> {
    using Base = ClassesTogether<Columns>;
    using typename Base::State;

  public:
    Path(Columns& columns, const Rows& rows, std::size_t n_classes, const Setting& setting)
        : Base(columns, rows, n_classes, setting), per_root_(n_, 0.0) {
        for (std::size_t i = 0; i < n_; ++i)
            if (rows.weight[i] > 0.0) per_root_[i] = 1.0 / std::sqrt(rows.weight[i]);
    }

    // Solve at every λ, from the largest down; `aside` ones start from the one above and lead
    // nowhere, so that the others are the same with and without them.
    void run(const double* lambdas, const std::uint8_t* aside, std::size_t n_lambdas,
             const Found& found) {
        std::vector<std::size_t> order(n_lambdas);
        for (std::size_t l = 0; l < n_lambdas; ++l) order[l] = l;
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return lambdas[a] > lambdas[b] || (lambdas[a] == lambdas[b] && aside[a] < aside[b]);
        });
        double last = largest_;
        for (std::size_t l = 0; l < n_lambdas; ++l)
            if (!aside[l]) last = std::max(last, lambdas[l]);
        std::vector<std::size_t> told;  // the last two that lead on
        for (std::size_t at = 0; at < n_lambdas; ++at) {
            const std::size_t l = order[at];
            std::size_t next = at + 1;
            while (next < n_lambdas && aside[order[next]]) ++next;
            const double to = aside[l] || next >= n_lambdas ? lambdas[l] : lambdas[order[next]];
            State kept;
            if (aside[l]) kept = state_;
            std::int64_t passes = setting_.max_passes;
            double from = last;
            while (setting_.l1_ratio > 0.0 && from * 0.4 > lambdas[l] && from > 1e-7 * largest_) {
                const double between = from * 0.5;  // far steps are taken in parts
                solve(between, from, std::max(lambdas[l], between * 0.5), &passes);
                from = between;
            }
            if (from == last && told.size() == 2) go_on(lambdas, told, l, found);
            found.converged[l] = solve(lambdas[l], from, to, &passes);
            found.passes[l] = setting_.max_passes - passes;
            put(l, found);
            if (aside[l]) {
                state_ = std::move(kept);
                refresh_all();
                continue;
            }
            last = lambdas[l];
            told.push_back(l);
            centred_.push_back(state_.b0);
            if (told.size() > 2) {
                told.erase(told.begin());
                centred_.erase(centred_.begin());
            }
        }
    }

  private:
    using Base::columns_;
    using Base::setting_;
    using Base::n_;
    using Base::p_;
    using Base::fitted_;
    using Base::scale_;
    using Base::r_;
    using Base::known_;
    using Base::null_;
    using Base::largest_;
    using Base::state_;
    using Base::b_of;
    using Base::eta_of;
    using Base::admit;
    using Base::refresh_all;
    using Base::residual_of;
    using Base::nonzero;
    using Base::newton;
    using Base::together;
    using Base::shift_columns;
    using Base::centre_intercepts;

    // Continue the last two solutions to this λ, in its logarithm, as far as signs stay
    void go_on(const double* lambdas, const std::vector<std::size_t>& told, std::size_t l,
               const Found& found) {
        const double a = lambdas[told[0]], b = lambdas[told[1]], c = lambdas[l];
        if (!(c > 0.0) || !(a > b)) return;
        const double ahead = std::min(1.5, std::log(b / c) / std::log(a / b));
        for (std::size_t k = 0; k < fitted_; ++k) {
            const double* const older = found.coefficients + (told[0] * fitted_ + k) * p_;
            const double* const newer = found.coefficients + (told[1] * fitted_ + k) * p_;
            for (const std::int32_t column : state_.set[k]) {
                const auto j = static_cast<std::size_t>(column);
                if (older[j] == 0.0 || newer[j] == 0.0) continue;
                double value = newer[j] + ahead * (newer[j] - older[j]);
                if (value * newer[j] <= 0.0) value = 0.0;
                const double d = value - b_of(k)[j];
                if (d == 0.0) continue;
                columns_.add_to(j, d, eta_of(k));
                b_of(k)[j] = value;
            }
            const double d0 = ahead * (centred_[1][k] - centred_[0][k]);
            state_.b0[k] += d0;
            for (std::size_t i = 0; d0 != 0.0 && i < n_; ++i) eta_of(k)[i] += d0;
        }
        refresh_all();
    }

    // To the minimum at λ, coming from `last`; gradients are kept fit for the step to `next`.
    bool solve(double lambda, double last, double next, std::int64_t* passes) {
        const double strong = setting_.l1_ratio * (2.0 * lambda - last);
        for (std::size_t k = 0; k < fitted_; ++k)
            for (std::size_t j = 0; j < p_; ++j)
                if (!state_.in[k * p_ + j] && state_.slope[k * p_ + j] >= strong * scale_[j])
                    admit(k, j);
        const Penalty penalty{lambda * setting_.l1_ratio, lambda * (1.0 - setting_.l1_ratio)};
        const double tolerance = setting_.tolerance * null_;
        while (true) {
            double moved = tolerance;
            int sweeps = 0;
            double work = 0.0;
            while (moved >= tolerance) {
                if (*passes <= 0) return false;
                moved = 0.0;
                for (std::size_t k = 0; k < fitted_; ++k) {
                    const std::int64_t before = *passes;
                    moved = std::max(moved, newton(k, penalty, tolerance, passes));
                    work += static_cast<double>(before - *passes) * nonzero(k);
                }
                if (fitted_ > 1 && moved >= tolerance) {
                    shift_columns();
                    double all = 0.0;
                    for (std::size_t k = 0; k < fitted_; ++k) all += nonzero(k);
                    // when creeping has cost as much as a step of all classes at once
                    if (++sweeps >= 4 && work > 0.3 * all * all) {
                        together(penalty, passes);
                        work = 0.0;
                    }
                }
            }
            centre_intercepts();
            if (setting_.l1_ratio == 0.0 || !missed(lambda, next)) return *passes > 0;
        }
    }

    // Admit columns outside the set whose gradient exceeds the penalty; whether there were any.
    //
    // Two residuals with all their gradients are remembered. The residual of now is a point on the
    // line through them plus a rest e, and so is every gradient, where the part of e is no more than
    // deviation · |e| (Cauchy–Schwarz; e adds up to zero). What that bounds is not computed.
    bool missed(double lambda, double next) {
        const double least = setting_.l1_ratio * std::min(lambda, 2.0 * next - lambda);
        const Vector& deviation = columns_.moments.deviation;
        bool any = false;
        for (std::size_t k = 0; k < fitted_; ++k) {
            residual_of(k);
            Remembered& known = known_[k];
            const Line line = p_ > FEW ? known.through(r_, per_root_) : Line{0.0, 0.0};
            double* const slope = state_.slope.data() + k * p_;
            for (std::size_t j = 0; p_ > FEW && j < p_; ++j)
                known.spent += line.most(known, j, deviation[j]) >= least * scale_[j];
            const bool anew = p_ <= FEW || known.spent > p_ / 2;
            if (anew && p_ > FEW) known.shift(r_, per_root_);
            columns_.keep(r_.data());
            for (std::size_t j = 0; j < p_; ++j) {
                if (!anew && !(line.most(known, j, deviation[j]) >= least * scale_[j])) {
                    slope[j] = 0.0;  // too small to enter here or at the next λ
                    continue;
                }
                const double g = deviation[j] > 0.0 ? columns_.product(j) : 0.0;
                slope[j] = std::fabs(g);
                if (anew) known.slope[j] = g;
                const double most = lambda * setting_.l1_ratio * scale_[j];
                if (!state_.in[k * p_ + j] && slope[j] > most * (1.0 + 1e-9)) {
                    admit(k, j);
                    any = any || state_.in[k * p_ + j];
                }
            }
        }
        return any;
    }

    // The solution in the units of X
    void put(std::size_t l, const Found& found) {
        for (std::size_t k = 0; k < fitted_; ++k) {
            double* const out = found.coefficients + (l * fitted_ + k) * p_;
            double intercept = state_.b0[k];
            for (const std::int32_t column : state_.set[k]) {
                const auto j = static_cast<std::size_t>(column);
                out[j] = b_of(k)[j];
                if (out[j] != 0.0) found.used[j] = 1;
                intercept -= out[j] * columns_.mean_shift(j);
            }
            found.intercepts[l * fitted_ + k] = intercept;
        }
        if (fitted_ == 1) return;
        double* const out = found.intercepts + l * fitted_;
        double mean = 0.0;
        for (std::size_t k = 0; k < fitted_; ++k) mean += out[k] / static_cast<double>(fitted_);
        for (std::size_t k = 0; k < fitted_; ++k) out[k] -= mean;
    }

    Vector per_root_;
    std::vector<Vector> centred_;
};

}  // namespace logistic

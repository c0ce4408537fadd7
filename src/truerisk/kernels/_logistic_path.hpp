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

#include "_logistic_bounds.hpp"
#include "_logistic_quadratic.hpp"

namespace logistic {

struct Setting {
    double l1_ratio, tolerance;
    bool standardize;
    std::int64_t max_passes;
};

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
class Path {
  public:
    Path(Columns& columns, const Rows& rows, std::size_t n_classes, const Setting& setting)
        : columns_(columns), rows_(rows), setting_(setting), n_(rows.length),
          p_(columns.moments.mean.size()), fitted_(n_classes == 2 ? 1 : n_classes),
          scale_(p_, 1.0), y_(fitted_ * n_, 0.0), exponential_(fitted_ > 1 ? fitted_ * n_ : 0),
          whole_(n_, 1.0), ones_(n_, 1.0), per_root_(n_, 0.0), r_(n_), v_(n_), change_(n_),
          known_(fitted_),
          quadratic_(columns, scale_, n_) {
        if (setting.standardize) scale_ = columns.moments.deviation;
        for (std::size_t i = 0; i < n_; ++i)
            if (rows.weight[i] > 0.0) per_root_[i] = 1.0 / std::sqrt(rows.weight[i]);
        start(n_classes);
    }

    // Largest λ with a coefficient that is not zero (for a pure ridge: at l1_ratio 0.001)
    double largest() const { return largest_; }

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

    double nonzero(std::size_t k) {
        double count = 0.0;
        for (const std::int32_t j : state_.set[k]) count += b_of(k)[j] != 0.0;
        return count;
    }

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

    Columns& columns_;
    const Rows& rows_;
    Setting setting_;
    std::size_t n_, p_, fitted_;
    Vector column_, scale_, y_, exponential_, whole_, ones_, per_root_, r_, v_, change_,
        old_, cross_;
    std::vector<Remembered> known_;  // per class
    std::vector<std::pair<std::size_t, std::size_t>> joint_;  // (class, column) not zero
    Orthant orthant_;
    std::vector<Vector> centred_;
    double null_ = 0.0, largest_ = 0.0;
    std::int64_t fresh_ = -1;  // the class whose residual and curvature r_ and v_ hold
    State state_;
    Quadratic<Columns> quadratic_;
};

}  // namespace logistic

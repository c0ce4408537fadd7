// One two-class support vector problem on rows of a Gram matrix, for one C after the other.
//
// In beta_i = y_i alpha_i, with boxes [lowest_i, highest_i] between 0 and y_i C share_i, the dual is
//     minimise  1/2 beta' K beta - y' beta   subject to  sum beta = 0.
// Its negative gradient is F = y - K beta. At the minimum F_i <= b where beta_i can rise and
// F_i >= b where it can fall; the solver moves the pair that gains most by the second-order rule of
// Fan, Chen and Lin (2005) and stops once no pair violates that by `tolerance`. Moves of pairs are
// slow where few rows are free and C is large; there all free rows are moved at once, to the minimum
// on their face of the box or to its border (`Solver::settle_face`), which mostly is the solution
// itself.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "_svm_face.hpp"
#include "_svm_sweeps.hpp"

namespace svm {

struct Problem {
    const float* gram;         // width x width; single precision, as libsvm keeps it
    std::size_t width;
    const std::int32_t* rows;  // the rows of the fit, m of them
    const double* sign;        // +1 or -1
    const double* share;       // the box of row i is C share_i
    std::size_t m;
};

struct Ends {
    double intercept;
    double violation;   // of the worst pair, below the tolerance if it converged
    double loose;       // by how much the intercept could be another
    double gap;         // of duality, as a part of the primal objective
    std::int64_t steps;
    bool converged;
    bool inside;        // no row at the upper end of its box: the same for every larger C
};

class Solver {
  public:
    Solver(const Problem& problem, double tolerance, std::int64_t max_steps)
        : p_(problem), tolerance_(tolerance), max_steps_(max_steps), padded_(padded(problem.m)),
          F_(padded_, 0.0), up_(padded_, -FAR), low_(padded_, FAR), diagonal_(padded_, 0.0f),
          beta_(p_.m, 0.0), lowest_(p_.m), highest_(p_.m), cached_(p_.m) {
        for (std::size_t t = 0; t < p_.m; ++t) {
            F_[t] = p_.sign[t];
            const auto at = static_cast<std::size_t>(p_.rows[t]);
            diagonal_[t] = p_.gram[at * p_.width + at];
        }
    }

    // From the solution for another C: everything in the same proportion.
    void scale(double ratio) {
        for (std::size_t t = 0; t < p_.m; ++t) {
            beta_[t] *= ratio;
            F_[t] = p_.sign[t] - ratio * (p_.sign[t] - F_[t]);
        }
    }

    // From a point that adds up to 0.
    void start(const double* beta) {
        std::copy(beta, beta + p_.m, beta_.begin());
        refresh();
    }

    Ends solve(double C) {
        box(C);
        Worst worst = select(F_.data(), up_.data(), low_.data(), padded_);
        std::int64_t steps = 0;
        for (int pass = 0; pass < 3; ++pass) {  // what was reached by increments is computed anew
            const std::int64_t before = steps;
            descend(worst, steps);
            if (steps == before) break;
            refresh();
            worst = select(F_.data(), up_.data(), low_.data(), padded_);
        }
        return ends(C, worst, steps);
    }

    const std::vector<double>& beta() const { return beta_; }

  private:
    void descend(Worst& worst, std::int64_t& steps) {
        double enough = std::max(tolerance_, rounding());
        std::int64_t next = steps + pause(0);
        while (worst.largest - worst.smallest >= enough && steps < max_steps_) {
            if (steps >= next) {
                enough = std::max(tolerance_, rounding());
                const std::size_t work = settle_face();
                next = steps + pause(work);
                if (work) worst = select(F_.data(), up_.data(), low_.data(), padded_);
                if (worst.largest - worst.smallest < enough) break;
            }
            if (!step(worst)) break;
            ++steps;
        }
    }

    // What is left of F where its terms cancel.
    double rounding() const {
        double sum = 0.0;
        float widest = 0.0f;
        for (std::size_t t = 0; t < p_.m; ++t) {
            sum += std::abs(beta_[t]);
            widest = std::max(widest, diagonal_[t]);
        }
        return 1e-15 * sum * static_cast<double>(widest);
    }

    void refresh() {
        std::copy(p_.sign, p_.sign + p_.m, F_.begin());
        for (std::size_t i = 0; i < p_.m; ++i)
            if (beta_[i] != 0.0) lower(F_.data(), row(i), beta_[i], padded_);
    }

    void box(double C) {
        for (std::size_t t = 0; t < p_.m; ++t) {
            const double most = C * p_.share[t];
            lowest_[t] = p_.sign[t] > 0 ? 0.0 : -most;
            highest_[t] = p_.sign[t] > 0 ? most : 0.0;
            settle(t);
        }
    }

    // At an end of the box up to rounding is at the end, and cannot go further.
    void settle(std::size_t t) {
        const double slack = ROUNDING * (highest_[t] - lowest_[t]);
        if (beta_[t] <= lowest_[t] + slack) beta_[t] = lowest_[t];
        if (beta_[t] >= highest_[t] - slack) beta_[t] = highest_[t];
        up_[t] = beta_[t] < highest_[t] ? 0.0 : -FAR;
        low_[t] = beta_[t] > lowest_[t] ? 0.0 : FAR;
    }

    const float* row(std::size_t i) {
        if (!cached_[i]) {
            cached_[i] = std::make_unique<float[]>(padded_);
            const float* const from = p_.gram + static_cast<std::size_t>(p_.rows[i]) * p_.width;
            float* const to = cached_[i].get();
            for (std::size_t t = 0; t < p_.m; ++t) to[t] = from[p_.rows[t]];
            std::fill(to + p_.m, to + padded_, 0.0f);
        }
        return cached_[i].get();
    }

    bool step(Worst& worst) {
        const std::size_t i = worst.at_largest;
        const float* const ki = row(i);
        const double kii = static_cast<double>(diagonal_[i]);
        std::size_t j = partner(F_.data(), low_.data(), ki, diagonal_.data(), worst.largest,
                                diagonal_[i], padded_);
        if (j >= p_.m || !(F_[j] < worst.largest) || low_[j] > 0.0) j = worst.at_smallest;
        const double curve = kii + static_cast<double>(diagonal_[j]) - 2.0 * static_cast<double>(ki[j]);
        const double wanted = (F_[i] - F_[j]) / std::max(curve, LEAST_CURVE);
        const double rise = highest_[i] - beta_[i];
        const double fall = beta_[j] - lowest_[j];
        const double by = std::min(wanted, std::min(rise, fall));
        if (!(by > 0.0)) return false;
        beta_[i] = by == rise ? highest_[i] : beta_[i] + by;
        beta_[j] = by == fall ? lowest_[j] : beta_[j] - by;
        settle(i);
        settle(j);
        worst = move(F_.data(), up_.data(), low_.data(), ki, row(j), by, padded_);
        return true;
    }

    // Steps between two moves of all free rows: in time, about as many as the last move took.
    std::int64_t pause(std::size_t work) const {
        return static_cast<std::int64_t>(std::max<std::size_t>(p_.m / 4, 64) + work / (32 * p_.m));
    }

    // Moves the free rows, if they are few, to the minimum on their face; a round ends there or with
    // one more row at an end of its box. How much work that was; 0 if nothing moved.
    std::size_t settle_face() {
        std::size_t work = 0;
        while (work < MOST_WORK) {
            face_.rows.clear();
            for (std::size_t t = 0; t < p_.m && face_.rows.size() <= Face::MOST; ++t)
                if (up_[t] == 0.0 && low_[t] == 0.0) face_.rows.push_back(t);
            const std::size_t n = face_.rows.size();
            if (n < 2 || n > Face::MOST) break;
            face_.clear();
            for (std::size_t a = 0; a < n; ++a) face_.slope[a] = F_[face_.rows[a]];
            const auto kernel = [this](std::size_t a, std::size_t b) {
                if (a == b) return static_cast<double>(diagonal_[face_.rows[a]]);
                if (b == 0) return static_cast<double>(row(face_.rows[0])[face_.rows[a]]);
                return static_cast<double>(row(face_.rows[a])[face_.rows[b]]);
            };
            const bool newton = face_.direction(kernel);
            double length = face_.length(newton, kernel);
            const std::size_t moved = face_.moved;
            std::size_t hit = n;
            for (std::size_t a = 0; a < moved; ++a) {
                const double d = face_.move[a];
                const std::size_t t = face_.rows[a];
                const double room = d > 0 ? highest_[t] - beta_[t] : lowest_[t] - beta_[t];
                if (d != 0.0 && room / d < length) length = room / d, hit = a;
            }
            if (!(length > 0.0) || !std::isfinite(length)) break;
            work += moved * (moved * moved + p_.m / 8);
            for (std::size_t a = 0; a < moved; ++a) {
                const double by = length * face_.move[a];
                const std::size_t t = face_.rows[a];
                lower(F_.data(), row(t), by, padded_);
                beta_[t] += by;
                if (a == hit) beta_[t] = by > 0 ? highest_[t] : lowest_[t];
                settle(t);
            }
            if (newton && hit == n) break;
        }
        return work;
    }

    Ends ends(double C, const Worst& worst, std::int64_t steps) const {
        double sum = 0.0;
        std::size_t free = 0;
        bool inside = true;
        double low_end = -FAR, high_end = FAR;  // of the intercept
        for (std::size_t t = 0; t < p_.m; ++t) {
            const double slack = LOOSE * (highest_[t] - lowest_[t]);
            const bool can_rise = beta_[t] < highest_[t] - slack;
            const bool can_fall = beta_[t] > lowest_[t] + slack;
            if (can_rise) low_end = std::max(low_end, F_[t]);
            if (can_fall) high_end = std::min(high_end, F_[t]);
            if (can_rise && can_fall) sum += F_[t], ++free;
            if (p_.sign[t] > 0 ? up_[t] != 0.0 : low_[t] != 0.0) inside = false;
        }
        const double b = free ? sum / static_cast<double>(free) : 0.5 * (low_end + high_end);
        const double violation = worst.largest - worst.smallest;
        return {b, violation, std::max(0.0, high_end - low_end), gap(C, b), steps, violation < tolerance_, inside};
    }

    double gap(double C, double b) const {
        double norm = 0.0, alphas = 0.0, slack = 0.0;
        for (std::size_t t = 0; t < p_.m; ++t) {
            norm += beta_[t] * (p_.sign[t] - F_[t]);
            alphas += std::abs(beta_[t]);
            slack += p_.share[t] * std::max(0.0, p_.sign[t] * (F_[t] - b));
        }
        const double primal = 0.5 * norm + C * slack;
        const double dual = alphas - 0.5 * norm;
        return (primal - dual) / std::max(std::abs(primal), std::numeric_limits<double>::min());
    }

    static constexpr std::size_t MOST_WORK = 2'000'000;
    static constexpr double ROUNDING = 1e-14;
    static constexpr double LOOSE = 1e-9;  // of a box: rows this close to its end may be at it
    static constexpr double LEAST_CURVE = 1e-12;

    Problem p_;
    double tolerance_;
    std::int64_t max_steps_;
    std::size_t padded_;
    std::vector<double> F_, up_, low_;
    std::vector<float> diagonal_;
    std::vector<double> beta_, lowest_, highest_;
    std::vector<std::unique_ptr<float[]>> cached_;
    Face face_;
};

}  // namespace svm

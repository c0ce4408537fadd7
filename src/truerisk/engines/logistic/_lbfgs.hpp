// L-BFGS-B without bounds, step by step as SciPy takes it: ten pairs, the compact form, the search of
// Moré and Thuente. Byrd, Lu, Nocedal and Zhu (1995); Morales and Nocedal (2011); Moré and Thuente (1994).
//
// It is for those who must know where that solver stops, not where the minimum is. What rounding
// decides (a test that is met by a hair, a factorisation that fails) ends it as DOUBTFUL.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "_line_search.hpp"
#include "_logistic_loops.hpp"

namespace lbfgs {

constexpr std::size_t PAIRS = 10;
constexpr double EPSILON = 2.220446049250313e-16;
constexpr double FUNCTION = 64 * EPSILON;  // the relative decrease below which it stops
constexpr double NOISE = 4e-15;            // of a value of the function, generously
constexpr double NEAR = 1e-6;              // of a gradient to its bound, relatively
constexpr double SINGULAR = 1e-10;         // a pivot's part of its diagonal: the solver may begin anew
constexpr int MOST_TRIALS = 50;            // of one search

enum End : std::uint8_t { DOUBTFUL = 0, CONVERGED = 1, CUT = 2 };

using Vector = std::vector<double>;

// Noise of the size of rounding, a number in ±2 ε at a time; none unless it is switched on. In
// `turned` coordinates sums have other terms than in those of the solver: lengths bound both.
class Shaking {
public:
    explicit Shaking(bool switched_on, bool turned_ones = false)
        : on(switched_on), turned(turned_ones) {}

    bool on, turned;

    double operator()() {
        if (!on) return 0.0;
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto high = static_cast<double>(static_cast<std::int64_t>(state) >> 11);
        return high * 0x1p-52 * 2 * EPSILON;
    }

private:
    std::uint64_t state = 88172645463325252u;
};

inline double length_of(const Vector& a) {
    return std::sqrt(logistic::dot(a.data(), a.data(), a.size()));
}

inline double product(const Vector& a, const Vector& b, Shaking& shaking) {
    if (!shaking.on) return logistic::dot(a.data(), b.data(), a.size());
    double size = 0.0;
    const double total = logistic::sized_dot(a.data(), b.data(), a.size(), &size);
    return total + (shaking.turned ? length_of(a) * length_of(b) : size) * shaking();
}

// A small dense matrix by rows.
struct Small {
    double at[PAIRS][PAIRS] = {};

    // Lower Cholesky factor in place; false where rounding may make it indefinite.
    bool factorise(std::size_t n) {
        for (std::size_t j = 0; j < n; ++j) {
            double pivot = at[j][j];
            for (std::size_t k = 0; k < j; ++k) pivot -= at[j][k] * at[j][k];
            if (!(pivot > SINGULAR * std::fabs(at[j][j]))) return false;
            at[j][j] = std::sqrt(pivot);
            for (std::size_t i = j + 1; i < n; ++i) {
                double rest = at[i][j];
                for (std::size_t k = 0; k < j; ++k) rest -= at[i][k] * at[j][k];
                at[i][j] = rest / at[j][j];
            }
        }
        return true;
    }

    void solve_lower(double* x, std::size_t n) const {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < i; ++k) x[i] -= at[i][k] * x[k];
            x[i] /= at[i][i];
        }
    }

    void solve_upper(double* x, std::size_t n) const {
        for (std::size_t i = n; i-- > 0;) {
            for (std::size_t k = i + 1; k < n; ++k) x[i] -= at[k][i] * x[k];
            x[i] /= at[i][i];
        }
    }
};

// The last pairs of moves and changes of the gradient, oldest first, and what they say.
class Memory {
public:
    explicit Memory(Shaking& noise) : shaking(noise) {}

    std::size_t size() const { return moves.size(); }

    // False where the solver would begin anew.
    bool add(const Vector& move, const Vector& change, double curvature) {
        if (moves.size() == PAIRS) forget_oldest();
        moves.push_back(move);
        changes.push_back(change);
        const std::size_t last = moves.size() - 1;
        for (std::size_t i = 0; i <= last; ++i) {
            moved.at[i][last] = moved.at[last][i] = product(moves[i], move, shaking);
            changed.at[i][last] = changed.at[last][i] = product(changes[i], change, shaking);
            crossed.at[i][last] = product(moves[i], change, shaking);
            crossed.at[last][i] = product(move, changes[i], shaking);
        }
        crossed.at[last][last] = curvature;
        scale = changed.at[last][last] / curvature;
        return positive() && factorise();
    }

    // The step d = −H g
    void direction(const Vector& gradient, Vector& d) {
        const std::size_t m = moves.size();
        double one[PAIRS], two[PAIRS];
        for (std::size_t i = 0; i < m; ++i) {
            one[i] = -product(changes[i], gradient, shaking);
            two[i] = -scale * product(moves[i], gradient, shaking);
        }
        upper.solve_lower(one, m);
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t k = 0; k < m; ++k) two[i] -= between.at[k][i] * one[k];
        }
        lower.solve_lower(two, m);
        lower.solve_upper(two, m);
        for (std::size_t i = 0; i < m; ++i) {
            one[i] = -one[i];
            for (std::size_t k = 0; k < m; ++k) one[i] -= between.at[i][k] * two[k];
        }
        upper.solve_upper(one, m);
        Vector size(shaking.on ? d.size() : 0);
        for (std::size_t j = 0; j < d.size(); ++j) d[j] = -gradient[j];
        for (std::size_t j = 0; j < size.size(); ++j) size[j] = std::fabs(gradient[j]);
        for (std::size_t i = 0; i < m; ++i) {
            const double *const y = changes[i].data(), *const s = moves[i].data();
            const double of_change = one[i] / scale, of_move = two[i];
            for (std::size_t j = 0; j < d.size(); ++j) d[j] += of_change * y[j] + of_move * s[j];
            for (std::size_t j = 0; j < size.size(); ++j)
                size[j] += std::fabs(of_change * y[j]) + std::fabs(of_move * s[j]);
        }
        for (std::size_t j = 0; j < size.size(); ++j) d[j] += size[j] * shaking();
        for (double& each : d) each /= scale;
    }

private:
    Shaking& shaking;
    std::vector<Vector> moves, changes;
    Small moved, changed, crossed;  // S'S, Y'Y and S'Y
    Small upper, between, lower;    // the factors of the middle matrix
    double scale = 1.0;

    void forget_oldest() {
        moves.erase(moves.begin());
        changes.erase(changes.begin());
        for (Small* each : {&moved, &changed, &crossed}) {
            for (std::size_t i = 0; i + 1 < PAIRS; ++i) {
                for (std::size_t k = 0; k + 1 < PAIRS; ++k) each->at[i][k] = each->at[i + 1][k + 1];
            }
        }
    }

    // Whether θ S'S + L D⁻¹ L' is positive definite, which the solver makes sure of
    bool positive() const {
        Small whole;
        for (std::size_t i = 0; i < moves.size(); ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                double sum = scale * moved.at[i][j];
                for (std::size_t k = 0; k < j; ++k) {
                    sum += crossed.at[i][k] * crossed.at[j][k] / crossed.at[k][k];
                }
                whole.at[i][j] = sum;
            }
        }
        return whole.factorise(moves.size());
    }

    // D + Y'Y/θ = L L', V = L⁻¹ R' with R the upper part of S'Y, and V'V = J J'
    bool factorise() {
        const std::size_t m = moves.size();
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j <= i; ++j) upper.at[i][j] = changed.at[i][j] / scale;
            upper.at[i][i] += crossed.at[i][i];
        }
        if (!upper.factorise(m)) return false;
        for (std::size_t i = 0; i < m; ++i) {
            double column[PAIRS];
            for (std::size_t j = 0; j < m; ++j) column[j] = j >= i ? crossed.at[i][j] : 0.0;
            upper.solve_lower(column, m);
            for (std::size_t j = 0; j < m; ++j) between.at[j][i] = column[j];
        }
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                double sum = 0.0;
                for (std::size_t k = 0; k < m; ++k) sum += between.at[k][i] * between.at[k][j];
                lower.at[i][j] = sum;
            }
        }
        return lower.factorise(m);
    }
};

// `rough`: how far a step that was interpolated from values next to each other may be off, at most, in
// the unit of `problem.reach`.
struct Outcome {
    End end = DOUBTFUL;
    std::int64_t iterations = 0;
    double rough = 0.0;
};

// A solver that waits for one evaluation after the other: `value` and `gradient` at `x` are to be filled
// in before `take` is called, which goes on to the next place, or is `over`. `problem.largest` is the size
// of the gradient's largest component, or a number on the same side of the bound. Vectors have a length
// that is a multiple of eight; what is added to those of the problem stays 0.
template <typename Problem>
class Minimiser {
public:
    Vector x, gradient;
    double value = 0.0;
    bool over = false;
    Outcome outcome;

    Minimiser(const Problem& what, std::size_t size, double bound, std::int64_t steps, Shaking noise)
        : x(size, 0.0), gradient(size, 0.0), problem(what), tolerance(bound), most(steps),
          shaking(noise), before(size), d(size), start(size), aim(size), memory(shaking) {}

    Minimiser(const Minimiser&) = delete;  // its memory holds on to its noise
    Minimiser& operator=(const Minimiser&) = delete;

    // Whether another solver is at the same trial of the same step, or has ended after as many steps.
    bool is_beside(const Minimiser& other) const {
        return outcome.iterations == other.outcome.iterations && trials == other.trials &&
               over == other.over && outcome.end == other.outcome.end;
    }

    void take() {
        if (!search) {
            norm = largest();
        } else if (!arrived()) {
            return;
        }
        if (!(std::fabs(norm / tolerance - 1.0) > NEAR)) return end(DOUBTFUL);
        if (norm <= tolerance) return end(CONVERGED);
        set_out();
    }

private:
    const Problem& problem;
    double tolerance;
    std::int64_t most;
    Shaking shaking;
    Vector before, d, start, aim;
    double norm = 0.0, former = 0.0, doubt = 0.0;
    double slope = 0.0, slope_now = 0.0, length = 0.0;  // of the last step
    int trials = 0;
    std::optional<Search> search;  // along the line of the last step
    Memory memory;

    void end(End how) {
        over = true;
        outcome.end = how;
    }

    double largest() const { return problem.largest(gradient, tolerance * (1.0 + 2 * NEAR)); }

    // Along the next line, to its first place.
    void set_out() {
        if (memory.size()) {
            memory.direction(gradient, d);
        } else {
            for (std::size_t j = 0; j < d.size(); ++j) d[j] = -gradient[j];
        }
        start = aim = x;  // the solver takes the step as a difference of places, digits lost and all
        for (std::size_t j = 0; j < d.size(); ++j) {
            aim[j] += d[j] + std::fabs(x[j]) * shaking();
            d[j] = aim[j] - x[j];
        }
        slope = product(gradient, d, shaking);
        if (!(slope < 0.0)) return end(DOUBTFUL);
        former = value;
        doubt = std::max(NOISE, 2 * EPSILON * problem.value_size(x, former));
        before = gradient;
        trials = 0;
        search.emplace(former, slope,
                       outcome.iterations ? 1.0 : 1.0 / std::sqrt(product(d, d, shaking)));
        go();
    }

    // To the place on the line that the search wants.
    void go() {
        length = search->step;
        for (std::size_t j = 0; j < x.size(); ++j) {
            x[j] = length == 1.0 ? aim[j] : length * d[j] + start[j];
        }
    }

    // Whether the step is taken and kept; else another place is tried, or all is over.
    bool arrived() {
        slope_now = product(gradient, d, shaking);
        if (search->close(value, doubt)) return stop();
        const bool branches = search->branches(value, slope_now, doubt);
        if (search->ends(value, slope_now)) return kept();
        if (branches || ++trials == MOST_TRIALS) return stop();
        const double usual = 2 * EPSILON * std::max(1.0, std::fabs(former));
        const double part = usual / std::max(std::fabs(value - former), usual);
        outcome.rough = std::max(outcome.rough, part * length * problem.reach(d));
        go();
        return false;
    }

    bool stop(End how = DOUBTFUL) {
        end(how);
        return false;
    }

    // False where the solver stops after this step, or where rounding decides.
    bool kept() {
        norm = largest();
        if (outcome.iterations + 1 >= most) {  // the solver looks at its limit first
            ++outcome.iterations;
            return stop(CUT);
        }
        if (norm > tolerance) {
            const double whole = std::max({std::fabs(former), std::fabs(value), 1.0});
            const double excess = former - value - FUNCTION * whole;
            if (std::fabs(excess) < NOISE * whole) return stop();
            if (excess <= 0.0) {
                ++outcome.iterations;
                return stop(norm > tolerance * (1.0 + NEAR) ? CONVERGED : DOUBTFUL);
            }
            if (!remember()) return stop();
        }
        ++outcome.iterations;
        return true;
    }

    // Another pair; false where the solver would begin anew, or nearly.
    bool remember() {
        Vector change(gradient);
        for (std::size_t j = 0; j < d.size(); ++j) {
            change[j] -= before[j];
            d[j] *= length;
        }
        const double curvature = (slope_now - slope) * length;
        return curvature > 2 * EPSILON * -slope * length && memory.add(d, change, curvature);
    }
};

}  // namespace lbfgs

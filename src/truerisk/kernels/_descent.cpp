// The elastic net by coordinate descent on X'X, with scikit-learn's order, screening and stop.
// Called by descent.py, which checks.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "_arrays.hpp"

namespace {

#if defined(__x86_64__) && defined(__GNUC__)
// Four at a time; the answers are the same without.
__attribute__((target("avx2"))) void add_avx2(double* to, double by, const double* from,
                                              std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) to[i] += by * from[i];
}
#endif

void add_times(double* to, double by, const double* from, std::size_t n) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2")) return add_avx2(to, by, from, n);
#endif
    for (std::size_t i = 0; i < n; ++i) to[i] += by * from[i];
}

constexpr double ROUNDING = 1e-12;  // of a sum's terms: how far its rounding is allowed to grow

// |y - Xw|^2 / 2 + lasso |w|_1 + ridge |w|^2 / 2, from w = 0.
struct Descent {
    const std::size_t p;
    const double *const gram, *const right;  // X'X and X'y
    const double square, lasso, ridge;       // y'y and the penalties
    double* const w;
    std::vector<double> product, gradient;  // X'Xw and X'(y - Xw) - ridge w
    std::vector<std::size_t> active;
    double gap = 0.0, steepest = 0.0;                 // primal less dual; largest of the gradient
    double gap_may_move = 0.0, gradient_may_move = 0.0;  // by rounding
    bool sure = true;

    Descent(std::size_t columns, const double* gram_, const double* right_, double square_,
            double lasso_, double ridge_, double* w_)
        : p(columns), gram(gram_), right(right_), square(square_), lasso(lasso_), ridge(ridge_),
          w(w_), product(p), gradient(p), active(p) {
        std::iota(active.begin(), active.end(), std::size_t{0});
    }

    double norm(std::size_t j) const { return gram[j * p + j]; }

    // Whether it is; where rounding could say otherwise, the way is sure no longer.
    bool at_most(double value, double bound, double may_move) {
        if (!(std::abs(value - bound) > may_move)) sure = false;
        return value <= bound;
    }

    void set(std::size_t j, double to) {
        add_times(product.data(), to - w[j], gram + j * p, p);
        w[j] = to;
    }

    bool has_closed(double tolerance) {
        double first = 0.0, second = 0.0, along = 0.0, fitted = 0.0, longest = 0.0;
        double terms = std::sqrt(square);
        steepest = 0.0;
        for (std::size_t j = 0; j < p; ++j) {
            gradient[j] = right[j] - product[j] - ridge * w[j];
            steepest = std::max(steepest, std::abs(gradient[j]));
            first += std::abs(w[j]);
            second += w[j] * w[j];
            along += w[j] * right[j];
            fitted += w[j] * product[j];
            longest = std::max(longest, norm(j));
            terms += std::abs(w[j]) * std::sqrt(norm(j));
        }
        const double top = std::max(lasso, steepest), scale = lasso / top;
        const double squares = square + fitted - 2.0 * along + ridge * second;
        gap = 0.5 * (1.0 + scale * scale) * squares + lasso * first - scale * (square - along);
        gradient_may_move = ROUNDING * terms * std::sqrt(longest);
        gap_may_move = ROUNDING * terms * terms + scale * gradient_may_move / top *
                                                      std::abs(scale * squares - (square - along));
        return at_most(gap, tolerance * square, gap_may_move);
    }

    // Columns whose coefficient is 0 at the minimum, by the gap (Fercoq et al. 2015), are left out.
    void screen() {
        const double top = std::max(lasso, steepest), radius = std::sqrt(2.0 * gap);
        std::size_t kept = 0;
        for (const std::size_t j : active) {
            const double unit = lasso / std::sqrt(norm(j) + ridge);
            const double away = (1.0 - std::abs(gradient[j]) / top) * unit;
            const double may_move = 2.0 * gradient_may_move / top * unit + gap_may_move / radius;
            if (norm(j) > 0.0 && at_most(away, radius, may_move)) active[kept++] = j;
            else if (w[j] != 0.0) set(j, 0.0);
        }
        active.resize(kept);
    }

    // How often it goes through the columns before it stops; one more than `most`: it does not.
    std::int64_t passes(double tolerance, std::int64_t most, bool screens) {
        if (screens) {
            if (has_closed(tolerance)) return 0;
            screen();
        }
        for (std::int64_t pass = 1; pass <= most; ++pass) {
            double largest = 0.0, moved = 0.0, terms = 0.0;
            for (const std::size_t j : active) {
                if (norm(j) == 0.0) continue;
                const double before = w[j], pull = right[j] - product[j] + before * norm(j);
                const double size = std::max(std::abs(pull) - lasso, 0.0) / (norm(j) + ridge);
                const double after = std::copysign(size, pull);
                if (after == 0.0 && before == 0.0) continue;
                if (after != before) set(j, after);
                largest = std::max(largest, size);
                moved = std::max(moved, std::abs(after - before));
                terms = std::max(terms, std::sqrt(square / norm(j)));
            }
            const double may_move = ROUNDING * (terms + largest);
            if (largest == 0.0 || pass == most || at_most(moved, tolerance * largest, may_move)) {
                if (has_closed(tolerance)) return pass;
                if (screens) screen();
            }
        }
        return most + 1;
    }
};

void descend(Input<double, nb::ndim<2>> gram, Input<double, nb::ndim<1>> right,
             Input<double, nb::ndim<2>> penalties, double square, double tolerance,
             std::int64_t most, bool screens, Output<double, nb::ndim<2>> coefficients,
             Output<std::int64_t, nb::ndim<1>> passes, Output<std::uint8_t, nb::ndim<1>> sure) {
    const std::size_t p = right.shape(0), n = penalties.shape(0);
    nb::gil_scoped_release no_gil;
    for (std::size_t c = 0; c < n; ++c) {
        const double* const of = penalties.data() + 2 * c;
        Descent way(p, gram.data(), right.data(), square, of[0], of[1], coefficients.data() + c * p);
        passes.data()[c] = way.passes(tolerance, most, screens);
        sure.data()[c] = way.sure;
    }
}

}  // namespace

void register_descent(nb::module_& m) {
    m.def("descend", &descend, "Coefficients of the elastic net at every pair of penalties.");
}

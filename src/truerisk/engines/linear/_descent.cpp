// The elastic net by coordinate descent, with scikit-learn's order, screening and stop: on X'X where X
// is tall, else on X as scikit-learn itself. Some penalties descend side by side, so that what is read
// of the table serves all of them. Called by normal_equations.py, which checks.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "_arrays.hpp"
#include "_logistic_loops.hpp"

namespace {

using logistic::add;
using logistic::dot;
using logistic::HAS_AVX2;
using logistic::Lane;

constexpr std::size_t SOME = 4;      // columns that are gone through at once
constexpr std::size_t TOGETHER = 8;  // penalties that descend side by side
constexpr std::size_t NEAR = 1 << 14;  // numbers of the table that stay in a processor's cache meanwhile
constexpr double ROUNDING = 1e-12;  // of a sum's terms: how far its rounding is allowed to grow

// the products of some columns with r
LOGISTIC_INLINE void products_of_any(const double* const* columns, const double* r, std::size_t n,
                                  double* products) {
    const double* z[SOME];  // copies, which no store changes
    Lane sums[SOME], others[SOME];
    for (std::size_t k = 0; k < SOME; ++k) {
        z[k] = columns[k];
        sums[k] = others[k] = Lane{};
    }
    for (std::size_t i = 0; i < n; i += 2 * logistic::WIDTH) {
        LOGISTIC_LOAD(c, r + i);
        LOGISTIC_LOAD(d, r + i + logistic::WIDTH);
        for (std::size_t k = 0; k < SOME; ++k) {
            LOGISTIC_LOAD(a, z[k] + i);
            LOGISTIC_LOAD(b, z[k] + i + logistic::WIDTH);
            sums[k] += a * c;
            others[k] += b * d;
        }
    }
    for (std::size_t k = 0; k < SOME; ++k) products[k] = logistic::sum_of(sums[k] + others[k]);
}

// r -= x by of some columns that have moved; then the products of the next ones with r
LOGISTIC_INLINE void next_any(const double* const* moved, const double* by, const double* const* next,
                              double* r, std::size_t n, double* products) {
    const double *x[SOME], *z[SOME];  // copies, which no store changes
    Lane sums[SOME], step[SOME];
    for (std::size_t k = 0; k < SOME; ++k) {
        x[k] = moved[k];
        z[k] = next[k];
        sums[k] = Lane{};
        step[k] = Lane{} + by[k];
    }
    for (std::size_t i = 0; i < n; i += logistic::WIDTH) {
        LOGISTIC_LOAD(c, r + i);
        for (std::size_t k = 0; k < SOME; ++k) {
            LOGISTIC_LOAD(a, x[k] + i);
            c -= step[k] * a;
        }
        LOGISTIC_STORE(r + i, c);
        for (std::size_t k = 0; k < SOME; ++k) {
            LOGISTIC_LOAD(a, z[k] + i);
            sums[k] += a * c;
        }
    }
    for (std::size_t k = 0; k < SOME; ++k) products[k] = logistic::sum_of(sums[k]);
}

LOGISTIC_LOOP(void, products_of,
              (const double* const* columns, const double* r, std::size_t n, double* products),
              (columns, r, n, products))
LOGISTIC_LOOP(void, next,
              (const double* const* moved, const double* by, const double* const* next_, double* r,
               std::size_t n, double* products),
              (moved, by, next_, r, n, products))

// What a descent reads of the rows: X'X (length: columns, filled up) and X'y.
struct Products {
    static constexpr std::size_t AT_ONCE = 1;

    const std::size_t p, length;
    const double *const gram, *const right;
    const double square;          // y'y
    std::vector<double> product;  // X'Xw

    double norm(std::size_t j) const { return gram[j * length + j]; }
    double left(std::size_t j) const { return right[j] - product[j]; }  // X'(y - Xw)
    void arrange(std::size_t) {}
    void begin(const std::size_t* block, std::size_t, double* products) { *products = left(*block); }
    double cross(const std::size_t*, std::size_t, std::size_t, std::size_t) { return 0.0; }
    void settle() {}

    void move(const std::size_t* block, const double* by, std::size_t) {
        if (*by != 0.0) add(product.data(), gram + *block * length, *by, length);
    }

    // |y - Xw|^2 and (y - Xw)'y
    std::pair<double, double> squares(const double* w) const {
        double along = 0.0, fitted = 0.0;
        for (std::size_t j = 0; j < p; ++j) {
            along += w[j] * right[j];
            fitted += w[j] * product[j];
        }
        return {square + fitted - 2.0 * along, square - along};
    }
};

// The same of the rows themselves: X by columns (length: rows, filled up with zeros; a column of zeros
// comes last), y and y - Xw. The products of some columns are taken at once: what a move of one does to
// those after it is known from the products of the columns with each other.
struct Rows {
    static constexpr std::size_t AT_ONCE = SOME;

    const std::size_t p, length;
    const double *const columns, *const y;
    const double square;
    std::vector<double> residual, norms, with_y;
    bool fresh = true;            // whether nothing has moved, and the residual is y
    std::vector<double> crossed;  // products of active columns with those shortly before them
    const double* moved[SOME];    // columns whose move waits until y - Xw is read again
    double by[SOME];

    Rows(std::size_t width, std::size_t rows, const double* cells, const double* targets, double size)
        : p(width), length(rows), columns(cells), y(targets), square(size),
          residual(targets, targets + rows) {
        for (std::size_t j = 0; j < p; ++j) {
            norms.push_back(dot(column(j), column(j), length));
            with_y.push_back(dot(column(j), y, length));
        }
        stand(nullptr, nullptr, 0);
    }

    const double* column(std::size_t j) const { return columns + j * length; }
    double norm(std::size_t j) const { return norms[j]; }
    double left(std::size_t j) const {
        return fresh ? with_y[j] : dot(column(j), residual.data(), length);
    }

    // Of columns k and b of the block at that place: taken when b first moves, and kept.
    double cross(const std::size_t* block, std::size_t place, std::size_t k, std::size_t b) {
        double& product = crossed[(place + k) * SOME + b];
        if (std::isnan(product)) product = dot(column(block[k]), column(block[b]), length);
        return product;
    }

    void arrange(std::size_t active) { crossed.assign(active * SOME, std::nan("")); }

    void begin(const std::size_t* block, std::size_t some, double* products) {
        const double* to[SOME];
        for (std::size_t k = 0; k < SOME; ++k) to[k] = column(k < some ? block[k] : p);
        if (std::count(by, by + SOME, 0.0) < static_cast<std::ptrdiff_t>(SOME) - 1) {
            next(moved, by, to, residual.data(), length, products);
            stand(nullptr, nullptr, 0);
        } else {  // most coefficients stay 0
            settle();
            products_of(to, residual.data(), length, products);
        }
    }

    void move(const std::size_t* block, const double* step, std::size_t some) {
        settle();
        fresh = false;
        stand(block, step, some);
    }

    void settle() {
        for (std::size_t k = 0; k < SOME; ++k) {
            if (by[k] != 0.0) add(residual.data(), moved[k], -by[k], length);
        }
        stand(nullptr, nullptr, 0);
    }

    std::pair<double, double> squares(const double*) const {
        const double* const r = residual.data();
        return {dot(r, r, length), dot(r, y, length)};
    }

private:
    void stand(const std::size_t* block, const double* step, std::size_t some) {
        for (std::size_t k = 0; k < SOME; ++k) {
            moved[k] = column(k < some ? block[k] : p);
            by[k] = k < some ? step[k] : 0.0;
        }
    }
};

// |y - Xw|^2 / 2 + lasso |w|_1 + ridge |w|^2 / 2, from w = 0.
template <typename Sides>
struct Descent {
    Sides sides;
    const std::size_t p;
    const double square, lasso, ridge;  // y'y and the penalties
    double* const w;
    std::vector<double> gradient;       // X'(y - Xw) - ridge w
    std::vector<double> inverse, term;  // of the curvature; what the rounding of a step is relative to
    std::vector<std::size_t> active;
    double gap = 0.0, steepest = 0.0;                    // primal less dual; largest of the gradient
    double gap_may_move = 0.0, gradient_may_move = 0.0;  // by rounding
    double largest = 0.0, farthest = 0.0, terms = 0.0;   // coefficient and step of a pass
    std::size_t place = 0;                               // among the active ones, in a pass
    bool sure = true, arranged = false;

    Descent(const Sides& of, double lasso_, double ridge_, double* w_)
        : sides(of), p(of.p), square(of.square), lasso(lasso_), ridge(ridge_), w(w_), gradient(p),
          inverse(p), term(p) {
        for (std::size_t j = 0; j < p; ++j) {
            if (norm(j) == 0.0) continue;
            active.push_back(j);
            inverse[j] = 1.0 / (norm(j) + ridge);
            term[j] = std::sqrt(square / norm(j));
        }
    }

    double norm(std::size_t j) const { return sides.norm(j); }

    // Whether it is; where rounding could say otherwise, the way is sure no longer.
    bool at_most(double value, double bound, double may_move) {
        if (!(std::abs(value - bound) > may_move)) sure = false;
        return value <= bound;
    }

    bool has_closed(double tolerance) {
        double first = 0.0, second = 0.0, longest = 0.0, lengths = std::sqrt(square);
        steepest = 0.0;
        sides.settle();
        for (std::size_t j = 0; j < p; ++j) {
            gradient[j] = sides.left(j) - ridge * w[j];
            steepest = std::max(steepest, std::abs(gradient[j]));
            first += std::abs(w[j]);
            second += w[j] * w[j];
            longest = std::max(longest, norm(j));
            lengths += std::abs(w[j]) * std::sqrt(norm(j));
        }
        const double top = std::max(lasso, steepest), scale = lasso / top;
        const auto [left, with_y] = sides.squares(w);
        const double squares = left + ridge * second;
        gap = 0.5 * (1.0 + scale * scale) * squares + lasso * first - scale * with_y;
        gradient_may_move = ROUNDING * lengths * std::sqrt(longest);
        gap_may_move = ROUNDING * lengths * lengths +
                       scale * gradient_may_move / top * std::abs(scale * squares - with_y);
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
            if (at_most(away, radius, may_move)) {
                active[kept++] = j;
            } else if (w[j] != 0.0) {
                const double by = -std::exchange(w[j], 0.0);
                sides.move(&j, &by, 1);
            }
        }
        arranged = arranged && kept == active.size();
        active.resize(kept);
    }

    // The step along a column, whose product with what is left of y is known.
    double step(std::size_t j, double left) {
        const double before = w[j], pull = left + before * norm(j);
        const double size = std::max(std::abs(pull) - lasso, 0.0) * inverse[j];
        const double after = std::copysign(size, pull);
        if (after == 0.0 && before == 0.0) return 0.0;
        w[j] = after;
        largest = std::max(largest, size);
        farthest = std::max(farthest, std::abs(after - before));
        terms = std::max(terms, term[j]);
        return after - before;
    }

    void begin_pass() {
        place = 0;
        largest = farthest = terms = 0.0;
        if (!std::exchange(arranged, true)) sides.arrange(active.size());
    }

    // Goes on in a pass, as far as blocks of active columns begin before column `until`.
    void go_on(std::size_t until) {
        double products[Sides::AT_ONCE], by[Sides::AT_ONCE];
        for (; place < active.size() && active[place] < until; place += Sides::AT_ONCE) {
            const std::size_t* const block = &active[place];
            const std::size_t some = std::min(Sides::AT_ONCE, active.size() - place);
            sides.begin(block, some, products);
            for (std::size_t k = 0; k < some; ++k) {
                double left = products[k];
                for (std::size_t b = 0; b < k; ++b) {
                    if (by[b] != 0.0) left -= by[b] * sides.cross(block, place, k, b);
                }
                by[k] = step(block[k], left);
            }
            sides.move(block, by, some);
        }
    }

    // Whether it stops after that pass (0: before the first), which is the last one it may make.
    bool stops(std::int64_t pass, bool last, double tolerance, bool screens) {
        const double may_move = ROUNDING * (terms + largest);
        if (pass == 0 ? !screens
                      : largest != 0.0 && !last && !at_most(farthest, tolerance * largest, may_move))
            return false;
        if (has_closed(tolerance)) return true;
        if (screens) screen();
        return false;
    }
};

// `table`: X'X, or the columns of X and one of zeros, filled up to a multiple of eight; `with` X'y or y
void descend(Input<double, nb::ndim<2>> table, Input<double, nb::ndim<1>> with,
             Input<double, nb::ndim<2>> penalties, bool by_rows, double square, double tolerance,
             std::int64_t most, bool screens, Output<double, nb::ndim<2>> coefficients,
             Output<std::int64_t, nb::ndim<1>> passes, Output<std::uint8_t, nb::ndim<1>> sure) {
    const std::size_t p = coefficients.shape(1), length = table.shape(1);
    nb::gil_scoped_release no_gil;
    const std::size_t near = std::max(SOME, NEAR / length);
    const auto some = [&](const auto& sides, std::size_t first, std::size_t end) {
        std::vector<Descent<std::decay_t<decltype(sides)>>> ways;
        std::vector<std::size_t> open;
        for (std::size_t c = first; c < end; ++c) {
            const double* const of = penalties.data() + 2 * c;
            ways.emplace_back(sides, of[0], of[1], coefficients.data() + c * p);
            open.push_back(c);
        }
        for (std::int64_t pass = 0; pass <= most && !open.empty(); ++pass) {
            if (pass > 0) {
                for (const std::size_t c : open) ways[c - first].begin_pass();
                for (std::size_t until = near; until < p + near; until += near) {
                    for (const std::size_t c : open) ways[c - first].go_on(until);
                }
            }
            const auto stops = [&](std::size_t c) {
                passes.data()[c] = pass;
                return ways[c - first].stops(pass, pass == most, tolerance, screens);
            };
            open.erase(std::remove_if(open.begin(), open.end(), stops), open.end());
        }
        for (const std::size_t c : open) passes.data()[c] = most + 1;
        for (std::size_t c = first; c < end; ++c) sure.data()[c] = ways[c - first].sure;
    };
    const auto each = [&](const auto& sides) {
        for (std::size_t first = 0; first < penalties.shape(0); first += TOGETHER)
            some(sides, first, std::min(first + TOGETHER, penalties.shape(0)));
    };
    if (by_rows) return each(Rows(p, length, table.data(), with.data(), square));
    each(Products{p, length, table.data(), with.data(), square, std::vector<double>(length)});
}

}  // namespace

void register_descent(nb::module_& m) {
    m.def("descend", &descend, "Coefficients of the elastic net at every pair of penalties.");
}

// Normal equations of fits that lack blocks of rows. Called by normal_equations.py, which checks.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "_arrays.hpp"

namespace {

constexpr std::size_t LANES = 8;  // fits that go through the same steps side by side

// One number of each of the fits.
struct Lanes {
    double at[LANES];
};

void add_product(Lanes& sum, const Lanes& a, const Lanes& b) {
    for (std::size_t l = 0; l < LANES; ++l) sum.at[l] += a.at[l] * b.at[l];
}

void take_product(Lanes& sum, const Lanes& a, const Lanes& b) {
    for (std::size_t l = 0; l < LANES; ++l) sum.at[l] -= a.at[l] * b.at[l];
}

void add_squares(Lanes& sum, const Lanes& a, double times) {
    for (std::size_t l = 0; l < LANES; ++l) sum.at[l] += times * a.at[l] * a.at[l];
}

Lanes times(const Lanes& a, const Lanes& b) {
    Lanes found;
    for (std::size_t l = 0; l < LANES; ++l) found.at[l] = a.at[l] * b.at[l];
    return found;
}

// Where row i of a lower triangle begins.
std::size_t row(std::size_t i) { return i * (i + 1) / 2; }

// L with A = LL', in its place; its diagonal is inverted. A negative pivot makes it NaN.
void factor(Lanes* a, std::size_t q) {
    for (std::size_t i = 0; i < q; ++i) {
        Lanes* const own = a + row(i);
        for (std::size_t j = 0; j <= i; ++j) {
            const Lanes* const other = a + row(j);
            Lanes s = own[j];
            for (std::size_t k = 0; k < j; ++k) take_product(s, own[k], other[k]);
            if (j < i) own[j] = times(s, other[j]);
            else
                for (std::size_t l = 0; l < LANES; ++l) own[j].at[l] = 1.0 / std::sqrt(s.at[l]);
        }
    }
}

// The inverse of L, in its place.
void invert(Lanes* a, std::size_t q) {
    for (std::size_t i = 0; i < q; ++i) {
        Lanes* const own = a + row(i);
        for (std::size_t j = 0; j < i; ++j) {
            Lanes s{};
            for (std::size_t k = j; k < i; ++k) take_product(s, own[k], a[row(k) + j]);
            own[j] = times(s, own[i]);
        }
    }
}

// The systems of some fits: lower triangle of A, and its right side.
struct Systems {
    std::size_t q;
    std::vector<Lanes> a, b, x;

    explicit Systems(std::size_t order) : q(order), a(row(order)), b(order), x(order) {}

    // `sign` times a matrix with its right side as the last column.
    void add(std::size_t lane, const double* both, double sign) {
        for (std::size_t i = 0; i < q; ++i, both += q + 1) {
            Lanes* const own = a.data() + row(i);
            for (std::size_t j = 0; j <= i; ++j) own[j].at[lane] += sign * both[j];
            b[i].at[lane] += sign * both[q];
        }
    }

    Lanes squares() const {
        Lanes sum{};
        for (std::size_t i = 0; i < q; ++i)
            for (std::size_t j = 0; j <= i; ++j) add_squares(sum, a[row(i) + j], i == j ? 1.0 : 2.0);
        return sum;
    }

    // x with Ax = b, by the inverse of A; the squares of whose elements are added up.
    Lanes solve() {
        factor(a.data(), q);
        invert(a.data(), q);
        std::fill(x.begin(), x.end(), Lanes{});
        Lanes sum{};
        for (std::size_t i = 0; i < q; ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                Lanes s{};
                for (std::size_t k = i; k < q; ++k) add_product(s, a[row(k) + i], a[row(k) + j]);
                add_product(x[i], s, b[j]);
                if (j < i) add_product(x[j], s, b[i]);
                add_squares(sum, s, i == j ? 1.0 : 2.0);
            }
        return sum;
    }
};

// Coefficients and condition numbers (of Frobenius) of every fit; NaN where A is not positive.
void solve_without(Input<double, nb::ndim<2>> whole, Input<double, nb::ndim<3>> blocks,
                   Input<std::int64_t, nb::ndim<1>> minus, Input<std::int64_t, nb::ndim<1>> offsets,
                   Input<double, nb::ndim<2>> ridge, Output<double, nb::ndim<2>> coefficients,
                   Output<double, nb::ndim<1>> condition) {
    const std::size_t q = whole.shape(0), n = condition.shape(0);
    nb::gil_scoped_release no_gil;
    Systems systems(q);
    for (std::size_t first = 0; first < n; first += LANES) {
        const std::size_t some = std::min(LANES, n - first);
        std::fill(systems.a.begin(), systems.a.end(), Lanes{});
        std::fill(systems.b.begin(), systems.b.end(), Lanes{});
        for (std::size_t l = 0; l < some; ++l) {
            const std::size_t fit = first + l;
            systems.add(l, whole.data(), 1.0);
            for (std::int64_t m = offsets.data()[fit]; m < offsets.data()[fit + 1]; ++m)
                systems.add(l, blocks.data() + static_cast<std::size_t>(minus.data()[m]) * q * (q + 1),
                            -1.0);
            for (std::size_t i = 0; i < q; ++i) systems.a[row(i) + i].at[l] += ridge.data()[fit * q + i];
        }
        const Lanes before = systems.squares(), after = systems.solve();
        for (std::size_t l = 0; l < some; ++l) {
            condition.data()[first + l] = std::sqrt(before.at[l]) * std::sqrt(after.at[l]);
            for (std::size_t i = 0; i < q; ++i)
                coefficients.data()[(first + l) * q + i] = systems.x[i].at[l];
        }
    }
}

// The product of a row and a column of coefficients, position by position.
void products_of(Input<double, nb::ndim<2>> table, Input<std::int32_t, nb::ndim<1>> rows,
                 Input<double, nb::ndim<2>> coefficients, Input<std::int64_t, nb::ndim<1>> which,
                 Output<double, nb::ndim<1>> out) {
    const std::size_t q = table.shape(1), n = out.shape(0);
    nb::gil_scoped_release no_gil;
    for (std::size_t p = 0; p < n; ++p) {
        const double* const x = table.data() + static_cast<std::size_t>(rows.data()[p]) * q;
        const double* const of = coefficients.data() + static_cast<std::size_t>(which.data()[p]) * q;
        double sum = 0.0;
        for (std::size_t j = 0; j < q; ++j) sum += x[j] * of[j];
        out.data()[p] = sum;
    }
}

}  // namespace

void register_equations(nb::module_& m) {
    m.def("solve_without", &solve_without, "Normal equations of every fit that lacks some blocks.");
    m.def("products_of", &products_of, "Rows times coefficients, position by position.");
}

// libsvm's own steps, and the kernel values that it takes them on. Called by svm_steps.py, which
// checks. Compiled without contraction of products and sums.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "_arrays.hpp"
#include "_svm_steps.hpp"

namespace {

using Table = Input<double, nb::ndim<2>>;

// The inner product that SVC itself calls (scipy's BLAS), as Cython modules export it.
using Dot = double (*)(int*, double*, int*, double*, int*);

class Inner {
  public:
    Inner(const nb::capsule& function, std::size_t width)
        : dot_(reinterpret_cast<Dot>(function.data())), width_(static_cast<int>(width)) {}
    double operator()(const double* a, const double* b) const {
        int n = width_, one = 1;
        return dot_(&n, const_cast<double*>(a), &one, const_cast<double*>(b), &one);
    }

  private:
    Dot dot_;
    int width_;
};

constexpr std::size_t IN_CACHE = 1 << 15;  // numbers of the rows that others are multiplied with

// What is summed for a pair of rows: their products, or the squares of their differences.
class Pair {
  public:
    Pair(const nb::capsule& function, std::size_t width, bool of_differences)
        : dot_(function, width), of_differences_(of_differences), difference_(width) {}
    double operator()(const double* a, const double* b) {
        if (!of_differences_) return dot_(a, b);
        for (std::size_t c = 0; c < difference_.size(); ++c) difference_[c] = a[c] - b[c];
        return dot_(difference_.data(), difference_.data());
    }

  private:
    Inner dot_;
    bool of_differences_;
    std::vector<double> difference_;
};

// Products of all rows with each other: either way round they are the same to the last bit.
void svm_products(Table rows, const nb::capsule& function, bool of_differences,
                  Output<double, nb::ndim<2>> products) {
    const std::size_t n = rows.shape(0), d = rows.shape(1);
    Pair pair(function, d, of_differences);
    nb::gil_scoped_release no_gil;
    const double* const x = rows.data();
    double* const out = products.data();
    const std::size_t block = std::max<std::size_t>(1, IN_CACHE / std::max<std::size_t>(d, 1));
    for (std::size_t first = 0; first < n; first += block)
        for (std::size_t j = first; j < n; ++j)
            for (std::size_t i = first; i < std::min(first + block, j + 1); ++i)
                out[i * n + j] = out[j * n + i] = pair(x + i * d, x + j * d);
}

// Products of rows with other rows.
void svm_products_between(Table rows, Table others, const nb::capsule& function,
                          bool of_differences, Output<double, nb::ndim<2>> products) {
    const std::size_t m = rows.shape(0), n = others.shape(0), d = rows.shape(1);
    Pair pair(function, d, of_differences);
    nb::gil_scoped_release no_gil;
    const std::size_t block = std::max<std::size_t>(1, IN_CACHE / std::max<std::size_t>(d, 1));
    for (std::size_t first = 0; first < n; first += block)
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = first; j < std::min(first + block, n); ++j)
                products.data()[i * n + j] = pair(rows.data() + i * d, others.data() + j * d);
}

// The same of sparse tables: sums over the columns in order, many pairs at once. What is 0 adds nothing,
// to the last bit. `columns` are those of the other rows, a line each.
void svm_products_in_order(Table rows, Table columns, bool of_differences,
                           Output<double, nb::ndim<2>> products) {
    constexpr std::size_t WIDE = 16;  // sums side by side, each of its own pair
    const std::size_t m = rows.shape(0), d = rows.shape(1), n = columns.shape(1);
    nb::gil_scoped_release no_gil;
    std::vector<std::size_t> starts(1, 0), places;
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t c = 0; c < d; ++c)
            if (of_differences || rows.data()[i * d + c] != 0.0) places.push_back(c);
        starts.push_back(places.size());
    }
    std::vector<double> part(d * WIDE, 0.0);
    for (std::size_t first = 0; first < n; first += WIDE) {
        const std::size_t width = std::min(WIDE, n - first);
        for (std::size_t c = 0; c < d; ++c)
            std::copy_n(columns.data() + c * n + first, width, part.data() + c * WIDE);
        for (std::size_t i = 0; i < m; ++i) {
            double sums[WIDE] = {};
            for (std::size_t t = starts[i]; t < starts[i + 1]; ++t) {
                const double x = rows.data()[i * d + places[t]];
                const double* const y = part.data() + places[t] * WIDE;
                if (of_differences)
                    for (std::size_t k = 0; k < WIDE; ++k) sums[k] += (x - y[k]) * (x - y[k]);
                else
                    for (std::size_t k = 0; k < WIDE; ++k) sums[k] += x * y[k];
            }
            std::copy_n(sums, width, products.data() + i * n + first);
        }
    }
}

// The Gaussian kernel as SVC solves on it, from inner products, in single precision.
void svm_gaussian_solved(Table inner, double gamma, Output<float, nb::ndim<2>> solved,
                         Output<double, nb::ndim<1>> diagonal) {
    const std::size_t m = inner.shape(0);
    nb::gil_scoped_release no_gil;
    std::vector<double> square(m);
    for (std::size_t i = 0; i < m; ++i) square[i] = inner.data()[i * m + i];
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = i; j < m; ++j) {
            const double cell = square[i] + square[j] - 2 * inner.data()[i * m + j];
            const double value = std::exp(-gamma * cell);
            if (j == i) diagonal.data()[i] = value;
            solved.data()[i * m + j] = solved.data()[j * m + i] = static_cast<float>(value);
        }
}

// The Gaussian kernel as SVC answers by it, from squared distances.
void svm_gaussian_answered(Table apart, double gamma, Output<double, nb::ndim<2>> answered) {
    nb::gil_scoped_release no_gil;
    for (std::size_t t = 0; t < apart.size(); ++t)
        answered.data()[t] = std::exp(-gamma * apart.data()[t]);
}

void svm_polynomial(Table inner, double gamma, double coef0, std::int64_t degree,
                    Output<double, nb::ndim<2>> cells) {
    nb::gil_scoped_release no_gil;
    for (std::size_t t = 0; t < inner.size(); ++t) {
        double base = gamma * inner.data()[t] + coef0, power = 1.0;
        for (std::int64_t left = degree; left > 0; left /= 2) {
            if (left % 2 == 1) power *= base;
            base *= base;
        }
        cells.data()[t] = power;
    }
}

// Problem p has rows `starts[p]` to `starts[p + 1]`, of y = 1 first; its `beta` is one line per C.
void svm_steps_of_each(Input<float, nb::ndim<2>> gram, Input<double, nb::ndim<1>> diagonal,
                       Input<std::int32_t, nb::ndim<1>> rows, Input<std::int64_t, nb::ndim<1>> starts,
                       Input<double, nb::ndim<1>> sign, Input<double, nb::ndim<1>> weight,
                       Input<double, nb::ndim<1>> of_class, Input<double, nb::ndim<1>> Cs,
                       double tolerance, bool shrinking, Output<double, nb::ndim<1>> beta,
                       Output<double, nb::ndim<2>> intercept) {
    const std::size_t n_problems = intercept.shape(0), n = Cs.shape(0);
    nb::gil_scoped_release no_gil;
    for (std::size_t p = 0; p < n_problems; ++p) {
        const auto first = static_cast<std::size_t>(starts.data()[p]);
        const std::size_t m = static_cast<std::size_t>(starts.data()[p + 1]) - first;
        std::vector<double> box(m);
        for (std::size_t c = 0; c < n; ++c) {
            for (std::size_t t = 0; t < m; ++t)
                box[t] = weight.data()[first + t] * (Cs.data()[c] * of_class.data()[first + t]);
            svm_steps::Solver solver({gram.data(), diagonal.data(), gram.shape(1), rows.data() + first,
                                      sign.data() + first, box.data(), m},
                                     tolerance, shrinking);
            solver.solve(beta.data() + n * first + c * m, intercept.data()[p * n + c]);
        }
    }
}

// Decision values by the sums that SVC forms: rows in order, one after the other, the intercept last.
void svm_answers(Table cells, Input<std::int32_t, nb::ndim<1>> rows, Table beta,
                 Input<double, nb::ndim<1>> intercept, Output<double, nb::ndim<2>> values) {
    const std::size_t m = rows.shape(0), n = cells.shape(1);
    nb::gil_scoped_release no_gil;
    for (std::size_t c = 0; c < beta.shape(0); ++c) {
        double* const out = values.data() + c * n;
        std::fill(out, out + n, 0.0);
        for (std::size_t t = 0; t < m; ++t) {
            const double by = beta.data()[c * m + t];
            if (by == 0.0) continue;
            const double* const cell = cells.data() + static_cast<std::size_t>(rows.data()[t]) * n;
            for (std::size_t a = 0; a < n; ++a) out[a] += by * cell[a];
        }
        for (std::size_t a = 0; a < n; ++a) out[a] += intercept.data()[c];
    }
}

}  // namespace

void register_svm_steps(nb::module_& m) {
    m.def("svm_products", &svm_products);
    m.def("svm_products_between", &svm_products_between);
    m.def("svm_products_in_order", &svm_products_in_order);
    m.def("svm_gaussian_solved", &svm_gaussian_solved);
    m.def("svm_gaussian_answered", &svm_gaussian_answered);
    m.def("svm_polynomial", &svm_polynomial);
    m.def("svm_steps_of_each", &svm_steps_of_each,
          "The solutions of many problems for many C by libsvm's own steps.");
    m.def("svm_answers", &svm_answers);
}

// Paths of L1, elastic-net and ridge logistic regression. Called by logistic.py, which checks.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "_arrays.hpp"
#include "_logistic_path.hpp"

namespace {

using Columnwise = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

// What both kinds of X are fitted to, and where the answers go.
struct Asked {
    std::size_t n_all;
    const std::int64_t* rows;  // the row of X that each row of the fit is; nullptr: all as they are
    Input<double, nb::ndim<1>> weights;
    Input<std::int32_t, nb::ndim<1>> codes;
    std::int64_t n_classes;
    Output<double, nb::ndim<1>> lambdas;
    Input<std::uint8_t, nb::ndim<1>> aside;
    double ratio;
    logistic::Setting setting;
    logistic::Found found;
};

template <typename Columns>
logistic::Rows rows_of(const Asked& asked) {
    logistic::Rows rows;
    rows.n_all = asked.n_all;
    const std::size_t n = asked.weights.shape(0);
    std::vector<std::size_t> seen;
    double total = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double w = asked.weights.data()[i];
        if (!(w > 0.0)) continue;
        total += w;
        seen.push_back(i);
        rows.at.push_back(asked.rows ? asked.rows[i] : static_cast<std::int64_t>(i));
    }
    Columns::place(rows);
    rows.weight.assign(rows.length, 0.0);
    rows.code.assign(rows.length, -1);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const std::size_t place = Columns::place_of(rows, i);
        rows.weight[place] = asked.weights.data()[seen[i]] / total;
        rows.code[place] = asked.codes.data()[seen[i]];
    }
    return rows;
}

// With `ratio` > 0 the λ's that are not aside (they come first) are filled in: from the largest
// down to that part of it.
template <typename Columns>
void solve(Columns& columns, const logistic::Rows& rows, const Asked& asked) {
    logistic::Path<Columns> path(columns, rows, static_cast<std::size_t>(asked.n_classes),
                                 asked.setting);
    const std::size_t n = asked.lambdas.shape(0);
    std::size_t n_main = 0;
    while (n_main < n && !asked.aside.data()[n_main]) ++n_main;
    for (std::size_t l = 0; asked.ratio > 0.0 && l < n_main; ++l) {
        const double part = n_main > 1 ? static_cast<double>(l) / static_cast<double>(n_main - 1) : 0.0;
        asked.lambdas.data()[l] = path.largest() * std::pow(asked.ratio, part);
    }
    path.run(asked.lambdas.data(), asked.aside.data(), n, asked.found);
}

logistic::Found found_in(Output<double, nb::ndim<3>>& coefficients,
                         Output<double, nb::ndim<2>>& intercepts,
                         Output<std::int64_t, nb::ndim<1>>& passes,
                         Output<std::uint8_t, nb::ndim<1>>& converged,
                         Output<std::uint8_t, nb::ndim<1>>& used) {
    return {coefficients.data(), intercepts.data(), passes.data(), converged.data(), used.data()};
}

void dense_path(Columnwise X, Input<std::int64_t, nb::ndim<1>> rows_asked,
                Input<double, nb::ndim<1>> weights,
                Input<std::int32_t, nb::ndim<1>> codes, std::int64_t n_classes,
                Output<double, nb::ndim<1>> lambdas, Input<std::uint8_t, nb::ndim<1>> aside,
                double ratio, double l1_ratio, bool standardize, double tolerance,
                std::int64_t max_passes, Output<double, nb::ndim<3>> coefficients,
                Output<double, nb::ndim<2>> intercepts, Output<std::int64_t, nb::ndim<1>> passes,
                Output<std::uint8_t, nb::ndim<1>> converged,
                Output<std::uint8_t, nb::ndim<1>> used) {
    const Asked asked{X.shape(0), rows_asked.shape(0) ? rows_asked.data() : nullptr,
                      weights, codes, n_classes, lambdas, aside, ratio,
                      {l1_ratio, tolerance, standardize, max_passes},
                      found_in(coefficients, intercepts, passes, converged, used)};
    nb::gil_scoped_release no_gil;
    const logistic::Rows rows = rows_of<logistic::Dense>(asked);
    logistic::Dense columns(X.data(), static_cast<std::int64_t>(X.shape(0)), X.shape(1), rows);
    solve(columns, rows, asked);
}

template <typename Index>
void sparse_path(Input<double, nb::ndim<1>> value, Input<Index, nb::ndim<1>> row,
                 Input<Index, nb::ndim<1>> start, Input<double, nb::ndim<1>> weights,
                 Input<std::int32_t, nb::ndim<1>> codes, std::int64_t n_classes,
                 Output<double, nb::ndim<1>> lambdas, Input<std::uint8_t, nb::ndim<1>> aside,
                 double ratio, double l1_ratio, bool standardize, double tolerance,
                 std::int64_t max_passes, Output<double, nb::ndim<3>> coefficients,
                 Output<double, nb::ndim<2>> intercepts, Output<std::int64_t, nb::ndim<1>> passes,
                 Output<std::uint8_t, nb::ndim<1>> converged,
                 Output<std::uint8_t, nb::ndim<1>> used) {
    const Asked asked{weights.shape(0), nullptr, weights, codes, n_classes, lambdas, aside, ratio,
                      {l1_ratio, tolerance, standardize, max_passes},
                      found_in(coefficients, intercepts, passes, converged, used)};
    nb::gil_scoped_release no_gil;
    using Columns = logistic::Sparse<Index>;
    const logistic::Rows rows = rows_of<Columns>(asked);
    Columns columns(value.data(), row.data(), start.data(), start.shape(0) - 1, rows);
    solve(columns, rows, asked);
}

}  // namespace

void register_logistic(nb::module_& m) {
    m.def("logistic_path_dense", &dense_path,
          "The path for rows (none named: all) of a column-major X; weight 0 is not in the fit.");
    m.def("logistic_path_sparse", &sparse_path<std::int32_t>,
          "The path for compressed columns; rows of weight 0 are not in the fit.");
    m.def("logistic_path_sparse", &sparse_path<std::int64_t>,
          "The path for compressed columns with long indices.");
}

// Support vector machines on one Gram matrix. Called by svm.py, which checks shapes and bounds.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "_svm_solver.hpp"

namespace nb = nanobind;

namespace {

template <typename T, typename Shape>
using Input = nb::ndarray<const T, Shape, nb::c_contig, nb::device::cpu>;
template <typename T, typename Shape>
using Output = nb::ndarray<T, Shape, nb::c_contig, nb::device::cpu>;

// Every C in ascending order. With `started`, each goes on from what `beta` holds for it; else each
// starts from the solution before it, once no row is at the upper end of its box the rest are the
// same, and after one that is off by more than `hopeless` no other is tried.
void svm_path(Input<float, nb::ndim<2>> gram, Input<std::int32_t, nb::ndim<1>> rows,
              Input<double, nb::ndim<1>> sign, Input<double, nb::ndim<1>> share,
              Input<double, nb::ndim<1>> Cs, double tolerance, double hopeless,
              std::int64_t max_steps, bool started,
              Output<double, nb::ndim<2>> beta, Output<double, nb::ndim<1>> intercept,
              Output<double, nb::ndim<1>> violation, Output<double, nb::ndim<1>> loose,
              Output<double, nb::ndim<1>> gap, Output<std::int64_t, nb::ndim<1>> steps, Output<std::uint8_t, nb::ndim<1>> converged) {
    const std::size_t m = rows.shape(0), n = Cs.shape(0);
    const svm::Problem problem{gram.data(), gram.shape(1), rows.data(),
                               sign.data(), share.data(),  m};
    nb::gil_scoped_release no_gil;
    svm::Solver solver(problem, tolerance, max_steps);
    svm::Ends ends{};
    bool lost = false;
    for (std::size_t c = 0; c < n; ++c) {
        const double C = Cs.data()[c];
        if (lost) {
            violation.data()[c] = gap.data()[c] = loose.data()[c] = std::numeric_limits<double>::infinity();
            intercept.data()[c] = 0.0;
            continue;
        }
        const bool same = c > 0 && !started && ends.inside && ends.converged;
        if (started) solver.start(beta.data() + c * m);
        if (!started && c > 0 && !same) solver.scale(C / Cs.data()[c - 1]);
        ends = solver.solve(C);
        std::copy(solver.beta().begin(), solver.beta().end(), beta.data() + c * m);
        intercept.data()[c] = ends.intercept;
        violation.data()[c] = ends.violation;
        loose.data()[c] = ends.loose;
        gap.data()[c] = ends.gap;
        steps.data()[c] = ends.steps;
        converged.data()[c] = ends.converged;
        lost = !started && !(ends.violation < hopeless);
    }
}

}  // namespace

void register_svm(nb::module_& m) {
    m.def("svm_path", &svm_path, "The support vector solutions for ascending C, warm-started.");
}

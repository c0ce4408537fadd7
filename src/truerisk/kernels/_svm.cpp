// Support vector machines on one Gram matrix. Called by svm.py, which checks shapes and bounds.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "_arrays.hpp"
#include "_svm_solver.hpp"

namespace {

struct Path {
    const double* Cs;
    std::size_t n;
    double tolerance, hopeless;
    std::int64_t max_steps;
    bool started;
};

struct Found {  // of every C
    double *beta, *intercept, *violation, *loose, *gap;
    std::int64_t* steps;
    std::uint8_t* converged;
};

// Every C in ascending order. With `started`, each goes on from what `beta` holds for it; else each
// starts from the solution before it, once no row is at the upper end of its box the rest are the
// same, and after one that is off by more than `hopeless` no other is tried.
void follow(const svm::Problem& problem, const Path& path, const Found& found) {
    svm::Solver solver(problem, path.tolerance, path.max_steps);
    svm::Ends ends{};
    bool lost = false;
    for (std::size_t c = 0; c < path.n; ++c) {
        if (lost) {
            found.violation[c] = found.gap[c] = found.loose[c] = std::numeric_limits<double>::infinity();
            found.intercept[c] = 0.0;
            continue;
        }
        const bool same = c > 0 && !path.started && ends.inside && ends.converged;
        if (path.started) solver.start(found.beta + c * problem.m);
        if (!path.started && c > 0 && !same) solver.scale(path.Cs[c] / path.Cs[c - 1]);
        ends = solver.solve(path.Cs[c]);
        std::copy(solver.beta().begin(), solver.beta().end(), found.beta + c * problem.m);
        found.intercept[c] = ends.intercept;
        found.violation[c] = ends.violation;
        found.loose[c] = ends.loose;
        found.gap[c] = ends.gap;
        found.steps[c] = ends.steps;
        found.converged[c] = ends.converged;
        lost = !path.started && !(ends.violation < path.hopeless);
    }
}

// Problem p has rows `starts[p]` to `starts[p + 1]`; its `beta` is one line per C, the problems' one
// after the other.
void svm_paths(Input<float, nb::ndim<2>> gram, Input<std::int32_t, nb::ndim<1>> rows,
               Input<std::int64_t, nb::ndim<1>> starts, Input<double, nb::ndim<1>> sign,
               Input<double, nb::ndim<1>> share, Input<double, nb::ndim<1>> Cs, double tolerance,
               double hopeless, Input<std::int64_t, nb::ndim<1>> max_steps, bool started,
               Output<double, nb::ndim<1>> beta, Output<double, nb::ndim<2>> intercept,
               Output<double, nb::ndim<2>> violation, Output<double, nb::ndim<2>> loose,
               Output<double, nb::ndim<2>> gap, Output<std::int64_t, nb::ndim<2>> steps,
               Output<std::uint8_t, nb::ndim<2>> converged) {
    const std::size_t n_problems = max_steps.shape(0), n = Cs.shape(0);
    nb::gil_scoped_release no_gil;
    for (std::size_t p = 0; p < n_problems; ++p) {
        const auto first = static_cast<std::size_t>(starts.data()[p]);
        const std::size_t m = static_cast<std::size_t>(starts.data()[p + 1]) - first;
        const svm::Problem problem{gram.data(),         gram.shape(1),         rows.data() + first,
                                   sign.data() + first, share.data() + first, m};
        const Path path{Cs.data(), n, tolerance, hopeless, max_steps.data()[p], started};
        follow(problem, path,
               {beta.data() + n * first, intercept.data() + p * n, violation.data() + p * n,
                loose.data() + p * n, gap.data() + p * n, steps.data() + p * n,
                converged.data() + p * n});
    }
}

}  // namespace

void register_svm(nb::module_& m) {
    m.def("svm_paths", &svm_paths,
          "The support vector solutions of many problems for ascending C, warm-started.");
}

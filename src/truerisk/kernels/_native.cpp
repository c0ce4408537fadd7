// The loops of truerisk that NumPy cannot take over: arrays in, arrays out.
// Every function here has exactly one Python caller, which checks shapes and bounds first.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "_arrays.hpp"

// The class with most votes among the k nearest rows, for every k in one pass per query.
//
// Counts only grow, so the leader changes only to the class that has just received a vote: it takes
// the lead with more votes, or with as many and a lower code (scikit-learn's rule for ties).
// O(max(ks) + n_ks + n_classes) per query, whatever the number of settings.
void votes_for_every_k(Input<std::int32_t, nb::ndim<2>> neighbours,
                       Input<std::int32_t, nb::ndim<1>> codes,
                       Input<std::int32_t, nb::ndim<1>> ks,
                       std::int32_t n_classes,
                       Output<std::int32_t, nb::ndim<2>> predicted) {
    const std::size_t n_queries = neighbours.shape(0);
    const std::size_t n_neighbours = neighbours.shape(1);
    const std::size_t n_ks = ks.shape(0);
    const std::int32_t* const row_of = neighbours.data();
    const std::int32_t* const code_of = codes.data();
    const std::int32_t* const k_of = ks.data();
    std::int32_t* const out = predicted.data();

    nb::gil_scoped_release no_gil;

    // (k, position in ks): the settings in the order in which the counting reaches them
    std::vector<std::pair<std::size_t, std::size_t>> stops(n_ks);
    for (std::size_t i = 0; i < n_ks; ++i) stops[i] = {static_cast<std::size_t>(k_of[i]), i};
    std::sort(stops.begin(), stops.end());

    std::vector<std::int32_t> count(static_cast<std::size_t>(n_classes));
    for (std::size_t query = 0; query < n_queries; ++query) {
        std::fill(count.begin(), count.end(), 0);
        std::int32_t leader = 0;
        std::int32_t most = 0;
        std::size_t seen = 0;
        const std::int32_t* const nearest = row_of + query * n_neighbours;
        for (const auto& [k, position] : stops) {
            for (; seen < k; ++seen) {
                const std::int32_t code = code_of[nearest[seen]];
                const std::int32_t votes = ++count[static_cast<std::size_t>(code)];
                if (votes > most || (votes == most && code < leader)) {
                    most = votes;
                    leader = code;
                }
            }
            out[position * n_queries + query] = leader;
        }
    }
}

void register_nearest(nb::module_& m);
void register_walk(nb::module_& m);
void register_interval(nb::module_& m);
void register_logistic(nb::module_& m);
void register_lbfgs(nb::module_& m);
void register_svm_steps(nb::module_& m);
void register_equations(nb::module_& m);
void register_descent(nb::module_& m);
void register_tree(nb::module_& m);
void register_row_sums(nb::module_& m);
void register_cells(nb::module_& m);

NB_MODULE(_native, m) {
    m.doc() = "Compiled loops of truerisk; call them through their Python callers, which check.";
    m.def("votes_for_every_k", &votes_for_every_k, nb::arg("neighbours").noconvert(),
          nb::arg("codes").noconvert(), nb::arg("ks").noconvert(), nb::arg("n_classes"),
          nb::arg("predicted").noconvert(),
          "Write into `predicted` (n_ks, n_queries) the class with most votes among the k nearest.");
    register_nearest(m);
    register_walk(m);
    register_interval(m);
    register_logistic(m);
    register_lbfgs(m);
    register_svm_steps(m);
    register_equations(m);
    register_descent(m);
    register_tree(m);
    register_row_sums(m);
    register_cells(m);
}

// Least errors of functions on the line with at most k intervals, by dynamic programming.
// Every function here has exactly one Python caller, which checks and sorts.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "_arrays.hpp"
#include "_interval_chain.hpp"

namespace {

using intervals::Ahead;
using intervals::Behind;
using intervals::Chain;
using intervals::Count;
using intervals::Through;
using intervals::never;

Chain chain_of(const Count* wrong, std::size_t n_groups, Count most_asked) {
    const auto asked = static_cast<std::size_t>(most_asked);
    return {wrong, n_groups, intervals::worth_counting(wrong, n_groups, asked)};
}

// The label of group g where both labels give as few errors with as few intervals.
std::size_t by_ties(const Chain& chain, const Behind& behind, const Ahead& ahead,
                    const Through& through, std::size_t g, std::size_t m) {
    const std::size_t j0 = through.at[0][m], j1 = through.at[1][m];
    const std::size_t rank0 = behind.rank[chain.state(0, j0)];
    const std::size_t rank1 = behind.rank[chain.state(1, j1)];
    if (rank0 != rank1) return rank1 < rank0;
    const int longer = ahead.longer(g, m + 1 - j0);
    if (longer >= 0) return static_cast<std::size_t>(longer);
    return (j0 - 1) % 2;  // the label with which the function starts with 0
}

void labels(Input<Count, nb::ndim<2>> wrong, Input<Count, nb::ndim<1>> ks,
            Output<std::int8_t, nb::ndim<2>> out) {
    const std::size_t n = wrong.shape(0), n_ks = ks.shape(0);
    const Count* const k_of = ks.data();
    const Count* const costs = wrong.data();
    std::int8_t* const label = out.data();

    nb::gil_scoped_release no_gil;
    const Chain chain = chain_of(costs, n, k_of[n_ks - 1]);
    const Ahead ahead(chain);
    Count least = never;
    std::size_t best = 0, counted = 0;
    for (std::size_t i = 0; i < n_ks; ++i) {
        const std::size_t before = best;
        for (; counted < std::min(static_cast<std::size_t>(k_of[i]), chain.most); ++counted) {
            const std::size_t m = counted + 1;
            const Count errors = std::min(ahead.errors(0, 0, m) + costs[0],
                                          ahead.errors(0, 1, m) + costs[1]);
            if (errors < least) least = errors, best = m;
        }
        std::int8_t* const mine = label + i * n;
        if (best == before) {
            std::copy(mine - n, mine, mine);
            continue;
        }
        const Count from0 = ahead.errors(0, 0, best) + costs[0];
        const Count from1 = ahead.errors(0, 1, best) + costs[1];
        std::size_t a = from1 < from0 || (from0 == from1 && ahead.longer(0, best) == 1);
        std::size_t left = best;
        for (std::size_t g = 0; g < n; ++g) {
            mine[g] = static_cast<std::int8_t>(a);
            if (!ahead.stays(g, a, left)) a = 1 - a, --left;
        }
    }
}

void changed(Input<Count, nb::ndim<2>> wrong, Input<Count, nb::ndim<1>> ks,
             Input<std::int64_t, nb::ndim<1>> group, Input<Count, nb::ndim<2>> instead,
             Input<std::int8_t, nb::ndim<1>> asks_next, Output<std::int8_t, nb::ndim<2>> out) {
    const std::size_t n = wrong.shape(0), n_ks = ks.shape(0), n_changes = group.shape(0);
    const Count* const k_of = ks.data();
    const Count* const costs = wrong.data();
    const std::int64_t* const group_of = group.data();
    const Count* const new_costs = instead.data();
    const std::int8_t* const wants_next = asks_next.data();
    std::int8_t* const label = out.data();

    nb::gil_scoped_release no_gil;
    const Chain chain = chain_of(costs, n, k_of[n_ks - 1]);
    const Ahead ahead(chain);
    Behind behind(chain);
    Through through(chain);
    std::size_t c = 0;
    for (std::size_t g = 0; g < n && c < n_changes; ++g) {
        if (static_cast<std::size_t>(group_of[c]) == g) through.set(chain, behind, ahead, g);
        for (; c < n_changes && static_cast<std::size_t>(group_of[c]) == g; ++c) {
            Count least = never;
            std::size_t counted = 0;
            std::size_t answer = 0;
            for (std::size_t i = 0; i < n_ks; ++i) {
                for (; counted < std::min(static_cast<std::size_t>(k_of[i]), chain.most);) {
                    const std::size_t m = ++counted;
                    const Count as0 = through.errors[0][m] + new_costs[2 * c];
                    const Count as1 = through.errors[1][m] + new_costs[2 * c + 1];
                    if (std::min(as0, as1) >= least) continue;
                    least = std::min(as0, as1);
                    std::size_t a = as1 < as0;
                    if (as0 == as1) a = by_ties(chain, behind, ahead, through, g, m);
                    const bool stays = ahead.stays(g, a, m + 1 - through.at[a][m]);
                    answer = wants_next[c] && !stays ? 1 - a : a;
                }
                label[i * n_changes + c] = static_cast<std::int8_t>(answer);
            }
        }
        behind.move_past(g);
    }
}

}  // namespace

void register_interval(nb::module_& m) {
    m.def("interval_labels", &labels, nb::arg("wrong").noconvert(), nb::arg("ks").noconvert(),
          nb::arg("out").noconvert(),
          "Write into `out` (n_ks, n_groups) the labels of the function with least errors.");
    m.def("interval_changed", &changed, nb::arg("wrong").noconvert(), nb::arg("ks").noconvert(),
          nb::arg("group").noconvert(), nb::arg("instead").noconvert(),
          nb::arg("asks_next").noconvert(), nb::arg("out").noconvert(),
          "Write into `out` (n_ks, n_changes) the labels after each change of one group.");
}

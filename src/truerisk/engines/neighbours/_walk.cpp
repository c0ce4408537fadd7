// A walk along sorted neighbour lists for every fit of a plan, skipping the rows that the fit does
// not see: the answers of all k in one pass. Called by walk.py, which checks shapes and bounds.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "_arrays.hpp"
#include "_plan.hpp"

namespace {

using Ints = Input<std::int32_t, nb::ndim<1>>;
using Longs = Input<std::int64_t, nb::ndim<1>>;

using plan::ALL;
using plan::each_minus;
using plan::each_row;
using plan::Pool;
using plan::Seen;
using plan::Sets;

// ---------------------------------------------------------------- one walk along one list

struct List {
    const std::int32_t* index;
    const double* squared;
    std::size_t length;
    double tie;       // squared distances this close count as equal
    double doubt;     // up to this one, reciprocals rest on the rounding of the peer
    bool complete;    // the list holds every row that any fit sees
};

enum Verdict : std::uint8_t { SURE = 0, TIED = 1, SHORT = 2 };

struct Stop {
    std::int64_t k;
    std::size_t place;
};

// What the neighbours say: class weights or sums of targets, and the weight of all.
struct Sums {
    explicit Sums(std::size_t width) : value(width, 0.0) {}
    void clear() {
        std::fill(value.begin(), value.end(), 0.0);
        weight = 0;
    }
    std::vector<double> value;
    double weight = 0;
};

struct Task {
    const std::int32_t* code;     // class of each row (nullptr: regression)
    const double* target;         // n x width targets (nullptr: classification)
    std::size_t width;            // classes or targets
    bool by_distance;
    bool labels;                  // write the class, not the shares
};

void add(Sums& sums, const Task& task, std::int32_t row, double weight) {
    sums.weight += weight;
    const auto at = static_cast<std::size_t>(row);
    if (task.code) {
        sums.value[static_cast<std::size_t>(task.code[at])] += weight;
        return;
    }
    for (std::size_t t = 0; t < task.width; ++t) sums.value[t] += weight * task.target[at * task.width + t];
}

bool says_the_same(const Task& task, std::int32_t a, std::int32_t b) {
    if (task.code) return task.code[a] == task.code[b];
    for (std::size_t t = 0; t < task.width; ++t)
        if (task.target[static_cast<std::size_t>(a) * task.width + t] !=
            task.target[static_cast<std::size_t>(b) * task.width + t])
            return false;
    return true;
}

// Whether k neighbours name one class whichever rows at places `low` to `high` of the list are
// taken: the class that wins in the order of the list, against each rival that gets most of them.
bool settled(const List& list, const Seen& seen, const Task& task, std::int64_t k, std::size_t low,
             std::size_t high) {
    std::vector<std::int64_t> votes(task.width, 0), sure(task.width, 0), open(task.width, 0);
    std::int64_t taken = 0, left = k, tied = 0;
    for (std::size_t p = 0; p < high; ++p) {
        const std::int64_t count = seen[list.index[p]];
        const auto c = static_cast<std::size_t>(task.code[list.index[p]]);
        votes[c] += std::clamp<std::int64_t>(k - taken, 0, count);
        taken += count;
        if (p < low) sure[c] += count, left -= count;
        else open[c] += count, tied += count;
    }
    const auto best = static_cast<std::size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
    for (std::size_t c = 0; c < task.width; ++c) {
        const std::int64_t gained = std::min(left, open[c]);
        const std::int64_t kept = std::max<std::int64_t>(left - gained - (tied - open[c] - open[best]), 0);
        const std::int64_t lead = sure[best] + kept - sure[c] - gained;
        if (c != best && (lead < 0 || (lead == 0 && c < best))) return false;
    }
    return true;
}

// Rows about as near as the boundary between `before` and `after`: do k of them say the same,
// whichever are taken?
Verdict boundary(const List& list, const Seen& seen, const Task& task, std::int64_t k,
                 std::size_t before, std::size_t after) {
    const bool votes = task.labels && !task.by_distance;
    const std::int32_t row = list.index[before];
    double edge = list.squared[after];
    bool same = says_the_same(task, row, list.index[after]);
    std::size_t p = after + 1, low = before;
    for (; (same || votes) && p < list.length && list.squared[p] - edge <= list.tie; ++p) {
        if (!seen[list.index[p]]) continue;
        edge = list.squared[p];
        same = same && says_the_same(task, row, list.index[p]);
    }
    const bool ended = p == list.length && !list.complete;
    if (same && ended) return SHORT;
    edge = list.squared[before];
    for (std::size_t q = before; (same || votes) && q-- > 0 && edge - list.squared[q] <= list.tie;) {
        if (!seen[list.index[q]]) continue;
        edge = list.squared[low = q];
        same = same && says_the_same(task, row, list.index[q]);
    }
    return same || (votes && !ended && settled(list, seen, task, k, low, p)) ? SURE : TIED;
}

class Writer {
  public:
    Writer(const Task& task, std::int16_t* labels, double* shares, std::uint8_t* verdicts,
           std::size_t n_positions)
        : task_(task), labels_(labels), shares_(shares), verdicts_(verdicts), n_(n_positions) {}

    void write(const Sums& sums, std::size_t place, std::size_t position, Verdict verdict) {
        const std::size_t at = place * n_ + position;
        if (task_.labels) {
            const auto best = std::max_element(sums.value.begin(), sums.value.end());
            labels_[at] = static_cast<std::int16_t>(best - sums.value.begin());
            // sums of reciprocals may differ in the last bits from those of scikit-learn
            if (verdict == SURE && task_.by_distance && contested(sums, *best)) verdict = TIED;
        } else {
            for (std::size_t c = 0; c < task_.width; ++c)
                shares_[at * task_.width + c] = sums.value[c] / sums.weight;
        }
        if (verdict != SURE) verdicts_[at] = verdict;
    }

    void write_label(std::int16_t label, std::size_t place, std::size_t position, Verdict verdict) {
        labels_[place * n_ + position] = label;
        if (verdict != SURE) verdicts_[place * n_ + position] = verdict;
    }

    void fail(std::size_t place, std::size_t position) { verdicts_[place * n_ + position] = SHORT; }

  private:
    static bool contested(const Sums& sums, double best) {
        int near = 0;
        for (const double value : sums.value) near += value >= best * (1 - 1e-6) ? 1 : 0;
        return near > 1;
    }
    const Task& task_;
    std::int16_t* labels_;
    double* shares_;
    std::uint8_t* verdicts_;
    std::size_t n_;
};

// What a list says without the rows that the fit does not see: where they stand in the list, and
// how many of the first k are of class 1.
struct Told {
    explicit Told(std::size_t length) : where(length + 1), ones(length + 1) {}
    std::vector<std::uint32_t> where;
    std::vector<std::int32_t> ones;
};

// Two classes, one vote each, each row once: unseen rows are passed over without a branch.
void walk_two(const List& list, const Seen& seen, const Task& task, const std::vector<Stop>& stops,
              std::size_t position, Told& told, Writer& writer) {
    const auto last = static_cast<std::size_t>(stops.back().k) + 1;  // one more for the boundary
    std::size_t taken = 0;
    std::int32_t ones = 0;
    for (std::size_t p = 0; p < list.length && taken < last; ++p) {
        const std::int32_t row = list.index[p], count = seen[row];
        ones += count * task.code[row];
        told.where[taken] = static_cast<std::uint32_t>(p);
        told.ones[taken] = ones;
        taken += static_cast<std::size_t>(count);
    }
    for (const Stop& stop : stops) {
        const auto k = static_cast<std::size_t>(stop.k);
        if (k > taken || (k == taken && stop.k != seen.total())) {
            writer.fail(stop.place, position);
            continue;
        }
        Verdict verdict = SURE;
        if (k < taken) {
            const std::size_t before = told.where[k - 1], after = told.where[k];
            if (list.squared[after] - list.squared[before] <= list.tie)
                verdict = boundary(list, seen, task, stop.k, before, after);
        }
        if (verdict == SHORT)
            writer.fail(stop.place, position);
        else
            writer.write_label(2 * told.ones[k - 1] > stop.k ? 1 : 0, stop.place, position, verdict);
    }
}

// Answers for all stops (ascending k) of one query; copies of a row are neighbours of their own.
void walk(const List& list, const Seen& seen, const Task& task, const std::vector<Stop>& stops,
          std::size_t position, Sums& sums, Sums& part, Writer& writer) {
    sums.clear();
    std::int64_t taken = 0;
    std::size_t stop = 0, previous = 0;
    bool zero = false, doubtful = false;  // by distance: an exact hit silences all others
    for (std::size_t p = 0; p < list.length && stop < stops.size(); ++p) {
        const std::int32_t row = list.index[p];
        const std::int32_t count = seen[row];
        if (!count) continue;
        const double squared = list.squared[p];
        if (taken == 0 && task.by_distance) {
            zero = squared == 0;
            doubtful = squared <= list.doubt;  // scikit-learn may see it as a hit or not
        }
        for (; stop < stops.size() && stops[stop].k < taken + count; ++stop) {
            const std::int64_t inside = stops[stop].k - taken;
            Verdict verdict = doubtful ? TIED : SURE;
            if (inside == 0) {
                if (verdict == SURE && squared - list.squared[previous] <= list.tie)
                    verdict = boundary(list, seen, task, stops[stop].k, previous, p);
                writer.write(sums, stops[stop].place, position, verdict);
            } else {
                if (verdict == SURE) verdict = boundary(list, seen, task, stops[stop].k, p, p);  // copies
                part = sums;
                const double each = !task.by_distance ? 1 : zero ? squared == 0 : 1 / std::sqrt(squared);
                add(part, task, row, each * static_cast<double>(inside));
                writer.write(part, stops[stop].place, position, verdict);
            }
        }
        const double each = !task.by_distance ? 1 : zero ? squared == 0 : 1 / std::sqrt(squared);
        add(sums, task, row, each * count);
        taken += count;
        previous = p;
    }
    for (; stop < stops.size(); ++stop) {
        if (stops[stop].k == taken && taken == seen.total())
            writer.write(sums, stops[stop].place, position, doubtful ? TIED : SURE);
        else
            writer.fail(stops[stop].place, position);
    }
}

}  // namespace

// Answers of every k for every asked row of every fit of a plan.
//
// `list_of` gives the list of a row; `only` (empty: all) the one stop each fit is asked for, -1 for
// none. `labels` is (n_stops, n_positions), `shares` (n_stops, n_positions, width): one is empty.
void walk_plan(Input<std::int32_t, nb::ndim<2>> index, Input<double, nb::ndim<2>> squared,
               Input<double, nb::ndim<1>> ties, Input<double, nb::ndim<1>> doubts, bool complete,
               Ints list_of,
               // the plan
               Ints block_rows, Longs block_offsets, Ints block_counts, Ints train_base,
               Ints train_minus, Longs train_offsets, Ints test_base, Ints test_minus,
               Longs test_offsets, Longs question_order, Longs question_starts, Longs positions,
               Ints flip_starts, Ints flip_rows, Ints flip_codes,
               // the candidates
               Ints ks, Ints only, bool by_distance,
               // what rows say
               Ints codes, Input<double, nb::ndim<2>> targets, std::int64_t width, std::int64_t n_rows,
               Output<std::int16_t, nb::ndim<2>> labels, Output<double, nb::ndim<3>> shares,
               Output<std::uint8_t, nb::ndim<2>> verdicts) {
    const Pool pool{block_rows.data(), block_offsets.data(),
                    block_counts.shape(0) ? block_counts.data() : nullptr};
    const Sets train{train_base.data(), train_minus.data(), train_offsets.data()};
    const Sets test{test_base.data(), test_minus.data(), test_offsets.data()};
    const auto n = static_cast<std::size_t>(n_rows);
    const bool classes = codes.shape(0) > 0;
    const bool as_labels = labels.shape(0) > 0;
    std::vector<std::int32_t> code(codes.data(), codes.data() + codes.shape(0));
    const Task task{classes ? code.data() : nullptr, targets.data(), static_cast<std::size_t>(width),
                    by_distance, as_labels};
    const std::size_t n_fits = train_base.shape(0), length = index.shape(1);
    Writer writer(task, labels.data(), shares.data(), verdicts.data(), verdicts.shape(1));

    nb::gil_scoped_release no_gil;

    std::vector<Stop> every(ks.shape(0)), stops;
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = {ks.data()[i], i};
    std::sort(every.begin(), every.end(), [](const Stop& a, const Stop& b) { return a.k < b.k; });

    Seen seen(n);
    std::vector<std::uint8_t> skipped(n, 0);
    Sums sums(task.width), part(task.width);
    Told told(length);
    const bool two = classes && width == 2 && as_labels && !by_distance && !pool.counts;
    for (std::size_t f = 0; f < n_fits; ++f) {
        const auto fit = static_cast<std::int64_t>(f);
        if (only.shape(0)) {
            const std::int32_t wanted = only.data()[f];
            if (wanted < 0) continue;
            stops.assign(1, Stop{ks.data()[wanted], 0});
        } else if (f == 0) {
            stops = every;
        }
        seen.enter(train, pool, fit);
        std::vector<std::int32_t> kept;
        for (std::int32_t j = flip_starts.data()[f]; j < flip_starts.data()[f + 1]; ++j) {
            auto& shown = code[static_cast<std::size_t>(flip_rows.data()[j])];
            kept.push_back(shown);
            shown = flip_codes.data()[j];
        }
        for (std::int64_t j = question_starts.data()[f]; j < question_starts.data()[f + 1]; ++j) {
            const std::int64_t question = question_order.data()[j];
            auto position = static_cast<std::size_t>(positions.data()[question]);
            const auto ask = [&](std::int32_t row, std::int32_t) {
                const auto at = static_cast<std::size_t>(row);
                if (skipped[at]) return;
                const auto l = static_cast<std::size_t>(list_of.data()[at]);
                const List list{index.data() + l * length, squared.data() + l * length, length,
                                ties.data()[l], doubts.data()[l], complete};
                if (two)
                    walk_two(list, seen, task, stops, position++, told, writer);
                else
                    walk(list, seen, task, stops, position++, sums, part, writer);
            };
            each_minus(test, pool, question, [&](std::int32_t row, std::int32_t) { skipped[static_cast<std::size_t>(row)] = 1; });
            if (test.base[question] == ALL)
                for (std::size_t row = 0; row < n; ++row) ask(static_cast<std::int32_t>(row), 1);
            else
                each_row(pool, test.base[question], ask);
            each_minus(test, pool, question, [&](std::int32_t row, std::int32_t) { skipped[static_cast<std::size_t>(row)] = 0; });
        }
        for (std::int32_t j = flip_starts.data()[f + 1]; j-- > flip_starts.data()[f];)
            code[static_cast<std::size_t>(flip_rows.data()[j])] = kept[static_cast<std::size_t>(j - flip_starts.data()[f])];
        seen.leave(train, pool, fit);
    }
}

void register_walk(nb::module_& m) { m.def("walk_plan", &walk_plan); }

// The nearest rows of every query, by exact distance. Called by distances.py, which checks.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "_arrays.hpp"
#include "_candidates.hpp"

namespace {

// ---------------------------------------------------------------- exact distances, sorted

struct Near {
    double squared;
    std::int32_t row;
    bool operator<(const Near& other) const {
        return squared < other.squared || (squared == other.squared && row < other.row);
    }
};

// Squared distances by the plain sum in four chains: equal rows give exactly 0, equal pairs equal
// numbers, and one addition need not wait for the last.
__attribute__((always_inline)) inline void measure_any(const double* query, const double* x,
                                                       std::size_t d, const Candidates& found,
                                                       Near* out) {
    const std::size_t m = found.size;
    for (std::size_t j = 0; j < m; ++j) {
        const double* const row = x + static_cast<std::size_t>(found.row[j]) * d;
#if defined(__GNUC__)
        if (j + 4 < m) {  // rows lie anywhere: fetch them while others are measured
            const double* const next = x + static_cast<std::size_t>(found.row[j + 4]) * d;
            for (std::size_t c = 0; c < std::min<std::size_t>(d, 64); c += 8) __builtin_prefetch(next + c);
        }
#endif
        double sum[4] = {0, 0, 0, 0};
        std::size_t c = 0;
        for (; c + 4 <= d; c += 4)
            for (std::size_t lane = 0; lane < 4; ++lane) {
                const double difference = query[c + lane] - row[c + lane];
                sum[lane] += difference * difference;
            }
        for (; c < d; ++c) sum[0] += (query[c] - row[c]) * (query[c] - row[c]);
        out[j] = {(sum[0] + sum[1]) + (sum[2] + sum[3]), found.row[j]};
    }
}

#ifdef HAS_AVX2_BRANCH
__attribute__((target("avx2"))) void measure_avx2(const double* query, const double* x, std::size_t d,
                                                  const Candidates& found, Near* out) {
    measure_any(query, x, d, found, out);
}
#endif

void measure(const double* query, const double* x, std::size_t d, const Candidates& found,
             Near* out) {
#ifdef HAS_AVX2_BRANCH
    if (has_avx2()) return measure_avx2(query, x, d, found, out);
#endif
    measure_any(query, x, d, found, out);
}

// Ascending. Distances spread over their range, so bins nearly sort them; insertion does the rest.
void sort_near(std::vector<Near>& near, std::size_t m, std::vector<Near>& spare,
               std::vector<std::uint32_t>& starts) {
    constexpr std::uint32_t CROWDED = 24;
    double lows[4], highs[4];  // four chains: one comparison need not wait for the last
    std::fill(lows, lows + 4, INFINITY);
    std::fill(highs, highs + 4, -INFINITY);
    for (std::size_t j = 0; j < m; ++j) {
        lows[j % 4] = std::min(lows[j % 4], near[j].squared);
        highs[j % 4] = std::max(highs[j % 4], near[j].squared);
    }
    const double low = *std::min_element(lows, lows + 4), high = *std::max_element(highs, highs + 4);
    const std::size_t bins = 4 * m;
    const double scale = static_cast<double>(bins - 1) / (high - low);
    const auto begin = near.begin(), end = begin + static_cast<std::ptrdiff_t>(m);
    if (!std::isfinite(scale)) return std::sort(begin, end);
    const auto bin = [&](const Near& one) { return static_cast<std::size_t>((one.squared - low) * scale); };
    starts.assign(bins + 1, 0);
    for (std::size_t j = 0; j < m; ++j) ++starts[bin(near[j]) + 1];
    if (*std::max_element(starts.begin(), starts.end()) > CROWDED) return std::sort(begin, end);
    for (std::size_t j = 1; j <= bins; ++j) starts[j] += starts[j - 1];
    for (std::size_t j = 0; j < m; ++j) spare[starts[bin(near[j])]++] = near[j];
    for (std::size_t j = 1; j < m; ++j) {
        const Near one = spare[j];
        std::size_t at = j;
        for (; at > 0 && one < spare[at - 1]; --at) spare[at] = spare[at - 1];
        spare[at] = one;
    }
    std::swap(near, spare);
}

// ---------------------------------------------------------------- a block of queries

// Gathers the candidates of a block of queries from approximate distances that come in chunks of
// rows, and measures them exactly at the end.
//
// The distances of query i may be off by slack[i]: all within twice that of the L-th smallest are
// kept, so the lists are those of the exact squared distances, ascending, ties by row number.
class Nearest {
  public:
    Nearest(std::size_t block, std::size_t length)
        : length_(length), found_(block), limit_(block, INFINITY) {}

    void add(Input<float, nb::ndim<2>> rough, std::int32_t first, Input<double, nb::ndim<1>> slack) {
        const std::size_t b = rough.shape(0), n = rough.shape(1);
        nb::gil_scoped_release no_gil;
        stripes_.resize(std::max(stripes_.size(), n / STRIPE + 1));
        for (std::size_t i = 0; i < b; ++i) {
            const float* const row = rough.data() + i * n;
            auto& found = found_[i];
            found.reserve(found.size + n + STRIPE);
            const bool fresh = limit_[i] == INFINITY && found.size == 0 && n > length_;
            if (fresh)
                start(row, n, first, found);
            else
                below(row, n, limit_[i], first, found, stripes_.data());
            if (fresh || found.size > 3 * length_) narrow(i, slack.data()[i]);
        }
    }

    void finish(Input<double, nb::ndim<2>> queries, Input<double, nb::ndim<2>> rows,
                Input<double, nb::ndim<1>> slack, Output<std::int32_t, nb::ndim<2>> index,
                Output<double, nb::ndim<2>> squared) {
        const std::size_t b = queries.shape(0), d = rows.shape(1);
        nb::gil_scoped_release no_gil;
        for (std::size_t i = 0; i < b; ++i) {
            narrow(i, slack.data()[i]);
            auto& found = found_[i];
            const std::size_t m = found.size;
            if (m < length_) throw std::runtime_error("distances that are not finite have no order");
            near_.resize(std::max(near_.size(), m));
            spare_.resize(near_.size());
            measure(queries.data() + i * d, rows.data(), d, found, near_.data());
            std::size_t kept = m;
            if (m > 2 * length_) {
                kept = length_;
                std::nth_element(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(kept - 1),
                                 near_.begin() + static_cast<std::ptrdiff_t>(m));
            }
            sort_near(near_, kept, spare_, starts_);
            for (std::size_t j = 0; j < length_; ++j) {
                index.data()[i * length_ + j] = near_[j].row;
                squared.data()[i * length_ + j] = near_[j].squared;
            }
            found.size = found.narrowed = 0;
            limit_[i] = INFINITY;
        }
    }

  private:
    // The first chunk: a limit guessed high from a strided sample, higher until enough come below.
    void start(const float* row, std::size_t n, std::int32_t first, Candidates& found) {
        const std::size_t step = std::max<std::size_t>(1, n / 256), sampled = (n + step - 1) / step;
        sample_.resize(sampled);
        for (std::size_t j = 0; j < sampled; ++j) sample_[j] = row[j * step];
        const double expected = static_cast<double>(length_) / static_cast<double>(step);
        for (double scale = 1; found.size < length_; scale *= 4) {
            const auto wanted = static_cast<std::size_t>(scale * (expected + 3 * std::sqrt(expected) + 3));
            found.size = 0;
            below(row, n, wanted >= sampled ? INFINITY : edge(sample_.data(), sampled, wanted), first,
                  found, stripes_.data());
        }
    }

    float edge(const float* value, std::size_t n, std::size_t wanted) {
        bins_.resize(std::max(bins_.size(), n));
        return edge_of(value, n, wanted, bins_.data());
    }

    // Drops what cannot belong to the list any more.
    void narrow(std::size_t i, double slack) {
        auto& found = found_[i];
        if (found.size <= std::max(length_, found.narrowed)) return;  // nothing new came
        const float last = edge(found.value.data(), found.size, length_);
        const float limit = std::nextafter(static_cast<float>(last + 2 * slack), INFINITY);
        std::size_t kept = 0;
        for (std::size_t j = 0; j < found.size; ++j) {
            const float value = found.value[j];
            found.value[kept] = value;
            found.row[kept] = found.row[j];
            kept += value <= limit ? 1 : 0;
        }
        found.size = found.narrowed = kept;
        limit_[i] = limit;
    }

    std::size_t length_;
    std::vector<Candidates> found_;
    std::vector<float> limit_, sample_;
    std::vector<std::int32_t> bins_;
    std::vector<std::uint32_t> stripes_;
    std::vector<Near> near_, spare_;
    std::vector<std::uint32_t> starts_;
};

// The L smallest of every row of given distances, ascending, ties by row number.
void smallest_of_block(Input<double, nb::ndim<2>> given, Output<std::int32_t, nb::ndim<2>> index,
                       Output<double, nb::ndim<2>> value) {
    const std::size_t b = given.shape(0), n = given.shape(1), length = index.shape(1);
    nb::gil_scoped_release no_gil;
    std::vector<Near> near(n);
    for (std::size_t i = 0; i < b; ++i) {
        for (std::size_t j = 0; j < n; ++j)
            near[j] = {given.data()[i * n + j], static_cast<std::int32_t>(j)};
        std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(length), near.end());
        for (std::size_t j = 0; j < length; ++j) {
            index.data()[i * length + j] = near[j].row;
            value.data()[i * length + j] = near[j].squared;
        }
    }
}

}  // namespace

void register_nearest(nb::module_& m) {
    nb::class_<Nearest>(m, "Nearest")
        .def(nb::init<std::size_t, std::size_t>(), nb::arg("block"), nb::arg("length"))
        .def("add", &Nearest::add, nb::arg("rough").noconvert(), nb::arg("first"),
             nb::arg("slack").noconvert())
        .def("finish", &Nearest::finish, nb::arg("queries").noconvert(), nb::arg("rows").noconvert(),
             nb::arg("slack").noconvert(), nb::arg("index").noconvert(),
             nb::arg("squared").noconvert());
    m.def("smallest_of_block", &smallest_of_block, nb::arg("given").noconvert(),
          nb::arg("index").noconvert(), nb::arg("value").noconvert());
}

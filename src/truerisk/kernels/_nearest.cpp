// The nearest rows of every query, by exact distance. Called by neighbours.py, which checks.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_AVX2_BRANCH 1
#endif

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;

namespace {

template <typename T, typename Shape>
using Input = nb::ndarray<const T, Shape, nb::c_contig, nb::device::cpu>;
template <typename T, typename Shape>
using Output = nb::ndarray<T, Shape, nb::c_contig, nb::device::cpu>;

bool has_avx2() {
#ifdef HAS_AVX2_BRANCH
    static const bool found = __builtin_cpu_supports("avx2");
    return found;
#else
    return false;
#endif
}

// ---------------------------------------------------------------- candidates by rough distance

// Candidates of one query: rough distances and rows, side by side.
struct Candidates {
    std::vector<float> value;
    std::vector<std::int32_t> row;
    std::size_t size = 0, narrowed = 0;  // how many there are, and were when last narrowed

    void reserve(std::size_t n) {
        if (value.size() >= n) return;
        value.resize(n + n / 2);
        row.resize(n + n / 2);
    }
};

constexpr std::size_t STRIPE = 16;  // values that are dismissed at once

// A value among the n, such that at least `wanted` do not exceed it, and few more: the largest of
// the histogram bins that hold the first `wanted`. In three steps, two of them eight at a time.
struct Range {
    float low, high;
};

Range range_plain(const float* value, std::size_t from, std::size_t n, Range range) {
    for (std::size_t j = from; j < n; ++j) {
        range.low = std::min(range.low, value[j]);
        range.high = std::max(range.high, value[j]);
    }
    return range;
}

void bin_plain(const float* value, std::size_t from, std::size_t n, float low, float scale,
               std::int32_t* bin) {
    for (std::size_t j = from; j < n; ++j) bin[j] = static_cast<std::int32_t>((value[j] - low) * scale);
}

float largest_plain(const float* value, const std::int32_t* bin, std::size_t from, std::size_t n,
                    std::int32_t last, float edge) {
    for (std::size_t j = from; j < n; ++j)
        if (bin[j] <= last) edge = std::max(edge, value[j]);
    return edge;
}

#ifdef HAS_AVX2_BRANCH
__attribute__((target("avx2"))) float reduced(__m256 eight, bool smallest) {
    float lanes[8];
    _mm256_storeu_ps(lanes, eight);
    return smallest ? *std::min_element(lanes, lanes + 8) : *std::max_element(lanes, lanes + 8);
}

__attribute__((target("avx2"))) Range range_avx2(const float* value, std::size_t n) {
    __m256 low = _mm256_set1_ps(value[0]), high = low;
    std::size_t j = 0;
    for (; j + 8 <= n; j += 8) {
        const __m256 v = _mm256_loadu_ps(value + j);
        low = _mm256_min_ps(low, v);
        high = _mm256_max_ps(high, v);
    }
    return range_plain(value, j, n, {reduced(low, true), reduced(high, false)});
}

__attribute__((target("avx2"))) void bin_avx2(const float* value, std::size_t n, float low, float scale,
                                              std::int32_t* bin) {
    const __m256 lows = _mm256_set1_ps(low), scales = _mm256_set1_ps(scale);
    std::size_t j = 0;
    for (; j + 8 <= n; j += 8) {
        const __m256 at = _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(value + j), lows), scales);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(bin + j), _mm256_cvttps_epi32(at));
    }
    bin_plain(value, j, n, low, scale, bin);
}

__attribute__((target("avx2"))) float largest_avx2(const float* value, const std::int32_t* bin,
                                                   std::size_t n, std::int32_t last, float edge) {
    const __m256i beyond = _mm256_set1_epi32(last);
    __m256 most = _mm256_set1_ps(edge);
    std::size_t j = 0;
    for (; j + 8 <= n; j += 8) {
        const __m256i bins = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bin + j));
        const __m256 above = _mm256_castsi256_ps(_mm256_cmpgt_epi32(bins, beyond));
        most = _mm256_max_ps(most, _mm256_blendv_ps(_mm256_loadu_ps(value + j), most, above));
    }
    return largest_plain(value, bin, j, n, last, reduced(most, false));
}
#endif

float edge_of(const float* value, std::size_t n, std::size_t wanted, std::int32_t* bin) {
    Range range{value[0], value[0]};
#ifdef HAS_AVX2_BRANCH
    if (has_avx2()) range = range_avx2(value, n);
    else
#endif
        range = range_plain(value, 0, n, range);
    const float scale = 255.0F / (range.high - range.low);
    if (wanted >= n || !std::isfinite(scale)) return range.high;
#ifdef HAS_AVX2_BRANCH
    if (has_avx2()) bin_avx2(value, n, range.low, scale, bin);
    else
#endif
        bin_plain(value, 0, n, range.low, scale, bin);
    std::uint32_t counts[256] = {};
    for (std::size_t j = 0; j < n; ++j) ++counts[bin[j]];
    std::size_t last = 0;
    for (std::size_t sum = counts[0]; sum < wanted; sum += counts[++last]) {}
#ifdef HAS_AVX2_BRANCH
    if (has_avx2()) return largest_avx2(value, bin, n, static_cast<std::int32_t>(last), range.low);
#endif
    return largest_plain(value, bin, 0, n, static_cast<std::int32_t>(last), range.low);
}

// Appends the values that do not exceed the limit; stripes without any are passed over.
__attribute__((always_inline)) inline void append_stripe(const float* values, std::size_t from,
                                                         std::size_t to, float limit,
                                                         std::int32_t first, Candidates& found) {
    std::size_t m = found.size;
    float* const value = found.value.data();
    std::int32_t* const row = found.row.data();
    for (std::size_t j = from; j < to; ++j) {
        value[m] = values[j];
        row[m] = first + static_cast<std::int32_t>(j);
        m += values[j] <= limit ? 1 : 0;
    }
    found.size = m;
}

std::size_t below_plain(const float* values, std::size_t n, float limit, std::int32_t first,
                        Candidates& found, std::uint32_t*) {
    append_stripe(values, 0, n, limit, first, found);
    return found.size;
}

#ifdef HAS_AVX2_BRANCH
// First the stripes with a value below, without a branch that could be guessed wrong; then these.
__attribute__((target("avx2"))) std::size_t below_avx2(const float* values, std::size_t n, float limit,
                                                       std::int32_t first, Candidates& found,
                                                       std::uint32_t* stripes) {
    const __m256 bound = _mm256_set1_ps(limit);
    std::size_t n_stripes = 0, j = 0;
    for (; j + STRIPE <= n; j += STRIPE) {
        const __m256 a = _mm256_cmp_ps(_mm256_loadu_ps(values + j), bound, _CMP_LE_OQ);
        const __m256 b = _mm256_cmp_ps(_mm256_loadu_ps(values + j + 8), bound, _CMP_LE_OQ);
        stripes[n_stripes] = static_cast<std::uint32_t>(j);
        n_stripes += _mm256_testz_ps(a, a) & _mm256_testz_ps(b, b) ? 0 : 1;
    }
    std::size_t m = found.size;
    float* const value = found.value.data();
    std::int32_t* const row = found.row.data();
    for (std::size_t s = 0; s < n_stripes; ++s) {
        const float* const at = values + stripes[s];
        const __m256 a = _mm256_cmp_ps(_mm256_loadu_ps(at), bound, _CMP_LE_OQ);
        const __m256 b = _mm256_cmp_ps(_mm256_loadu_ps(at + 8), bound, _CMP_LE_OQ);
        auto mask = static_cast<unsigned>(_mm256_movemask_ps(a)) |
                    static_cast<unsigned>(_mm256_movemask_ps(b)) << 8;
        do {
            const int place = __builtin_ctz(mask);
            value[m] = at[place];
            row[m++] = first + static_cast<std::int32_t>(stripes[s]) + place;
            mask &= mask - 1;
        } while (mask);
    }
    found.size = m;
    append_stripe(values, j, n, limit, first, found);
    return found.size;
}
#endif

std::size_t below(const float* values, std::size_t n, float limit, std::int32_t first,
                  Candidates& found, std::uint32_t* stripes) {
#ifdef HAS_AVX2_BRANCH
    if (has_avx2()) return below_avx2(values, n, limit, first, found, stripes);
#endif
    return below_plain(values, n, limit, first, found, stripes);
}

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

// The nearest rows of every query, by exact distance. Called by neighbours.py, which checks.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;

namespace {

template <typename T, typename Shape>
using Input = nb::ndarray<const T, Shape, nb::c_contig, nb::device::cpu>;
template <typename T, typename Shape>
using Output = nb::ndarray<T, Shape, nb::c_contig, nb::device::cpu>;

// ---------------------------------------------------------------- selection

struct Near {
    double squared;
    std::int32_t row;
    bool operator<(const Near& other) const {
        return squared < other.squared || (squared == other.squared && row < other.row);
    }
};

// A value that about `wanted` of the n numbers do not exceed, guessed high from a strided sample.
float threshold(const float* values, std::size_t n, std::size_t wanted, double scale,
                std::vector<float>& sample) {
    const std::size_t step = std::max<std::size_t>(1, n / 256);
    sample.clear();
    for (std::size_t j = 0; j < n; j += step) sample.push_back(values[j]);
    const double expected = static_cast<double>(wanted) * static_cast<double>(sample.size()) /
                            static_cast<double>(n);
    const auto at = static_cast<std::size_t>(scale * (expected + 3 * std::sqrt(expected) + 3));
    if (at + 1 >= sample.size()) return INFINITY;
    std::nth_element(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(at), sample.end());
    return sample[at];
}

// Positions of the values that do not exceed the limit; few do, so eight are dismissed at once.
std::size_t below_plain(const float* values, std::size_t from, std::size_t n, float limit,
                        std::int32_t* found, std::size_t m) {
    for (std::size_t j = from; j < n; ++j) {
        found[m] = static_cast<std::int32_t>(j);
        m += values[j] <= limit ? 1 : 0;
    }
    return m;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) std::size_t below_avx2(const float* values, std::size_t n, float limit,
                                                       std::int32_t* found) {
    const __m256 bound = _mm256_set1_ps(limit);
    std::size_t m = 0, j = 0;
    for (; j + 8 <= n; j += 8) {
        const __m256 eight = _mm256_loadu_ps(values + j);
        auto mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(eight, bound, _CMP_LE_OQ)));
        for (; mask; mask &= mask - 1)
            found[m++] = static_cast<std::int32_t>(j) + __builtin_ctz(mask);
    }
    return below_plain(values, j, n, limit, found, m);
}
#endif

std::size_t below(const float* values, std::size_t n, float limit, std::int32_t* found) {
#if defined(__x86_64__) && defined(__GNUC__)
    static const bool wide = __builtin_cpu_supports("avx2");
    if (wide) return below_avx2(values, n, limit, found);
#endif
    return below_plain(values, 0, n, limit, found, 0);
}

// Squared distance by the plain sum: equal rows give exactly 0, equal pairs equal numbers.
double squared_distance(const double* a, const double* b, std::size_t d) {
    double sum[4] = {0, 0, 0, 0};  // four chains: one addition need not wait for the last
    std::size_t c = 0;
    for (; c + 4 <= d; c += 4)
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const double difference = a[c + lane] - b[c + lane];
            sum[lane] += difference * difference;
        }
    for (; c < d; ++c) sum[0] += (a[c] - b[c]) * (a[c] - b[c]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// The L nearest of every row of a block of approximate distances, by their exact ones.
//
// `rough` may be off by `slack[i]` in row i: all within that of the L-th are measured exactly, so
// the list is that of the exact squared distances, ascending, ties by row number.
void nearest_of_block(Input<float, nb::ndim<2>> rough, Input<double, nb::ndim<2>> queries,
                      Input<double, nb::ndim<2>> rows, Input<double, nb::ndim<1>> slack,
                      Output<std::int32_t, nb::ndim<2>> index,
                      Output<double, nb::ndim<2>> squared) {
    const std::size_t b = rough.shape(0), n = rough.shape(1), d = rows.shape(1);
    const std::size_t length = index.shape(1);
    const float* const all = rough.data();
    const double *const query = queries.data(), *const x = rows.data();
    std::int32_t* const out = index.data();
    double* const out_squared = squared.data();

    nb::gil_scoped_release no_gil;

    std::vector<float> sample;
    std::vector<std::int32_t> found(n + 8);
    std::vector<Near> near(n);
    for (std::size_t i = 0; i < b; ++i) {
        const float* const row = all + i * n;
        std::size_t m = 0;
        float limit = INFINITY;
        for (double scale = 1; m < length; scale *= 4) {
            limit = length < n ? threshold(row, n, length, scale, sample) : INFINITY;
            m = below(row, n, limit, found.data());
        }
        if (m > length) {
            for (std::size_t j = 0; j < m; ++j) near[j] = {row[found[j]], found[j]};
            std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(length - 1),
                             near.begin() + static_cast<std::ptrdiff_t>(m));
            const double last = near[length - 1].squared + 2 * slack.data()[i];
            if (last > limit) {  // beyond what was collected: look at the whole row again
                m = below(row, n, std::nextafter(static_cast<float>(last), INFINITY), found.data());
            } else {
                std::size_t kept = 0;
                for (std::size_t j = 0; j < m; ++j)
                    if (near[j].squared <= last) found[kept++] = near[j].row;
                m = kept;
            }
        } else if (length < n) {
            m = below(row, n, std::nextafter(static_cast<float>(limit + 2 * slack.data()[i]), INFINITY),
                      found.data());
        }
        for (std::size_t j = 0; j < m; ++j) {
            const auto at = static_cast<std::size_t>(found[j]);
            near[j] = {squared_distance(query + i * d, x + at * d, d), found[j]};
        }
        const auto end = near.begin() + static_cast<std::ptrdiff_t>(m);
        if (m > 2 * length) {
            std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(length), end);
            std::sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(length));
        } else {
            std::sort(near.begin(), end);
        }
        for (std::size_t j = 0; j < length; ++j) {
            out[i * length + j] = near[j].row;
            out_squared[i * length + j] = near[j].squared;
        }
    }
}

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
    m.def("nearest_of_block", &nearest_of_block, nb::arg("rough").noconvert(),
          nb::arg("queries").noconvert(), nb::arg("rows").noconvert(), nb::arg("slack").noconvert(),
          nb::arg("index").noconvert(), nb::arg("squared").noconvert());
    m.def("smallest_of_block", &smallest_of_block, nb::arg("given").noconvert(),
          nb::arg("index").noconvert(), nb::arg("value").noconvert());
}

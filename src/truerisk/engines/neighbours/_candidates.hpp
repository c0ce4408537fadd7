// Which of many rough distances come below a limit, and a limit that lets few more than L through.
// On processors with AVX2 eight at a time; the answers are the same without.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_AVX2_BRANCH 1
#endif

namespace {

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

}  // namespace

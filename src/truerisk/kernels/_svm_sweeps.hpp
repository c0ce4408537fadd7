// The two passes over all rows that a step of the support vector solver takes.
// Arrays are padded to a multiple of 8 by rows that can neither rise nor fall.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define TRUERISK_SVM_AVX2 1
#endif

namespace svm {

constexpr double FAR = 1e300;  // added to what must not be picked

struct Worst {
    double largest;  // F of the row that should rise most
    double smallest;  // F of the row that should fall most
    std::size_t at_largest;
    std::size_t at_smallest;
};

inline std::size_t padded(std::size_t m) { return (m + 7) / 8 * 8; }

inline void weigh(double value, double up, double low, std::size_t t, Worst& worst) {
    if (value + up > worst.largest) worst.largest = value + up, worst.at_largest = t;
    if (value + low < worst.smallest) worst.smallest = value + low, worst.at_smallest = t;
}

inline Worst select(const double* F, const double* up, const double* low, std::size_t n) {
    Worst worst{-2 * FAR, 2 * FAR, 0, 0};
    for (std::size_t t = 0; t < n; ++t) weigh(F[t], up[t], low[t], t, worst);
    return worst;
}

// What the pair of row i and row t gains, (F_i - F_t)^2 / curvature. It only picks the partner:
// single precision is enough.
inline float gain(double largest, double F, double low, float kii, float ktt, float kit) {
    const float by = static_cast<float>(std::max(largest - F - low, 0.0));
    const float curve = std::max(kii + ktt - 2.0f * kit, 1e-12f);
    return by / curve * by;
}

#ifdef TRUERISK_SVM_AVX2

inline bool has_avx2() {
    static const bool found = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return found;
}

// F -= by (ki - kj) and `select` in one pass.
__attribute__((target("avx2,fma"))) inline Worst move_avx2(double* F, const double* up,
                                                           const double* low, const float* ki,
                                                           const float* kj, double by,
                                                           std::size_t n) {
    const __m256d minus = _mm256_set1_pd(-by), four = _mm256_set1_pd(4.0);
    __m256d most[2], least[2], at_most[2], at_least[2], at[2];
    for (int h = 0; h < 2; ++h) {
        most[h] = _mm256_set1_pd(-2 * FAR);
        least[h] = _mm256_set1_pd(2 * FAR);
        at_most[h] = at_least[h] = _mm256_setzero_pd();
    }
    at[0] = _mm256_setr_pd(0.0, 1.0, 2.0, 3.0);
    at[1] = _mm256_add_pd(at[0], four);
    const __m256d eight = _mm256_set1_pd(8.0);
    for (std::size_t t = 0; t < n; t += 8) {
        for (int h = 0; h < 2; ++h) {
            const std::size_t s = t + 4 * static_cast<std::size_t>(h);
            const __m256d k = _mm256_sub_pd(_mm256_cvtps_pd(_mm_loadu_ps(ki + s)),
                                            _mm256_cvtps_pd(_mm_loadu_ps(kj + s)));
            const __m256d f = _mm256_fmadd_pd(minus, k, _mm256_loadu_pd(F + s));
            _mm256_storeu_pd(F + s, f);
            const __m256d rises = _mm256_add_pd(f, _mm256_loadu_pd(up + s));
            const __m256d falls = _mm256_add_pd(f, _mm256_loadu_pd(low + s));
            const __m256d above = _mm256_cmp_pd(rises, most[h], _CMP_GT_OQ);
            const __m256d below = _mm256_cmp_pd(falls, least[h], _CMP_LT_OQ);
            most[h] = _mm256_blendv_pd(most[h], rises, above);
            at_most[h] = _mm256_blendv_pd(at_most[h], at[h], above);
            least[h] = _mm256_blendv_pd(least[h], falls, below);
            at_least[h] = _mm256_blendv_pd(at_least[h], at[h], below);
            at[h] = _mm256_add_pd(at[h], eight);
        }
    }
    double value[16], place[16];
    for (int h = 0; h < 2; ++h) {
        _mm256_storeu_pd(value + 4 * h, most[h]);
        _mm256_storeu_pd(place + 4 * h, at_most[h]);
        _mm256_storeu_pd(value + 8 + 4 * h, least[h]);
        _mm256_storeu_pd(place + 8 + 4 * h, at_least[h]);
    }
    Worst worst{value[0], value[8], static_cast<std::size_t>(place[0]),
                static_cast<std::size_t>(place[8])};
    for (int lane = 1; lane < 8; ++lane) {
        if (value[lane] > worst.largest)
            worst.largest = value[lane], worst.at_largest = static_cast<std::size_t>(place[lane]);
        if (value[8 + lane] < worst.smallest)
            worst.smallest = value[8 + lane],
            worst.at_smallest = static_cast<std::size_t>(place[8 + lane]);
    }
    return worst;
}

__attribute__((target("avx2,fma"))) inline std::size_t partner_avx2(
    const double* F, const double* low, const float* ki, const float* diagonal, double largest,
    float kii, std::size_t n) {
    const __m256d top = _mm256_set1_pd(largest);
    const __m256 own = _mm256_set1_ps(kii), flat = _mm256_set1_ps(1e-12f);
    const __m256 two = _mm256_set1_ps(2.0f), none = _mm256_setzero_ps();
    __m256 best = _mm256_set1_ps(-1.0f);
    __m256i best_at = _mm256_setzero_si256(), at = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i eight = _mm256_set1_epi32(8);
    for (std::size_t t = 0; t < n; t += 8) {
        const __m256d first = _mm256_sub_pd(
            top, _mm256_add_pd(_mm256_loadu_pd(F + t), _mm256_loadu_pd(low + t)));
        const __m256d second = _mm256_sub_pd(
            top, _mm256_add_pd(_mm256_loadu_pd(F + t + 4), _mm256_loadu_pd(low + t + 4)));
        const __m256 by = _mm256_max_ps(
            _mm256_set_m128(_mm256_cvtpd_ps(second), _mm256_cvtpd_ps(first)), none);
        const __m256 both = _mm256_add_ps(own, _mm256_loadu_ps(diagonal + t));
        const __m256 curve = _mm256_max_ps(_mm256_fnmadd_ps(two, _mm256_loadu_ps(ki + t), both), flat);
        const __m256 gained = _mm256_mul_ps(_mm256_div_ps(by, curve), by);
        const __m256 better = _mm256_cmp_ps(gained, best, _CMP_GT_OQ);
        best = _mm256_blendv_ps(best, gained, better);
        best_at = _mm256_blendv_epi8(best_at, at, _mm256_castps_si256(better));
        at = _mm256_add_epi32(at, eight);
    }
    float value[8];
    std::int32_t place[8];
    _mm256_storeu_ps(value, best);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(place), best_at);
    int winner = 0;
    for (int lane = 1; lane < 8; ++lane)
        if (value[lane] > value[winner]) winner = lane;
    return static_cast<std::size_t>(place[winner]);
}

__attribute__((target("avx2,fma"))) inline void lower_avx2(double* F, const float* k, double by,
                                                           std::size_t n) {
    const __m256d minus = _mm256_set1_pd(-by);
    for (std::size_t t = 0; t < n; t += 4) {
        const __m256d value = _mm256_cvtps_pd(_mm_loadu_ps(k + t));
        _mm256_storeu_pd(F + t, _mm256_fmadd_pd(minus, value, _mm256_loadu_pd(F + t)));
    }
}

__attribute__((target("avx2,fma"))) inline double dot_avx2(const double* a, const double* b,
                                                           std::size_t n) {
    __m256d first = _mm256_setzero_pd(), second = _mm256_setzero_pd();
    std::size_t t = 0;
    for (; t + 8 <= n; t += 8) {
        first = _mm256_fmadd_pd(_mm256_loadu_pd(a + t), _mm256_loadu_pd(b + t), first);
        second = _mm256_fmadd_pd(_mm256_loadu_pd(a + t + 4), _mm256_loadu_pd(b + t + 4), second);
    }
    double lane[4];
    _mm256_storeu_pd(lane, _mm256_add_pd(first, second));
    double sum = (lane[0] + lane[1]) + (lane[2] + lane[3]);
    for (; t < n; ++t) sum += a[t] * b[t];
    return sum;
}

#endif

// F -= by k
inline void lower(double* F, const float* k, double by, std::size_t n) {
#ifdef TRUERISK_SVM_AVX2
    if (has_avx2()) return lower_avx2(F, k, by, n);
#endif
    for (std::size_t t = 0; t < n; ++t) F[t] -= by * static_cast<double>(k[t]);
}

inline double dot(const double* a, const double* b, std::size_t n) {
#ifdef TRUERISK_SVM_AVX2
    if (has_avx2()) return dot_avx2(a, b, n);
#endif
    double sum = 0.0;
    for (std::size_t t = 0; t < n; ++t) sum += a[t] * b[t];
    return sum;
}

inline Worst move(double* F, const double* up, const double* low, const float* ki, const float* kj,
                  double by, std::size_t n) {
#ifdef TRUERISK_SVM_AVX2
    if (has_avx2()) return move_avx2(F, up, low, ki, kj, by, n);
#endif
    Worst worst{-2 * FAR, 2 * FAR, 0, 0};
    for (std::size_t t = 0; t < n; ++t) {
        F[t] -= by * (static_cast<double>(ki[t]) - static_cast<double>(kj[t]));
        weigh(F[t], up[t], low[t], t, worst);
    }
    return worst;
}

// The row that gains most together with row i, whose F is `largest`.
inline std::size_t partner(const double* F, const double* low, const float* ki,
                           const float* diagonal, double largest, float kii, std::size_t n) {
#ifdef TRUERISK_SVM_AVX2
    if (has_avx2()) return partner_avx2(F, low, ki, diagonal, largest, kii, n);
#endif
    std::size_t found = 0;
    float best = -1.0f;
    for (std::size_t t = 0; t < n; ++t) {
        const float gained = gain(largest, F[t], low[t], kii, diagonal[t], ki[t]);
        if (gained > best) best = gained, found = t;
    }
    return found;
}

}  // namespace svm

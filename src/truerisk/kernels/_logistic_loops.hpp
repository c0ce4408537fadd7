// Loops over rows for _logistic*.hpp, compiled for AVX2 as well and chosen once per process.
// Lengths are multiples of eight: rows beyond the data have weight 0 and change nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define LOGISTIC_AVX2 1
#endif
#if defined(__GNUC__)
#define LOGISTIC_INLINE __attribute__((always_inline)) inline
#else
#define LOGISTIC_INLINE inline
#endif

namespace logistic {

constexpr std::size_t BLOCK = 8;          // rows are padded to multiples of it
constexpr double LEAST_CURVATURE = 1e-5;  // of one row; below it a Newton step would be too bold

#if defined(__GNUC__)
// four numbers at once; the compiler splits them where the machine has narrower registers
typedef double Lane __attribute__((vector_size(32)));
typedef std::int64_t Whole __attribute__((vector_size(32)));
#else
typedef double Lane;
typedef std::int64_t Whole;
#endif
constexpr std::size_t WIDTH = sizeof(Lane) / sizeof(double);

#define LOGISTIC_LOAD(name, from) \
    Lane name;                    \
    std::memcpy(&name, from, sizeof name)
#define LOGISTIC_STORE(to, value)         \
    do {                                  \
        const Lane stored = value;        \
        std::memcpy(to, &stored, sizeof stored); \
    } while (false)

LOGISTIC_INLINE double sum_of(const Lane& lane) {
    double part[WIDTH];
    std::memcpy(part, &lane, sizeof part);
    double total = 0;
    for (std::size_t t = 0; t < WIDTH; ++t) total += part[t];
    return total;
}

// Σ x r
LOGISTIC_INLINE double dot_any(const double* x, const double* r, std::size_t n) {
    Lane s = Lane{}, t = Lane{};
    for (std::size_t i = 0; i < n; i += 2 * WIDTH) {
        LOGISTIC_LOAD(a, x + i);
        LOGISTIC_LOAD(b, r + i);
        LOGISTIC_LOAD(c, x + i + WIDTH);
        LOGISTIC_LOAD(d, r + i + WIDTH);
        s += a * b;
        t += c * d;
    }
    s += t;
    return sum_of(s);
}

// Σ x r and Σ |x r|
LOGISTIC_INLINE double sized_dot_any(const double* x, const double* r, std::size_t n, double* size) {
    Lane s{}, t{};
    for (std::size_t i = 0; i < n; i += WIDTH) {
        LOGISTIC_LOAD(a, x + i);
        LOGISTIC_LOAD(b, r + i);
        a *= b;
        s += a;
        t += a < 0.0 ? -a : a;
    }
    *size = sum_of(t);
    return sum_of(s);
}

// Σ v x and Σ v x²
LOGISTIC_INLINE void curve_any(const double* x, const double* v, std::size_t n, double* first,
                               double* second) {
    Lane s = Lane{}, t = Lane{};
    for (std::size_t i = 0; i < n; i += WIDTH) {
        LOGISTIC_LOAD(a, x + i);
        LOGISTIC_LOAD(b, v + i);
        const Lane vx = a * b;
        s += vx;
        t += vx * a;
    }
    *first = sum_of(s);
    *second = sum_of(t);
}

// r −= d v (x − centre)
LOGISTIC_INLINE void step_any(double* r, const double* x, const double* v, double d, double centre,
                              std::size_t n) {
    for (std::size_t i = 0; i < n; i += WIDTH) {
        LOGISTIC_LOAD(a, x + i);
        LOGISTIC_LOAD(b, v + i);
        LOGISTIC_LOAD(c, r + i);
        LOGISTIC_STORE(r + i, c - b * (d * (a - centre)));
    }
}

// y += d x
LOGISTIC_INLINE void add_any(double* y, const double* x, double d, std::size_t n) {
    for (std::size_t i = 0; i < n; i += WIDTH) {
        LOGISTIC_LOAD(a, x + i);
        LOGISTIC_LOAD(b, y + i);
        LOGISTIC_STORE(y + i, b + d * a);
    }
}

// exp to about an ulp for arguments within ±700 (clipped there), without branches
LOGISTIC_INLINE void exp_lane(Lane& x) {
    const Lane low = Lane{} - 700.0, high = Lane{} + 700.0;
    x = x < low ? low : x;
    x = x > high ? high : x;
    constexpr double shift = 6755399441055744.0;  // 1.5 · 2^52: adding it rounds to an integer
    const Lane rounded = x * 1.4426950408889634074 + shift;
    const Lane k = rounded - shift;
    const Lane f = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6;
    Lane p = f * (1.0 / 479001600.0) + 1.0 / 39916800.0;
    p = p * f + 1.0 / 3628800.0;
    p = p * f + 1.0 / 362880.0;
    p = p * f + 1.0 / 40320.0;
    p = p * f + 1.0 / 5040.0;
    p = p * f + 1.0 / 720.0;
    p = p * f + 1.0 / 120.0;
    p = p * f + 1.0 / 24.0;
    p = p * f + 1.0 / 6.0;
    p = p * f + 0.5;
    p = p * f + 1.0;
    p = p * f + 1.0;
    Whole bits;
    std::memcpy(&bits, &rounded, sizeof bits);
    bits = (bits & 0xfff) + 1023;  // k + 1023 is positive, and the exponent's field takes it
    bits = (bits & 0x7ff) << 52;
    Lane scale;
    std::memcpy(&scale, &bits, sizeof scale);
    x = p * scale;
}

LOGISTIC_INLINE void exp_all_any(const double* x, double* out, std::size_t n) {
    for (std::size_t i = 0; i < n; i += WIDTH) {
        LOGISTIC_LOAD(a, x + i);
        exp_lane(a);
        LOGISTIC_STORE(out + i, a);
    }
}

// r = w (y − q) and v = w q (1 − q), with q = part / whole
LOGISTIC_INLINE void residual_any(const double* y, const double* w, const double* part,
                                  const double* whole, double* r, double* v, std::size_t n) {
    for (std::size_t i = 0; i < n; i += WIDTH) {
        LOGISTIC_LOAD(a, part + i);
        LOGISTIC_LOAD(b, whole + i);
        LOGISTIC_LOAD(label, y + i);
        LOGISTIC_LOAD(weight, w + i);
        const Lane q = a / b, curvature = q * (1.0 - q), least = Lane{} + LEAST_CURVATURE;
        LOGISTIC_STORE(r + i, weight * (label - q));
        LOGISTIC_STORE(v + i, weight * (curvature < least ? least : curvature));
    }
}

// the same of two classes, from the linear predictor
LOGISTIC_INLINE void binary_any(const double* y, const double* w, const double* eta, double* r,
                                double* v, std::size_t n) {
    for (std::size_t i = 0; i < n; i += WIDTH) {
        LOGISTIC_LOAD(a, eta + i);
        LOGISTIC_LOAD(label, y + i);
        LOGISTIC_LOAD(weight, w + i);
        a = -a;
        exp_lane(a);
        const Lane q = 1.0 / (1.0 + a), curvature = q * (1.0 - q);
        const Lane least = Lane{} + LEAST_CURVATURE;
        LOGISTIC_STORE(r + i, weight * (label - q));
        LOGISTIC_STORE(v + i, weight * (curvature < least ? least : curvature));
    }
}

// x −= mean; the largest |x| before. Of any length: what follows stays as it is
LOGISTIC_INLINE double centre_any(double* x, double mean, std::size_t n) {
    Lane most{};
    std::size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        LOGISTIC_LOAD(a, x + i);
        const Lane size = a < 0.0 ? -a : a;
        most = size > most ? size : most;
        LOGISTIC_STORE(x + i, a - mean);
    }
    double of[WIDTH], largest = 0.0;
    std::memcpy(of, &most, sizeof most);
    for (const double one : of) largest = one > largest ? one : largest;
    for (; i < n; ++i) {
        const double size = x[i] < 0.0 ? -x[i] : x[i];
        largest = size > largest ? size : largest;
        x[i] -= mean;
    }
    return largest;
}

#ifdef LOGISTIC_AVX2
inline const bool HAS_AVX2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#define LOGISTIC_LOOP(type, name, parameters, arguments)                     \
    inline type name##_plain parameters { return name##_any arguments; }     \
    __attribute__((target("avx2,fma"))) inline type name##_avx2 parameters { \
        return name##_any arguments;                                         \
    }                                                                        \
    inline type name parameters {                                            \
        return HAS_AVX2 ? name##_avx2 arguments : name##_plain arguments;    \
    }
#else
#define LOGISTIC_LOOP(type, name, parameters, arguments) \
    inline type name parameters { return name##_any arguments; }
#endif

LOGISTIC_LOOP(double, dot, (const double* x, const double* r, std::size_t n), (x, r, n))
LOGISTIC_LOOP(double, sized_dot,
              (const double* x, const double* r, std::size_t n, double* size), (x, r, n, size))
LOGISTIC_LOOP(void, curve,
              (const double* x, const double* v, std::size_t n, double* first, double* second),
              (x, v, n, first, second))
LOGISTIC_LOOP(void, step,
              (double* r, const double* x, const double* v, double d, double centre, std::size_t n),
              (r, x, v, d, centre, n))
LOGISTIC_LOOP(double, centre, (double* x, double mean, std::size_t n), (x, mean, n))
LOGISTIC_LOOP(void, add, (double* y, const double* x, double d, std::size_t n), (y, x, d, n))
LOGISTIC_LOOP(void, exp_all, (const double* x, double* out, std::size_t n), (x, out, n))
LOGISTIC_LOOP(void, residual,
              (const double* y, const double* w, const double* part, const double* whole, double* r,
               double* v, std::size_t n),
              (y, w, part, whole, r, v, n))
LOGISTIC_LOOP(void, binary,
              (const double* y, const double* w, const double* eta, double* r, double* v,
               std::size_t n),
              (y, w, eta, r, v, n))

}  // namespace logistic

// A block of rows against many vectors of coefficients at once, and what the scores make of the
// deviance. The second half of the vectors are small moves of the first: their scores, and what they
// change of the gradient, follow to first order.
#pragma once

#include <cstddef>

#include "_logistic_loops.hpp"

#if defined(__GNUC__)
#define LOGISTIC_AHEAD(place) __builtin_prefetch(place)
#else
#define LOGISTIC_AHEAD(place) static_cast<void>(place)
#endif

namespace logistic {

constexpr std::size_t COLUMNS = 4;  // columns at a time; blocks have a multiple of them
constexpr std::size_t LINE = 8;     // numbers of a line of the cache
constexpr std::size_t SCORES = 4, SLOPES = 3;  // vectors at a time, such that the registers hold all

// Columns of a block, `stride` apart.
struct Cells {
    const double* x;
    std::size_t stride, length, columns;
};

template <std::size_t K>
LOGISTIC_INLINE void some_scores(const Cells& cells, std::size_t i, const double* coefficients,
                                 std::size_t n, double* scores, std::size_t apart) {
    Lane low[K], high[K];
    for (std::size_t k = 0; k < K; ++k) {
        std::memcpy(low + k, scores + k * apart + i, sizeof(Lane));
        std::memcpy(high + k, scores + k * apart + i + WIDTH, sizeof(Lane));
    }
    for (std::size_t j = 0; j < cells.columns; ++j) {
        LOGISTIC_LOAD(a, cells.x + j * cells.stride + i);
        LOGISTIC_LOAD(b, cells.x + j * cells.stride + i + WIDTH);
        for (std::size_t k = 0; k < K; ++k) {
            const double own = coefficients[j * n + k];
            low[k] += a * own;
            high[k] += b * own;
        }
    }
    for (std::size_t k = 0; k < K; ++k) {
        std::memcpy(scores + k * apart + i, low + k, sizeof(Lane));
        std::memcpy(scores + k * apart + i + WIDTH, high + k, sizeof(Lane));
    }
}

// scores (vector, row) += cells times coefficients (column, vector)
LOGISTIC_INLINE void scores_any(const Cells& cells, const double* coefficients, std::size_t n,
                                double* scores, std::size_t apart) {
    for (std::size_t i = 0; i < cells.length; i += 2 * WIDTH) {
        const double* const next = cells.x + cells.columns * (cells.stride + i);  // of the next block
        for (std::size_t j = 0; j < 2 * WIDTH * cells.columns; j += LINE) LOGISTIC_AHEAD(next + j);
        std::size_t v = 0;
        for (; v + SCORES <= n; v += SCORES)
            some_scores<SCORES>(cells, i, coefficients + v, n, scores + v * apart, apart);
        if (n - v == 3) some_scores<3>(cells, i, coefficients + v, n, scores + v * apart, apart);
        if (n - v == 2) some_scores<2>(cells, i, coefficients + v, n, scores + v * apart, apart);
        if (n - v == 1) some_scores<1>(cells, i, coefficients + v, n, scores + v * apart, apart);
    }
}

template <std::size_t K>
LOGISTIC_INLINE void some_slopes(const Cells& cells, std::size_t j, const double* left,
                                 std::size_t apart, std::size_t n, double* slopes) {
    Lane sums[COLUMNS][K] = {};
    for (std::size_t i = 0; i < cells.length; i += WIDTH) {
        for (std::size_t k = 0; k < K; ++k) {
            LOGISTIC_LOAD(r, left + k * apart + i);
            for (std::size_t c = 0; c < COLUMNS; ++c) {
                LOGISTIC_LOAD(a, cells.x + (j + c) * cells.stride + i);
                sums[c][k] += a * r;
            }
        }
    }
    for (std::size_t c = 0; c < COLUMNS; ++c) {
        for (std::size_t k = 0; k < K; ++k) {
            double* const own = slopes + ((j + c) * n + k) * WIDTH;
            LOGISTIC_LOAD(before, own);
            LOGISTIC_STORE(own, before + sums[c][k]);
        }
    }
}

// slopes (column, vector, lane) += cells' times what is left (vector, row)
LOGISTIC_INLINE void slopes_any(const Cells& cells, const double* left, std::size_t apart,
                                std::size_t n, double* slopes) {
    for (std::size_t j = 0; j < cells.columns; j += COLUMNS) {
        std::size_t v = 0;
        for (; v + SLOPES <= n; v += SLOPES)
            some_slopes<SLOPES>(cells, j, left + v * apart, apart, n, slopes + v * WIDTH);
        if (n - v == 2) some_slopes<2>(cells, j, left + v * apart, apart, n, slopes + v * WIDTH);
        if (n - v == 1) some_slopes<1>(cells, j, left + v * apart, apart, n, slopes + v * WIDTH);
    }
}

// Σ r and Σ |r|
LOGISTIC_INLINE void sums_any(const double* r, std::size_t n, double* sum, double* size) {
    Lane s{}, t{};
    for (std::size_t i = 0; i < n; i += WIDTH) {
        LOGISTIC_LOAD(a, r + i);
        s += a;
        t += a < 0.0 ? -a : a;
    }
    *sum += sum_of(s);
    *size += sum_of(t);
}

// Of two classes Σ w (log(1 + e^η) − y η); η becomes r = w (q − y), as near as doubles are. The moves
// of η, and noise of a size, become those of r; `change` is that of the sum.
//
// log(1 + t) for t = e^−|η| is 2 artanh(t / (2 + t)), whose series has come to its end at the 17th term.
LOGISTIC_INLINE double of_two_any(const double* y, const double* w, const double* noise, double size,
                                  double* eta, double* moved, std::size_t n, double* change) {
    Lane total{}, changed{};
    for (std::size_t i = 0; i < n; i += WIDTH) {
        LOGISTIC_LOAD(a, eta + i);
        LOGISTIC_LOAD(d, moved + i);
        LOGISTIC_LOAD(e, noise + i);
        LOGISTIC_LOAD(label, y + i);
        LOGISTIC_LOAD(weight, w + i);
        Lane t = a < 0.0 ? a : -a;
        exp_lane(t);
        const Lane s = t / (2.0 + t), square = s * s, fourth = square * square, zero{};
        Lane even = zero + 1.0 / 33.0, odd = zero + 1.0 / 31.0;  // terms in turn: neither waits long
        for (int k = 29; k > 1; k -= 4) {
            even = even * fourth + 1.0 / k;
            odd = odd * fourth + 1.0 / (k - 2);
        }
        const Lane series = (even * fourth + 1.0) + odd * square;
        const Lane above = a < 0.0 ? zero : a, down = 1.0 / (1.0 + t), up = t * down;
        total += weight * ((above - label * a) + 2.0 * s * series);
        const Lane share = a < 0.0 ? up : down, other = a < 0.0 ? down : up;
        const Lane left = weight * ((1.0 - label) * share - label * other);
        d += size * e;
        changed += left * d;
        LOGISTIC_STORE(eta + i, left);
        LOGISTIC_STORE(moved + i, weight * share * other * d);
    }
    *change += sum_of(changed);
    return sum_of(total);
}

// Of many classes: scores (class, row) become w times shares, and their moves those of these; besides
// of each row the largest score, the sum of e^(η − largest), and the mean move.
LOGISTIC_INLINE void of_many_any(const double* w, std::size_t classes, std::size_t apart,
                                 double* eta, double* moved, std::size_t n, double* top, double* sum,
                                 double* mean) {
    for (std::size_t i = 0; i < n; i += WIDTH) {
        LOGISTIC_LOAD(most, eta + i);
        for (std::size_t f = 1; f < classes; ++f) {
            LOGISTIC_LOAD(a, eta + f * apart + i);
            most = a > most ? a : most;
        }
        Lane whole{}, drift{};
        for (std::size_t f = 0; f < classes; ++f) {
            LOGISTIC_LOAD(a, eta + f * apart + i);
            LOGISTIC_LOAD(d, moved + f * apart + i);
            a -= most;
            exp_lane(a);
            whole += a;
            drift += a * d;
            LOGISTIC_STORE(eta + f * apart + i, a);
        }
        drift /= whole;
        LOGISTIC_LOAD(weight, w + i);
        const Lane part = weight / whole;
        for (std::size_t f = 0; f < classes; ++f) {
            LOGISTIC_LOAD(a, eta + f * apart + i);
            LOGISTIC_LOAD(d, moved + f * apart + i);
            a *= part;
            LOGISTIC_STORE(eta + f * apart + i, a);
            LOGISTIC_STORE(moved + f * apart + i, a * (d - drift));
        }
        LOGISTIC_STORE(top + i, most);
        LOGISTIC_STORE(sum + i, whole);
        LOGISTIC_STORE(mean + i, drift);
    }
}

LOGISTIC_LOOP(void, scores,
              (const Cells& cells, const double* coefficients, std::size_t n, double* scores_,
               std::size_t apart),
              (cells, coefficients, n, scores_, apart))
LOGISTIC_LOOP(void, slopes,
              (const Cells& cells, const double* left, std::size_t apart, std::size_t n,
               double* slopes_),
              (cells, left, apart, n, slopes_))
LOGISTIC_LOOP(void, sums, (const double* r, std::size_t n, double* sum, double* size),
              (r, n, sum, size))
LOGISTIC_LOOP(double, of_two,
              (const double* y, const double* w, const double* noise, double size, double* eta,
               double* moved, std::size_t n, double* change),
              (y, w, noise, size, eta, moved, n, change))
LOGISTIC_LOOP(void, of_many,
              (const double* w, std::size_t classes, std::size_t apart, double* eta, double* moved,
               std::size_t n, double* top, double* sum, double* mean),
              (w, classes, apart, eta, moved, n, top, sum, mean))

}  // namespace logistic

// The steps that libsvm takes on one two-class problem, to the last bit.
//
// Where libsvm stops depends on its way: the pairs it moves, which of equal ones, the order of its
// sums, the rows it sets aside. All that is kept here, in another notation: beta_i = y_i alpha_i in a
// box between 0 and y_i C_i, and F = y - K beta, which is libsvm's gradient times -y. Changes of sign
// round nothing, so the numbers are the same. Products and sums must not be made one operation:
// this file is compiled without contraction.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define TRUERISK_STEPS_AVX2 1
#endif

namespace svm_steps {

constexpr double FAR = 1e300;  // added to what must not be picked

struct Problem {
    const float* gram;         // width x width
    const double* diagonal;    // of the same matrix, in double precision
    std::size_t width;
    const std::int32_t* rows;  // first those of y = 1, then those of y = -1
    const double* sign;
    const double* box;         // C_i
    std::size_t m;
};

struct Worst {
    double largest = -2 * FAR;   // F of the row that should rise most
    double smallest = 2 * FAR;   // F of the row that should fall most
    std::size_t at_largest = 0;  // of equal ones the last
};

inline void weigh(double F, double up, double low, std::size_t t, Worst& worst) {
    if (F + up >= worst.largest) worst.largest = F + up, worst.at_largest = t;
    worst.smallest = std::min(worst.smallest, F + low);
}

struct Partner {
    double gain = -1.0;  // the square of the difference over the curvature; of equal ones the last
    std::size_t at = 0;
};

inline void gain(double largest, double F, double low, double curve, std::size_t t, Partner& best) {
    const double by = largest - (F + low);
    if (!(by > 0.0)) return;
    const double gained = by * by / (curve > 0.0 ? curve : 1e-12);
    if (gained >= best.gain) best.gain = gained, best.at = t;
}

#ifdef TRUERISK_STEPS_AVX2

inline bool has_avx2() {
    static const bool found = __builtin_cpu_supports("avx2");
    return found;
}

// F -= ki bi + kj bj and `weigh` of all, four at a time; how many were done.
__attribute__((target("avx2"))) inline std::size_t move_avx2(double* F, const double* up,
                                                             const double* low, const float* ki,
                                                             const float* kj, double bi, double bj,
                                                             std::size_t n, Worst& worst) {
    const __m256d by_i = _mm256_set1_pd(bi), by_j = _mm256_set1_pd(bj), four = _mm256_set1_pd(4.0);
    __m256d most = _mm256_set1_pd(-2 * FAR), least = _mm256_set1_pd(2 * FAR);
    __m256d at_most = _mm256_setzero_pd(), at = _mm256_setr_pd(0.0, 1.0, 2.0, 3.0);
    std::size_t t = 0;
    for (; t + 4 <= n; t += 4) {
        const __m256d part_i = _mm256_mul_pd(_mm256_cvtps_pd(_mm_loadu_ps(ki + t)), by_i);
        const __m256d part_j = _mm256_mul_pd(_mm256_cvtps_pd(_mm_loadu_ps(kj + t)), by_j);
        const __m256d f = _mm256_sub_pd(_mm256_loadu_pd(F + t), _mm256_add_pd(part_i, part_j));
        _mm256_storeu_pd(F + t, f);
        const __m256d rises = _mm256_add_pd(f, _mm256_loadu_pd(up + t));
        const __m256d above = _mm256_cmp_pd(rises, most, _CMP_GE_OQ);
        most = _mm256_blendv_pd(most, rises, above);
        at_most = _mm256_blendv_pd(at_most, at, above);
        least = _mm256_min_pd(least, _mm256_add_pd(f, _mm256_loadu_pd(low + t)));
        at = _mm256_add_pd(at, four);
    }
    double value[4], place[4], small[4];
    _mm256_storeu_pd(value, most);
    _mm256_storeu_pd(place, at_most);
    _mm256_storeu_pd(small, least);
    for (int lane = 0; lane < 4 && t > 0; ++lane) {
        const auto here = static_cast<std::size_t>(place[lane]);
        if (value[lane] > worst.largest || (value[lane] == worst.largest && here > worst.at_largest))
            worst.largest = value[lane], worst.at_largest = here;
        worst.smallest = std::min(worst.smallest, small[lane]);
    }
    return t;
}

__attribute__((target("avx2"))) inline std::size_t partner_avx2(const double* F, const double* low,
                                                                const float* ki,
                                                                const double* diagonal,
                                                                double largest, double kii,
                                                                std::size_t n, Partner& best) {
    const __m256d top = _mm256_set1_pd(largest), own = _mm256_set1_pd(kii), zero = _mm256_setzero_pd();
    const __m256d flat = _mm256_set1_pd(1e-12), two = _mm256_set1_pd(2.0), four = _mm256_set1_pd(4.0);
    __m256d most = _mm256_set1_pd(-1.0), at_most = zero, at = _mm256_setr_pd(0.0, 1.0, 2.0, 3.0);
    std::size_t t = 0;
    for (; t + 4 <= n; t += 4) {
        const __m256d falls = _mm256_add_pd(_mm256_loadu_pd(F + t), _mm256_loadu_pd(low + t));
        const __m256d by = _mm256_sub_pd(top, falls);
        const __m256d twice = _mm256_mul_pd(two, _mm256_cvtps_pd(_mm_loadu_ps(ki + t)));
        const __m256d bent = _mm256_sub_pd(_mm256_add_pd(own, _mm256_loadu_pd(diagonal + t)), twice);
        const __m256d curve = _mm256_blendv_pd(flat, bent, _mm256_cmp_pd(bent, zero, _CMP_GT_OQ));
        const __m256d gained = _mm256_div_pd(_mm256_mul_pd(by, by), curve);
        const __m256d better = _mm256_and_pd(_mm256_cmp_pd(by, zero, _CMP_GT_OQ),
                                             _mm256_cmp_pd(gained, most, _CMP_GE_OQ));
        most = _mm256_blendv_pd(most, gained, better);
        at_most = _mm256_blendv_pd(at_most, at, better);
        at = _mm256_add_pd(at, four);
    }
    double value[4], place[4];
    _mm256_storeu_pd(value, most);
    _mm256_storeu_pd(place, at_most);
    for (int lane = 0; lane < 4; ++lane) {
        const auto here = static_cast<std::size_t>(place[lane]);
        if (value[lane] > best.gain || (value[lane] == best.gain && here > best.at))
            best.gain = value[lane], best.at = here;
    }
    return t;
}

#endif

class Solver {
  public:
    Solver(const Problem& problem, double tolerance, bool shrinking)
        : p_(problem), tolerance_(tolerance), shrinking_(shrinking), active_(problem.m),
          sign_(p_.sign, p_.sign + p_.m), F_(sign_), settled_(p_.m, 0.0), up_(p_.m), low_(p_.m),
          diagonal_(p_.m), beta_(p_.m, 0.0), lowest_(p_.m), highest_(p_.m), place_(p_.m),
          cached_(p_.m) {
        for (std::size_t t = 0; t < p_.m; ++t) {
            place_[t] = t;
            diagonal_[t] = p_.diagonal[p_.rows[t]];
            lowest_[t] = sign_[t] > 0 ? 0.0 : -p_.box[t];
            highest_[t] = sign_[t] > 0 ? p_.box[t] : 0.0;
            settle(t);
        }
    }

    // beta by row, and the intercept; how many steps it took. Without number where one overflows.
    std::int64_t solve(double* beta, double& intercept) {
        const std::size_t often = std::min<std::size_t>(p_.m, 1000);
        std::size_t left = often + 1;
        std::int64_t steps = 0;
        Worst worst = weigh_all();
        for (;; ++steps) {
            if (--left == 0) {
                left = often;
                if (shrinking_) shrink(), worst = weigh_all();
            }
            Partner partner = partner_of(worst);
            if (is_done(worst, partner)) {
                restore();
                worst = weigh_all();
                partner = partner_of(worst);
                if (is_done(worst, partner)) break;
                left = 1;
            }
            if (!std::isfinite(F_[worst.at_largest] - F_[partner.at])) break;  // it would never end
            worst = step(worst.at_largest, partner.at);
        }
        if (!std::all_of(F_.begin(), F_.end(), [](double F) { return std::isfinite(F); })) {
            std::fill_n(beta, p_.m, std::numeric_limits<double>::quiet_NaN());
            intercept = beta[0];
            return steps;
        }
        for (std::size_t t = 0; t < p_.m; ++t) beta[place_[t]] = beta_[t];
        intercept = middle();
        return steps;
    }

  private:
    bool is_done(const Worst& worst, const Partner& partner) const {
        return worst.largest - worst.smallest < tolerance_ || partner.gain < 0.0;
    }

    bool can_rise(std::size_t t) const { return up_[t] == 0.0; }
    bool can_fall(std::size_t t) const { return low_[t] == 0.0; }
    bool is_full(std::size_t t) const { return sign_[t] > 0 ? !can_rise(t) : !can_fall(t); }

    void settle(std::size_t t) {
        up_[t] = beta_[t] >= highest_[t] ? -FAR : 0.0;
        low_[t] = beta_[t] <= lowest_[t] ? FAR : 0.0;
    }

    Worst weigh_all() const {
        Worst worst;
        for (std::size_t t = 0; t < active_; ++t) weigh(F_[t], up_[t], low_[t], t, worst);
        return worst;
    }

    // A row of K in the present order of the rows, from the matrix when it is first needed.
    const float* row(std::size_t i) {
        if (!cached_[i]) {
            cached_[i] = std::make_unique<float[]>(p_.m);
            const auto at = static_cast<std::size_t>(p_.rows[place_[i]]);
            const float* const from = p_.gram + at * p_.width;
            for (std::size_t t = 0; t < p_.m; ++t) cached_[i][t] = from[p_.rows[place_[t]]];
        }
        return cached_[i].get();
    }

    Partner partner_of(const Worst& worst) {
        Partner best;
        if (worst.largest < -FAR / 2) return best;  // no row can rise
        const std::size_t i = worst.at_largest;
        const float* const ki = row(i);
        std::size_t t = 0;
#ifdef TRUERISK_STEPS_AVX2
        if (has_avx2())
            t = partner_avx2(F_.data(), low_.data(), ki, diagonal_.data(), worst.largest, diagonal_[i],
                             active_, best);
#endif
        for (; t < active_; ++t)
            gain(worst.largest, F_[t], low_[t],
                 diagonal_[i] + diagonal_[t] - 2.0 * static_cast<double>(ki[t]), t, best);
        return best;
    }

    Worst step(std::size_t i, std::size_t j) {
        const float *const ki = row(i), *const kj = row(j);
        const double bent = diagonal_[i] + diagonal_[j] - 2.0 * static_cast<double>(ki[j]);
        const double by = (F_[i] - F_[j]) / (bent > 0.0 ? bent : 1e-12);
        const double sum = beta_[i] + beta_[j], before_i = beta_[i], before_j = beta_[j];
        beta_[i] += by;
        beta_[j] -= by;
        if (sum > highest_[i] + lowest_[j]) {  // row i comes to its end first
            if (beta_[i] > highest_[i]) beta_[i] = highest_[i], beta_[j] = sum - highest_[i];
        } else if (beta_[j] < lowest_[j]) {
            beta_[j] = lowest_[j], beta_[i] = sum - lowest_[j];
        }
        const bool full_i = is_full(i), full_j = is_full(j);
        settle(i);
        settle(j);
        const Worst worst = move(ki, kj, beta_[i] - before_i, beta_[j] - before_j);
        if (is_full(i) != full_i) fill(i, ki, full_i);
        if (is_full(j) != full_j) fill(j, kj, full_j);
        return worst;
    }

    Worst move(const float* ki, const float* kj, double by_i, double by_j) {
        Worst worst;
        std::size_t t = 0;
#ifdef TRUERISK_STEPS_AVX2
        if (has_avx2())
            t = move_avx2(F_.data(), up_.data(), low_.data(), ki, kj, by_i, by_j, active_, worst);
#endif
        for (; t < active_; ++t) {
            F_[t] -= static_cast<double>(ki[t]) * by_i + static_cast<double>(kj[t]) * by_j;
            weigh(F_[t], up_[t], low_[t], t, worst);
        }
        return worst;
    }

    // What full rows take from F is kept by itself, for rows that were set aside.
    void fill(std::size_t i, const float* k, bool was_full) {
        const double size = sign_[i] > 0 ? highest_[i] : lowest_[i];
        const double by = was_full ? -size : size;
        for (std::size_t t = 0; t < p_.m; ++t) settled_[t] -= by * static_cast<double>(k[t]);
    }

    // F of the rows that were set aside, and all rows are looked at again.
    void restore() {
        const std::size_t rest = p_.m - active_;
        if (rest == 0) return;
        for (std::size_t t = active_; t < p_.m; ++t) F_[t] = settled_[t] + sign_[t];
        std::vector<std::size_t> free;
        for (std::size_t t = 0; t < active_; ++t)
            if (can_rise(t) && can_fall(t)) free.push_back(t);
        if (free.size() * p_.m > 2 * active_ * rest) {
            for (std::size_t t = active_; t < p_.m; ++t) {
                const float* const k = row(t);
                for (const std::size_t i : free) F_[t] -= beta_[i] * static_cast<double>(k[i]);
            }
        } else {
            for (const std::size_t i : free) {
                const float* const k = row(i);
                for (std::size_t t = active_; t < p_.m; ++t) F_[t] -= beta_[i] * static_cast<double>(k[t]);
            }
        }
        active_ = p_.m;
    }

    // Rows at an end of their box that want to go further are set aside, behind the others.
    void shrink() {
        const Worst worst = weigh_all();
        if (!restored_ && worst.largest - worst.smallest <= tolerance_ * 10) {
            restored_ = true;
            restore();
        }
        const auto aside = [&](std::size_t t) {
            return can_rise(t) ? !can_fall(t) && F_[t] < worst.smallest : F_[t] > worst.largest;
        };
        for (std::size_t t = 0; t < active_; ++t) {
            if (!aside(t)) continue;
            --active_;
            while (active_ > t && aside(active_)) --active_;
            if (active_ > t) exchange(t, active_);
        }
    }

    void exchange(std::size_t a, std::size_t b) {
        for (auto* values : {&sign_, &F_, &settled_, &up_, &low_, &diagonal_, &beta_, &lowest_, &highest_})
            std::swap((*values)[a], (*values)[b]);
        std::swap(place_[a], place_[b]);
        std::swap(cached_[a], cached_[b]);
        for (auto& k : cached_)
            if (k) std::swap(k[a], k[b]);
    }

    double middle() const {
        double sum = 0.0, above = std::numeric_limits<double>::infinity(), below = -above;
        std::size_t free = 0;
        for (std::size_t t = 0; t < p_.m; ++t) {
            if (can_rise(t) && can_fall(t))
                sum += F_[t], ++free;
            else if (can_rise(t))
                below = std::max(below, F_[t]);
            else
                above = std::min(above, F_[t]);
        }
        return free ? sum / static_cast<double>(free) : (above + below) / 2;
    }

    Problem p_;
    double tolerance_;
    bool shrinking_, restored_ = false;
    std::size_t active_;
    std::vector<double> sign_, F_, settled_, up_, low_, diagonal_, beta_, lowest_, highest_;
    std::vector<std::size_t> place_;
    std::vector<std::unique_ptr<float[]>> cached_;
};

}  // namespace svm_steps

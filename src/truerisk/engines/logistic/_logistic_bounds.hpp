// How large a gradient can have become since it was computed, from two residuals with all theirs.
#pragma once

#include <cmath>
#include <cstddef>

#include "_logistic_columns.hpp"

namespace logistic {

// The point on the line through two remembered residuals that is nearest to one of now.
struct Line;
struct Remembered {
    Vector residual, line, slope, older_slope, rest;  // `line`: to it from the one before, scaled
    double length = 0.0;
    std::size_t spent = 0;  // gradients computed since all were

    void start(const Vector& r, std::size_t p) {
        residual = r;
        line.assign(r.size(), 0.0);
        rest.assign(r.size(), 0.0);
        slope.assign(p, 0.0);
        older_slope.assign(p, 0.0);
    }
    // `scale` is one over the roots of the weights, so that lengths are deviations
    void shift(const Vector& r, const Vector& scale) {  // the caller fills `slope`
        for (std::size_t i = 0; i < r.size(); ++i) line[i] = (r[i] - residual[i]) * scale[i];
        length = dot(line.data(), line.data(), r.size());
        older_slope.swap(slope);
        residual = r;
        spent = 0;
    }
    inline Line through(const Vector& r, const Vector& scale);
};

struct Line {
    double ahead, rest;

    // The largest size that gradient j can have
    double most(const Remembered& known, std::size_t j, double deviation) const {
        const double g = known.slope[j];
        return std::fabs(g + ahead * (g - known.older_slope[j])) + deviation * rest;
    }
};

inline Line Remembered::through(const Vector& r, const Vector& scale) {
    const std::size_t n = r.size();
    for (std::size_t i = 0; i < n; ++i) rest[i] = (r[i] - residual[i]) * scale[i];
    const double ahead = length > 0.0 ? dot(line.data(), rest.data(), n) / length : 0.0;
    add(rest.data(), line.data(), -ahead, n);
    // the room is for rounding in the gradients remembered
    const double far = std::sqrt(dot(rest.data(), rest.data(), n));
    return {ahead, far * (1.0 + 1e-9) + 1e-13 * (1.0 + std::fabs(ahead))};
}

}  // namespace logistic

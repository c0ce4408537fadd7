// The quadratic minimum over few free rows whose sum stays as it is.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "_svm_sweeps.hpp"

namespace svm {

// Moves d with sum d = 0 are written by the rows after the first: d_0 = -(d_1 + d_2 + ...). In them
// the curvature is M_ab = K_ab - K_a0 - K_0b + K_00 and the slope g_a = slope_a - slope_0.
struct Face {
    static constexpr std::size_t MOST = 256;
    // Of the largest curvature. K is in single precision, but it is this K whose minimum is sought:
    // what its rounding bends counts, or the free rows of a kernel of low rank never settle.
    static constexpr double FLAT = 1e-12;

    std::vector<std::size_t> rows;
    std::vector<double> slope, move;

    void clear() {
        slope.assign(rows.size(), 0.0);
        move.assign(rows.size(), 0.0);
        moved = 0;
    }

    // Newton's move to the minimum (true), or uphill along the first direction without curvature,
    // which moves the first `moved` rows only. kernel(a, b) is that of free rows a >= b; it is asked
    // for these alone, so that many rows of low rank cost no more than few.
    template <class Kernel>
    bool direction(const Kernel& kernel) {
        const std::size_t n = rows.size(), m = n - 1;
        if (L_.size() < m * m) L_.resize(m * m);
        to_first_.resize(n);
        double widest = 0.0;
        for (std::size_t a = 0; a < n; ++a) {
            to_first_[a] = kernel(a, 0);
            widest = std::max(widest, kernel(a, a) - 2.0 * to_first_[a] + to_first_[0]);
        }
        d_.assign(m, 0.0);
        std::size_t done = 0;
        for (; done < m; ++done) {
            double rest = curvature(kernel, done, done);
            for (std::size_t b = 0; b < done; ++b) {
                double sum = curvature(kernel, done, b) - dot(&L_[done * m], &L_[b * m], b);
                sum /= L_[b * m + b];
                L_[done * m + b] = sum;
                rest -= sum * sum;
            }
            if (!(rest > FLAT * widest)) break;
            L_[done * m + done] = std::sqrt(rest);
        }
        const bool newton = done == m;
        if (newton) {
            for (std::size_t a = 0; a < m; ++a) d_[a] = gradient(a);
            forward(m, m);
            backward(m, m);
        } else {  // L L' d = -column, with 1 in the place of the flat row
            for (std::size_t c = 0; c < done; ++c) d_[c] = -L_[done * m + c];
            backward(done, m);
            d_[done] = 1.0;
            double uphill = 0.0;
            for (std::size_t a = 0; a <= done; ++a) uphill += d_[a] * gradient(a);
            if (uphill < 0.0)
                for (std::size_t a = 0; a <= done; ++a) d_[a] = -d_[a];
        }
        moved = newton ? n : done + 2;
        double sum = 0.0;
        for (std::size_t a = 0; a + 1 < moved; ++a) move[a + 1] = d_[a], sum += d_[a];
        move[0] = -sum;
        return newton;
    }

    // How far to go: all of Newton's move, else to the top of the parabola along the direction.
    template <class Kernel>
    double length(bool newton, const Kernel& kernel) const {
        if (newton) return 1.0;
        double uphill = 0.0, bent = 0.0;
        for (std::size_t a = 0; a < moved; ++a) {
            uphill += move[a] * slope[a];
            bent += move[a] * kernel(a, a) * move[a];
            for (std::size_t b = 0; b < a; ++b) bent += 2.0 * move[a] * kernel(a, b) * move[b];
        }
        return uphill > 0.0 ? (bent > 0.0 ? uphill / bent : HUGE_VAL) : 0.0;
    }

    std::size_t moved = 0;

  private:
    template <class Kernel>
    double curvature(const Kernel& kernel, std::size_t a, std::size_t b) const {
        return kernel(a + 1, b + 1) - to_first_[a + 1] - to_first_[b + 1] + to_first_[0];
    }

    double gradient(std::size_t a) const { return slope[a + 1] - slope[0]; }

    void forward(std::size_t n, std::size_t width) {
        for (std::size_t a = 0; a < n; ++a) {
            d_[a] -= dot(&L_[a * width], d_.data(), a);
            d_[a] /= L_[a * width + a];
        }
    }

    void backward(std::size_t n, std::size_t width) {
        for (std::size_t a = n; a-- > 0;) {
            d_[a] /= L_[a * width + a];
            for (std::size_t b = 0; b < a; ++b) d_[b] -= L_[a * width + b] * d_[a];
        }
    }

    std::vector<double> L_;  // of Cholesky, row by row; what is above its diagonal is never read
    std::vector<double> d_, to_first_;
};

}  // namespace svm

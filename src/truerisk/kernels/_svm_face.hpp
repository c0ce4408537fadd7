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
    std::vector<double> K, slope, move;

    void clear() {
        const std::size_t n = rows.size();
        K.assign(n * n, 0.0);
        slope.assign(n, 0.0);
        move.assign(n, 0.0);
    }

    // Newton's move to the minimum (true), or uphill along the first direction without curvature.
    bool direction() {
        const std::size_t n = rows.size(), m = n - 1;
        L_.assign(m * m, 0.0);
        double widest = 0.0;
        for (std::size_t a = 0; a < m; ++a) widest = std::max(widest, curvature(a, a));
        std::vector<double> d(m, 0.0);
        std::size_t done = 0;
        for (; done < m; ++done) {
            double rest = curvature(done, done);
            for (std::size_t b = 0; b < done; ++b) {
                double sum = curvature(done, b) - dot(&L_[done * m], &L_[b * m], b);
                sum /= L_[b * m + b];
                L_[done * m + b] = sum;
                rest -= sum * sum;
            }
            if (!(rest > FLAT * widest)) break;
            L_[done * m + done] = std::sqrt(rest);
        }
        const bool newton = done == m;
        if (newton) {
            for (std::size_t a = 0; a < m; ++a) d[a] = gradient(a);
            forward(d, m, m);
            backward(d, m, m);
        } else {  // L L' d = -column, with 1 in the place of the flat row
            for (std::size_t c = 0; c < done; ++c) d[c] = -L_[done * m + c];
            backward(d, done, m);
            d[done] = 1.0;
            double uphill = 0.0;
            for (std::size_t a = 0; a <= done; ++a) uphill += d[a] * gradient(a);
            if (uphill < 0.0)
                for (double& value : d) value = -value;
        }
        double sum = 0.0;
        for (std::size_t a = 0; a < m; ++a) move[a + 1] = d[a], sum += d[a];
        move[0] = -sum;
        return newton;
    }

    // How far to go: all of Newton's move, else to the top of the parabola along the direction.
    double length(bool newton) const {
        if (newton) return 1.0;
        const std::size_t n = rows.size();
        double uphill = 0.0, bent = 0.0;
        for (std::size_t a = 0; a < n; ++a) {
            uphill += move[a] * slope[a];
            for (std::size_t b = 0; b < n; ++b) bent += move[a] * K[a * n + b] * move[b];
        }
        return uphill > 0.0 ? (bent > 0.0 ? uphill / bent : HUGE_VAL) : 0.0;
    }

  private:
    double curvature(std::size_t a, std::size_t b) const {
        const std::size_t n = rows.size();
        return K[(a + 1) * n + b + 1] - K[(a + 1) * n] - K[b + 1] + K[0];
    }

    double gradient(std::size_t a) const { return slope[a + 1] - slope[0]; }

    void forward(std::vector<double>& x, std::size_t n, std::size_t width) const {
        for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = 0; b < a; ++b) x[a] -= L_[a * width + b] * x[b];
            x[a] /= L_[a * width + a];
        }
    }

    void backward(std::vector<double>& x, std::size_t n, std::size_t width) const {
        for (std::size_t a = n; a-- > 0;) {
            for (std::size_t b = a + 1; b < n; ++b) x[a] -= L_[b * width + a] * x[b];
            x[a] /= L_[a * width + a];
        }
    }

    std::vector<double> L_;  // of Cholesky
};

}  // namespace svm

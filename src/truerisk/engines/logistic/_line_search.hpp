// The line search of Moré and Thuente (1994) with the settings of L-BFGS-B.
#pragma once

#include <algorithm>
#include <cmath>

namespace lbfgs {

constexpr double DECREASE = 1e-3, CURVATURE = 0.9, WIDTH_TEST = 0.1, LONGEST = 1e10;
constexpr double ALIKE = 1e-6;  // slopes that nearly equal each other, relatively

// A place on the line: the step, the value there and the slope.
struct Place {
    double step, value, slope;
};

inline double cubic_root(double theta, double a, double b, bool clipped) {
    const double s = std::max({std::fabs(theta), std::fabs(a), std::fabs(b)});
    const double inside = (theta / s) * (theta / s) - (a / s) * (b / s);
    return s * std::sqrt(clipped ? std::max(0.0, inside) : inside);
}

class Search {
public:
    double step;

    Search(double value, double slope, double first)
        : step(std::min(first, LONGEST)), start(value), begun(slope), test(DECREASE * slope),
          best{0.0, value, slope}, other{0.0, value, slope}, least(0.0), most(5.0 * step),
          width(LONGEST), width_before(2.0 * LONGEST) {}

    // Whether rounding decides if the value has decreased enough.
    bool close(double value, double noise) const {
        return std::fabs(value - (start + step * test)) <= noise;
    }

    // Whether rounding decides how the next step is found, from a value and a slope that end nothing.
    bool branches(double value, double slope, double noise) const {
        const double bend = std::fabs(slope) - std::fabs(best.slope);
        if (std::fabs(value - best.value) <= noise) return true;
        if (std::fabs(bend) <= ALIKE * std::fabs(best.slope)) return true;
        const double theta = third(best, {step, value, slope});
        const double s = std::max({std::fabs(theta), std::fabs(best.slope), std::fabs(slope)});
        const double inside = (theta / s) * (theta / s) - (best.slope / s) * (slope / s);
        return std::fabs(inside) <= ALIKE + 10 * noise / (std::fabs(step - best.step) * s);
    }

    // Whether the step is taken, given the value and the slope there; else `step` is the next to try.
    bool ends(double value, double slope) {
        const double wanted = start + step * test;
        if (first_stage && value <= wanted && slope >= 0.0) first_stage = false;
        bool over = bracketed && (step <= least || step >= most);
        over = over || (bracketed && most - least <= WIDTH_TEST * most);
        over = over || (step == LONGEST && value <= wanted && slope <= test);
        over = over || (step == 0.0 && (value > wanted || slope >= test));
        over = over || (value <= wanted && std::fabs(slope) <= CURVATURE * -begun);
        if (over) return true;
        Place now{step, value, slope};
        if (first_stage && value <= best.value && value > wanted) {
            for (Place* each : {&now, &best, &other}) shift(*each, -1.0);
            update(now);
            for (Place* each : {&best, &other}) shift(*each, 1.0);
        } else {
            update(now);
        }
        narrow();
        return false;
    }

private:
    double start, begun, test;
    Place best, other;
    double least, most, width, width_before;
    bool bracketed = false, first_stage = true;

    void shift(Place& place, double sign) const {
        place.value += sign * place.step * test;
        place.slope += sign * test;
    }

    void narrow() {
        if (bracketed) {
            if (std::fabs(other.step - best.step) >= 0.66 * width_before) {
                step = best.step + 0.5 * (other.step - best.step);
            }
            width_before = width;
            width = std::fabs(other.step - best.step);
            least = std::min(best.step, other.step);
            most = std::max(best.step, other.step);
        } else {
            least = step + 1.1 * (step - best.step);
            most = step + 4.0 * (step - best.step);
        }
        step = std::min(std::max(step, 0.0), LONGEST);
        if (bracketed && (step <= least || step >= most || most - least <= WIDTH_TEST * most)) {
            step = best.step;
        }
    }

    // The next step, from the best place, the other end and this one; and the new ends.
    void update(const Place& now) {
        const double sign = now.slope * (best.slope / std::fabs(best.slope));
        double next;
        if (now.value > best.value) {
            next = higher(now);
            bracketed = true;
        } else if (sign < 0.0) {
            next = turned(now);
            bracketed = true;
        } else if (std::fabs(now.slope) < std::fabs(best.slope)) {
            next = flatter(now);
        } else {
            next = steeper(now);
        }
        if (now.value > best.value) {
            other = now;
        } else {
            if (sign < 0.0) other = best;
            best = now;
        }
        step = next;
    }

    double third(const Place& a, const Place& b) const {
        return 3.0 * (a.value - b.value) / (b.step - a.step) + a.slope + b.slope;
    }

    double higher(const Place& now) const {
        const double theta = third(best, now), reach = now.step - best.step;
        double gamma = cubic_root(theta, best.slope, now.slope, false);
        if (now.step < best.step) gamma = -gamma;
        const double p = (gamma - best.slope) + theta;
        const double q = ((gamma - best.slope) + gamma) + now.slope;
        const double cubic = best.step + p / q * reach;
        const double chord = (best.value - now.value) / reach + best.slope;
        const double square = best.step + best.slope / chord / 2.0 * reach;
        const bool nearer = std::fabs(cubic - best.step) <= std::fabs(square - best.step);
        return nearer ? cubic : cubic + (square - cubic) / 2.0;
    }

    double turned(const Place& now) const {
        const double theta = third(best, now);
        double gamma = cubic_root(theta, best.slope, now.slope, false);
        if (now.step > best.step) gamma = -gamma;
        const double p = (gamma - now.slope) + theta;
        const double q = ((gamma - now.slope) + gamma) + best.slope;
        const double cubic = now.step + p / q * (best.step - now.step), secant = secant_of(now);
        return std::fabs(cubic - now.step) > std::fabs(secant - now.step) ? cubic : secant;
    }

    double flatter(const Place& now) const {
        const double theta = third(best, now);
        double gamma = cubic_root(theta, best.slope, now.slope, true);
        if (now.step > best.step) gamma = -gamma;
        const double p = (gamma - now.slope) + theta;
        const double r = p / ((gamma + (best.slope - now.slope)) + gamma);
        double cubic = now.step > best.step ? most : least;
        if (r < 0.0 && gamma != 0.0) cubic = now.step + r * (best.step - now.step);
        const double secant = secant_of(now);
        const bool nearer = std::fabs(cubic - now.step) < std::fabs(secant - now.step);
        if (!bracketed) {
            const bool farther = std::fabs(cubic - now.step) > std::fabs(secant - now.step);
            return std::max(least, std::min(most, farther ? cubic : secant));
        }
        const double next = nearer ? cubic : secant;
        const double bound = now.step + 0.66 * (other.step - now.step);
        return now.step > best.step ? std::min(bound, next) : std::max(bound, next);
    }

    double steeper(const Place& now) const {
        if (!bracketed) return now.step > best.step ? most : least;
        const double theta = 3.0 * (now.value - other.value) / (other.step - now.step) +
                             other.slope + now.slope;
        double gamma = cubic_root(theta, other.slope, now.slope, false);
        if (now.step > other.step) gamma = -gamma;
        const double p = (gamma - now.slope) + theta;
        const double q = ((gamma - now.slope) + gamma) + other.slope;
        return now.step + p / q * (other.step - now.step);
    }

    double secant_of(const Place& now) const {
        return now.step + now.slope / (now.slope - best.slope) * (best.step - now.step);
    }
};

}  // namespace lbfgs

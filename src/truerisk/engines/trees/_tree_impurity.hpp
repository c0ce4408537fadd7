// Impurity of a node and of its two sides, while rows go over to the left one by one.
//
// Weights and targets are whole numbers. Sums of them and of their squares are exact in doubles, so
// the order of the rows does not matter and they may be updated; what rounds (quotients, logarithms, the weighing
// of the two sides) is computed in scikit-learn's order of operations.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tree {

// What each row of the table is in the current sample: its class or its target, a whole number, and
// how many times it came.
struct Sample {
    const std::int32_t* code;
    const double* target;
    const double* times;
};

class Classes {
public:
    Classes(Sample sample, std::size_t n_classes)
        : sample_(sample), total_(n_classes), left_(n_classes) {}

    const std::vector<double>& totals() const { return total_; }
    double whole() const { return whole_; }
    double left() const { return n_left_; }
    double right() const { return whole_ - n_left_; }

    // What some rows add up to: their number, and that of each class.
    std::size_t tally_size() const { return total_.size() + 1; }

    void add(double* tally, std::uint32_t row) const {
        tally[0] += sample_.times[row];
        tally[1 + code(row)] += sample_.times[row];
    }

protected:
    // The rows of a tally are those on the left.
    void take(const double* tally) {
        n_left_ = tally[0];
        std::copy_n(tally + 1, left_.size(), left_.begin());
    }

    void sum_up(const std::uint32_t* rows, std::size_t n) {
        std::fill(total_.begin(), total_.end(), 0.0);
        whole_ = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            total_[code(rows[i])] += sample_.times[rows[i]];
            whole_ += sample_.times[rows[i]];
        }
    }

    std::size_t code(std::uint32_t row) const {
        return static_cast<std::size_t>(sample_.code[row]);
    }

    Sample sample_;
    std::vector<double> total_, left_;
    double whole_ = 0.0, n_left_ = 0.0;
};

// Gini's: 1 − Σ (n_k / n)². Squares of counts change by w (2 n_k ± w) when w rows move.
class Gini : public Classes {
public:
    using Classes::Classes;

    void node(const std::uint32_t* rows, std::size_t n) {
        sum_up(rows, n);
        squares_ = 0.0;
        for (const double count : total_) squares_ += count * count;
        reset();
    }

    void reset() {
        std::fill(left_.begin(), left_.end(), 0.0);
        n_left_ = left_squares_ = 0.0;
        right_squares_ = squares_;
    }

    void move(std::uint32_t row) {
        const double w = sample_.times[row];
        double& here = left_[code(row)];
        const double there = total_[code(row)] - here;
        left_squares_ += w * (here + here + w);
        right_squares_ -= w * (there + there - w);
        here += w;
        n_left_ += w;
    }

    void divide(const double* tally) {
        take(tally);
        left_squares_ = right_squares_ = 0.0;
        for (std::size_t k = 0; k < total_.size(); ++k) {
            const double here = left_[k], there = total_[k] - here;
            left_squares_ += here * here;
            right_squares_ += there * there;
        }
    }

    double impurity() const { return of(squares_, whole_); }
    double left_impurity() const { return of(left_squares_, n_left_); }
    double right_impurity() const { return of(right_squares_, right()); }
    double gain() const { return -right() * right_impurity() - left() * left_impurity(); }

private:
    static double of(double squares, double n) { return 1.0 - squares / (n * n); }

    double squares_ = 0.0, left_squares_ = 0.0, right_squares_ = 0.0;
};

// Shannon's entropy in bits: −Σ (n_k / n) log₂ (n_k / n).
class Entropy : public Classes {
public:
    using Classes::Classes;

    void node(const std::uint32_t* rows, std::size_t n) {
        sum_up(rows, n);
        reset();
    }

    void reset() {
        std::fill(left_.begin(), left_.end(), 0.0);
        n_left_ = 0.0;
    }

    void move(std::uint32_t row) {
        left_[code(row)] += sample_.times[row];
        n_left_ += sample_.times[row];
    }

    void divide(const double* tally) { take(tally); }

    double impurity() const {
        return of(whole_, [this](std::size_t k) { return total_[k]; });
    }
    double left_impurity() const {
        return of(n_left_, [this](std::size_t k) { return left_[k]; });
    }
    double right_impurity() const {
        return of(right(), [this](std::size_t k) { return total_[k] - left_[k]; });
    }
    double gain() const { return -right() * right_impurity() - left() * left_impurity(); }

private:
    template <typename Count>
    double of(double n, Count count) const {
        double bits = 0.0;
        for (std::size_t k = 0; k < total_.size(); ++k) {
            double share = count(k);
            if (share > 0.0) {
                share /= n;
                bits -= share * (std::log(share) / std::log(2.0));
            }
        }
        return bits;
    }
};

// The variance of the targets: the mean of squares less the square of the mean.
class Squares {
public:
    Squares(Sample sample, std::size_t) : sample_(sample), total_(1) {}

    // The sum of the targets, in the place of the rows of each class.
    const std::vector<double>& totals() const { return total_; }
    double whole() const { return whole_; }
    double left() const { return n_left_; }
    double right() const { return whole_ - n_left_; }

    void node(const std::uint32_t* rows, std::size_t n) {
        total_[0] = whole_ = squares_ = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            const double y = sample_.target[rows[i]], weighted = sample_.times[rows[i]] * y;
            total_[0] += weighted;
            squares_ += weighted * y;
            whole_ += sample_.times[rows[i]];
        }
        reset();
    }

    void reset() { n_left_ = sum_left_ = left_squares_ = 0.0; }

    void move(std::uint32_t row) {
        const double y = sample_.target[row], weighted = sample_.times[row] * y;
        sum_left_ += weighted;
        left_squares_ += weighted * y;
        n_left_ += sample_.times[row];
    }

    // What some rows add up to: their number, their targets and the squares of these.
    std::size_t tally_size() const { return 3; }

    void add(double* tally, std::uint32_t row) const {
        const double y = sample_.target[row], weighted = sample_.times[row] * y;
        tally[0] += sample_.times[row];
        tally[1] += weighted;
        tally[2] += weighted * y;
    }

    void divide(const double* tally) {
        n_left_ = tally[0];
        sum_left_ = tally[1];
        left_squares_ = tally[2];
    }

    double impurity() const { return of(squares_, total_[0], whole_); }
    double left_impurity() const { return of(left_squares_, sum_left_, n_left_); }
    double right_impurity() const {
        return of(squares_ - left_squares_, total_[0] - sum_left_, right());
    }
    double gain() const {
        const double sum_right = total_[0] - sum_left_;
        return sum_left_ * sum_left_ / n_left_ + sum_right * sum_right / right();
    }

private:
    static double of(double squares, double sum, double n) {
        const double mean = sum / n;
        return squares / n - mean * mean;
    }

    Sample sample_;
    std::vector<double> total_;
    double whole_ = 0.0, n_left_ = 0.0;
    double squares_ = 0.0, sum_left_ = 0.0, left_squares_ = 0.0;
};

}  // namespace tree

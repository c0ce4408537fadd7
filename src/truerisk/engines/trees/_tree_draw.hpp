// The order in which a node tries its columns: scikit-learn's draws, number for number.
//
// Columns found constant in a node are constant below it. They stand first, in the order in which
// they were found on the way from the root, so that every node of a subtree starts from the same
// prefix whatever its siblings did; what stands behind it is what the last node left there.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace tree {

// Marsaglia's xorshift of 32 bits (2003), cut to 31.
class Xorshift {
public:
    void seed(std::uint32_t value) { state_ = value; }

    std::size_t below(std::size_t bound) {
        if (state_ == 0) state_ = 1;
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return (state_ & 0x7fffffffU) % bound;
    }

private:
    std::uint32_t state_ = 1;
};

class Draw {
public:
    explicit Draw(std::size_t n_columns) : order_(n_columns), constant_(n_columns) {}

    void start_tree(std::uint32_t seed) {
        random_.seed(seed);
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }

    // `known` columns were constant above; at most `wanted` are tried, but one that varies at least.
    void start_node(std::size_t known, std::size_t wanted) {
        known_ = constants_ = known;
        wanted_ = wanted;
        known_drawn_ = n_drawn_ = 0;
        end_ = order_.size();
    }

    // The next column to look at; false when there is none. `constant` or `varies` must follow.
    bool next(std::size_t& column) {
        while (end_ > constants_ && (n_drawn_ < wanted_ || n_drawn_ <= known_drawn_ + found())) {
            ++n_drawn_;
            const std::size_t place = known_drawn_ + random_.below(end_ - found() - known_drawn_);
            if (place < known_) {
                std::swap(order_[known_drawn_++], order_[place]);
                continue;
            }
            place_ = place + found();
            column = order_[place_];
            return true;
        }
        return false;
    }

    void constant() { std::swap(order_[place_], order_[constants_++]); }
    void varies() { std::swap(order_[place_], order_[--end_]); }

    // Keep what was found for the nodes below; returns how many columns are constant there.
    std::size_t end_node() {
        std::copy_n(constant_.begin(), known_, order_.begin());
        std::copy_n(&order_[0] + known_, found(), &constant_[0] + known_);
        return constants_;
    }

    // The columns that are not known to be constant, from `end_node()` on.
    const std::vector<std::size_t>& order() const { return order_; }

private:
    std::size_t found() const { return constants_ - known_; }

    Xorshift random_;
    std::vector<std::size_t> order_, constant_;
    std::size_t known_ = 0, constants_ = 0, known_drawn_ = 0, n_drawn_ = 0;
    std::size_t wanted_ = 0, end_ = 0, place_ = 0;
};

}  // namespace tree

// The chain of groups on a line, and what lies ahead of, behind and through each of its states.
//
// The line is a chain of groups (rows with equal x), from left to right; wrong[g][a] counts the rows
// of group g that label a gets wrong. A state (a, j) says: this group has label a and lies in the
// j-th interval. Among functions with equally few errors the one with fewest intervals is taken, then
// the one that stays longer in its first interval, then in its second ..., then the one that starts
// with label 0.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace intervals {

using Count = std::int64_t;
constexpr Count never = Count{1} << 60;  // more errors than any data hold; two of them still add up

using Row = std::vector<Count>;

struct Chain {
    const Count* wrong;
    std::size_t n_groups;
    std::size_t most;  // intervals that are worth counting

    Count cost(std::size_t g, std::size_t a) const { return wrong[2 * g + a]; }
    std::size_t n_states() const { return 2 * (most + 1); }
    std::size_t state(std::size_t a, std::size_t j) const { return a * (most + 1) + j; }
};

// With one interval per run of the groups' majorities no error is left to save; changing one group
// can add two runs. More intervals than that change nothing.
inline std::size_t worth_counting(const Count* wrong, std::size_t n_groups, std::size_t asked) {
    std::size_t runs = 1;
    int last = -1;
    for (std::size_t g = 0; g < n_groups; ++g) {
        const Count balance = wrong[2 * g] - wrong[2 * g + 1];
        if (balance == 0) continue;
        const int majority = balance > 0;
        if (last >= 0 && majority != last) ++runs;
        last = majority;
    }
    return std::min(asked, std::min(n_groups, runs + 2));
}

// What lies right of each group, if the group has label a and r intervals remain with its own.
class Ahead {
  public:
    explicit Ahead(const Chain& chain)
        : chain_(chain), n_(chain.n_states()), errors_(chain.n_groups * n_, never),
          stays_(chain.n_groups * n_, 1), longer_(chain.n_groups * (chain.most + 1), 0) {
        errors_[(chain.n_groups - 1) * n_ + chain.state(0, 1)] = 0;
        errors_[(chain.n_groups - 1) * n_ + chain.state(1, 1)] = 0;
        for (std::size_t g = chain.n_groups - 1; g-- > 0;) step(g);
    }

    Count errors(std::size_t g, std::size_t a, std::size_t r) const {
        return errors_[g * n_ + chain_.state(a, r)];
    }
    bool stays(std::size_t g, std::size_t a, std::size_t r) const {
        return stays_[g * n_ + chain_.state(a, r)] != 0;
    }
    // Which label's best way on stays longer where the two first differ: 1, 0, or -1 for neither.
    int longer(std::size_t g, std::size_t r) const {
        const int sign = longer_[g * (chain_.most + 1) + r];
        return sign == 0 ? -1 : sign < 0;
    }

  private:
    void step(std::size_t g) {
        for (std::size_t r = 1; r <= chain_.most; ++r) {
            bool staying[2];
            for (std::size_t a = 0; a < 2; ++a) {
                const Count stay = errors(g + 1, a, r) + chain_.cost(g + 1, a);
                const Count change = errors(g + 1, 1 - a, r - 1) + chain_.cost(g + 1, 1 - a);
                staying[a] = stay <= change;
                errors_[g * n_ + chain_.state(a, r)] = std::min(never, std::min(stay, change));
                stays_[g * n_ + chain_.state(a, r)] = staying[a];
            }
            longer_[g * (chain_.most + 1) + r] = sign(g, r, staying);
        }
    }

    // 1: label 0 stays longer, -1: label 1 does. Both change: each goes on as the other label.
    std::int8_t sign(std::size_t g, std::size_t r, const bool* staying) const {
        if (staying[0] != staying[1]) return staying[0] ? 1 : -1;
        const std::size_t width = chain_.most + 1;
        if (staying[0]) return longer_[(g + 1) * width + r];
        return static_cast<std::int8_t>(-longer_[(g + 1) * width + r - 1]);
    }

    Chain chain_;
    std::size_t n_;
    Row errors_;
    std::vector<char> stays_;
    std::vector<std::int8_t> longer_;
};

// What lies left of a group, kept for one group at a time and moved on to the next.
//
// `rank` orders the ways to all states of the group by their ends of intervals, later ends first; a
// way with fewer ends counts as ending later, since its next end lies further on. Moving on keeps
// this order, staying before changing: a new end is later than all ends there are.
class Behind {
  public:
    explicit Behind(const Chain& chain)
        : errors(chain.n_states(), never), rank(chain.n_states(), 0), chain_(chain) {
        errors[chain.state(0, 1)] = errors[chain.state(1, 1)] = 0;
    }

    void move_past(std::size_t g) {
        Row next(errors.size(), never);
        std::vector<std::size_t> place(errors.size(), 0);
        for (std::size_t a = 0; a < 2; ++a) {
            for (std::size_t j = 1; j <= chain_.most; ++j) {
                const std::size_t same = chain_.state(a, j), other = chain_.state(1 - a, j - 1);
                const Count stay = errors[same] + chain_.cost(g, a);
                const Count change = errors[other] + chain_.cost(g, 1 - a);
                const bool staying = stay < change || (stay == change && rank[same] < rank[other]);
                next[same] = std::min(never, staying ? stay : change);
                place[same] = staying ? 2 * rank[same] : 2 * rank[other] + 1;
            }
        }
        errors.swap(next);
        close_up(place);
    }

    Row errors;
    std::vector<std::size_t> rank;

  private:
    // The places as ranks 0, 1, 2 ..., equal ones equal, so that they stay small.
    void close_up(const std::vector<std::size_t>& place) {
        std::vector<std::size_t> number(2 * place.size() + 2, 0);
        for (std::size_t s = 0; s < place.size(); ++s)
            if (errors[s] < never) number[place[s] + 1] = 1;
        for (std::size_t p = 1; p < number.size(); ++p) number[p] += number[p - 1];
        for (std::size_t s = 0; s < place.size(); ++s)
            rank[s] = errors[s] < never ? number[place[s]] : 0;
    }

    Chain chain_;
};

// For one group: least errors of all others with exactly m intervals if the group has label a, and
// in which interval of these the group then lies.
struct Through {
    explicit Through(const Chain& chain)
        : errors{Row(chain.most + 1), Row(chain.most + 1)},
          at{std::vector<std::size_t>(chain.most + 1), std::vector<std::size_t>(chain.most + 1)} {}

    void set(const Chain& chain, const Behind& behind, const Ahead& ahead, std::size_t g) {
        for (std::size_t a = 0; a < 2; ++a)
            for (std::size_t m = 1; m <= chain.most; ++m) {
                Count least = 2 * never;
                std::size_t place = 1;
                for (std::size_t j = 1; j <= m; ++j) {
                    const std::size_t s = chain.state(a, j);
                    const Count total = behind.errors[s] + ahead.errors(g, a, m + 1 - j);
                    if (total < least ||
                        (total == least && total < never &&
                         behind.rank[s] < behind.rank[chain.state(a, place)])) {
                        least = total;
                        place = j;
                    }
                }
                errors[a][m] = std::min(never, least);
                at[a][m] = place;
            }
    }

    Row errors[2];
    std::vector<std::size_t> at[2];
};

}  // namespace intervals

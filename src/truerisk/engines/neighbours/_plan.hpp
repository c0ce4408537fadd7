// A plan as plan/plan.py codes it, and which rows each of its fits sees.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plan {

struct Pool {
    const std::int32_t* rows;
    const std::int64_t* offsets;
    const std::int32_t* counts;  // nullptr: each row once
};

struct Sets {
    const std::int32_t* base;
    const std::int32_t* minus;
    const std::int64_t* offsets;
};

constexpr std::int32_t ALL = -1;

template <typename Visit>
void each_row(const Pool& pool, std::int32_t block, Visit visit) {
    for (std::int64_t j = pool.offsets[block]; j < pool.offsets[block + 1]; ++j)
        visit(pool.rows[j], pool.counts ? pool.counts[j] : 1);
}

template <typename Visit>
void each_minus(const Sets& sets, const Pool& pool, std::int64_t set, Visit visit) {
    for (std::int64_t j = sets.offsets[set]; j < sets.offsets[set + 1]; ++j)
        each_row(pool, sets.minus[j], visit);
}

// How often each row stands in the current train set. Fits that follow each other often lack the
// same blocks (the outer fold of nested plans), so only what changes is entered and taken back.
class Seen {
  public:
    explicit Seen(std::size_t n) : every_(n, 1), none_(n, 0), lacking_(n, 0) {
        all_ = static_cast<std::int64_t>(n);
    }

    void enter(const Sets& train, const Pool& pool, std::int64_t fit) {
        const std::int32_t base = train.base[fit];
        const std::int32_t* const first = train.minus + train.offsets[fit];
        const std::int32_t* const last = train.minus + train.offsets[fit + 1];
        if (base == ALL) {
            lack(pool, first, last);
            current_ = every_.data();
            total_ = all_;
            return;
        }
        current_ = none_.data();
        total_ = 0;
        each_row(pool, base, [this](std::int32_t row, std::int32_t count) {
            none_[at(row)] = count;
            total_ += count;
        });
        for (const std::int32_t* block = first; block != last; ++block)
            each_row(pool, *block, [this](std::int32_t row, std::int32_t) {
                total_ -= none_[at(row)];
                none_[at(row)] = 0;
            });
    }

    void leave(const Sets& train, const Pool& pool, std::int64_t fit) {
        if (train.base[fit] != ALL)
            each_row(pool, train.base[fit], [this](std::int32_t row, std::int32_t) { none_[at(row)] = 0; });
    }

    std::int32_t operator[](std::int32_t row) const { return current_[row]; }
    std::int64_t total() const { return total_; }

  private:
    static std::size_t at(std::int32_t row) { return static_cast<std::size_t>(row); }

    // From the blocks that the last such fit lacked to those that this one lacks. Blocks overlap.
    void lack(const Pool& pool, const std::int32_t* first, const std::int32_t* last) {
        for (const std::int32_t block : lacked_)
            if (std::find(first, last, block) == last)
                each_row(pool, block, [this](std::int32_t row, std::int32_t) {
                    if (--lacking_[at(row)] > 0) return;
                    every_[at(row)] = 1;
                    ++all_;
                });
        for (const std::int32_t* block = first; block != last; ++block)
            if (std::find(lacked_.begin(), lacked_.end(), *block) == lacked_.end())
                each_row(pool, *block, [this](std::int32_t row, std::int32_t) {
                    if (lacking_[at(row)]++ > 0) return;
                    every_[at(row)] = 0;
                    --all_;
                });
        lacked_.assign(first, last);
    }

    std::vector<std::int32_t> every_, none_, lacking_, lacked_;
    std::int32_t* current_ = nullptr;
    std::int64_t total_ = 0, all_ = 0;
};

}  // namespace plan

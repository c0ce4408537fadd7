// The distinct contents of a column's cells, numbered as they first appear.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "_cells_grammar.hpp"

namespace cells {

struct Word {
    const Byte* at;
    std::uint64_t head;  // the first eight bytes, or what there is of them
    std::uint32_t length, hash, count, first;  // `first`: the row in which it first stands

    bool same(const Word& other) const {
        return hash == other.hash && length == other.length && head == other.head &&
               (length <= 8 || std::memcmp(at + 8, other.at + 8, length - 8) == 0);
    }
};

// The first `length` < 8 bytes as a number; others may be loaded, and do not count.
inline std::uint64_t few_bytes(const Byte* at, std::size_t length) {
#if defined(CELLS_EIGHT_AT_A_TIME)
    return eight_bytes(at) & ((std::uint64_t{1} << 8 * length) - 1);
#else
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at, length);
    return bytes;
#endif
}

// The seed makes hashes that nobody can choose a file for; what is found does not depend on it.
inline std::uint32_t hashed(const Byte* at, std::size_t length, std::uint64_t seed) {
    constexpr std::uint64_t MIX = 0x9E3779B97F4A7C15ULL;
    std::uint64_t h = seed ^ (length * MIX);
    const auto stir = [&](std::uint64_t bytes) {
        h = (h ^ bytes) * MIX;
        h ^= h >> 29;
        h = (h + seed) * 0xBF58476D1CE4E5B9ULL;
        h ^= h >> 32;
    };
    for (; length >= 8; at += 8, length -= 8) stir(eight_bytes(at));
    stir(few_bytes(at, length));
    return static_cast<std::uint32_t>(h);
}

class Words {
public:
    explicit Words(std::uint64_t seed) : seed_(seed), table_(16, -1) {}
    Words(Words&&) = default;
    Words& operator=(Words&&) = default;

    const std::vector<Word>& all() const { return words_; }

    // The number of this content, which another `count` cells have; new ones are kept where they lie.
    std::int32_t add(const Byte* at, std::size_t length, std::uint32_t first) {
        const std::uint64_t head = length < 8 ? few_bytes(at, length) : eight_bytes(at);
        const auto n = static_cast<std::uint32_t>(length);
        return add(Word{at, head, n, hashed(at, length, seed_), 1, first});
    }

    std::int32_t add(const Word& word) {
        std::size_t slot = word.hash & (table_.size() - 1);
        for (std::int32_t code = table_[slot]; code >= 0; code = table_[slot]) {
            Word& known = words_[static_cast<std::size_t>(code)];
            if (known.same(word)) {
                known.count += word.count;
                return code;
            }
            slot = (slot + 1) & (table_.size() - 1);
        }
        const auto code = static_cast<std::int32_t>(words_.size());
        table_[slot] = code;
        words_.push_back(word);
        if (2 * words_.size() > table_.size()) grow();
        return code;
    }

    // A cell with doubled quotes is no piece of the text: where it is new, a copy of it is kept.
    std::int32_t add_undoubled(const Cell& cell, std::uint32_t first) {
        auto bare = std::make_unique<Byte[]>(cell.length() + PADDING);
        Byte* to = bare.get();
        for (const Byte* c = cell.from; c < cell.to; ++c) {
            c += *c == '"';
            *to++ = *c;
        }
        const std::size_t before = words_.size();
        const std::int32_t code = add(bare.get(), cell.length(), first);
        if (words_.size() > before) copies_.push_back(std::move(bare));
        return code;
    }

private:
    void grow() {  // open addressing; a power of two, at most half full
        table_.assign(2 * table_.size(), -1);
        for (std::size_t code = 0; code < words_.size(); ++code) {
            std::size_t slot = words_[code].hash & (table_.size() - 1);
            while (table_[slot] >= 0) slot = (slot + 1) & (table_.size() - 1);
            table_[slot] = static_cast<std::int32_t>(code);
        }
    }

    std::uint64_t seed_;
    std::vector<std::int32_t> table_;
    std::vector<Word> words_;
    std::vector<std::unique_ptr<Byte[]>> copies_;
};

}  // namespace cells

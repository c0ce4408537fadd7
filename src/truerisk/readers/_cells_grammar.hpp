// Where cells, rows and lines of delimited text begin and end: the grammar of Python's csv module
// with strict=True.
//
// The text is followed by zeros (PADDING of them), so that its end is seen like the end of a cell,
// and words of eight bytes may be loaded that reach beyond it. A zero inside the text ends a cell
// too, which nothing that may follow a cell then follows: such a text is not cut.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define CELLS_EIGHT_AT_A_TIME 1
#endif

namespace cells {

using Byte = std::uint8_t;

constexpr std::size_t PADDING = 16;
constexpr std::uint64_t ONES = 0x0101010101010101, HIGH = 0x8080808080808080;

// Eight bytes, the first of them lowest.
inline std::uint64_t eight_bytes(const void* at) {
    std::uint64_t bytes;
    std::memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

inline bool ends_line(Byte c) { return c == '\n' || c == '\r'; }

struct Grammar {
    Byte delimiter;
    std::size_t longest;  // the most bytes of a cell
    bool stops[256] = {}, begins_number[256] = {};

    Grammar(Byte between, std::size_t most) : delimiter(between), longest(most) {
        stops[between] = stops['\n'] = stops['\r'] = stops[0] = true;
        for (const char c : "0123456789+-. ") begins_number[static_cast<Byte>(c)] = c != '\0';
    }

    // The first byte from `at` on that ends a cell. Of eight bytes those are looked at that are below
    // 14, as the ends of lines are, or the delimiter; such a mark is right up to the first of them.
    const Byte* stop(const Byte* at) const {
#if defined(CELLS_EIGHT_AT_A_TIME)
        for (;;) {
            const std::uint64_t bytes = eight_bytes(at), other = bytes ^ (ONES * delimiter);
            const std::uint64_t found = (((bytes - 14 * ONES) & ~bytes) | ((other - ONES) & ~other)) & HIGH;
            if (found == 0) {
                at += 8;
                continue;
            }
            at += __builtin_ctzll(found) >> 3;
            if (stops[*at]) return at;
            ++at;
        }
#else
        while (!stops[*at]) ++at;
        return at;
#endif
    }
};

// A cell without its quotes; what stands doubled in it stands so in the text.
struct Cell {
    const Byte* from;
    const Byte* to;
    std::size_t n_doubled;

    std::size_t length() const { return static_cast<std::size_t>(to - from) - n_doubled; }
};

// Reads on from the start of a row; `line` counts as lines end: \r\n, \n and \r.
struct Cursor {
    const Grammar& grammar;
    const Byte* at;
    const Byte* const end;
    std::size_t line;

    void pass_line_end() {
        at += at[0] == '\r' && at[1] == '\n' ? 2 : 1;
        ++line;
    }

    // After the first quote; false where the closing quote lacks, or is followed by text.
    bool pass_quoted(Cell& cell) {
        cell = {at, at, 0};
        for (;; ++at) {
            if (at == end) return false;
            if (*at == '"') {
                if (at[1] != '"') break;
                ++cell.n_doubled;
                ++at;
            } else if (*at == '\n' || (*at == '\r' && at[1] != '\n')) {
                ++line;
            }
        }
        cell.to = at++;
        return grammar.stops[*at];
    }

    void pass_bare(Cell& cell) {
        cell = {at, grammar.stop(at), 0};
        at = cell.to;
    }

    bool pass_cell(Cell& cell) {
        if (*at == '"') {
            ++at;
            if (!pass_quoted(cell)) return false;
        } else {
            pass_bare(cell);
        }
        return cell.length() <= grammar.longest;
    }

    // After a cell: whether another one follows in its row.
    bool pass_delimiter() {
        const bool more = *at == grammar.delimiter;
        at += more;
        return more;
    }

    // After the last cell of a row: false where neither a line nor the text ends here.
    bool pass_row_end() {
        if (at == end) return true;
        if (!ends_line(*at)) return false;
        pass_line_end();
        return true;
    }
};

// Passes rows until one ends at `stop` or behind it, or there are `most`: how many, −1 where the
// text cannot be cut. A blank line is no row.
inline std::int64_t pass_rows(Cursor& cursor, const Byte* stop, std::int64_t most) {
    std::int64_t rows = 0;
    while (cursor.at < stop && rows < most) {
        if (ends_line(*cursor.at)) {
            cursor.pass_line_end();
            continue;
        }
        Cell cell;
        do
            if (!cursor.pass_cell(cell)) return -1;
        while (cursor.pass_delimiter());
        if (!cursor.pass_row_end()) return -1;
        ++rows;
    }
    return rows;
}

// Bytes that decide how a text is to be read, counted in [from, to), which begins with a line.
struct Survey {
    std::int64_t lines = 0, rows = 0, quotes = 0, zeros = 0, foreign = 0;
};

// `rows` are those of a text without quotes: every line that is not blank. `foreign` bytes are none
// of ASCII. The counts of a block fit into bytes, of which a processor adds many at once.
inline Survey survey(const Byte* from, const Byte* to) {
    constexpr std::size_t BLOCK = 240;
    Survey found;
    if (from == to) return found;
    found.rows = !ends_line(*from);
    for (const Byte* at = from; at < to;) {
        const std::size_t n = static_cast<std::size_t>(to - at) < BLOCK
                                  ? static_cast<std::size_t>(to - at) : BLOCK;
        Byte lines = 0, rows = 0, quotes = 0, zeros = 0, foreign = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Byte c = at[i], next = at[i + 1];
            const Byte ended = (c == '\n') | (c == '\r'), ends = (next == '\n') | (next == '\r');
            lines = static_cast<Byte>(lines + ((c == '\n') | ((c == '\r') & (next != '\n'))));
            rows = static_cast<Byte>(rows + (ended & (ends ^ 1)));
            quotes = static_cast<Byte>(quotes + (c == '"'));
            zeros = static_cast<Byte>(zeros + (c == 0));
            foreign = static_cast<Byte>(foreign + (c >> 7));
        }
        found.lines += lines, found.rows += rows, found.quotes += quotes;
        found.zeros += zeros, found.foreign += foreign;
        at += n;
    }
    if (ends_line(to[-1]) && !ends_line(*to)) --found.rows;  // that row starts behind the end
    return found;
}

}  // namespace cells

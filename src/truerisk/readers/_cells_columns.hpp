// The values of a row's cells, each put where its column wants it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "_cells_grammar.hpp"
#include "_cells_numbers.hpp"
#include "_cells_words.hpp"

namespace cells {

// A cell that is no plain number holds, until it is recoded, a NaN that nothing computes, with the
// code of its word in the low half.
constexpr std::uint64_t WORD = 0x7FFC000000000000;

inline double unboxed(double cell, const std::vector<double>& values) {
    std::uint64_t bits;
    std::memcpy(&bits, &cell, sizeof bits);
    return bits >> 32 == WORD >> 32 ? values[static_cast<std::uint32_t>(bits)] : cell;
}

inline double boxed(std::int32_t code) {
    const std::uint64_t bits = WORD | static_cast<std::uint32_t>(code);
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// What a piece says of one column, and where its values go: nowhere if `to` is null.
struct Column {
    Words words;
    bool numbers = true;  // false where every cell is a word
    double* to = nullptr;
    std::size_t step = 0;
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    std::vector<std::int32_t> codes = {};  // of its words among those of all pieces

    explicit Column(std::uint64_t seed) : words(seed) {}

    void keep(double value, std::size_t row) {
        to[row * step] = value;
        if (value < least) least = value;
        if (value > most) most = value;
    }

    void keep(const Cell& cell, std::size_t row) {
        const auto first = static_cast<std::uint32_t>(row);
        to[row * step] = boxed(cell.n_doubled == 0 ? words.add(cell.from, cell.length(), first)
                                                   : words.add_undoubled(cell, first));
    }
};

inline const char* chars(const Byte* at) { return reinterpret_cast<const char*>(at); }

// Reads the next cell; false where the text cannot be cut.
inline bool pass_value(Cursor& cursor, Column& column, std::size_t row) {
    double value = 0.0;
    const bool wanted = column.to != nullptr && column.numbers;
    if (wanted && cursor.grammar.begins_number[*cursor.at]) {
        const char* const behind = pass_number(chars(cursor.at), value);
        if (behind != nullptr) {
            const auto* const next = reinterpret_cast<const Byte*>(behind);
            if (cursor.grammar.stops[*next] && static_cast<std::size_t>(next - cursor.at) <= cursor.grammar.longest) {
                cursor.at = next;
                column.keep(value, row);
                return true;
            }
        }
    }
    Cell cell;
    if (!cursor.pass_cell(cell)) return false;
    if (column.to == nullptr) return true;
    if (wanted && cell.n_doubled == 0 && cursor.grammar.begins_number[*cell.from] &&
        read_number(chars(cell.from), chars(cell.to), value))
        column.keep(value, row);
    else
        column.keep(cell, row);
    return true;
}

// Reads the next row; false where it cannot be cut or has not as many cells as there are columns.
inline bool read_row(Cursor& cursor, std::vector<Column>& columns, std::size_t row) {
    std::size_t j = 0;
    do
        if (j == columns.size() || !pass_value(cursor, columns[j++], row)) return false;
    while (cursor.pass_delimiter());
    return j == columns.size() && cursor.pass_row_end();
}

}  // namespace cells

// Delimited text cut into cells, cells read as numbers, distinct cells counted. Called by cells.py,
// which checks; the grammar is that of Python's csv module with strict=True.

#include <algorithm>
#include <charconv>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;

namespace {

using Byte = std::uint8_t;
using Place = std::uint32_t;
template <typename T, std::size_t dimensions>
using Input = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
template <typename T, std::size_t dimensions>
using Output = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

bool ends_line(Byte c) { return c == '\n' || c == '\r'; }

// Reads one file from its first byte to its last; `line` counts as lines end: \r\n, \n and \r.
struct Reading {
    Byte* const text;
    const std::size_t n;
    const Byte delimiter;
    const std::size_t longest;
    std::size_t at = 0;
    Place line = 1;
    bool stops[256] = {};

    Reading(Byte* bytes, std::size_t n_bytes, Byte between, std::size_t most)
        : text(bytes), n(n_bytes), delimiter(between), longest(most) {
        stops[between] = stops[static_cast<Byte>('\n')] = stops[static_cast<Byte>('\r')] = true;
    }

    void pass_line_end() {
        at += text[at] == '\r' && at + 1 < n && text[at + 1] == '\n' ? 2 : 1;
        ++line;
    }

    // A cell in quotes, after the first of them. What stands doubled stands once afterwards: cells
    // are made shorter where they lie. False where the closing quote lacks, or is followed by text.
    bool pass_quoted(std::size_t& from, std::size_t& to) {
        from = to = at;
        for (;; ++at) {
            if (at == n) return false;
            const Byte c = text[at];
            if (c == '"') {
                if (++at == n || text[at] != '"') return at == n || stops[text[at]];
            } else if (c == '\n' || (c == '\r' && (at + 1 == n || text[at + 1] != '\n'))) {
                ++line;
            }
            text[to++] = c;
        }
    }

    bool pass_cell(std::size_t& from, std::size_t& to) {
        if (at < n && text[at] == '"') {
            ++at;
            if (!pass_quoted(from, to)) return false;
        } else {
            from = at;
            while (at < n && !stops[text[at]]) ++at;
            to = at;
        }
        return to - from <= longest;
    }
};

// Writes where the cells of each row start and end, column by column, and the line of each row; how
// many rows there are. −1 where a row has not as many cells as there are columns, a quote stands
// wrong, a cell is too long or `starts` is full: the csv module then says what is wrong, and where.
std::int64_t cut_cells(Output<Byte, 1> content, Byte delimiter, std::size_t longest,
                       Output<Place, 2> starts, Output<Place, 2> ends, Output<Place, 1> lines) {
    Reading reading(content.data(), content.shape(0), delimiter, longest);
    const std::size_t n_columns = starts.shape(0), capacity = starts.shape(1);
    Place* const first = starts.data();
    Place* const past = ends.data();
    Place* const line_of = lines.data();
    nb::gil_scoped_release no_gil;

    std::size_t row = 0;
    while (reading.at < reading.n) {
        if (ends_line(reading.text[reading.at])) {  // a blank line is no row
            reading.pass_line_end();
            continue;
        }
        if (row == capacity) return -1;
        line_of[row] = reading.line;
        for (std::size_t column = 0;; ++column) {
            std::size_t from = 0, to = 0;
            if (column == n_columns || !reading.pass_cell(from, to)) return -1;
            first[column * capacity + row] = static_cast<Place>(from);
            past[column * capacity + row] = static_cast<Place>(to);
            if (reading.at < reading.n && reading.text[reading.at] == delimiter) {
                ++reading.at;
                continue;
            }
            if (column + 1 != n_columns) return -1;
            break;
        }
        if (reading.at < reading.n) reading.pass_line_end();
        ++row;
    }
    return static_cast<std::int64_t>(row);
}

// No fewer than there are rows: line ends, and one more.
std::int64_t most_lines(Input<Byte, 1> content) {
    const Byte* const text = content.data();
    const std::size_t n = content.shape(0);
    nb::gil_scoped_release no_gil;
    return 1 + std::count_if(text, text + n, [](Byte c) { return c == '\n' || c == '\r'; });
}

constexpr double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int MOST_POWER = 22;                         // the last power of ten that a double holds
constexpr std::uint64_t MOST_WHOLE = 1ULL << 53;       // all integers up to it are doubles
constexpr int MOST_DIGITS = 19;                        // that 64 bits hold for certain
constexpr int MOST_EXPONENT = 9999;                    // beyond, the number is 0 or infinite anyway

#if defined(__SIZEOF_INT128__)
constexpr std::uint64_t TENS[] = {
    1ULL, 10ULL, 100ULL, 1000ULL,
    10000ULL, 100000ULL, 1000000ULL, 10000000ULL,
    100000000ULL, 1000000000ULL, 10000000000ULL, 100000000000ULL,
    1000000000000ULL, 10000000000000ULL, 100000000000000ULL, 1000000000000000ULL,
    10000000000000000ULL, 100000000000000000ULL, 1000000000000000000ULL, 10000000000000000000ULL};

// whole / 10^places, rounded once, for 1 <= places <= 19: both are shifted until their first bit is
// set, so that the quotient has 63 bits or 64; a remainder is kept as its last bit, which is far
// below the 53 that stay. No such number is so small that it would lose bits by the last shift.
double quotient(std::uint64_t whole, int places) {
    if (whole == 0) return 0.0;
    std::uint64_t divisor = TENS[places];
    const int up = __builtin_clzll(whole), down = __builtin_clzll(divisor);
    __extension__ using Wide = unsigned __int128;
    const Wide dividend = static_cast<Wide>(whole << up) << 63;
    divisor <<= down;
    const auto found = static_cast<std::uint64_t>(dividend / divisor);
    const bool rest = dividend != static_cast<Wide>(found) * divisor;
    return std::ldexp(static_cast<double>(found | (rest ? 1 : 0)), down - up - 63);
}
#endif

bool digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The double nearest to the decimal number in [from, to), no sign. False where this cannot be told
// here: Python's float then reads the cell.
bool nearest(const char* from, const char* to, double& value) {
#if defined(__cpp_lib_to_chars)
    const auto [end, error] = std::from_chars(from, to, value);
    return error == std::errc{} && end == to;
#else
    (void)from, (void)to, (void)value;
    return false;
#endif
}

// Reads [+-] digits [. digits] [e [+-] digits], with spaces around it. A mantissa below 2⁵³ and a
// power of ten below 10²³ are doubles, and their product or quotient is rounded once (Clinger 1990).
bool read_number(const char* from, const char* to, double& value) {
    while (from < to && *from == ' ') ++from;
    while (from < to && to[-1] == ' ') --to;
    const bool negative = from < to && *from == '-';
    if (from < to && (*from == '-' || *from == '+')) ++from;
    const char* c = from;
    std::uint64_t whole = 0;
    for (; c < to && digit(*c); ++c) whole = 10 * whole + static_cast<std::uint64_t>(*c - '0');
    std::ptrdiff_t n_digits = c - from, power = 0;
    if (c < to && *c == '.') {
        const char* const point = ++c;
        for (; c < to && digit(*c); ++c) whole = 10 * whole + static_cast<std::uint64_t>(*c - '0');
        power = point - c;
        n_digits -= power;
    }
    if (n_digits == 0) return false;
    if (c < to && (*c == 'e' || *c == 'E')) {
        ++c;
        const bool minus = c < to && *c == '-';
        if (c < to && (*c == '-' || *c == '+')) ++c;
        if (c == to) return false;
        int exponent = 0;
        for (; c < to && digit(*c) && exponent <= MOST_EXPONENT; ++c) exponent = 10 * exponent + (*c - '0');
        power += minus ? -exponent : exponent;
    }
    if (c != to) return false;
#if FLT_EVAL_METHOD == 0
    if (n_digits <= MOST_DIGITS && whole <= MOST_WHOLE && -MOST_POWER <= power && power <= MOST_POWER) {
        const auto mantissa = static_cast<double>(whole);
        value = power < 0 ? mantissa / POWERS[-power] : mantissa * POWERS[power];
    } else
#endif
#if defined(__SIZEOF_INT128__)
    if (n_digits <= MOST_DIGITS && -MOST_DIGITS <= power && power < 0) {
        value = quotient(whole, static_cast<int>(-power));
    } else
#endif
        if (!nearest(from, to, value)) return false;
    if (negative) value = -value;
    return true;
}

// The cells as doubles, NaN where a cell is no plain finite number; how many of these there are.
std::int64_t numbers_of_cells(Input<Byte, 1> content, Input<Place, 1> starts, Input<Place, 1> ends,
                              Output<double, 1> values) {
    const char* const text = reinterpret_cast<const char*>(content.data());
    const Place* const first = starts.data();
    const Place* const past = ends.data();
    double* const out = values.data();
    const std::size_t n = starts.shape(0);
    nb::gil_scoped_release no_gil;
    std::int64_t others = 0;
    for (std::size_t i = 0; i < n; ++i)
        if (!read_number(text + first[i], text + past[i], out[i])) {
            out[i] = std::numeric_limits<double>::quiet_NaN();
            ++others;
        }
    return others;
}

constexpr std::uint64_t MIX = 0x9E3779B97F4A7C15ULL;

std::uint64_t hashed(const Byte* cell, std::size_t length, std::uint64_t seed) {
    std::uint64_t h = seed ^ (length * MIX);
    const auto stir = [&](std::uint64_t word) {
        h = (h ^ word) * MIX;
        h ^= h >> 29;
        h = (h + seed) * 0xBF58476D1CE4E5B9ULL;
        h ^= h >> 32;
    };
    std::uint64_t word = 0;
    for (; length >= sizeof word; cell += sizeof word, length -= sizeof word) {
        std::memcpy(&word, cell, sizeof word);
        stir(word);
    }
    word = 0;
    if (length > 0) std::memcpy(&word, cell, length);
    stir(word);
    return h;
}

// The number of each cell's content in the order in which contents first appear, and the place at
// which each content first stands; how many contents there are. The seed makes hashes that nobody
// can choose a file for; what is found does not depend on it.
std::int64_t distinct_cells(Input<Byte, 1> content, Input<Place, 1> starts, Input<Place, 1> ends,
                            std::uint64_t seed, Output<std::int32_t, 1> codes,
                            Output<std::int32_t, 1> firsts) {
    const Byte* const text = content.data();
    const Place* const first = starts.data();
    const Place* const past = ends.data();
    std::int32_t* const code_of = codes.data();
    std::int32_t* const place_of = firsts.data();
    const std::size_t n = starts.shape(0);
    nb::gil_scoped_release no_gil;

    std::vector<std::int32_t> table(1024, -1);  // open addressing; a power of two, at most half full
    std::vector<std::uint64_t> hashes;
    const auto free_slot = [&](std::uint64_t h) {
        std::size_t slot = h & (table.size() - 1);
        while (table[slot] >= 0) slot = (slot + 1) & (table.size() - 1);
        return slot;
    };
    for (std::size_t i = 0; i < n; ++i) {
        const Byte* const cell = text + first[i];
        const std::size_t length = past[i] - first[i];
        const std::uint64_t h = hashed(cell, length, seed);
        std::size_t slot = h & (table.size() - 1);
        std::int32_t code = table[slot];
        for (; code >= 0; slot = (slot + 1) & (table.size() - 1), code = table[slot]) {
            const auto k = static_cast<std::size_t>(code);
            const auto j = static_cast<std::size_t>(place_of[k]);
            if (hashes[k] == h && past[j] - first[j] == length &&
                std::memcmp(text + first[j], cell, length) == 0)
                break;
        }
        if (code < 0) {
            code = static_cast<std::int32_t>(hashes.size());
            place_of[hashes.size()] = static_cast<std::int32_t>(i);
            hashes.push_back(h);
            table[slot] = code;
            if (2 * hashes.size() > table.size()) {
                table.assign(2 * table.size(), -1);
                for (std::size_t k = 0; k < hashes.size(); ++k)
                    table[free_slot(hashes[k])] = static_cast<std::int32_t>(k);
            }
        }
        code_of[i] = code;
    }
    return static_cast<std::int64_t>(hashes.size());
}

}  // namespace

void register_cells(nb::module_& m) {
    m.def("most_lines", &most_lines, nb::arg("content").noconvert(),
          "No fewer than there are rows.");
    m.def("cut_cells", &cut_cells, nb::arg("content").noconvert(), nb::arg("delimiter"),
          nb::arg("longest"), nb::arg("starts").noconvert(), nb::arg("ends").noconvert(),
          nb::arg("lines").noconvert(), "Write where cells start and end; the number of rows or -1.");
    m.def("numbers_of_cells", &numbers_of_cells, nb::arg("content").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("ends").noconvert(), nb::arg("values").noconvert(),
          "Write the numbers that cells are; how many are none.");
    m.def("distinct_cells", &distinct_cells, nb::arg("content").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("ends").noconvert(), nb::arg("seed"),
          nb::arg("codes").noconvert(), nb::arg("firsts").noconvert(),
          "Write which content each cell has; how many contents there are.");
}

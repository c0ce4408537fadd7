// Cells read as numbers: the doubles of Python's float, to the last bit.

#pragma once

#include <cfloat>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "_cells_grammar.hpp"

namespace cells {

constexpr double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int MOST_POWER = 22;                    // the last power of ten that a double holds
constexpr std::uint64_t MOST_WHOLE = 1ULL << 53;  // all integers up to it are doubles
constexpr int MOST_DIGITS = 19;                   // that 64 bits hold for certain
constexpr int MOST_EXPONENT = 9999;               // beyond, the number is 0 or infinite anyway

constexpr std::uint64_t TENS[] = {
    1ULL, 10ULL, 100ULL, 1000ULL,
    10000ULL, 100000ULL, 1000000ULL, 10000000ULL,
    100000000ULL, 1000000000ULL, 10000000000ULL, 100000000000ULL,
    1000000000000ULL, 10000000000000ULL, 100000000000000ULL, 1000000000000000ULL,
    10000000000000000ULL, 100000000000000000ULL, 1000000000000000000ULL, 10000000000000000000ULL};

#if defined(__SIZEOF_INT128__)
// whole / 10^places, rounded once, for 1 <= places <= 19: both are shifted until their first bit is
// set, so that the quotient has 63 bits or 64; a remainder is kept as its last bit, which is far
// below the 53 that stay. The power of two by which it is then multiplied is no smaller than 2^-126,
// and no bits are lost.
inline double quotient(std::uint64_t whole, int places) {
    if (whole == 0) return 0.0;
    std::uint64_t divisor = TENS[places];
    const int up = __builtin_clzll(whole), down = __builtin_clzll(divisor);
    __extension__ using Wide = unsigned __int128;
    const Wide dividend = static_cast<Wide>(whole << up) << 63;
    divisor <<= down;
    const auto found = static_cast<std::uint64_t>(dividend / divisor);
    const bool rest = dividend != static_cast<Wide>(found) * divisor;
    const auto exponent = static_cast<std::uint64_t>(1023 + down - up - 63) << 52;
    double scale;
    std::memcpy(&scale, &exponent, sizeof scale);
    return static_cast<double>(found | (rest ? 1 : 0)) * scale;
}
#endif

inline bool digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// whole · 10^power, where n_digits of it are in `whole`. A mantissa below 2⁵³ and a power of ten
// below 10²³ are doubles, and their product or quotient is rounded once (Clinger 1990).
inline bool scaled(std::uint64_t whole, std::ptrdiff_t n_digits, std::ptrdiff_t power, double& value) {
    if (n_digits > MOST_DIGITS) return false;
#if FLT_EVAL_METHOD == 0
    if (whole <= MOST_WHOLE && -MOST_POWER <= power && power <= MOST_POWER) {
        const auto mantissa = static_cast<double>(whole);
        value = power < 0 ? mantissa / POWERS[-power] : mantissa * POWERS[power];
        return true;
    }
#endif
#if defined(__SIZEOF_INT128__)
    if (-MOST_DIGITS <= power && power < 0) {
        value = quotient(whole, static_cast<int>(-power));
        return true;
    }
#endif
    return false;
}

// The double nearest to the decimal number in [from, to), no sign. False where this cannot be told
// here: Python's float then reads the cell.
inline bool nearest(const char* from, const char* to, double& value) {
#if defined(__cpp_lib_to_chars)
    const auto [end, error] = std::from_chars(from, to, value);
    return error == std::errc{} && end == to;
#else
    (void)from, (void)to, (void)value;
    return false;
#endif
}

// Reads [+-] digits [. digits] [e [+-] digits], with spaces around it.
inline bool read_number(const char* from, const char* to, double& value) {
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
    if (!scaled(whole, n_digits, power, value) && !nearest(from, to, value)) return false;
    if (negative) value = -value;
    return true;
}

#if defined(CELLS_EIGHT_AT_A_TIME)
// How many of eight bytes are below ten before the first that is not, and their number as digits.
// The bytes come as `text XOR "00000000"`; those behind the digits are pushed out, zeros in front.
inline int leading_digits(std::uint64_t bytes, std::uint64_t& number) {
    constexpr std::uint64_t PAIR = 0x000000FF000000FF;
    const std::uint64_t over = (bytes | ((bytes & ~HIGH) + 0x76 * ONES)) & HIGH;
    const int n = over == 0 ? 8 : __builtin_ctzll(over) >> 3;
    if (n == 0) {
        number = 0;
        return 0;
    }
    bytes <<= 64 - 8 * n;
    bytes = bytes * 10 + (bytes >> 8);
    number = ((bytes & PAIR) * 0x000F424000000064 + (bytes >> 16 & PAIR) * 0x0000271000000001) >> 32;
    return n;
}
#endif

// The digits from `c` on are appended to `whole`; the place behind them. 64 bits overflow where there
// are more than MOST_DIGITS, which the caller sees by their number. Loads eight bytes from any place.
inline const char* pass_digits(const char* c, std::uint64_t& whole) {
#if defined(CELLS_EIGHT_AT_A_TIME)
    for (;;) {
        std::uint64_t number;
        const int n = leading_digits(eight_bytes(c) ^ ('0' * ONES), number);
        whole = whole * TENS[n] + number;
        c += n;
        if (n < 8) return c;
    }
#else
    for (; digit(*c); ++c) whole = 10 * whole + static_cast<std::uint64_t>(*c - '0');
    return c;
#endif
}

// Reads [+-] digits [. digits] and is the place behind, or null where there is no such number of at
// most MOST_DIGITS: `read_number` may then read the cell.
inline const char* pass_number(const char* c, double& value) {
    const bool negative = *c == '-';
    c += negative | (*c == '+');
    std::uint64_t whole = 0;
    const char* const first = c;
    c = pass_digits(c, whole);
    std::ptrdiff_t n_digits = c - first, places = 0;
    if (*c == '.') {
        const char* const point = ++c;
        c = pass_digits(c, whole);
        places = c - point;
        n_digits += places;
    }
    if (n_digits == 0 || !scaled(whole, n_digits, -places, value)) return nullptr;
    if (negative) value = -value;
    return c;
}

}  // namespace cells

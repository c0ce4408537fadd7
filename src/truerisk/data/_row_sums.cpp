// Checksums of rows, and whether all cells are finite, in one pass. Called by `sums_of` in rows.py,
// which checks and says what a checksum is.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define ROW_SUMS_AVX2 1
#define ROW_SUMS_INLINE __attribute__((always_inline)) inline
#else
#define ROW_SUMS_INLINE inline
#endif

namespace nb = nanobind;

namespace {

using Word = std::uint64_t;
using Words = nb::ndarray<const Word, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Cells = nb::ndarray<const Word, nb::ndim<2>, nb::device::cpu>;
using Sums = nb::ndarray<Word, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t ROWS = 1024;  // whose sums stay in the first cache
constexpr Word EXPONENT = 0x7FF0000000000000, LEAST = 0x0010000000000000;

// The bits of a cell as they are summed; `high` gets its first bit from an infinity or a NaN, whose
// exponent is all ones.
template <bool real>
ROW_SUMS_INLINE Word folded(Word bits, Word& high) {
    if constexpr (real) {
        double value;
        std::memcpy(&value, &bits, sizeof value);
        value += 0.0;  // −0.0 is 0.0
        std::memcpy(&bits, &value, sizeof value);
        high |= (bits & EXPONENT) + LEAST;
    }
    return bits ^ (bits >> 32);
}

// Some rows side by side: four streams of cells keep the memory busy where one would wait for it.
template <bool real, std::size_t some>
ROW_SUMS_INLINE void beside(const Word* rows, std::size_t p, std::int64_t next, std::int64_t step,
                            const Word* factors, Word* sums, Word& high) {
    Word sum[some] = {}, seen[some] = {};
    for (std::size_t j = 0; j < p; ++j) {
        const Word* const cell = rows + static_cast<std::int64_t>(j) * step;
        for (std::size_t r = 0; r < some; ++r)
            sum[r] += folded<real>(cell[static_cast<std::int64_t>(r) * next], seen[r]) * factors[j];
    }
    for (std::size_t r = 0; r < some; ++r) {
        sums[r] = sum[r];
        high |= seen[r];
    }
}

template <bool real>
ROW_SUMS_INLINE void by_row(const Word* cells, std::size_t n, std::size_t p, std::int64_t next,
                            std::int64_t step, const Word* factors, Word* sums, Word& high) {
    constexpr std::size_t SIDE = 4;
    const auto row = [&](std::size_t i) { return cells + static_cast<std::int64_t>(i) * next; };
    std::size_t i = 0;
    for (; step == 1 && i + SIDE <= n; i += SIDE)
        beside<real, SIDE>(row(i), p, next, 1, factors, sums + i, high);
    for (; step == 1 && i < n; ++i) beside<real, 1>(row(i), p, next, 1, factors, sums + i, high);
    for (; i < n; ++i) beside<real, 1>(row(i), p, next, step, factors, sums + i, high);
}

// Column after column, for a table whose columns lie in one piece.
template <bool real>
ROW_SUMS_INLINE void by_column(const Word* cells, std::size_t n, std::size_t p, std::int64_t step,
                               const Word* factors, Word* sums, Word& high) {
    for (std::size_t first = 0; first < n; first += ROWS) {
        const std::size_t m = std::min(ROWS, n - first);
        Word* const sum = sums + first;
        std::fill(sum, sum + m, Word{0});
        for (std::size_t j = 0; j < p; ++j) {
            const Word* const column = cells + static_cast<std::int64_t>(j) * step + first;
            const Word factor = factors[j];
            Word seen = 0;
            for (std::size_t i = 0; i < m; ++i) sum[i] += folded<real>(column[i], seen) * factor;
            high |= seen;
        }
    }
}

struct Table {
    const Word* cells;
    std::size_t n, p;
    std::int64_t next, step;  // from a row to the next, from a column to the next
    bool real;
};

ROW_SUMS_INLINE Word summed(const Table& t, const Word* factors, Word* sums) {
    Word high = 0;
    const bool columns = t.next == 1 && t.step != 1;
    if (t.real && columns) by_column<true>(t.cells, t.n, t.p, t.step, factors, sums, high);
    else if (t.real) by_row<true>(t.cells, t.n, t.p, t.next, t.step, factors, sums, high);
    else if (columns) by_column<false>(t.cells, t.n, t.p, t.step, factors, sums, high);
    else by_row<false>(t.cells, t.n, t.p, t.next, t.step, factors, sums, high);
    return high;
}

#ifdef ROW_SUMS_AVX2
__attribute__((target("avx2"))) Word summed_avx2(const Table& t, const Word* factors, Word* sums) {
    return summed(t, factors, sums);
}
#endif

// Writes the sums; whether no cell is infinite or NaN.
bool row_sums(Cells cells, bool real, Words factors, Sums sums) {
    const Table table{cells.data(), cells.shape(0), cells.shape(1), cells.stride(0), cells.stride(1), real};
    nb::gil_scoped_release no_gil;
#ifdef ROW_SUMS_AVX2
    if (__builtin_cpu_supports("avx2"))
        return summed_avx2(table, factors.data(), sums.data()) >> 63 == 0;
#endif
    return summed(table, factors.data(), sums.data()) >> 63 == 0;
}

}  // namespace

void register_row_sums(nb::module_& m) {
    m.def("row_sums", &row_sums, nb::arg("cells").noconvert(), nb::arg("real"),
          nb::arg("factors").noconvert(), nb::arg("sums").noconvert(),
          "Write the checksum of every row; whether no cell is infinite or NaN.");
}

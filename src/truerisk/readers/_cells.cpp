// Delimited text read in pieces: numbers to where they are wanted, all else as distinct words. Called
// by delimited_text.py, which checks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "_cells_columns.hpp"
#include "_cells_grammar.hpp"
#include "_cells_words.hpp"

namespace nb = nanobind;

namespace {

using namespace cells;

template <typename T, std::size_t dimensions>
using Input = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
template <typename T, std::size_t dimensions>
using Output = nb::ndarray<T, nb::numpy, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// [start, stop) of the text, which ends before the PADDING zeros of `content`.
struct Piece {
    const Byte* from;
    const Byte* to;
    const Byte* end;

    Piece(const Input<Byte, 1>& content, std::size_t start, std::size_t stop)
        : from(content.data() + start), to(content.data() + stop) {
        if (content.shape(0) < PADDING || start > stop || stop > content.shape(0) - PADDING)
            throw std::invalid_argument("a piece begins and ends within the text");
        end = content.data() + content.shape(0) - PADDING;
        if (std::any_of(end, end + PADDING, [](Byte c) { return c != 0; }))
            throw std::invalid_argument("zeros follow the text");
    }
};

std::vector<std::int64_t> survey_of(Input<Byte, 1> content, std::size_t start, std::size_t stop) {
    const Piece piece(content, start, stop);
    nb::gil_scoped_release no_gil;
    const Survey found = survey(piece.from, piece.to);
    return {found.lines, found.rows, found.quotes, found.zeros, found.foreign};
}

// Where the next line begins that is not in quotes; `quoted` says whether `start` is.
std::size_t next_line(Input<Byte, 1> content, std::size_t start, bool quoted) {
    const Piece piece(content, start, start);
    nb::gil_scoped_release no_gil;
    const Byte* at = piece.from;
    for (; at < piece.end && (quoted || !ends_line(*at)); ++at) quoted ^= *at == '"';
    if (at < piece.end) at += at[0] == '\r' && at[1] == '\n' ? 2 : 1;
    return start + static_cast<std::size_t>(at - piece.from);
}

// How many rows begin in a piece that begins with one, where the last of them ends, and how many
// lines that is; −1 rows where the text cannot be cut.
std::vector<std::int64_t> rows_of(Input<Byte, 1> content, std::size_t start, std::size_t stop,
                                  Byte delimiter, std::size_t longest, std::int64_t most) {
    const Piece piece(content, start, stop);
    const Grammar grammar(delimiter, longest);
    nb::gil_scoped_release no_gil;
    Cursor cursor{grammar, piece.from, piece.end, 0};
    const std::int64_t rows = pass_rows(cursor, piece.to, most);
    const auto passed = static_cast<std::int64_t>(cursor.at - piece.from);
    return {rows, static_cast<std::int64_t>(start) + passed, static_cast<std::int64_t>(cursor.line)};
}

// The rows of one piece of the text. Pieces are read side by side; they share nothing but the arrays,
// of which each writes its own rows.
class Chunk {
public:
    // `places` says where the values of a column go: to that column of `table`, to row −1 − place of
    // `aside`, or nowhere if there is none. Of columns `as_words`, also numbers are words.
    Chunk(Input<Byte, 1> content, Output<double, 2> table, Output<double, 2> aside,
          Input<std::int64_t, 1> places, Input<Byte, 1> as_words, std::uint64_t seed)
        : content_(content), table_(table), aside_(aside),
          capacity_(std::min(table.shape(0), aside.shape(1))) {
        if (places.shape(0) != as_words.shape(0)) throw std::invalid_argument("each column has its place");
        const auto n_kept = static_cast<std::int64_t>(table.shape(1));
        const auto n_aside = static_cast<std::int64_t>(aside.shape(0));
        for (std::size_t j = 0; j < places.shape(0); ++j) {
            Column& column = columns_.emplace_back(seed);
            const std::int64_t place = places.data()[j];
            column.numbers = as_words.data()[j] == 0;
            column.step = place >= 0 ? table.shape(1) : 1;
            if (0 <= place && place < n_kept) column.to = table.data() + place;
            if (-n_aside <= place && place < 0)
                column.to = aside.data() + static_cast<std::size_t>(-1 - place) * aside.shape(1);
        }
    }

    Chunk(const Chunk&) = delete;

    // Reads [start, stop) as rows from `first` to `first` + n_rows, and writes their lines. False
    // where a row has not as many cells as there are columns, a quote stands wrong or a cell is too
    // long: the csv module then says what is wrong, and where.
    bool read(std::size_t start, std::size_t stop, Byte delimiter, std::size_t longest,
              std::size_t first, std::size_t n_rows, std::size_t line, Output<std::uint32_t, 1> lines) {
        const Piece piece(content_, start, stop);
        if (first + n_rows > std::min(capacity_, lines.shape(0)))
            throw std::invalid_argument("each row has its place and its line");
        const Grammar grammar(delimiter, longest);
        std::uint32_t* const line_of = lines.data();
        nb::gil_scoped_release no_gil;
        first_ = first, n_rows_ = n_rows;
        Cursor cursor{grammar, piece.from, piece.end, line};
        std::size_t row = first;
        while (cursor.at < piece.to) {
            if (ends_line(*cursor.at)) {  // a blank line is no row
                cursor.pass_line_end();
                continue;
            }
            if (row == first + n_rows) return false;
            line_of[row] = static_cast<std::uint32_t>(cursor.line);
            if (!read_row(cursor, columns_, row++)) return false;
        }
        return row == first + n_rows && cursor.at == piece.to;
    }

    // Every word of these columns becomes the value of its code, where it lies.
    void recode(const std::vector<std::size_t>& columns, const std::vector<Values>& values) {
        std::vector<std::pair<const Column*, std::vector<double>>> chosen;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const Column& column = columns_.at(columns[i]);
            std::vector<double> local = values_of_words(column, values.at(i));
            if (!local.empty() && column.to != nullptr) chosen.emplace_back(&column, std::move(local));
        }
        nb::gil_scoped_release no_gil;
        for (std::size_t row = first_; row < first_ + n_rows_; ++row)
            for (const auto& [column, local] : chosen) {
                double& cell = column->to[row * column->step];
                cell = unboxed(cell, local);
            }
    }

    // The values of one column, with those of its words, in an array of their own.
    void copy(std::size_t j, const Values& values, Output<double, 1> out) const {
        const Column& column = columns_.at(j);
        const std::vector<double> local = values_of_words(column, values);
        if (column.to == nullptr || first_ + n_rows_ > out.shape(0))
            throw std::invalid_argument("a column that was read is copied to an array of all rows");
        double* const to = out.data();
        nb::gil_scoped_release no_gil;
        for (std::size_t row = first_; row < first_ + n_rows_; ++row)
            to[row] = unboxed(column.to[row * column.step], local);
    }

    Column& column(std::size_t j) { return columns_.at(j); }

    // The least and the most plain number of a column, +inf and −inf if there is none.
    std::tuple<double, double> span(std::size_t j) const {
        return {columns_.at(j).least, columns_.at(j).most};
    }

private:
    static std::vector<double> values_of_words(const Column& column, const Values& values) {
        std::vector<double> local;
        local.reserve(column.codes.size());
        for (const std::int32_t code : column.codes) {
            if (static_cast<std::size_t>(code) >= values.shape(0))
                throw std::invalid_argument("every word has a value");
            local.push_back(values.data()[code]);
        }
        return local;
    }

    Input<Byte, 1> content_;
    Output<double, 2> table_, aside_;
    std::size_t capacity_;  // rows of both arrays
    std::vector<Column> columns_;
    std::size_t first_ = 0, n_rows_ = 0;
};

template <typename T>
nb::object array_of(std::vector<T> values) {
    auto* const held = new std::vector<T>(std::move(values));
    const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(Output<T, 1>(held->data(), {held->size()}, owner));
}

// The words of a column in the order in which they first appear in the text, how many cells have
// each, and in which row it first stands. The chunks come in the order of the text, and forget the
// words: this is asked once.
nb::tuple words_of(const std::vector<Chunk*>& chunks, std::size_t j, std::uint64_t seed) {
    Words all(seed);
    std::vector<std::int64_t> counts, firsts;
    {
        nb::gil_scoped_release no_gil;
        for (Chunk* const chunk : chunks) {
            Column& column = chunk->column(j);
            column.codes.clear();
            for (const Word& word : column.words.all()) column.codes.push_back(all.add(word));
        }
        for (const Word& word : all.all()) {
            counts.push_back(word.count);
            firsts.push_back(word.first);
        }
    }
    nb::list texts;
    for (const Word& word : all.all())
        texts.append(nb::str(reinterpret_cast<const char*>(word.at), word.length));
    for (Chunk* const chunk : chunks) chunk->column(j).words = Words(seed);
    return nb::make_tuple(texts, array_of(std::move(counts)), array_of(std::move(firsts)));
}

}  // namespace

void register_cells(nb::module_& m) {
    m.def("survey_of", &survey_of, nb::arg("content").noconvert(), nb::arg("start"), nb::arg("stop"),
          "Lines, rows if there are no quotes, quotes, zeros and bytes that are not ASCII.");
    m.def("next_line", &next_line, nb::arg("content").noconvert(), nb::arg("start"), nb::arg("quoted"),
          "Where the next line begins that is not in quotes.");
    m.def("rows_of", &rows_of, nb::arg("content").noconvert(), nb::arg("start"), nb::arg("stop"),
          nb::arg("delimiter"), nb::arg("longest"), nb::arg("most"),
          "How many rows begin in a piece, where the last ends, how many lines that is.");
    nb::class_<Chunk>(m, "Chunk")
        .def(nb::init<Input<Byte, 1>, Output<double, 2>, Output<double, 2>, Input<std::int64_t, 1>,
                      Input<Byte, 1>, std::uint64_t>(),
             nb::arg("content").noconvert(), nb::arg("table").noconvert(),
             nb::arg("aside").noconvert(), nb::arg("places").noconvert(),
             nb::arg("as_words").noconvert(), nb::arg("seed"))
        .def("read", &Chunk::read, nb::arg("start"), nb::arg("stop"), nb::arg("delimiter"),
             nb::arg("longest"), nb::arg("first"), nb::arg("n_rows"), nb::arg("line"),
             nb::arg("lines").noconvert())
        .def("recode", &Chunk::recode, nb::arg("columns"), nb::arg("values"))
        .def("copy", &Chunk::copy, nb::arg("column"), nb::arg("values"), nb::arg("out").noconvert())
        .def("span", &Chunk::span, nb::arg("column"));
    m.def("words_of", &words_of, nb::arg("chunks"), nb::arg("column"), nb::arg("seed"),
          "The words of a column, how many cells have each, and the first row of each.");
}

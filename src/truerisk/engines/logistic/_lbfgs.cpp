// Where L-BFGS-B stops on penalised logistic regression. Called by minima.py, which checks.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "_arrays.hpp"
#include "_lbfgs.hpp"
#include "_lbfgs_blocks.hpp"
#include "_lbfgs_table.hpp"

namespace {

using Rowwise = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyOrder = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using lbfgs::AT_ONCE;
using lbfgs::Block;
using lbfgs::Table;
using lbfgs::up_to;
using lbfgs::Vector;

constexpr std::size_t WAYS = 2;  // as the numbers are, and with noise of the size of rounding
constexpr std::size_t DRAWN = 4096;   // numbers of noise
constexpr double HOPELESS = 1e-3;     // ways that far apart, in a linear predictor, do not meet again

// How turned coordinates stand to those of the solver: `rows` directions, one row per column of the
// table as it was, and `size`, the length of its columns' largest cells. The last coordinate of a turned
// table is no direction: it stands for what lies across the rows, where rounding alone moves anything.
struct Turn {
    const double* rows;
    std::size_t p, width;
    double size;
};

// The mean deviance (halved) and λ/2 times the squares of the coefficients. One function for two
// classes, else one per class; coefficients first, the intercept of each function last.
class Problem {
public:
    const Table& table;
    std::size_t functions;
    Vector most;  // what the noise of each component of a gradient is relative to

    Problem(const Table& rows, std::size_t classes, const Turn* turning)
        : table(rows), functions(classes == 2 ? 1 : classes), most(rows.most), turn(turning),
          highest(functions, 0) {
        if (turn) {  // as long in all as the noise of the solver's columns is
            const double each = turn->size / std::sqrt(static_cast<double>(rows.p));
            std::fill(most.begin(), most.end(), each);
        }
    }

    std::size_t size() const { return functions * (table.p + 1); }

    // How far no row's function moves farther when x moves by d.
    double reach(const Vector& d) const {
        double farthest = 0.0;
        for (std::size_t f = 0; f < functions; ++f) {
            const double* const own = d.data() + f * (table.p + 1);
            double sum = 0.0;
            for (std::size_t j = 0; j < table.p; ++j) {
                sum += turn ? own[j] * own[j] : std::fabs(own[j]) * most[j];
            }
            if (turn) sum = std::sqrt(sum) * turn->size;
            farthest = std::max(farthest, sum + std::fabs(own[table.p]));
        }
        return farthest;
    }

    // The size of the gradient's largest component; where it is above `enough`, that of any above it.
    double largest(const Vector& gradient, double enough) const {
        double found = 0.0;
        for (std::size_t f = 0; f < functions; ++f) {
            const double* const own = gradient.data() + f * (table.p + 1);
            found = larger(found, own[table.p]);
            if (!turn) {
                for (std::size_t j = 0; j < table.p; ++j) found = larger(found, own[j]);
                continue;
            }
            found = larger(found, component(own, highest[f]));  // it often stays the largest
            double most_here = 0.0;
            for (std::size_t j = 0; j < turn->p && !(found > enough); ++j) {
                const double here = std::fabs(component(own, j));
                if (here > most_here) {
                    most_here = here;
                    highest[f] = j;
                }
                found = larger(found, here);
            }
        }
        return found;
    }

    // What the rounding of a value is relative to. Of many classes it is a difference of predictors.
    double value_size(const Vector& x, double value) const {
        return functions == 1 ? std::fabs(value) : std::max(std::fabs(value), reach(x));
    }

private:
    const Turn* turn;
    mutable std::vector<std::size_t> highest;  // where each function's gradient was largest

    static double larger(double found, double g) {
        return std::fabs(g) > found || g != g ? std::fabs(g) : found;
    }

    // What a gradient in turned coordinates is in one column of the table as it was.
    double component(const double* own, std::size_t j) const {
        const double* const row = turn->rows + j * turn->width;
        double sums[4] = {};
        std::size_t i = 0;
        for (; i + 4 <= turn->width; i += 4) {
            for (std::size_t k = 0; k < 4; ++k) sums[k] += row[i + k] * own[i + k];
        }
        for (; i < turn->width; ++i) sums[0] += row[i] * own[i];
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
};

// One penalty on both ways, which go side by side. The second stays so near to the first that its
// values follow from those of the first and from how far it is away.
struct Pair {
    std::size_t number;
    double penalty;
    lbfgs::Minimiser<Problem> plain, shaken;

    Pair(std::size_t place, double squares, const Problem& problem, double bound, std::int64_t steps,
         bool turned)
        : number(place), penalty(squares),
          plain(problem, up_to(problem.size(), logistic::BLOCK), bound, steps, lbfgs::Shaking(false)),
          shaken(problem, plain.x.size(), bound, steps, lbfgs::Shaking(true, turned)) {}

    // Whether both have ended, or one does what the other does not.
    bool take(const Problem& problem) {
        plain.take();
        shaken.take();
        if (plain.over || !plain.is_beside(shaken)) return true;
        Vector apart(plain.x);
        for (std::size_t j = 0; j < apart.size(); ++j) apart[j] -= shaken.x[j];
        return !(problem.reach(apart) < HOPELESS);
    }

    // How both ended; in doubt if one did not end as the other did.
    lbfgs::End end() const { return plain.is_beside(shaken) ? plain.outcome.end : lbfgs::DOUBTFUL; }
};

// Values and gradients of all pairs at once: one product of the rows with all vectors, and back.
class Evaluation {
public:
    explicit Evaluation(const Problem& of) : problem(of), table(of.table), noise(DRAWN + AT_ONCE) {
        for (double& each : noise) each = shaking();
        for (Vector* each : {&top, &sum, &mean, &own, &own_moved}) each->assign(AT_ONCE, 0.0);
    }

    void operator()(const std::vector<std::unique_ptr<Pair>>& pairs) {
        begin(pairs);
        for (const Block& block : table.blocks) {
            const logistic::Cells cells = table.cells_of(block);
            for (std::size_t v = 0; v < n; ++v)
                std::fill_n(scores.data() + v * AT_ONCE, block.length, constant[v]);
            logistic::scores(cells, packed.data(), n, scores.data(), AT_ONCE);
            for (std::size_t s = 0; s < table.sparse.size(); ++s) {
                for (std::size_t v = 0; v < n; ++v)
                    block.sparse.add(s, sparse[s * n + v], scores.data() + v * AT_ONCE);
            }
            for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
                if (problem.functions == 1) {
                    of_two(block, pair);
                } else {
                    of_many(block, pair);
                }
            }
            logistic::slopes(cells, scores.data(), AT_ONCE, n, lanes.data());
            for (std::size_t s = 0; s < table.sparse.size(); ++s) {
                for (std::size_t v = 0; v < n; ++v)
                    slopes[s * n + v] += block.sparse.dot(s, scores.data() + v * AT_ONCE);
            }
            for (std::size_t v = 0; v < n; ++v)
                logistic::sums(scores.data() + v * AT_ONCE, block.length, &sums[v], &sizes[v]);
        }
        for (std::size_t pair = 0; pair < pairs.size(); ++pair) finish(*pairs[pair], pair);
    }

private:
    const Problem& problem;
    const Table& table;
    lbfgs::Shaking shaking{true};
    Vector noise;
    std::size_t n = 0;  // vectors: of each pair those of its functions, and their moves
    Vector packed, sparse, constant;  // coefficients (column, vector) of dense and sparse columns
    Vector scores, lanes, slopes, sums, sizes, values, changes, far;
    Vector top, sum, mean, own, own_moved;

    const double* some_noise() {
        const double part = (shaking() / (4 * lbfgs::EPSILON) + 0.5) * (DRAWN - 1);
        return noise.data() + static_cast<std::size_t>(std::fabs(part));
    }

    void begin(const std::vector<std::unique_ptr<Pair>>& pairs) {
        const std::size_t functions = problem.functions, width = table.p + 1;
        n = 2 * functions * pairs.size();
        packed.assign(table.width * n, 0.0);
        sparse.assign(table.sparse.size() * n, 0.0);
        lanes.assign(table.width * n * logistic::WIDTH, 0.0);
        slopes.assign(sparse.size(), 0.0);
        scores.resize(n * AT_ONCE);
        for (Vector* each : {&constant, &sums, &sizes}) each->assign(n, 0.0);
        for (Vector* each : {&values, &changes, &far}) each->assign(pairs.size(), 0.0);
        Vector coefficients(width);
        for (std::size_t v = 0; v < n; ++v) {
            const Pair& pair = *pairs[v / (2 * functions)];
            const std::size_t f = v % (2 * functions);
            const double* const x = pair.plain.x.data() + f % functions * width;
            const double* const y = pair.shaken.x.data() + f % functions * width;
            for (std::size_t j = 0; j < width; ++j) coefficients[j] = f < functions ? x[j] : y[j] - x[j];
            for (std::size_t d = 0; d < table.dense.size(); ++d)
                packed[d * n + v] = coefficients[table.dense[d]];
            for (std::size_t s = 0; s < table.sparse.size(); ++s)
                sparse[s * n + v] = coefficients[table.sparse[s]];
            constant[v] = coefficients[table.p];
        }
        for (std::size_t pair = 0; pair < pairs.size(); ++pair)
            far[pair] = problem.reach(pairs[pair]->plain.x);
    }

    void of_two(const Block& block, std::size_t pair) {
        double* const eta = scores.data() + 2 * pair * AT_ONCE;
        values[pair] += logistic::of_two(table.second.data() + block.first,
                                         table.weight.data() + block.first, some_noise(), far[pair],
                                         eta, eta + AT_ONCE, block.length, &changes[pair]);
    }

    void of_many(const Block& block, std::size_t pair) {
        const std::size_t functions = problem.functions;
        double* const eta = scores.data() + 2 * pair * functions * AT_ONCE;
        double* const moved = eta + functions * AT_ONCE;
        const double* const weight = table.weight.data() + block.first;
        const std::int32_t* const code = table.code.data() + block.first;
        for (std::size_t f = 0; f < functions; ++f)
            logistic::add(moved + f * AT_ONCE, some_noise(), far[pair], block.length);
        for (std::size_t i = 0; i < block.length; ++i) {
            const std::size_t at = static_cast<std::size_t>(code[i]) * AT_ONCE + i;
            own[i] = eta[at];
            own_moved[i] = moved[at];
        }
        logistic::of_many(weight, functions, AT_ONCE, eta, moved, block.length, top.data(),
                          sum.data(), mean.data());
        double value = 0.0, change = 0.0;
        for (std::size_t i = 0; i < block.length; ++i) {
            value += weight[i] * (std::log(sum[i]) + (top[i] - own[i]));
            change += weight[i] * (mean[i] - own_moved[i]);
            eta[static_cast<std::size_t>(code[i]) * AT_ONCE + i] -= weight[i];
        }
        values[pair] += value;
        changes[pair] += change;
        for (std::size_t f = 0; f < functions; ++f)
            logistic::step(moved + f * AT_ONCE, some_noise(), weight, -1.0, 0.0, block.length);
    }

    // The value and the gradient of both ways.
    void finish(Pair& pair, std::size_t place) {
        const std::size_t functions = problem.functions, width = table.p + 1;
        double squares = 0.0, change = changes[place];
        for (std::size_t f = 0; f < functions; ++f) {
            const std::size_t v = 2 * functions * place + f, w = v + functions;
            double* const slope = pair.plain.gradient.data() + f * width;
            double* const shaken = pair.shaken.gradient.data() + f * width;
            for (std::size_t d = 0; d < table.dense.size(); ++d) {
                slope[table.dense[d]] = of_lanes(d * n + v);
                shaken[table.dense[d]] = of_lanes(d * n + w);
            }
            for (std::size_t s = 0; s < table.sparse.size(); ++s) {
                slope[table.sparse[s]] = slopes[s * n + v];
                shaken[table.sparse[s]] = slopes[s * n + w];
            }
            for (std::size_t j = 0; j < table.p; ++j) {
                const double x = pair.plain.x[f * width + j], y = pair.shaken.x[f * width + j];
                squares += x * x;
                change += pair.penalty * x * (y - x);
                slope[j] += pair.penalty * x;
                shaken[j] += slope[j] + pair.penalty * (y - x) + sizes[v] * problem.most[j] * shaking();
            }
            slope[table.p] = sums[v];
            shaken[table.p] = sums[v] + sums[w] + sizes[v] * shaking();
        }
        pair.plain.value = values[place] + 0.5 * pair.penalty * squares;
        pair.shaken.value = pair.plain.value + change +
                            problem.value_size(pair.shaken.x, values[place]) * shaking();
    }

    double of_lanes(std::size_t at) const {
        double total = 0.0;
        for (std::size_t t = 0; t < logistic::WIDTH; ++t) total += lanes[at * logistic::WIDTH + t];
        return total;
    }
};

void logistic_lbfgs(AnyOrder X, Input<std::int64_t, nb::ndim<1>> rows,
                    Input<double, nb::ndim<1>> weights, Input<std::int32_t, nb::ndim<1>> codes,
                    std::int64_t n_classes, Input<double, nb::ndim<1>> penalties, double tolerance,
                    std::int64_t most, Rowwise directions, double size_of_columns,
                    Output<double, nb::ndim<3>> ends, Output<std::int64_t, nb::ndim<1>> iterations,
                    Output<std::uint8_t, nb::ndim<1>> how, Output<double, nb::ndim<1>> rough) {
    const double* const cells = X.data();
    const auto by_row = static_cast<std::size_t>(X.stride(0)), by_column = static_cast<std::size_t>(X.stride(1));
    nb::gil_scoped_release no_gil;
    const Table table = lbfgs::table_of(cells, by_row, by_column, X.shape(1), rows.data(), rows.shape(0),
                                 weights.data(), codes.data());
    const Turn turn{directions.data(), directions.shape(0), directions.shape(1), size_of_columns};
    const bool turned = turn.p > 0;
    const Problem problem(table, static_cast<std::size_t>(n_classes), turned ? &turn : nullptr);
    const std::size_t size = problem.size();
    std::vector<std::unique_ptr<Pair>> pairs;
    for (std::size_t c = 0; c < penalties.shape(0); ++c)
        pairs.push_back(std::make_unique<Pair>(c, penalties.data()[c], problem, tolerance, most, turned));
    Evaluation evaluate(problem);
    const auto has_ended = [&](const std::unique_ptr<Pair>& pair) {
        if (!pair->take(problem)) return false;
        const std::size_t c = pair->number;
        iterations.data()[c] = pair->plain.outcome.iterations;
        how.data()[c] = pair->end();
        rough.data()[c] = std::max(pair->plain.outcome.rough, pair->shaken.outcome.rough);
        std::copy_n(pair->plain.x.begin(), size, ends.data() + c * WAYS * size);
        std::copy_n(pair->shaken.x.begin(), size, ends.data() + (c * WAYS + 1) * size);
        return true;
    };
    while (!pairs.empty()) {
        evaluate(pairs);
        pairs.erase(std::remove_if(pairs.begin(), pairs.end(), has_ended), pairs.end());
    }
}

}  // namespace

void register_lbfgs(nb::module_& m) {
    m.def("logistic_lbfgs", &logistic_lbfgs,
          "Where L-BFGS-B ends at each penalty, as it is and shaken, on rows of X.");
}

// The compiled module: it collects the loops of truerisk that NumPy cannot take over. Each stands
// beside its one Python caller, which checks shapes and bounds first.

#include "_arrays.hpp"

void register_nearest(nb::module_& m);
void register_walk(nb::module_& m);
void register_interval(nb::module_& m);
void register_logistic(nb::module_& m);
void register_lbfgs(nb::module_& m);
void register_svm_steps(nb::module_& m);
void register_equations(nb::module_& m);
void register_descent(nb::module_& m);
void register_tree(nb::module_& m);
void register_row_sums(nb::module_& m);
void register_cells(nb::module_& m);

NB_MODULE(_native, m) {
    m.doc() = "Compiled loops of truerisk; call them through their Python callers, which check.";
    register_nearest(m);
    register_walk(m);
    register_interval(m);
    register_logistic(m);
    register_lbfgs(m);
    register_svm_steps(m);
    register_equations(m);
    register_descent(m);
    register_tree(m);
    register_row_sums(m);
    register_cells(m);
}

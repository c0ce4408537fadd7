// NumPy's arrays as kernels take them: by rows, in memory, read or written.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;

template <typename T, typename Shape>
using Input = nb::ndarray<const T, Shape, nb::c_contig, nb::device::cpu>;
template <typename T, typename Shape>
using Output = nb::ndarray<T, Shape, nb::c_contig, nb::device::cpu>;

// Reads tensors through the DLPack C exchange table of their type (torch 2.10 or newer).
#pragma once

#include "py_module.hpp"
#include "tensor_view.hpp"

namespace amla::py {

/// Fills `view` from a tensor, or marks it absent for None. False with an exception set for anything else.
/// The view borrows the tensor's memory, shape and strides.
bool to_tensor(PyObject* module, ModuleState& state, PyObject* object, const char* name, TensorView& view);

} // namespace amla::py

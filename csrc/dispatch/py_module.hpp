// The methods of `_native`, each in the file of its subject, and the state of one module object.
#pragma once

#include "py_support.hpp"

namespace amla::py {

struct DlExchangeApi;

/// Per-module state: the exchange table of the last tensor type that was seen.
struct ModuleState {
    PyObject* tensor_type; // owned, so that the address cannot be reused by another type
    const DlExchangeApi* exchange;
};

PyObject* abi_info(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* lookup(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* lookup_domain(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* table(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* sha256(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* hip_open(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* device_count(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* device_info(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* set_kernel_directory(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* prepare(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* is_prepared(PyObject* module, PyObject* const* args, Py_ssize_t count);
PyObject* launch_stage1(PyObject* module, PyObject* const* args, Py_ssize_t count);

} // namespace amla::py

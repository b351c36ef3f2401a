// Helpers of the CPython face: argument conversion, results, and the way from a Status to a Python exception.
#pragma once

#include "lookup.hpp"
#include "python_stable_abi.h"

#include <cstdint>

namespace amla::py {

/// Owns one reference.
class Ref {
public:
    explicit Ref(PyObject* object = nullptr) : object_(object) {}

    Ref(const Ref&) = delete;
    Ref& operator=(const Ref&) = delete;

    ~Ref() {
        Py_DecRef(object_); // a null pointer is allowed
    }

    PyObject* get() const {
        return object_;
    }

    PyObject* release() {
        PyObject* object = object_;
        object_ = nullptr;
        return object;
    }

    explicit operator bool() const {
        return object_ != nullptr;
    }

private:
    PyObject* object_;
};

/// Lets other Python threads run for a scope.
class WithoutGil {
public:
    WithoutGil() : state_(PyEval_SaveThread()) {}

    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

    ~WithoutGil() {
        PyEval_RestoreThread(state_);
    }

private:
    PyThreadState* state_;
};

inline bool is_none(PyObject* object) {
    return object == &_Py_NoneStruct;
}

/// Raises the exception that the module's attribute `error_factory` makes of (code, details); a RuntimeError without one.
/// Always returns null.
PyObject* raise(PyObject* module, const Status& status);

/// Raises for a Python argument of the wrong type or range, as AMLA_ARGUMENT_INVALID.
PyObject* raise_argument(PyObject* module, const char* argument, const char* expected, const char* got);

/// False with a TypeError set if the number of positional arguments is another.
bool has_arguments(const char* function, Py_ssize_t got, Py_ssize_t expected);

/// Conversions; false with an exception set. Integers beyond 64 bits are clamped, so that range checks name them.
bool to_int(PyObject* module, PyObject* object, const char* name, std::int64_t& value);
bool to_flag(PyObject* module, PyObject* object, const char* name, std::uint8_t& value);
bool to_double(PyObject* module, PyObject* object, const char* name, double& value);

/// UTF-8 of a str, valid as long as the object; null with an exception set for anything else.
const char* to_text(PyObject* module, PyObject* object, const char* name);

/// Path of a str, bytes or PathLike as bytes object; null with an exception set.
PyObject* to_path(PyObject* object);

/// dict[name] = item, taking the reference. False with an exception set.
bool put(PyObject* dictionary, const char* name, PyObject* item);

/// Tuple of integers.
PyObject* int_tuple(const std::int64_t* values, Py_ssize_t count);

} // namespace amla::py

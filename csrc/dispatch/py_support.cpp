#include "py_support.hpp"

namespace amla::py {

namespace {

PyObject* detail_tuple(const Status& status) {
    Ref tuple(PyTuple_New(status.details));
    for (int index = 0; tuple && index < status.details; ++index) {
        PyObject* text = PyUnicode_DecodeFSDefault(status.detail[index]); // details may hold paths
        if (text == nullptr || PyTuple_SetItem(tuple.get(), index, text) != 0) {
            return nullptr;
        }
    }
    return tuple.release();
}

} // namespace

PyObject* raise(PyObject* module, const Status& status) {
    Ref details(detail_tuple(status));
    Ref code(PyLong_FromLongLong(status.code));
    Ref factory(PyObject_GetAttrString(module, "error_factory"));
    if (!details || !code || !factory) {
        return nullptr;
    }
    if (is_none(factory.get())) {
        return PyErr_Format(PyExc_RuntimeError, "MLA%d: %s", status.code, status.details > 0 ? status.detail[0] : "");
    }
    Ref error(PyObject_CallFunctionObjArgs(factory.get(), code.get(), details.get(), static_cast<PyObject*>(nullptr)));
    if (error) {
        PyErr_SetObject(reinterpret_cast<PyObject*>(error.get()->ob_type), error.get());
    }
    return nullptr;
}

PyObject* raise_argument(PyObject* module, const char* argument, const char* expected, const char* got) {
    Status status;
    fail3(status, AMLA_ARGUMENT_INVALID, argument, expected, got);
    return raise(module, status);
}

bool has_arguments(const char* function, Py_ssize_t got, Py_ssize_t expected) {
    if (got != expected) {
        PyErr_Format(PyExc_TypeError, "%s takes %zd positional arguments, got %zd", function, expected, got);
    }
    return got == expected;
}

bool to_int(PyObject* module, PyObject* object, const char* name, std::int64_t& value) {
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) {
        value = overflow > 0 ? INT64_MAX : INT64_MIN;
    }
    if (value == -1 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        raise_argument(module, name, "an integer", "another type");
        return false;
    }
    return true;
}

bool to_flag(PyObject* module, PyObject* object, const char* name, std::uint8_t& value) {
    const bool yes = object == &_Py_TrueStruct;
    if (!yes && object != &_Py_FalseStruct) {
        raise_argument(module, name, "True or False", "another value");
        return false;
    }
    value = yes ? 1 : 0;
    return true;
}

bool to_double(PyObject* module, PyObject* object, const char* name, double& value) {
    value = PyFloat_AsDouble(object);
    if (value == -1.0 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        raise_argument(module, name, "a number", "another type");
        return false;
    }
    return true;
}

const char* to_text(PyObject* module, PyObject* object, const char* name) {
    const char* text = PyUnicode_AsUTF8AndSize(object, nullptr);
    if (text == nullptr) {
        PyErr_Clear();
        raise_argument(module, name, "a string", "another type");
    }
    return text;
}

PyObject* to_path(PyObject* object) {
    PyObject* bytes = nullptr;
    return PyUnicode_FSConverter(object, &bytes) != 0 ? bytes : nullptr;
}

bool put(PyObject* dictionary, const char* name, PyObject* item) {
    Ref owned(item);
    return item != nullptr && PyDict_SetItemString(dictionary, name, item) == 0;
}

PyObject* int_tuple(const std::int64_t* values, Py_ssize_t count) {
    Ref tuple(PyTuple_New(count));
    for (Py_ssize_t index = 0; tuple && index < count; ++index) {
        PyObject* item = PyLong_FromLongLong(values[index]);
        if (item == nullptr || PyTuple_SetItem(tuple.get(), index, item) != 0) {
            return nullptr;
        }
    }
    return tuple.release();
}

} // namespace amla::py

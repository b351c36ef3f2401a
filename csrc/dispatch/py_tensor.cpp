#include "py_tensor.hpp"

namespace amla::py {

/// Head of DLPack's exchange table; a change of layout raises `major`.
struct DlExchangeApi {
    std::uint32_t major;
    std::uint32_t minor;
    const DlExchangeApi* previous;
    void* allocator;
    void* managed_from_object;
    void* managed_to_object;
    int (*tensor_from_object)(void* object, DlTensor* out);
    // The table's current_work_stream follows; it is not used, since it is wrong on ROCm (pytorch/pytorch#175432).
};

namespace {

constexpr std::uint32_t kMajor = 1;
constexpr const char* kExpected = "a torch tensor (torch 2.10 or newer) or None";

/// Table of a type; null without an exception if it has none that can be used.
const DlExchangeApi* exchange_of(PyObject* type) {
    Ref capsule(PyObject_GetAttrString(type, "__dlpack_c_exchange_api__"));
    const auto* api = capsule ? static_cast<const DlExchangeApi*>(PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api")) : nullptr;
    if (api == nullptr) {
        PyErr_Clear();
    }
    while (api != nullptr && api->major != kMajor) {
        api = api->previous;
    }
    return api;
}

/// Replaces the exception torch raised by ours, which names the argument and keeps torch's text.
bool raise_refused(PyObject* module, const char* name) {
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    const Ref owned_type(type);
    const Ref owned_value(value);
    const Ref owned_traceback(traceback);
    const Ref text(value != nullptr ? PyObject_Str(value) : nullptr);
    const char* reason = text ? PyUnicode_AsUTF8AndSize(text.get(), nullptr) : nullptr;
    PyErr_Clear();
    raise_argument(module, name, "a dense tensor with memory", reason != nullptr ? reason : "a tensor that cannot be read");
    return false;
}

} // namespace

bool to_tensor(PyObject* module, ModuleState& state, PyObject* object, const char* name, TensorView& view) {
    view.present = !is_none(object);
    if (!view.present) {
        return true;
    }
    auto* type = reinterpret_cast<PyObject*>(object->ob_type);
    if (type != state.tensor_type) {
        const DlExchangeApi* exchange = exchange_of(type);
        if (exchange == nullptr) {
            const Ref type_name(PyObject_GetAttrString(type, "__name__"));
            const char* got = type_name ? PyUnicode_AsUTF8AndSize(type_name.get(), nullptr) : nullptr;
            PyErr_Clear();
            raise_argument(module, name, kExpected, got != nullptr ? got : "another type");
            return false;
        }
        Py_IncRef(type);
        PyObject* old = state.tensor_type;
        state = {type, exchange};
        Py_DecRef(old);
    }
    return state.exchange->tensor_from_object(object, &view.dl) == 0 || raise_refused(module, name);
}

} // namespace amla::py

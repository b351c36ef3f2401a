#include "py_tensor.hpp"
#include "stage1.hpp"

namespace amla::py {

namespace {

constexpr Py_ssize_t kFirstTensor = 1;
constexpr Py_ssize_t kFirstScalar = kFirstTensor + kArgumentCount;
constexpr Py_ssize_t kArguments = kFirstScalar + 9;

/// hipStream_t as integer; 0 is the default stream.
bool to_stream(PyObject* module, PyObject* object, HipStream& stream) {
    stream = PyLong_AsVoidPtr(object);
    if (stream == nullptr && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        raise_argument(module, "stream", "a stream handle as an integer", "another value");
        return false;
    }
    return true;
}

} // namespace

PyObject* launch_stage1(PyObject* module, PyObject* const* args, Py_ssize_t count) {
    if (!has_arguments("launch_stage1", count, kArguments)) {
        return nullptr;
    }
    auto* state = static_cast<ModuleState*>(PyModule_GetState(module));
    Stage1 stage1;
    if (!to_stream(module, args[0], stage1.stream)) {
        return nullptr;
    }
    for (int index = 0; index < kArgumentCount; ++index) {
        if (!to_tensor(module, *state, args[kFirstTensor + index], kArgumentNames[index], stage1.tensors[index])) {
            return nullptr;
        }
    }
    PyObject* const* scalars = args + kFirstScalar;
    double scale = 0;
    std::uint8_t causal = 0;
    std::uint8_t ragged = 0;
    std::uint8_t sparse = 0;
    const bool converted = to_int(module, scalars[0], "batch", stage1.batch) && to_int(module, scalars[1], "heads", stage1.heads) &&
                           to_int(module, scalars[2], "q_len", stage1.q_len) && to_double(module, scalars[3], "sm_scale", scale) &&
                           to_flag(module, scalars[4], "causal", causal) && to_flag(module, scalars[5], "ragged", ragged) &&
                           to_flag(module, scalars[6], "sparse", sparse) &&
                           to_int(module, scalars[7], "cp_world_size", stage1.cp_world_size) &&
                           to_int(module, scalars[8], "cp_rank", stage1.cp_rank);
    if (!converted) {
        return nullptr;
    }
    stage1.softmax_scale = static_cast<float>(scale);
    stage1.causal = causal != 0;
    stage1.ragged = ragged != 0;
    stage1.sparse = sparse != 0;
    Status status;
    if (amla::launch_stage1(stage1, status) != AMLA_OK) {
        return raise(module, status);
    }
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
}

} // namespace amla::py

#include "py_module.hpp"

#include "module_store.hpp"
#include "stage1.hpp"

namespace amla::py {

namespace {

PyMethodDef method(const char* name, PyCFunctionFast function, const char* doc) {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function)), METH_FASTCALL, doc};
}

int start(PyObject* module) {
    return PyObject_SetAttrString(module, "error_factory", &_Py_NoneStruct);
}

int traverse(PyObject* module, visitproc visit, void* argument) {
    const auto* state = static_cast<ModuleState*>(PyModule_GetState(module));
    return state != nullptr && state->tensor_type != nullptr ? visit(state->tensor_type, argument) : 0;
}

int clear(PyObject* module) {
    auto* state = static_cast<ModuleState*>(PyModule_GetState(module));
    if (state != nullptr) {
        PyObject* type = state->tensor_type;
        *state = {};
        Py_DecRef(type);
    }
    return 0;
}

void release(void* module) {
    clear(static_cast<PyObject*>(module));
}

PyMethodDef g_methods[] = {
    method("abi_info", abi_info, "abi_info() -> dict: version of the C interface and sizes of its structs"),
    method("lookup", lookup,
           "lookup(arch, mode, q_dtype, kv_dtype, heads, q_len, page_size, causal, lse, cp_world_size, batch, ragged, sparse, kv_bytes,\n"
           "       out_dtype, qk_head_dim, v_head_dim, logit_cap) -> (plan, kernel, padded_heads, head_groups, tokens_per_item,\n"
           "       items_per_request, rows_per_item), or the code of the refusal as str"),
    method("lookup_domain", lookup_domain, "lookup_domain(arch) -> bytes: one little-endian uint16 leaf per problem, in axis order"),
    method("table", table, "table() -> dict: kernels, plans, refusals and roots compiled in"),
    method("sha256", sha256, "sha256(bytes) -> str"),
    method("hip_open", hip_open, "hip_open(path or None, allow_load) -> dict: path, how, copies, takes_host_memory"),
    method("device_count", device_count, "device_count() -> int"),
    method("device_info", device_info, "device_info(device) -> dict"),
    method("set_kernel_directory", set_kernel_directory, "set_kernel_directory(path): folder <path>/<arch>/<file> for loads on first use"),
    method("prepare", prepare, "prepare(device, arch or None, path or mapping of file name to bytes): verify and load the kernels"),
    method("is_prepared", is_prepared, "is_prepared(device) -> bool"),
    method("launch_stage1", launch_stage1,
           "launch_stage1(stream, q, kv_buffer, o, split_data, split_lse, qo_indptr, kv_indptr, kv_indices, kv_last_page_lens,\n"
           "              work_meta_data, work_indptr, work_info_set, num_kv_splits_indptr, q_scale, kv_scale, lse, g_kv_indptr,\n"
           "              batch, heads, q_len, sm_scale, causal, ragged, sparse, cp_world_size, cp_rank)"),
    {},
};

PyModuleDef_Slot g_slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(start)},
    {0, nullptr},
};

PyModuleDef g_definition = {
    {{1, nullptr}, nullptr, 0, nullptr},
    "_native",
    "Dispatch of prebuilt MLA decode kernels.",
    sizeof(ModuleState),
    g_methods,
    g_slots,
    traverse,
    clear,
    release,
};

} // namespace

PyObject* abi_info(PyObject*, PyObject* const*, Py_ssize_t count) {
    if (!has_arguments("abi_info", count, 0)) {
        return nullptr;
    }
    Ref result(PyDict_New());
    const bool filled = result && put(result.get(), "abi_version", PyLong_FromLongLong(AMLA_ABI_VERSION)) &&
                        put(result.get(), "sizeof_status", PyLong_FromLongLong(sizeof(Status))) &&
                        put(result.get(), "sizeof_problem", PyLong_FromLongLong(sizeof(Problem))) &&
                        put(result.get(), "sizeof_plan", PyLong_FromLongLong(sizeof(Plan))) &&
                        put(result.get(), "launch_arguments", PyLong_FromLongLong(kArgumentCount));
    return filled ? result.release() : nullptr;
}

} // namespace amla::py

extern "C" AMLA_EXPORT PyObject* PyInit__native() {
    return PyModuleDef_Init(&amla::py::g_definition);
}

#include "device_info.hpp"
#include "py_module.hpp"
#include "sha256.hpp"

#include <cstring>

namespace amla::py {

namespace {

constexpr const char* kModes[] = {"persistent", "split"};
constexpr const char* kDtypes[] = {"bf16", "fp8", "byte"};
constexpr const char* kOutDtypes[] = {"bf16", "fp16", "fp32"};

PyObject* raise_field(PyObject* module, const char* field, const char* expected, const char* got) {
    Status status;
    fail3(status, AMLA_INVALID_PROBLEM, field, expected, got);
    return raise(module, status);
}

template <std::size_t Count>
bool to_choice(PyObject* module, PyObject* object, const char* field, const char* const (&names)[Count], std::int32_t& value) {
    const char* text = to_text(module, object, field);
    for (std::size_t index = 0; text != nullptr && index < Count; ++index) {
        if (std::strcmp(text, names[index]) == 0) {
            value = static_cast<std::int32_t>(index);
            return true;
        }
    }
    if (text != nullptr) {
        raise_field(module, field, Count == 2 ? "persistent or split" : (names == kDtypes ? "bf16, fp8 or byte" : "bf16, fp16 or fp32"),
                    text);
    }
    return false;
}

/// Any gfx name is a problem; one without kernels is refused, not an error.
bool to_arch(PyObject* module, PyObject* object, std::int32_t& arch) {
    const char* text = to_text(module, object, "arch");
    if (text == nullptr) {
        return false;
    }
    const std::size_t digits = std::strncmp(text, "gfx", 3) == 0 ? std::strspn(text + 3, "0123456789abcdef") : 0;
    if (digits < 3 || digits > 5 || text[3 + digits] != '\0') {
        raise_field(module, "arch", "a gfx name such as gfx942 or gfx950, without what follows a colon", text);
        return false;
    }
    arch = arch_number(text);
    return true;
}

bool to_size(PyObject* module, PyObject* object, const char* field, std::int32_t& value) {
    std::int64_t wide = 0;
    if (!to_int(module, object, field, wide)) {
        return false;
    }
    value = static_cast<std::int32_t>(wide > INT32_MAX ? INT32_MAX : (wide < 0 ? -1 : wide));
    return true;
}

bool to_problem(PyObject* module, PyObject* const* args, Problem& p) {
    p = {};
    return to_arch(module, args[0], p.arch) && to_choice(module, args[1], "mode", kModes, p.mode) &&
           to_choice(module, args[2], "q_dtype", kDtypes, p.q_dtype) && to_choice(module, args[3], "kv_dtype", kDtypes, p.kv_dtype) &&
           to_size(module, args[4], "heads", p.heads) && to_size(module, args[5], "q_len", p.q_len) &&
           to_size(module, args[6], "page_size", p.page_size) && to_flag(module, args[7], "causal", p.causal) &&
           to_flag(module, args[8], "lse", p.lse) && to_size(module, args[9], "cp_world_size", p.cp_world_size) &&
           to_size(module, args[10], "batch", p.batch) && to_flag(module, args[11], "ragged", p.ragged) &&
           to_flag(module, args[12], "sparse", p.sparse) && to_int(module, args[13], "kv_bytes", p.kv_bytes) &&
           to_choice(module, args[14], "out_dtype", kOutDtypes, p.out_dtype) && to_size(module, args[15], "qk_head_dim", p.qk_head_dim) &&
           to_size(module, args[16], "v_head_dim", p.v_head_dim) && to_double(module, args[17], "logit_cap", p.logit_cap);
}

PyObject* kernel_dict(const amla::table::KernelRow& row) {
    Ref result(PyDict_New());
    const auto number = [&](const char* name, long long value) { return put(result.get(), name, PyLong_FromLongLong(value)); };
    const bool filled =
        result && put(result.get(), "file", PyUnicode_FromString(row.file)) &&
        put(result.get(), "symbol", PyUnicode_FromString(row.symbol)) &&
        put(result.get(), "sha256", PyUnicode_FromString(amla::to_text(row.sha256).text)) &&
        put(result.get(), "arch", PyUnicode_FromString(arch_name(row.arch))) && number("recipe", static_cast<int>(row.recipe)) &&
        number("kernarg_size", row.kernarg_size) && number("last_arg_end", row.last_arg_end) && number("lds_bytes", row.lds_bytes) &&
        number("workgroup", row.workgroup) && number("code_object_version", row.code_object_version) && number("heads", row.heads) &&
        number("tokens", row.tokens) && number("sub_q", row.sub_q) && number("bytes", row.bytes);
    return filled ? result.release() : nullptr;
}

PyObject* plan_dict(const amla::table::PlanRow& row) {
    Ref result(PyDict_New());
    const bool filled = result && put(result.get(), "kernel", PyLong_FromLongLong(row.kernel)) &&
                        put(result.get(), "single", PyLong_FromLongLong(row.single));
    return filled ? result.release() : nullptr;
}

PyObject* arch_dict(const amla::table::ArchRow& row) {
    Ref result(PyDict_New());
    const char* fp8 = row.fp8 == amla::table::Fp8::e4m3fnuz ? "e4m3fnuz" : "e4m3fn";
    const bool filled = result && put(result.get(), "name", PyUnicode_FromString(row.name)) &&
                        put(result.get(), "mach", PyLong_FromLongLong(row.mach)) && put(result.get(), "fp8", PyUnicode_FromString(fp8)) &&
                        put(result.get(), "root", PyLong_FromLongLong(row.root)) &&
                        put(result.get(), "table_sha256", PyUnicode_FromString(amla::to_text(row.table_sha256).text));
    return filled ? result.release() : nullptr;
}

template <typename Row, typename Make> PyObject* rows(const Row* first, std::uint32_t count, Make make) {
    Ref tuple(PyTuple_New(count));
    for (std::uint32_t index = 0; tuple && index < count; ++index) {
        PyObject* item = make(first[index]);
        if (item == nullptr || PyTuple_SetItem(tuple.get(), index, item) != 0) {
            return nullptr;
        }
    }
    return tuple.release();
}

} // namespace

PyObject* lookup(PyObject* module, PyObject* const* args, Py_ssize_t count) {
    Problem problem;
    if (!has_arguments("lookup", count, 18) || !to_problem(module, args, problem)) {
        return nullptr;
    }
    Plan plan;
    Status status;
    if (amla::lookup(problem, plan, status) != AMLA_OK) {
        return raise(module, status);
    }
    if (const char* refusal = amla_refusal_text(plan.leaf)) {
        return PyUnicode_FromString(refusal);
    }
    const std::int64_t values[] = {
        plan.leaf, plan.kernel, plan.padded_heads, plan.head_groups, plan.tokens_per_item, plan.items_per_request, plan.rows_per_item};
    return int_tuple(values, 7);
}

PyObject* lookup_domain(PyObject* module, PyObject* const* args, Py_ssize_t count) {
    std::int32_t arch = 0;
    if (!has_arguments("lookup_domain", count, 1) || !to_arch(module, args[0], arch)) {
        return nullptr;
    }
    Ref bytes(PyBytes_FromStringAndSize(nullptr, kDomainSize * sizeof(std::uint16_t)));
    if (!bytes) {
        return nullptr;
    }
    auto* leaves = reinterpret_cast<std::uint16_t*>(PyBytes_AsString(bytes.get()));
    {
        const WithoutGil released; // the new bytes object is not shared yet
        amla::lookup_domain(arch, leaves);
    }
    return bytes.release();
}

PyObject* table(PyObject*, PyObject* const*, Py_ssize_t count) {
    if (!has_arguments("table", count, 0)) {
        return nullptr;
    }
    const TableView& view = table_view();
    Ref result(PyDict_New());
    const bool filled = result && put(result.get(), "kernels", rows(view.kernels, view.kernel_count, kernel_dict)) &&
                        put(result.get(), "plans", rows(view.plans, view.plan_count, plan_dict)) &&
                        put(result.get(), "refusals", rows(view.refusals, view.refusal_count, PyUnicode_FromString)) &&
                        put(result.get(), "archs", rows(view.archs, view.arch_count, arch_dict)) &&
                        put(result.get(), "node_count", PyLong_FromLongLong(view.node_count));
    return filled ? result.release() : nullptr;
}

PyObject* sha256(PyObject*, PyObject* const* args, Py_ssize_t count) {
    char* bytes = nullptr;
    Py_ssize_t size = 0;
    if (!has_arguments("sha256", count, 1) || PyBytes_AsStringAndSize(args[0], &bytes, &size) != 0) {
        return nullptr;
    }
    return PyUnicode_FromString(amla::to_text(amla::sha256(bytes, static_cast<std::size_t>(size)).bytes).text);
}

} // namespace amla::py

#include "lookup.hpp"
#include "module_store.hpp"
#include "py_module.hpp"

#include <cstdio>
#include <cstdlib>

namespace amla::py {

namespace {

PyObject* none() {
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
}

PyObject* boolean(bool value) {
    PyObject* object = value ? &_Py_TrueStruct : &_Py_FalseStruct;
    Py_IncRef(object);
    return object;
}

bool to_device(PyObject* module, PyObject* object, int& device) {
    std::int64_t wide = 0;
    if (!to_int(module, object, "device", wide)) {
        return false;
    }
    if (wide < 0 || wide > INT32_MAX) {
        char got[24];
        snprintf(got, sizeof(got), "%lld", static_cast<long long>(wide));
        raise_argument(module, "device", "an index of a device", got);
        return false;
    }
    device = static_cast<int>(wide);
    return true;
}

/// Bytes of kernels, borrowed from a Python mapping "<arch>/<file>" -> bytes with the GIL and read without it.
class MappedKernels {
public:
    MappedKernels() = default;
    MappedKernels(const MappedKernels&) = delete;
    MappedKernels& operator=(const MappedKernels&) = delete;

    ~MappedKernels() {
        for (std::uint32_t index = 0; entries_ != nullptr && index < table_view().kernel_count; ++index) {
            Py_DecRef(entries_[index].owner);
        }
        free(entries_);
    }

    /// Takes a reference to the bytes of every kernel the mapping has; a missing one is an error only if it is read.
    bool collect(PyObject* module, PyObject* mapping) {
        const TableView& view = table_view();
        entries_ = static_cast<Entry*>(calloc(view.kernel_count, sizeof(Entry)));
        if (entries_ == nullptr) {
            PyErr_NoMemory();
            return false;
        }
        for (std::uint32_t index = 0; index < view.kernel_count; ++index) {
            Entry& entry = entries_[index];
            char key[512];
            name(view.kernels[index], key);
            entry.owner = PyMapping_GetItemString(mapping, key);
            if (entry.owner == nullptr) {
                PyErr_Clear();
            } else if (PyBytes_AsStringAndSize(entry.owner, &entry.bytes, &entry.size) != 0) {
                PyErr_Clear();
                raise_argument(module, key, "bytes", "another type");
                return false;
            }
        }
        return true;
    }

    KernelSource source() {
        return {read, this};
    }

private:
    struct Entry {
        PyObject* owner;
        char* bytes;
        Py_ssize_t size;
    };

    static void name(const amla::table::KernelRow& row, char (&key)[512]) {
        snprintf(key, sizeof(key), "%s/%s", arch_name(row.arch), row.file);
    }

    static Code read(void* self, const amla::table::KernelRow& row, const void*& bytes, std::size_t& size, Status& status) {
        const Entry& entry = static_cast<MappedKernels*>(self)->entries_[&row - table_view().kernels];
        if (entry.owner == nullptr) {
            char key[512];
            name(row, key);
            fail(status, AMLA_FILE_MISSING);
            detail(status, "%s", key);
            return detail(status, "the mapping has no such file");
        }
        bytes = entry.bytes;
        size = static_cast<std::size_t>(entry.size);
        return AMLA_OK;
    }

    Entry* entries_ = nullptr;
};

PyObject* info_dict(const DeviceInfo& info) {
    Ref result(PyDict_New());
    const auto number = [&](const char* name, long long value) { return put(result.get(), name, PyLong_FromLongLong(value)); };
    const bool filled = result && number("device", info.device) && put(result.get(), "arch", PyUnicode_FromString(info.arch)) &&
                        put(result.get(), "target_id", PyUnicode_FromString(info.target_id)) &&
                        number("compute_units", info.compute_units) && number("warp_size", info.warp_size) &&
                        number("lds_bytes", info.lds_bytes) && number("major", info.major) && number("minor", info.minor) &&
                        number("runtime_version", info.runtime_version);
    return filled ? result.release() : nullptr;
}

} // namespace

PyObject* hip_open(PyObject* module, PyObject* const* args, Py_ssize_t count) {
    std::uint8_t allow_load = 0;
    if (!has_arguments("hip_open", count, 2) || !to_flag(module, args[1], "allow_load", allow_load)) {
        return nullptr;
    }
    const Ref path(is_none(args[0]) ? nullptr : to_path(args[0]));
    if (!is_none(args[0]) && !path) {
        return nullptr;
    }
    const Hip* hip = nullptr;
    Status status;
    if (amla::hip_open(path ? PyBytes_AsString(path.get()) : nullptr, allow_load != 0, hip, status) != AMLA_OK) {
        return raise(module, status);
    }
    Ref result(PyDict_New());
    const bool filled = result && put(result.get(), "path", PyUnicode_DecodeFSDefault(hip->path)) &&
                        put(result.get(), "how", PyUnicode_FromString(hip->how)) &&
                        put(result.get(), "copies", PyLong_FromLongLong(hip->copies)) &&
                        put(result.get(), "takes_host_memory", boolean(hip->takes_host_memory));
    return filled ? result.release() : nullptr;
}

PyObject* device_count(PyObject* module, PyObject* const*, Py_ssize_t count) {
    if (!has_arguments("device_count", count, 0)) {
        return nullptr;
    }
    const Hip* hip = nullptr;
    Status status;
    int devices = 0;
    if (hip_get(hip, status) != AMLA_OK || amla::device_count(*hip, devices, status) != AMLA_OK) {
        return raise(module, status);
    }
    return PyLong_FromLongLong(devices);
}

PyObject* device_info(PyObject* module, PyObject* const* args, Py_ssize_t count) {
    int device = 0;
    if (!has_arguments("device_info", count, 1) || !to_device(module, args[0], device)) {
        return nullptr;
    }
    const Hip* hip = nullptr;
    Status status;
    DeviceInfo info;
    if (hip_get(hip, status) != AMLA_OK || amla::device_info(*hip, device, info, status) != AMLA_OK) {
        return raise(module, status);
    }
    return info_dict(info);
}

PyObject* set_kernel_directory(PyObject* module, PyObject* const* args, Py_ssize_t count) {
    if (!has_arguments("set_kernel_directory", count, 1)) {
        return nullptr;
    }
    const Ref path(to_path(args[0]));
    if (!path) {
        return nullptr;
    }
    Status status;
    return amla::set_kernel_directory(PyBytes_AsString(path.get()), status) != AMLA_OK ? raise(module, status) : none();
}

PyObject* prepare(PyObject* module, PyObject* const* args, Py_ssize_t count) {
    int device = 0;
    if (!has_arguments("prepare", count, 3) || !to_device(module, args[0], device)) {
        return nullptr;
    }
    int arch = AMLA_ARCH_OTHER;
    if (!is_none(args[1])) {
        const char* text = to_text(module, args[1], "arch");
        arch = text != nullptr ? arch_number(text) : AMLA_ARCH_OTHER;
        if (arch == AMLA_ARCH_OTHER) {
            return text != nullptr ? raise_argument(module, "arch", amla::arch_list(" or ").text, text) : nullptr;
        }
    }
    const Ref path(to_path(args[2]));
    PyErr_Clear(); // not a path: a mapping
    MappedKernels mapped;
    if (!path && !mapped.collect(module, args[2])) {
        return nullptr;
    }
    const Hip* hip = nullptr;
    Status status;
    Code code = hip_get(hip, status);
    if (code == AMLA_OK) {
        KernelDirectory directory(path ? PyBytes_AsString(path.get()) : "");
        const PreparedDevice* prepared = nullptr;
        const WithoutGil released;
        code = amla::prepare(*hip, device, arch, path ? directory.source() : mapped.source(), prepared, status);
    }
    return code != AMLA_OK ? raise(module, status) : none();
}

PyObject* is_prepared(PyObject* module, PyObject* const* args, Py_ssize_t count) {
    int device = 0;
    if (!has_arguments("is_prepared", count, 1) || !to_device(module, args[0], device)) {
        return nullptr;
    }
    return boolean(prepared_device(device) != nullptr);
}

} // namespace amla::py

#include "modules.hpp"

#include "allocations.hpp"
#include "caller_memory.hpp"
#include "level.hpp"

#include <pthread.h>

namespace emulator_host {

struct Module {
    CodeObject object; // over `file`
    std::uint8_t* file;
    std::uint8_t* memory;     // the placed segments
    void* code[kMaxSegments]; // predecoded text, by segment
    Function* functions;
    Module* next;
};

namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 30;

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
Module* g_modules = nullptr;

class Lock {
public:
    Lock() {
        pthread_mutex_lock(&g_lock);
    }

    ~Lock() {
        pthread_mutex_unlock(&g_lock);
    }

    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
};

HipError error_of(ObjectError error) {
    switch (error) {
    case ObjectError::none:
        return kSuccess;
    case ObjectError::not_elf:
    case ObjectError::truncated:
        return kInvalidImage;
    case ObjectError::other_machine:
    case ObjectError::other_processor:
        return kNoBinaryForGpu;
    default:
        return kInvalidKernelFile;
    }
}

void destroy(Module* module) {
    while (module->functions != nullptr) {
        Function* function = module->functions;
        module->functions = function->next;
        free(function);
    }
    for (void* code : module->code) {
        engine().release(code);
    }
    if (module->memory != nullptr) {
        for (int index = 0; index < module->object.segments; ++index) {
            remove_range(reinterpret_cast<std::uint64_t>(module->memory) + module->object.segment[index].address, Source::image);
        }
        deallocate(module->memory, Source::image);
    }
    free(module->file);
    free(module);
}

HipError place(Module& module) {
    CodeObject& object = module.object;
    module.memory = static_cast<std::uint8_t*>(allocate(object.span, Source::image));
    if (module.memory == nullptr) {
        return kOutOfMemory;
    }
    const auto base = reinterpret_cast<std::uint64_t>(module.memory);
    if (const ObjectError error = place_segments(object, module.memory, base); error != ObjectError::none) {
        return error_of(error);
    }
    for (int index = 0; index < object.segments; ++index) {
        const Segment& segment = object.segment[index];
        if (segment.memory_bytes != 0 &&
            !add_range(base + segment.address, base + segment.address + segment.memory_bytes, Source::image, segment.writable)) {
            return kOutOfMemory;
        }
        if (segment.executable) {
            module.code[index] = engine().predecode(object.arch, object.file.data + segment.offset, segment.file_bytes);
            if (module.code[index] == nullptr) {
                return kOutOfMemory;
            }
        }
    }
    return kSuccess;
}

/// Takes the file, a malloc'd copy.
HipError load_copy(std::uint8_t* file, std::size_t size, int arch, Module*& out) {
    auto* module = static_cast<Module*>(calloc(1, sizeof(Module)));
    if (module == nullptr) {
        free(file);
        return kOutOfMemory;
    }
    module->file = file;
    HipError error = error_of(read_code_object({file, size}, module->object));
    if (error == kSuccess && module->object.arch != arch) {
        error = kNoBinaryForGpu;
    }
    if (error == kSuccess) {
        error = place(*module);
    }
    if (error != kSuccess) {
        destroy(module);
        return error;
    }
    const Lock lock;
    module->next = g_modules;
    g_modules = module;
    out = module;
    return kSuccess;
}

void* code_of(const Module& module, std::uint64_t text_address) {
    for (int index = 0; index < module.object.segments; ++index) {
        if (module.object.segment[index].executable && module.object.segment[index].address == text_address) {
            return module.code[index];
        }
    }
    return nullptr;
}

bool is_loaded(const Module* module) {
    for (const Module* known = g_modules; known != nullptr; known = known->next) {
        if (known == module) {
            return true;
        }
    }
    return false;
}

} // namespace

HipError load_module(const void* image, std::size_t size, int arch, Module*& out) {
    if (image == nullptr || size == 0 || size > kMaxFile) {
        return kInvalidImage;
    }
    auto* file = static_cast<std::uint8_t*>(malloc(size));
    if (file == nullptr) {
        return kOutOfMemory;
    }
    if (!copy_readable(image, file, size)) {
        free(file);
        return kInvalidImage;
    }
    return load_copy(file, size, arch, out);
}

HipError load_module(const void* image, int arch, Module*& out) {
    std::uint8_t header[64];
    if (image == nullptr || !copy_readable(image, header, sizeof(header))) {
        return kInvalidImage;
    }
    const std::size_t size = claimed_size(header);
    return size < sizeof(header) ? kInvalidImage : load_module(image, size, arch, out);
}

HipError unload_module(Module* module) {
    {
        const Lock lock;
        Module** link = &g_modules;
        while (*link != nullptr && *link != module) {
            link = &(*link)->next;
        }
        if (*link == nullptr) {
            return kInvalidHandle;
        }
        *link = module->next;
    }
    destroy(module);
    return kSuccess;
}

HipError find_function(Module* module, const char* name, Function*& out) {
    const Lock lock;
    if (!is_loaded(module)) {
        return kInvalidHandle;
    }
    for (Function* known = module->functions; known != nullptr; known = known->next) {
        if (std::strcmp(known->kernel.name, name) == 0) {
            out = known;
            return kSuccess;
        }
    }
    auto* function = static_cast<Function*>(malloc(sizeof(Function)));
    if (function == nullptr) {
        return kOutOfMemory;
    }
    const KernelError error = read_kernel(module->object, name, function->kernel);
    if (error != KernelError::none) {
        free(function);
        return error == KernelError::not_found ? kNotFound : kInvalidKernelFile;
    }
    function->module = module;
    function->code = code_of(*module, function->kernel.text_address);
    function->kernel.start.code_address = reinterpret_cast<std::uint64_t>(module->memory) + function->kernel.text_address;
    function->next = module->functions;
    module->functions = function;
    out = function;
    return kSuccess;
}

const Function* known_function(const void* handle) {
    const Lock lock;
    for (const Module* module = g_modules; module != nullptr; module = module->next) {
        for (const Function* function = module->functions; function != nullptr; function = function->next) {
            if (function == handle) {
                return function;
            }
        }
    }
    return nullptr;
}

} // namespace emulator_host

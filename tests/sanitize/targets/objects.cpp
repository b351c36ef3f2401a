// Any bytes as a code object: loaded, its kernels found, their instructions listed, and the kernels run on one small launch.
#include "input.hpp"

#include "hip/allocations.hpp"
#include "hip/run.hpp"
#include "hip/settings.hpp"

#include <initializer_list>

namespace {

constexpr int kMaxKernels = 4;
constexpr std::size_t kMaxInput = 1 << 16;

/// Kernels that the metadata of the seeds names, as the symbols of an object would.
void run_all(emulator_host::Module* module, const emulator_host::CodeObject& object) {
    int kernels = 0;
    for (std::uint64_t index = 0; index < object.symbols.count && kernels < kMaxKernels; ++index) {
        std::uint32_t at = 0;
        std::memcpy(&at, object.file.data + object.symbols.offset + index * 24, 4);
        char name[64] = {};
        for (std::size_t length = 0; length + 1 < sizeof(name) && object.strings.holds(at, length + 1); ++length) {
            name[length] = static_cast<char>(object.strings.data[at + length]);
            if (name[length] == '\0') {
                break;
            }
        }
        if (char* suffix = std::strstr(name, ".kd")) {
            *suffix = '\0';
        }
        emulator_host::Function* function = nullptr;
        if (emulator_host::find_function(module, name, function) != emulator_host::kSuccess) {
            continue;
        }
        kernels += 1;
        fuzz::require(*emulator_host::audit(*function) == '{');
        const emulator_host::Geometry geometry = {{2, 1, 1}, {65, 1, 1}, 0};
        const std::uint8_t arguments[16] = {};
        emulator_host::run_kernel(*function, geometry, arguments, sizeof(arguments));
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > kMaxInput) {
        return -1;
    }
    static const bool ready = emulator_host::set_options("budget=500,threads=1,uninitialised=1,hazards=1");
    fuzz::require(ready);
    const fuzz::Copy copy(data, size);
    for (const int arch : {0, 1}) {
        emulator_host::Module* module = nullptr;
        if (emulator_host::load_module(copy.data(), size, arch, module) != emulator_host::kSuccess) {
            continue;
        }
        static emulator_host::CodeObject object;
        fuzz::require(emulator_host::read_code_object({copy.data(), size}, object) == emulator_host::ObjectError::none);
        run_all(module, object);
        fuzz::require(emulator_host::unload_module(module) == emulator_host::kSuccess);
    }
    return 0;
}

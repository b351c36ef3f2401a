// Which group runs a vector opcode.
#include "executors.hpp"
#include "vector_tables.hpp"

namespace emulator {

Executor vector_executor(Opcode op) {
    using Group = Executor (*)(Opcode);
    static constexpr Group groups[] = {
        &float32_executor,    &float16_executor,
        &float64_executor,    &integer32_executor,
        &integer16_executor,  &integer64_executor,
        &carry_executor,      &division_executor,
        &conversion_executor, &narrow_conversion_executor,
        &comparison_executor, &scaled_conversion_executor,
        &packed_executor,     &dot_executor,
        &lane_executor,
    };
    for (const Group group : groups) {
        if (const Executor executor = group(op)) {
            return executor;
        }
    }
    return nullptr;
}

} // namespace emulator

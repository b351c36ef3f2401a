#include "executors.hpp"

#include "../isa/opcode_info.hpp"
#include "memory_tables.hpp"

namespace emulator {

Executor memory_executor(Opcode op) {
    const OpcodeInfo& info = opcode_info(op);
    switch (info.format) {
    case Format::smem:
        if (const Executor executor = smem_executor(op)) {
            return executor;
        }
        if (const Executor executor = smem_buffer_executor(op)) {
            return executor;
        }
        return smem_atomic_executor(info.number);
    case Format::ds:
        if (const Executor executor = ds_lane_executor(op)) {
            return executor;
        }
        if (const Executor executor = ds_append_executor(op)) {
            return executor;
        }
        if (const Executor executor = ds_executor(info.number)) {
            return executor;
        }
        return ds_atomic_executor(info.number);
    case Format::mubuf:
        return mubuf_executor(info.number);
    case Format::flat:
        return flat_executor(info.number);
    case Format::global:
        return global_executor(info.number);
    case Format::scratch:
        return scratch_executor(info.number);
    default:
        return nullptr;
    }
}

} // namespace emulator

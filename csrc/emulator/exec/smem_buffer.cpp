// SMEM through a buffer descriptor: dwords outside the buffer read as 0 and are not stored.
#include "memory_tables.hpp"

#include "scalar_memory.hpp"

namespace emulator {

namespace {

/// Calls `body(dword, address)` for the dwords in the buffer. False after a fault.
template <typename Body> bool each_dword(Wave& w, const Instruction& in, int dwords, bool write, Body body) {
    const ScalarBuffer buffer = scalar_buffer(w, in);
    const std::uint64_t offset = static_cast<std::uint64_t>(scalar_offset(w, in)) & ~std::uint64_t{3};
    for (int dword = 0; dword < dwords; ++dword) {
        const std::uint64_t at = offset + 4U * static_cast<unsigned>(dword);
        if (!buffer.holds(at, 4)) {
            continue;
        }
        if (!scalar_reachable(w, buffer.base + at, 4, write)) {
            return false;
        }
        body(dword, reinterpret_cast<void*>(buffer.base + at));
    }
    return true;
}

template <int dwords> void load(Wave& w, const Instruction& in) {
    std::uint32_t words[dwords] = {};
    const bool legal = each_dword(w, in, dwords, false, [&](int dword, const void* from) {
        std::memcpy(words + dword, from, 4);
        w.group->traffic.global_read += 4;
    });
    if (!legal) {
        return;
    }
    Pending& entry = begin_pending(w, Port::local, in.pc);
    std::memcpy(entry.data[0], words, sizeof(words));
    load_to_sgprs(w, in, entry, dwords);
}

template <int dwords> void store(Wave& w, const Instruction& in) {
    const std::uint32_t* words = w.s + (in.src[2].index & 127);
    const bool legal = each_dword(w, in, dwords, true, [&](int dword, void* to) {
        std::memcpy(to, words + dword, 4);
        w.group->traffic.global_written += 4;
    });
    if (legal) {
        store_issued(w, in, Port::local);
    }
}

} // namespace

Executor smem_buffer_executor(Opcode op) {
    switch (op) {
    case Opcode::s_buffer_load_dword:
        return load<1>;
    case Opcode::s_buffer_load_dwordx2:
        return load<2>;
    case Opcode::s_buffer_load_dwordx4:
        return load<4>;
    case Opcode::s_buffer_load_dwordx8:
        return load<8>;
    case Opcode::s_buffer_load_dwordx16:
        return load<16>;
    case Opcode::s_buffer_store_dword:
        return store<1>;
    case Opcode::s_buffer_store_dwordx2:
        return store<2>;
    case Opcode::s_buffer_store_dwordx4:
        return store<4>;
    default:
        return nullptr;
    }
}

} // namespace emulator

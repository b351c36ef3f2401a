// SOP1: scalar instructions of one source.
#include "scalar_tables.hpp"

#include "scalar.hpp"

#include <bit>

namespace emulator::scalar {

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <typename T> T read(const Wave& w, const Operand& operand) {
    if constexpr (sizeof(T) == 8) {
        return read64(w, operand);
    } else {
        return read32(w, operand);
    }
}

template <typename T> void write(Wave& w, const Operand& operand, T value) {
    if constexpr (sizeof(T) == 8) {
        write64(w, operand, value);
    } else {
        write32(w, operand, value);
    }
}

/// A function of the source that leaves SCC alone.
template <typename From, typename To, auto function> void plain(Wave& w, const Instruction& in) {
    write<To>(w, in.dst, static_cast<To>(function(read<From>(w, in.src[0]))));
}

/// A function of the source; SCC says whether the result differs from 0.
template <typename From, typename To, auto function> void flagged(Wave& w, const Instruction& in) {
    const To result = static_cast<To>(function(read<From>(w, in.src[0])));
    write<To>(w, in.dst, result);
    w.scc = result != 0;
}

template <typename T> T whole_quads(T value) {
    T any = value | (value >> 1);
    any |= any >> 2;
    any &= static_cast<T>(0x1111111111111111U);
    return static_cast<T>(any * 15);
}

template <typename T> T quads(T value) {
    T result = 0;
    for (unsigned quad = 0; quad < sizeof(T) * 2; ++quad) {
        result |= static_cast<T>((value >> (4 * quad) & 15) != 0 ? 1 : 0) << quad;
    }
    return result;
}

template <typename T> T reversed(T value) {
    T result = 0;
    for (unsigned bit = 0; bit < sizeof(T) * 8; ++bit) {
        result = static_cast<T>(result << 1) | (value >> bit & 1);
    }
    return result;
}

template <typename T> U32 first_one(T value) {
    return value == 0 ? ~U32{0} : static_cast<U32>(std::countr_zero(value));
}

template <typename T> U32 leading(T value) {
    return value == 0 ? ~U32{0} : static_cast<U32>(std::countl_zero(value));
}

/// Position, from the top, of the first bit unlike the sign; -1 if all are alike.
template <typename T> U32 leading_unlike_sign(T value) {
    const bool negative = (value >> (sizeof(T) * 8 - 1)) != 0;
    return leading(negative ? static_cast<T>(~value) : value);
}

U64 doubled_bits(U32 value) {
    U64 result = 0;
    for (int bit = 0; bit < 32; ++bit) {
        result |= U64{(value >> bit & 1) * 3} << (2 * bit);
    }
    return result;
}

template <typename T> void conditional_move(Wave& w, const Instruction& in) {
    if (w.scc) {
        write<T>(w, in.dst, read<T>(w, in.src[0]));
    }
}

template <typename T, bool one> void set_bit(Wave& w, const Instruction& in) {
    const T bit = T{1} << (read32(w, in.src[0]) & (sizeof(T) * 8 - 1));
    const T old = read<T>(w, in.dst);
    write<T>(w, in.dst, one ? old | bit : old & ~bit);
}

/// D = EXEC, then EXEC = function(source, EXEC).
template <auto function> void save_exec(Wave& w, const Instruction& in) {
    const U64 source = read64(w, in.src[0]);
    const U64 exec = w.exec();
    const U64 result = function(source, exec);
    write64(w, in.dst, exec);
    w.set_pair(126, result);
    w.scc = result != 0;
}

/// EXEC = D = function(source, EXEC).
template <auto function> void write_exec(Wave& w, const Instruction& in) {
    const U64 result = function(read64(w, in.src[0]), w.exec());
    write64(w, in.dst, result);
    w.set_pair(126, result);
    w.scc = result != 0;
}

template <typename T> void move_relative_source(Wave& w, const Instruction& in) {
    Operand source = in.src[0];
    source.index = static_cast<std::uint16_t>((source.index + w.s[124]) & 127);
    write<T>(w, in.dst, read<T>(w, source));
}

template <typename T> void move_relative_target(Wave& w, const Instruction& in) {
    Operand target = in.dst;
    target.index = static_cast<std::uint16_t>((target.index + w.s[124]) & 127);
    write<T>(w, target, read<T>(w, in.src[0]));
}

void absolute(Wave& w, const Instruction& in) {
    const U32 value = read32(w, in.src[0]);
    const U32 result = (value >> 31) != 0 ? 0 - value : value;
    write32(w, in.dst, result);
    w.scc = result != 0;
}

void index_of_relative(Wave& w, const Instruction& in) {
    w.s[124] = (w.s[124] & ~U32{0xff}) | (read32(w, in.src[0]) & 0xff);
}

void jump(Wave& w, U64 target) {
    const U64 offset = target - w.group->code_base;
    // Past 4 GiB there is no code of this object; all ones is outside every text and fails at the next fetch.
    w.pc = offset > ~U32{0} ? ~U32{0} : static_cast<U32>(offset);
}

void get_pc(Wave& w, const Instruction& in) {
    write64(w, in.dst, w.group->code_base + w.pc);
}

void set_pc(Wave& w, const Instruction& in) {
    jump(w, read64(w, in.src[0]));
}

void swap_pc(Wave& w, const Instruction& in) {
    const U64 target = read64(w, in.src[0]);
    write64(w, in.dst, w.group->code_base + w.pc);
    jump(w, target);
}

constexpr auto identity = [](auto value) { return value; };
constexpr auto inverted = [](auto value) { return ~value; };
constexpr auto ones = [](auto value) { return std::popcount(value); };
constexpr auto zeros = [](auto value) { return std::popcount(static_cast<decltype(value)>(~value)); };
constexpr auto first_zero = [](auto value) { return first_one(static_cast<decltype(value)>(~value)); };
constexpr auto first_set = [](auto value) { return first_one(value); };
constexpr auto top_set = [](auto value) { return leading(value); };
constexpr auto top_unlike = [](auto value) { return leading_unlike_sign(value); };
constexpr auto wqm = [](auto value) { return whole_quads(value); };
constexpr auto quad = [](auto value) { return quads(value); };
constexpr auto reverse = [](auto value) { return reversed(value); };
constexpr auto sign8 = [](U32 value) { return static_cast<U32>(std::int32_t{static_cast<std::int8_t>(value)}); };
constexpr auto sign16 = [](U32 value) { return static_cast<U32>(std::int32_t{static_cast<std::int16_t>(value)}); };

} // namespace

Executor unary(Opcode op) {
    switch (op) {
    case Opcode::s_mov_b32:
        return plain<U32, U32, identity>;
    case Opcode::s_mov_b64:
        return plain<U64, U64, identity>;
    case Opcode::s_cmov_b32:
        return conditional_move<U32>;
    case Opcode::s_cmov_b64:
        return conditional_move<U64>;
    case Opcode::s_not_b32:
        return flagged<U32, U32, inverted>;
    case Opcode::s_not_b64:
        return flagged<U64, U64, inverted>;
    case Opcode::s_wqm_b32:
        return flagged<U32, U32, wqm>;
    case Opcode::s_wqm_b64:
        return flagged<U64, U64, wqm>;
    case Opcode::s_brev_b32:
        return plain<U32, U32, reverse>;
    case Opcode::s_brev_b64:
        return plain<U64, U64, reverse>;
    case Opcode::s_bcnt0_i32_b32:
        return flagged<U32, U32, zeros>;
    case Opcode::s_bcnt0_i32_b64:
        return flagged<U64, U32, zeros>;
    case Opcode::s_bcnt1_i32_b32:
        return flagged<U32, U32, ones>;
    case Opcode::s_bcnt1_i32_b64:
        return flagged<U64, U32, ones>;
    case Opcode::s_ff0_i32_b32:
        return plain<U32, U32, first_zero>;
    case Opcode::s_ff0_i32_b64:
        return plain<U64, U32, first_zero>;
    case Opcode::s_ff1_i32_b32:
        return plain<U32, U32, first_set>;
    case Opcode::s_ff1_i32_b64:
        return plain<U64, U32, first_set>;
    case Opcode::s_flbit_i32_b32:
        return plain<U32, U32, top_set>;
    case Opcode::s_flbit_i32_b64:
        return plain<U64, U32, top_set>;
    case Opcode::s_flbit_i32:
        return plain<U32, U32, top_unlike>;
    case Opcode::s_flbit_i32_i64:
        return plain<U64, U32, top_unlike>;
    case Opcode::s_sext_i32_i8:
        return plain<U32, U32, sign8>;
    case Opcode::s_sext_i32_i16:
        return plain<U32, U32, sign16>;
    case Opcode::s_bitset0_b32:
        return set_bit<U32, false>;
    case Opcode::s_bitset0_b64:
        return set_bit<U64, false>;
    case Opcode::s_bitset1_b32:
        return set_bit<U32, true>;
    case Opcode::s_bitset1_b64:
        return set_bit<U64, true>;
    case Opcode::s_getpc_b64:
        return get_pc;
    case Opcode::s_setpc_b64:
        return set_pc;
    case Opcode::s_swappc_b64:
        return swap_pc;
    case Opcode::s_and_saveexec_b64:
        return save_exec<[](U64 s, U64 e) { return s & e; }>;
    case Opcode::s_or_saveexec_b64:
        return save_exec<[](U64 s, U64 e) { return s | e; }>;
    case Opcode::s_xor_saveexec_b64:
        return save_exec<[](U64 s, U64 e) { return s ^ e; }>;
    case Opcode::s_andn2_saveexec_b64:
        return save_exec<[](U64 s, U64 e) { return s & ~e; }>;
    case Opcode::s_orn2_saveexec_b64:
        return save_exec<[](U64 s, U64 e) { return s | ~e; }>;
    case Opcode::s_nand_saveexec_b64:
        return save_exec<[](U64 s, U64 e) { return ~(s & e); }>;
    case Opcode::s_nor_saveexec_b64:
        return save_exec<[](U64 s, U64 e) { return ~(s | e); }>;
    case Opcode::s_xnor_saveexec_b64:
        return save_exec<[](U64 s, U64 e) { return ~(s ^ e); }>;
    case Opcode::s_andn1_saveexec_b64:
        return save_exec<[](U64 s, U64 e) { return ~s & e; }>;
    case Opcode::s_orn1_saveexec_b64:
        return save_exec<[](U64 s, U64 e) { return ~s | e; }>;
    case Opcode::s_andn1_wrexec_b64:
        return write_exec<[](U64 s, U64 e) { return ~s & e; }>;
    case Opcode::s_andn2_wrexec_b64:
        return write_exec<[](U64 s, U64 e) { return s & ~e; }>;
    case Opcode::s_quadmask_b32:
        return flagged<U32, U32, quad>;
    case Opcode::s_quadmask_b64:
        return flagged<U64, U64, quad>;
    case Opcode::s_movrels_b32:
        return move_relative_source<U32>;
    case Opcode::s_movrels_b64:
        return move_relative_source<U64>;
    case Opcode::s_movreld_b32:
        return move_relative_target<U32>;
    case Opcode::s_movreld_b64:
        return move_relative_target<U64>;
    case Opcode::s_abs_i32:
        return absolute;
    case Opcode::s_set_gpr_idx_idx:
        return index_of_relative;
    case Opcode::s_bitreplicate_b64_b32:
        return plain<U32, U64, doubled_bits>;
    default:
        return nullptr;
    }
}

} // namespace emulator::scalar

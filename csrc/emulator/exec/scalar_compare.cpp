// SOPC and SOPK: comparisons into SCC, and instructions with a 16-bit immediate.
#include "scalar_tables.hpp"

#include "scalar.hpp"

namespace emulator::scalar {

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I32 = std::int32_t;

template <typename T, auto test> void compare32(Wave& w, const Instruction& in) {
    w.scc = test(static_cast<T>(read32(w, in.src[0])), static_cast<T>(read32(w, in.src[1])));
}

template <auto test> void compare64(Wave& w, const Instruction& in) {
    w.scc = test(read64(w, in.src[0]), read64(w, in.src[1]));
}

template <typename T, bool one> void test_bit(Wave& w, const Instruction& in) {
    const U32 place = read32(w, in.src[1]) & (sizeof(T) * 8 - 1);
    const U64 value = sizeof(T) == 8 ? read64(w, in.src[0]) : read32(w, in.src[0]);
    w.scc = (value >> place & 1) == (one ? 1 : 0);
}

/// The register a SOPK instruction compares with or changes.
const Operand& operand_k(const Instruction& in) {
    return in.dst.kind != Operand::Kind::none ? in.dst : in.src[0];
}

/// The immediate is sign-extended for signed comparisons and zero-extended for the others.
template <typename T, auto test> void compare_immediate(Wave& w, const Instruction& in) {
    const auto value = static_cast<T>(read32(w, operand_k(in)));
    const T immediate = static_cast<T>(-1) < T{0} ? static_cast<T>(static_cast<std::int16_t>(in.imm)) : static_cast<T>(in.imm & 0xffff);
    w.scc = test(value, immediate);
}

U32 immediate16(const Instruction& in) {
    return static_cast<U32>(I32{static_cast<std::int16_t>(in.imm)});
}

void move_immediate(Wave& w, const Instruction& in) {
    write32(w, in.dst, immediate16(in));
}

void move_immediate_if(Wave& w, const Instruction& in) {
    if (w.scc) {
        write32(w, in.dst, immediate16(in));
    }
}

void add_immediate(Wave& w, const Instruction& in) {
    const U32 a = read32(w, operand_k(in));
    const U32 b = immediate16(in);
    const U32 result = a + b;
    write32(w, operand_k(in), result);
    w.scc = ((~(a ^ b) & (a ^ result)) >> 31) != 0;
}

void multiply_immediate(Wave& w, const Instruction& in) {
    write32(w, operand_k(in), read32(w, operand_k(in)) * immediate16(in));
}

void call(Wave& w, const Instruction& in) {
    write64(w, in.dst, w.group->code_base + w.pc);
    w.pc += immediate16(in) * 4;
}

constexpr U32 kModeRegister = 1;

constexpr U32 kHalfOverflow = U32{1} << 23;
constexpr U32 kIndexing = U32{1} << 27;

// Of the bits without a field here, none changes results: exceptions trap nowhere, and the rest is for graphics and debuggers.
U32 mode_bits(const Wave& w) {
    const Mode& mode = w.mode;
    return mode.round32 | U32{mode.round16_64} << 2 | U32{mode.denorm32} << 4 | U32{mode.denorm16_64} << 6 | U32{mode.dx10_clamp} << 8 |
           U32{mode.ieee} << 9 | (mode.half_overflow_clamps ? kHalfOverflow : 0) | (w.gpr_idx ? kIndexing : 0);
}

void set_mode(Wave& w, U32 bits) {
    Mode& mode = w.mode;
    mode.half_overflow_clamps = (bits & kHalfOverflow) != 0;
    w.gpr_idx = (bits & kIndexing) != 0;
    mode.round32 = bits & 3;
    mode.round16_64 = bits >> 2 & 3;
    mode.denorm32 = bits >> 4 & 3;
    mode.denorm16_64 = bits >> 6 & 3;
    mode.dx10_clamp = (bits >> 8 & 1) != 0;
    mode.ieee = (bits >> 9 & 1) != 0;
}

struct Field {
    U32 id, offset, mask;
};

Field register_field(const Instruction& in) {
    const auto spec = static_cast<U32>(in.imm);
    const U32 bits = (spec >> 11 & 31) + 1;
    return {spec & 63, spec >> 6 & 31, bits == 32 ? ~U32{0} : (U32{1} << bits) - 1};
}

// Only MODE holds state here; the other hardware registers (status, trap, identity) read as 0.
void get_register(Wave& w, const Instruction& in) {
    const Field field = register_field(in);
    const U32 value = field.id == kModeRegister ? mode_bits(w) : 0;
    write32(w, in.dst, value >> field.offset & field.mask);
}

void set_register_to(Wave& w, const Instruction& in, U32 value) {
    const Field field = register_field(in);
    if (field.id == kModeRegister) {
        const U32 mask = field.mask << field.offset;
        set_mode(w, (mode_bits(w) & ~mask) | (value << field.offset & mask));
    }
}

void set_register(Wave& w, const Instruction& in) {
    set_register_to(w, in, read32(w, in.src[0].kind != Operand::Kind::none ? in.src[0] : in.dst));
}

void set_register_literal(Wave& w, const Instruction& in) {
    set_register_to(w, in, in.src[0].value);
}

void index_on(Wave& w, const Instruction& in) {
    w.gpr_idx = true;
    w.s[124] = (w.s[124] & ~U32{0xf0ff}) | (read32(w, in.src[0]) & 0xff) | static_cast<U32>(in.imm & 15) << 12;
}

constexpr auto equal = [](auto a, auto b) { return a == b; };
constexpr auto unequal = [](auto a, auto b) { return a != b; };
constexpr auto greater = [](auto a, auto b) { return a > b; };
constexpr auto at_least = [](auto a, auto b) { return a >= b; };
constexpr auto less = [](auto a, auto b) { return a < b; };
constexpr auto at_most = [](auto a, auto b) { return a <= b; };

} // namespace

Executor compare(Opcode op) {
    switch (op) {
    case Opcode::s_cmp_eq_i32:
        return compare32<I32, equal>;
    case Opcode::s_cmp_lg_i32:
        return compare32<I32, unequal>;
    case Opcode::s_cmp_gt_i32:
        return compare32<I32, greater>;
    case Opcode::s_cmp_ge_i32:
        return compare32<I32, at_least>;
    case Opcode::s_cmp_lt_i32:
        return compare32<I32, less>;
    case Opcode::s_cmp_le_i32:
        return compare32<I32, at_most>;
    case Opcode::s_cmp_eq_u32:
        return compare32<U32, equal>;
    case Opcode::s_cmp_lg_u32:
        return compare32<U32, unequal>;
    case Opcode::s_cmp_gt_u32:
        return compare32<U32, greater>;
    case Opcode::s_cmp_ge_u32:
        return compare32<U32, at_least>;
    case Opcode::s_cmp_lt_u32:
        return compare32<U32, less>;
    case Opcode::s_cmp_le_u32:
        return compare32<U32, at_most>;
    case Opcode::s_cmp_eq_u64:
        return compare64<equal>;
    case Opcode::s_cmp_lg_u64:
        return compare64<unequal>;
    case Opcode::s_bitcmp0_b32:
        return test_bit<U32, false>;
    case Opcode::s_bitcmp1_b32:
        return test_bit<U32, true>;
    case Opcode::s_bitcmp0_b64:
        return test_bit<U64, false>;
    case Opcode::s_bitcmp1_b64:
        return test_bit<U64, true>;
    case Opcode::s_set_gpr_idx_on:
        return index_on;
    default:
        return nullptr;
    }
}

Executor immediate(Opcode op) {
    switch (op) {
    case Opcode::s_movk_i32:
        return move_immediate;
    case Opcode::s_cmovk_i32:
        return move_immediate_if;
    case Opcode::s_cmpk_eq_i32:
        return compare_immediate<I32, equal>;
    case Opcode::s_cmpk_lg_i32:
        return compare_immediate<I32, unequal>;
    case Opcode::s_cmpk_gt_i32:
        return compare_immediate<I32, greater>;
    case Opcode::s_cmpk_ge_i32:
        return compare_immediate<I32, at_least>;
    case Opcode::s_cmpk_lt_i32:
        return compare_immediate<I32, less>;
    case Opcode::s_cmpk_le_i32:
        return compare_immediate<I32, at_most>;
    case Opcode::s_cmpk_eq_u32:
        return compare_immediate<U32, equal>;
    case Opcode::s_cmpk_lg_u32:
        return compare_immediate<U32, unequal>;
    case Opcode::s_cmpk_gt_u32:
        return compare_immediate<U32, greater>;
    case Opcode::s_cmpk_ge_u32:
        return compare_immediate<U32, at_least>;
    case Opcode::s_cmpk_lt_u32:
        return compare_immediate<U32, less>;
    case Opcode::s_cmpk_le_u32:
        return compare_immediate<U32, at_most>;
    case Opcode::s_addk_i32:
        return add_immediate;
    case Opcode::s_mulk_i32:
        return multiply_immediate;
    case Opcode::s_getreg_b32:
        return get_register;
    case Opcode::s_setreg_b32:
        return set_register;
    case Opcode::s_setreg_imm32_b32:
        return set_register_literal;
    case Opcode::s_call_b64:
        return call;
    default:
        return nullptr;
    }
}

} // namespace emulator::scalar

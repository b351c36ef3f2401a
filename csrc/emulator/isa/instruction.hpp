// A decoded CDNA3/CDNA4 instruction: everything an executor or a disassembler needs, nothing of the bit layout.
#pragma once

#include <cstdint>

namespace emulator {

enum class Arch : std::uint8_t { gfx942, gfx950 };

enum class Opcode : std::uint16_t {
#define EMULATOR_OPCODE(name, ...) name,
#include "opcodes.def"
#undef EMULATOR_OPCODE
    count
};

enum class Format : std::uint8_t {
    sop1,
    sop2,
    sopk,
    sopc,
    sopp,
    smem,
    vop1,
    vop2,
    vop3,
    vop3p,
    vopc,
    mai,
    ds,
    mubuf,
    flat,
    global,
    scratch
};

/// How a VOP1/VOP2/VOPC opcode was encoded.
enum class Encoding : std::uint8_t { e32, e64, dpp, sdwa };

struct Operand {
    enum class Kind : std::uint8_t {
        none,
        sgpr,     // index: scalar register 0..127 as encoded (106/107 vcc, 124 m0, 126/127 exec)
        vgpr,     // index: arch VGPR 0..255
        agpr,     // index: AccVGPR 0..255
        constant, // value: the bits as the type of the operand has them (f16 1.0 is 0x3c00); index: the source code it was encoded as
        special,  // index: apertures 235..238, pops_exiting_wave_id 239, vccz 251, execz 252, scc 253, lds_direct 254
    };
    Kind kind = Kind::none;
    std::uint8_t dwords = 1; // registers read or written
    std::uint16_t index = 0;
    std::uint32_t value = 0;
    std::uint32_t high =
        0; // bits 63:32 of a constant of two dwords (a packed pair has its constant in the low half only); all of a literal of 16 bits
};

struct Dpp {
    std::uint16_t control = 0; // as encoded, e.g. 0x111 row_shr:1, 0x150 row_newbcast:0
    std::uint8_t row_mask = 15, bank_mask = 15;
    bool bound_ctrl = false;
};

struct Sdwa {
    std::uint8_t dst_sel = 6, dst_unused = 0, src0_sel = 6, src1_sel = 6; // 0..3 byte, 4..5 word, 6 dword
    bool src0_sext = false, src1_sext = false;
};

struct Instruction {
    Opcode op = Opcode::count;
    Format format = Format::sopp;
    Encoding encoding = Encoding::e32;
    std::uint8_t size = 4; // bytes
    std::uint32_t pc = 0;  // byte offset of the instruction in its code
    Operand dst, sdst;     // sdst: the scalar result of v_cmp, v_add_co, v_div_scale, v_readlane ...
    // Vector: as LLVM prints them, so v_fmamk and v_fmaak read like v_fma, and a carry or lane mask that is read comes last.
    // DS: address, data0, data1. MUBUF: vaddr, srsrc, soffset, vdata. FLAT, GLOBAL, SCRATCH: address, data, saddr. SMEM: sbase, soffset,
    // sdata. MAI: A, B, C (smfmac: index), scale of A, scale of B. Atomics have their data in src, and a dst too if the old value is asked
    // for.
    Operand src[5];
    std::uint8_t neg = 0, abs = 0,
                 neg_hi = 0; // bit i: modifier of src[i]; neg is neg_lo for VOP3P and for MAI of doubles. v_fma_mix: neg and abs
    std::uint8_t op_sel = 0, op_sel_hi = 7; // bit i: src[i]; bit 3: destination. Scaled MAI: bit 0 scale of A, bit 1 scale of B
    bool clamp = false;
    std::uint8_t omod = 0;                     // 1: times 2, 2: times 4, 3: half
    std::uint8_t cbsz = 0, abid = 0, blgp = 0; // MAI
    // SOPK/SOPP immediate (sign-extended, but not of s_waitcnt, s_sendmsg and the like), SMEM/DS/MUBUF/FLAT offset
    // (DS: offset0 | offset1 << 8 for the two-offset forms), the table of v_bitop3, the mask of s_set_gpr_idx_on
    std::int32_t imm = 0;
    bool sc0 = false, sc1 = false, nt = false;                   // cache policy; sc0 asks an atomic for its old value, and is glc of SMEM
    bool offen = false, idxen = false, lds = false, gds = false; // offen of SMEM: a register and imm both
    Dpp dpp;
    Sdwa sdwa;
};

} // namespace emulator

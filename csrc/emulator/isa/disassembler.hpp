// What the parts of the disassembler share.
#pragma once

#include "opcode_info.hpp"
#include "text.hpp"

namespace emulator {

void print_register(Text& out, const Operand& operand);
/// A register, or a constant as its type prints.
void print_operand(Text& out, const Operand& operand, Type type);
/// The literal of v_fmamk and v_fmaak, which is one whatever its value.
void print_trailing_literal(Text& out, const Operand& operand, Type type);
/// A number of 32 bits by its shortest name.
void print_number(Text& out, std::uint32_t value);

void print_scalar(Text& out, const Instruction& i, const OpcodeInfo& info);
void print_smem(Text& out, const Instruction& i);
void print_vector(Text& out, const Instruction& i, const OpcodeInfo& info);
void print_packed(Text& out, const Instruction& i, const OpcodeInfo& info);
void print_matrix(Text& out, const Instruction& i, const OpcodeInfo& info);
void print_memory(Text& out, const Instruction& i, const OpcodeInfo& info);

} // namespace emulator

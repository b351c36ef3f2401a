// What the parts of the disassembler share.
#pragma once

#include "opcode_info.hpp"
#include "text.hpp"

namespace emulator {

void print_register(Text& out, const Operand& operand);
/// A register, or a constant as its type prints.
void print_operand(Text& out, const Operand& operand, Type type);

void print_scalar(Text& out, const Instruction& i, const OpcodeInfo& info);
void print_smem(Text& out, const Instruction& i);
void print_vector(Text& out, const Instruction& i, const OpcodeInfo& info);
void print_packed(Text& out, const Instruction& i, const OpcodeInfo& info);
void print_matrix(Text& out, const Instruction& i, const OpcodeInfo& info);
void print_memory(Text& out, const Instruction& i, const OpcodeInfo& info);

} // namespace emulator

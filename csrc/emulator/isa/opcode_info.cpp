#include "opcode_info.hpp"

namespace emulator {
namespace {

consteval OpcodeInfo row(const char* name, Format format, std::uint16_t number, std::uint8_t archs, int forms, Type dst, Type src0,
                         Type src1, Type src2, std::uint32_t traits) {
    return {name, format, number, archs, static_cast<std::uint8_t>(forms), dst, {src0, src1, src2}, traits};
}

struct Table {
    OpcodeInfo rows[static_cast<int>(Opcode::count)];
};

// A function of its own, since the columns name enumerators of five enumerations without their qualifiers.
consteval Table make_table() {
    using enum Format;
    using enum Type;
    using namespace availability;
    using namespace form;
    using namespace trait;
    return {{
#define EMULATOR_OPCODE(name, ...) row(#name, __VA_ARGS__),
#include "opcodes.def"
#undef EMULATOR_OPCODE
    }};
}

constexpr Table kTable = make_table();

constexpr int kFormats = static_cast<int>(Format::scratch) + 1;
constexpr int kNumbers = 704; // above the largest number of a format

struct Numbers {
    Opcode at[kFormats][kNumbers];
};

consteval Numbers make_numbers() {
    Numbers numbers{};
    for (auto& format : numbers.at) {
        for (Opcode& op : format) {
            op = Opcode::count;
        }
    }
    for (int i = 0; i < static_cast<int>(Opcode::count); ++i) {
        const OpcodeInfo& info = kTable.rows[i];
        if (!info.has(trait::scaled)) {
            numbers.at[static_cast<int>(info.format)][info.number] = static_cast<Opcode>(i);
        }
    }
    return numbers;
}

constexpr Numbers kByNumber = make_numbers();

} // namespace

const OpcodeInfo& opcode_info(Opcode op) {
    return kTable.rows[static_cast<int>(op)];
}

Opcode find_opcode(Format format, unsigned number) {
    return number < kNumbers ? kByNumber.at[static_cast<int>(format)][number] : Opcode::count;
}

Opcode find_vop3(unsigned number) {
    constexpr unsigned kVop2 = 0x100, kVop1 = 0x140, kVop3 = 0x1c0;
    if (number >= kVop3) {
        return find_opcode(Format::vop3, number);
    }
    const Opcode op = number < kVop2   ? find_opcode(Format::vopc, number)
                      : number < kVop1 ? find_opcode(Format::vop2, number - kVop2)
                                       : find_opcode(Format::vop1, number - kVop1);
    return op != Opcode::count && (opcode_info(op).forms & form::e64) != 0 ? op : Opcode::count;
}

} // namespace emulator

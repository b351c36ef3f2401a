#include "passes.hpp"

#include "../isa/opcode_info.hpp"

#include <string_view>

namespace emulator {

std::uint8_t matrix_passes(const Instruction& in, Arch arch) {
    const std::string_view name = opcode_info(in.op).name;
    const auto contains = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
    if (in.format != Format::mai || contains("accvgpr")) {
        return 0;
    }
    if (contains("f8f6f4")) {
        // 8-bit operands take twice as long as narrower ones.
        const bool wide = in.cbsz < 2 || in.blgp < 2;
        return static_cast<std::uint8_t>((contains("32x32x64") ? 8 : 4) * (wide ? 2 : 1));
    }
    if (name.ends_with("_f64")) {
        return contains("4x4x4") ? 4 : arch == Arch::gfx942 ? 8 : 16;
    }
    // Shapes of several blocks, and single precision, take twice as long as the others of their size.
    const bool twice = contains("_2b_") || contains("_4b_") || name.ends_with("_f32");
    if (contains("32x32")) {
        return twice ? 16 : 8;
    }
    return contains("16x16") ? (twice ? 8 : 4) : 2;
}

} // namespace emulator

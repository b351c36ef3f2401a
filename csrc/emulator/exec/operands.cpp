// The uncommon ways to read and write vector operands: scalars, constants, DPP, SDWA, modifiers, relative indexing, partial EXEC.
#include "operands.hpp"

#include "dpp.hpp"
#include "sdwa.hpp"

namespace emulator {

void fail(Wave& wave, FaultKind kind, std::uint64_t address) {
    if (!wave.fault) {
        wave.fault.kind = kind;
        wave.fault.address = address;
    }
}

namespace {

/// The vector register an operand means, with relative indexing; -1 after a fault.
int register_of(Wave& wave, const Operand& operand, int word, int role) {
    if (operand.kind == Operand::Kind::agpr) {
        return kAccBase + operand.index + word;
    }
    int index = operand.index + word;
    if (((wave.index_mask() >> role) & 1) != 0) {
        index += static_cast<int>(wave.s[124] & 0xff);
    }
    if (index >= kAccBase) {
        fail(wave, FaultKind::uninitialised_register, static_cast<std::uint64_t>(index));
        return -1;
    }
    return index;
}

const std::uint32_t* fill(Row& buffer, std::uint32_t value) {
    for (std::uint32_t& lane : buffer.lane) {
        lane = value;
    }
    return buffer.lane;
}

} // namespace

std::uint32_t scalar_value(Wave& wave, const Operand& source, int word) {
    switch (source.kind) {
    case Operand::Kind::sgpr:
        return wave.s[(source.index + word) & 127];
    case Operand::Kind::constant:
        return word == 0 ? source.value : source.high;
    case Operand::Kind::special:
        switch (source.index) {
        case 251:
            return word == 0 && wave.vcc() == 0 ? 1u : 0u;
        case 252:
            return word == 0 && wave.exec() == 0 ? 1u : 0u;
        case 253:
            return word == 0 && wave.scc ? 1u : 0u;
        default:
            break;
        }
        [[fallthrough]];
    default:
        fail(wave, FaultKind::unsupported, source.index);
        return 0;
    }
}

const std::uint32_t* fetch_raw(Wave& wave, const Instruction& in, int n, int word, Row& buffer) {
    const bool absent = in.src[n].kind == Operand::Kind::none;
    const Operand& source = absent ? in.dst : in.src[n];
    if (source.kind == Operand::Kind::vgpr || source.kind == Operand::Kind::agpr) {
        const int index = register_of(wave, source, word, absent ? 3 : n);
        return index < 0 ? fill(buffer, 0) : wave.v[index];
    }
    return fill(buffer, scalar_value(wave, source, word));
}

const std::uint32_t* fetch_slow(Wave& wave, const Instruction& in, int n, int word, Reading reading, Row& buffer) {
    const std::uint32_t* row = fetch_raw(wave, in, n, word, buffer);
    if (in.encoding == Encoding::dpp && n == 0) {
        if (!dpp_control_exists(in.dpp.control)) {
            fail(wave, FaultKind::unsupported, in.dpp.control);
        }
        Row source;
        __builtin_memcpy(source.lane, row, sizeof source.lane);
        dpp_read(source.lane, in.dpp, wave.exec(), buffer);
        row = buffer.lane;
    } else if (in.encoding == Encoding::sdwa && n < 2) {
        const unsigned select = n == 0 ? in.sdwa.src0_sel : in.sdwa.src1_sel;
        sdwa_read(row, select, n == 0 ? in.sdwa.src0_sext : in.sdwa.src1_sext, buffer);
        row = buffer.lane;
    }
    const bool wide = reading == Reading::bits64;
    const bool signed_word = !wide || word == 1;
    const bool negate = signed_word && ((in.neg >> n) & 1) != 0;
    const bool positive = signed_word && ((in.abs >> n) & 1) != 0;
    const bool high = reading == Reading::half && in.encoding == Encoding::e64 && ((in.op_sel >> n) & 1) != 0;
    if (!negate && !positive && !high) {
        return row;
    }
    const std::uint32_t sign = reading == Reading::half ? 0x8000u : 0x80000000u;
    const unsigned shift = high ? 16 : 0;
    const std::uint32_t clear = positive ? ~sign : ~0u;
    const std::uint32_t flip = negate ? sign : 0u;
    for (int lane = 0; lane < kLanes; ++lane) {
        buffer.lane[lane] = ((row[lane] >> shift) & clear) ^ flip;
    }
    return buffer.lane;
}

std::uint64_t written_lanes(const Wave& wave, const Instruction& in) {
    const std::uint64_t exec = wave.exec();
    return in.encoding == Encoding::dpp ? exec & dpp_lanes(in.dpp, exec) : exec;
}

void blend(std::uint32_t* target, const std::uint32_t* value, std::uint64_t lanes) {
    if (lanes == ~std::uint64_t{0}) {
        __builtin_memcpy(target, value, sizeof(std::uint32_t) * kLanes);
        return;
    }
    for (int half = 0; half < 2; ++half) {
        const auto mask = static_cast<std::uint32_t>(lanes >> (32 * half));
        std::uint32_t* to = target + 32 * half;
        const std::uint32_t* from = value + 32 * half;
        for (int lane = 0; lane < 32; ++lane) {
            const std::uint32_t keep = ((mask >> lane) & 1u) - 1u;
            to[lane] = (to[lane] & keep) | (from[lane] & ~keep);
        }
    }
}

void store_slow(Wave& wave, const Instruction& in, int word, Placement placement, const Row& value) {
    const int index = register_of(wave, in.dst, word, 3);
    if (index < 0) {
        return;
    }
    std::uint32_t* target = wave.v[index];
    const std::uint64_t lanes = written_lanes(wave, in);
    Row placed;
    if (in.encoding == Encoding::sdwa) {
        sdwa_write(target, value.lane, in.sdwa.dst_sel, in.sdwa.dst_unused, placed);
    } else if (placement == Placement::whole) {
        blend(target, value.lane, lanes);
        return;
    } else if (in.encoding == Encoding::e64 && (in.op_sel & 8) != 0) {
        for (int lane = 0; lane < kLanes; ++lane) {
            placed.lane[lane] = (target[lane] & 0xffffu) | (value.lane[lane] << 16);
        }
    } else {
        const std::uint32_t keep = placement == Placement::low_keeping ? 0xffff0000u : 0u;
        for (int lane = 0; lane < kLanes; ++lane) {
            placed.lane[lane] = (target[lane] & keep) | (value.lane[lane] & 0xffffu);
        }
    }
    blend(target, placed.lane, lanes);
}

void store_mask(Wave& wave, const Instruction& in, std::uint64_t mask) {
    if (in.sdst.index < 127) {
        wave.set_pair(in.sdst.index, mask);
    }
}

std::uint64_t lane_mask_source(Wave& wave, const Instruction& in, int n) {
    return scalar_value(wave, in.src[n], 0) | (std::uint64_t{scalar_value(wave, in.src[n], 1)} << 32);
}

} // namespace emulator

// DS: reads and writes of LDS.
#include "memory_tables.hpp"

#include "../machine/checks.hpp"
#include "memory_access.hpp"

namespace emulator {

namespace {

std::uint64_t active(const Wave& w) {
    return w.exec();
}

/// Address register plus offset; the sum does not wrap below 4 GiB, so that an overflow is out of bounds.
void offsets_of(const Wave& w, const Instruction& in, std::uint32_t offset, LaneOffsets& offsets) {
    const std::uint32_t* address = w.v[row_of(in.src[0])];
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t sum = address[lane] + offset;
        offsets.at[lane] = sum < offset ? ~std::uint32_t{0} : sum;
    }
}

bool accessible(Wave& w, const Instruction& in, const LaneOffsets& offsets, std::uint64_t lanes, std::uint32_t bytes, bool write) {
    if (!in_lds(w, offsets, lanes, bytes, write)) {
        return false;
    }
    std::uint64_t& traffic = write ? w.group->traffic.lds_written : w.group->traffic.lds_read;
    traffic += bytes * static_cast<unsigned>(std::popcount(lanes));
    return w.group->checks == nullptr || check_lds(w, in, offsets.at, lanes, bytes, write ? LdsUse::write : LdsUse::read);
}

template <unsigned bytes, bool sign_extend, Part part> void read(Wave& w, const Instruction& in) {
    constexpr Shape kShape = {bytes, sign_extend, part};
    const std::uint64_t lanes = active(w);
    LaneOffsets offsets;
    offsets_of(w, in, static_cast<std::uint32_t>(in.imm), offsets);
    if (!accessible(w, in, offsets, lanes, bytes, false)) {
        return;
    }
    Pending& entry = begin_pending(w, Port::local, in.pc);
    const std::uint8_t* lds = w.group->lds;
    gather_shape(kShape, entry.data, lanes, [&](int lane) -> const void* { return lds + offsets.at[lane]; });
    load_to_vgprs(w, entry, in, kShape, lanes, Port::local);
}

template <unsigned bytes, Part part> void write(Wave& w, const Instruction& in) {
    constexpr Shape kShape = {bytes, false, part};
    const std::uint64_t lanes = active(w);
    LaneOffsets offsets;
    offsets_of(w, in, static_cast<std::uint32_t>(in.imm), offsets);
    if (!accessible(w, in, offsets, lanes, bytes, true)) {
        return;
    }
    std::uint8_t* lds = w.group->lds;
    scatter_shape(kShape, w.v + row_of(in.src[1]), lanes, [&](int lane) -> void* { return lds + offsets.at[lane]; });
    store_issued(w, in, Port::local);
}

struct TwoOffsets {
    std::uint32_t first, second;
};

/// Offsets of the two-offset forms count elements, or 64 elements.
TwoOffsets two_offsets(const Instruction& in, std::uint32_t unit) {
    const auto both = static_cast<std::uint32_t>(in.imm);
    return {(both & 0xff) * unit, (both >> 8 & 0xff) * unit};
}

template <unsigned bytes, unsigned stride> void read2(Wave& w, const Instruction& in) {
    const std::uint64_t lanes = active(w);
    const TwoOffsets two = two_offsets(in, bytes * stride);
    LaneOffsets first;
    LaneOffsets second;
    offsets_of(w, in, two.first, first);
    offsets_of(w, in, two.second, second);
    if (!accessible(w, in, first, lanes, bytes, false) || !accessible(w, in, second, lanes, bytes, false)) {
        return;
    }
    Pending& entry = begin_pending(w, Port::local, in.pc);
    const std::uint8_t* lds = w.group->lds;
    constexpr int kDwords = bytes / 4;
    gather<kDwords>(entry.data, lanes, [&](int lane) { return lds + first.at[lane]; });
    gather<kDwords>(entry.data + kDwords, lanes, [&](int lane) { return lds + second.at[lane]; });
    load_to_vgprs(w, entry, in, {2 * bytes}, lanes, Port::local);
}

template <unsigned bytes, unsigned stride> void write2(Wave& w, const Instruction& in) {
    const std::uint64_t lanes = active(w);
    const TwoOffsets two = two_offsets(in, bytes * stride);
    LaneOffsets first;
    LaneOffsets second;
    offsets_of(w, in, two.first, first);
    offsets_of(w, in, two.second, second);
    if (!accessible(w, in, first, lanes, bytes, true) || !accessible(w, in, second, lanes, bytes, true)) {
        return;
    }
    std::uint8_t* lds = w.group->lds;
    scatter<bytes / 4>(w.v + row_of(in.src[1]), lanes, [&](int lane) { return lds + first.at[lane]; });
    scatter<bytes / 4>(w.v + row_of(in.src[2]), lanes, [&](int lane) { return lds + second.at[lane]; });
    store_issued(w, in, Port::local);
}

/// The forms addressed by M0 and the lane's number.
void addtid_offsets(const Wave& w, const Instruction& in, LaneOffsets& offsets) {
    for (int lane = 0; lane < kLanes; ++lane) {
        offsets.at[lane] = (w.s[124] & 0xffff) + static_cast<std::uint32_t>(in.imm) + 4U * static_cast<unsigned>(lane);
    }
}

void read_addtid(Wave& w, const Instruction& in) {
    LaneOffsets offsets;
    addtid_offsets(w, in, offsets);
    if (!accessible(w, in, offsets, active(w), 4, false)) {
        return;
    }
    Pending& entry = begin_pending(w, Port::local, in.pc);
    gather<1>(entry.data, active(w), [&](int lane) { return w.group->lds + offsets.at[lane]; });
    load_to_vgprs(w, entry, in, {4}, active(w), Port::local);
}

void write_addtid(Wave& w, const Instruction& in) {
    LaneOffsets offsets;
    addtid_offsets(w, in, offsets);
    if (!accessible(w, in, offsets, active(w), 4, true)) {
        return;
    }
    const Operand& data = is_absent(in.src[1]) ? in.src[0] : in.src[1];
    scatter<1>(w.v + row_of(data), active(w), [&](int lane) { return w.group->lds + offsets.at[lane]; });
    store_issued(w, in, Port::local);
}

/// Transposing reads work on groups of 16 lanes. A group reads a tile of `count` rows of 16 elements, the lanes' pieces following
/// each other row by row, and lane i gets column i.
template <unsigned bytes, unsigned bits> void read_transposed(Wave& w, const Instruction& in) {
    constexpr unsigned kCount = bytes * 8 / bits; // elements of a lane
    constexpr Shape kShape = {bytes};
    const std::uint64_t lanes = active(w);
    LaneOffsets offsets;
    offsets_of(w, in, static_cast<std::uint32_t>(in.imm), offsets);
    if (!accessible(w, in, offsets, lanes, bytes, false)) {
        return;
    }
    std::uint8_t piece[kLanes][16] = {};
    each_lane(lanes, [&](int lane) { std::memcpy(piece[lane], w.group->lds + offsets.at[lane], bytes); });
    Pending& entry = begin_pending(w, Port::local, in.pc);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        unsigned __int128 column = 0;
        for (unsigned row = 0; row < kCount; ++row) {
            const unsigned element = row * 16 + lane % 16;
            unsigned __int128 words = 0;
            std::memcpy(&words, piece[(lane & ~15U) + element / kCount], bytes);
            const auto value = static_cast<std::uint32_t>(words >> (element % kCount * bits)) & ((1U << bits) - 1);
            column |= static_cast<unsigned __int128>(value) << (row * bits);
        }
        for (unsigned dword = 0; dword < bytes / 4; ++dword) {
            entry.data[dword][lane] = static_cast<std::uint32_t>(column >> (32 * dword));
        }
    }
    load_to_vgprs(w, entry, in, kShape, lanes, Port::local);
}

} // namespace

Executor ds_executor(unsigned number) {
    switch (number) {
    case 13: // ds_write_b32
        return write<4, Part::whole>;
    case 14: // ds_write2_b32
        return write2<4, 1>;
    case 15: // ds_write2st64_b32
        return write2<4, 64>;
    case 29: // ds_write_addtid_b32
        return write_addtid;
    case 30: // ds_write_b8
        return write<1, Part::whole>;
    case 31: // ds_write_b16
        return write<2, Part::whole>;
    case 54: // ds_read_b32
        return read<4, false, Part::whole>;
    case 55: // ds_read2_b32
        return read2<4, 1>;
    case 56: // ds_read2st64_b32
        return read2<4, 64>;
    case 57: // ds_read_i8
        return read<1, true, Part::whole>;
    case 58: // ds_read_u8
        return read<1, false, Part::whole>;
    case 59: // ds_read_i16
        return read<2, true, Part::whole>;
    case 60: // ds_read_u16
        return read<2, false, Part::whole>;
    case 77: // ds_write_b64
        return write<8, Part::whole>;
    case 78: // ds_write2_b64
        return write2<8, 1>;
    case 79: // ds_write2st64_b64
        return write2<8, 64>;
    case 84: // ds_write_b8_d16_hi
        return write<1, Part::high>;
    case 85: // ds_write_b16_d16_hi
        return write<2, Part::high>;
    case 86: // ds_read_u8_d16
        return read<1, false, Part::low>;
    case 87: // ds_read_u8_d16_hi
        return read<1, false, Part::high>;
    case 88: // ds_read_i8_d16
        return read<1, true, Part::low>;
    case 89: // ds_read_i8_d16_hi
        return read<1, true, Part::high>;
    case 90: // ds_read_u16_d16
        return read<2, false, Part::low>;
    case 91: // ds_read_u16_d16_hi
        return read<2, false, Part::high>;
    case 118: // ds_read_b64
        return read<8, false, Part::whole>;
    case 119: // ds_read2_b64
        return read2<8, 1>;
    case 120: // ds_read2st64_b64
        return read2<8, 64>;
    case 182: // ds_read_addtid_b32
        return read_addtid;
    case 222: // ds_write_b96
        return write<12, Part::whole>;
    case 223: // ds_write_b128
        return write<16, Part::whole>;
    case 224: // ds_read_b64_tr_b4
        return read_transposed<8, 4>;
    case 225: // ds_read_b96_tr_b6
        return read_transposed<12, 6>;
    case 226: // ds_read_b64_tr_b8
        return read_transposed<8, 8>;
    case 227: // ds_read_b64_tr_b16
        return read_transposed<8, 16>;
    case 254: // ds_read_b96
        return read<12, false, Part::whole>;
    case 255: // ds_read_b128
        return read<16, false, Part::whole>;
    default:
        return nullptr;
    }
}

} // namespace emulator

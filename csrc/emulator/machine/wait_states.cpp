#include "wait_states.hpp"

#include "../isa/opcode_info.hpp"
#include "passes.hpp"

#include <cstring>
#include <string_view>

namespace emulator {

namespace {

using emulator_host::WaitRule;

enum : std::uint8_t {
    kVector = 1 << 0,  // vector ALU
    kTrans = 1 << 1,   // of the transcendental unit
    kShifted = 1 << 2, // its result goes to another place of the register than bit 0
    kDot = 1 << 3,
    kXdl = 1 << 4, // matrix core, by the precision of its operands
    kSingle = 1 << 5,
    kDouble = 1 << 6,
    kNarrow = 1 << 7, // packs 4-bit floats
    kMatrix = kXdl | kSingle | kDouble,
};

constexpr std::uint8_t traits_by_name(std::string_view name) {
    constexpr std::string_view kTranscendental[] = {"v_exp_f", "v_exp_legacy", "v_log_f", "v_log_legacy", "v_rcp_",
                                                    "v_rsq_",  "v_sqrt_",      "v_sin_f", "v_cos_f"};
    if (!name.starts_with("v_")) {
        return 0;
    }
    for (const std::string_view prefix : kTranscendental) {
        if (name.starts_with(prefix)) {
            return kTrans;
        }
    }
    if (name.starts_with("v_dot")) {
        return kDot;
    }
    if (name.starts_with("v_cvt_") && name.find("pk_fp4_") != std::string_view::npos) {
        return kNarrow;
    }
    if (name.starts_with("v_mfma") || name.starts_with("v_smfmac")) {
        return name.ends_with("_f64") ? kDouble : name.ends_with("_f32") ? kSingle : kXdl;
    }
    return 0;
}

constexpr std::uint8_t kByName[] = {
#define EMULATOR_OPCODE(name, ...) traits_by_name(#name),
#include "../isa/opcodes.def"
#undef EMULATOR_OPCODE
};

bool is_shifted(const Instruction& in, std::uint8_t traits) {
    if ((traits & kNarrow) != 0) {
        return true; // wherever op_sel puts the byte
    }
    if (in.encoding == Encoding::sdwa) {
        return in.format != Format::vopc && in.sdwa.dst_sel != 6;
    }
    const bool by_byte = opcode_info(in.op).has(trait::op_sel_src2);
    return in.encoding == Encoding::e64 && in.format != Format::vop3p && (in.op_sel & (by_byte ? 12 : 8)) != 0;
}

/// Does the destination keep a part of what it held?
bool keeps_part(const Instruction& in, std::uint8_t traits) {
    constexpr std::uint8_t kPreserve = 2;
    return in.encoding == Encoding::sdwa ? in.sdwa.dst_unused == kPreserve && in.sdwa.dst_sel != 6 : is_shifted(in, traits);
}

/// What an instruction is to these rules.
struct Role {
    std::uint8_t traits;
    std::uint8_t passes;
    std::uint8_t accumulator;    // the place of the operand that a product is added to
    bool vector, matrix, memory; // memory: through vector registers
};

Role role_of(const Wave& wave, const Instruction& in) {
    Role role = {};
    role.traits = kByName[static_cast<int>(in.op)];
    role.matrix = (role.traits & kMatrix) != 0;
    role.passes = role.matrix ? matrix_passes(in, wave.arch) : 0;
    role.accumulator = opcode_info(in.op).has(trait::reads_dst) ? kTargetRole : 2;
    role.vector = is_vector_alu(in) || (in.format == Format::mai && !role.matrix);
    role.memory = is_vector_memory(in) || in.format == Format::ds;
    role.traits |= static_cast<std::uint8_t>((role.vector ? kVector : 0) | (role.vector && is_shifted(in, role.traits) ? kShifted : 0));
    return role;
}

enum class After : std::uint8_t { read, load_or_store, write, matrix_ab, matrix_c };

/// States between a matrix instruction and one that touches its result.
int after_matrix(const Producer& from, After use, Arch arch) {
    const bool cdna4 = arch == Arch::gfx950;
    if ((from.traits & kDouble) != 0) {
        const bool small = from.passes == 4;
        switch (use) {
        case After::load_or_store:
            return small ? 9 : 18;
        case After::matrix_c:
            return small ? 4 : cdna4 ? 17 : 9;
        default:
            return small ? 6 : cdna4 ? 19 : 11;
        }
    }
    const bool xdl = (from.traits & kXdl) != 0;
    const int slower = xdl && cdna4 && from.passes != 2 ? 1 : 0;
    return from.passes + slower + (use == After::matrix_c ? 0 : 2) + (xdl ? 1 : 0);
}

bool names_lane(Opcode op) {
    return op == Opcode::v_readlane_b32 || op == Opcode::v_writelane_b32;
}

bool reads_lane(Opcode op) {
    return op == Opcode::v_readlane_b32 || op == Opcode::v_readfirstlane_b32;
}

bool swaps_rows(Opcode op) {
    return op == Opcode::v_permlane16_swap_b32 || op == Opcode::v_permlane32_swap_b32;
}

bool is_div_fmas(Opcode op) {
    return op == Opcode::v_div_fmas_f32 || op == Opcode::v_div_fmas_f64;
}

bool is_fused_double(Opcode op) {
    return op == Opcode::v_fma_f64 || op == Opcode::v_fmac_f64;
}

bool sets_register(Opcode op) {
    return op == Opcode::s_setreg_b32 || op == Opcode::s_setreg_imm32_b32;
}

class Check {
public:
    Check(Wave& wave, WaitStates& states, const Instruction& in, BreachSink sink)
        : wave_(wave), states_(states), in_(in), sink_(sink), role_(role_of(wave, in)) {}

    void run(const Spans& read, const Spans& written) {
        if (role_.matrix && states_.matrix_free > states_.slot) {
            states_.slot = states_.matrix_free;
        }
        for (const Span& span : read) {
            for (int n = span.first; n < span.first + span.count; ++n) {
                span.vector ? vector_read(span, n) : scalar_read(span, n);
            }
        }
        if (role_.vector || role_.memory) {
            for (const Span& span : written) {
                for (int n = span.first; span.vector && n < span.first + span.count; ++n) {
                    vector_written(n);
                }
            }
        }
        implied();
        note(read, written);
    }

private:
    void need(WaitRule rule, const Producer& from, int states, int where) {
        if (from.slot == 0) {
            return;
        }
        const auto had = static_cast<std::int64_t>(states_.slot - from.slot) - 1;
        if (had < states) {
            sink_(wave_, in_, {rule, &from, where, states, static_cast<int>(had)});
        }
    }

    void vector_read(const Span& span, int n) {
        const Producer& from = states_.vector[n];
        if (from.slot == 0) {
            return;
        }
        const bool accumulator = span.role == role_.accumulator;
        if (role_.matrix) {
            if ((from.traits & kMatrix) != 0) {
                matrix_to_matrix(from, span, accumulator, n);
            } else if ((from.traits & kDot) == 0) {
                need(WaitRule::valu_vgpr_matrix, from, 2, n);
            }
            return;
        }
        if ((from.traits & kMatrix) != 0 && (role_.vector || role_.memory)) {
            need(WaitRule::matrix_read, from, after_matrix(from, role_.memory ? After::load_or_store : After::read, wave_.arch), n);
        }
        if (!role_.vector || (from.traits & kVector) == 0) {
            return;
        }
        part_read(from, n);
        if ((from.traits & kDot) != 0 && !(from.op == in_.op && accumulator)) {
            need(WaitRule::dot_valu, from, 3, n);
        }
        if (in_.encoding == Encoding::dpp) {
            need(WaitRule::valu_vgpr_dpp, from, 2, n);
        }
        if (reads_lane(in_.op)) {
            need(WaitRule::valu_vgpr_readlane, from, 1, n);
        }
        if (swaps_rows(in_.op)) {
            need(WaitRule::valu_vgpr_permlane, from, 2, n);
        }
    }

    /// Also what the part of a register that stays is to the instruction that writes the rest.
    void part_read(const Producer& from, int n) {
        if ((from.traits & kTrans) != 0 && (role_.traits & kTrans) == 0) {
            need(WaitRule::trans_valu, from, 1, n);
        }
        if ((from.traits & kShifted) != 0) {
            need(WaitRule::shifted_valu, from, 1, n);
        }
    }

    void matrix_to_matrix(const Producer& from, const Span& span, bool accumulator, int n) {
        if (!accumulator) {
            need(WaitRule::matrix_ab, from, after_matrix(from, After::matrix_ab, wave_.arch), n);
            return;
        }
        const bool same = from.first == span.first && from.count == span.count;
        const bool doubles = (from.traits & role_.traits & kDouble) != 0;
        int states = 0;
        if (same) {
            // The result is handed on inside the matrix core.
            states = doubles && from.passes == 4 && role_.passes == 4 ? 4 : from.passes == 2 ? 2 : 0;
        } else if ((role_.traits & kXdl) == 0 || (from.traits & kXdl) != 0) {
            states = after_matrix(from, After::matrix_c, wave_.arch);
        }
        need(WaitRule::matrix_c, from, states, n);
    }

    void scalar_read(const Span& span, int n) {
        const Producer& from = states_.scalar[n];
        const int where = kVectorRows + n;
        if (is_vector_memory(in_)) {
            need(WaitRule::valu_sgpr_vmem, from, 5, where);
        } else if (role_.vector && span.role == 1 && names_lane(in_.op)) {
            need(WaitRule::valu_sgpr_lane, from, 4, where);
        } else if (role_.vector && span.role == kImplicitRole && n != kM0) {
            is_div_fmas(in_.op) ? need(WaitRule::valu_vcc_div_fmas, from, 4, where) : need(WaitRule::valu_flag_valu, from, 5, where);
        } else if (role_.vector && span.role != kImplicitRole) {
            need(WaitRule::valu_sgpr_valu, from, 2, where);
        }
    }

    void vector_written(int n) {
        const Producer& from = states_.vector[n];
        if (from.slot != 0 && (from.traits & kMatrix) != 0) {
            need(WaitRule::matrix_write, from, after_matrix(from, After::write, wave_.arch), n);
        }
        if (role_.vector && from.slot != 0 && keeps_part(in_, role_.traits)) {
            part_read(from, n);
        }
        if (role_.vector && from.slot != 0 && (from.traits & kDot) != 0 && from.op != in_.op) {
            need(WaitRule::dot_write, from, 3, n);
        }
        need(WaitRule::matrix_c_write, states_.matrix_c[n], states_.matrix_c[n].passes - 1, n);
        if (role_.vector) {
            need(WaitRule::store_write, states_.stored[n], 2, n);
        }
    }

    void implied() {
        const Producer& exec = states_.scalar[kExec];
        const int where = kVectorRows + kExec;
        if (role_.matrix) {
            need(WaitRule::valu_exec_matrix, exec, 4, where);
        } else if (role_.vector) {
            if (in_.encoding == Encoding::dpp) {
                need(WaitRule::valu_exec_dpp, exec, 5, where);
            }
            if (names_lane(in_.op) || reads_lane(in_.op) || swaps_rows(in_.op)) {
                need(WaitRule::valu_exec_lane, exec, 4, where);
            }
            for (const Operand& source : in_.src) {
                if (source.kind == Operand::Kind::special && source.index == kExecIsZero) {
                    need(WaitRule::valu_flag_valu, exec, 5, where);
                }
            }
            if (is_fused_double(in_.op)) {
                need(WaitRule::double_matrix_fma, states_.double_matrix, 2, states_.double_matrix.first);
            }
        }
        const bool counts = in_.op == Opcode::ds_append || in_.op == Opcode::ds_consume;
        if (in_.op == Opcode::s_sendmsg || (reads_m0(wave_, in_) && !role_.vector && (!counts || in_.gds))) {
            need(WaitRule::salu_m0, states_.m0, 1, kVectorRows + kM0);
        }
        if (sets_register(in_.op) || in_.op == Opcode::s_getreg_b32) {
            const WaitRule rule = sets_register(in_.op) ? WaitRule::setreg_setreg : WaitRule::setreg_getreg;
            need(rule, states_.set[in_.imm & 63], 2, in_.imm & 63);
        }
    }

    void note(const Spans& read, const Spans& written) {
        const Span result = written.begin() != written.end() ? *written.begin() : Span{};
        const Producer self = {states_.slot, in_.pc, in_.op, result.first, result.count, role_.passes, role_.traits};
        const Producer none = {};
        const bool produces = role_.vector || role_.matrix;
        for (const Span& span : written) {
            for (int n = span.first; n < span.first + span.count; ++n) {
                (span.vector ? states_.vector : states_.scalar)[n] = produces ? self : none;
                if (!span.vector && n == kM0) {
                    states_.m0 = produces || is_memory(in_) ? none : self;
                }
            }
        }
        for (const Span& span : read) {
            note_read(span, self);
        }
        if ((role_.traits & kDouble) != 0) {
            states_.double_matrix = self;
        }
        if (sets_register(in_.op)) {
            states_.set[in_.imm & 63] = self;
        }
        if (role_.matrix) {
            states_.matrix_free = states_.slot + role_.passes;
        }
        states_.slot += in_.op == Opcode::s_nop ? static_cast<std::uint64_t>(in_.imm & 15) + 1 : 1;
    }

    void note_read(const Span& span, const Producer& self) {
        if (!span.vector) {
            return;
        }
        const bool is_c = (role_.traits & kXdl) != 0 && span.role == role_.accumulator;
        // With a scalar offset a buffer store takes its data in time.
        const bool is_data = in_.format == Format::mubuf ? span.role == 3 && in_.src[2].kind != Operand::Kind::sgpr
                                                         : is_vector_memory(in_) && span.role == 1;
        for (int n = span.first; n < span.first + span.count; ++n) {
            if (is_c) {
                states_.matrix_c[n] = self;
            }
            if (is_data && span.count > 2) {
                states_.stored[n] = self;
            }
        }
    }

    Wave& wave_;
    WaitStates& states_;
    const Instruction& in_;
    BreachSink sink_;
    Role role_;
};

} // namespace

void begin_wait_states(WaitStates& states) {
    std::memset(&states, 0, sizeof(states));
    states.slot = 1;
}

void check_wait_states(Wave& wave, WaitStates& states, const Instruction& in, const Spans& read, const Spans& written, BreachSink sink) {
    Check(wave, states, in, sink).run(read, written);
}

} // namespace emulator

// The part of a report about uses that only timing makes right.
#include "report.hpp"

namespace emulator_host {

namespace {

const char* finding_name(Finding::Kind kind) {
    switch (kind) {
    case Finding::Kind::vgpr_before_wait:
        return "vgpr_before_wait";
    case Finding::Kind::sgpr_before_wait:
        return "sgpr_before_wait";
    case Finding::Kind::vgpr_write_before_wait:
        return "vgpr_write_before_wait";
    case Finding::Kind::sgpr_write_before_wait:
        return "sgpr_write_before_wait";
    case Finding::Kind::lds_before_wait:
        return "lds_before_wait";
    case Finding::Kind::lds_write_before_wait:
        return "lds_write_before_wait";
    case Finding::Kind::lds_read_after_write:
        return "lds_read_after_write";
    case Finding::Kind::lds_write_after_read:
        return "lds_write_after_read";
    case Finding::Kind::lds_write_after_write:
        return "lds_write_after_write";
    case Finding::Kind::wait_states:
        return "wait_states";
    }
    return "unknown";
}

const char* rule_name(WaitRule rule) {
    switch (rule) {
    case WaitRule::none:
        break;
    case WaitRule::valu_sgpr_vmem:
        return "VALU writes SGPR, VMEM reads it";
    case WaitRule::valu_sgpr_valu:
        return "VALU writes SGPR, VALU reads it";
    case WaitRule::valu_sgpr_lane:
        return "VALU writes SGPR, v_readlane or v_writelane takes the lane from it";
    case WaitRule::valu_vcc_div_fmas:
        return "VALU writes VCC, v_div_fmas reads it";
    case WaitRule::valu_flag_valu:
        return "VALU writes VCC or EXEC, VALU reads vccz or execz";
    case WaitRule::valu_exec_dpp:
        return "VALU writes EXEC, DPP";
    case WaitRule::valu_exec_lane:
        return "VALU writes EXEC, move between lanes";
    case WaitRule::valu_exec_matrix:
        return "VALU writes EXEC, MFMA";
    case WaitRule::valu_vgpr_dpp:
        return "VALU writes VGPR, DPP reads it";
    case WaitRule::valu_vgpr_readlane:
        return "VALU writes VGPR, v_readlane reads it";
    case WaitRule::valu_vgpr_permlane:
        return "VALU writes VGPR, v_permlane swaps it";
    case WaitRule::valu_vgpr_matrix:
        return "VALU writes VGPR, MFMA reads it";
    case WaitRule::trans_valu:
        return "transcendental VALU writes VGPR, other VALU reads it";
    case WaitRule::shifted_valu:
        return "VALU writes part of a VGPR by op_sel or SDWA, VALU reads it";
    case WaitRule::dot_valu:
        return "dot product writes VGPR, VALU reads it";
    case WaitRule::dot_write:
        return "dot product writes VGPR, VALU writes it";
    case WaitRule::matrix_read:
        return "MFMA writes VGPR, VALU or memory reads it";
    case WaitRule::matrix_ab:
        return "MFMA writes VGPR, MFMA reads it as A or B";
    case WaitRule::matrix_c:
        return "MFMA writes VGPR, MFMA reads it as C";
    case WaitRule::matrix_write:
        return "MFMA writes VGPR, VALU or memory writes it";
    case WaitRule::matrix_c_write:
        return "MFMA reads VGPR as C, VALU or memory writes it";
    case WaitRule::double_matrix_fma:
        return "MFMA of doubles, v_fma_f64";
    case WaitRule::store_write:
        return "store of more than two dwords reads VGPR, VALU writes it";
    case WaitRule::salu_m0:
        return "SALU writes M0, LDS or message reads it";
    case WaitRule::setreg_getreg:
        return "s_setreg, s_getreg of the same register";
    case WaitRule::setreg_setreg:
        return "s_setreg, s_setreg of the same register";
    }
    return "none";
}

void write_finding(Json& json, const Function& function, const Finding& finding) {
    const bool of_setreg = finding.rule == WaitRule::setreg_getreg || finding.rule == WaitRule::setreg_setreg;
    json.open(nullptr, '{');
    json.text("kind", finding_name(finding.kind));
    write_place(json, function, "use", finding.pc);
    write_place(json, function, "source", finding.from_pc);
    json.number("where", finding.where);
    if (std::strncmp(finding_name(finding.kind), "lds", 3) != 0 && !of_setreg) {
        write_register(json, finding.where);
    }
    if (finding.clocks != kNoClocks) {
        json.signed_number("clocks", finding.clocks);
    }
    if (finding.kind == Finding::Kind::wait_states) {
        json.text("rule", rule_name(finding.rule));
        json.signed_number("needed", finding.needed);
        json.signed_number("had", finding.had);
        json.signed_number("missing", finding.needed - finding.had);
    }
    json.number("count", finding.count);
    json.close('}');
}

} // namespace

void write_register(Json& json, std::uint32_t number) {
    constexpr std::uint32_t kAccumulators = 256;
    constexpr std::uint32_t kScalars = 512;
    const std::uint32_t scalar = number - kScalars;
    char text[16];
    if (number < kScalars) {
        snprintf(text, sizeof(text), "%c%u", number < kAccumulators ? 'v' : 'a', number % kAccumulators);
    } else if (scalar == 106 || scalar == 107 || scalar == 126 || scalar == 127) {
        snprintf(text, sizeof(text), "%s_%s", scalar < 108 ? "vcc" : "exec", scalar % 2 == 0 ? "lo" : "hi");
    } else {
        snprintf(text, sizeof(text), scalar == 124 ? "m0" : "s%u", scalar);
    }
    json.text("register", text);
}

void write_findings(Json& json, const Function& function, const LaunchResult& result) {
    json.open("findings_by_kind", '{');
    for (int kind = 0; kind <= static_cast<int>(Finding::Kind::wait_states); ++kind) {
        std::uint64_t count = 0;
        for (int index = 0; index < result.findings; ++index) {
            count += static_cast<int>(result.finding[index].kind) == kind ? 1 : 0;
        }
        if (count != 0) {
            json.number(finding_name(static_cast<Finding::Kind>(kind)), count);
        }
    }
    json.close('}');
    json.open("findings", '[');
    for (int index = 0; index < result.findings; ++index) {
        write_finding(json, function, result.finding[index]);
    }
    json.close(']');
    json.number("findings_left_off", result.findings_left_off);
}

} // namespace emulator_host

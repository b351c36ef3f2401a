// What the host side asks of one compiled level of the machine, and what it gets back.
//
// The machine is compiled once per level of x86-64 in a namespace of its own (the build defines `emulator` as the level's
// namespace); everything here is outside it and the same for all levels.
#pragma once

#include "../memory/ranges.hpp"

#include <cstddef>
#include <cstdint>

namespace emulator_host {

enum class Timing : std::uint8_t {
    latency,    // LDS and memory answer after a fixed number of clocks
    instant,    // at issue
    at_wait,    // only at the s_waitcnt that covers them
    random,     // a latency drawn for each access from the seed
    slow_index, // single dwords and scalar loads, which fetch indices, take several times as long as the rest
};

enum class Poison : std::uint8_t { zero, finite, nan };

/// Options of a launch.
struct Options {
    Timing timing = Timing::latency;
    std::uint32_t lds_latency = 130;
    std::uint32_t memory_latency = 600;
    std::uint64_t seed = 0;
    std::uint64_t instruction_budget = std::uint64_t{1} << 34; // wave instructions of one workgroup
    std::uint32_t threads = 0;                                 // 0: one for each CPU of the process
    Poison poison = Poison::finite;                            // registers and LDS before they are written
    bool check_uninitialised = false;                          // a read of a register or of LDS never written is a fault
    bool find_hazards = false;                                 // registers used and LDS reused with nothing to order it are findings
};

/// A kernel as its descriptor and metadata give it, ready to run.
struct KernelStart {
    int arch = 0;                   // 0 gfx942, 1 gfx950
    std::uint64_t code_address = 0; // device address of the first byte of the text
    std::uint32_t entry = 0;        // offset in the text
    std::uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
    std::uint16_t properties = 0;    // which SGPRs are set up
    std::uint8_t preload_dwords = 0; // kernel arguments that arrive in SGPRs
    std::uint16_t preload_offset = 0;
    std::uint32_t private_bytes = 0; // scratch of a lane
};

struct LaunchRequest {
    const void* code = nullptr; // of Engine::predecode
    KernelStart kernel;
    std::uint32_t grid[3] = {1, 1, 1};
    std::uint32_t block[3] = {1, 1, 1};
    std::uint32_t lds_bytes = 0; // static and dynamic
    std::uint64_t kernarg = 0;   // device address
    const std::uint8_t* kernarg_bytes = nullptr;
    std::uint64_t dispatch_packet = 0;
    Ranges memory = {};
    Options options;
};

/// What must lie between two instructions: the earlier one, its result, and the later one.
enum class WaitRule : std::uint8_t {
    none,
    valu_sgpr_vmem,
    valu_sgpr_valu,
    valu_sgpr_lane,
    valu_vcc_div_fmas,
    valu_flag_valu,
    valu_exec_dpp,
    valu_exec_lane,
    valu_exec_matrix,
    valu_vgpr_dpp,
    valu_vgpr_readlane,
    valu_vgpr_permlane,
    valu_vgpr_matrix,
    trans_valu,
    shifted_valu,
    dot_valu,
    dot_write,
    matrix_read,
    matrix_ab,
    matrix_c,
    matrix_write,
    matrix_c_write,
    double_matrix_fma,
    store_write,
    salu_m0,
    setreg_getreg,
    setreg_setreg,
};

/// A use that only timing makes right.
struct Finding {
    enum class Kind : std::uint8_t {
        vgpr_before_wait,
        sgpr_before_wait,
        vgpr_write_before_wait,
        sgpr_write_before_wait,
        lds_before_wait,
        lds_write_before_wait,
        lds_read_after_write,
        lds_write_after_read,
        lds_write_after_write,
        wait_states,
    };
    Kind kind;
    WaitRule rule;
    std::uint32_t pc;      // of the use, offset in the text
    std::uint32_t from_pc; // of the load, or of the earlier access
    std::uint32_t where;   // register, scalar ones from 512 on; or LDS byte; or hardware register of s_setreg
    std::int64_t clocks;   // between the arrival of the data (or the earlier access) and the use; negative: used too early
    int needed, had;       // wait states
    std::uint64_t count;
};

inline constexpr std::int64_t kNoClocks = INT64_MIN; // what arrives only at its s_waitcnt has no distance
inline constexpr int kMaxFindings = 512;
inline constexpr int kMaxOpcodes = 2048;

struct LaunchFault {
    std::uint8_t kind = 0; // emulator::FaultKind
    std::int16_t lane = -1;
    bool write = false;
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    std::uint32_t pc = 0; // offset in the text
    std::uint32_t workgroup[3] = {};
    std::uint64_t workgroup_number = 0;
    std::uint32_t wave = 0;
    std::uint64_t clock = 0;
};

struct LaunchResult {
    bool faulted = false;
    bool out_of_memory = false;
    LaunchFault fault;
    std::uint64_t executed[kMaxOpcodes];                              // wave instructions by opcode
    std::uint64_t global_read, global_written, lds_read, lds_written; // bytes of active lanes
    std::uint64_t workgroups;
    std::uint64_t longest_clock; // issue clock of the last wave to end, the largest over workgroups
    int findings;
    std::uint64_t findings_left_off; // occurrences of further findings, beyond the most that are kept
    Finding finding[kMaxFindings];
};

/// One compiled level.
struct Engine {
    const char* level;
    /// Null when memory is out. `bytes` is the text section of a code object.
    void* (*predecode)(int arch, const std::uint8_t* bytes, std::size_t size);
    void (*release)(void* code);
    void (*launch)(const LaunchRequest&, LaunchResult&);
    /// Text of the instruction at an offset, into `out`.
    void (*disassemble)(const void* code, std::uint32_t pc, char* out, std::size_t size);
    /// The next instruction at or after an offset, in a walk over the text from its start, that cannot run; ~0 if there is none.
    std::uint32_t (*next_unknown)(const void* code, std::uint32_t from);
    const char* (*opcode_name)(int opcode);  // null past the last
    const char* (*fault_name)(std::uint8_t); // of a FaultKind
};

} // namespace emulator_host

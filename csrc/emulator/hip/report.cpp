#include "report.hpp"

#include "level.hpp"

namespace emulator_host {

void write_place(Json& json, const Function& function, const char* name, std::uint32_t pc) {
    constexpr int kText = 320;
    char text[kText];
    engine().disassemble(function.code, pc, text, sizeof(text));
    json.open(name, '{');
    json.address("pc", function.kernel.text_address + pc); // as a disassembler of the object shows it
    json.text("instruction", text);
    json.close('}');
}

namespace {

/// The range nearest to an access, and how far the access is outside: 0 if it only lacks the permission.
void write_nearest(Json& json, const Ranges& memory, std::uint64_t begin, std::uint64_t bytes) {
    const Range* nearest = nullptr;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t index = 0; index < memory.count; ++index) {
        const Range& range = memory.data[index];
        const std::uint64_t before = begin < range.begin ? range.begin - begin : 0;
        const std::uint64_t after = begin + bytes > range.end ? begin + bytes - range.end : 0;
        const std::uint64_t distance = before > after ? before : after;
        if (distance < least) {
            least = distance;
            nearest = &range;
        }
    }
    if (nearest == nullptr) {
        return;
    }
    json.open("nearest", '{');
    json.address("begin", nearest->begin);
    json.address("end", nearest->end);
    json.boolean("writable", nearest->writable);
    json.text("side", begin < nearest->begin ? "before" : begin + bytes > nearest->end ? "after" : "inside");
    json.number("distance", least);
    json.close('}');
}

/// Is the address of this fault one of memory, rather than of LDS, a register or an opcode?
bool is_of_memory(const char* kind) {
    return std::strcmp(kind, "global_out_of_bounds") == 0 || std::strcmp(kind, "scalar_out_of_bounds") == 0 ||
           std::strcmp(kind, "misaligned") == 0;
}

void write_fault(Json& json, const Function& function, const LaunchRequest& request, const LaunchFault& fault) {
    const char* kind = engine().fault_name(fault.kind);
    json.open("fault", '{');
    json.text("kind", kind);
    json.text("kernel", function.kernel.name);
    write_place(json, function, "at", fault.pc);
    json.open("workgroup", '[');
    for (const std::uint32_t id : fault.workgroup) {
        json.number(nullptr, id);
    }
    json.close(']');
    json.number("wave", fault.wave);
    json.signed_number("lane", fault.lane);
    json.address("address", fault.address);
    json.number("bytes", fault.size);
    json.text("access", fault.write ? "write" : "read");
    json.number("clock", fault.clock);
    if (std::strcmp(kind, "uninitialised_register") == 0) {
        write_register(json, static_cast<std::uint32_t>(fault.address));
    }
    if (is_of_memory(kind)) {
        write_nearest(json, request.memory, fault.address, fault.size);
    }
    json.close('}');
}

const char* class_of(const char* name) {
    struct Prefix {
        const char* text;
        const char* name;
    };

    constexpr Prefix kPrefixes[] = {
        {"v_mfma", "mfma"},   {"v_smfma", "mfma"},      {"v_accvgpr", "valu"},   {"v_", "valu"},         {"s_load", "smem"},
        {"s_buffer", "smem"}, {"s_store", "smem"},      {"s_mem", "smem"},       {"s_dcache", "smem"},   {"s_waitcnt", "wait"},
        {"s_nop", "wait"},    {"s_barrier", "barrier"}, {"s_cbranch", "branch"}, {"s_branch", "branch"}, {"s_", "salu"},
        {"ds_", "lds"},       {"buffer_", "vmem"},      {"global_", "vmem"},     {"flat_", "vmem"},      {"scratch_", "vmem"},
    };
    for (const Prefix& prefix : kPrefixes) {
        if (std::strncmp(name, prefix.text, std::strlen(prefix.text)) == 0) {
            return prefix.name;
        }
    }
    return "other";
}

void write_counters(Json& json, const LaunchResult& result) {
    constexpr const char* kClasses[] = {"valu", "mfma", "salu", "branch", "smem", "lds", "vmem", "wait", "barrier", "other"};
    constexpr int kCount = sizeof(kClasses) / sizeof(kClasses[0]);
    std::uint64_t counts[kCount] = {};
    std::uint64_t total = 0;
    for (int op = 0; engine().opcode_name(op) != nullptr; ++op) {
        const char* name = class_of(engine().opcode_name(op));
        for (int index = 0; index < kCount; ++index) {
            counts[index] += std::strcmp(name, kClasses[index]) == 0 ? result.executed[op] : 0;
        }
        total += result.executed[op];
    }
    json.open("counters", '{');
    json.number("wave_instructions", total);
    json.open("by_class", '{');
    for (int index = 0; index < kCount; ++index) {
        json.number(kClasses[index], counts[index]);
    }
    json.close('}');
    json.open("mfma", '{');
    for (int op = 0; engine().opcode_name(op) != nullptr; ++op) {
        const char* name = engine().opcode_name(op);
        if (result.executed[op] != 0 && std::strcmp(class_of(name), "mfma") == 0) {
            json.number(name, result.executed[op]);
        }
    }
    json.close('}');
    json.number("global_bytes_read", result.global_read);
    json.number("global_bytes_written", result.global_written);
    json.number("lds_bytes_read", result.lds_read);
    json.number("lds_bytes_written", result.lds_written);
    json.number("workgroups", result.workgroups);
    json.number("longest_clock", result.longest_clock);
    json.close('}');
}

} // namespace

void write_report(Json& json, const Function& function, const LaunchRequest& request, const LaunchResult& result) {
    json.clear();
    json.open(nullptr, '{');
    json.number("schema", 1);
    json.text("kernel", function.kernel.name);
    json.text("level", engine().level);
    if (result.faulted) {
        write_fault(json, function, request, result.fault);
    }
    write_counters(json, result);
    if (request.options.find_hazards) {
        write_findings(json, function, result);
    }
    json.close('}');
}

void write_audit(Json& json, const Function& function) {
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    json.clear();
    json.open(nullptr, '{');
    json.number("schema", 1);
    json.text("kernel", function.kernel.name);
    json.open("unknown", '[');
    for (std::uint32_t pc = 0; (pc = engine().next_unknown(function.code, pc)) != kNone; pc += 4) {
        write_place(json, function, nullptr, pc);
    }
    json.close(']');
    json.close('}');
}

} // namespace emulator_host

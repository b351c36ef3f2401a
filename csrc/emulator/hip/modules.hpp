// Loaded code objects and their kernels.
#pragma once

#include "../object/kernel.hpp"
#include "errors.hpp"

namespace emulator_host {

struct Module;

/// A kernel handle. It lives as long as its module.
struct Function {
    Module* module;
    void* code; // of Engine::predecode, of the kernel's text
    Kernel kernel;
    Function* next;
};

/// Loads `size` bytes for a device of that arch.
HipError load_module(const void* image, std::size_t size, int arch, Module*& out);
/// Loads an image of unknown size: as many bytes as its ELF header claims, of which each must be readable.
HipError load_module(const void* image, int arch, Module*& out);
HipError unload_module(Module* module);
HipError find_function(Module* module, const char* name, Function*& out);
/// The function behind a handle, or null.
const Function* known_function(const void* handle);

} // namespace emulator_host

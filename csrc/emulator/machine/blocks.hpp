// Large blocks of working memory that are kept from one launch to the next.
#pragma once

#include <cstddef>

namespace emulator {

/// At least `bytes` bytes with any contents, on huge pages where the system has them: the registers of a workgroup lie on more small
/// pages than a core's first translation buffer holds. Null when memory is out.
void* take_block(std::size_t bytes);
void give_block(void* block, std::size_t bytes);

} // namespace emulator

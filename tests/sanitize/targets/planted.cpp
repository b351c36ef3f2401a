// Mistakes that the sanitizers must see, one for each first byte: proof that the other targets would not pass over theirs.
#include "input.hpp"

#include <climits>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    const fuzz::Copy copy(data, size);
    volatile int result = 0;
    const int table[4] = {1, 2, 3, 4};
    switch (data[0]) {
    case 'o': // a read behind the memory
        result = copy.data()[size];
        break;
    case 'b': // an index behind the array
        result = table[data[1] & 7];
        break;
    case 's': // a sum that has no value
        result = INT_MAX;
        result = result + data[1];
        break;
    case 'f': // a number that is no int
        result = static_cast<int>(1e10F * static_cast<float>(data[1]));
        break;
    case 'a': // a pointer that is not aligned
        result = *reinterpret_cast<const int*>(copy.data() + 1);
        break;
    default:
        break;
    }
    return 0;
}

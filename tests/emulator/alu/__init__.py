"""The vector and matrix instructions of the emulator, one at a time, against oracles in exact arithmetic."""

"""The machine of the emulator: waves, memory, loader and HIP face, on small kernels made by the compiler."""

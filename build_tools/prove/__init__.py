"""Proof on the emulator: runs the exact bytes of a kernel on classes of problems and writes what was right as evidence."""

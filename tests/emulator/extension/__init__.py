"""The dispatch extension over the emulator."""

"""The emulator."""

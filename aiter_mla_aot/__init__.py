"""Precompiled AITER MLA decode for AMD Instinct gfx942 and gfx950."""

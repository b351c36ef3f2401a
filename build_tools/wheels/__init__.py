"""Wheels: packing, bill of materials, trying, checking, comparing, building again."""

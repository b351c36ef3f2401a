"""Operands as executors get them: constants in the width of their type, register files, sizes, places."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.emulator.isa.isa_library import IsaLibrary, Operand, assemble


def bits32(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def bits16(value: float) -> int:
    return int.from_bytes(struct.pack("<e", value), "little")


@pytest.mark.parametrize(
    ("line", "place", "value", "high"),
    [
        ("v_add_f32 v0, 1.0, v1", "src0", bits32(1.0), 0),
        ("v_add_f32 v0, -4.0, v1", "src0", bits32(-4.0), 0),
        ("v_add_f32 v0, 0.15915494, v1", "src0", 0x3E22F983, 0),
        ("v_add_f32 v0, -1, v1", "src0", 0xFFFFFFFF, 0),
        ("v_add_f32 v0, 64, v1", "src0", 64, 0),
        ("v_add_f32 v0, 0x40490fdb, v1", "src0", 0x40490FDB, 0),
        ("v_add_u32 v0, 0.5, v1", "src0", bits32(0.5), 0),
        ("v_add_f16 v0, 1.0, v1", "src0", bits16(1.0), 0),
        ("v_add_f16 v0, 0.15915494, v1", "src0", 0x3118, 0),
        ("v_pk_add_f16 v0, 2.0, v1 op_sel_hi:[0,1]", "src0", bits16(2.0), 0),
        ("v_pk_add_f16 v0, -1, v1", "src0", 0xFFFFFFFF, 0),
        ("v_pk_add_u16 v0, 1.0, v1", "src0", bits32(1.0), 0),
        ("v_pk_fma_f32 v[0:1], v[2:3], 1.0, v[4:5] op_sel_hi:[1,0,1]", "src1", bits32(1.0), 0),
        ("v_add_f64 v[0:1], 1.0, v[2:3]", "src0", 0, 0x3FF00000),
        ("v_add_f64 v[0:1], 0.15915494309189532, v[2:3]", "src0", 0x6DC9C882, 0x3FC45F30),
        ("v_add_f64 v[0:1], -1, v[2:3]", "src0", 0xFFFFFFFF, 0xFFFFFFFF),
        ("v_ceil_f64 v[0:1], 0x40590000", "src0", 0, 0x40590000),
        ("s_mov_b64 s[0:1], -2", "src0", 0xFFFFFFFE, 0xFFFFFFFF),
        ("s_mov_b64 s[0:1], 0.5", "src0", 0, 0x3FE00000),
        ("s_mov_b64 s[0:1], 0x80000000", "src0", 0x80000000, 0),
        ("s_ashr_i64 s[0:1], 0x80000000, s2", "src0", 0x80000000, 0xFFFFFFFF),
        ("s_pack_ll_b32_b16 s0, 0.5, s1", "src0", bits32(0.5), 0),
        ("v_fmamk_f32 v0, v1, 0x3f800000, v2", "src1", bits32(1.0), 0),
        ("v_fmaak_f32 v0, v1, v2, 0x40000000", "src2", bits32(2.0), 0),
        ("v_cvt_f32_bf16 v0, 1.0", "src0", 0x3F80, 0),
        ("v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], 1.0", "src2", bits32(1.0), 0),
        ("v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], 1.0", "src2", 0, 0x3FF00000),
    ],
)
def test_a_constant_has_the_bits_of_its_type(isa: IsaLibrary, tmp_path: Path, line: str, place: str, value: int, high: int) -> None:
    operand = isa.operand("gfx950", assemble("gfx950", [line], tmp_path), place)
    assert (operand.kind, operand.value, operand.high) == ("constant", value, high)


@pytest.mark.parametrize(
    ("line", "operands"),
    [
        ("v_add_co_u32 v1, vcc, v2, v3", {"dst": ("vgpr", 1, 1), "sdst": ("sgpr", 106, 2), "src0": ("vgpr", 2, 1), "src1": ("vgpr", 3, 1)}),
        ("v_addc_co_u32 v1, s[2:3], v4, v5, s[6:7]", {"sdst": ("sgpr", 2, 2), "src2": ("sgpr", 6, 2)}),
        ("v_cndmask_b32 v1, v2, v3, vcc", {"src2": ("sgpr", 106, 2)}),
        ("v_cmp_lt_f32 vcc, v1, v2", {"dst": ("none", 0, 1), "sdst": ("sgpr", 106, 2)}),
        ("v_cmp_lt_f64_e64 s[8:9], v[2:3], v[4:5]", {"sdst": ("sgpr", 8, 2), "src1": ("vgpr", 4, 2)}),
        ("v_cmp_lt_f32_sdwa s[4:5], v1, v2 src0_sel:BYTE_0 src1_sel:WORD_1", {"sdst": ("sgpr", 4, 2)}),
        ("v_readlane_b32 s5, v1, m0", {"dst": ("none", 0, 1), "sdst": ("sgpr", 5, 1), "src1": ("sgpr", 124, 1)}),
        ("v_readfirstlane_b32 s5, v1", {"sdst": ("sgpr", 5, 1)}),
        ("v_div_scale_f64 v[0:1], vcc, v[2:3], v[4:5], v[6:7]", {"sdst": ("sgpr", 106, 2), "dst": ("vgpr", 0, 2)}),
        ("v_accvgpr_write_b32 a7, v1", {"dst": ("agpr", 7, 1), "src0": ("vgpr", 1, 1)}),
        ("v_accvgpr_read_b32 v1, a7", {"dst": ("vgpr", 1, 1), "src0": ("agpr", 7, 1)}),
        ("v_accvgpr_mov_b32 a1, a2", {"dst": ("agpr", 1, 1), "src0": ("agpr", 2, 1)}),
        (
            "v_mfma_f32_32x32x16_fp8_fp8 a[0:15], v[16:17], a[18:19], a[0:15]",
            {"dst": ("agpr", 0, 16), "src0": ("vgpr", 16, 2), "src1": ("agpr", 18, 2), "src2": ("agpr", 0, 16)},
        ),
        (
            "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:9], v[10:13], v[0:3] cbsz:2 blgp:4",
            {"src0": ("vgpr", 4, 6), "src1": ("vgpr", 10, 4), "src2": ("vgpr", 0, 4)},
        ),
        (
            "v_mfma_scale_f32_32x32x64_f8f6f4 v[0:15], v[16:23], v[24:31], v[0:15], v32, v33",
            {"src0": ("vgpr", 16, 8), "src3": ("vgpr", 32, 1), "src4": ("vgpr", 33, 1)},
        ),
        ("v_smfmac_f32_16x16x32_f16 a[0:3], v[4:5], v[6:9], v10", {"src1": ("vgpr", 6, 4), "src2": ("vgpr", 10, 1), "dst": ("agpr", 0, 4)}),
        ("ds_write2_b64 v1, a[2:3], a[4:5] offset1:1", {"src0": ("vgpr", 1, 1), "src1": ("agpr", 2, 2), "src2": ("agpr", 4, 2)}),
        ("ds_read_b128 a[4:7], v1", {"dst": ("agpr", 4, 4)}),
        (
            "buffer_load_dwordx4 v[4:7], v[2:3], s[8:11], s5 idxen offen",
            {"dst": ("vgpr", 4, 4), "src0": ("vgpr", 2, 2), "src1": ("sgpr", 8, 4), "src2": ("sgpr", 5, 1), "src3": ("none", 0, 1)},
        ),
        ("buffer_store_dwordx2 a[4:5], off, s[8:11], 0", {"dst": ("none", 0, 1), "src0": ("none", 0, 1), "src3": ("agpr", 4, 2)}),
        ("buffer_load_dword v1, s[8:11], 0 offen lds", {"dst": ("none", 0, 1), "src3": ("none", 0, 1), "src0": ("vgpr", 1, 1)}),
        ("buffer_atomic_cmpswap v[2:3], off, s[8:11], 0 sc0", {"dst": ("vgpr", 2, 1), "src3": ("vgpr", 2, 2)}),
        ("global_load_dwordx4 v[0:3], v[4:5], off", {"dst": ("vgpr", 0, 4), "src0": ("vgpr", 4, 2), "src2": ("none", 0, 1)}),
        ("global_load_dword v0, v4, s[2:3]", {"src0": ("vgpr", 4, 1), "src2": ("sgpr", 2, 2)}),
        ("global_atomic_add v1, v[2:3], v4, off sc0", {"dst": ("vgpr", 1, 1), "src1": ("vgpr", 4, 1)}),
        ("global_atomic_add v[2:3], v4, off", {"dst": ("none", 0, 1), "src1": ("vgpr", 4, 1)}),
        ("scratch_store_dwordx2 v1, v[2:3], s4", {"src0": ("vgpr", 1, 1), "src1": ("vgpr", 2, 2), "src2": ("sgpr", 4, 1)}),
        ("scratch_load_dword v1, off, s4", {"dst": ("vgpr", 1, 1), "src0": ("none", 0, 1)}),
        ("s_load_dwordx8 s[8:15], s[2:3], s4 offset:0x10", {"dst": ("sgpr", 8, 8), "src0": ("sgpr", 2, 2), "src1": ("sgpr", 4, 1)}),
        ("s_store_dwordx2 s[6:7], s[2:3], 0x10", {"dst": ("none", 0, 1), "src2": ("sgpr", 6, 2), "src1": ("none", 0, 1)}),
        ("s_mov_b64 exec, vcc", {"dst": ("sgpr", 126, 2), "src0": ("sgpr", 106, 2)}),
        ("s_mov_b32 s0, src_scc", {"src0": ("special", 253, 1)}),
    ],
)
def test_an_operand_is_where_and_what_it_says(
    isa: IsaLibrary, tmp_path: Path, line: str, operands: dict[str, tuple[str, int, int]]
) -> None:
    code = assemble("gfx950", [line], tmp_path)
    found = {place: isa.operand("gfx950", code, place) for place in operands}
    assert found == {place: Operand(kind, dwords, index, 0, 0) for place, (kind, index, dwords) in operands.items()}

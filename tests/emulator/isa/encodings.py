"""Random valid machine code of every opcode: fields that mean nothing are zero, so that an assembler gives the same bytes back."""

from __future__ import annotations

import struct
from typing import Final

from tests.emulator.isa.fields import LITERAL, LITERALS, Fields
from tests.emulator.isa.opcode_table import Row, dwords

_DPP_CONTROLS: Final[tuple[int, ...]] = (
    *range(0x101, 0x110),
    *range(0x111, 0x120),
    *range(0x121, 0x130),
    *(0x130, 0x134, 0x138, 0x13C, 0x140, 0x141, 0x142, 0x143),
)
# Sources an assembler takes from fewer places than the field could name.
_REGISTER_ONLY: Final = frozenset({"s_cbranch_join", "s_movrels_b32", "s_movrels_b64", "s_rfe_b64", "s_setpc_b64", "s_cbranch_g_fork"})
_READS_VCC: Final = frozenset({"v_div_fmas_f32", "v_div_fmas_f64"})
_NO_OP_SEL: Final = frozenset({"v_dot2_f32_f16", "v_dot2_f32_bf16", "v_dot2_i32_i16", "v_dot2_u32_u16"})
_NO_IMMEDIATE: Final = frozenset(
    {"s_barrier", "s_wakeup", "s_icache_inv", "s_ttracedata", "s_endpgm_saved", "s_set_gpr_idx_off", "s_endpgm_ordered_ps_done"}
)


def _words(*values: int) -> bytes:
    return b"".join(struct.pack("<I", value) for value in values)


class Encodings(Fields):
    """Draws instructions."""

    def draw(self, row: Row, form: str) -> bytes:
        """One instruction of this opcode in this encoding, without bytes behind it."""
        self._bus_free = True
        match row.format:
            case "sop1" | "sop2" | "sopk" | "sopc" | "sopp":
                return self._scalar(row)
            case "smem":
                return self._smem(row)
            case "vop1" | "vop2" | "vopc" if form != "e64":
                return self._vector32(row, form)
            case "vop1" | "vop2" | "vopc" | "vop3":
                return self._vop3(row)
            case "vop3p":
                return self._vop3p(row)
            case "mai":
                return self._mai(row)
            case "ds":
                return self._ds(row)
            case "mubuf":
                return self._mubuf(row)
            case _:
                return self._flat(row)

    # Scalar formats

    def _scalar(self, row: Row) -> bytes:
        dst = self._sgpr(row.dst) if row.dst != "none" else 0
        draw = self._scalar_register if row.name in _REGISTER_ONLY else self._scalar_source
        first, second = draw(row.src[0]), draw(row.src[1])
        tail = self._random.choice(LITERALS)
        literals = [source for source, code in zip(row.src, (first, second), strict=False) if code == LITERAL]
        if row.format == "sop2":
            word = 0x80000000 | row.number << 23 | dst << 16 | second << 8 | first
        elif row.format == "sop1":
            word = 0xBE800000 | dst << 16 | row.number << 8 | first
        elif row.format == "sopc":
            if row.name == "s_set_gpr_idx_on":
                second, literals = self._below(16), literals[:1] if first == LITERAL else []
            word = 0xBF000000 | row.number << 16 | second << 8 | first
        elif row.format == "sopk":
            long_form = row.name == "s_setreg_imm32_b32"
            register = 0 if long_form else dst if row.dst != "none" else self._sgpr(row.src[0])
            literals = ["b32"] if long_form else []
            tail = self._below(1 << 16) if long_form else 0
            word = 0xB0000000 | row.number << 23 | register << 16 | self._below(1 << 16)
        else:
            literals = []
            word = 0xBF800000 | row.number << 16 | self._sopp_immediate(row)
        return _words(word, tail) if literals else _words(word)

    def _sopp_immediate(self, row: Row) -> int:
        if row.name in _NO_IMMEDIATE:
            return 0
        if row.name == "s_waitcnt":
            return self._below(64) % 16 | self._below(8) << 4 | self._below(16) << 8 | self._below(4) << 14
        if row.name.startswith("s_sendmsg"):
            return self._below(1 << 7) | self._below(4) << 8
        limit = 4 if row.name == "s_set_gpr_idx_mode" else self._random.choice((4, 7, 16))
        return self._below(1 << limit)

    def _smem(self, row: Row) -> bytes:
        base, data_type = row.src[0], row.src[1] if row.src[1] != "none" else row.dst
        word = 0xC0000000 | row.number << 18
        data = self._below(128) if row.name.startswith("s_atc_probe") else self._sgpr_or_exec_free(data_type)
        if base == "none":
            return _words(word | data << 6, 0)
        has_policy = not row.name.startswith(("s_atc_probe", "s_dcache_discard"))
        immediate = self._chance(0.6)
        register = immediate & self._chance(0.3)
        # Stores, atomics and buffers have no negative offsets.
        signed = row.name.startswith(("s_load", "s_scratch_load"))
        offset = self._below(1 << (21 if signed else 20)) if immediate else self._below(102)
        flags = immediate << 17 | (self._chance(0.3) & has_policy) << 16 | register << 14
        return _words(word | flags | data << 6 | self._sgpr(base) >> 1, offset | (self._below(102) << 25 if register else 0))

    # Vector formats

    def _vector32(self, row: Row, form: str) -> bytes:
        base = {"vop2": row.number << 25, "vop1": 0x7E000000 | row.number << 9, "vopc": 0x7C000000 | row.number << 17}[row.format]
        dst = 0 if row.format == "vopc" else self._sgpr_or_exec_free(row.dst) if "scalar_dst" in row.traits else self._vgpr(row.dst)
        word = base | dst << 17
        second = 0 if row.format == "vop1" else self._vgpr(row.src[1]) << 9
        if form == "dpp":
            return _words(word | second | 0xFA, self._dpp(row))
        if form == "sdwa":
            return self._sdwa(row, word)
        # VCC that is read is a scalar register too.
        self._bus_free = "carry_in" not in row.traits
        only_vgpr = "acc" in row.traits or row.name in (
            "v_swap_b32",
            "v_permlane16_swap_b32",
            "v_permlane32_swap_b32",
            "v_readfirstlane_b32",
        )
        always_literal = row.traits & {"literal_src1", "literal_src2"}
        if always_literal:
            self._bus_free = False
        if row.src[0] == "none":
            return _words(word)
        if self._bus_free and not only_vgpr and dwords(row.src[0]) <= 2 and self._chance(0.15):
            return _words(word | second | LITERAL, self._literal(row.src[0]))
        first = 256 + self._vgpr(row.src[0]) if only_vgpr else self._source(row.src[0])
        return _words(word | second | first, *([self._literal(row.src[1])] if always_literal else []))

    def _dpp(self, row: Row) -> int:
        wide = dwords(row.dst) > 1 or dwords(row.src[0]) > 1
        newbcast = 0x150 + self._below(16)
        control = newbcast if wide else self._random.choice((self._below(256), newbcast, self._random.choice(_DPP_CONTROLS)))
        signs = [bit for index in range(2) for bit in self._modifiers(row, index)]
        modifiers = sum(bit << (20 + index) for index, bit in enumerate(signs))
        return self._vgpr(row.src[0]) | control << 8 | self._below(2) << 19 | modifiers | self._below(256) << 24

    def _sdwa(self, row: Row, word: int) -> bytes:
        scalar = [self._chance(0.2), self._chance(0.2)]
        # VCC that is read is a scalar register too.
        if "carry_in" in row.traits:
            scalar = [0, 0]
        scalar[1] &= 1 - scalar[0]
        tail = 0
        for index in range(1 if row.format == "vop1" else 2):
            kind = row.src[index]
            register = self._sgpr(kind) if scalar[index] else self._vgpr(kind)
            neg, magnitude = self._modifiers(row, index) if kind != "pk_f16" else (0, 0)
            sext = 0 if row.has_modifiers(index) or kind == "pk_f16" or "whole_dst" in row.traits else self._below(2)
            tail |= (self._below(7) | sext << 3 | neg << 4 | magnitude << 5 | scalar[index] << 7) << (16 + 8 * index)
            if index == 0:
                tail |= register
            else:
                word |= register << 9
        if row.format == "vopc":
            tail |= (1 << 15 | self._below(51) * 2 << 8) if self._chance(0.5) else 0
        elif "whole_dst" in row.traits:
            tail |= 6 << 8
        else:
            has_multiplier = "omod" in row.traits and row.dst in ("f16", "f32", "pk_f16")
            tail |= self._below(7) << 8 | self._below(3) << 11 | self._chance(0.4) << 13 | (self._below(4) << 14 if has_multiplier else 0)
        return _words(word | 0xF9, tail)

    def _vop3(self, row: Row) -> bytes:
        number = row.number + {"vopc": 0, "vop2": 0x100, "vop1": 0x140, "vop3": 0}[row.format]
        scalar_result = row.format == "vopc" or "scalar_dst" in row.traits
        dst = self._sgpr_or_exec_free("b64" if row.format == "vopc" else row.dst) if scalar_result else self._vgpr(row.dst)
        self._bus_free = "carry_in" not in row.traits and row.name not in _READS_VCC
        sources = [self._vop3_source(row, index) for index in range(3)]
        word, tail = 0xD0000000 | number << 16 | dst, sum(code << (9 * index) for index, code in enumerate(sources))
        for index in range(3):
            neg, magnitude = self._modifiers(row, index)
            tail |= neg << (29 + index)
            word |= 0 if "carry_out" in row.traits else magnitude << (8 + index)
        if "carry_out" in row.traits:
            word |= self._sgpr("b64") << 8
        word |= self._chance(0.3) << 15 if "clamp" in row.traits else 0
        tail |= self._below(4) << 27 if "omod" in row.traits and self._chance(0.3) else 0
        if "op_sel" in row.traits and self._chance(0.5):
            used = 3 if "op_sel_src2" in row.traits else row.sources
            word |= (self._below(1 << used) | self._below(2) << 3) << 11
        if row.name in ("v_permlane16_swap_b32", "v_permlane32_swap_b32"):
            word |= self._below(4) << 11
        if "bitop3" in row.traits:
            word |= self._below(8) << 8
            tail |= self._below(4) << 27 | self._below(8) << 29
        return _words(word, tail)

    def _vop3_source(self, row: Row, index: int) -> int:
        kind = row.src[index]
        if index == 2 and "carry_in" in row.traits:
            return self._sgpr("b64")
        if row.name == "v_readlane_b32" and index == 0:
            return 256 + self._vgpr(kind)
        if row.name in ("v_readlane_b32", "v_writelane_b32") and kind != "none":
            return 1 if self._chance(0.5) else self._constant()
        if "_swap_b32" in row.name or row.name == "v_cvt_scalef32_sr_pk_fp4_f32":
            return 256 + self._vgpr(kind) if kind != "none" else 0
        return self._source(kind)

    def _vop3p(self, row: Row) -> bytes:
        sources = [self._source(kind) for kind in row.src]
        used = (1 << row.sources) - 1

        def some(probability: float) -> int:
            return self._below(8) & used if self._chance(probability) else 0

        # Bits of sources that the instruction does not have are ones in op_sel_hi, as an assembler leaves them.
        fixed = "no_op_sel" in row.traits or row.name in _NO_OP_SEL
        high = 7 if fixed or self._chance(0.5) else some(1) | (7 & ~used)
        op_sel = 0 if fixed else some(0.4)
        word = (
            0xD3800000
            | row.number << 16
            | self._vgpr(row.dst)
            | some(0.4) << 8
            | op_sel << 11
            | (high >> 2) << 14
            | self._chance(0.3) << 15
        )
        return _words(word, sum(code << (9 * index) for index, code in enumerate(sources)) | (high & 3) << 27 | some(0.4) << 29)

    def _mai(self, row: Row) -> bytes:
        word = 0xD3800000 | row.number << 16 | self._vgpr(row.dst)
        if "accvgpr_move" in row.traits:
            from_vgpr = row.name == "v_accvgpr_read_b32" or self._chance(0.5)
            return _words(word | 8 << 11, (256 + self._vgpr("b32") if from_vgpr else self._constant()) | 3 << 27)
        sparse = "reads_dst" in row.traits
        cbsz, abid, blgp = (self._below(limit) if self._chance(0.4) else 0 for limit in (8, 16, 8))
        a, b = row.src[0], row.src[1]
        if "f8f6f4" in row.traits:
            cbsz, abid, blgp = self._below(5), int("scaled" in row.traits), self._below(5)
            a, b = ({4: "b128", 2: "b192", 3: "b192"}.get(code, "b256") for code in (cbsz, blgp))
        if sparse:
            blgp = 0
        c = 256 + self._accumulator(row, word & 255) if sparse or self._chance(0.7) else self._constant()
        word |= cbsz << 8 | abid << 11 | self._below(2) << 15
        tail = 256 + self._vgpr(a) | (256 + self._vgpr(b)) << 9 | c << 18 | self._below(4) << 27 | blgp << 29
        if "scaled" not in row.traits:
            return _words(word, tail)
        scales = 256 + self._vgpr("b32") | (256 + self._vgpr("b32")) << 9
        return _words(0xD3AC0000 | self._below(4) << 11, scales | self._below(4) << 27, word, tail)

    def _accumulator(self, row: Row, dst: int) -> int:
        """C of an MFMA: the registers of D, or none of them."""
        while True:
            c = dst if self._chance(0.3) else self._vgpr(row.src[2])
            if c == dst or abs(c - dst) >= dwords(row.dst):
                return c

    # Memory formats

    def _ds(self, row: Row) -> bytes:
        word = 0xD8000000 | row.number << 17
        if row.name == "ds_nop":
            return _words(word, 0)
        gds = int("gds_only" in row.traits)
        has_acc = not gds and (row.dst, row.src[1]) != ("none", "none")
        offset = self._swizzle() if row.name == "ds_swizzle_b32" else self._below(1 << 16)
        # The barriers and semaphores of GDS take an even register.
        address = self._vgpr("b64" if gds and row.src[0] != "none" else row.src[0])
        word |= gds << 16 | (self._chance(0.3) & has_acc) << 25 | (offset if self._chance(0.6) else 0)
        return _words(word, address | self._vgpr(row.src[1]) << 8 | self._vgpr(row.src[2]) << 16 | self._vgpr(row.dst) << 24)

    def _swizzle(self) -> int:
        """Offsets that are the only ones of their name."""
        group = 1 << self._below(5)
        bits = self._random.choice((0x1F | group << 10, 0x1F | (2 * group - 1) << 10, (32 - 2 * group) | self._below(2 * group) << 5))
        return self._random.choice(
            (bits, 0x8000 | self._below(256), 0xC000 | self._below(64) << 5, 0xE000 | self._below(32), 0x9000 | self._below(4096))
        )

    def _mubuf(self, row: Row) -> bytes:
        word = 0xE0000000 | row.number << 18 | self._below(4) << 14
        if row.src[0] == "none":
            return _words(word, 0)
        lds = "lds_form" in row.traits and dwords(row.dst) == 1 and self._chance(0.3)
        addressing = self._below(4)
        word |= self._chance(0.3) << 17 | int(lds) << 16 | addressing << 12 | (self._below(4096) if self._chance(0.6) else 0)
        data = 0 if lds else self._vgpr(row.src[1] if row.src[1] != "none" else row.dst)
        vaddr = self._vgpr(("none", "b32", "b32", "b64")[addressing])
        offset = self._sgpr("b32") if self._chance(0.5) else self._constant()
        acc = 0 if lds else self._chance(0.3)
        return _words(word, vaddr | data << 8 | self._below(25) << 16 | acc << 23 | offset << 24)

    def _flat(self, row: Row) -> bytes:
        segment = {"flat": 0, "scratch": 1, "global": 2}[row.format]
        atomic = row.dst != "none" and row.src[1] != "none"
        has_saddr = row.format != "flat" and self._chance(0.5)
        base = "b64" if row.format == "global" else "b32"
        saddr = 0 if row.format == "flat" else self._sgpr_or_exec_free(base) if has_saddr else 0x7F
        has_vaddr = self._chance(0.5) if row.format == "scratch" else 1
        vaddr = self._vgpr("b32" if has_saddr or row.format == "scratch" else "b64") if has_vaddr else 0
        sc0 = self._chance(0.4)
        offset = self._below(4096 if row.format == "flat" else 8192) if self._chance(0.6) else 0
        # Some atomics have no AccVGPR for the value they return.
        acc = 0 if "lds_form" in row.traits or (atomic and sc0) else self._chance(0.3)
        word = 0xDC000000 | row.number << 18 | segment << 14 | sc0 << 16 | self._chance(0.3) << 17 | self._chance(0.3) << 25 | offset
        word |= has_vaddr << 13 if row.format == "scratch" else 0
        dst = self._vgpr(row.dst) if not atomic or sc0 else 0
        return _words(word, vaddr | self._vgpr(row.src[1]) << 8 | saddr << 16 | acc << 23 | dst << 24)

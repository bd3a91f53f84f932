"""Products of matrices for processors with AVX-512 for which NumPy's BLAS has no code of that width.

That is so on AMD's, where OpenBLAS takes what it has for Intel's of 2013. The result is computed in tiles of 8 rows and
16 columns, which stay in registers while a block of 256 steps along the inner axis is added (Goto, van de Geijn:
Anatomy of high-performance matrix multiplication, 2008). The right matrix is copied, panel by panel of
16 columns, so that it is read in order; the left one is read where it is. Matrices that are large in all
directions are left to BLAS, which plans for caches.
"""

from __future__ import annotations

import ctypes
from functools import cache

from ..emit.llvm_kept import OF_THE_SYSTEM
from .machine import Code, blas, compiled, core_of_blas, machine

_ROWS, _STEPS = 8, 256
_MOST = 2**24
"""Products of more multiplications go to BLAS."""


@cache
def use_tiles() -> Code | None:
    """From now on, native code that is compiled finds products in tiles by BLAS's name, where they are faster."""
    m = machine()
    if not m.has_avx512 or core_of_blas() not in ("Haswell", "Zen"):
        return None
    m.binding.add_symbol("wg_blas_f64_gemm", blas()["wg_f64_gemm"])
    code = compiled(_text().replace("CPU", m.cpu).replace("FEATURES", m.features))
    m.binding.add_symbol("wg_f64_gemm", code.address("wg_tiled_gemm"))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # programs call it as long as they live
    return code


def _text() -> str:
    text = _PACK + _tile() + _PRODUCT + OF_THE_SYSTEM
    text = text.replace("LANES", "<8 x double>")
    return text.replace("STEPS", str(_STEPS)).replace("MOST", str(_MOST))


def _tile() -> str:
    """`c[rows, columns] (+)= a[rows, steps] @ panel[steps, 16]`, rows ≤ 8, columns ≤ 16."""
    rows, sides = range(_ROWS), ("l", "r")
    pointers = "\n".join(
        f"  %few{i} = icmp slt i64 {i}, %rows\n"
        f"  %row{i} = select i1 %few{i}, i64 {i}, i64 %last\n"
        f"  %at{i} = mul i64 %row{i}, %a.row\n"
        f"  %a{i} = getelementptr double, ptr %a, i64 %at{i}"
        for i in rows
    )
    sums = [f"{side}{i}" for i in rows for side in sides]
    phis = "\n".join(
        f"  %{s} = phi LANES [ zeroinitializer, %start ], [ %{s}.next, %turn ]" for s in sums
    )
    steps = "\n".join(
        f"  %p{i} = getelementptr double, ptr %a{i}, i64 %off\n"
        f"  %v{i} = load double, ptr %p{i}, align 8\n"
        f"  %o{i} = insertelement LANES poison, double %v{i}, i64 0\n"
        f"  %x{i} = shufflevector LANES %o{i}, LANES poison, <8 x i32> zeroinitializer\n"
        + "\n".join(
            f"  %{s}{i}.next = call LANES @llvm.fma.v8f64(LANES %x{i}, LANES %b{s}, LANES %{s}{i})"
            for s in sides
        )
        for i in rows
    )
    stores = "\n".join(
        f"store{i}:\n"
        f"  %c{i}.at = mul i64 {i}, %c.row\n"
        f"  %cl{i} = getelementptr double, ptr %c, i64 %c{i}.at\n"
        f"  %cr{i} = getelementptr double, ptr %cl{i}, i64 8\n"
        + "\n".join(
            f"  %old{s}{i} = call LANES @llvm.masked.load.v8f64.p0("
            f"ptr %c{s}{i}, i32 8, <8 x i1> %adds{s}, LANES zeroinitializer)\n"
            f"  %new{s}{i} = fadd LANES %old{s}{i}, %{s}{i}.next\n"
            f"  call void @llvm.masked.store.v8f64.p0("
            f"LANES %new{s}{i}, ptr %c{s}{i}, i32 8, <8 x i1> %mask{s})"
            for s in sides
        )
        + (
            f"\n  br i1 %few{i + 1}, label %store{i + 1}, label %done"
            if i + 1 < _ROWS
            else "\n  br label %done"
        )
        for i in rows
    )
    return (
        _TILE.replace("POINTERS", pointers)
        .replace("PHIS", phis)
        .replace("FMAS", steps)
        .replace("STORES", stores)
    )


_TILE = """
declare LANES @llvm.fma.v8f64(LANES, LANES, LANES)
declare LANES @llvm.masked.load.v8f64.p0(ptr, i32, <8 x i1>, LANES)
declare void @llvm.masked.store.v8f64.p0(LANES, ptr, i32, <8 x i1>)

define internal void @wg_tile(ptr noalias %a, i64 %a.row, i64 %a.step, ptr noalias %panel, i64 %steps, ptr noalias %c,
    i64 %c.row, i64 %rows, i64 %columns, i1 %adds) noinline #0 {
start:
  %last = sub i64 %rows, 1
POINTERS
  br label %turn
turn:
  %k = phi i64 [ 0, %start ], [ %k.next, %turn ]
  %off = phi i64 [ 0, %start ], [ %off.next, %turn ]
PHIS
  %at.b = mul i64 %k, 16
  %at.bl = getelementptr double, ptr %panel, i64 %at.b
  %at.br = getelementptr double, ptr %at.bl, i64 8
  %bl = load LANES, ptr %at.bl, align 8
  %br = load LANES, ptr %at.br, align 8
FMAS
  %off.next = add i64 %off, %a.step
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %steps
  br i1 %more, label %turn, label %end
end:
  %n.one = insertelement <8 x i64> poison, i64 %columns, i64 0
  %n = shufflevector <8 x i64> %n.one, <8 x i64> poison, <8 x i32> zeroinitializer
  %maskl = icmp slt <8 x i64> <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>, %n
  %maskr = icmp slt <8 x i64> <i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>, %n
  %adds.one = insertelement <8 x i1> poison, i1 %adds, i64 0
  %adds.all = shufflevector <8 x i1> %adds.one, <8 x i1> poison, <8 x i32> zeroinitializer
  %addsl = and <8 x i1> %maskl, %adds.all
  %addsr = and <8 x i1> %maskr, %adds.all
  br label %store0
STORES
done:
  ret void
}
"""

_PACK = """
define internal void @wg_panel(ptr noalias %b, i64 %b.step, i64 %b.column, i64 %steps, i64 %columns,
    ptr noalias %panel) noinline #0 {
start:
  %in.order = icmp eq i64 %b.column, 1
  %full = icmp eq i64 %columns, 16
  %quick = and i1 %in.order, %full
  br i1 %quick, label %row, label %column
row:
  %k = phi i64 [ 0, %start ], [ %k.next, %row ]
  %from.at = mul i64 %k, %b.step
  %from = getelementptr double, ptr %b, i64 %from.at
  %to.at = mul i64 %k, 16
  %to = getelementptr double, ptr %panel, i64 %to.at
  %values = load <16 x double>, ptr %from, align 8
  store <16 x double> %values, ptr %to, align 8
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %steps
  br i1 %k.more, label %row, label %done
column:
  %j = phi i64 [ 0, %start ], [ %j.next, %column.next ]
  %there = icmp slt i64 %j, %columns
  %j.at = mul i64 %j, %b.column
  %b.j = getelementptr double, ptr %b, i64 %j.at
  %panel.j = getelementptr double, ptr %panel, i64 %j
  br label %item
item:
  %i = phi i64 [ 0, %column ], [ %i.next, %item.next ]
  br i1 %there, label %read, label %item.next
read:
  %i.at = mul i64 %i, %b.step
  %place = getelementptr double, ptr %b.j, i64 %i.at
  %found = load double, ptr %place
  br label %item.next
item.next:
  %value = phi double [ 0.0, %item ], [ %found, %read ]
  %i.to = mul i64 %i, 16
  %i.place = getelementptr double, ptr %panel.j, i64 %i.to
  store double %value, ptr %i.place
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %steps
  br i1 %i.more, label %item, label %column.next
column.next:
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, 16
  br i1 %j.more, label %column, label %done
done:
  ret void
}
"""

_PRODUCT = """
declare void @wg_blas_f64_gemm(i32, i32, i32, i64, i64, i64, double, ptr, i64, ptr, i64, double, ptr, i64)
declare i64 @llvm.smin.i64(i64, i64)

define void @wg_tiled_gemm(i32 %order, i32 %ta, i32 %tb, i64 %m, i64 %n, i64 %k, double %alpha, ptr %a, i64 %lda,
    ptr %b, i64 %ldb, double %beta, ptr %c, i64 %ldc) #0 {
start:
  %mn = mul i64 %m, %n
  %all = mul i64 %mn, %k
  %most = icmp ule i64 %all, MOST
  %some = icmp ugt i64 %all, 0
  %fits = and i1 %most, %some
  br i1 %fits, label %take, label %blas
take:
  %up = add i64 %n, 15
  %panels = sdiv i64 %up, 16
  %width = mul i64 %panels, 16
  %deep = call i64 @llvm.smin.i64(i64 %k, i64 STEPS)
  %items = mul i64 %width, %deep
  %bytes = mul i64 %items, 8
  %packed = call ptr @malloc(i64 %bytes)
  %none = icmp eq ptr %packed, null
  br i1 %none, label %blas, label %ready
blas:
  call void @wg_blas_f64_gemm(i32 %order, i32 %ta, i32 %tb, i64 %m, i64 %n, i64 %k, double %alpha, ptr %a, i64 %lda,
    ptr %b, i64 %ldb, double %beta, ptr %c, i64 %ldc)
  ret void
ready:
  %a.turned = icmp eq i32 %ta, 112
  %a.row = select i1 %a.turned, i64 1, i64 %lda
  %a.step = select i1 %a.turned, i64 %lda, i64 1
  %b.turned = icmp eq i32 %tb, 112
  %b.step = select i1 %b.turned, i64 1, i64 %ldb
  %b.column = select i1 %b.turned, i64 %ldb, i64 1
  br label %block
block:
  %k0 = phi i64 [ 0, %ready ], [ %k1, %block.next ]
  %k.left = sub i64 %k, %k0
  %steps = call i64 @llvm.smin.i64(i64 %k.left, i64 STEPS)
  %adds = icmp sgt i64 %k0, 0
  %b.at = mul i64 %k0, %b.step
  %b.block = getelementptr double, ptr %b, i64 %b.at
  %a.at = mul i64 %k0, %a.step
  %a.block = getelementptr double, ptr %a, i64 %a.at
  %panel.size = mul i64 %steps, 16
  br label %pack
pack:
  %p = phi i64 [ 0, %block ], [ %p.next, %pack ]
  %p.column = mul i64 %p, 16
  %p.left = sub i64 %n, %p.column
  %p.columns = call i64 @llvm.smin.i64(i64 %p.left, i64 16)
  %p.from = mul i64 %p.column, %b.column
  %p.b = getelementptr double, ptr %b.block, i64 %p.from
  %p.to = mul i64 %p, %panel.size
  %p.panel = getelementptr double, ptr %packed, i64 %p.to
  call void @wg_panel(ptr %p.b, i64 %b.step, i64 %b.column, i64 %steps, i64 %p.columns, ptr %p.panel)
  %p.next = add i64 %p, 1
  %p.more = icmp slt i64 %p.next, %panels
  br i1 %p.more, label %pack, label %rows
rows:
  %i = phi i64 [ 0, %pack ], [ %i.next, %rows.next ]
  %i.left = sub i64 %m, %i
  %i.rows = call i64 @llvm.smin.i64(i64 %i.left, i64 8)
  %i.at = mul i64 %i, %a.row
  %i.a = getelementptr double, ptr %a.block, i64 %i.at
  %i.c.at = mul i64 %i, %ldc
  %i.c = getelementptr double, ptr %c, i64 %i.c.at
  br label %tile
tile:
  %j = phi i64 [ 0, %rows ], [ %j.next, %tile ]
  %j.column = mul i64 %j, 16
  %j.left = sub i64 %n, %j.column
  %j.columns = call i64 @llvm.smin.i64(i64 %j.left, i64 16)
  %j.from = mul i64 %j, %panel.size
  %j.panel = getelementptr double, ptr %packed, i64 %j.from
  %j.c = getelementptr double, ptr %i.c, i64 %j.column
  call void @wg_tile(ptr %i.a, i64 %a.row, i64 %a.step, ptr %j.panel, i64 %steps, ptr %j.c, i64 %ldc, i64 %i.rows,
    i64 %j.columns, i1 %adds)
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, %panels
  br i1 %j.more, label %tile, label %rows.next
rows.next:
  %i.next = add i64 %i, 8
  %i.more = icmp slt i64 %i.next, %m
  br i1 %i.more, label %rows, label %block.next
block.next:
  %k1 = add i64 %k0, STEPS
  %k.more = icmp slt i64 %k1, %k
  br i1 %k.more, label %block, label %out
out:
  call void @free(ptr %packed)
  ret void
}

attributes #0 = { "target-cpu"="CPU" "target-features"="FEATURES" "min-legal-vector-width"="512" }
"""

"""Blocks of memory that are kept for the next call, in LLVM. As in `ccode_runtime`.

Large blocks are kept, up to so many bytes: the operating system takes longer to give memory than most programs take
to fill it. A kept block begins with the next one, its size is two words further on, and then how much it and all
that follow have. Who takes one, or puts one back, takes the whole list, so that threads do not meet in it; what two
of them put back at once is freed. A block of no size is not ours to free: it lies in the frame of the entry point.
"""

from __future__ import annotations

LARGE = 2**16
MOST_KEPT = 2**27

KEPT = """\
@wg_kept = internal global ptr null

define internal void @wg_free_all(ptr %first) nounwind noinline {
start:
  br label %test
test:
  %raw = phi ptr [ %first, %start ], [ %next, %body ]
  %end = icmp eq ptr %raw, null
  br i1 %end, label %done, label %body
body:
  %next = load ptr, ptr %raw
  call void @free(ptr %raw)
  br label %test
done:
  ret void
}

define internal void @wg_keep(ptr %list) nounwind noinline {
  %others = atomicrmw xchg ptr @wg_kept, ptr %list acq_rel
  call void @wg_free_all(ptr %others)
  ret void
}

define void @wg_keep_nothing() nounwind {
  call void @wg_keep(ptr null)
  ret void
}

define internal ptr @wg_kept_block(i64 %size) nounwind noinline {
start:
  %list = atomicrmw xchg ptr @wg_kept, ptr null acq_rel
  %most = mul i64 %size, 2
  %head = alloca ptr
  store ptr %list, ptr %head
  br label %test
test:
  %place = phi ptr [ %head, %start ], [ %raw, %on ]
  %raw = load ptr, ptr %place
  %end = icmp eq ptr %raw, null
  br i1 %end, label %done, label %body
body:
  %size.at = getelementptr ptr, ptr %raw, i64 2
  %has = load i64, ptr %size.at
  %enough = icmp uge i64 %has, %size
  %not.more = icmp ule i64 %has, %most
  %fits = and i1 %enough, %not.more
  br i1 %fits, label %found, label %on
on:
  br label %test
found:
  %first = load ptr, ptr %head
  br label %recount
recount:
  %above = phi ptr [ %first, %found ], [ %below, %less ]
  %all = icmp eq ptr %above, %raw
  br i1 %all, label %unlink, label %less
less:
  %total.at = getelementptr ptr, ptr %above, i64 3
  %total = load i64, ptr %total.at
  %left = sub i64 %total, %has
  store i64 %left, ptr %total.at
  %below = load ptr, ptr %above
  br label %recount
unlink:
  %rest = load ptr, ptr %raw
  store ptr %rest, ptr %place
  br label %done
done:
  %kept = load ptr, ptr %head
  %none = icmp eq ptr %kept, null
  br i1 %none, label %out, label %back
back:
  call void @wg_keep(ptr %kept)
  br label %out
out:
  ret ptr %raw
}

define internal void @wg_give(ptr %raw) nounwind {
  %size.at = getelementptr ptr, ptr %raw, i64 2
  %size = load i64, ptr %size.at
  %large = icmp uge i64 %size, LARGE
  br i1 %large, label %keep, label %small
small:
  %framed = icmp eq i64 %size, 0
  br i1 %framed, label %nothing, label %free
free:
  call void @free(ptr %raw)
  br label %nothing
nothing:
  ret void
keep:
  %list = atomicrmw xchg ptr @wg_kept, ptr null acq_rel
  %alone = icmp eq ptr %list, null
  br i1 %alone, label %add, label %count
count:
  %others.at = getelementptr ptr, ptr %list, i64 3
  %others = load i64, ptr %others.at
  br label %add
add:
  %kept = phi i64 [ 0, %keep ], [ %others, %count ]
  %total = add i64 %kept, %size
  %total.at = getelementptr ptr, ptr %raw, i64 3
  store i64 %total, ptr %total.at
  store ptr %list, ptr %raw
  %many = icmp ugt i64 %total, MOST_KEPT
  br i1 %many, label %drop, label %put
drop:
  call void @wg_free_all(ptr %raw)
  ret void
put:
  call void @wg_keep(ptr %raw)
  ret void
}

""".replace("LARGE", str(LARGE)).replace("MOST_KEPT", str(MOST_KEPT))

OF_THE_SYSTEM = """\
declare noalias ptr @malloc(i64) nounwind
declare ptr @realloc(ptr, i64) nounwind
declare void @free(ptr) nounwind
"""

"""What the programs of a process share, in LLVM: memory that is released together. As in `ccode_runtime`.

It is compiled once, and found by its names: programs say only what they call.

A block has a head of 64 bytes: the next block, where the one before says that it is next, its size, and what
`llvm_kept` needs while it is kept. The first small ones lie in the frame of the entry point, where it has room for
them: their size is 0, and what they have room for stands behind it.
"""

from __future__ import annotations

from .llvm_arena import ARENA, IN_PROGRAMS
from .llvm_kept import KEPT, LARGE, OF_THE_SYSTEM, with_numbers

_FETCH = """\
define internal void @wg_fetch(ptr %target, ptr %where, ptr %size) alwaysinline nounwind {
  %from = load ptr, ptr %where
  %bytes = load i64, ptr %size
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %from, i64 %bytes, i1 false)
  ret void
}
"""
"""Copies what a call of Python has given."""


def declaration(routine: str, count: int) -> str:
    """What a module says of a routine that is called with so many addresses."""
    if routine == "@wg_fetch":
        return _FETCH
    return f"declare void {routine}({', '.join(['ptr'] * count)})"


def pointer_of_call_out(number: int) -> str:
    """The variable that holds the address of what is called."""
    return f"wg_out_{number}"


MEMORY_WORDS = 9
"""What a call has of memory: its first block, how deep its calls are nested, its arena in three words; then how to let
Python's other threads run, where they do not, and what that gave; the room in the frame, from where to where."""
MEMORY = f"[{MEMORY_WORDS} x ptr]"

_RELEASED_TOGETHER = with_numbers(
    """\
define internal noalias ptr @wg_block(i64 %size) nounwind {
  %large = icmp uge i64 %size, LARGE
  br i1 %large, label %look, label %new
look:
  %kept = call ptr @wg_kept_block(i64 %size)
  %none = icmp eq ptr %kept, null
  br i1 %none, label %new, label %old
old:
  ret ptr %kept
new:
  %raw = call ptr @malloc(i64 %size)
  %failed = icmp eq ptr %raw, null
  br i1 %failed, label %no, label %yes
yes:
  %size.at = getelementptr ptr, ptr %raw, i64 2
  store i64 %size, ptr %size.at
  call void @wg_in_huge_pages(ptr %raw, i64 %size)
  br label %no
no:
  ret ptr %raw
}

define noalias ptr @wg_allocate(ptr %memory, i64 %size) nounwind {
  %all = add i64 %size, 64
  %more = add i64 %all, 63
  %whole = and i64 %more, -64
  %top.at = getelementptr ptr, ptr %memory, i64 7
  %end.at = getelementptr ptr, ptr %memory, i64 8
  %top = load ptr, ptr %top.at
  %end = load ptr, ptr %end.at
  %from = ptrtoint ptr %top to i64
  %to = ptrtoint ptr %end to i64
  %room = sub i64 %to, %from
  %fits = icmp ule i64 %whole, %room
  br i1 %fits, label %frame, label %block
frame:
  %above = getelementptr i8, ptr %top, i64 %whole
  store ptr %above, ptr %top.at
  %size.at = getelementptr ptr, ptr %top, i64 2
  store i64 0, ptr %size.at
  %has.at = getelementptr ptr, ptr %top, i64 3
  store i64 %size, ptr %has.at
  br label %yes
block:
  %made = call ptr @wg_block(i64 %all)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %no, label %yes
no:
  ret ptr null
yes:
  %raw = phi ptr [ %top, %frame ], [ %made, %block ]
  %next = load ptr, ptr %memory
  store ptr %next, ptr %raw
  %before = getelementptr ptr, ptr %raw, i64 1
  store ptr %memory, ptr %before
  store ptr %raw, ptr %memory
  %last = icmp eq ptr %next, null
  br i1 %last, label %done, label %link
link:
  %back = getelementptr ptr, ptr %next, i64 1
  store ptr %raw, ptr %back
  br label %done
done:
  %data = getelementptr i8, ptr %raw, i64 64
  ret ptr %data
}

define void @wg_let_others_run(ptr %memory) nounwind {
  %how.at = getelementptr ptr, ptr %memory, i64 5
  %how = load ptr, ptr %how.at
  %run = icmp eq ptr %how, null
  br i1 %run, label %done, label %let
let:
  store ptr null, ptr %how.at
  %state = call ptr %how()
  %state.at = getelementptr ptr, ptr %memory, i64 6
  store ptr %state, ptr %state.at
  br label %done
done:
  ret void
}

define ptr @wg_enlarge(ptr %memory, ptr %data, i64 %size) nounwind {
  call void @wg_let_others_run(ptr %memory)
  %old = getelementptr i8, ptr %data, i64 -64
  %all = add i64 %size, 64
  %had.at = getelementptr ptr, ptr %old, i64 2
  %had = load i64, ptr %had.at
  %framed = icmp eq i64 %had, 0
  br i1 %framed, label %frame, label %block
frame:
  %out = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %out, null
  br i1 %none, label %no, label %move
move:
  %has.at = getelementptr ptr, ptr %old, i64 3
  %has = load i64, ptr %has.at
  %bytes = add i64 %has, 64
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %old, i64 %bytes, i1 false)
  br label %moved
block:
  %in.place = call ptr @realloc(ptr %old, i64 %all)
  br label %moved
moved:
  %raw = phi ptr [ %out, %move ], [ %in.place, %block ]
  %failed = icmp eq ptr %raw, null
  br i1 %failed, label %no, label %yes
no:
  ret ptr null
yes:
  %size.at = getelementptr ptr, ptr %raw, i64 2
  store i64 %all, ptr %size.at
  %place = getelementptr ptr, ptr %raw, i64 1
  %before = load ptr, ptr %place
  store ptr %raw, ptr %before
  %next = load ptr, ptr %raw
  %last = icmp eq ptr %next, null
  br i1 %last, label %done, label %link
link:
  %back = getelementptr ptr, ptr %next, i64 1
  store ptr %raw, ptr %back
  br label %done
done:
  %made = getelementptr i8, ptr %raw, i64 64
  ret ptr %made
}

define void @wg_release(ptr %data) nounwind {
  %nothing = icmp eq ptr %data, null
  br i1 %nothing, label %out, label %unlink
unlink:
  %raw = getelementptr i8, ptr %data, i64 -64
  %place = getelementptr ptr, ptr %raw, i64 1
  %before = load ptr, ptr %place
  %next = load ptr, ptr %raw
  store ptr %next, ptr %before
  %last = icmp eq ptr %next, null
  br i1 %last, label %done, label %link
link:
  %back = getelementptr ptr, ptr %next, i64 1
  store ptr %before, ptr %back
  br label %done
done:
  call void @wg_give(ptr %raw)
  br label %out
out:
  ret void
}

define void @wg_release_all(ptr %memory) nounwind {
start:
  %first = load ptr, ptr %memory
  br label %test
test:
  %raw = phi ptr [ %first, %start ], [ %next, %body ]
  %end = icmp eq ptr %raw, null
  br i1 %end, label %done, label %body
body:
  %next = load ptr, ptr %raw
  call void @wg_give(ptr %raw)
  br label %test
done:
  store MEMORY zeroinitializer, ptr %memory
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
""",
    LARGE=LARGE,
    MEMORY=MEMORY,
)

RUNTIME = ARENA + KEPT + _RELEASED_TOGETHER + OF_THE_SYSTEM

EXPORTED = (
    *("wg_allocate", "wg_enlarge", "wg_release", "wg_release_all", "wg_let_others_run"),
    *("wg_arena_more", "wg_arena_drop", "wg_keep_nothing"),
)
"""What programs and Python find by these names."""

_AS_MALLOC = "nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)"
"""What is said of `malloc` and `free`: they touch no memory that programs read or write."""

DECLARED = f"""\
declare noalias ptr @wg_allocate(ptr, i64) {_AS_MALLOC}
declare ptr @wg_enlarge(ptr, ptr, i64) {_AS_MALLOC}
declare void @wg_release(ptr) {_AS_MALLOC}
declare void @wg_release_all(ptr) {_AS_MALLOC}
declare void @wg_let_others_run(ptr) nounwind
declare ptr @wg_arena_more(ptr, i64) {_AS_MALLOC} cold
declare void @wg_arena_drop(ptr, ptr) {_AS_MALLOC} cold
declare ptr @wg_new_array(ptr, i32, ptr, i32, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

{IN_PROGRAMS}"""
"""What a program's module says of it."""

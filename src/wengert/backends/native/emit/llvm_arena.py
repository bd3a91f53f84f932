"""The arena of a call in LLVM: pieces that are given up together, the last ones first. As in `ccode_runtime`.

An arena is chunks of memory, filled one after the other, each twice as long as the one before. A chunk begins
with where the one before begins, and where it ends itself. What a call has of memory says, beside its blocks and
how deep its calls are nested, up to where the last chunk is filled, where it ends and where it begins; all are
null at first.
"""

from __future__ import annotations

CHUNK = 2**16
"""The first chunk: large enough to be kept for the next call, as large blocks are."""
GREATEST_CHUNK = 2**25
"""No chunk grows beyond this for the sake of what may come."""
CHUNK_HEAD = 16

IN_PROGRAMS = """\
define internal ptr @wg_arena_take(ptr %memory, i64 %size) nounwind alwaysinline {
start:
  %more = add i64 %size, 7
  %whole = and i64 %more, -8
  %piece = call ptr @wg_arena_top(ptr %memory)
  %end.at = getelementptr ptr, ptr %memory, i64 3
  %end = load ptr, ptr %end.at
  %from = ptrtoint ptr %piece to i64
  %to = ptrtoint ptr %end to i64
  %room = sub i64 %to, %from
  %fits = icmp ult i64 %whole, %room
  br i1 %fits, label %here, label %elsewhere
here:
  %top = getelementptr i8, ptr %piece, i64 %whole
  %top.at = getelementptr ptr, ptr %memory, i64 2
  store ptr %top, ptr %top.at
  ret ptr %piece
elsewhere:
  %other = call ptr @wg_arena_more(ptr %memory, i64 %whole)
  ret ptr %other
}

define internal ptr @wg_arena_top(ptr %memory) nounwind alwaysinline {
  %top.at = getelementptr ptr, ptr %memory, i64 2
  %top = load ptr, ptr %top.at
  ret ptr %top
}

define internal void @wg_arena_reset(ptr %memory, ptr %mark) nounwind {
start:
  %chunk.at = getelementptr ptr, ptr %memory, i64 4
  %end.at = getelementptr ptr, ptr %memory, i64 3
  %place = ptrtoint ptr %mark to i64
  br label %test
test:
  %chunk = load ptr, ptr %chunk.at
  %end = load ptr, ptr %end.at
  %from = ptrtoint ptr %chunk to i64
  %to = ptrtoint ptr %end to i64
  %offset = sub i64 %place, %from
  %size = sub i64 %to, %from
  %inside = icmp ule i64 %offset, %size
  br i1 %inside, label %done, label %drop
drop:
  call void @wg_arena_drop(ptr %memory, ptr %chunk)
  br label %test
done:
  %top.at = getelementptr ptr, ptr %memory, i64 2
  store ptr %mark, ptr %top.at
  ret void
}
"""
"""What a program's module has of it itself: what is short, and called in its loops."""

ARENA = (
    """\
define ptr @wg_arena_more(ptr %memory, i64 %size) nounwind {
start:
  %needed = add i64 %size, CHUNK_HEAD
  %last.at = getelementptr ptr, ptr %memory, i64 4
  %last = load ptr, ptr %last.at
  %last.end.at = getelementptr ptr, ptr %memory, i64 3
  %last.end = load ptr, ptr %last.end.at
  %last.from = ptrtoint ptr %last to i64
  %last.to = ptrtoint ptr %last.end to i64
  %last.size = sub i64 %last.to, %last.from
  %twice = shl i64 %last.size, 1
  %no.less = call i64 @llvm.umax.i64(i64 %twice, i64 CHUNK_SIZE)
  %no.more = call i64 @llvm.umin.i64(i64 %no.less, i64 GREATEST_CHUNK)
  %bytes = call i64 @llvm.umax.i64(i64 %no.more, i64 %needed)
  %chunk = call ptr @wg_allocate(ptr %memory, i64 %bytes)
  %failed = icmp eq ptr %chunk, null
  br i1 %failed, label %no, label %yes
no:
  ret ptr null
yes:
  %chunk.at = getelementptr ptr, ptr %memory, i64 4
  %before = load ptr, ptr %chunk.at
  store ptr %before, ptr %chunk
  store ptr %chunk, ptr %chunk.at
  %end = getelementptr i8, ptr %chunk, i64 %bytes
  %own.end.at = getelementptr ptr, ptr %chunk, i64 1
  store ptr %end, ptr %own.end.at
  %end.at = getelementptr ptr, ptr %memory, i64 3
  store ptr %end, ptr %end.at
  %piece = getelementptr i8, ptr %chunk, i64 CHUNK_HEAD
  %top = getelementptr i8, ptr %piece, i64 %size
  %top.at = getelementptr ptr, ptr %memory, i64 2
  store ptr %top, ptr %top.at
  ret ptr %piece
}

define void @wg_arena_drop(ptr %memory, ptr %chunk) nounwind {
start:
  %before = load ptr, ptr %chunk
  call void @wg_release(ptr %chunk)
  %none = icmp eq ptr %before, null
  br i1 %none, label %go, label %other
other:
  %own.end.at = getelementptr ptr, ptr %before, i64 1
  %own.end = load ptr, ptr %own.end.at
  br label %go
go:
  %end = phi ptr [ null, %start ], [ %own.end, %other ]
  %end.at = getelementptr ptr, ptr %memory, i64 3
  store ptr %end, ptr %end.at
  %chunk.at = getelementptr ptr, ptr %memory, i64 4
  store ptr %before, ptr %chunk.at
  ret void
}

declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)

""".replace("CHUNK_SIZE", str(CHUNK))
    .replace("GREATEST_CHUNK", str(GREATEST_CHUNK))
    .replace("CHUNK_HEAD", str(CHUNK_HEAD))
)

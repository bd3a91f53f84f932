"""Blocks of memory that are kept for the next call, in LLVM. As in `ccode_runtime`.

Large blocks are kept: the operating system takes longer to give memory than most programs take to fill it. Beyond
`MOST_KEPT` bytes they are lent back to the system, which takes their memory when somebody needs it; beyond `MOST_LENT`
they are freed. A kept block begins with the next one, its size is two words further on, and then how much it and all
that follow have. Who takes one, or puts one back, takes the whole list, so that threads do not meet in it; what two
of them put back at once is freed. A block of no size is not ours to free: it lies in the frame of the entry point.
"""

from __future__ import annotations

import sys

LARGE = 2**16
MOST_KEPT = 2**27
_HUGE = 2**22
"""From so many bytes on, memory is asked for in huge pages: new memory is cleared page by page, and each page costs
a visit to the operating system."""
_ADVISES = sys.platform == "linux"
MOST_LENT = 2**29 if _ADVISES else MOST_KEPT
_IN_HUGE_PAGES, _WHEN_NEEDED = 14, 8
"""Advice on memory, as Linux numbers it: where it is not taken, nothing is lost."""

_TELL = "%status = call i32 @madvise(ptr %place, i64 %whole, i32 %advice)"


def with_numbers(text: str, **values: object) -> str:
    """LLVM's text, in which words in capitals stand for values: the longest first, which others are part of."""
    for name in sorted(values, key=len, reverse=True):
        text = text.replace(name, str(values[name]))
    return text


KEPT = with_numbers(
    """\
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

define internal void @wg_free_beyond(ptr %first) nounwind noinline cold {
start:
  %all.at = getelementptr ptr, ptr %first, i64 3
  %all = load i64, ptr %all.at
  %least = sub i64 %all, MOST_LENT
  br label %test
test:
  %last = phi ptr [ %first, %start ], [ %next, %test ]
  %next = load ptr, ptr %last
  %size.at = getelementptr ptr, ptr %next, i64 2
  %size = load i64, ptr %size.at
  %total.at = getelementptr ptr, ptr %next, i64 3
  %gone = load i64, ptr %total.at
  %after = sub i64 %gone, %size
  %stays = icmp uge i64 %after, %least
  br i1 %stays, label %test, label %cut
cut:
  store ptr null, ptr %last
  br label %less
less:
  %kept = phi ptr [ %first, %cut ], [ %following, %less ]
  %own.at = getelementptr ptr, ptr %kept, i64 3
  %own = load i64, ptr %own.at
  %left = sub i64 %own, %gone
  store i64 %left, ptr %own.at
  %following = load ptr, ptr %kept
  %done = icmp eq ptr %following, null
  br i1 %done, label %free, label %less
free:
  call void @wg_free_all(ptr %next)
  ret void
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
  br i1 %many, label %lend, label %put
lend:
  %alone.too.many = icmp ugt i64 %size, MOST_LENT
  br i1 %alone.too.many, label %drop, label %lent
drop:
  call void @free(ptr %raw)
  call void @wg_keep(ptr %list)
  ret void
lent:
  %too.many = icmp ugt i64 %total, MOST_LENT
  br i1 %too.many, label %cut, label %advise
cut:
  call void @wg_free_beyond(ptr %raw)
  br label %advise
advise:
  call void @wg_advise(ptr %raw, i64 %size, i32 WHEN_NEEDED)
  br label %put
put:
  call void @wg_keep(ptr %raw)
  ret void
}

define internal void @wg_advise(ptr %raw, i64 %size, i32 %advice) nounwind noinline cold {
  %address = ptrtoint ptr %raw to i64
  %data = add i64 %address, 65599
  %from = and i64 %data, -65536
  %end = add i64 %address, %size
  %to = and i64 %end, -65536
  %whole = sub i64 %to, %from
  %some = icmp sgt i64 %whole, 0
  br i1 %some, label %tell, label %done
tell:
  %place = inttoptr i64 %from to ptr
  TELL
  br label %done
done:
  ret void
}

define internal void @wg_in_huge_pages(ptr %raw, i64 %size) nounwind {
  %there = icmp ne ptr %raw, null
  %many = icmp uge i64 %size, HUGE
  %both = and i1 %there, %many
  br i1 %both, label %ask, label %done
ask:
  call void @wg_advise(ptr %raw, i64 %size, i32 IN_HUGE_PAGES)
  br label %done
done:
  ret void
}

""",
    LARGE=LARGE,
    MOST_KEPT=MOST_KEPT,
    MOST_LENT=MOST_LENT,
    WHEN_NEEDED=_WHEN_NEEDED,
    IN_HUGE_PAGES=_IN_HUGE_PAGES,
    HUGE=_HUGE,
    TELL=_TELL if _ADVISES else "",
)

OF_THE_SYSTEM = """\
declare noalias ptr @malloc(i64) nounwind
declare ptr @realloc(ptr, i64) nounwind
declare void @free(ptr) nounwind
declare i32 @madvise(ptr, i64, i32) nounwind
"""

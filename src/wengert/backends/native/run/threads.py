"""Threads that wait for parts of loops, and run native code without Python.

They are started with the first form that is to run on several threads, by Python's own functions for threads and
locks, which every system has that CPython runs on; they need no interpreter. There is one pool for the process.
While it is busy (another thread of Python's is in a loop, or a loop in a loop is reached) a loop runs
where it is, part by part.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

from .machine import Code, compiled, machine

SETTING = "WENGERT_THREADS"
_WORKER = 64
"""The bytes of the record of one thread: two locks, what to call, with what, and what that gave."""


def wanted() -> int:
    """How many threads there are to be: what the setting says, or one for each processor we may use."""
    setting = os.environ.get(SETTING, "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def pool() -> Pool:
    """The threads of this process; native code finds them by the names `wg_threads` and `wg_spread`."""
    made = Pool()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=made.start)
    return made


class Pool:
    """Threads, of which the one that calls is the first."""

    def __init__(self) -> None:
        self._code = _compiled()
        self._kept: list[Any] = []
        self.start()

    def start(self) -> None:
        """Start the threads; in a child of `os.fork`, which has none, anew."""
        count = wanted()
        records = ctypes.create_string_buffer(_WORKER * max(count - 1, 1))
        self._kept.append(records)  # those of a parent, too: its child's memory is a copy
        first = ctypes.addressof(records)
        started = 0
        for number in range(count - 1):
            at = first + _WORKER * number
            (ctypes.c_size_t * 2).from_address(at)[:] = (_lock(held=True), _lock(held=True))
            if not _started(self._code.address("wg_work"), at):
                break
            started += 1
        setup = ctypes.CFUNCTYPE(None, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int64)
        setup(self._code.address("wg_setup"))(_lock(held=False), first, started + 1)


def _compiled() -> Code:
    m = machine()
    for name, verb in (("wg_lock", "acquire"), ("wg_unlock", "release")):
        function = getattr(ctypes.pythonapi, f"PyThread_{verb}_lock")
        m.binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value or 0)
    code = compiled(_TEXT)
    for name in ("wg_threads", "wg_spread"):
        m.binding.add_symbol(name, code.address(name))
    return code


def _lock(*, held: bool) -> int:
    allocate, acquire = (
        getattr(ctypes.pythonapi, f"PyThread_{verb}_lock") for verb in ("allocate", "acquire")
    )
    allocate.restype = ctypes.c_void_p
    acquire.argtypes = [ctypes.c_void_p, ctypes.c_int]
    lock = allocate()
    if lock is None:
        raise MemoryError("no memory for a lock")
    if held:
        acquire(lock, 1)
    return lock


def _started(function: int, argument: int) -> bool:
    start = ctypes.pythonapi.PyThread_start_new_thread
    start.argtypes, start.restype = [ctypes.c_void_p, ctypes.c_void_p], ctypes.c_ulong
    return start(function, argument) != ctypes.c_ulong(-1).value


_TEXT = """\
@wg_busy = internal global ptr null
@wg_workers = internal global ptr null
@wg_count = internal global i64 1

declare i32 @wg_lock(ptr, i32)
declare void @wg_unlock(ptr)

define void @wg_setup(ptr %busy, ptr %workers, i64 %count) #0 {
  store ptr %busy, ptr @wg_busy
  store ptr %workers, ptr @wg_workers
  store i64 %count, ptr @wg_count
  ret void
}

define i64 @wg_threads(i64 %count) #0 {
  %some = call i64 @llvm.smax.i64(i64 %count, i64 1)
  %all = load i64, ptr @wg_count
  %fewer = call i64 @llvm.smin.i64(i64 %some, i64 %all)
  ret i64 %fewer
}

define void @wg_work(ptr %me) #0 {
entry:
  %done_at = getelementptr ptr, ptr %me, i64 1
  %function_at = getelementptr ptr, ptr %me, i64 2
  %frame_at = getelementptr ptr, ptr %me, i64 3
  %status_at = getelementptr ptr, ptr %me, i64 4
  %go = load ptr, ptr %me
  %done = load ptr, ptr %done_at
  br label %wait
wait:
  %got = call i32 @wg_lock(ptr %go, i32 1)
  %function = load ptr, ptr %function_at
  %frame = load ptr, ptr %frame_at
  %status = call i32 %function(ptr %frame)
  store i32 %status, ptr %status_at
  call void @wg_unlock(ptr %done)
  br label %wait
}

define i32 @wg_spread(ptr %function, ptr %frames, i64 %size, i64 %parts) #0 {
entry:
  %busy = load ptr, ptr @wg_busy
  %many = icmp sgt i64 %parts, 1
  br i1 %many, label %ask, label %alone
ask:
  %free = call i32 @wg_lock(ptr %busy, i32 0)
  %is_free = icmp ne i32 %free, 0
  br i1 %is_free, label %begin, label %alone

alone:
  %a = phi i64 [ 0, %entry ], [ 0, %ask ], [ %a.next, %alone.next ]
  %a.offset = mul i64 %a, %size
  %a.frame = getelementptr i8, ptr %frames, i64 %a.offset
  %a.status = call i32 %function(ptr %a.frame)
  %a.failed = icmp ne i32 %a.status, 0
  br i1 %a.failed, label %gave_up, label %alone.next
alone.next:
  %a.next = add i64 %a, 1
  %a.more = icmp slt i64 %a.next, %parts
  br i1 %a.more, label %alone, label %done
gave_up:
  ret i32 %a.status
done:
  ret i32 0

begin:
  %workers = load ptr, ptr @wg_workers
  br label %start
start:
  %s = phi i64 [ 1, %begin ], [ %s.next, %start ]
  %s.number = sub i64 %s, 1
  %s.place = mul i64 %s.number, WORKER
  %s.worker = getelementptr i8, ptr %workers, i64 %s.place
  %s.function = getelementptr ptr, ptr %s.worker, i64 2
  %s.frame_at = getelementptr ptr, ptr %s.worker, i64 3
  %s.offset = mul i64 %s, %size
  %s.frame = getelementptr i8, ptr %frames, i64 %s.offset
  store ptr %function, ptr %s.function
  store ptr %s.frame, ptr %s.frame_at
  %s.go = load ptr, ptr %s.worker
  call void @wg_unlock(ptr %s.go)
  %s.next = add i64 %s, 1
  %s.more = icmp slt i64 %s.next, %parts
  br i1 %s.more, label %start, label %own
own:
  %mine = call i32 %function(ptr %frames)
  br label %wait
wait:
  %w = phi i64 [ 1, %own ], [ %w.next, %wait ]
  %status = phi i32 [ %mine, %own ], [ %status.next, %wait ]
  %w.number = sub i64 %w, 1
  %w.place = mul i64 %w.number, WORKER
  %w.worker = getelementptr i8, ptr %workers, i64 %w.place
  %w.done_at = getelementptr ptr, ptr %w.worker, i64 1
  %w.done = load ptr, ptr %w.done_at
  %w.got = call i32 @wg_lock(ptr %w.done, i32 1)
  %w.status_at = getelementptr ptr, ptr %w.worker, i64 4
  %w.status = load i32, ptr %w.status_at
  %w.failed = icmp ne i32 %w.status, 0
  %status.next = select i1 %w.failed, i32 %w.status, i32 %status
  %w.next = add i64 %w, 1
  %w.more = icmp slt i64 %w.next, %parts
  br i1 %w.more, label %wait, label %end
end:
  call void @wg_unlock(ptr %busy)
  ret i32 %status.next
}

declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
""".replace("WORKER", str(_WORKER))

"""What every LLVM module contains: memory that is released together. As in `ccode_runtime`."""

from __future__ import annotations

RUNTIME = """\
define internal noalias ptr @wg_allocate(ptr %memory, i64 %size) nounwind {
  %all = add i64 %size, 64
  %raw = call ptr @malloc(i64 %all)
  %failed = icmp eq ptr %raw, null
  br i1 %failed, label %no, label %yes
no:
  ret ptr null
yes:
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

define internal ptr @wg_enlarge(ptr %data, i64 %size) nounwind noinline {
  %old = getelementptr i8, ptr %data, i64 -64
  %all = add i64 %size, 64
  %raw = call ptr @realloc(ptr %old, i64 %all)
  %failed = icmp eq ptr %raw, null
  br i1 %failed, label %no, label %yes
no:
  ret ptr null
yes:
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

define internal void @wg_release(ptr %data) nounwind {
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
  call void @free(ptr %raw)
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
  call void @free(ptr %raw)
  br label %test
done:
  store ptr null, ptr %memory
  ret void
}

declare noalias ptr @malloc(i64) nounwind
declare ptr @realloc(ptr, i64) nounwind
declare void @free(ptr) nounwind
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

attributes #0 = { "target-cpu"="CPU" "target-features"="FEATURES" }
"""

"""What every C file begins with: memory that is released together, and the operations that C lacks."""

from __future__ import annotations

from .llvm_arena import CHUNK

HELPERS = """\
#define _GNU_SOURCE
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef WG_ARENA_CHUNK
#define WG_ARENA_CHUNK CHUNK_SIZE
#endif

#if defined(__GNUC__)
#define WG_MAY_BE_UNUSED __attribute__((unused))
#else
#define WG_MAY_BE_UNUSED
#endif

typedef struct wg_block {
    struct wg_block *next, *before;
} wg_block;

typedef struct wg_chunk {
    struct wg_chunk *before;
    char *end;
} wg_chunk;

/* What a call has of memory: a list of all that is allocated; and an arena, which is chunks of
   memory, filled one after the other: up to where the last one is filled, and where it ends. */
typedef struct wg_memory {
    wg_block blocks;
    char *top, *end;
    wg_chunk *chunk;
} wg_memory;

/* 64 bytes before the elements hold the links of the list. */
WG_MAY_BE_UNUSED static void *wg_allocate(wg_memory *memory, int64_t size)
{
    wg_block *made = malloc((size_t)size + 64), *head = &memory->blocks;
    if (!made) return NULL;
    made->next = head->next;
    made->before = head;
    if (head->next) head->next->before = made;
    head->next = made;
    return (char *)made + 64;
}

WG_MAY_BE_UNUSED static void *wg_enlarge(void *data, int64_t size)
{
    wg_block *made = realloc((char *)data - 64, (size_t)size + 64);
    if (!made) return NULL;
    made->before->next = made;
    if (made->next) made->next->before = made;
    return (char *)made + 64;
}

WG_MAY_BE_UNUSED static void wg_release(void *data)
{
    if (!data) return;
    wg_block *old = (wg_block *)((char *)data - 64);
    old->before->next = old->next;
    if (old->next) old->next->before = old->before;
    free(old);
}

static void wg_release_all(wg_memory *memory)
{
    wg_block *head = &memory->blocks;
    while (head->next) {
        wg_block *next = head->next->next;
        free(head->next);
        head->next = next;
    }
}

WG_MAY_BE_UNUSED static void *wg_arena_more(wg_memory *memory, size_t size)
{
    size_t needed = size + sizeof(wg_chunk);
    size_t bytes = needed < WG_ARENA_CHUNK ? WG_ARENA_CHUNK : needed;
    wg_chunk *chunk = wg_allocate(memory, (int64_t)bytes);
    if (!chunk) return NULL;
    chunk->before = memory->chunk;
    chunk->end = memory->end = (char *)chunk + bytes;
    memory->chunk = chunk;
    memory->top = (char *)chunk + needed;
    return chunk + 1;
}

/* A piece on top of the arena. */
WG_MAY_BE_UNUSED static void *wg_arena_take(wg_memory *memory, int64_t size)
{
    size_t whole = ((size_t)size + 7) & ~(size_t)7;
    char *piece = memory->top;
    if (whole >= (size_t)memory->end - (size_t)piece) return wg_arena_more(memory, whole);
    memory->top = piece + whole;
    return piece;
}

/* Give up all pieces above a place that was on top before. */
WG_MAY_BE_UNUSED static void wg_arena_reset(wg_memory *memory, void *place)
{
    while ((size_t)place - (size_t)memory->chunk > (size_t)memory->end - (size_t)memory->chunk) {
        wg_chunk *before = memory->chunk->before;
        wg_release(memory->chunk);
        memory->chunk = before;
        memory->end = before ? before->end : NULL;
    }
    memory->top = place;
}

/* A number as the integer that has the same bits, and back. */
WG_MAY_BE_UNUSED static int64_t wg_bits(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

WG_MAY_BE_UNUSED static double wg_from_bits(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

WG_MAY_BE_UNUSED static int64_t wg_max(int64_t a, int64_t b) { return a > b ? a : b; }
WG_MAY_BE_UNUSED static int64_t wg_min(int64_t a, int64_t b) { return a < b ? a : b; }
WG_MAY_BE_UNUSED static bool wg_outside(int64_t k, int64_t size) { return k < 0 || k >= size; }
WG_MAY_BE_UNUSED static int64_t wg_wrapped(int64_t k, int64_t size) { return k < 0 ? k + size : k; }

/* NaN if either is. */
WG_MAY_BE_UNUSED static double wg_maximum(double a, double b)
{
    return a != a ? a : b != b ? b : fmax(a, b);
}

WG_MAY_BE_UNUSED static double wg_minimum(double a, double b)
{
    return a != a ? a : b != b ? b : fmin(a, b);
}

WG_MAY_BE_UNUSED static bool wg_add_overflows(int64_t a, int64_t b)
{
    return b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b;
}

WG_MAY_BE_UNUSED static bool wg_sub_overflows(int64_t a, int64_t b)
{
    return b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b;
}

WG_MAY_BE_UNUSED static bool wg_mul_overflows(int64_t a, int64_t b)
{
    if (a == 0 || b == 0) return false;
    if (a == -1) return b == INT64_MIN;
    if (b == -1) return a == INT64_MIN;
    if (a > 0) return b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a;
    return b > 0 ? a < INT64_MIN / b : a < INT64_MAX / b;
}

WG_MAY_BE_UNUSED static void wg_multiply_f64(double *c, const double *a, int64_t a0, int64_t a1,
                                             const double *b, int64_t b0, int64_t b1, int64_t rows,
                                             int64_t inner, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) c[i * columns + j] = 0;
        for (int64_t k = 0; k < inner; k++)
            for (int64_t j = 0; j < columns; j++)
                c[i * columns + j] += a[i * a0 + k * a1] * b[k * b0 + j * b1];
    }
}

WG_MAY_BE_UNUSED static void wg_multiply_f32(float *c, const float *a, int64_t a0, int64_t a1,
                                             const float *b, int64_t b0, int64_t b1, int64_t rows,
                                             int64_t inner, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) c[i * columns + j] = 0;
        for (int64_t k = 0; k < inner; k++)
            for (int64_t j = 0; j < columns; j++)
                c[i * columns + j] += a[i * a0 + k * a1] * b[k * b0 + j * b1];
    }
}
""".replace("CHUNK_SIZE", str(CHUNK))

/* What search.c and first_fit.c share: the problem, as the caller lays it out. Lengths are in units, not bytes.
 *
 * Plain C with a flat interface, called through ctypes. search_tree.py and first_fit.py hold the same algorithms in
 * Python, step for step. There is no global state: calls may run side by side.
 */
#ifndef GE_PACKING_PROBLEM_H
#define GE_PACKING_PROBLEM_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef SOURCE_DIGEST
#define SOURCE_DIGEST ""
#endif
#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

typedef int64_t i64;
typedef uint64_t u64;

/* Lists of lists are flat: those of i are item[start[i]] .. item[start[i + 1]]. */
typedef struct {
    i64 buffers, sections, capacity;
    const i64 *size, *align, *fixed, *relative; /* fixed: address or -1; align of a group's members: the group's */
    const i64 *twin, *group;                    /* class of equal buffers; number of the group or -1 */
    const i64 *near_start, *near, *member_start, *member;
    const i64 *in_section_start, *in_section, *sections_of_start, *sections_of;
} Problem;

static inline i64 align_up(i64 x, i64 a) { return a <= 1 ? x : (x + a - 1) / a * a; }

#endif

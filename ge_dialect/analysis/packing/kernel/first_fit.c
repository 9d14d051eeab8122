/* Placing buffers one after the other, each at the lowest free place. */
#include "problem.h"

EXPORT const char *ge_pack_digest(void) { return SOURCE_DIGEST; }

typedef struct { i64 start, end; } Range;

/* Quicksort by start; the callback of qsort costs more than all the rest. */
static void sort_ranges(Range *r, i64 count) {
    while (count > 16) {
        i64 low = r[0].start, middle = r[count / 2].start, high = r[count - 1].start;
        i64 pivot = low < middle ? (middle < high ? middle : (low < high ? high : low))
                                 : (low < high ? low : (middle < high ? high : middle));
        i64 i = 0, j = count - 1;
        while (i <= j) {
            while (r[i].start < pivot) i++;
            while (r[j].start > pivot) j--;
            if (i > j) break;
            Range t = r[i]; r[i++] = r[j]; r[j--] = t;
        }
        if (j + 1 < count - i) { sort_ranges(r, j + 1); r += i; count -= i; }
        else { sort_ranges(r + i, count - i); count = j + 1; }
    }
    for (i64 i = 1; i < count; i++) {
        Range t = r[i];
        i64 j = i;
        for (; j && r[j - 1].start > t.start; j--) r[j] = r[j - 1];
        r[j] = t;
    }
}

/* Give the buffers of `order` (a group counts where its first member stands) the lowest place that is free, or with
 * `tightest` the smallest hole that holds them. Fixed buffers come first. Returns the peak; -1 without memory. */
EXPORT i64 ge_pack_first_fit(const Problem *p, const i64 *order, i64 tightest, i64 *offset) {
    i64 n = p->buffers, peak = 0, room = 0;
    for (i64 v = 0; v < n; v++) {
        i64 near = p->near_start[v + 1] - p->near_start[v];
        if (near > room) room = near;
        offset[v] = p->fixed[v];
        if (offset[v] >= 0 && offset[v] + p->size[v] > peak) peak = offset[v] + p->size[v];
    }
    Range *taken = malloc((size_t)(room + 1) * sizeof(Range));
    if (!taken) return -1;
    for (i64 i = 0; i < n; i++) {
        i64 v = order[i], g = p->group[v], base = 0;
        if (offset[v] >= 0) continue;
        i64 first = g < 0 ? 0 : p->member_start[g], last = g < 0 ? 1 : p->member_start[g + 1];
        for (int again = 1; again;) {
            again = 0;
            for (i64 m = first; m < last; m++) {
                i64 k = g < 0 ? v : p->member[m], shift = g < 0 ? 0 : p->relative[k], count = 0, at = base + shift;
                for (i64 j = p->near_start[k]; j < p->near_start[k + 1]; j++) {
                    i64 u = p->near[j];
                    if (offset[u] < 0) continue;
                    taken[count].start = offset[u]; taken[count].end = offset[u] + p->size[u];
                    count++;
                }
                sort_ranges(taken, count);
                i64 best = -1, least = INT64_MAX;
                for (i64 j = 0; j < count; j++) {
                    i64 spare = taken[j].start - at - p->size[k];
                    if (spare >= 0 && g >= 0) break;
                    if (spare >= 0 && spare < least) { least = spare; best = at; if (!tightest) break; }
                    if (taken[j].end > at) at = align_up(taken[j].end - shift, p->align[k]) + shift;
                }
                if (best >= 0) at = best;
                if (at > base + shift) { base = at - shift; again = m > first || m + 1 < last; }
            }
        }
        for (i64 m = first; m < last; m++) {
            i64 k = g < 0 ? v : p->member[m];
            offset[k] = base + (g < 0 ? 0 : p->relative[k]);
            if (offset[k] + p->size[k] > peak) peak = offset[k] + p->size[k];
        }
    }
    free(taken);
    return peak;
}

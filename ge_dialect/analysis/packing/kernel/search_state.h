/* The state of the search: how low each buffer can lie, what follows from that, how to take it back (search_state.py).
 * Included by search.c alone. */
#include "problem.h"

#include <time.h>

typedef struct {
    i64 nodes, first_nodes, features, table_bits;
    double seconds;
} Options;

typedef struct {
    i64 nodes, restarts, known, checks;
} Statistics;

enum { FAIL = 0, FITS = 1, LIMIT = 2, CALL = 3 };
enum { TABLE = 1, DOMINANCE = 2, INFERENCE = 4, SPLIT = 8, RESTART = 16 };
enum { MOST_SECTIONS = 512 }; /* looked at in one choice */
enum { STRATEGIES = 16 };    /* four rules for sections times four for buffers; longer runs when all had their turn */
enum { RAISED, PLACED, PINNED };
enum { NODE, PARTS };
enum { ENTER, DECIDE, TRY, CHILD };

typedef struct { i64 buffer, kind, old; } Change;
typedef struct { u64 a, b; } Hash;
typedef struct { i64 buffer; double key; } Candidate;

/* A node: one connected part, or the choice of the next buffer in it. Or a list of parts, solved one after the other.
 * `items` of a node may still list buffers that are placed; `left` of them are not. */
typedef struct {
    i64 kind, stage, length, left, entry, mark, level, section, count, next, certain;
    i64 *items, *start, *order;
    Candidate *list;
    Hash hash, start_hash;
    size_t used, kept;
} Frame;

typedef struct {
    const Problem *p;
    const Options *o;
    Statistics *stats;
    i64 *low, *offset, *pin, *rest, *count, *weight, *queue, *stamp, *section_stamp;
    char *placed, *queued;
    i64 queue_length, mark, section_mark, pins;
    Change *changes;
    i64 change_count, change_room;
    Hash hash, *table;
    u64 table_mask, random;
    i64 limit, section_rule, order_rule, noise;
    double deadline;
    char *arena; /* a stack of scratch memory for the lists of the nodes of the current path */
    size_t arena_used, arena_room;
    i64 *keys, *sizes;
    Frame *frames;
    i64 depth, frame_room;
    int broken; /* out of memory */
} Search;

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static u64 mix(u64 x) {
    x ^= x >> 30; x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 27; x *= 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/* What an unplaced buffer adds to the hash of its state. */
static Hash state_of(const Search *s, i64 v) {
    Hash h;
    h.a = mix((u64)v * 0x9E3779B97F4A7C15ULL + 2 * (u64)s->low[v] + (s->pin[v] >= 0));
    h.b = mix(h.a ^ 0xabcdef1234567ULL);
    return h;
}
static void add_state(Search *s, i64 v) { Hash h = state_of(s, v); s->hash.a += h.a; s->hash.b += h.b; }
static void drop_state(Search *s, i64 v) { Hash h = state_of(s, v); s->hash.a -= h.a; s->hash.b -= h.b; }

static i64 next_random(Search *s) {
    s->random ^= s->random << 13; s->random ^= s->random >> 7; s->random ^= s->random << 17;
    return (i64)(s->random % 1024);
}

static void push_sections(Search *s, i64 v) {
    const Problem *p = s->p;
    for (i64 j = p->sections_of_start[v]; j < p->sections_of_start[v + 1]; j++) {
        i64 c = p->sections_of[j];
        if (!s->queued[c]) { s->queued[c] = 1; s->queue[s->queue_length++] = c; }
    }
}
static int clear_queue(Search *s) {
    while (s->queue_length) s->queued[s->queue[--s->queue_length]] = 0;
    return 0;
}

static int record(Search *s, i64 v, i64 kind, i64 old) {
    if (s->change_count == s->change_room) {
        i64 room = s->change_room * 2;
        Change *more = realloc(s->changes, (size_t)room * sizeof(Change));
        if (!more) { s->broken = 1; return 0; }
        s->changes = more; s->change_room = room;
    }
    Change *c = &s->changes[s->change_count++];
    c->buffer = v; c->kind = kind; c->old = old;
    return 1;
}

static void undo(Search *s, i64 mark) {
    const Problem *p = s->p;
    while (s->change_count > mark) {
        Change *c = &s->changes[--s->change_count];
        i64 v = c->buffer;
        if (c->kind == PLACED) {
            s->placed[v] = 0; add_state(s, v);
            for (i64 j = p->sections_of_start[v]; j < p->sections_of_start[v + 1]; j++) {
                s->rest[p->sections_of[j]] += p->size[v]; s->count[p->sections_of[j]]++;
            }
            if (s->pin[v] >= 0) s->pins++;
            continue;
        }
        drop_state(s, v);
        if (c->kind == RAISED) s->low[v] = c->old;
        else { s->pin[v] = -1; s->pins--; }
        add_state(s, v);
    }
}

/* Buffer v lies at x or above: whether that can be. */
static int raise_to(Search *s, i64 v, i64 x) {
    const Problem *p = s->p;
    if (s->low[v] >= x) return 1;
    i64 g = p->group[v], base = g < 0 ? 0 : p->relative[v];
    if (s->pin[v] >= 0) return 0;
    for (int again = 1; again;) {
        again = 0;
        x = align_up(x - base, p->align[v]) + base;
        if (x + p->size[v] > p->capacity) return 0;
        if (!s->pins) break;
        for (i64 j = p->near_start[v]; j < p->near_start[v + 1]; j++) {
            i64 f = p->near[j], at = s->pin[f];
            if (at >= 0 && !s->placed[f] && x + p->size[v] > at && x < at + p->size[f]) { x = at + p->size[f]; again = 1; }
        }
    }
    if (!record(s, v, RAISED, s->low[v])) return 0;
    drop_state(s, v); s->low[v] = x; add_state(s, v);
    push_sections(s, v);
    if (g >= 0)
        for (i64 j = p->member_start[g]; j < p->member_start[g + 1]; j++) {
            i64 k = p->member[j];
            if (k != v && !s->placed[k] && !raise_to(s, k, x - base + p->relative[k])) return 0;
        }
    return 1;
}

/* Buffer v lies at x exactly, though it is not its turn yet. */
static int pin_to(Search *s, i64 v, i64 x) {
    const Problem *p = s->p;
    if (s->pin[v] >= 0) return s->pin[v] == x;
    if (s->low[v] > x || x + p->size[v] > p->capacity) return 0;
    if (s->low[v] < x) {
        if (!record(s, v, RAISED, s->low[v])) return 0;
        drop_state(s, v); s->low[v] = x; add_state(s, v);
    }
    if (!record(s, v, PINNED, 0)) return 0;
    drop_state(s, v); s->pin[v] = x; s->pins++; add_state(s, v);
    push_sections(s, v);
    for (i64 j = p->near_start[v]; j < p->near_start[v + 1]; j++) {
        i64 u = p->near[j];
        if (!s->placed[u] && s->low[u] + p->size[u] > x && s->low[u] < x + p->size[v] && !raise_to(s, u, x + p->size[v])) return 0;
    }
    return 1;
}

/* Look at every section whose buffers were raised: whether they still fit, and who must be the lowest. */
static int propagate(Search *s) {
    const Problem *p = s->p;
    while (s->queue_length) {
        i64 c = s->queue[--s->queue_length];
        s->queued[c] = 0;
        if (!s->count[c]) continue;
        s->stats->checks++;
        i64 low = INT64_MAX, high = 0, end = p->in_section_start[c + 1];
        for (i64 j = p->in_section_start[c]; j < end; j++) {
            i64 v = p->in_section[j];
            if (s->placed[v]) continue;
            if (s->low[v] < low) low = s->low[v];
            if (s->low[v] > high) high = s->low[v];
        }
        i64 latest = p->capacity - s->rest[c]; /* no later than this the lowest begins */
        if (low > latest) { s->weight[c]++; return clear_queue(s); }
        if (high <= latest || !(s->o->features & INFERENCE)) continue;
        i64 m = 0;
        for (i64 j = p->in_section_start[c]; j < end; j++) {
            i64 v = p->in_section[j];
            if (s->placed[v]) continue;
            i64 at = m++, key = s->low[v];
            while (at && s->keys[at - 1] > key) { s->keys[at] = s->keys[at - 1]; s->sizes[at] = s->sizes[at - 1]; at--; }
            s->keys[at] = key; s->sizes[at] = p->size[v];
        }
        i64 top = 0;
        for (i64 i = 0; i < m; i++) top = (s->keys[i] > top ? s->keys[i] : top) + s->sizes[i];
        if (top > p->capacity) { s->weight[c]++; return clear_queue(s); }
        if (m < 2 || s->keys[1] <= latest) continue;
        i64 floor = s->keys[0] + s->sizes[0];
        for (i64 j = p->in_section_start[c]; j < end; j++) {
            i64 v = p->in_section[j];
            if (!s->placed[v] && s->low[v] > latest && !raise_to(s, v, floor)) return clear_queue(s);
        }
    }
    return 1;
}

static int place(Search *s, i64 u, i64 at) {
    const Problem *p = s->p;
    if (!record(s, u, PLACED, 0)) return 0;
    drop_state(s, u);
    s->placed[u] = 1; s->offset[u] = at;
    if (s->pin[u] >= 0) s->pins--;
    for (i64 j = p->sections_of_start[u]; j < p->sections_of_start[u + 1]; j++) {
        s->rest[p->sections_of[j]] -= p->size[u]; s->count[p->sections_of[j]]--;
    }
    push_sections(s, u);
    i64 g = p->group[u];
    if (g >= 0)
        for (i64 j = p->member_start[g]; j < p->member_start[g + 1]; j++) {
            i64 k = p->member[j];
            if (!s->placed[k] && !pin_to(s, k, at - p->relative[u] + p->relative[k])) return clear_queue(s);
        }
    for (i64 j = p->near_start[u]; j < p->near_start[u + 1]; j++) {
        i64 v = p->near[j];
        if (!s->placed[v] && !raise_to(s, v, at + p->size[u])) return clear_queue(s);
    }
    return propagate(s);
}

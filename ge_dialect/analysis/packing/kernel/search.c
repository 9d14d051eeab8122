/* Depth-first search for offsets within a capacity: search_tree.py explains it. */
#include "search_state.h"

static void *take(Search *s, size_t bytes) {
    bytes = (bytes + 15) / 16 * 16;
    if (s->arena_used + bytes > s->arena_room) { s->broken = 1; return NULL; }
    void *found = s->arena + s->arena_used;
    s->arena_used += bytes;
    return found;
}

static Frame *push_frame(Search *s, i64 kind) {
    if (s->depth == s->frame_room) {
        Frame *more = realloc(s->frames, (size_t)s->frame_room * 2 * sizeof(Frame));
        if (!more) { s->broken = 1; return NULL; }
        s->frames = more; s->frame_room *= 2;
    }
    Frame *f = &s->frames[s->depth++];
    memset(f, 0, sizeof *f);
    f->kind = kind; f->used = s->arena_used;
    return f;
}

/* All buffers that conflicts or groups join to `from` go to `found`; returns their number. */
static i64 component(Search *s, i64 from, i64 *found) {
    const Problem *p = s->p;
    i64 length = 1;
    found[0] = from; s->stamp[from] = s->mark;
    for (i64 i = 0; i < length; i++) {
        i64 u = found[i], g = p->group[u];
        for (i64 j = p->near_start[u]; j < p->near_start[u + 1]; j++) {
            i64 v = p->near[j];
            if (!s->placed[v] && s->stamp[v] != s->mark) { s->stamp[v] = s->mark; found[length++] = v; }
        }
        if (g >= 0 && s->pin[u] < 0)
            for (i64 j = p->member_start[g]; j < p->member_start[g + 1]; j++) {
                i64 v = p->member[j];
                if (!s->placed[v] && s->stamp[v] != s->mark) { s->stamp[v] = s->mark; found[length++] = v; }
            }
    }
    return length;
}

/* Enter what is left of `items`, to be solved part by part, small parts first: parts do not touch each other. */
static int enter_parts(Search *s, const i64 *items, i64 length) {
    Frame *f = push_frame(s, PARTS);
    if (!f) return LIMIT;
    f->items = take(s, (size_t)length * sizeof(i64));
    f->start = take(s, ((size_t)length + 1) * sizeof(i64));
    f->order = take(s, (size_t)length * sizeof(i64));
    if (s->broken) return LIMIT;
    i64 parts = 0, done = 0, *start = f->start, *order = f->order;
    s->mark++;
    for (i64 i = 0; i < length; i++) {
        i64 v = items[i];
        if (s->placed[v] || s->stamp[v] == s->mark) continue;
        start[parts++] = done;
        done += component(s, v, f->items + done);
    }
    start[parts] = done;
    for (i64 i = 0; i < parts; i++) {
        i64 at = i, own = start[i + 1] - start[i];
        while (at && start[order[at - 1] + 1] - start[order[at - 1]] > own) { order[at] = order[at - 1]; at--; }
        order[at] = i;
    }
    f->count = parts; f->next = 0;
    return CALL;
}

static int enter_node(Search *s, i64 *items, i64 length, i64 left, Hash hash) {
    Frame *f = push_frame(s, NODE);
    if (!f) return LIMIT;
    f->items = items; f->length = length; f->left = left; f->hash = hash;
    f->stage = ENTER; f->entry = s->change_count;
    return CALL;
}

/* The next part of a list of parts, when those before it fit. */
static int next_part(Search *s, Frame *f) {
    if (f->next == f->count) return FITS;
    i64 part = f->order[f->next++], first = f->start[part], count = f->start[part + 1] - first;
    Hash hash = {0, 0};
    for (i64 j = first; j < first + count; j++) {
        Hash h = state_of(s, f->items[j]);
        hash.a += h.a; hash.b += h.b;
    }
    return enter_node(s, f->items + first, count, count, hash);
}

/* Whether the unplaced neighbours of u, just placed, still hang together without it. */
static int stays_whole(Search *s, i64 u, i64 length) {
    const Problem *p = s->p;
    if (!(s->o->features & SPLIT)) return 1;
    if (p->group[u] >= 0) return 0;
    i64 wanted = s->mark + 1, reached = s->mark + 2, open = 0, first = -1;
    s->mark += 2;
    for (i64 j = p->near_start[u]; j < p->near_start[u + 1]; j++) {
        i64 v = p->near[j];
        if (s->placed[v]) continue;
        if (first < 0) { first = v; s->stamp[v] = reached; continue; }
        s->stamp[v] = wanted; open++;
    }
    if (!open) return 1;
    size_t used = s->arena_used;
    i64 *found = take(s, (size_t)length * sizeof(i64)), count = 1;
    if (s->broken) { s->arena_used = used; return 0; }
    found[0] = first;
    for (i64 i = 0; i < count && open; i++) {
        i64 x = found[i], g = p->group[x];
        for (i64 j = p->near_start[x]; j < p->near_start[x + 1]; j++) {
            i64 v = p->near[j];
            if (s->placed[v] || s->stamp[v] == reached) continue;
            if (s->stamp[v] == wanted) open--;
            s->stamp[v] = reached; found[count++] = v;
        }
        if (g >= 0 && s->pin[x] < 0)
            for (i64 j = p->member_start[g]; j < p->member_start[g + 1]; j++) {
                i64 v = p->member[j];
                if (s->placed[v] || s->stamp[v] == reached) continue;
                if (s->stamp[v] == wanted) open--;
                s->stamp[v] = reached; found[count++] = v;
            }
    }
    s->arena_used = used;
    return !open;
}

/* The section to decide next among those that hold a buffer at `level`. */
static i64 choose_section(Search *s, const i64 *items, i64 length, i64 level) {
    const Problem *p = s->p;
    i64 best = -1, seen = 0, mark = ++s->section_mark;
    double best_key = 0, best_tie = 0;
    for (i64 i = 0; i < length; i++) {
        i64 u = items[i];
        if (s->placed[u] || s->low[u] != level) continue;
        if (seen >= MOST_SECTIONS) break;
        for (i64 j = p->sections_of_start[u]; j < p->sections_of_start[u + 1]; j++) {
            i64 c = p->sections_of[j], at_level = 0;
            if (s->section_stamp[c] == mark) continue;
            s->section_stamp[c] = mark; seen++;
            for (i64 q = p->in_section_start[c]; q < p->in_section_start[c + 1]; q++) {
                i64 v = p->in_section[q];
                at_level += !s->placed[v] && s->low[v] == level;
            }
            double slack = (double)(p->capacity - level - s->rest[c]), key, tie, weight = 1.0 + (double)s->weight[c];
            switch (s->section_rule) {
            case 0: key = (double)at_level; tie = slack; break;
            case 1: key = slack; tie = (double)at_level; break;
            case 2: key = (slack + (double)p->capacity / 64.0) * (double)at_level / weight; tie = 0; break;
            default: key = slack * ((double)at_level + 0.5) / weight; tie = 0; break;
            }
            if (best < 0 || key < best_key || (key == best_key && tie < best_tie)) { best = c; best_key = key; best_tie = tie; }
        }
    }
    return best;
}

static double order_key(Search *s, i64 v) {
    const Problem *p = s->p;
    double wide = (double)(p->sections_of_start[v + 1] - p->sections_of_start[v]), size = (double)p->size[v], key;
    switch (s->order_rule) {
    case 0: key = wide * 4294967296.0 + size; break;
    case 1: {
        i64 most = 0;
        for (i64 j = p->sections_of_start[v]; j < p->sections_of_start[v + 1]; j++)
            if (s->rest[p->sections_of[j]] > most) most = s->rest[p->sections_of[j]];
        key = (double)most * 4096.0 + wide;
        break;
    }
    case 2: key = wide * size; break;
    default: key = size * 4096.0 + wide; break;
    }
    return s->noise ? key * (1024.0 + (double)(next_random(s) % 307)) : key;
}

/* Whether no unplaced neighbour of u, those of the marked section left out, can begin below `top`. */
static int nothing_below(const Search *s, i64 u, i64 top, i64 marked) {
    const Problem *p = s->p;
    for (i64 j = p->near_start[u]; j < p->near_start[u + 1]; j++) {
        i64 v = p->near[j];
        if (!s->placed[v] && s->stamp[v] != marked && s->low[v] < top) return 0;
    }
    return 1;
}

/* Where the lowest buffer of section c begins at the earliest if it is not at `level`. */
static i64 next_level(Search *s, i64 c, i64 level, i64 marked) {
    const Problem *p = s->p;
    i64 next = INT64_MAX;
    for (i64 q = p->in_section_start[c]; q < p->in_section_start[c + 1]; q++) {
        i64 u = p->in_section[q], g = p->group[u], low = s->low[u];
        if (s->placed[u]) continue;
        if (low == level) {
            low = INT64_MAX;
            i64 first = g < 0 ? 0 : p->member_start[g], last = g < 0 ? 1 : p->member_start[g + 1];
            for (i64 m = first; m < last; m++) {
                i64 k = g < 0 ? u : p->member[m], shift = g < 0 ? 0 : p->relative[u] - p->relative[k];
                for (i64 j = p->near_start[k]; j < p->near_start[k + 1]; j++) {
                    i64 v = p->near[j];
                    if (s->placed[v] || (k == u && s->stamp[v] == marked) || (g >= 0 && p->group[v] == g)) continue;
                    i64 t = s->low[v] + p->size[v] + shift;
                    if (t <= level) t = level + 1;
                    if (t < low) low = t;
                }
            }
        }
        if (low < next) next = low;
    }
    return next;
}

static i64 candidates(Search *s, i64 c, i64 level, Candidate *list) {
    const Problem *p = s->p;
    i64 count = 0;
    for (i64 q = p->in_section_start[c]; q < p->in_section_start[c + 1]; q++) {
        i64 v = p->in_section[q];
        if (s->placed[v] || s->low[v] != level) continue;
        int twin = 0;
        for (i64 a = 0; a < count && !twin; a++) twin = p->twin[list[a].buffer] == p->twin[v];
        if (twin) continue;
        double key = order_key(s, v);
        i64 at = count++;
        while (at && list[at - 1].key < key) { list[at] = list[at - 1]; at--; }
        list[at].buffer = v; list[at].key = key;
    }
    return count;
}

/* Place u at the level of node `index`, then enter what is left; FAIL when it does not go there. */
static int try_one(Search *s, i64 index, i64 u) {
    Frame *f = &s->frames[index];
    f->mark = s->change_count;
    if (!place(s, u, f->level)) {
        undo(s, f->mark);
        return s->broken ? LIMIT : FAIL;
    }
    if (!stays_whole(s, u, f->left)) return s->broken ? LIMIT : enter_parts(s, f->items, f->length);
    if (f->left == 1) return FITS;
    Hash hash = f->hash;
    hash.a += s->hash.a - f->start_hash.a; hash.b += s->hash.b - f->start_hash.b;
    return enter_node(s, f->items, f->length, f->left - 1, hash);
}

/* First visit of a node: is it known to fail, and is its list worth shortening? */
static int look_up(Search *s, Frame *f) {
    f->start_hash = s->hash;
    if (s->table && f->left > 1) {
        Hash *known = &s->table[f->hash.a & s->table_mask];
        if (known->a == f->hash.a && known->b == f->hash.b) { s->stats->known++; return FAIL; }
    }
    if (f->length > 2 * f->left + 16) {
        i64 *shorter = take(s, (size_t)f->left * sizeof(i64)), m = 0;
        if (!shorter) return LIMIT;
        for (i64 i = 0; i < f->length; i++) if (!s->placed[f->items[i]]) shorter[m++] = f->items[i];
        f->items = shorter; f->length = m;
    }
    f->kept = s->arena_used;
    f->stage = DECIDE;
    return CALL;
}

/* Choose level, section and candidates. */
static int decide(Search *s, Frame *f) {
    const Problem *p = s->p;
    s->arena_used = f->kept;
    s->stats->nodes++;
    if (s->stats->nodes > s->limit || (s->stats->nodes % 64 == 0 && now() > s->deadline)) return LIMIT;
    i64 level = INT64_MAX, pinned = -1;
    for (i64 i = 0; i < f->length; i++) {
        i64 v = f->items[i];
        if (!s->placed[v] && s->low[v] < level) level = s->low[v];
    }
    if (s->pins)
        for (i64 i = 0; i < f->length && pinned < 0; i++)
            if (!s->placed[f->items[i]] && s->pin[f->items[i]] == level) pinned = f->items[i];
    f->level = level; f->next = 0; f->stage = TRY; f->certain = pinned >= 0;
    f->section = pinned >= 0 ? -1 : choose_section(s, f->items, f->length, level);
    f->list = take(s, (size_t)(pinned >= 0 ? 1 : s->count[f->section]) * sizeof(Candidate));
    if (!f->list) return LIMIT;
    if (pinned >= 0) {
        f->list[0].buffer = pinned; f->count = 1;
        return CALL;
    }
    f->count = candidates(s, f->section, level, f->list);
    if (s->o->features & DOMINANCE)
        for (i64 a = 0; a < f->count && !f->certain; a++) {
            i64 u = f->list[a].buffer;
            if (p->group[u] < 0 && nothing_below(s, u, level + p->size[u], -1)) {
                f->list[0] = f->list[a]; f->count = 1; f->certain = 1;
            }
        }
    return CALL;
}

/* Nobody begins at this level in the section: it is raised and decided again. FAIL when that cannot be. */
static int raise_section(Search *s, Frame *f) {
    const Problem *p = s->p;
    i64 marked = ++s->mark, c = f->section;
    for (i64 q = p->in_section_start[c]; q < p->in_section_start[c + 1]; q++) s->stamp[p->in_section[q]] = marked;
    i64 next = next_level(s, c, f->level, marked);
    if (next == INT64_MAX || next + s->rest[c] > p->capacity) return FAIL;
    if (s->o->features & DOMINANCE)
        for (i64 a = 0; a < f->count; a++) { /* one of them could still drop to the level */
            i64 u = f->list[a].buffer, top = f->level + p->size[u];
            if (p->group[u] < 0 && next >= top && nothing_below(s, u, top, marked)) return FAIL;
        }
    for (i64 q = p->in_section_start[c]; q < p->in_section_start[c + 1]; q++) {
        i64 u = p->in_section[q];
        if (!s->placed[u] && !raise_to(s, u, next)) return clear_queue(s);
    }
    return propagate(s);
}

/* One step of the node on top of the stack; `result` is what its last child gave. */
static int step(Search *s, i64 index, int result) {
    Frame *f = &s->frames[index];
    switch (f->stage) {
    case ENTER: return look_up(s, f);
    case DECIDE:
        result = decide(s, f);
        if (result != CALL) return result;
        break;
    case CHILD:
        if (result != FAIL) return result;
        undo(s, f->mark);
        f->stage = TRY;
        break;
    }
    if (f->next < f->count) {
        f->stage = CHILD;
        result = try_one(s, index, f->list[f->next].buffer);
        f = &s->frames[index]; /* the stack may have moved */
        f->next++;
        if (result == FAIL) f->stage = TRY;
        return result == FAIL ? CALL : result;
    }
    if (f->certain || !raise_section(s, f)) return s->broken ? LIMIT : FAIL;
    f->stage = DECIDE;
    return CALL;
}

/* Depth first over nodes and parts, with a stack of its own: paths are as long as there are buffers. */
static int explore(Search *s, const i64 *items, i64 length) {
    s->depth = 0; s->arena_used = 0;
    int result = enter_parts(s, items, length);
    while (s->depth && result != LIMIT && !s->broken) {
        i64 index = s->depth - 1;
        Frame *f = &s->frames[index];
        if (f->kind == PARTS) result = result == CALL || result == FITS ? next_part(s, f) : result;
        else result = step(s, index, result);
        if (result == CALL) continue;
        f = &s->frames[index];
        if (f->kind == NODE && result == FAIL) {
            undo(s, f->entry);
            if (s->table && f->left > 1) s->table[f->hash.a & s->table_mask] = f->hash;
        }
        s->arena_used = f->used;
        s->depth = index;
    }
    return s->broken ? LIMIT : result;
}

static void strategy(Search *s, i64 round) {
    s->section_rule = round % 4;
    s->order_rule = (round / 4 + round) % 4;
    s->noise = round >= STRATEGIES;
}

static int root(Search *s, const i64 *items) {
    const Problem *p = s->p;
    for (i64 v = 0; v < p->buffers; v++) {
        if (p->fixed[v] >= 0 && !pin_to(s, v, p->fixed[v])) { clear_queue(s); return FAIL; }
        if (p->size[v] + s->low[v] > p->capacity) { clear_queue(s); return FAIL; }
    }
    for (i64 c = 0; c < p->sections; c++)
        if (!s->queued[c]) { s->queued[c] = 1; s->queue[s->queue_length++] = c; }
    return propagate(s) ? explore(s, items, p->buffers) : FAIL;
}

static void *zeroed(Search *s, i64 count, size_t size) {
    void *found = calloc((size_t)(count > 0 ? count : 1), size);
    if (!found) s->broken = 1;
    return found;
}

/* 1: `offset` holds a plan within the capacity. 0: there is none. 2: not decided within the limits. */
EXPORT int ge_pack_search(const Problem *p, const Options *o, i64 *offset, Statistics *stats) {
    Search search, *s = &search;
    memset(s, 0, sizeof search);
    memset(stats, 0, sizeof *stats);
    i64 n = p->buffers, k = p->sections, widest = 1;
    s->p = p; s->o = o; s->stats = stats; s->offset = offset;
    s->low = zeroed(s, n, sizeof(i64)); s->pin = zeroed(s, n, sizeof(i64)); s->stamp = zeroed(s, n, sizeof(i64));
    s->placed = zeroed(s, n, 1); s->queued = zeroed(s, k, 1);
    s->rest = zeroed(s, k, sizeof(i64)); s->count = zeroed(s, k, sizeof(i64)); s->weight = zeroed(s, k, sizeof(i64));
    s->queue = zeroed(s, k, sizeof(i64)); s->section_stamp = zeroed(s, k, sizeof(i64));
    for (i64 c = 0; c < k; c++) {
        i64 wide = p->in_section_start[c + 1] - p->in_section_start[c];
        if (wide > widest) widest = wide;
    }
    s->keys = zeroed(s, widest, sizeof(i64)); s->sizes = zeroed(s, widest, sizeof(i64));
    s->frame_room = 256; s->frames = zeroed(s, s->frame_room, sizeof(Frame));
    s->change_room = 4096; s->changes = zeroed(s, s->change_room, sizeof(Change));
    /* On a path every node holds one list of candidates; lists of buffers halve, or are parts of one another. */
    s->arena_room = ((size_t)n * ((size_t)widest * sizeof(Candidate) + 256) + (size_t)n * 64 * sizeof(i64) + 4096);
    s->arena = malloc(s->arena_room);
    if (!s->arena) s->broken = 1;
    if (o->features & TABLE) { s->table = zeroed(s, (i64)1 << o->table_bits, sizeof(Hash)); s->table_mask = ((u64)1 << o->table_bits) - 1; }
    i64 *items = zeroed(s, n, sizeof(i64));
    int result = LIMIT;
    if (!s->broken) {
        for (i64 c = 0; c < k; c++)
            for (i64 j = p->in_section_start[c]; j < p->in_section_start[c + 1]; j++) { s->rest[c] += p->size[p->in_section[j]]; s->count[c]++; }
        for (i64 v = 0; v < n; v++) {
            items[v] = v; s->pin[v] = -1; s->low[v] = p->group[v] < 0 ? 0 : p->relative[v];
            add_state(s, v);
        }
        s->random = 88172645463325252ULL; s->deadline = now() + o->seconds;
        double run = (double)o->first_nodes;
        for (i64 round = 0; result == LIMIT; round++) {
            s->limit = o->features & RESTART ? stats->nodes + (i64)run : o->nodes;
            if (s->limit > o->nodes) s->limit = o->nodes;
            strategy(s, round);
            result = n ? root(s, items) : FITS;
            if (result != LIMIT) break;
            undo(s, 0);
            stats->restarts = round + 1;
            if (s->broken || stats->nodes >= o->nodes || now() > s->deadline) break;
            if (round % STRATEGIES == STRATEGIES - 1) run *= 1.5;
        }
    }
    free(s->low); free(s->pin); free(s->stamp); free(s->placed); free(s->queued); free(s->rest); free(s->count);
    free(s->weight); free(s->queue); free(s->section_stamp); free(s->keys); free(s->sizes); free(s->changes);
    free(s->arena); free(s->frames); free(s->table); free(items);
    return result;
}

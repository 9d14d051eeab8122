/* The heaviest antichain of buffers on chains, by a maximum flow.
 *
 * The buffers of a chain are written one after the other, so "u is done before v is written" holds for all v of the
 * chain from some place on. Hence the network needs no edge for each pair: beside the buffers it has one node for each
 * place of a chain, from which the next place can be reached.
 *
 *   source -> u (its weight), u -> place after[u][t] on every chain t, place -> next place, place -> sink (the weight of
 *   the buffer written there)
 *
 * antichain.py says why the weight of all less the flow is the answer, and does the same with bits for each pair.
 */
#include "problem.h"

typedef struct {
    i64 n, chains, work, most_work;
    const i64 *weight;      /* of the buffer at each place; places of one chain stand together */
    const i64 *end;         /* end[c]: first place behind chain c */
    const i64 *chain;       /* of each place */
    const i64 *after;       /* n x chains: the place on each chain from which on all is later; end[c] if nothing is */
    i64 *supply, *demand;   /* what is left of source -> u and place -> sink */
    i64 *sent, *moved;      /* flow u -> place (n x chains), and place -> next place */
    i64 *from_start, *from; /* the edges u -> place by place, as u * chains + chain */
    i64 *level, *queue, *arc, *path;
} Flow;

/* Nodes: u is u, the place k is n + k. */
static inline int is_last(const Flow *f, i64 k) { return k + 1 == f->end[f->chain[k]]; }

static i64 find_open(i64 *next, i64 k) {
    i64 root = k;
    while (next[root] != root) root = next[root];
    while (next[k] != root) { i64 up = next[k]; next[k] = root; k = up; }
    return root;
}

/* Fill each place from the buffers before it as far as that goes without taking anything back. */
static int greedy(Flow *f) {
    i64 n = f->n;
    i64 *next = malloc((size_t)(n + f->chains + 1) * sizeof(i64)); /* the place behind chain c is its end: shift by c */
    i64 *change = calloc((size_t)(n + 1), sizeof(i64));
    if (!next || !change) { free(next); free(change); return 0; }
    for (i64 i = 0; i < n + f->chains + 1; i++) next[i] = i;
    for (i64 k = 0; k < n; k++)
        if (!f->demand[k]) next[k + f->chain[k]] = k + f->chain[k] + 1;
    for (i64 u = 0; u < n; u++)
        for (i64 s = 0; s < f->chains && f->supply[u]; s++) {
            i64 t = (f->chain[u] + s) % f->chains, start = f->after[u * f->chains + t];
            while (f->supply[u] && start < f->end[t]) {
                i64 k = find_open(next, start + t) - t;
                if (k >= f->end[t]) break;
                i64 units = f->supply[u] < f->demand[k] ? f->supply[u] : f->demand[k];
                f->supply[u] -= units; f->demand[k] -= units;
                f->sent[u * f->chains + t] += units;
                change[start] += units; change[k] -= units;
                if (!f->demand[k]) next[k + t] = k + t + 1;
            }
        }
    for (i64 c = 0, k = 0; c < f->chains; c++)
        for (i64 moved = 0; k < f->end[c]; k++) { moved += change[k]; f->moved[k] = moved; }
    free(next); free(change);
    return 1;
}

/* Levels from all buffers with supply; whether a place with demand is reached. */
static int search(Flow *f) {
    i64 n = f->n, head = 0, tail = 0;
    int found = 0;
    for (i64 v = 0; v < 2 * n; v++) f->level[v] = -1;
    for (i64 u = 0; u < n; u++)
        if (f->supply[u]) { f->level[u] = 0; f->queue[tail++] = u; }
#define REACH(v) do { if (f->level[v] < 0) { f->level[v] = f->level[at] + 1; f->queue[tail++] = (v); } } while (0)
    while (head < tail) {
        i64 at = f->queue[head++];
        f->work++;
        if (at < n) {
            for (i64 t = 0; t < f->chains; t++)
                if (f->after[at * f->chains + t] < f->end[t]) REACH(n + f->after[at * f->chains + t]);
            continue;
        }
        i64 k = at - n;
        if (f->demand[k]) found = 1;
        if (!is_last(f, k)) REACH(at + 1);
        if (k && f->chain[k - 1] == f->chain[k] && f->moved[k - 1]) REACH(at - 1);
        for (i64 e = f->from_start[k]; e < f->from_start[k + 1]; e++)
            if (f->sent[f->from[e]]) REACH(f->from[e] / f->chains);
    }
    return found;
}

/* The edge that `arc` stands at: where it leads and what it can carry; 0 when there are no more. */
static int edge(Flow *f, i64 at, i64 *to, i64 *room) {
    i64 n = f->n, a = f->arc[at];
    if (at < n) {
        if (a >= f->chains) return 0;
        i64 place = f->after[at * f->chains + a];
        *to = n + place;
        *room = place < f->end[a] ? INT64_MAX : 0;
        return 1;
    }
    i64 k = at - n;
    if (a == 0) { *to = at + 1; *room = is_last(f, k) ? 0 : INT64_MAX; return 1; }
    if (a == 1) {
        *to = at - 1;
        *room = k && f->chain[k - 1] == f->chain[k] ? f->moved[k - 1] : 0;
        return 1;
    }
    i64 e = f->from_start[k] + a - 2;
    if (e >= f->from_start[k + 1]) return 0;
    *to = f->from[e] / f->chains; *room = f->sent[f->from[e]];
    return 1;
}

static void carry(Flow *f, i64 at, i64 units) {
    i64 n = f->n, a = f->arc[at];
    if (at < n) f->sent[at * f->chains + a] += units;
    else if (a == 0) f->moved[at - n] += units;
    else if (a == 1) f->moved[at - n - 1] -= units;
    else f->sent[f->from[f->from_start[at - n] + a - 2]] -= units;
}

/* Send all that shortest ways can carry. */
static void block(Flow *f) {
    i64 n = f->n;
    for (i64 v = 0; v < 2 * n; v++) f->arc[v] = 0;
    for (i64 u = 0; u < n; u++)
        while (f->supply[u] && f->work < f->most_work) {
            i64 depth = 0;
            f->path[0] = u;
            while (depth >= 0) {
                i64 at = f->path[depth], to, room;
                f->work++;
                if (at >= n && f->demand[at - n]) {
                    i64 units = f->supply[u] < f->demand[at - n] ? f->supply[u] : f->demand[at - n];
                    for (i64 d = 0; d < depth; d++) {
                        edge(f, f->path[d], &to, &room);
                        if (room < units) units = room;
                    }
                    for (i64 d = 0; d < depth; d++) carry(f, f->path[d], units);
                    f->work += depth;
                    f->supply[u] -= units; f->demand[at - n] -= units;
                    break;
                }
                int more = edge(f, at, &to, &room);
                if (!more) {
                    f->level[at] = -2; /* leads nowhere */
                    if (--depth >= 0) f->arc[f->path[depth]]++;
                } else if (room && f->level[to] == f->level[at] + 1) f->path[++depth] = to;
                else f->arc[at]++;
            }
            if (depth < 0) break;
        }
}

/* The weight of the heaviest antichain; `member` says who is in it. -1 when `most_work` steps were not enough, -2
 * without memory. Places are buffers: buffer k is the one written at place k. */
EXPORT i64 ge_pack_antichain(i64 n, i64 chains, const i64 *weight, const i64 *end, const i64 *chain, const i64 *after,
                             i64 most_work, i64 *member) {
    i64 answer = -2, edges = 0;
    Flow f = {n, chains, 0, most_work, weight, end, chain, after, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    i64 *all = calloc((size_t)(12 * n + 2 * n * chains + 4), sizeof(i64));
    if (!all) return -2;
    f.supply = all; f.demand = f.supply + n; f.moved = f.demand + n; f.level = f.moved + n;
    f.queue = f.level + 2 * n; f.arc = f.queue + 2 * n; f.path = f.arc + 2 * n; f.from_start = f.path + 2 * n + 1;
    f.sent = f.from_start + n + 2; f.from = f.sent + n * chains;
    for (i64 k = 0; k < n; k++) f.supply[k] = f.demand[k] = weight[k];
    for (i64 u = 0; u < n; u++)
        for (i64 t = 0; t < chains; t++)
            if (after[u * chains + t] < end[t]) f.from_start[after[u * chains + t] + 1]++;
    for (i64 k = 0; k < n; k++) f.from_start[k + 1] += f.from_start[k];
    for (i64 k = 0; k < n; k++) f.queue[k] = f.from_start[k];
    for (i64 u = 0; u < n; u++)
        for (i64 t = 0; t < chains; t++)
            if (after[u * chains + t] < end[t]) { f.from[f.queue[after[u * chains + t]]++] = u * chains + t; edges++; }
    if (greedy(&f)) {
        while (f.work < most_work && search(&f)) block(&f);
        answer = -1;
        if (f.work < most_work) { /* the last search found no way: what it reached is the cut */
            answer = 0;
            for (i64 k = 0; k < n; k++) {
                member[k] = weight[k] && f.level[k] >= 0 && f.level[n + k] < 0;
                answer += member[k] ? weight[k] : 0;
            }
        }
    }
    free(all);
    return answer;
}

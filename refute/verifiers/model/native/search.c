/* Breadth-first search of one machine: the part that is the same for all of them.

   What is a machine's own takes the place of two lines below. CONSTANTS: W (words of a packed state),
   the lists of properties by kind. MACHINE: q<k> (a property), expand (all steps of a state), starts
   (the initial states) and returned (whether all processes have). VALUES, CHOICES and ORBITS are the files
   of these names, which graph.c has too.

   States are kept in the order in which they were found, in segments; the table holds the states
   themselves when one word is enough, and otherwise 24 bits of their hash and their number, so that
   nothing rests on a hash being unique. Only if HASHED is asked for, the table holds the hashes of
   wider states, and a state is let go of once its level was expanded. A bucket of the table is one line of the cache, and a
   lookup waits in a ring until its line has been fetched. With several threads the search goes
   level by level, each thread taking chunks of the level; entries are claimed by compare and swap. */

#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/*VALUES*/

enum { RING = 32, BATCH = 256, CHUNK = 128, PICKS = 64, SEGMENT = 65536, SEGMENTS = 65536 };
enum { PARALLEL = 2048 }; /* states of a level from which on threads share it */
#define NOBODY 0xffffffffu
#define MAX_THREADS 64
#define MOST_STATES 0xf0000000u /* their numbers have 32 bits */

/*CONSTANTS*/

typedef struct Thread Thread;
static L pick(Thread *t, L options);
static int again(Thread *t);
static void start_picks(Thread *t);
static void raised_step(Thread *t, const U *s, U instance);
static void limited(void);
static inline void emit(Thread *t, const U *s, const U *w, U instance, int name);
static void start(Thread *t, const U *s);

#if W == 1
#undef HASHED
#define HASHED 0
#endif
#define KEYED (W == 1 || HASHED) /* the table holds states or hashes, not numbers of states */
#define ROW (8 * W + 8 * HASHED + 4) /* bytes of a state, its hash, and the number of its parent */

typedef struct { U state[W]; U hash; uint32_t parent; uint32_t instance; } Pending;

typedef struct { int found, why; uint32_t parent, instance; U length, walk; U state[W]; } Hit;

struct Thread {
    U generated, raised, expanded, whole;
    U ran[RAN + 1]; /* bits of the branches that steps took */
    U next, end; /* what is left of its chunk */
    uint32_t at; /* the number of the state in hand */
    int enabled, depth, known, kept;
    unsigned waiting, first;
    L trail[PICKS][2];
    Pending ring[RING];
    U batch[BATCH][W];
    uint32_t parents[BATCH];
    pthread_t id;
    U walk, random, seen, steps; /* of a random walk */
    U chosen[W], *path;
    uint32_t by;
} __attribute__((aligned(128)));

/*MACHINE*/

#if SYMMETRIC
/*ORBITS*/
#endif

static Thread threads[MAX_THREADS];
static int thread_count, active, solo = 1;
static U *table, buckets, room, memory_limit, memory_used;
static U *segments[SEGMENTS], *outer[SEGMENTS];
static uint32_t *parents[SEGMENTS];
#if HASHED
static U *hashes[SEGMENTS], freed;
#endif
static U total, outside, cursor, level_end, depth, rehash_at;
static U done_all, full, unfit, pausing;
static U repeated; /* some state was in the table before the table was made anew */
static U lost; /* no memory for a state that was met: what the search holds is not all it has seen */
static U spare[2 * MAX_THREADS][2], spares, spare_at; /* rests of chunks, of a search that goes on */
static int zero_seen, walking;
static U walks, walks_done, walk_seed, walk_depth;
static double deadline;
static Hit hits[PROPERTIES + 2], fires[NAMES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *pages(U bytes)
{
    void *found = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) return 0;
    if (bytes >= (1u << 21)) madvise(found, bytes, MADV_HUGEPAGE);
    memory_used += bytes;
    return found;
}

static void limited(void) { unfit = 1; pausing = 1; }

static inline U mixed(U x)
{
    x ^= x >> 32; x *= 0xd6e8feb86659fd93ull; x ^= x >> 32; x *= 0xd6e8feb86659fd93ull;
    return x ^ x >> 32;
}

/* Both halves of a product, which every bit of the factor changes; four of them run side by side. */
static inline U folded(U x, int lane)
{
    static const U by[] = {0xa0761d6478bd642full, 0xe7037ed1a0b428dbull, 0x8ebc6af09c88c6e3ull, 0x589965cc75374cc3ull};
    unsigned __int128 product = (unsigned __int128)x * by[lane];
    return (U)product ^ (U)(product >> 64);
}

static inline U turned(U x, int by) { return x << by | x >> (64 - by); }

static inline U hash_of(const U *w)
{
    if (W == 1) return mixed(w[0]);
    U a = 0x9e3779b97f4a7c15ull, b = 0xbf58476d1ce4e5b9ull, c = 0x94d049bb133111ebull, d = 0xd6e8feb86659fd93ull;
    int at = 0;
    for (; at + 4 <= W; at += 4) {
        a = folded(a ^ w[at], 0); b = folded(b ^ w[at + 1], 1);
        c = folded(c ^ w[at + 2], 2); d = folded(d ^ w[at + 3], 3);
    }
    if (at < W) a = folded(a ^ w[at], 0);
    if (at + 1 < W) b = folded(b ^ w[at + 1], 1);
    if (at + 2 < W) c = folded(c ^ w[at + 2], 2);
    return mixed(a ^ turned(b, 17) ^ turned(c, 31) ^ turned(d, 47));
}

static inline U bucket_of(U hash) { return (U)((unsigned __int128)hash * buckets >> 64); }

static int same(const U *a, const U *b)
{
    if (W > 8) return !memcmp(a, b, 8 * W);
    U other = 0;
    for (int at = 0; at < W; at++) other |= a[at] ^ b[at];
    return !other;
}

static U *segment(U **all, U number, int with_parents)
{
    U at = number / SEGMENT;
    if (!__atomic_load_n(&all[at], __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        if (!all[at]) {
            if (with_parents) parents[at] = pages(SEGMENT * 4);
#if HASHED
            if (with_parents) hashes[at] = pages(SEGMENT * 8);
            if (with_parents && !hashes[at]) { full = 1; lost = 1; pausing = 1; }
#endif
            U *made = pages(SEGMENT * 8ull * W);
            if (!made || (with_parents && !parents[at])) { full = 1; lost = 1; pausing = 1; }
            else __atomic_store_n(&all[at], made, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&lock);
        if (!all[at]) return 0;
    }
    return all[at] + number % SEGMENT * W;
}

static inline const U *state_at(U number) { return segments[number / SEGMENT] + number % SEGMENT * W; }

static void put_state(U number, const U *w, uint32_t parent)
{
    U *place = segment(segments, number, 1);
    if (!place) return;
    memcpy(place, w, 8 * W);
    parents[number / SEGMENT][number % SEGMENT] = parent;
#if HASHED
    if (hashes[number / SEGMENT]) hashes[number / SEGMENT][number % SEGMENT] = hash_of(w);
#endif
}

#if KEYED
/* Whether the key is new; it is in the table afterwards. */
static inline int insert_key(U key, U hash)
{
    if (!key) return !__atomic_exchange_n(&zero_seen, 1, __ATOMIC_RELAXED);
    U b = bucket_of(hash);
    for (U tried = 0; tried < buckets; tried++, b = b + 1 == buckets ? 0 : b + 1) {
        U *line = table + b * 8;
        for (;;) {
            unsigned equal = 0, filled = 0;
            for (int at = 0; at < 8; at++) {
                U found = __atomic_load_n(line + at, __ATOMIC_RELAXED);
                equal |= found == key;
                filled += found != 0; /* a line is filled from its begin */
            }
            if (equal) return 0;
            if (filled == 8) break;
            if (solo) { line[filled] = key; return 1; }
            U none = 0;
            if (__atomic_compare_exchange_n(line + filled, &none, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                return 1;
        }
    }
    limited(); /* one state had more successors than the table has room for */
    return 0;
}
static inline int insert(const U *w, U hash, U **slot)
{
    *slot = 0;
    return insert_key(HASHED ? hash : w[0], hash);
}
static inline void publish(U *slot, U hash, U number) { (void)slot; (void)hash; (void)number; }
#else
#define BUSY 0xffffffffffull /* claimed, and its number not yet known */
#define OUTER (1ull << 38)   /* the number is one of a state outside the constraint */
static const U *numbered(U number)
{
    if (!(number & OUTER)) return state_at(number);
    number &= ~OUTER;
    return outer[number / SEGMENT] + number % SEGMENT * W;
}
static inline int insert(const U *w, U hash, U **slot)
{
    U tag = hash << 40, b = bucket_of(hash);
    for (U tried = 0; tried < buckets; tried++, b = b + 1 == buckets ? 0 : b + 1) {
        U *line = table + b * 8;
        for (int at = 0; at < 8; at++) {
            U found = __atomic_load_n(line + at, __ATOMIC_ACQUIRE);
            if (!found) {
                *slot = line + at;
                if (__atomic_compare_exchange_n(line + at, &found, tag | BUSY, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
                    return 1;
            }
            if (found >> 40 != tag >> 40) continue;
            while ((found & BUSY) == BUSY && !unfit && !lost) found = __atomic_load_n(line + at, __ATOMIC_ACQUIRE);
            if (unfit || lost) return 0;
            if (same(numbered((found & BUSY) - 1), w)) return 0;
        }
    }
    limited(); /* one state had more successors than the table has room for */
    return 0;
}
static inline void publish(U *slot, U hash, U number)
{
    __atomic_store_n(slot, hash << 40 | (number + 1), __ATOMIC_RELEASE);
}
#endif

static void flush(Thread *t)
{
    if (!t->kept) return;
    U number = __atomic_fetch_add(&total, t->kept, __ATOMIC_RELAXED);
    for (int at = 0; at < t->kept; at++) put_state(number + at, t->batch[at], t->parents[at]);
    t->kept = 0;
    if (number + outside + BATCH >= room) pausing = 1;
}

/* Keep a new state inside the constraint. With one word a batch at a time. */
static inline void keep(Thread *t, const Pending *p, U *slot)
{
    if (W == 1) {
        memcpy(t->batch[t->kept], p->state, 8 * W);
        t->parents[t->kept++] = p->parent;
        if (t->kept == BATCH) flush(t);
        return;
    }
    U number = __atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
    put_state(number, p->state, p->parent);
    publish(slot, p->hash, number);
    if (number + outside + BATCH >= room) pausing = 1;
}

static void keep_outside(const Pending *p, U *slot)
{
    U number = __atomic_fetch_add(&outside, 1, __ATOMIC_RELAXED);
    U *place = segment(outer, number, 0);
    if (!place) return;
    memcpy(place, p->state, 8 * W);
#if !KEYED
    publish(slot, p->hash, number | OUTER);
#endif
    if (total + number + BATCH >= room) pausing = 1;
}

/* Whether a decision is still open: on a walk also where this one decides it sooner. */
static inline int open_for(const Thread *t, const Hit *hit)
{
    if (!hit->found) return 1;
    return walking && (t->at < hit->length || (t->at == hit->length && t->walk < hit->walk));
}

/* Whether a predicate is asked: one that is decided may still raise. */
#define ASKED(k) (RISKY(k) || open_for(t, &hits[k]))

/* Keep the states of a walk up to the one in hand, and give the number of the last. */
static uint32_t kept_path(Thread *t)
{
    U count = t->at + 1, number = __atomic_fetch_add(&total, count, __ATOMIC_RELAXED);
    for (U at = 0; at < count; at++)
        put_state(number + at, t->path + at * W, at ? number + at - 1 : NOBODY);
    return number + count - 1;
}

static void note(Thread *t, Hit *hit, int why, uint32_t parent, uint32_t instance, const U *state)
{
    if (walking && parent != NOBODY) parent = kept_path(t);
    pthread_mutex_lock(&lock);
    if (open_for(t, hit)) {
        hit->why = why;
        hit->parent = parent;
        hit->length = t->at;
        hit->walk = t->walk;
        hit->instance = instance;
        memcpy(hit->state, state, 8 * W);
        __atomic_store_n(&hit->found, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

/* A property that has no value: Python raises, or the native engine cannot say. */
static void raised_property(Thread *t, int number, int result, const Pending *p)
{
    if (result == LIMIT) { limited(); return; }
    t->raised++;
    note(t, &hits[WELL_DEFINED], number, p->parent, p->instance, p->state);
}

static inline int holds(Thread *t, int number, int result, const Pending *p)
{
    if (result < 0) raised_property(t, number, result, p);
    return result == 1;
}

static inline int admitted(Thread *t, const Pending *p)
{
    const U *s = p->state;
    int inside = 1;
    (void)t; (void)s;
#define CHECK(k) inside = inside && holds(t, k, q##k(s, s), p);
    CONSTRAINTS(CHECK)
#undef CHECK
    return inside;
}

static inline void judge(Thread *t, const Pending *p, int inside)
{
    const U *s = p->state;
    (void)t; (void)s; (void)inside;
#define CHECK(k) if (ASKED(k)) { int r = q##k(s, s); \
    if (r < 0) raised_property(t, k, r, p); \
    else if (!r && open_for(t, &hits[k])) note(t, &hits[k], 0, p->parent, p->instance, s); }
    INVARIANTS(CHECK)
#undef CHECK
#define CHECK(k) if (inside && ASKED(k) && holds(t, k, q##k(s, s), p) && open_for(t, &hits[k])) \
    note(t, &hits[k], 0, p->parent, p->instance, s);
    REACHABLES(CHECK)
#undef CHECK
}

static void meet(Thread *t, const Pending *p, U *slot)
{
    int inside = admitted(t, p);
#if SYMMETRIC
    U own[W];
    memcpy(own, p->state, 8 * W);
    if (inside) t->whole += canonical(own);
#endif
    if (inside) keep(t, p, slot); else keep_outside(p, slot);
    judge(t, p, inside);
}

static void flush(Thread *t);
static void make_room(void);

static inline void settle(Thread *t)
{
    Pending *p = &t->ring[t->first];
    U *slot;
    if (__builtin_expect(pausing != 0, 0)) {
        if (solo && !full && !unfit) { flush(t); make_room(); }
        if (lost || unfit) { t->waiting = 0; return; }
    }
    if (insert(p->state, p->hash, &slot)) meet(t, p, slot);
    t->first = (t->first + 1) % RING;
    t->waiting--;
}

static void drain(Thread *t) { while (t->waiting) settle(t); }

static inline void wait_for(Thread *t, const U *w, uint32_t parent, U instance)
{
    if (t->waiting == RING) settle(t);
    Pending *p = &t->ring[(t->first + t->waiting++) % RING];
    for (int at = 0; at < W; at++) p->state[at] = w[at];
#if SYMMETRIC
    canonical(p->state);
#endif
    p->hash = hash_of(p->state);
    p->parent = parent;
    p->instance = instance;
    __builtin_prefetch(table + bucket_of(p->hash) * 8, 1);
}

static inline void judge_step(Thread *t, const U *s, const U *w, U instance)
{
    (void)t; (void)s; (void)w; (void)instance;
#define CHECK(k) if (ASKED(k)) { int r = q##k(s, w); if (r != 1) { \
    Pending p = {.parent = t->at, .instance = instance}; memcpy(p.state, w, 8 * W); \
    if (r < 0) { drain(t); raised_property(t, k, r, &p); } \
    else if (open_for(t, &hits[k])) note(t, &hits[k], 0, t->at, instance, w); } }
    TRANSITIONS(CHECK)
#undef CHECK
}

/* What an observer may find right after a crash. */
static inline void judge_crash(Thread *t, const U *w, U instance)
{
    (void)t; (void)w; (void)instance;
#define CHECK(k, own) if ((own) && ASKED(k)) { int r = q##k(w, w); if (r != 1) { \
    Pending p = {.parent = t->at, .instance = instance}; memcpy(p.state, w, 8 * W); \
    if (r < 0) { drain(t); raised_property(t, k, r, &p); } \
    else if (open_for(t, &hits[k])) note(t, &hits[k], 0, t->at, instance, w); } }
    OBSERVED(CHECK)
#undef CHECK
}

static inline U next_random(Thread *t) { return mixed(t->random += 0x9e3779b97f4a7c15ull); }

/* One more successor on a walk; after all of them, each was chosen with the same probability. */
static void offer(Thread *t, const U *w, U instance)
{
    if (next_random(t) % ++t->seen) return;
    memcpy(t->chosen, w, 8 * W);
    t->by = instance;
}

static inline void emit(Thread *t, const U *s, const U *w, U instance, int name)
{
    t->generated++;
    t->enabled = 1;
    if (!fires[name].found) note(t, &fires[name], 0, t->at, instance, w);
    int stays = same(s, w);
    if (!stays) judge_step(t, s, w, instance);
    if (CRASHES(name)) judge_crash(t, w, instance);
    if (stays) return;
    if (__builtin_expect(walking, 0)) { offer(t, w, instance); return; }
    wait_for(t, w, t->at, instance);
}

/*CHOICES*/

static void raised_step(Thread *t, const U *s, U instance)
{
    drain(t);
    t->raised++;
    note(t, &hits[WELL_DEFINED], -1, t->at, instance, s);
}

static void stuck(Thread *t, const U *s)
{
    if (!ASKED(DEADLOCK) || returned(s)) return;
    drain(t);
    Pending p = {.parent = t->at, .instance = NOBODY};
    memcpy(p.state, s, 8 * W);
    int may = 0;
#define CHECK(k) may = may || holds(t, k, q##k(s, s), &p);
    TERMINALS(CHECK)
#undef CHECK
    if (!may && open_for(t, &hits[DEADLOCK])) note(t, &hits[DEADLOCK], 0, t->at, NOBODY, s);
}

static int next_chunk(Thread *t)
{
    U at = spare_at < spares ? __atomic_fetch_add(&spare_at, 1, __ATOMIC_RELAXED) : spares;
    if (at < spares) {
        t->next = spare[at][0];
        t->end = spare[at][1];
        return 1;
    }
    U from = __atomic_fetch_add(&cursor, CHUNK, __ATOMIC_RELAXED);
    if (from >= level_end) return 0;
    t->next = from;
    t->end = from + CHUNK < level_end ? from + CHUNK : level_end;
    return 1;
}

static void *explore(void *given)
{
    Thread *t = given;
    int ticks = 0;
    while (!__atomic_load_n(&pausing, __ATOMIC_RELAXED)) {
        if (t->next == t->end && !next_chunk(t)) break;
        U s[W], before = t->raised;
        t->at = t->next++;
        memcpy(s, state_at(t->at), 8 * W);
        t->enabled = 0;
        expand(t, s);
        if (!t->enabled && before == t->raised) stuck(t, s);
        t->expanded++;
        if (++ticks % 64 == 0 && now() > deadline) pausing = 1;
    }
    drain(t);
    flush(t);
    return 0;
}

/* One random walk from a random start. */
static void walk(Thread *t)
{
    U from = next_random(t) % level_end;
    memcpy(t->path, state_at(from), 8 * W);
    for (t->at = 0; t->at < walk_depth && !unfit; t->at++) {
        const U *s = t->path + t->at * W;
        U before = t->raised;
        t->enabled = 0;
        t->seen = 0;
        t->steps++;
        expand(t, s);
        if (!t->enabled && before == t->raised) stuck(t, s);
        if (!t->seen) return;
        Pending p = {.parent = t->at, .instance = t->by};
        memcpy(p.state, t->chosen, 8 * W);
        int inside = admitted(t, &p);
        judge(t, &p, inside);
        if (!inside) return;
        memcpy(t->path + (t->at + 1) * W, t->chosen, 8 * W);
    }
}

static void *stroll(void *given)
{
    Thread *t = given;
    if (!t->path) t->path = pages((walk_depth + 2) * 8 * W);
    if (!t->path) { full = 1; return 0; }
    while (!unfit && !full && now() < deadline) {
        t->walk = __atomic_fetch_add(&walks, 1, __ATOMIC_RELAXED);
        if (t->walk >= walks_done) { __atomic_fetch_sub(&walks, 1, __ATOMIC_RELAXED); break; }
        t->random = mixed(walk_seed ^ mixed(t->walk + 1));
        walk(t);
    }
    return 0;
}

static void start(Thread *t, const U *s)
{
    Pending p = {.parent = NOBODY, .instance = NOBODY, .hash = hash_of(s)};
    memcpy(p.state, s, 8 * W);
#define CHECK(k) { int r = q##k(s, s); if (r < 0) raised_property(t, k, r, &p); if (r != 1) return; }
    INITIALS(CHECK)
#undef CHECK
    t->generated++;
    wait_for(t, s, NOBODY, NOBODY);
}

/* The hash of the state with this number; those outside the constraint come after the others. */
static inline U hash_at(U number)
{
#if HASHED
    if (number < total) return hashes[number / SEGMENT][number % SEGMENT];
#endif
    if (number < total) return hash_of(state_at(number));
    number -= total;
    return hash_of(outer[number / SEGMENT] + number % SEGMENT * W);
}

static void reinsert(U number, U hash)
{
#if HASHED
    if (!insert_key(hash, hash)) repeated = 1;
#else
    const U *w = number < total ? state_at(number)
        : outer[(number - total) / SEGMENT] + (number - total) % SEGMENT * W;
    U *slot;
    if (!insert(w, hash, &slot)) { repeated = 1; return; }
#if !KEYED
    publish(slot, hash, number < total ? number : (number - total) | OUTER);
#endif
#endif
}

static void *rehash(void *given)
{
    enum { AHEAD = 16, SPAN = 4096 };
    (void)given;
    U count = total + outside, from, hashed[AHEAD];
    while ((from = __atomic_fetch_add(&rehash_at, SPAN, __ATOMIC_RELAXED)) < count) {
        U end = from + SPAN < count ? from + SPAN : count;
        for (U at = from; at < end + AHEAD; at++) {
            U hash = at < end ? hash_at(at) : 0;
            if (at < end) __builtin_prefetch(table + bucket_of(hash) * 8, 1);
            if (at >= from + AHEAD) reinsert(at - AHEAD, hashed[at % AHEAD]);
            if (at < end) hashed[at % AHEAD] = hash;
        }
    }
    return 0;
}

static void together(int count, void *(*work)(void *))
{
    solo = count == 1;
    int made[MAX_THREADS];
    for (int at = 1; at < count; at++)
        made[at] = !pthread_create(&threads[at].id, 0, work, &threads[at]);
    work(&threads[0]);
    for (int at = 1; at < count; at++)
        if (made[at]) pthread_join(threads[at].id, 0); else work(&threads[at]);
    solo = 1;
}

static int fits(U new_buckets)
{
    return memory_used - buckets * 64 + new_buckets * 64 + SEGMENT * ROW <= memory_limit;
}

static int resized(U new_buckets)
{
    if (table) { munmap(table, buckets * 64); memory_used -= buckets * 64; }
    table = pages(new_buckets * 64);
    buckets = new_buckets;
    if (!table) return 0;
    rehash_at = 0;
    together(total + outside > 100000 ? thread_count : 1, rehash);
    return 1;
}

/* Make room for more states; 0 when memory ends. */
static int grow(void)
{
    static const int shares[] = {100, 34, 16, 6};
    for (int at = buckets < (1 << 18) ? 0 : 1; at < 4; at++) {
        U wanted = buckets + buckets * shares[at] / 100 + 1, old = buckets;
        if (!fits(wanted)) continue;
        if (resized(wanted)) return 1;
        if (!resized(old)) return 0;
    }
    return 0;
}

static void set_room(void)
{
    U slots = buckets * 8, tight = slots - slots / 10;
    U spare = memory_limit > memory_used ? (memory_limit - memory_used) / ROW : 0;
    U segment_rest = SEGMENT - total % SEGMENT, most = total + outside + segment_rest + spare;
    room = tight < most ? tight : most;
    if (room > MOST_STATES) room = MOST_STATES;
}

static void make_room(void)
{
    U margin = BATCH * (U)(thread_count + 1);
    if (HASHED) set_room(); /* states were let go of */
    if (total + outside + margin < room) return;
    if (total + outside + margin >= MOST_STATES) { full = 2; return; }
    if (!grow()) { full = 1; return; }
    set_room();
    if (total + outside + margin >= room) full = 1;
}

/* Prepare the one search of this library. Returns 0 when there is no memory, or no second one. */
int rf_open(U memory, int cores)
{
    if (active) return 0;
    thread_count = cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : cores;
    memory_limit = memory;
    if (!resized(1 << 11)) return 0;
    set_room();
    deadline = 1e300;
    Thread *t = &threads[0];
    starts(t);
    drain(t);
    flush(t);
    level_end = total;
    depth = total > 0;
    active = 1;
    return 1;
}

/* Whether the table is so large that threads can share it without asking for room all the time. */
static int wide_enough(void)
{
    U wanted = 1 << 17;
    if (thread_count == 1) return 0;
    if (buckets >= wanted) return 1;
    if (!fits(wanted) || !resized(wanted)) return 0;
    set_room();
    return 1;
}

/* Of hashed states only the level in hand and the next are needed. */
static void let_go(void)
{
#if HASHED
    for (; freed < cursor / SEGMENT; freed++) {
        munmap(segments[freed], SEGMENT * 8ull * W);
        memory_used -= SEGMENT * 8ull * W;
    }
#endif
}

/* Search on for about so many seconds. */
void rf_advance(double seconds)
{
    deadline = now() + seconds;
    while (!done_all && !unfit && !full) {
        pausing = 0;
        make_room();
        if (full) break;
        int left = spare_at < spares;
        for (int at = 0; at < active; at++) left |= threads[at].next < threads[at].end;
        if (!left && cursor >= level_end) {
            if (total == level_end) { done_all = 1; break; }
            cursor = level_end;
            level_end = total;
            let_go();
            depth++;
            active = level_end - cursor >= PARALLEL && wide_enough() ? thread_count : 1;
        }
        together(active, explore);
        if (now() > deadline) break;
    }
}

/* Walk on until so many walks of at most so many steps were taken, for about so many seconds. */
void rf_walk(U seed, U wanted, U steps, double seconds)
{
    deadline = now() + seconds;
    walking = 1;
    walk_seed = seed;
    walk_depth = steps;
    walks_done = wanted;
    if (!level_end) { done_all = 1; return; }
    together(thread_count, stroll);
    if (walks >= wanted) done_all = 1;
}

/* The walks taken, and their steps. */
void rf_walked(U *out)
{
    out[0] = walks;
    out[1] = 0;
    for (int at = 0; at < thread_count; at++) out[1] += threads[at].steps;
}

/* Bytes of all states, their parents and hashes. */
static U held(void)
{
#if HASHED
    return (total - freed * SEGMENT + outside) * 8 * W + total * 12;
#else
    return (total + outside) * ROW;
#endif
}

/* distinct, generated, depth, expanded, outside, raised, finished, full, unfit, bytes, decided */
void rf_counts(U *out)
{
    U generated = 0, raised = 0, expanded = 0, decided = 0;
    for (int at = 0; at < thread_count; at++) {
        generated += threads[at].generated;
        raised += threads[at].raised;
        expanded += threads[at].expanded;
    }
    for (int at = 0; at < PROPERTIES + 2; at++) decided += hits[at].found;
    U found[] = {total, generated, depth, expanded, outside, raised, done_all, full, unfit,
                 buckets * 64, held(), memory_used, decided};
    memcpy(out, found, sizeof found);
}

/* A decision on a property (or a step's first time): found, why, parent, instance, the state. */
void rf_hit(int fired, int number, U *out)
{
    Hit *hit = fired ? &fires[number] : &hits[number];
    out[0] = hit->found;
    out[1] = (U)(L)hit->why;
    out[2] = hit->parent;
    out[3] = hit->instance;
    memcpy(out + 4, hit->state, 8 * W);
}

/* The bits of the branches that steps took. */
void rf_ran(U *out)
{
    for (int word = 0; word < RAN; word++) {
        out[word] = 0;
        for (int at = 0; at < thread_count; at++) out[word] |= threads[at].ran[word];
    }
}

#if SYMMETRIC
/* The states of all orbits found. */
U rf_whole(void)
{
    U whole = 0;
    for (int at = 0; at < thread_count; at++) whole += threads[at].whole;
    return whole;
}
#endif

U rf_hash(const U *w) { return hash_of(w); }

/* A state by its number (its hash, if only that is kept), and the number of its parent. */
U rf_state(U number, U *out)
{
#if HASHED
    out[0] = hash_at(number);
#else
    memcpy(out, state_at(number), 8 * W);
#endif
    return parents[number / SEGMENT][number % SEGMENT];
}

/* All of a search but its states, between two calls of rf_advance. */
typedef struct {
    U total, outside, cursor, level_end, depth, generated, raised, expanded, zero_seen, freed, spares;
    U whole;
    U spare[2 * MAX_THREADS][2], ran[RAN + 1];
    Hit hits[PROPERTIES + 2], fires[NAMES];
} Kept;

U rf_kept_size(void) { return sizeof(Kept); }

/* Copy it; 0 when states were lost, so that the search cannot go on from here. */
int rf_keep(Kept *k)
{
    if (lost || unfit || walking) return 0;
    memset(k, 0, sizeof *k);
    k->total = total; k->outside = outside; k->cursor = cursor; k->level_end = level_end;
    k->depth = depth; k->zero_seen = zero_seen;
#if HASHED
    k->freed = freed;
#endif
    for (int at = 0; at < thread_count; at++) {
        Thread *t = &threads[at];
        k->generated += t->generated; k->raised += t->raised; k->expanded += t->expanded;
        k->whole += t->whole;
        for (int word = 0; word < RAN; word++) k->ran[word] |= t->ran[word];
        if (t->next == t->end) continue;
        k->spare[k->spares][0] = t->next;
        k->spare[k->spares++][1] = t->end;
    }
    for (U at = spare_at; at < spares; at++) memcpy(k->spare[k->spares++], spare[at], sizeof *spare);
    memcpy(k->hits, hits, sizeof hits);
    memcpy(k->fires, fires, sizeof fires);
    return 1;
}

/* Take the place of the search that rf_open began; the caller then fills rf_part, and calls
   rf_continue. 0: no memory. */
int rf_restore(const Kept *k)
{
    for (int at = 0; at < thread_count; at++) memset(&threads[at], 0, sizeof *threads);
    if (k->spares > 2 * MAX_THREADS || k->total > 0xfffffff0u || k->outside > 0xfffffff0u) return 0;
    if (k->freed * SEGMENT > k->total) return 0;
    cursor = k->cursor; level_end = k->level_end; depth = k->depth; zero_seen = 0;
    total = k->total; outside = k->outside; spares = k->spares; spare_at = 0;
    memcpy(spare, k->spare, sizeof spare);
    threads[0].generated = k->generated; threads[0].raised = k->raised;
    threads[0].expanded = k->expanded; threads[0].whole = k->whole;
    memcpy(threads[0].ran, k->ran, sizeof k->ran);
    memcpy(hits, k->hits, sizeof hits);
    memcpy(fires, k->fires, sizeof fires);
    for (U at = 0; at < total && !lost; at += SEGMENT) {
        segment(segments, at, 1);
#if HASHED
        if (lost || freed >= k->freed) continue;
        munmap(segments[freed++], SEGMENT * 8ull * W);
        memory_used -= SEGMENT * 8ull * W;
#endif
    }
    for (U at = 0; at < outside && !lost; at += SEGMENT) segment(outer, at, 0);
    return !lost && memory_used <= memory_limit;
}

/* Where so many states, parents, hashes (what: 0, 1, 2) or states outside (3) are held. */
void *rf_part(int what, U segment)
{
    if (what == 1) return parents[segment];
#if HASHED
    if (what == 2) return hashes[segment];
#endif
    return what == 3 ? outer[segment] : segments[segment];
}

/* Make the table of a search that was restored. 0: no memory. 2: some state was there twice. */
int rf_continue(const Kept *k)
{
    U slots = (total + outside) * 10 / 9 + 2 * BATCH * (U)(thread_count + 1), wanted = slots / 8 + 1;
    if (wanted < 1 << 11) wanted = 1 << 11;
    if (!fits(wanted)) return 0;
    repeated = 0;
    if (!resized(wanted)) return 0;
    if (repeated) return 2;
    zero_seen |= k->zero_seen;
    set_room();
    active = level_end > cursor + PARALLEL && wide_enough() ? thread_count : 1;
    return 1;
}

static int by_words(const void *a, const void *b)
{
    const U *x = a, *y = b;
    for (int at = 0; at < W; at++) if (x[at] != y[at]) return x[at] < y[at] ? -1 : 1;
    return 0;
}

/* All states of a search that is over, in the order of their words: all first words, then all
   second ones, and so on. The table is let go of for it. 0: no memory, or not all are held. */
int rf_sorted(U *columns)
{
    if (!done_all || lost || walking || HASHED) return 0;
    if (table) { munmap(table, buckets * 64); memory_used -= buckets * 64; }
    table = 0; buckets = 0;
    if (memory_used + total * 8 * W > memory_limit) return 0;
    U bytes = total * 8 * W, *rows = pages(bytes);
    if (!rows) return 0;
    for (U at = 0; at < total; at++) memcpy(rows + at * W, state_at(at), 8 * W);
    qsort(rows, total, 8 * W, by_words);
    for (U at = 0; at < total; at++)
        for (int word = 0; word < W; word++) columns[word * total + at] = rows[at * W + word];
    munmap(rows, bytes);
    memory_used -= bytes;
    return 1;
}

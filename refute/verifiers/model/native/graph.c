/* The state graph of one machine, and fair cycles in its product with an automaton.

   As of search.c, a machine's own text takes the place of the lines CONSTANTS and MACHINE. CONSTANTS
   has also CONDITIONS (fairness conditions of the machine), CW (words of a set of them), INSTANCES,
   and ABSTRACT, which makes it a machine that another one refines: states are numbered when asked
   for, and expanded when a step from them is. MACHINE has also own (the conditions that each action
   and process belongs to), tested (those that are predicates of a step), atom and image.

   Edges are kept: for each state the distinct states behind it with the conditions taken on the way.
   A set of conditions is a label, a number that stands for its words. Every long part stops at a
   deadline and goes on where it was. What is found is what the plain engine finds, in its order. */

#define _GNU_SOURCE
#include <sys/mman.h>
#include <time.h>

/*VALUES*/

enum { OUTSIDE = -3, PICKS = 64, KNOWN_STEPS = 1 << 14 };
enum { MORE, DONE, FULL, UNFIT, RAISES, ABOVE };
#define NONE 0xffffffffu
#define OUTER 0x80000000u /* the number is one of a state outside the constraint */
#define CLOSED 0xffffffffu

/*CONSTANTS*/

typedef struct Thread Thread;
static L pick(Thread *t, L options);
static int again(Thread *t);
static void start_picks(Thread *t);
static void raised_step(Thread *t, const U *s, U instance);
static void limited(void);
static inline void emit(Thread *t, const U *s, const U *w, U instance, int name);
static void start(Thread *t, const U *s);

struct Thread { U ran[RAN + 1]; int depth, known; L trail[PICKS][2]; };

/*MACHINE*/

/*CHOICES*/

/* ---- memory: arrays that grow, counted against one limit ---- */

typedef struct { char *data; U bytes; } Room;

static Thread only;
static U memory_limit, memory_used, edge_count, expanded, generated, raised;
static int full, unfit, open_already;
static uint32_t total, outside, start_count;
static double deadline;

static int over(void)
{
    static unsigned ticks;
    if (++ticks % 256) return 0;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9 > deadline;
}

static void until(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    deadline = t.tv_sec + t.tv_nsec * 1e-9 + seconds;
}

static int sized(Room *r, U bytes)
{
    if (memory_used - r->bytes + bytes > memory_limit) return 0;
    void *made = r->data ? mremap(r->data, r->bytes, bytes, MREMAP_MAYMOVE)
        : mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return 0;
    if (bytes >= 1u << 21) madvise(made, bytes, MADV_HUGEPAGE);
    memory_used += bytes - r->bytes;
    r->data = made;
    r->bytes = bytes;
    return 1;
}

/* Room for so many bytes; new ones are zero. 0 when memory ends, and the work with it. */
static inline int roomy(Room *r, U bytes)
{
    if (__builtin_expect(bytes <= r->bytes, 1)) return 1;
    U least = (bytes + 65535) & ~65535ull;
    for (U more = r->bytes / 2; more > 1u << 20; more /= 4) {
        U wanted = (r->bytes + more + 65535) & ~65535ull;
        if (wanted > least && sized(r, wanted)) return 1;
    }
    if (sized(r, least)) return 1;
    full = 1;
    return 0;
}

static void emptied(Room *r)
{
    if (r->data) munmap(r->data, r->bytes);
    memory_used -= r->bytes;
    r->data = 0;
    r->bytes = 0;
}

#define AT(type, room, number) (((type *)(room).data)[number])

static void limited(void) { unfit = 1; }

static inline U mixed(U x)
{
    x ^= x >> 32; x *= 0xd6e8feb86659fd93ull; x ^= x >> 32; x *= 0xd6e8feb86659fd93ull;
    return x ^ x >> 32;
}

static inline U hash_of(const U *w, int words)
{
    U h = mixed(w[0]);
    for (int at = 1; at < words; at++) h = mixed((h + 0x9e3779b97f4a7c15ull) ^ w[at]);
    return h;
}

static inline int same(const U *a, const U *b, int words)
{
    for (int at = 0; at < words; at++) if (a[at] != b[at]) return 0;
    return 1;
}

/* ---- labels: sets of conditions ---- */

static Room label_words, label_table, own_labels;
static uint32_t label_count, label_slots;

static inline const U *words_of(uint32_t label) { return &AT(U, label_words, (U)label * CW); }

static int more_labels(void)
{
    static Room fresh;
    uint32_t slots = label_slots ? label_slots * 2 : 1024;
    if (!roomy(&fresh, slots * 4ull)) return 0;
    memset(fresh.data, 0, fresh.bytes);
    for (uint32_t label = 0; label < label_count; label++) {
        U at = hash_of(words_of(label), CW) & (slots - 1);
        while (AT(uint32_t, fresh, at)) at = (at + 1) & (slots - 1);
        AT(uint32_t, fresh, at) = label + 1;
    }
    Room old = label_table;
    label_table = fresh;
    fresh = old;
    label_slots = slots;
    return 1;
}

static uint32_t label_of(const U *words)
{
    if (label_count * 2 >= label_slots && !more_labels()) return 0;
    U at = hash_of(words, CW) & (label_slots - 1);
    for (;; at = (at + 1) & (label_slots - 1)) {
        uint32_t found = AT(uint32_t, label_table, at);
        if (!found) break;
        if (same(words_of(found - 1), words, CW)) return found - 1;
    }
    if (!roomy(&label_words, (label_count + 1ull) * CW * 8)) return 0;
    memcpy(&AT(U, label_words, (U)label_count * CW), words, CW * 8);
    AT(uint32_t, label_table, at) = label_count + 1;
    return label_count++;
}

static inline uint32_t joined(uint32_t a, uint32_t b)
{
    if (a == b || !b) return a;
    if (!a) return b;
    U both[CW];
    for (int at = 0; at < CW; at++) both[at] = words_of(a)[at] | words_of(b)[at];
    return same(both, words_of(a), CW) ? a : same(both, words_of(b), CW) ? b : label_of(both);
}

/* ---- states ---- */

typedef struct { U begin; uint32_t length, enabled; } Row; /* length NONE: not expanded */

static Room states, parents, rows, outers, seen, outer_seen, targets, edge_labels, table, found;
static U slots, found_count;
static uint32_t able, at_hand;

#if CONDITIONS
#define LABEL(edge) AT(uint32_t, edge_labels, edge)
#else
#define LABEL(edge) 0u /* the empty set is the only one */
#endif

enum { FOUND = W + 2 }; /* words of a successor in hand: its state, hash and instance */

static inline const U *state_at(uint32_t number)
{
    return number & OUTER ? &AT(U, outers, (U)(number & ~OUTER) * W) : &AT(U, states, (U)number * W);
}

static int more_slots(void)
{
    Room old = table;
    U before = slots, wanted = slots ? slots * 2 : 4096;
    table = (Room){0, 0};
    if (!sized(&table, wanted * 8)) { table = old; full = 1; return 0; }
    slots = wanted;
    for (U at = 0; at < before; at++) {
        U entry = AT(U, old, at);
        if (!entry) continue;
        U hash = hash_of(state_at((uint32_t)entry - 1), W), to = hash & (slots - 1);
        while (AT(U, table, to)) to = (to + 1) & (slots - 1);
        AT(U, table, to) = entry;
    }
    emptied(&old);
    return 1;
}

static int inside(const U *s)
{
    int admits = 1;
    (void)s;
#if !ABSTRACT
#define CHECK(k) if (admits) { int r = q##k(s, s); if (r == LIMIT) limited(); raised += r == RAISED; \
    admits = r == 1; }
    CONSTRAINTS(CHECK)
#undef CHECK
#endif
    return admits;
}

/* The number of a state, which is new if it was not met before; NONE when memory ends. */
static uint32_t number_of(const U *w, U hash, uint32_t parent)
{
    if ((total + (U)outside) * 5 >= slots * 3 && !more_slots()) return NONE;
    U tag = hash >> 32 << 32, at = hash & (slots - 1);
    for (;; at = (at + 1) & (slots - 1)) {
        U entry = AT(U, table, at);
        if (!entry) break;
        if ((entry ^ tag) >> 32) continue;
        if (same(state_at((uint32_t)entry - 1), w, W)) return (uint32_t)entry - 1;
    }
    uint32_t number;
    if (total >= OUTER - 2 || outside >= OUTER - 2) { full = 1; return NONE; }
    if (inside(w)) {
        if (!roomy(&states, (total + 1ull) * 8 * W) || !roomy(&rows, (total + 1ull) * sizeof(Row))
            || !roomy(&seen, (total + 1ull) * 4) || !roomy(&parents, (total + 1ull) * 4)) return NONE;
        memcpy(&AT(U, states, (U)total * W), w, 8 * W);
        AT(uint32_t, parents, total) = parent;
        AT(Row, rows, total).length = NONE;
        number = total++;
    } else {
        if (!roomy(&outers, (outside + 1ull) * 8 * W) || !roomy(&outer_seen, (outside + 1ull) * 4)) return NONE;
        memcpy(&AT(U, outers, (U)outside * W), w, 8 * W);
        number = outside++ | OUTER;
    }
    AT(U, table, at) = tag | (number + 1);
    return number;
}

static inline void emit(Thread *t, const U *s, const U *w, U instance, int name)
{
    (void)t; (void)name;
    generated++;
    if (same(s, w, W) || !roomy(&found, (found_count + 1) * FOUND * 8)) return;
    U *place = &AT(U, found, found_count++ * FOUND);
    memcpy(place, w, 8 * W);
    place[W] = hash_of(w, W);
    place[W + 1] = instance;
    __builtin_prefetch(&AT(U, table, place[W] & (slots - 1)));
}

/* A step that raises is one that the state offers, but of no refined machine. */
static void raised_step(Thread *t, const U *s, U instance)
{
    (void)t; (void)s;
    raised++;
    if (!ABSTRACT) able = joined(able, AT(uint32_t, own_labels, instance));
}

static void start(Thread *t, const U *s)
{
    (void)t;
#define CHECK(k) { int r = q##k(s, s); if (r == LIMIT || (ABSTRACT && r < 0)) limited(); \
    raised += r == RAISED; if (r != 1) return; }
    INITIALS(CHECK)
#undef CHECK
    generated++;
    number_of(s, hash_of(s, W), NONE);
}

/* Take every step from a state, and keep them. */
static void take(uint32_t at)
{
    U s[W];
    memcpy(s, state_at(at), 8 * W);
    found_count = 0;
    able = 0;
    expand(&only, s);
    U begin = edge_count;
    for (U f = 0; f < found_count && !full && !unfit; f++) {
        const U *w = &AT(U, found, f * FOUND);
        uint32_t number = number_of(w, w[W], at), label = AT(uint32_t, own_labels, w[W + 1]);
        if (number == NONE) return;
        uint32_t *mark = number & OUTER ? &AT(uint32_t, outer_seen, number & ~OUTER)
            : &AT(uint32_t, seen, number);
        U edge = begin + *mark;
        if (edge >= edge_count || AT(uint32_t, targets, edge) != number) {
            if (!roomy(&targets, (edge_count + 1) * 4)) return;
            *mark = (uint32_t)(edge_count - begin);
            edge = edge_count++;
            AT(uint32_t, targets, edge) = number;
#if CONDITIONS
            U words[CW] = {0};
            if (!roomy(&edge_labels, edge_count * 4)) return;
            if (tested(s, w, words) < 0) { limited(); return; }
            label = joined(label, label_of(words));
            LABEL(edge) = 0;
#endif
        }
#if CONDITIONS
        LABEL(edge) = joined(LABEL(edge), label);
        able = joined(able, LABEL(edge));
#endif
    }
    if (full || unfit) return;
    AT(Row, rows, at) = (Row){begin, (uint32_t)(edge_count - begin), able};
    expanded++;
}

static int status(void) { return full ? FULL : unfit ? UNFIT : MORE; }

/* Prepare the one graph of this library; 0 when there is no memory, or when there is one. */
int rf_open(U memory)
{
    if (open_already) return 0;
    open_already = 1;
    memory_limit = memory;
    if (!more_slots() || !roomy(&own_labels, INSTANCES * 4 + 4)) return 0;
    U empty[CW] = {0};
    label_of(empty);
    for (U at = 0; at < INSTANCES && !full; at++) AT(uint32_t, own_labels, at) = label_of(own[at]);
    starts(&only);
    start_count = total;
    return !full;
}

/* A state that was in hand when memory ended is still to expand. */
void rf_limit(U memory) { memory_limit = memory; full = 0; }

U rf_used(void) { return memory_used; }

int rf_status(void) { return status(); }

/* Expand states for about so many seconds. */
int rf_grow(double seconds)
{
    until(seconds);
    for (; expanded < total && !full && !unfit && !over();) take((uint32_t)expanded);
    return status() ? status() : expanded < total ? MORE : DONE;
}

/* distinct, generated, expanded, outside, edges, raised, bytes, starts */
void rf_counts(U *out)
{
    U counts[] = {total, generated, expanded, outside, edge_count, raised, memory_used, start_count};
    memcpy(out, counts, sizeof counts);
}

/* A state by its number, and its parent's. */
U rf_state(uint32_t number, U *out)
{
    memcpy(out, state_at(number), 8 * W);
    return number & OUTER ? NONE : AT(uint32_t, parents, number);
}

/* ---- for the machine that refines this one ---- */

uint32_t rf_number(const U *w)
{
    at_hand = number_of(w, hash_of(w, W), NONE);
    return full || unfit ? NONE : at_hand;
}

/* The conditions that a step between two states is of, as a label, one higher; 0: there is none. */
uint32_t rf_step(uint32_t from, uint32_t to)
{
    static struct { U key; uint32_t value; } known[KNOWN_STEPS];
    U key = (U)from << 32 | to, at = mixed(key) & (KNOWN_STEPS - 1);
    if (known[at].value && known[at].key == key) return known[at].value - 1;
    if (AT(Row, rows, from).length == NONE) take(from);
    if (full || unfit) return NONE;
    Row row = AT(Row, rows, from);
    uint32_t value = 0;
    for (uint32_t e = 0; e < row.length && !value; e++)
        if (AT(uint32_t, targets, row.begin + e) == to)
            value = LABEL(row.begin + e) + 1;
    known[at].key = key;
    known[at].value = value + 1;
    return value;
}

uint32_t rf_enabled(uint32_t number)
{
    if (AT(Row, rows, number).length == NONE) take(number);
    return full || unfit ? NONE : AT(Row, rows, number).enabled;
}

int rf_has(uint32_t label, uint32_t condition)
{
    return words_of(label)[condition / 64] >> condition % 64 & 1;
}

U rf_labels(void) { return label_count; }

#if !ABSTRACT
/*CYCLES*/
#endif

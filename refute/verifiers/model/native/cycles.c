/* ---- refinement: what each state is mapped to, and whether each step is one there ---- */

typedef struct {
    uint32_t (*number)(const U *), (*step)(uint32_t, uint32_t), (*enabled)(uint32_t);
    int (*has)(uint32_t, uint32_t);
    U (*labels)(void);
    U start_count, conditions;
} Above;

static Above above;
static Room images, outer_images, edge_above;
static int mapping, map_phase;
static U map_at, departed[3]; /* what is wrong: 1 a start, 2 a step; the state; the next state */

/* Begin to judge the mapping with this number. */
void rf_refine(int number, const Above *refined)
{
    mapping = number;
    above = *refined;
    map_phase = 0;
    map_at = departed[0] = 0;
    emptied(&outer_images);
}

static int mapped(Room *into, const U *s, U at)
{
    U w[ABOVE_WORDS];
    if (!roomy(into, (at + 1) * 4)) return FULL;
    int result = image(mapping, s, w);
    if (result == RAISED) return RAISES;
    if (result == LIMIT) { limited(); return UNFIT; }
    uint32_t number = result == OUTSIDE ? NONE - 2 : above.number(w);
    if (number == NONE) return ABOVE;
    AT(uint32_t, *into, at) = number + 1;
    return MORE;
}

/* The steps of one state. An image is held one higher; NONE - 1 is that of a state which no state
   there can be, and 0 one that was not asked for. */
static int checked(uint32_t at)
{
    Row row = AT(Row, rows, at);
    uint32_t before = AT(uint32_t, images, at);
    if (above.conditions && !roomy(&edge_above, (row.begin + row.length) * 4 + 4)) return FULL;
    for (U e = row.begin; e < row.begin + row.length; e++) {
        uint32_t to = AT(uint32_t, targets, e), place = to & ~OUTER, step = 1;
        if (to & OUTER && (!roomy(&outer_images, place * 4ull + 4) || !AT(uint32_t, outer_images, place))) {
            int result = mapped(&outer_images, state_at(to), place);
            departed[1] = to;
            if (result) return result;
        }
        uint32_t after = AT(uint32_t, *(to & OUTER ? &outer_images : &images), place);
        if (after != before) step = after == NONE - 1 ? 0 : above.step(before - 1, after - 1);
        if (step == NONE) return ABOVE;
        if (!step) { departed[0] = 2; departed[1] = at; departed[2] = to; return DONE; }
        if (above.conditions) AT(uint32_t, edge_above, e) = step - 1;
    }
    return MORE;
}

/* Map states and check steps for about so many seconds. RAISES: in the state that departed names. */
int rf_map(double seconds)
{
    int result = MORE;
    for (until(seconds); !result && map_phase < 3 && !over();) {
        if (map_at == (map_phase == 0 ? total : map_phase == 1 ? start_count : expanded)) { map_phase++; map_at = 0; continue; }
        uint32_t at = (uint32_t)map_at++;
        if (map_phase == 0) {
            result = mapped(&images, state_at(at), at);
            departed[1] = at;
        } else if (map_phase == 1) {
            if (AT(uint32_t, images, at) <= above.start_count) continue;
            departed[0] = 1;
            departed[1] = at;
            result = DONE;
        } else result = checked(at);
    }
    return result ? result : map_phase == 3 ? DONE : MORE;
}

void rf_departed(U *out) { memcpy(out, departed, sizeof departed); }

/* ---- the product with an automaton ---- */

/* nodes: of the automaton; must, must_not: predicates; kept: promises; capable: whether a cycle
   through it can keep all promises; stays: whether it may follow itself; behind: offsets of next.
   idle: a node, or none, at which a run may wait in any state for as long as it likes, and which
   nothing else leads to. source: what is true in a state: nothing, atoms (of these numbers, in this case), or whether the
   refined machine enables a condition, which then is not taken. */
typedef struct {
    U nodes, promises, initials, idle, source, given, atoms;
    const U *must, *must_not, *kept, *capable, *stays, *behind, *next, *initial, *numbers;
} Question;

enum { NOTHING, ATOMS, CONDITION };
#define KNOWN (1ull << 63)

typedef struct { uint32_t state, node, parent; } Pair;
typedef struct { uint32_t pair, low, edge, next; } Frame;
typedef struct { U from, to; uint32_t region; } Work;

static Question asked;
static Room truths, numbers, pairs, indices, regions, frames, open_pairs, pool, work, shunned, came, queue;
static U pair_count, reached, frame_count, open_count, pool_count, work_count, seen_edges;
static U root_at, root_end, child, best_count, best_ever[CW];
static uint32_t standing, best, best_region, region, region_count, ticked, raised_at;
static int phase, above_ended;

/* Whether the pair may be: 1, 0, or RAISED. Where the graph is cut, it ends. */
static int fits(uint32_t state, uint32_t node)
{
    if (AT(Row, rows, state).length == NONE) return 0;
    if (asked.source == NOTHING) return !asked.must[node];
    U *truth = &AT(U, truths, state);
    if (!*truth) {
        *truth = KNOWN;
        if (asked.source == CONDITION) {
            uint32_t label = above.enabled(AT(uint32_t, images, state) - 1);
            if (label == NONE) { above_ended = 1; return RAISED; }
            *truth |= above.has(label, (uint32_t)asked.given);
        }
        for (U at = 0; at < asked.atoms; at++) {
            int held = atom((int)asked.numbers[at], state_at(state), asked.given);
            if (held == LIMIT) { limited(); return 0; }
            if (held == RAISED) { raised_at = state; *truth = 0; return RAISED; }
            *truth |= (U)held << at;
        }
    }
    return (*truth & asked.must[node]) == asked.must[node] && !(*truth & asked.must_not[node]);
}

/* Meet a pair; 0 when that ends the work. */
static int meet(uint32_t state, uint32_t node, uint32_t parent)
{
    uint32_t *number = &AT(uint32_t, numbers, (U)state * asked.nodes + node);
    if (*number) return 1;
    int fit = fits(state, node);
    if (fit < 0 || unfit) return 0;
    if (!fit) return 1;
    if (pair_count >= NONE - 2) full = 1;
    if (full || !roomy(&pairs, (pair_count + 1) * sizeof(Pair))) return 0;
    AT(Pair, pairs, pair_count) = (Pair){state, node, parent};
    *number = (uint32_t)++pair_count;
    return 1;
}

/* Meet all that is behind a pair with the idle node. Such pairs come in the order of their states, and
   what is behind an edge to a state that another one led to first is known by now. */
static int waited(uint32_t at, Pair pair)
{
    U from = asked.behind[pair.node], to = asked.behind[pair.node + 1];
    for (U n = from; n < to; n++)
        if (!meet(pair.state, (uint32_t)asked.next[n], at)) return 0;
    for (; child < total && AT(uint32_t, parents, child) == pair.state; child++, seen_edges++)
        for (U n = from; n < to; n++)
            if (!meet((uint32_t)child, (uint32_t)asked.next[n], at)) return 0;
    return 1;
}

/* Meet all that is behind a pair; the state's edge to itself comes first. */
static int opened(uint32_t at)
{
    Pair pair = AT(Pair, pairs, at);
    Row row = AT(Row, rows, pair.state);
    if (pair.node == asked.idle) return waited(at, pair);
    U from = asked.behind[pair.node], to = asked.behind[pair.node + 1];
    for (U n = from; n < to; n++)
        if (!meet(pair.state, (uint32_t)asked.next[n], at)) return 0;
    for (U e = row.begin; e < row.begin + row.length; e++) {
        uint32_t after = AT(uint32_t, targets, e);
        if (after & OUTER) continue;
        for (U n = from; n < to; n++)
            if (!meet(after, (uint32_t)asked.next[n], at)) return 0;
    }
    seen_edges += row.length + 1;
    return 1;
}

static const U *enabled_words(uint32_t pair)
{
    return words_of(AT(Row, rows, AT(Pair, pairs, pair).state).enabled);
}

/* Whether the machine may stay at a pair for ever. */
static int stands(uint32_t at)
{
    uint32_t node = AT(Pair, pairs, at).node;
    if (!asked.stays[node] || asked.kept[node] != asked.promises) return 0;
    const U *enabled = enabled_words(at);
    for (int w = 0; w < CW; w++) if (enabled[w] & (weak_conditions[w] | strong_conditions[w])) return 0;
    return 1;
}

/* Begin a question; 0 when there is no memory for it. */
int rf_ask(const Question *question)
{
    asked = *question;
    pair_count = reached = frame_count = open_count = pool_count = work_count = seen_edges = 0;
    standing = best = raised_at = NONE;
    region_count = phase = 0;
    child = start_count;
    Room *cleared[] = {&truths, &numbers, &shunned, &indices, &regions};
    for (int at = 0; at < 5; at++) emptied(cleared[at]);
    if (!roomy(&numbers, (U)total * asked.nodes * 4 + 8)) return 0;
    if (asked.source != NOTHING && !roomy(&truths, total * 8ull + 8)) return 0;
    if (asked.source == CONDITION) {
        U labels = above.labels();
        if (!roomy(&shunned, labels + 1)) return 0;
        for (U label = 0; label < labels; label++)
            AT(char, shunned, label) = (char)above.has((uint32_t)label, (uint32_t)asked.given);
    }
    for (U s = 0; s < start_count; s++)
        for (U n = 0; n < asked.initials; n++)
            if (!meet((uint32_t)s, (uint32_t)asked.initial[n], NONE)) { phase = 9; return !full; }
    return 1;
}

/* The next pair behind a pair, and the label on the way; 0 when there are no more. */
static inline int onward(uint32_t pair, uint32_t *edge, uint32_t *next, uint32_t *to, uint32_t *label)
{
    Pair own = AT(Pair, pairs, pair);
    Row row = AT(Row, rows, own.state);
    U from = asked.behind[own.node], count = asked.behind[own.node + 1] - from;
    for (; *edge <= row.length; *edge += 1, *next = 0) {
        uint32_t state = own.state;
        *label = 0;
        if (*edge) {
            U e = row.begin + *edge - 1;
            state = AT(uint32_t, targets, e);
            if (state & OUTER) continue;
            if (asked.source == CONDITION && AT(char, shunned, AT(uint32_t, edge_above, e))) continue;
            *label = LABEL(e);
        }
        while (*next < count) {
            U node = asked.next[from + (*next)++];
            uint32_t number = AT(uint32_t, numbers, (U)state * asked.nodes + node);
            if (number) { *to = number - 1; return 1; }
        }
    }
    return 0;
}

/* A strongly connected set; 1 if it is fair, 0 if nothing of it can be, 2 if a part may be, namely
   what does not enable the conditions missing. */
static int judged(const uint32_t *members, U count, uint32_t own, U *missing, U *ever)
{
    U always[CW], taken[CW], kept = 0;
    int moves = count == 1 && asked.stays[AT(Pair, pairs, *members).node];
    memset(always, 255, sizeof always);
    memset(taken, 0, sizeof taken);
    memset(ever, 0, sizeof taken);
    for (U at = 0; at < count; at++) {
        const U *enabled = enabled_words(members[at]);
        for (int w = 0; w < CW; w++) { always[w] &= enabled[w]; ever[w] |= enabled[w]; }
        kept |= asked.kept[AT(Pair, pairs, members[at]).node];
        uint32_t edge = 0, next = 0, to, label;
        while (count > 1 && onward(members[at], &edge, &next, &to, &label)) {
            if (AT(uint32_t, regions, to) != own) continue;
            moves = 1;
            if (label) for (int w = 0; w < CW; w++) taken[w] |= words_of(label)[w];
        }
    }
    if (!moves || kept != asked.promises) return 0;
    int strong = 0;
    for (int w = 0; w < CW; w++) {
        if (weak_conditions[w] & always[w] & ~taken[w]) return 0;
        missing[w] = strong_conditions[w] & ever[w] & ~taken[w];
        strong |= missing[w] != 0;
    }
    return strong ? 2 : 1;
}

/* The component at the end of the open pairs, from this place on. */
static int closed(U place)
{
    uint32_t *members = &AT(uint32_t, open_pairs, place), own = ++region_count;
    U count = open_count - place, missing[CW], ever[CW], from = pool_count;
    open_count = place;
    for (U at = 0; at < count; at++) {
        AT(uint32_t, indices, members[at]) = CLOSED;
        AT(uint32_t, regions, members[at]) = own;
    }
    int found = judged(members, count, own, missing, ever);
    if (found == 1) {
        uint32_t first = NONE;
        for (U at = 0; at < count; at++) if (members[at] < first) first = members[at];
        if (best == NONE || first < best) {
            best = first;
            best_region = own;
            best_count = count;
            memcpy(best_ever, ever, sizeof best_ever);
        }
    }
    if (found != 2) return 1;
    own = ++region_count;
    if (!roomy(&pool, (pool_count + count) * 4)) return 0;
    for (U at = 0; at < count; at++) {
        const U *enabled = enabled_words(members[at]);
        int bad = 0;
        for (int w = 0; w < CW; w++) bad |= (enabled[w] & missing[w]) != 0;
        if (bad) continue;
        AT(uint32_t, pool, pool_count++) = members[at];
        AT(uint32_t, indices, members[at]) = 0;
        AT(uint32_t, regions, members[at]) = own;
    }
    if (pool_count == from) return 1;
    if (!roomy(&work, (work_count + 1) * sizeof(Work))) return 0;
    AT(Work, work, work_count++) = (Work){from, pool_count, own};
    return 1;
}

static int entered(uint32_t pair)
{
    if (!roomy(&frames, (frame_count + 1) * sizeof(Frame))) return 0;
    if (!roomy(&open_pairs, (open_count + 1) * 4)) return 0;
    AT(uint32_t, indices, pair) = ++ticked;
    AT(uint32_t, open_pairs, open_count++) = pair;
    AT(Frame, frames, frame_count++) = (Frame){pair, ticked, 0, 0};
    return 1;
}

/* One more step of the search for components (R. Tarjan); 0 when that ends the work. */
static int descended(void)
{
    Frame *f = &AT(Frame, frames, frame_count - 1);
    uint32_t to, label;
    while (onward(f->pair, &f->edge, &f->next, &to, &label)) {
        if (AT(uint32_t, regions, to) != region) continue;
        uint32_t index = AT(uint32_t, indices, to);
        if (!index) return entered(to);
        if (index != CLOSED && index < f->low) f->low = index;
    }
    Frame done = *f;
    frame_count--;
    if (frame_count && done.low < f[-1].low) f[-1].low = done.low;
    if (done.low != AT(uint32_t, indices, done.pair)) return 1;
    U place = open_count;
    while (AT(uint32_t, open_pairs, --place) != done.pair) {}
    return closed(place);
}

/* The pair to go on from in this region, or NONE when it is done. The first region is all pairs. */
static uint32_t next_root(void)
{
    while (root_at < root_end) {
        uint32_t pair = region == 1 ? (uint32_t)root_at : AT(uint32_t, pool, root_at);
        root_at++;
        if (AT(uint32_t, regions, pair) == region && !AT(uint32_t, indices, pair)) return pair;
    }
    return NONE;
}

static int regions_made(void)
{
    if (!roomy(&indices, pair_count * 4 + 4) || !roomy(&regions, pair_count * 4 + 4)) return 0;
    for (U at = 0; at < pair_count; at++)
        AT(uint32_t, regions, at) = (uint32_t)asked.capable[AT(Pair, pairs, at).node];
    region = region_count = 1;
    ticked = 0;
    root_at = 0;
    root_end = pair_count;
    return 1;
}

/* 1: go on; 0: finished, or ended. */
static int one_step(void)
{
    if (phase == 0) {
        if (reached == pair_count) { phase = 1; return regions_made(); }
        if (stands((uint32_t)reached)) { standing = (uint32_t)reached; phase = 2; return 0; }
        if (!opened((uint32_t)reached)) return 0;
        reached++;
        return 1;
    }
    if (frame_count) return descended();
    uint32_t root = next_root();
    if (root != NONE) return entered(root);
    if (!work_count) { phase = 2; return 0; }
    Work more = AT(Work, work, --work_count);
    region = more.region;
    root_at = more.from;
    root_end = more.to;
    ticked = 0;
    return 1;
}

/* Look for a fair cycle for about so many seconds. RAISES: a predicate, in state raised_at. */
int rf_answer(double seconds)
{
    until(seconds);
    if (phase != 9) while (!over()) if (!one_step()) break;
    if (status()) return status();
    if (above_ended) return ABOVE;
    if (phase == 9 || raised_at != NONE) return RAISES;
    return phase == 2 ? DONE : MORE;
}

/* pairs, edges looked at, where the machine may stand, the first pair of a fair set, its size, the
   state where a predicate raised, and then the conditions enabled in the fair set */
void rf_answered(U *out)
{
    U found[] = {pair_count, seen_edges, standing, best, best_count, raised_at};
    memcpy(out, found, sizeof found);
    memcpy(out + 6, best_ever, sizeof best_ever);
}

/* state, node, parent, and then the conditions enabled */
void rf_pair(uint32_t number, U *out)
{
    Pair pair = AT(Pair, pairs, number);
    out[0] = pair.state;
    out[1] = pair.node;
    out[2] = pair.parent;
    memcpy(out + 3, enabled_words(number), CW * 8);
}

void rf_label(uint32_t label, U *out) { memcpy(out, words_of(label), CW * 8); }

typedef struct { U at, kept; const U *weak, *strong; } Goals; /* at: one higher, or 0 */

static int shows(const Goals *goals, uint32_t pair, uint32_t label)
{
    if (goals->at == (U)pair + 1 || goals->kept & asked.kept[AT(Pair, pairs, pair).node]) return 1;
    const U *enabled = enabled_words(pair), *taken = words_of(label);
    for (int w = 0; w < CW; w++)
        if (goals->weak[w] & (taken[w] | ~enabled[w]) || goals->strong[w] & taken[w]) return 1;
    return 0;
}

/* The shortest way inside the fair set, of at least one edge, from a pair to what shows a goal: its
   length, and (pair, label) in `out`, backwards. 0 when memory or the room for it ends. */
U rf_nearest(uint32_t start_at, const Goals *goals, U *out, U most)
{
    typedef struct { uint32_t from, label; } Came;
    if (!roomy(&came, pair_count * sizeof(Came)) || !roomy(&queue, best_count * 4 + 4)) return 0;
    U count = 0, length = 0;
    uint32_t goal = NONE, label, to, last = 0, end_label = 0;
    AT(uint32_t, queue, count++) = start_at;
    AT(Came, came, start_at) = (Came){NONE, 0};
    for (U at = 0; at < count && goal == NONE; at++) {
        uint32_t from = AT(uint32_t, queue, at), edge = 0, next = 0;
        while (onward(from, &edge, &next, &to, &label)) {
            if (AT(uint32_t, regions, to) != best_region) continue;
            if (shows(goals, to, label)) { goal = to; last = from; end_label = label; break; }
            if (to == start_at || AT(Came, came, to).from) continue;
            AT(Came, came, to) = (Came){from + 1, label};
            AT(uint32_t, queue, count++) = to;
        }
    }
    if (goal != NONE) {
        out[0] = goal; out[1] = end_label; length = 1;
        for (uint32_t at = last; at != start_at && length < most; at = AT(Came, came, at).from - 1, length++) {
            out[2 * length] = at;
            out[2 * length + 1] = AT(Came, came, at).label;
        }
    }
    for (U at = 0; at < count; at++) AT(Came, came, AT(uint32_t, queue, at)) = (Came){0, 0};
    return length < most ? length : 0;
}

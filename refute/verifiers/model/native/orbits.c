/* One state for each orbit, as verifiers/model/orbits.py; what a permutation does is the machine's.

   Held: what a state holds of members of Sorts, unpacked. hold and put_back load and store it,
   exchange(k) exchanges the members k and k + 1, and seen is a number for how it looks when members
   are known by labels alone. Members are numbered, those of a class one after the other. */

#define STAR 0x9e3779b97f4a7c15ull

typedef struct { int first, end; } Run; /* members of equal colour */
typedef struct { Held held; U state[W], count; } Least;

/* How the state looks from each member. */
static void coloured(const Held *h, const U *labels, U *colours)
{
    U given[ELEMENTS + 1];
    memcpy(given, labels, 8 * ELEMENTS);
    given[ELEMENTS] = 1;
    for (int at = 0; at < ELEMENTS; at++) {
        given[at] = stir(labels[at] + STAR);
        colours[at] = stir(seen(h, given) + given[at]);
        given[at] = labels[at];
    }
}

/* Exchange members until their colours are in order. */
static void sort_members(Held *h, U *colours, int first, int end)
{
    for (int at = first + 1; at < end; at++)
        for (int to = at; to > first && colours[to - 1] > colours[to]; to--) {
            U held = colours[to];
            colours[to] = colours[to - 1];
            colours[to - 1] = held;
            exchange(to - 1, h);
        }
}

static void pack_held(const Held *h, U *w)
{
    memset(w, 0, 8 * W);
    put_back(h, w);
}

static int compared(const U *a, const U *b)
{
    for (int at = 0; at < W; at++) if (a[at] != b[at]) return a[at] < b[at] ? -1 : 1;
    return 0;
}

/* Whether exchanging any of these members leaves the state as it is. */
static int twins(const Held *h, int first, int end)
{
    U own[W], other[W];
    pack_held(h, own);
    for (int at = first; at + 1 < end; at++) {
        Held made = *h;
        exchange(at, &made);
        pack_held(&made, other);
        if (compared(own, other)) return 0;
    }
    return 1;
}

/* The runs whose order matters. orders: multiplied by the orders of those where it does not. */
static int tied_runs(const Held *h, const U *colours, Run *runs, U *orders)
{
    int found = 0;
    for (int c = 0; c < CLASSES; c++)
        for (int at = class_start[c], end; at < class_start[c + 1]; at = end) {
            for (end = at + 1; end < class_start[c + 1] && colours[end] == colours[at]; end++) {}
            if (end == at + 1) continue;
            if (!twins(h, at, end)) { runs[found].first = at; runs[found++].end = end; continue; }
            for (int n = 2; n <= end - at; n++) *orders *= n;
        }
    return found;
}

/* Try every order of the members from `at` on; times: how many orders have led here. */
static void try_orders(Least *least, const Held *h, const Run *runs, int left, int at, U times)
{
    if (!left) {
        U made[W];
        pack_held(h, made);
        int c = least->count ? compared(made, least->state) : -1;
        if (c > 0) return;
        least->count = c ? times : least->count + times;
        if (!c) return;
        memcpy(least->state, made, 8 * W);
        least->held = *h;
        return;
    }
    if (at + 1 >= runs->end) {
        try_orders(least, h, runs + 1, left - 1, left > 1 ? runs[1].first : 0, times);
        return;
    }
    U states[ELEMENTS][W], weights[ELEMENTS];
    int members[ELEMENTS], count = 0;
    Held made;
    for (int from = at; from < runs->end; from++) {
        made = *h;
        for (int to = from; to > at; to--) exchange(to - 1, &made);
        pack_held(&made, states[count]);
        int known = 0;
        while (known < count && compared(states[known], states[count])) known++;
        if (known < count) { weights[known]++; continue; }
        members[count] = from;
        weights[count++] = 1;
    }
    for (int which = 0; which < count; which++) {
        made = *h;
        for (int to = members[which]; to > at; to--) exchange(to - 1, &made);
        try_orders(least, &made, runs, left, at + 1, times * weights[which]);
    }
}

/* Put what stands for its orbit in the place of a state; gives the number of the orbit's states. */
static U canonical(U *w)
{
    Held h;
    Run runs[ELEMENTS];
    U colours[ELEMENTS], more[ELEMENTS], orders = 1;
    hold(&h, w);
    coloured(&h, class_labels, colours);
    for (int c = 0; c < CLASSES; c++) sort_members(&h, colours, class_start[c], class_start[c + 1]);
    int tied = tied_runs(&h, colours, runs, &orders);
    if (tied) {
        coloured(&h, colours, more);
        for (int at = 0; at < tied; at++) sort_members(&h, more, runs[at].first, runs[at].end);
        for (int at = 0; at < tied; at++)
            for (int i = runs[at].first; i < runs[at].end; i++) colours[i] = stir(colours[i] ^ more[i]);
        orders = 1;
        tied = tied_runs(&h, colours, runs, &orders);
    }
    if (!tied) {
        put_back(&h, w);
        return GROUP / orders;
    }
    Least least;
    least.count = 0;
    try_orders(&least, &h, runs, tied, runs[0].first, 1);
    put_back(&least.held, w);
    return GROUP / (orders * least.count);
}

void rf_canonical(U *w) { canonical(w); }

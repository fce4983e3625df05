/* The choices of one run of a step, and the next vector of them to try. */

static void start_picks(Thread *t) { t->depth = t->known = 0; }

/* The next choice of this run of a step; -1 when there are too many. */
static L pick(Thread *t, L options)
{
    if (t->depth == PICKS) return -1;
    if (t->depth == t->known) {
        t->trail[t->known][0] = 0;
        t->trail[t->known++][1] = options;
    }
    return t->trail[t->depth++][0];
}

/* Whether there is another vector of choices to run the step with. */
static int again(Thread *t)
{
    t->known = t->depth;
    t->depth = 0;
    while (t->known && t->trail[t->known - 1][0] + 1 == t->trail[t->known - 1][1]) t->known--;
    if (t->known) t->trail[t->known - 1][0]++;
    return t->known > 0;
}

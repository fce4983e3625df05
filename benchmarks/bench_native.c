/* Two-phase commit with N resource managers, packed by hand: what a search of it can reach.

   The state is one word: two bits for each manager, two for the transaction manager, one for each
   manager whose message was taken, one for each Prepared message, and Commit and Abort. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef unsigned long long U;

#define TM (2 * N)
#define TAKEN (TM + 2)
#define SENT (TAKEN + N)
#define COMMIT (1ull << (SENT + N))
#define ABORT (2ull << (SENT + N))
enum { WORKING, PREPARED, COMMITTED, ABORTED };
enum { AHEAD = 32 };

static U *table, *queue, buckets, total, generated, waiting[AHEAD], first, count;

static inline U mixed(U x)
{
    x ^= x >> 32; x *= 0xd6e8feb86659fd93ull; x ^= x >> 32; x *= 0xd6e8feb86659fd93ull;
    return x ^ x >> 32;
}

static inline U *line_of(U state)
{
    return table + (U)((unsigned __int128)mixed(state) * buckets >> 64) * 8;
}

static inline void settle(void)
{
    U state = waiting[first++ % AHEAD], key = state + 1;
    count--;
    for (U *line = line_of(state);; line = line + 8 == table + buckets * 8 ? table : line + 8)
        for (int at = 0; at < 8; at++) {
            if (line[at] == key) return;
            if (!line[at]) { line[at] = key; queue[total++] = state; return; }
        }
}

static inline void found(U state)
{
    generated++;
    if (count == AHEAD) settle();
    waiting[(first + count++) % AHEAD] = state;
    __builtin_prefetch(line_of(state), 1);
}

static void expand(U s)
{
    U tm = s >> TM & 3, all = (1ull << N) - 1, taken = s >> TAKEN & all, sent = s >> SENT & all;
    if (!tm) {
        for (U rest = sent; rest; rest &= rest - 1) found(s | (rest & -rest) << TAKEN);
        if (taken == all) found(s | 1ull << TM | COMMIT);
        found(s | 2ull << TM | ABORT);
    }
    for (int rm = 0; rm < N; rm++) {
        U cleared = s & ~(3ull << 2 * rm);
        if ((s >> 2 * rm & 3) == WORKING) {
            found(s | (U)PREPARED << 2 * rm | 1ull << (SENT + rm));
            found(s | (U)ABORTED << 2 * rm);
        }
        if (s & COMMIT) found(cleared | (U)COMMITTED << 2 * rm);
        if (s & ABORT) found(cleared | (U)ABORTED << 2 * rm);
    }
}

static int agrees(U s)
{
    U even = 0x5555555555555555ull & ((1ull << 2 * N) - 1), high = s >> 1 & even, low = s & even;
    return !((high & ~low) && (high & low));
}

static void *pages(U bytes)
{
    void *made = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(made, bytes, MADV_HUGEPAGE);
    return made;
}

int main(int argc, char **argv)
{
    U most = strtoull(argv[argc - 1], 0, 10);
    buckets = most / 6;
    table = pages(buckets * 64);
    queue = pages(most * 8);
    struct timespec a, b;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    found(0);
    for (U at = 0; at < total || count; at++) {
        while (at == total && count) settle();
        if (at == total) break;
        if (!agrees(queue[at])) return 1;
        expand(queue[at]);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    double seconds = b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) * 1e-9;
    printf("%llu %llu %.6f\n", total, generated, seconds);
    return 0;
}

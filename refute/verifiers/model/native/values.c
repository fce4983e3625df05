/* What the text of a machine's steps and predicates is written in, whichever program it is part of. */

#include <stdint.h>
#include <string.h>

typedef unsigned long long U;
typedef long long L;

enum { RAISED = -1, LIMIT = -2, DISABLED = 0, TAKEN = 1 };

static inline L floordiv(L a, L b) { L q = a / b; return q - (a % b != 0 && (a < 0) != (b < 0)); }
static inline L floormod(L a, L b) { L r = a % b; return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
static inline L sliced(L at, L n) { if (at < 0) at += n; return at < 0 ? 0 : at > n ? n : at; }
static inline L nth_bit(U bits, L at) { while (at--) bits &= bits - 1; return __builtin_ctzll(bits); }
static inline L nth_bits(const U *w, L at)
{
    L word = 0;
    for (; at >= __builtin_popcountll(w[word]); word++) at -= __builtin_popcountll(w[word]);
    return word * 64 + nth_bit(w[word], at);
}

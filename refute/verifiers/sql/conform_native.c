/* Runs one sqllogictest file on the SQLite of this process and can say one thing: every record
   passed, so many were run, skipped and not checked.

   Whatever is odd in the file, fails, takes too long or is not certain to be judged as the Python
   path judges it, declines the file, which is then run there. So a mistake in here must be one that
   takes a wrong result for a right one. Texts are those of refute/oracles/sqllogictest/render.py.

   SQLite is reached through the pointers that the caller found in the library that its own sqlite3
   module is linked to; its header is not needed. */

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef int64_t I64;

typedef struct {
    int (*open_v2)(const char *, sqlite3 **, int, const char *);
    int (*close)(sqlite3 *);
    int (*limit)(sqlite3 *, int, int);
    void (*progress_handler)(sqlite3 *, int, int (*)(void *), void *);
    int (*prepare_v2)(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
    int (*step)(sqlite3_stmt *);
    int (*finalize)(sqlite3_stmt *);
    int (*parameters)(sqlite3_stmt *);
    int (*column_count)(sqlite3_stmt *);
    int (*column_type)(sqlite3_stmt *, int);
    I64 (*column_int64)(sqlite3_stmt *, int);
    double (*column_double)(sqlite3_stmt *, int);
    const unsigned char *(*column_text)(sqlite3_stmt *, int);
    const void *(*column_blob)(sqlite3_stmt *, int);
    int (*column_bytes)(sqlite3_stmt *, int);
    char *(*snprintf)(int, char *, const char *, ...);
    int (*gil_ensure)(void);
    void (*gil_release)(int);
    int (*check_signals)(void);
    void (*clear_error)(void);
} Api;

enum { SQLITE_ERROR = 1, SQLITE_TOOBIG = 18, SQLITE_CONSTRAINT = 19, SQLITE_MISMATCH = 20 };
enum { SQLITE_ROW = 100, SQLITE_DONE = 101 };
enum { SQLITE_INTEGER = 1, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB, SQLITE_NULL };
enum { OPEN_READWRITE = 2, OPEN_CREATE = 4, LIMIT_LENGTH = 0, LIMIT_ATTACHED = 7 };

enum { STATEMENT, QUERY, CONTROL };
enum { NOTHING, LISTED, HASHED };
enum { NOSORT, ROWSORT, VALUESORT };
enum { MORE, PASSED, DECLINED, INTERRUPTED };

enum { HEX = 32, MOST_VERSIONS = 1000, LONGEST_SQL = 1000000, BETWEEN_LOOKS = 100000 };
static const I64 MOST_ROWS = 1000000;
static const size_t MOST_BYTES = (size_t)1 << 28; /* of one result */

typedef struct {
    char *sql, *types, *label, *expected; /* parts of the text; hex digits when hashed */
    size_t sql_n, label_n, expected_n;
    I64 number;
    int line, columns;
    char kind, runs, fails, sort, expects;
} Record;

typedef struct {
    const char *text;
    size_t n;
    unsigned char key[8];
} Item;

typedef struct {
    const char *label;
    size_t n;
    char digest[HEX];
} Label;

/* counts: handed over, run, skipped, not checked, records that depend on the release */
typedef struct {
    const Api *api;
    I64 counts[5];
    int versions[MOST_VERSIONS];
    int why;
    int line;
    /* the rest is known to this file only */
    char *text;
    size_t text_n;
    Record *records;
    size_t at, number, room;
    sqlite3 *db;
    double timeout_s, until;
    int looked, over, interrupted;
    char *out, *sorted;
    size_t out_n, out_room, sorted_room;
    size_t *starts;
    Item *items;
    size_t starts_n, starts_room, items_room;
    Label *labels;
    size_t labels_n, labels_room;
} Run;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int decline(Run *r, int why, int line)
{
    if (!r->why) {
        r->why = why;
        r->line = line;
    }
    return 0;
}

/* Room for n elements of a size, at least doubled; 0 when there is none. */
static int grown(void **at, size_t *room, size_t n, size_t size)
{
    if (n <= *room) return 1;
    size_t wanted = *room * 2 > n ? *room * 2 : n + 64;
    void *made = realloc(*at, wanted * size);
    if (!made) return 0;
    *at = made;
    *room = wanted;
    return 1;
}

/* MD5, RFC 1321. */

static const uint32_t SINES[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
static const int TURNS[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

static void md5_block(uint32_t state[4], const unsigned char *p)
{
    uint32_t x[16], a = state[0], b = state[1], c = state[2], d = state[3];
    for (int i = 0; i < 16; i++)
        x[i] = p[4 * i] | (uint32_t)p[4 * i + 1] << 8 | (uint32_t)p[4 * i + 2] << 16
               | (uint32_t)p[4 * i + 3] << 24;
    for (int i = 0; i < 64; i++) {
        uint32_t f;
        int which, round = i / 16;
        if (round == 0) f = (b & c) | (~b & d), which = i;
        else if (round == 1) f = (d & b) | (~d & c), which = (5 * i + 1) % 16;
        else if (round == 2) f = b ^ c ^ d, which = (3 * i + 5) % 16;
        else f = c ^ (b | ~d), which = 7 * i % 16;
        f += a + SINES[i] + x[which];
        int turn = TURNS[4 * round + i % 4];
        a = d, d = c, c = b;
        b += f << turn | f >> (32 - turn);
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

static void md5_hex(const char *text, size_t n, char hex[HEX])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const unsigned char *p = (const unsigned char *)text;
    size_t left = n;
    for (; left >= 64; left -= 64, p += 64) md5_block(state, p);
    unsigned char tail[128] = {0};
    if (left) memcpy(tail, p, left);
    tail[left] = 0x80;
    size_t whole = left < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)n * 8;
    for (int i = 0; i < 8; i++) tail[whole - 8 + i] = (unsigned char)(bits >> (8 * i));
    md5_block(state, tail);
    if (whole == 128) md5_block(state, tail + 64);
    for (int i = 0; i < 16; i++) {
        unsigned byte = state[i / 4] >> (8 * (i % 4)) & 0xff;
        hex[2 * i] = "0123456789abcdef"[byte >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[byte & 15];
    }
}

/* Reading: lines, blocks, records. */

static int is_blank(const char *p, const char *end)
{
    for (; p < end; p++)
        if (*p != ' ' && *p != '\t' && *p != '\v' && *p != '\f' && *p != '\r') return 0;
    return 1;
}

static char *line_end(char *p, char *end)
{
    char *found = memchr(p, '\n', (size_t)(end - p));
    return found ? found : end;
}

/* Where the last line ends that is neither blank nor a comment. */
static char *last_said(char *text, char *end)
{
    while (end > text) {
        char *start = end - 1; /* at the line's end */
        while (start > text && start[-1] != '\n') start--;
        if (*start != '#' && !is_blank(start, end - 1)) return end;
        end = start;
    }
    return text;
}

typedef struct {
    char *at;
    size_t n;
} Word;

/* The words of a line before one that begins with `#`; -1 for other bytes, and for many words. */
static int words_of(char *p, char *end, Word words[5])
{
    int n = 0;
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t')) p++;
        if (p == end || *p == '#') return n;
        if (n == 5) return -1;
        words[n].at = p;
        for (; p < end && *p != ' ' && *p != '\t'; p++)
            if (*p < 0x21 || *p > 0x7e) return -1;
        words[n].n = (size_t)(p - words[n].at);
        n++;
    }
}

static int is(Word word, const char *text)
{
    return word.n == strlen(text) && !memcmp(word.at, text, word.n);
}

static int digits(const char *p, size_t n, I64 *number)
{
    if (n < 1 || n > 18) return 0;
    *number = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9') return 0;
        *number = *number * 10 + (p[i] - '0');
    }
    return 1;
}

static int contains(const char *text, size_t n, const char *part)
{
    size_t m = strlen(part);
    for (size_t i = 0; i + m <= n; i++) {
        const char *found = memchr(text + i, part[0], n - m - i + 1);
        if (!found) return 0;
        i = (size_t)(found - text);
        if (!memcmp(found, part, m)) return 1;
    }
    return 0;
}

/* A cursor over the lines of a block that are no comments; `to` is where they are moved together. */
typedef struct {
    char *p, *end, *to; /* next line; end of the text; end of what is kept */
    int line;           /* number of the next line */
} Cursor;

/* The next line of the block, moved to c->to; 0 at its end. Its end is at c->to, a line end. */
static char *next_line(Cursor *c, int *line)
{
    while (c->p < c->end) {
        char *start = c->p, *end = line_end(start, c->end);
        if ((unsigned char)*start <= ' ' && is_blank(start, end)) return 0;
        c->p = end + 1;
        c->line++;
        if (*start == '#') continue;
        size_t n = (size_t)(end - start) + 1;
        char *to = c->to;
        if (to != start) memmove(to, start, n);
        c->to = to + n;
        if (line) *line = c->line - 1;
        return to;
    }
    return 0;
}

/* Whether a line of a record could be a directive that has no empty line before it. */
static int glued(const char *line, const char *to)
{
    return to - line > 5 && (!memcmp(line, "state", 5) || !memcmp(line, "query", 5));
}

static int read_values(Record *record, char *values, char *to, int lines)
{
    static const char HASHING[] = " values hashing to ";
    size_t n = (size_t)(to - values), middle = sizeof HASHING - 1;
    record->expects = LISTED;
    record->expected = values;
    record->expected_n = n;
    if (lines != 1 || !contains(values, n, HASHING)) return 1;
    size_t count = n - 1 < HEX + middle ? 0 : n - 1 - HEX - middle;
    if (!digits(values, count, &record->number) || memcmp(values + count, HASHING, middle))
        return 0;
    record->expects = HASHED;
    record->expected = values + count + middle;
    for (int i = 0; i < HEX; i++) {
        char c = record->expected[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return 0;
    }
    return 1;
}

/* What is after the directive; 1 if it is understood. final: nothing that says anything follows. */
static int read_body(Cursor *c, Record *record, const char *said, int *expecting)
{
    char *body = c->to, *line, *values = 0;
    int lines = 0, sql_lines = 0;
    while ((line = next_line(c, 0))) {
        if (glued(line, c->to)) return 0;
        if (record->kind == QUERY && !values && c->to - line == 5 && !memcmp(line, "----", 4)) {
            values = c->to;
            record->sql_n = (size_t)(line - body);
            lines = 0;
            continue;
        }
        lines++;
        sql_lines += !values;
    }
    int final = c->p >= said;
    if (!values) record->sql_n = (size_t)(c->to - body);
    if (!sql_lines || record->sql_n > LONGEST_SQL) return 0;
    record->sql = body;
    record->sql_n--;
    body[record->sql_n] = 0;
    if (record->kind == STATEMENT) return 1;
    if (!values)
        return !(final && *expecting) && !contains(body, record->sql_n, "---");
    *expecting = 1;
    if (!read_values(record, values, c->to, lines)) return 0;
    return !(final && record->expects == LISTED && lines % record->columns);
}

static int read_query(Record *record, Word *words, int n)
{
    if (n < 2 || n > 4) return 0;
    for (size_t i = 0; i < words[1].n; i++)
        if (!strchr("TIR", words[1].at[i])) return 0;
    record->kind = QUERY;
    record->types = words[1].at;
    record->columns = (int)words[1].n;
    if (n > 2) {
        record->sort = is(words[2], "rowsort") ? ROWSORT : is(words[2], "valuesort") ? VALUESORT : 0;
        if (!record->sort && !is(words[2], "nosort")) return 0;
    }
    if (n > 3) {
        record->label = words[3].at;
        record->label_n = words[3].n;
    }
    return 1;
}

static int same_name(Word word, const char *name)
{
    if (word.n != strlen(name)) return 0;
    for (size_t i = 0; i < word.n; i++) {
        char c = word.at[i];
        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != name[i]) return 0;
    }
    return 1;
}

/* One block. 1: understood; 0: not; -1: nothing after it is read. */
static int read_block(Run *r, Cursor *c, const char *said, const char *name, int *expecting)
{
    Record record = {.runs = 1};
    Word words[5];
    char *line;
    int n, first = 1;
    for (;;) {
        line = next_line(c, &record.line);
        if (!line) return first; /* comments alone; or a condition before nothing */
        n = words_of(line, c->to - 1, words);
        if (n < 1) return 0;
        if (!is(words[0], "skipif") && !is(words[0], "onlyif")) break;
        if (n != 2) return 0;
        if (same_name(words[1], name) == is(words[0], "skipif")) record.runs = 0;
        first = 0;
    }
    if (is(words[0], "statement")) {
        record.fails = n == 2 && is(words[1], "error");
        if (n != 2 || !(record.fails || is(words[1], "ok"))) return 0;
        if (!read_body(c, &record, said, expecting)) return 0;
    } else if (is(words[0], "query")) {
        if (!read_query(&record, words, n) || !read_body(c, &record, said, expecting)) return 0;
    } else {
        I64 threshold;
        int halts = is(words[0], "halt");
        if (!halts && !is(words[0], "hash-threshold")) return 0;
        if (halts ? n != 1 : n != 2 || !digits(words[1].at, words[1].n, &threshold)) return 0;
        if (next_line(c, 0)) return 0;
        if (record.runs) return halts ? -1 : 1;
        record.kind = CONTROL;
    }
    if (!grown((void **)&r->records, &r->room, r->number + 1, sizeof record)) return 0;
    r->records[r->number++] = record;
    return 1;
}

static int read_records(Run *r, const char *name)
{
    char *end = r->text + r->text_n, *said = last_said(r->text, end);
    Cursor c = {r->text, end, r->text, 1};
    int expecting = 0;
    while (c.p < said) {
        char *stop = line_end(c.p, end);
        if (is_blank(c.p, stop)) {
            c.p = stop + 1;
            c.line++;
            continue;
        }
        c.to = c.p;
        int line = c.line, read = read_block(r, &c, said, name, &expecting);
        if (!read) return decline(r, 1, line);
        if (read < 0) break;
    }
    return 1;
}

/* Texts. Each is followed by a line end. */

static int put(Run *r, const char *text, size_t n)
{
    if (r->out_n + n + 1 > MOST_BYTES) return 0;
    if (!grown((void **)&r->out, &r->out_room, r->out_n + n + 1, 1)) return 0;
    memcpy(r->out + r->out_n, text, n);
    r->out[r->out_n + n] = '\n';
    r->out_n += n + 1;
    return 1;
}

static int put_integer(Run *r, I64 number)
{
    char buffer[24], *p = buffer + sizeof buffer;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0) *--p = '-';
    return put(r, p, (size_t)(buffer + sizeof buffer - p));
}

static int is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static I64 leading_integer(const char *p, size_t n)
{
    const char *end = p + n;
    while (p < end && is_space(*p)) p++;
    int negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    uint64_t most = (uint64_t)INT64_MAX + (unsigned)negative, number = 0;
    for (; p < end && is_digit(*p); p++) {
        unsigned digit = (unsigned)(*p - '0');
        number = number > (most - digit) / 10 ? most : number * 10 + digit;
    }
    return negative ? (I64)(0 - number) : (I64)number;
}

/* The number that a text begins with; 0 where it is too long for the room that is here. */
static int leading_real(const char *p, size_t n, double *number)
{
    const char *end = p + n, *start, *mark;
    char copy[400];
    int whole = 0, after = 0;
    *number = 0;
    while (p < end && is_space(*p)) p++;
    start = p;
    if (p < end && (*p == '-' || *p == '+')) p++;
    for (; p < end && is_digit(*p); p++) whole = 1;
    if (p < end && *p == '.') {
        for (p++; p < end && is_digit(*p); p++) after = 1;
        if (!whole && !after) return 1;
    }
    if (!whole && !after) return 1;
    mark = p;
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '-' || *p == '+')) p++;
        if (p < end && is_digit(*p))
            for (mark = p; mark < end && is_digit(*mark);) mark++;
    }
    size_t length = (size_t)(mark - start);
    if (length >= sizeof copy) return 0;
    memcpy(copy, start, length);
    copy[length] = 0;
    *number = strtod(copy, 0);
    return 1;
}

static int put_not_finite(Run *r, double x)
{
    return x > 0 ? put(r, "Inf", 3) : put(r, "-Inf", 4);
}

/* 16 digits at most, of a number of 1e13 and more. digits: as `%.15e` shows it. */
static int put_large(Run *r, double x)
{
    char wide[80], shown[400];
    size_t at = 0, n = 0;
    snprintf(wide, sizeof wide, "%.45e", x);
    char *tail = strchr(wide, 'e');
    if (!tail || tail - wide < 31) return 0;
    if (tail[-30] == '5' && strspn(tail - 29, "0") >= 29) x = nextafter(x, x > 0 ? INFINITY : -INFINITY);
    snprintf(wide, sizeof wide, "%.15e", x);
    if (wide[0] == '-') shown[n++] = wide[at++];
    char *e = strchr(wide, 'e');
    if (!e) return 0;
    int whole = atoi(e + 1) + 1;
    for (int i = 0; i < whole + 3; i++) {
        if (i == whole) shown[n++] = '.';
        if (wide + at < e && wide[at] == '.') at++;
        shown[n++] = wide + at < e ? wide[at++] : '0';
    }
    return put(r, shown, n);
}

/* *other is set where this SQLite's own printf would give another text than releases from 3.43. */
static int put_real(Run *r, double x, int *other)
{
    if (isnan(x)) return 0;
    if (!isfinite(x)) return put_not_finite(r, x);
    char shown[64], own[400];
    size_t before = r->out_n, n;
    r->api->snprintf(sizeof own, own, "%.3f", x);
    if (fabs(x) >= 1e13) {
        if (!put_large(r, x)) return 0;
    } else {
        double part = fabs(x) - floor(fabs(x)), half = part * 2000;
        if (half == floor(half) && fmod(half, 2) != 0 && fma(part, 2000, -half) == 0)
            x = nextafter(x, x > 0 ? INFINITY : -INFINITY); /* a tie goes away from zero */
        n = (size_t)snprintf(shown, sizeof shown, "%.3f", x == 0 ? 0.0 : x);
        if (!put(r, shown, n)) return 0;
    }
    n = strlen(own);
    if (r->out_n - before != n + 1 || memcmp(r->out + before, own, n)) *other = 1;
    return 1;
}

/* As SQLite shows a real number: 15 digits that signify. */
static int put_shortest(Run *r, double x)
{
    char wide[80];
    if (isnan(x)) return 0;
    if (!isfinite(x)) return put_not_finite(r, x);
    snprintf(wide, sizeof wide, "%.44e", x);
    char *tail = strchr(wide, 'e');
    if (!tail || tail - wide < 31) return 0;
    if (tail[-30] == '5' && strspn(tail - 29, "0") >= 29) x = nextafter(x, x > 0 ? INFINITY : -INFINITY);
    snprintf(wide, sizeof wide, "%.15g", x == 0 ? 0.0 : x);
    char shown[90], *e = strchr(wide, 'e');
    int mantissa = e ? (int)(e - wide) : (int)strlen(wide);
    const char *point = memchr(wide, '.', (size_t)mantissa) ? "" : ".0";
    int n = snprintf(shown, sizeof shown, "%.*s%s%s", mantissa, wide, point, e ? e : "");
    return put(r, shown, (size_t)n);
}

static int put_words(Run *r, const char *text, size_t n)
{
    const char *zero = memchr(text, 0, n);
    if (zero) n = (size_t)(zero - text);
    if (!n) return put(r, "(empty)", 7);
    size_t at = r->out_n;
    if (!put(r, text, n)) return 0;
    for (char *p = r->out + at; p < r->out + at + n; p++)
        if (*p < ' ' || *p > '~') *p = '@';
    return 1;
}

static int put_value(Run *r, sqlite3_stmt *made, int column, char type, int *other)
{
    const Api *api = r->api;
    int held = api->column_type(made, column);
    if (held == SQLITE_NULL) return put(r, "NULL", 4);
    if (held == SQLITE_INTEGER) {
        I64 number = api->column_int64(made, column);
        if (type == 'R') return put_real(r, (double)number, other);
        return put_integer(r, type == 'I' ? (I64)(int32_t)(uint32_t)(uint64_t)number : number);
    }
    if (held == SQLITE_FLOAT) {
        double x = api->column_double(made, column);
        if (type == 'R') return put_real(r, x, other);
        if (type == 'T') return put_shortest(r, x);
        I64 whole = x >= 9223372036854775808.0    ? INT64_MAX
                    : x <= -9223372036854775808.0 ? INT64_MIN
                    : x == x                      ? (I64)x
                                                  : 0;
        return put_integer(r, (int32_t)(uint32_t)(uint64_t)whole);
    }
    const char *text = held == SQLITE_TEXT ? (const char *)api->column_text(made, column)
                                           : (const char *)api->column_blob(made, column);
    size_t n = (size_t)api->column_bytes(made, column);
    if (!text) {
        if (n) return 0;
        text = "";
    }
    if (type == 'T') return put_words(r, text, n);
    if (type == 'I')
        return put_integer(r, (int32_t)(uint32_t)(uint64_t)leading_integer(text, n));
    double x;
    return leading_real(text, n, &x) && put_real(r, x, other);
}

/* Sorting: rows, or values, are the parts of `out` between starts. */

static int by_text(const void *left, const void *right)
{
    const Item *a = left, *b = right;
    int c = memcmp(a->key, b->key, sizeof a->key);
    if (c) return c;
    c = memcmp(a->text, b->text, a->n < b->n ? a->n : b->n);
    return c ? c : (a->n > b->n) - (a->n < b->n);
}

static int sort_out(Run *r)
{
    size_t n = r->starts_n;
    if (!grown((void **)&r->items, &r->items_room, n, sizeof *r->items)) return 0;
    if (!grown((void **)&r->sorted, &r->sorted_room, r->out_n, 1)) return 0;
    for (size_t i = 0; i < n; i++) {
        Item *item = &r->items[i];
        item->text = r->out + r->starts[i];
        item->n = (i + 1 < n ? r->starts[i + 1] : r->out_n) - r->starts[i];
        memset(item->key, 0, sizeof item->key);
        memcpy(item->key, item->text, item->n < sizeof item->key ? item->n : sizeof item->key);
    }
    qsort(r->items, n, sizeof *r->items, by_text);
    char *to = r->sorted;
    for (size_t i = 0; i < n; i++) {
        memcpy(to, r->items[i].text, r->items[i].n);
        to += r->items[i].n;
    }
    char *was = r->out;
    size_t room = r->out_room;
    r->out = r->sorted, r->out_room = r->sorted_room;
    r->sorted = was, r->sorted_room = room;
    return 1;
}

/* Judging. */

static size_t label_place(const Run *r, const char *label, size_t n)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)label[i]) * 1099511628211u;
    size_t at = (size_t)(hash ^ hash >> 32) & (r->labels_room - 1);
    while (r->labels[at].label
           && (r->labels[at].n != n || memcmp(r->labels[at].label, label, n)))
        at = (at + 1) & (r->labels_room - 1);
    return at;
}

static int same_label(Run *r, const Record *record, const char digest[HEX])
{
    if (2 * (r->labels_n + 1) > r->labels_room) {
        Label *before = r->labels;
        size_t room = r->labels_room;
        Label *made = calloc(room ? 2 * room : 64, sizeof *made);
        if (!made) return 0;
        r->labels = made;
        r->labels_room = room ? 2 * room : 64;
        for (size_t i = 0; i < room; i++)
            if (before[i].label) r->labels[label_place(r, before[i].label, before[i].n)] = before[i];
        free(before);
    }
    Label *found = &r->labels[label_place(r, record->label, record->label_n)];
    if (found->label) return !memcmp(found->digest, digest, HEX);
    found->label = record->label;
    found->n = record->label_n;
    memcpy(found->digest, digest, HEX);
    r->labels_n++;
    return 1;
}

static int judge_skipped(Run *r, const Record *record)
{
    if (record->kind != QUERY || !record->label || !record->expects) return 1;
    char digest[HEX];
    if (record->expects == HASHED) memcpy(digest, record->expected, HEX);
    else md5_hex(record->expected, record->expected_n, digest);
    return same_label(r, record, digest);
}

static int judge_rows(Run *r, const Record *record, I64 rows)
{
    if (record->expects == LISTED
        && (r->out_n != record->expected_n
            || (r->out_n && memcmp(r->out, record->expected, r->out_n))))
        return 0;
    if (record->expects != HASHED && !record->label) return 1;
    char digest[HEX];
    md5_hex(r->out, r->out_n, digest);
    if (record->expects == HASHED
        && (rows * record->columns != record->number || memcmp(digest, record->expected, HEX)))
        return 0;
    return !record->label || same_label(r, record, digest);
}

/* Running. */

static int look(void *given)
{
    Run *r = given;
    double time = now();
    if (!r->looked) r->until = time + r->timeout_s;
    r->looked = 1;
    int held = r->api->gil_ensure();
    if (r->api->check_signals()) {
        r->api->clear_error();
        r->interrupted = 1;
    }
    r->api->gil_release(held);
    r->over = time > r->until;
    return r->over || r->interrupted;
}

static int known_error(int status)
{
    int kind = status & 0xff;
    return kind == SQLITE_ERROR || kind == SQLITE_CONSTRAINT || kind == SQLITE_MISMATCH
           || kind == SQLITE_TOOBIG;
}

static int put_row(Run *r, const Record *record, sqlite3_stmt *made, int *other)
{
    if (record->sort != NOSORT) {
        size_t wanted = r->starts_n + (size_t)record->columns;
        if (!grown((void **)&r->starts, &r->starts_room, wanted, sizeof *r->starts)) return 0;
    }
    for (int i = 0; i < record->columns; i++) {
        if (record->sort == VALUESORT || (record->sort == ROWSORT && !i))
            r->starts[r->starts_n++] = r->out_n;
        if (!put_value(r, made, i, record->types[i], other)) return 0;
    }
    return 1;
}

/* Step to the end. The last status, or -1 when the rows are not as they must be. */
static int all_rows(Run *r, const Record *record, sqlite3_stmt *made, I64 *rows, int *other)
{
    int status;
    while ((status = r->api->step(made)) == SQLITE_ROW) {
        if (++*rows >= MOST_ROWS) return -1;
        if (record->kind == QUERY && !put_row(r, record, made, other)) return -1;
    }
    return status;
}

/* Run the statement that begins at *sql; its last status, and *sql behind it. -1: decline. */
static int run_one(Run *r, const Record *record, const char **sql, I64 *rows, int *other)
{
    const Api *api = r->api;
    sqlite3_stmt *made = 0;
    const char *tail = 0, *end = record->sql + record->sql_n;
    r->looked = r->over = 0;
    r->out_n = r->starts_n = 0;
    int status = api->prepare_v2(r->db, *sql, (int)(end - *sql) + 1, &made, &tail);
    if (!status) {
        while (tail && is_space(*tail)) tail++;
        int fits = record->kind == STATEMENT
                   || (made && tail == end && api->column_count(made) == record->columns);
        fits = fits && made && !api->parameters(made); /* nobody gives a value for `?` */
        status = made && tail && fits ? all_rows(r, record, made, rows, other) : -1;
    }
    api->finalize(made);
    *sql = tail;
    return r->over || r->interrupted || (r->looked && now() > r->until) ? -1 : status;
}

/* Whether a statement could attach a database, which some may (refute/oracles/sql/sqlite.py). */
static int attaches(const Record *record)
{
    static const char *const WORDS[] = {"attach", "vacuum"};
    for (size_t i = 0; i + 6 <= record->sql_n; i++)
        for (int word = 0; word < 2; word++) {
            int at = 0;
            while (at < 6 && (record->sql[i + at] | 32) == WORDS[word][at]) at++;
            if (at == 6) return 1;
        }
    return 0;
}

static int passes(Run *r, const Record *record)
{
    const char *sql = record->sql, *end = sql + record->sql_n;
    I64 rows = 0;
    int other = 0, status;
    do status = run_one(r, record, &sql, &rows, &other);
    while (status == SQLITE_DONE && sql < end);
    if (record->kind == STATEMENT)
        return record->fails ? status > 0 && known_error(status) && !attaches(record)
                             : status == SQLITE_DONE;
    if (status != SQLITE_DONE) return 0;
    if (record->sort != NOSORT && r->starts_n > 1 && !sort_out(r)) return 0;
    if (other) {
        if (r->counts[4] == MOST_VERSIONS) return 0;
        r->versions[r->counts[4]++] = record->line;
    }
    return judge_rows(r, record, rows);
}

int slt_version(void)
{
    return 1;
}

void slt_close(Run *r)
{
    if (!r) return;
    if (r->db) r->api->close(r->db);
    free(r->text);
    free(r->records);
    free(r->out);
    free(r->sorted);
    free(r->starts);
    free(r->items);
    free(r->labels);
    free(r);
}

static int copied(Run *r, const char *data, size_t n)
{
    struct lconv *here = localeconv();
    if (!n || data[n - 1] != '\n' || strcmp(here->decimal_point, ".")) return 0;
    if (memchr(data, 0, n) || n > INT_MAX || !(r->text = malloc(n + 1))) return 0;
    char *to = r->text;
    for (const char *p = data, *end = data + n; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)(stop - p);
        if (length && stop[-1] == '\r') length--;
        memcpy(to, p, length);
        to[length] = '\n';
        to += length + 1;
        p = stop + 1;
    }
    r->text_n = (size_t)(to - r->text);
    *to = 0;
    return 1;
}

/* data: UTF-8 without a mark in front. name: lower case. Null where there is no memory. */
Run *slt_open(const Api *api, const char *data, size_t n, const char *name, double timeout_s)
{
    Run *r = calloc(1, sizeof *r);
    if (!r) return 0;
    r->api = api;
    r->timeout_s = timeout_s;
    if (!copied(r, data, n)) {
        decline(r, 1, 1);
        return r;
    }
    if (!read_records(r, name)) return r;
    if (api->open_v2(":memory:", &r->db, OPEN_READWRITE | OPEN_CREATE, 0)) {
        decline(r, 3, 1);
        return r;
    }
    return r;
}

/* The limits of refute/oracles/sql/sqlite.py; apart, so that a test can leave them out. */
void slt_limit(Run *r, int largest)
{
    if (!r->db) return;
    r->api->limit(r->db, LIMIT_ATTACHED, 0);
    r->api->limit(r->db, LIMIT_LENGTH, largest);
    r->api->progress_handler(r->db, BETWEEN_LOOKS, look, r);
}

/* Go on for about so many seconds. */
int slt_run(Run *r, double slice_s)
{
    double until = now() + slice_s;
    if (r->why) return DECLINED;
    while (r->at < r->number) {
        const Record *record = &r->records[r->at++];
        r->counts[0]++;
        if (!record->runs) {
            r->counts[2]++;
            if (!judge_skipped(r, record)) decline(r, 2, record->line);
        } else {
            r->counts[1]++;
            r->counts[3] += record->kind == QUERY && !record->expects;
            if (!passes(r, record)) decline(r, 2, record->line);
        }
        if (r->interrupted) return INTERRUPTED;
        if (r->why) return DECLINED;
        if (now() > until) return MORE;
    }
    return PASSED;
}

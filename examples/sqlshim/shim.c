/* A shim in C: SQLite's library as an engine of `refute conform`, in the protocol of its docs.

       cc -O2 -o shim examples/sqlshim/shim.c -lsqlite3
       refute conform FILES --engine "cmd:./shim" --as sqlite

   docs/engines.md describes every line that is read and written here. A request is one line of
   JSON with few keys, all of whose values are texts or numbers (`hello` has an object, which is
   skipped), so that a reader of that much is enough. Long results go in pieces, as they come. */

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECTIONS = 16, PIECE = 1 << 16 };

/* Text that grows. */
typedef struct {
    char *data;
    size_t size, room;
} Text;

static void *checked(void *pointer) {
    if (!pointer) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return pointer;
}

static void add(Text *text, const char *data, size_t size) {
    if (text->size + size + 1 > text->room) {
        text->room = 2 * (text->size + size + 1);
        text->data = checked(realloc(text->data, text->room));
    }
    memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
}

static void puts_to(Text *text, const char *data) { add(text, data, strlen(data)); }

/* Reading requests. */

typedef struct {
    long long id;
    Text execute, connection;
    int hello, executes, resets, reconnects;
} Request;

static const char *spaces(const char *at) { return at + strspn(at, " \t\r\n"); }

static void add_point(Text *text, unsigned point) {
    char bytes[4];
    int size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (size == 1) {
        bytes[0] = (char)point;
    } else {
        for (int n = size - 1; n > 0; n--, point >>= 6) bytes[n] = (char)(0x80 | (point & 0x3f));
        bytes[0] = (char)((0xf00 >> size) | point);
    }
    add(text, bytes, (size_t)size);
}

/* A text of JSON, which begins at its quotation mark; what comes after it, or NULL. */
static const char *read_text(const char *at, Text *text) {
    text->size = 0;
    add(text, "", 0);
    for (at++; *at != '"'; at++) {
        unsigned point, low;
        if (!*at) return NULL;
        if (*at != '\\') {
            add(text, at, 1);
            continue;
        }
        switch (*++at) {
            case 'n': add(text, "\n", 1); break;
            case 't': add(text, "\t", 1); break;
            case 'r': add(text, "\r", 1); break;
            case 'b': add(text, "\b", 1); break;
            case 'f': add(text, "\f", 1); break;
            case 'u':
                if (sscanf(at + 1, "%4x", &point) != 1) return NULL;
                at += 4;
                if (point >= 0xd800 && point < 0xdc00 && sscanf(at + 1, "\\u%4x", &low) == 1) {
                    point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
                    at += 6;
                }
                add_point(text, point);
                break;
            case 0: return NULL;
            default: add(text, at, 1);
        }
    }
    return at + 1;
}

/* What comes after a value that is not looked at. */
static const char *skip(const char *at) {
    Text ignored = {0};
    int depth = 0;
    do {
        if (*at == '"') {
            at = read_text(at, &ignored);
            if (!at) break;
            continue;
        }
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        if (!*at++) {
            at = NULL;
            break;
        }
    } while (depth > 0 || !strchr(",}", *at));
    free(ignored.data);
    return at;
}

static int read_request(const char *at, Request *request) {
    Text key = {0}, other = {0};
    request->hello = request->executes = request->resets = request->reconnects = 0;
    request->id = 0;
    request->connection.size = 0;
    add(&request->connection, "", 0);
    at = spaces(at);
    if (*at++ != '{') return 0;
    while (at && *(at = spaces(at)) == '"') {
        at = read_text(at, &key);
        if (!at || *(at = spaces(at)) != ':') return 0;
        at = spaces(at + 1);
        Text *into = &other;
        if (!strcmp(key.data, "execute")) into = &request->execute, request->executes = 1;
        if (!strcmp(key.data, "connection")) into = &request->connection;
        if (!strcmp(key.data, "reconnect")) into = &request->connection, request->reconnects = 1;
        if (!strcmp(key.data, "hello")) request->hello = 1;
        if (!strcmp(key.data, "reset")) request->resets = 1;
        if (!strcmp(key.data, "id")) request->id = strtoll(at, NULL, 10);
        at = *at == '"' ? read_text(at, into) : skip(at);
        if (at && *(at = spaces(at)) == ',') at++;
    }
    free(key.data);
    free(other.data);
    return at && *at == '}';
}

/* Writing answers. */

static void write_text(Text *out, const char *data, int size) {
    add(out, "\"", 1);
    for (int n = 0; n < size; n++) {
        unsigned char byte = (unsigned char)data[n];
        char escape[8];
        if (byte == '"' || byte == '\\' || byte < 0x20) {
            snprintf(escape, sizeof escape, "\\u%04x", byte);
            puts_to(out, escape);
        } else {
            add(out, data + n, 1);
        }
    }
    add(out, "\"", 1);
}

static void write_base64(Text *out, const unsigned char *data, int size) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int n = 0; n < size; n += 3) {
        int left = size - n;
        unsigned bits = (unsigned)data[n] << 16 | (left > 1 ? data[n + 1] << 8 : 0) |
                        (left > 2 ? data[n + 2] : 0);
        char four[4] = {letters[bits >> 18], letters[bits >> 12 & 63],
                        left > 1 ? letters[bits >> 6 & 63] : '=', left > 2 ? letters[bits & 63] : '='};
        add(out, four, 4);
    }
}

static int is_utf8(const unsigned char *data, int size) {
    for (int n = 0; n < size;) {
        unsigned char first = data[n++];
        int more = first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2
                   : first < 0xf5 ? 3 : -1;
        if (more < 0 || n + more > size) return 0;
        if (more && ((first == 0xe0 && data[n] < 0xa0) || (first == 0xed && data[n] > 0x9f) ||
                     (first == 0xf0 && data[n] < 0x90) || (first == 0xf4 && data[n] > 0x8f)))
            return 0;
        for (; more > 0; more--)
            if ((data[n++] & 0xc0) != 0x80) return 0;
    }
    return 1;
}

static void write_value(Text *out, sqlite3_stmt *row, int column) {
    char number[40];
    const void *data;
    int size, type = sqlite3_column_type(row, column);
    double real;
    switch (type) {
        case SQLITE_NULL: puts_to(out, "null"); return;
        case SQLITE_INTEGER:
            snprintf(number, sizeof number, "%lld", (long long)sqlite3_column_int64(row, column));
            puts_to(out, number);
            return;
        case SQLITE_FLOAT:
            real = sqlite3_column_double(row, column);
            snprintf(number, sizeof number, "%.17g", real);
            if (real - real != 0) { /* JSON has no infinity */
                puts_to(out, real > 0 ? "{\"real\":\"Infinity\"}" : "{\"real\":\"-Infinity\"}");
                return;
            }
            puts_to(out, number);
            if (!strpbrk(number, ".e")) puts_to(out, ".0");
            return;
    }
    data = type == SQLITE_BLOB ? sqlite3_column_blob(row, column)
                               : (const void *)sqlite3_column_text(row, column);
    size = sqlite3_column_bytes(row, column);
    if (type == SQLITE_TEXT && is_utf8(data, size)) {
        write_text(out, data, size);
        return;
    }
    puts_to(out, type == SQLITE_BLOB ? "{\"blob\":\"" : "{\"text\":\"");
    write_base64(out, data, size);
    puts_to(out, "\"}");
}

static void begin(Text *out, long long id) {
    char number[40];
    out->size = 0;
    snprintf(number, sizeof number, "{\"id\":%lld", id);
    puts_to(out, number);
}

static void end(Text *out) {
    puts_to(out, "}\n");
    fwrite(out->data, 1, out->size, stdout);
    fflush(stdout);
}

static void write_error(Text *out, const char *message) {
    puts_to(out, ",\"error\":{\"message\":");
    write_text(out, message, (int)strlen(message));
    puts_to(out, "}");
}

/* The engine: connections by name to one database, which is a file without a name or in memory. */

typedef struct {
    char *name;
    sqlite3 *database;
} Connection;

static Connection connections[CONNECTIONS];
static char where[80];
static int resets;

static void close_connection(Connection *connection) {
    if (connection->name) {
        sqlite3_close_v2(connection->database);
        free(connection->name);
        connection->name = NULL;
    }
}

static void close_named(const char *name) {
    for (int n = 0; n < CONNECTIONS; n++)
        if (connections[n].name && !strcmp(connections[n].name, name))
            close_connection(&connections[n]);
}

static sqlite3 *connection_of(const char *name, const char **problem) {
    Connection *empty = NULL;
    for (int n = 0; n < CONNECTIONS; n++) {
        if (connections[n].name && !strcmp(connections[n].name, name))
            return connections[n].database;
        if (!connections[n].name && !empty) empty = &connections[n];
    }
    if (!empty) {
        *problem = "too many connections";
        return NULL;
    }
    empty->name = checked(strdup(name));
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
    if (sqlite3_open_v2(where, &empty->database, flags, NULL) != SQLITE_OK) {
        *problem = "the database cannot be opened";
        close_connection(empty);
        return NULL;
    }
    return empty->database;
}

static void reset(void) {
    for (int n = 0; n < CONNECTIONS; n++) close_connection(&connections[n]);
    snprintf(where, sizeof where, "file:/shim%d?vfs=memdb", ++resets);
}

/* Rows of a statement; whether it ran to its end. */
static int write_rows(Text *out, long long id, sqlite3_stmt *statement) {
    int columns = sqlite3_column_count(statement), code, first = 1;
    puts_to(out, ",\"columns\":[");
    for (int n = 0; n < columns; n++) {
        const char *name = sqlite3_column_name(statement, n);
        if (n) puts_to(out, ",");
        write_text(out, name, (int)strlen(name));
    }
    puts_to(out, "],\"rows\":[");
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (out->size > PIECE) { /* so far; more is to come */
            puts_to(out, "],\"more\":true");
            end(out);
            begin(out, id);
            puts_to(out, ",\"rows\":[");
            first = 1;
        }
        puts_to(out, first ? "[" : ",[");
        first = 0;
        for (int n = 0; n < columns; n++) {
            if (n) puts_to(out, ",");
            write_value(out, statement, n);
        }
        puts_to(out, "]");
    }
    puts_to(out, "]");
    return code == SQLITE_DONE;
}

/* The count of changes stays as it was when a statement is no INSERT, UPDATE or DELETE. */
static void write_affected(Text *out, sqlite3 *database, int before) {
    char number[40];
    int changes = sqlite3_total_changes(database) == before ? 0 : sqlite3_changes(database);
    snprintf(number, sizeof number, ",\"affected\":%d", changes);
    puts_to(out, number);
}

/* Runs all statements of a text; the rows of the last one are the answer. */
static void execute(Text *out, const Request *request) {
    const char *problem = NULL, *left = request->execute.data;
    sqlite3 *database = connection_of(request->connection.data, &problem);
    int done = database != NULL;
    begin(out, request->id);
    while (done) {
        sqlite3_stmt *statement;
        done = sqlite3_prepare_v2(database, left, -1, &statement, &left) == SQLITE_OK;
        if (!done || !statement) break; /* an error, or nothing but white space and comments */
        begin(out, request->id);
        if (sqlite3_column_count(statement)) {
            done = write_rows(out, request->id, statement);
        } else {
            int before = sqlite3_total_changes(database);
            done = sqlite3_step(statement) == SQLITE_DONE;
            if (done) write_affected(out, database, before);
        }
        if (!done) problem = sqlite3_errmsg(database);
        if (!done) begin(out, request->id), write_error(out, problem);
        sqlite3_finalize(statement);
        if (!done) break;
    }
    if (!done && !problem) begin(out, request->id), write_error(out, sqlite3_errmsg(database));
    if (!database) write_error(out, problem);
    end(out);
}

int main(void) {
    Text line = {0}, out = {0};
    Request request = {0};
    char piece[4096];
    reset();
    while (fgets(piece, sizeof piece, stdin)) {
        puts_to(&line, piece);
        if (line.data[line.size - 1] != '\n') continue;
        if (!read_request(line.data, &request)) {
            fputs("a request that is no line of the protocol\n", stderr);
            return 1;
        }
        line.size = 0;
        if (request.executes) {
            execute(&out, &request);
            continue;
        }
        begin(&out, request.id);
        if (request.hello) {
            puts_to(&out, ",\"name\":\"SQLite\",\"version\":\"" SQLITE_VERSION
                          "\",\"can\":[\"connections\",\"reset\"]");
        } else if (request.resets) {
            reset();
        } else if (request.reconnects) {
            close_named(request.connection.data);
        } else {
            write_error(&out, "this shim cannot do that");
        }
        end(&out);
    }
    return 0;
}

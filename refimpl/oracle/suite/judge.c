/* Judges answers to a suite, by the rule of RULE.md:  cc -std=c99 -O2 judge.c -o judge -lm; ./judge SUITE ANSWERS.jsonl
   The exit code is 0 if no case fails, 1 if one fails, 2 if a file is not what it should be. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 64

static void stop(const char *form, ...)
{
    va_list rest;
    va_start(rest, form);
    fputs("judge: ", stderr);
    vfprintf(stderr, form, rest);
    fputc('\n', stderr);
    exit(2);
}

/* --- memory: everything of one line is given back at once --------------------------------------- */

typedef struct Block { struct Block *next; } Block;
static Block *blocks;

static void *take(size_t size)
{
    Block *block = malloc(sizeof(Block) + size);
    if (!block) stop("out of memory");
    block->next = blocks;
    blocks = block;
    return block + 1;
}

static void give_back(void)
{
    while (blocks) { Block *next = blocks->next; free(blocks); blocks = next; }
}

/* --- JSON ---------------------------------------------------------------------------------------- */

typedef enum { NONE, NUMBER, TEXT, LIST, OBJECT } Kind;
typedef struct Value {
    Kind kind;           /* NONE: null, true or false */
    double number;
    char *text;          /* of a TEXT */
    char *name;          /* of a field of an OBJECT */
    struct Value *first, *next;
    size_t count;
} Value;
typedef struct { const char *at, *where; int depth; } Reader;

static void no_json(const Reader *r) { stop("%s: no JSON at \"%.20s\"", r->where, r->at); }
static void skip(Reader *r) { while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r') r->at++; }
static int sees(Reader *r, char wanted) { skip(r); if (*r->at != wanted) return 0; r->at++; return 1; }

static unsigned hex4(Reader *r)
{
    unsigned code = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        const char *digits = "0123456789abcdef";
        char low = (*r->at >= 'A' && *r->at <= 'F') ? (char)(*r->at + 32) : *r->at;
        const char *digit = low ? strchr(digits, low) : NULL;
        if (!digit) no_json(r);
        code = code * 16 + (unsigned)(digit - digits);
    }
    return code;
}

static char *put(char *out, unsigned code)
{
    if (code < 0x80) { *out++ = (char)code; return out; }
    if (code < 0x800) *out++ = (char)(0xC0 | code >> 6);
    else {
        if (code < 0x10000) *out++ = (char)(0xE0 | code >> 12);
        else { *out++ = (char)(0xF0 | code >> 18); *out++ = (char)(0x80 | (code >> 12 & 63)); }
        *out++ = (char)(0x80 | (code >> 6 & 63));
    }
    *out++ = (char)(0x80 | (code & 63));
    return out;
}

static char *text_of(Reader *r)
{
    const char *end = r->at;
    while (*end && *end != '"' && *end != '\n') end += *end == '\\' && end[1] ? 2 : 1;
    if (*end != '"') no_json(r);
    char *text = take((size_t)(end - r->at) + 1), *out = text;
    while (r->at < end) {
        if (*r->at != '\\') { *out++ = *r->at++; continue; }
        r->at++;
        const char *known = "\"\\/bfnrt", *stand = "\"\\/\b\f\n\r\t", *which = strchr(known, *r->at);
        if (which) { *out++ = stand[which - known]; r->at++; continue; }
        if (*r->at++ != 'u') no_json(r);
        unsigned code = hex4(r);
        if (code >= 0xD800 && code < 0xDC00 && r->at[0] == '\\' && r->at[1] == 'u') {
            r->at += 2;
            code = 0x10000 + ((code - 0xD800) << 10) + (hex4(r) - 0xDC00);
        }
        out = put(out, code);
    }
    *out = 0;
    r->at = end + 1;
    return text;
}

static Value *read_value(Reader *r)
{
    Value *value = take(sizeof *value), **last = &value->first;
    memset(value, 0, sizeof *value);
    if (++r->depth > DEEPEST) stop("%s: nested more than %d deep", r->where, DEEPEST);
    skip(r);
    if (*r->at == '{' || *r->at == '[') {
        char close = *r->at++ == '{' ? '}' : ']';
        value->kind = close == '}' ? OBJECT : LIST;
        while (!sees(r, close)) {
            char *name = NULL;
            if (value->count && !sees(r, ',')) no_json(r);
            if (value->kind == OBJECT) {
                if (!sees(r, '"')) no_json(r);
                name = text_of(r);
                if (!sees(r, ':')) no_json(r);
            }
            *last = read_value(r);
            (*last)->name = name;
            last = &(*last)->next;
            value->count++;
        }
    } else if (sees(r, '"')) {
        value->kind = TEXT;
        value->text = text_of(r);
    } else if (*r->at == '-' || (*r->at >= '0' && *r->at <= '9')) {
        size_t length = strspn(r->at, "-+0123456789.eE");
        char *end;
        value->kind = NUMBER;
        value->number = strtod(r->at, &end);
        if (end != r->at + length) no_json(r);
        r->at = end;
    } else {
        size_t length = !strncmp(r->at, "null", 4) || !strncmp(r->at, "true", 4) ? 4 : !strncmp(r->at, "false", 5) ? 5 : 0;
        if (!length) no_json(r);
        r->at += length;
    }
    r->depth--;
    return value;
}

static Value *read_line(const char *line, const char *where)
{
    Reader r = { line, where, 0 };
    Value *value = read_value(&r);
    skip(&r);
    if (*r.at && *r.at != '\n') no_json(&r);
    if (value->kind != OBJECT) stop("%s: not an object", where);
    return value;
}

static Value *field(const Value *object, const char *name)
{
    Value *found = NULL;
    if (object && object->kind == OBJECT)
        for (Value *each = object->first; each; each = each->next) if (!strcmp(each->name, name)) found = each;
    return found;
}

static int is_text(const Value *value, const char *text) { return value && value->kind == TEXT && !strcmp(value->text, text); }

/* --- the rule ------------------------------------------------------------------------------------ */

/* A number or one of the words; 0 where it is neither. */
static int number_of(const Value *value, double *out)
{
    if (value->kind == NUMBER) *out = value->number;
    else if (is_text(value, "nan")) *out = NAN;
    else if (is_text(value, "inf")) *out = INFINITY;
    else if (is_text(value, "-inf")) *out = -INFINITY;
    else return 0;
    return 1;
}

static double rounded(double x, const char *dtype)
{
    if (!strcmp(dtype, "float32")) return (double)(float)x;
    if (strcmp(dtype, "float16") || !isfinite(x) || x == 0) return x;
    int exponent;
    frexp(x, &exponent);
    double step = ldexp(1, (exponent - 1 > -14 ? exponent - 1 : -14) - 10), near = nearbyint(x / step) * step;
    return fabs(near) > 65504 ? copysign(INFINITY, x) : near;
}

/* Prints what is wrong with an array of an answer; 0 where nothing is. */
static int differs(const char *id, const char *name, const Value *wanted, const Value *got)
{
    const Value *shape = field(wanted, "shape"), *bounds = field(wanted, "bound");
    const char *dtype = field(wanted, "dtype")->text;
    size_t size = 1, i = 0;
    if (!got || got->kind == NONE) return printf("failed %s: %s is not in the trace\n", id, name);
    const Value *own = field(got, "shape"), *list = field(got, "elements");
    int same = own && own->kind == LIST && own->count == shape->count;
    const Value *b = same ? own->first : NULL;
    for (const Value *a = shape->first; a; a = a->next, b = b ? b->next : NULL) {
        same = same && b->kind == NUMBER && a->number == b->number;
        size *= (size_t)a->number;
    }
    if (!same) return printf("failed %s: %s has another shape\n", id, name);
    if (!is_text(field(got, "dtype"), dtype)) return printf("failed %s: %s has not the type %s\n", id, name, dtype);
    if (!list || list->kind != LIST || list->count != size) return printf("failed %s: %s has other elements\n", id, name);
    const Value *right = bounds->kind == TEXT ? NULL : field(wanted, "elements")->first;
    const Value *bound = bounds->kind == LIST ? bounds->first : bounds;
    for (const Value *each = list->first; each; each = each->next, i++) {
        double value, expected;
        if (!number_of(each, &value)) return printf("failed %s: %s[%zu] is no number\n", id, name, i);
        if (!right) continue;
        number_of(right, &expected);
        value = rounded(value, dtype);
        if (bound->kind == NUMBER && value != rounded(expected, dtype) && !(isnan(value) && isnan(expected))
            && !(fabs(value - expected) <= bound->number))
            return printf("failed %s: %s[%zu] is %.9g, expected %.9g within %g\n", id, name, i, value, expected, bound->number);
        right = right->next;
        if (bounds->kind == LIST) bound = bound->next;
    }
    return 0;
}

/* --- files --------------------------------------------------------------------------------------- */

static char *whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) stop("%s cannot be read", path);
    long size = ftell(file);
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    rewind(file);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) stop("%s cannot be read", path);
    text[size] = 0;
    fclose(file);
    return text;
}

/* The next line that is not empty, from *at on. */
static const char *next_line(const char **at)
{
    while (**at == '\n' || **at == '\r' || **at == ' ') ++*at;
    const char *line = **at ? *at : NULL;
    const char *end = line ? strchr(line, '\n') : NULL;
    *at = end ? end + 1 : *at + strlen(*at);
    return line;
}

typedef struct { char *id; const char *line; int met; } Answer;
static int by_id(const void *a, const void *b) { return strcmp(((const Answer *)a)->id, ((const Answer *)b)->id); }

static Answer *answers_in(const char *path, size_t *count)
{
    size_t room = 1024;
    Answer *found = malloc(room * sizeof *found);
    const char *at = whole(path);
    for (const char *line; (line = next_line(&at));) {
        Value *answer = read_line(line, path), *id = field(answer, "case");
        if (!id || id->kind != TEXT) stop("%s: an answer has no case", path);
        int forms = !!field(answer, "trace") + !!field(answer, "refused") + !!field(answer, "unsupported");
        if (forms != 1) stop("%s: the answer to %s has one of trace, refused and unsupported", path, id->text);
        if (*count == room) found = realloc(found, (room *= 2) * sizeof *found);
        if (!found) stop("out of memory");
        found[*count].id = strcpy(malloc(strlen(id->text) + 1), id->text);
        found[*count].met = 0;
        found[(*count)++].line = line;
        give_back();
    }
    if (!*count) stop("%s: no case is answered", path);
    qsort(found, *count, sizeof *found, by_id);
    for (size_t i = 1; i < *count; i++)
        if (!strcmp(found[i - 1].id, found[i].id)) stop("%s: case %s is answered twice", path, found[i].id);
    return found;
}

static int fails(const Value *wanted, const Value *answer)
{
    const char *id = field(wanted, "case")->text;
    const Value *trace = field(answer, "trace");
    if (!trace) return printf("failed %s: refused\n", id);
    if (trace->kind != OBJECT) return printf("failed %s: the trace is no object\n", id);
    for (const Value *array = field(wanted, "trace")->first; array; array = array->next)
        if (differs(id, array->name, array, field(trace, array->name))) return 1;
    return 0;
}

int main(int count, char **words)
{
    char path[4096];
    size_t answered = 0, cases = 0, passed = 0, failed = 0, unsupported = 0, missing = 0;
    if (count != 3) stop("write: judge SUITE ANSWERS.jsonl");
    Answer *answers = answers_in(words[2], &answered);
    snprintf(path, sizeof path, "%s/manifest.json", words[1]);
    char *manifest = whole(path);
    for (char *c = manifest; *c; c++) if (*c == '\n') *c = ' ';  /* one line */
    Value *files = field(read_line(manifest, path), "files");
    if (!files) stop("%s is no manifest", path);
    blocks = NULL;  /* kept to the end */
    for (Value *part = files->first; part; part = part->next) {
        snprintf(path, sizeof path, "%s/%s", words[1], field(part, "file")->text);
        char *text = whole(path);
        const char *at = text;
        for (const char *line; (line = next_line(&at)); cases++) {
            Value *wanted = read_line(line, path);
            Answer key = { field(wanted, "case")->text, NULL, 0 };
            Answer *found = bsearch(&key, answers, answered, sizeof key, by_id);
            Value *answer = found ? read_line(found->line, words[2]) : NULL;
            if (found) found->met = 1;
            if (!answer) missing++;
            else if (field(answer, "unsupported")) unsupported++;
            else if (fails(wanted, answer)) failed++;
            else passed++;
            give_back();
        }
        free(text);
    }
    for (size_t i = 0; i < answered; i++) if (!answers[i].met) stop("the suite has no case %s", answers[i].id);
    printf("%zu cases: %zu passed, %zu failed, %zu unsupported, %zu missing\n", cases, passed, failed, unsupported, missing);
    return failed ? 1 : 0;
}

/* A backend of `refimpl oracle` in C99, of level 2: seven operators, their gradients, and the steps of an executor.

       cc -O2 -std=c99 backend.c -lm -o backend
       refimpl oracle check "command:./backend"

   It talks to the oracle through standard input and output, and needs a little-endian machine. */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = 12 };

/* --- memory: all that is taken for a request is given back after its last answer ---------------------------------- */

typedef struct Block { struct Block *next; double content[]; } Block;
static Block *blocks;

static void *take(size_t bytes) { /* filled with zeros */
    Block *block = calloc(1, sizeof(Block) + bytes);
    if (!block) exit(1);
    block->next = blocks;
    blocks = block;
    return block->content;
}

static void give_back(void) {
    while (blocks) {
        Block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

/* --- JSON: lists, objects (lists whose elements have keys), texts, and numbers (true is 1, false and null are 0) --- */

typedef struct Value { double number; char *text, *key; struct Value *first, *next; } Value;
static const char *at; /* the next character */

static char *read_text(void) {
    const char *stop = at + 1;
    while (*stop && *stop != '"') stop += *stop == '\\' ? 2 : 1;
    char *text = take((size_t)(stop - at)), *end = text;
    for (at++; at < stop; at++) {
        if (*at != '\\') {
            *end++ = *at;
        } else if (*++at == 'u') { /* as UTF-8 */
            unsigned letter = 0;
            sscanf(at + 1, "%4x", &letter);
            at += 4;
            if (letter >= 2048) *end++ = (char)(224 | letter >> 12);
            if (letter >= 128) *end++ = (char)(letter >= 2048 ? 128 | (letter >> 6 & 63) : 192 | letter >> 6);
            *end++ = (char)(letter >= 128 ? 128 | (letter & 63) : letter);
        } else {
            const char *special = strchr("b\bf\fn\nr\rt\t", *at);
            *end++ = special ? special[1] : *at;
        }
    }
    at = stop + 1;
    return text;
}

static void skip(void) { while (*at && strchr(" \t\r\n,:", *at)) at++; }

static Value *read_value(void) {
    Value *value = take(sizeof(Value)), **end = &value->first;
    skip();
    if (*at == '{' || *at == '[') {
        char closing = *at++ == '{' ? '}' : ']';
        for (skip(); *at != closing; skip()) {
            char *key = closing == '}' ? read_text() : NULL;
            *end = read_value();
            (*end)->key = key;
            end = &(*end)->next;
        }
        at++;
    } else if (*at == '"') {
        value->text = read_text();
    } else if (strchr("tfn", *at)) {
        value->number = *at == 't';
        at += strcspn(at, ",]} \t\r\n");
    } else {
        char *end_of_number;
        value->number = strtod(at, &end_of_number);
        at = end_of_number;
    }
    return value;
}

static Value *get(const Value *object, const char *key) {
    for (Value *field = object ? object->first : NULL; field; field = field->next)
        if (!strcmp(field->key, key)) return field;
    return NULL;
}

#define EACH(name, list) Value *name = (list) ? (list)->first : NULL; name; name = name->next

/* --- arrays: a shape, and float32 elements in C order ------------------------------------------------------------- */

typedef struct { int rank; long shape[RANK], size; float *data; } Array;

static Array array(int rank, const long *shape) {
    Array made = { rank, { 0 }, 1, NULL };
    for (int axis = 0; axis < rank; axis++) made.size *= made.shape[axis] = shape[axis];
    made.data = take((size_t)made.size * sizeof(float));
    return made;
}

static void add(Array to, Array x) { for (long i = 0; i < to.size; i++) to.data[i] += x.data[i]; }

static long side(Array x, int back) { return back <= x.rank ? x.shape[x.rank - back] : 1; } /* counted from the end */

static long source(Array x, Array out, long i) { /* which element of x is broadcast to element i of out */
    long place = 0, step = 1;
    for (int back = 1; back <= x.rank; back++) {
        if (side(x, back) > 1) place += i % side(out, back) * step;
        i /= side(out, back);
        step *= side(x, back);
    }
    return place;
}

/* --- a program that this backend cannot run ends with a jump ------------------------------------------------------ */

static jmp_buf unsupported;
static char reason[300];

static void lack(const char *what, const char *name) {
    snprintf(reason, sizeof reason, "%s %s", what, name);
    longjmp(unsupported, 1);
}

/* --- operators: forward makes an output; backward adds to the slopes of inputs ------------------------------------ */

typedef struct Node {
    const char *op, *name;
    const Value *attrs;
    int count;
    struct Node *inputs[3];
    Array out, slope;                         /* of the last passes */
    Array value, gradient; const char *requirement; /* of a variable */
} Node;

static int is(const Node *node, const char *op) { return !strcmp(node->op, op); }

static int flattens(const Node *node) { /* attributes are texts, as a symbol file of MXNet has them */
    const Value *flatten = get(node->attrs, "flatten");
    return !flatten || !strcmp(flatten->text, "True") || !strcmp(flatten->text, "true") || !strcmp(flatten->text, "1");
}

static Array output_of(const Node *node) { /* its shape, with zeros */
    Array x = node->inputs[0]->out, y = node->count > 1 ? node->inputs[1]->out : x, longer = x.rank > y.rank ? x : y;
    long shape[RANK];
    if (is(node, "FullyConnected")) {
        int rank = flattens(node) ? 2 : x.rank;
        memcpy(shape, x.shape, sizeof shape);
        shape[rank - 1] = y.shape[0];
        return array(rank, shape);
    }
    for (int axis = 0; axis < longer.rank; axis++) {
        long a = side(x, longer.rank - axis), b = side(y, longer.rank - axis);
        shape[axis] = a > b ? a : b;
    }
    return array(longer.rank, shape);
}

static void forward(Node *node) {
    Array x = node->inputs[0]->out, y = node->count > 1 ? node->inputs[1]->out : x;
    Array out = node->out = output_of(node);
    if (is(node, "FullyConnected")) {
        long m = y.shape[0], k = y.shape[1], n = x.size / k;
        for (long i = 0; i < n; i++)
            for (long j = 0; j < m; j++) {
                double sum = node->count > 2 ? node->inputs[2]->out.data[j] : 0;
                for (long c = 0; c < k; c++) sum += (double)x.data[i * k + c] * y.data[j * k + c];
                out.data[i * m + j] = (float)sum;
            }
        return;
    }
    for (long i = 0; i < out.size; i++) {
        float a = x.data[source(x, out, i)], b = y.data[source(y, out, i)];
        out.data[i] = is(node, "relu") ? (a <= 0 ? 0 : a)
            : is(node, "exp") ? expf(a)
            : is(node, "tanh") ? tanhf(a)
            : is(node, "elemwise_mul") ? a * b
            : a + b; /* elemwise_add, broadcast_add */
    }
}

static void backward(Node *node) {
    Node **in = node->inputs;
    Array g = node->slope, out = node->out, x = in[0]->out, y = node->count > 1 ? in[1]->out : x;
    if (is(node, "FullyConnected")) {
        long m = y.shape[0], k = y.shape[1], n = x.size / k;
        Array d_x = array(x.rank, x.shape), d_y = array(y.rank, y.shape);
        for (long i = 0; i < n; i++)
            for (long j = 0; j < m; j++) {
                for (long c = 0; c < k; c++) {
                    d_x.data[i * k + c] += g.data[i * m + j] * y.data[j * k + c];
                    d_y.data[j * k + c] += g.data[i * m + j] * x.data[i * k + c];
                }
            }
        add(in[0]->slope, d_x);
        add(in[1]->slope, d_y);
        if (node->count > 2) {
            Array d_bias = array(1, &m);
            for (long i = 0; i < g.size; i++) d_bias.data[i % m] += g.data[i];
            add(in[2]->slope, d_bias);
        }
        return;
    }
    Array d_x = array(x.rank, x.shape), d_y = array(y.rank, y.shape);
    for (long i = 0; i < out.size; i++) {
        float *to_x = &d_x.data[source(x, out, i)], *to_y = &d_y.data[source(y, out, i)], value = out.data[i];
        if (is(node, "relu")) *to_x = g.data[i] * (value > 0 ? 1 : value); /* value is 0 or NaN there */
        else if (is(node, "exp")) *to_x = g.data[i] * value;
        else if (is(node, "tanh")) *to_x = g.data[i] * (1 - value * value);
        else if (is(node, "elemwise_mul")) *to_x = g.data[i] * y.data[i], *to_y = g.data[i] * x.data[i];
        else *to_x += g.data[i], *to_y += g.data[i];
    }
    add(in[0]->slope, d_x);
    if (node->count > 1) add(in[1]->slope, d_y);
}

/* --- programs: steps, and the trace, a list of the arrays that they record ---------------------------------------- */

static const char *OPERATORS[] = { "relu", "exp", "tanh", "elemwise_add", "elemwise_mul", "broadcast_add",
                                   "FullyConnected", NULL };

typedef struct Record { char *name; Array array; struct Record *next; } Record;
static Record *trace, **end_of_trace;
static Array *arrays; /* those of the request */

static void record(int step, const char *what, const char *name, Array array) {
    Record *record = *end_of_trace = take(sizeof(Record));
    record->name = take(strlen(what) + strlen(name) + 20);
    sprintf(record->name, "%d/%s%s", step, what, name);
    record->array = array;
    end_of_trace = &record->next;
}

static Array referred(const Value *spec) { return arrays[(int)get(spec, "array")->number]; }

static void run(const Value *program) {
    int count = 0, passed = 0, step_number = 0;
    for (EACH(node, get(program, "nodes"))) count++;
    Node *nodes = take((size_t)count * sizeof(Node)), *node = nodes;
    const Value *heads = get(program, "heads");
    for (EACH(said, get(program, "nodes")), node++) {
        node->op = get(said, "op")->text;
        node->name = get(said, "name")->text;
        node->attrs = get(said, "attrs");
        node->requirement = "null";
        for (EACH(input, get(said, "inputs"))) node->inputs[node->count++] = &nodes[(int)input->first->number];
        if (is(node, "null")) { node->value = referred(get(get(program, "arrays"), node->name)); continue; }
        const char **known = OPERATORS;
        while (*known && strcmp(*known, node->op)) known++;
        if (!*known) lack("operator", node->op);
    }
    for (EACH(step, get(program, "steps")), step_number++) {
        const char *verb = get(step, "do")->text;
        if (!strcmp(verb, "bind")) {
            for (node = nodes; node < nodes + count; node++) {
                const Value *requirement = get(get(step, "requirements"), node->name);
                const Value *old = get(get(step, "gradients"), node->name);
                if (!is(node, "null") || !requirement) continue;
                node->requirement = requirement->text;
                node->gradient = old ? referred(old) : array(node->value.rank, node->value.shape);
                for (long i = 0; !old && i < node->gradient.size; i++) node->gradient.data[i] = NAN;
            }
        } else if (!strcmp(verb, "share")) {
            passed = 0;
        } else if (!strcmp(verb, "reshape") || !strcmp(verb, "forward")) {
            int reshapes = !strcmp(verb, "reshape");
            for (node = nodes; node < nodes + count; node++) {
                const Value *other = get(get(step, "arrays"), node->name);
                if (!is(node, "null") || !other) continue;
                node->value = referred(other);
                if (reshapes) node->gradient = array(node->value.rank, node->value.shape);
            }
            passed = !reshapes;
            for (node = nodes; passed && node < nodes + count; node++) {
                if (is(node, "null")) node->out = node->value;
                else forward(node);
            }
        } else if (!strcmp(verb, "backward")) {
            const Value *given = get(step, "heads");
            if (!passed || !given) lack("a backward pass without", passed ? "gradients of the outputs" : "a forward pass");
            for (node = nodes; node < nodes + count; node++) node->slope = array(node->out.rank, node->out.shape);
            given = given->first;
            for (EACH(head, heads), given = given->next) add(nodes[(int)head->first->number].slope, referred(given));
            for (node = nodes + count - 1; node >= nodes; node--) if (!is(node, "null")) backward(node);
            for (node = nodes; node < nodes + count; node++) {
                if (!strcmp(node->requirement, "null")) continue;
                if (!strcmp(node->requirement, "add")) add(node->slope, node->gradient);
                node->gradient = node->slope;
                record(step_number, "gradient:", node->name, node->gradient);
            }
        } else if (!strcmp(verb, "read")) {
            for (node = nodes; node < nodes + count; node++)
                if (is(node, "null")) record(step_number, "argument:", node->name, node->value);
        } else if (strcmp(verb, "outputs")) {
            lack("step", verb);
        }
        if (!strcmp(verb, "forward") || !strcmp(verb, "outputs")) {
            int number = 0;
            for (EACH(head, heads)) {
                char name[20];
                sprintf(name, "%d", number++);
                record(step_number, "output", name, nodes[(int)head->first->number].out);
            }
        }
    }
}

/* --- messages ------------------------------------------------------------------------------------------------------ */

static void send(const char *fields) { /* fields of the text, and the trace */
    size_t room = strlen(fields) + 40;
    uint64_t length, size;
    for (Record *each = trace; each; each = each->next) room += 6 * strlen(each->name) + 20 * RANK + 40;
    char *text = take(room), *end = text + sprintf(text, "{%s\"arrays\": [", fields);
    for (Record *each = trace; each; each = each->next) {
        end += sprintf(end, "%s[\"", each == trace ? "" : ", ");
        for (const char *letter = each->name; *letter; letter++) {
            if ((unsigned char)*letter < 32) end += sprintf(end, "\\u%04x", *letter);
            else end += sprintf(end, strchr("\"\\", *letter) ? "\\%c" : "%c", *letter);
        }
        end += sprintf(end, "\", \"float32\", [");
        for (int axis = 0; axis < each->array.rank; axis++)
            end += sprintf(end, axis ? ", %ld" : "%ld", each->array.shape[axis]);
        end += sprintf(end, "]]");
    }
    end += sprintf(end, "]}");
    size = (uint64_t)(end - text);
    length = 8 + size;
    for (Record *each = trace; each; each = each->next) length += 4 * (uint64_t)each->array.size;
    fwrite(&length, 8, 1, stdout);
    fwrite(&size, 8, 1, stdout);
    fwrite(text, 1, size, stdout);
    for (Record *each = trace; each; each = each->next) fwrite(each->array.data, 4, (size_t)each->array.size, stdout);
    fflush(stdout);
}

static void answer(const Value *program) {
    trace = NULL;
    end_of_trace = &trace;
    if (!setjmp(unsupported)) {
        run(program);
        send("");
    } else {
        char fields[400];
        snprintf(fields, sizeof fields, "\"error\": \"unsupported\", \"text\": \"%s\", ", reason);
        trace = NULL;
        send(fields);
    }
}

int main(void) {
    uint64_t length, size;
    send("\"protocol\": 1, \"version\": \"a backend in C\", \"inline\": true, \"capabilities\": {\"level\": 2, \"operators\": "
         "[\"relu\", \"exp\", \"tanh\", \"elemwise_add\", \"elemwise_mul\", \"broadcast_add\", \"FullyConnected\"]}, ");
    while (fread(&length, 8, 1, stdin) == 1) {
        char *message = take(length + 1);
        if (fread(message, 1, length, stdin) != length) return 0;
        memcpy(&size, message, 8);
        const char *elements = message + 8 + size;
        char *text = take(size + 1);
        at = memcpy(text, message + 8, size);
        const Value *request = read_value();
        int count = 0;
        for (EACH(each, get(request, "arrays"))) count++;
        arrays = take((size_t)count * sizeof(Array));
        count = 0;
        for (EACH(each, get(request, "arrays"))) { /* a name, a type, which is float32, and a shape */
            long shape[RANK];
            int rank = 0;
            for (EACH(number, each->first->next->next)) shape[rank++] = (long)number->number;
            Array made = arrays[count++] = array(rank, shape);
            memcpy(made.data, elements, 4 * (size_t)made.size);
            elements += 4 * made.size;
        }
        for (EACH(program, get(request, "programs"))) answer(program);
        give_back();
    }
    return 0;
}

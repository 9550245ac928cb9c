/* SPDX-License-Identifier: MIT */
/* Writes and reads a kernel's description as one word of a command line: see description.h. The fields are separated by
 * slashes. kernel_table_text() and description_text() show their order. In a text field, blanks, slashes, percent signs
 * and control characters are written as %XX. */
#include "common/config/description.h"

#include "common/config/params.h"
#include "common/util/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Raise DESCRIPTION_VERSION if the fields of a description change, and TABLE_VERSION if those of a table change. */
#define DESCRIPTION_VERSION  1
#define TABLE_VERSION        1
#define DESCRIPTION_TEXT_MAX 65536

enum {
    KERNEL_RUNS = 1,
    KERNEL_RUNS_VARIABLE = 2,
    KERNEL_RUNS_BLOCKS = 4,
    KERNEL_STEPS = 8,
    KERNEL_WAITS = 16,
    KERNEL_GROWS = 32,
    KERNEL_TELLS_INPUTS = 64,
    KERNEL_TELLS_PRECEDENCE = 128
};
enum { TABLE_CHECKS = 1, TABLE_HAS_MANNER = 2 };
enum { LOOP_WAITS = 1, LOOP_IS_BILEVEL = 2, LOOP_HAS_EFFECTS = 4, LOOP_ARE_TASKS = 8, LOOP_GROWS = 16 };

static void put_number(struct text *text, uint64_t number)
{
    text_add(text, "/%" PRIu64, number);
}

static void put_text(struct text *text, const char *value)
{
    text_add(text, "/");
    for (const char *c = value; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        bool plain = byte > ' ' && byte != 0x7f && byte != '/' && byte != '%';
        text_add(text, plain ? "%c" : "%%%02x", byte);
    }
}

/* A loop with variable output has no records of fixed size, so these fields are written as zero. */
static void put_records(struct text *text, const struct hdss_loop *loop)
{
    static const struct hdss_loop none;
    if (loop->streams > 0)
        loop = &none;
    put_number(text, loop->type);
    put_number(text, loop->record_length);
    put_number(text, loop->dims);
    for (unsigned i = 0; i < HDSS_DIMS_MAX; i++)
        put_number(text, i < loop->dims ? loop->shape[i] : 0);
    put_number(text, loop->layout);
    put_number(text, loop->tile_height);
    put_number(text, loop->tile_width);
}

static void put_kernel(struct text *text, const struct hdss_kernel *kernel)
{
    put_text(text, kernel->name);
    put_text(text, kernel->version);
    put_number(text,
               (kernel->run != NULL ? KERNEL_RUNS : 0) | (kernel->run_variable != NULL ? KERNEL_RUNS_VARIABLE : 0) |
                   (kernel->run_block != NULL ? KERNEL_RUNS_BLOCKS : 0) | (kernel->step != NULL ? KERNEL_STEPS : 0) |
                   (kernel->descriptor != NULL ? KERNEL_WAITS : 0) | (kernel->grow != NULL ? KERNEL_GROWS : 0) |
                   (kernel->inputs != NULL ? KERNEL_TELLS_INPUTS : 0) |
                   (kernel->precedence != NULL ? KERNEL_TELLS_PRECEDENCE : 0));
    put_number(text, kernel->threads);
}

char *description_text(const struct hdss_kernel *kernel, const struct hdss_loop *loop)
{
    struct text text;
    text_init(&text);
    text_add(&text, "%d", DESCRIPTION_VERSION);
    put_kernel(&text, kernel);
    put_number(&text, loop->iterations);
    put_number(&text, (loop->waits ? LOOP_WAITS : 0) | (loop->is_bilevel ? LOOP_IS_BILEVEL : 0) |
                          (loop->has_effects ? LOOP_HAS_EFFECTS : 0) | (loop->are_tasks ? LOOP_ARE_TASKS : 0) |
                          (loop->grows ? LOOP_GROWS : 0));
    put_records(&text, loop);
    const uint64_t numbers[] = {loop->full_value, loop->steps, loop->inputs,        loop->sync,
                                loop->distance,   loop->reach, loop->boundary_bytes};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(&text, numbers[i]);
    put_text(&text, loop->streams > 0 ? loop->output : "");
    put_number(&text, loop->streams);
    for (unsigned s = 0; s < loop->streams; s++) {
        const struct hdss_stream *stream = &loop->stream[s];
        put_text(&text, stream->ending);
        put_number(&text, stream->heading != NULL);
        put_text(&text, stream->heading != NULL ? stream->heading : "");
        put_number(&text, stream->differs);
    }
    return text_take(&text);
}

static uint64_t bits_of_real(double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

char *kernel_table_text(const struct hdss_kernel *kernel)
{
    struct text text;
    unsigned count = kernel_params_count(kernel);
    text_init(&text);
    text_add(&text, "%d", TABLE_VERSION);
    put_kernel(&text, kernel);
    put_text(&text, kernel->summary);
    put_number(&text, (kernel->check != NULL ? TABLE_CHECKS : 0) | (kernel->manner != NULL ? TABLE_HAS_MANNER : 0));
    put_text(&text, kernel->manner != NULL ? kernel->manner : "");
    put_number(&text, count);
    for (unsigned i = 0; i < count; i++) {
        const struct hdss_param *param = &kernel->params[i];
        put_text(&text, param->name);
        put_number(&text, param->kind);
        put_text(&text, param->fallback);
        put_number(&text, bits_of_real(param->minimum));
        put_number(&text, bits_of_real(param->maximum));
        put_text(&text, param->choices != NULL ? param->choices : "");
        put_text(&text, param->unit);
        put_text(&text, param->summary);
    }
    return text_take(&text);
}

/* If a field is invalid, `is_wrong` becomes true and stays true, and all further fields are read as 0 or "". */
struct description_reader {
    char *at;
    bool is_wrong;
};

static char *next_field(struct description_reader *reader)
{
    static char none[1];
    char *field = reader->at;
    if (field == NULL || reader->is_wrong) {
        reader->is_wrong = true;
        return none;
    }
    char *slash = strchr(field, '/');
    if (slash != NULL)
        *slash = '\0';
    reader->at = slash != NULL ? slash + 1 : NULL;
    return field;
}

static uint64_t description_number(struct description_reader *reader, uint64_t most)
{
    const char *field = next_field(reader);
    uint64_t number = 0;
    reader->is_wrong = reader->is_wrong || *field == '\0';
    for (; *field != '\0' && !reader->is_wrong; field++)
        reader->is_wrong = *field < '0' || *field > '9' || __builtin_mul_overflow(number, 10u, &number) ||
                           __builtin_add_overflow(number, (uint64_t)(*field - '0'), &number);
    reader->is_wrong = reader->is_wrong || number > most;
    return reader->is_wrong ? 0 : number;
}

static const char *description_word(struct description_reader *reader)
{
    char *field = next_field(reader), *to = field;
    for (const char *from = field; *from != '\0'; from++) {
        unsigned byte = (unsigned char)*from;
        if (byte == '%') {
            if (strspn(from + 1, "0123456789abcdef") < 2 || sscanf(from + 1, "%2x", &byte) != 1 || byte == 0) {
                reader->is_wrong = true;
                break;
            }
            from += 2;
        }
        *to++ = (char)byte;
    }
    *to = '\0';
    return field;
}

static int refuse_call(char error[HDSS_ERROR_MAX])
{
    snprintf(error, HDSS_ERROR_MAX, "is described here, and not loaded");
    return -1;
}

static int refuse_describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop;
    return refuse_call(error);
}

static int refuse_check(const union hdss_value *values, const struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop;
    return refuse_call(error);
}

static int refuse_open(const union hdss_value *values, const struct hdss_loop *loop, const struct hdss_worker *worker,
                       void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop, (void)worker, (void)instance;
    return refuse_call(error);
}

static int refuse_run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)first, (void)count, (void)records;
    return refuse_call(error);
}

static int refuse_run_variable(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                               char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)first, (void)count, (void)output;
    return refuse_call(error);
}

static int refuse_run_block(void *instance, const struct hdss_block *block, char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)block;
    return refuse_call(error);
}

static int refuse_step(void *instance, uint64_t step, const void *results, char error[HDSS_ERROR_MAX])
{
    (void)instance, (void)step, (void)results;
    return refuse_call(error);
}

static int refuse_descriptor(void *instance)
{
    (void)instance;
    return -1;
}

static int refuse_grow(const union hdss_value *values, uint64_t *iterations, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)iterations;
    return refuse_call(error);
}

static int refuse_inputs(const union hdss_value *values, uint64_t iterations, uint64_t *digest,
                         char error[HDSS_ERROR_MAX])
{
    (void)values, (void)iterations, (void)digest;
    return refuse_call(error);
}

static int refuse_precedence(const union hdss_value *values, struct hdss_precedence *precedence,
                             char error[HDSS_ERROR_MAX])
{
    (void)values, (void)precedence;
    return refuse_call(error);
}

static void read_kernel(struct description_reader *reader, struct hdss_kernel *kernel)
{
    static const struct hdss_param no_params[1];
    const char *name = description_word(reader), *version = description_word(reader);
    uint64_t can = description_number(reader, 2 * KERNEL_TELLS_PRECEDENCE - 1);
    *kernel = (struct hdss_kernel){
        .abi = HDSS_KERNEL_ABI,
        .name = name,
        .version = version,
        .summary = "",
        .params = no_params,
        .describe = refuse_describe,
        .open = refuse_open,
        .run = can & KERNEL_RUNS ? refuse_run : NULL,
        .run_variable = can & KERNEL_RUNS_VARIABLE ? refuse_run_variable : NULL,
        .run_block = can & KERNEL_RUNS_BLOCKS ? refuse_run_block : NULL,
        .step = can & KERNEL_STEPS ? refuse_step : NULL,
        .descriptor = can & KERNEL_WAITS ? refuse_descriptor : NULL,
        .grow = can & KERNEL_GROWS ? refuse_grow : NULL,
        .inputs = can & KERNEL_TELLS_INPUTS ? refuse_inputs : NULL,
        .precedence = can & KERNEL_TELLS_PRECEDENCE ? refuse_precedence : NULL,
        .threads = (enum hdss_threads)description_number(reader, HDSS_THREADS_NONE),
    };
}

static void read_loop(struct description_reader *reader, struct hdss_loop *loop)
{
    *loop = (struct hdss_loop){.iterations = description_number(reader, UINT64_MAX)};
    uint64_t is = description_number(reader, 2 * LOOP_GROWS - 1);
    loop->waits = is & LOOP_WAITS;
    loop->is_bilevel = is & LOOP_IS_BILEVEL;
    loop->has_effects = is & LOOP_HAS_EFFECTS;
    loop->are_tasks = is & LOOP_ARE_TASKS;
    loop->grows = is & LOOP_GROWS;
    loop->type = (enum hdss_type)description_number(reader, HDSS_FLOAT64);
    loop->record_length = description_number(reader, UINT64_MAX);
    loop->dims = (unsigned)description_number(reader, HDSS_DIMS_MAX);
    for (unsigned i = 0; i < HDSS_DIMS_MAX; i++)
        loop->shape[i] = description_number(reader, UINT64_MAX);
    loop->layout = (enum hdss_layout)description_number(reader, HDSS_LAYOUT_TILES);
    uint64_t *const numbers[] = {&loop->tile_height, &loop->tile_width, &loop->full_value,
                                 &loop->steps,       &loop->inputs,     &loop->sync,
                                 &loop->distance,    &loop->reach,      &loop->boundary_bytes};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = description_number(reader, UINT64_MAX);
    const char *output = description_word(reader);
    reader->is_wrong = reader->is_wrong || strlen(output) >= sizeof loop->output;
    snprintf(loop->output, sizeof loop->output, "%s", output);
    loop->streams = (unsigned)description_number(reader, HDSS_STREAMS_MAX);
    for (unsigned s = 0; s < loop->streams; s++) {
        loop->stream[s].ending = description_word(reader);
        bool has_heading = description_number(reader, 1);
        const char *heading = description_word(reader);
        loop->stream[s].heading = has_heading ? heading : NULL;
        loop->stream[s].differs = description_number(reader, 1);
    }
}

void description_fini(struct description *description)
{
    free(description->texts);
    description->texts = NULL;
}

int description_read(struct description *description, const char *text, struct error *error)
{
    *description = (struct description){.texts = strlen(text) <= DESCRIPTION_TEXT_MAX ? strdup(text) : NULL};
    struct description_reader reader = {.at = description->texts};
    reader.is_wrong = description_number(&reader, DESCRIPTION_VERSION) != DESCRIPTION_VERSION;
    read_kernel(&reader, &description->kernel);
    read_loop(&reader, &description->loop);
    bool is_wrong = reader.is_wrong || reader.at != NULL;
    if (is_wrong)
        error_set(error, "--loop: '%.60s' describes no loop", text);
    if (!is_wrong && kernel_check_loop(&description->kernel, &description->loop, error) == 0)
        return 0;
    description_fini(description);
    return -1;
}

bool description_matches(const char *text, const struct hdss_kernel *kernel, const struct hdss_loop *loop)
{
    struct description there;
    struct hdss_loop like = *loop;
    if (loop->grows && description_read(&there, text, NULL) == 0) {
        like.iterations = there.loop.iterations;
        like.inputs = there.loop.inputs;
        description_fini(&there);
    }
    char *own = description_text(kernel, &like);
    bool is_same = own != NULL && strcmp(own, text) == 0;
    free(own);
    return is_same;
}

static void read_param(struct description_reader *reader, struct hdss_param *param)
{
    uint64_t least, most;
    param->name = description_word(reader);
    param->kind = (enum hdss_param_kind)description_number(reader, HDSS_PARAM_TEXT);
    param->fallback = description_word(reader);
    least = description_number(reader, UINT64_MAX);
    most = description_number(reader, UINT64_MAX);
    memcpy(&param->minimum, &least, sizeof least);
    memcpy(&param->maximum, &most, sizeof most);
    param->choices = description_word(reader);
    param->unit = description_word(reader);
    param->summary = description_word(reader);
    reader->is_wrong = reader->is_wrong || param->name[0] == '\0';
}

static void read_table(struct description_reader *reader, struct kernel_table *table)
{
    struct hdss_kernel *kernel = &table->kernel;
    read_kernel(reader, kernel);
    kernel->summary = description_word(reader);
    uint64_t has = description_number(reader, 2 * TABLE_HAS_MANNER - 1);
    const char *manner = description_word(reader);
    kernel->check = has & TABLE_CHECKS ? refuse_check : NULL;
    kernel->manner = has & TABLE_HAS_MANNER ? manner : NULL;
    kernel->params = table->params;
    uint64_t count = description_number(reader, HDSS_PARAMS_MAX);
    for (uint64_t i = 0; i < count && !reader->is_wrong; i++)
        read_param(reader, &table->params[i]);
}

void kernel_table_fini(struct kernel_table *table)
{
    free(table->texts);
    table->texts = NULL;
}

int kernel_table_read(struct kernel_table *table, const char *name, const char *text, struct error *error)
{
    *table = (struct kernel_table){.texts = strlen(text) <= DESCRIPTION_TEXT_MAX ? strdup(text) : NULL};
    struct description_reader reader = {.at = table->texts};
    reader.is_wrong = description_number(&reader, TABLE_VERSION) != TABLE_VERSION;
    read_table(&reader, table);
    bool is_wrong = reader.is_wrong || reader.at != NULL;
    if (is_wrong)
        error_set(error, "kernel %.200s: '%.60s' is no table of a kernel", name, text);
    if (!is_wrong && kernel_check_table(name, &table->kernel, error) == 0)
        return 0;
    kernel_table_fini(table);
    return -1;
}

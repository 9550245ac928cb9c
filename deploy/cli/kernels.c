/* SPDX-License-Identifier: MIT */
/* hdss kernels: lists the kernels, or the parameters and the loop of one of them. */
#include "deploy/cli/colour.h"
#include "common/config/element_type.h"
#include "common/os/say.h"
#include "deploy/cli/commands.h"

#include "common/config/params.h"
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "deploy/cli/wrap.h"
#include "hdss/kernel.h"
#include "worker/helper/ask.h"
#include "worker/kernels/kernels.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct options options = {
    .usage = "hdss kernels [NAME [KEY=VALUE]...]",
    .about = "Lists the kernels, or shows the parameters of kernel NAME, which values they accept, their defaults, and "
             "the loop and the result for the given values. NAME is a kernel of the list, a shared object (./mine.so), "
             "or python:MODULE.FUNCTION.",
    .sections = {{"Help", options_common}},
};

#define TEXT_MAX 200

/* Descriptions of parameters begin at this column or to the left of it. A longer setting has a line of its own. */
enum { PARAM_INDENT_MAX = 26, LOOP_INDENT = 8 };

static int kernels_command_widest(int width, const char *text)
{
    int length = (int)strlen(text);
    return length > width ? length : width;
}

static void print_beside(const char *heading, const char *text, int indent)
{
    if ((int)strlen(heading) + 2 > indent) {
        puts(heading);
        heading = "";
    }
    printf("%-*s", indent, heading);
    wrap_write(text, strlen(text), indent, stdout);
}

static void list_kernels(void)
{
    size_t count;
    const struct hdss_kernel *const *all = kernels(&count);
    int width = 0;
    for (size_t i = 0; i < count; i++)
        width = kernels_command_widest(width, all[i]->name);
    for (size_t i = 0; i < count; i++)
        print_beside(all[i]->name, all[i]->summary, width + 2);
}

static const char *setting_of(const struct hdss_param *param, union hdss_value value, char text[TEXT_MAX])
{
    char value_text[KERNEL_PARAM_TEXT_MAX];
    snprintf(text, TEXT_MAX, "%s=%.100s", param->name, kernel_param_text(param, value, value_text));
    return text;
}

static const char *kernels_command_range_of(const struct hdss_param *param, char text[TEXT_MAX])
{
    char accepts[TEXT_MAX - 40];
    bool unit = param->unit[0] != '\0';
    snprintf(text, TEXT_MAX, "%s%s%.30s%s", kernel_param_accepts(param, accepts, sizeof accepts), unit ? " (" : "",
             param->unit, unit ? ")" : "");
    return text;
}

static void print_param(const struct hdss_kernel *kernel, unsigned index, union hdss_value value, int indent)
{
    const struct hdss_param *param = &kernel->params[index];
    char setting[TEXT_MAX], heading[TEXT_MAX + 2], range[TEXT_MAX], accepted[2 * TEXT_MAX];
    snprintf(heading, sizeof heading, "  %s", setting_of(param, value, setting));
    print_beside(heading, param->summary, indent);
    snprintf(accepted, sizeof accepted, "accepted: %s%s", kernels_command_range_of(param, range),
             kernel_param_is_manner(kernel, param) ? "; may be another with --resume" : "");
    print_beside("", accepted, indent);
}

static void print_params(const struct hdss_kernel *kernel, const union hdss_value *values)
{
    char text[TEXT_MAX];
    int width = 0;
    unsigned count = kernel_params_count(kernel);
    for (unsigned i = 0; i < count; i++)
        width = kernels_command_widest(width, setting_of(&kernel->params[i], values[i], text));
    int indent = width + 4 < PARAM_INDENT_MAX ? width + 4 : PARAM_INDENT_MAX;
    for (unsigned i = 0; i < count; i++)
        print_param(kernel, i, values[i], indent);
}

static const char *layout_name(const struct hdss_loop *loop, char text[TEXT_MAX])
{
    if (loop->layout == HDSS_LAYOUT_TILES)
        snprintf(text, TEXT_MAX, "tiles of %" PRIu64 " x %" PRIu64, loop->tile_height, loop->tile_width);
    else
        snprintf(text, TEXT_MAX, "%s", loop->layout == HDSS_LAYOUT_COLUMNS ? "columns" : "rows");
    return text;
}

static void print_streams(const struct hdss_loop *loop)
{
    printf("result  variable, to ");
    for (unsigned i = 0; i < loop->streams; i++)
        printf("%sOUTPUT%s", i > 0 ? ", " : "", loop->stream[i].ending);
    putchar('\n');
    if (loop->output[0] != '\0')
        say(stdout, "output  %s, unless --output says another", loop->output);
}

static void print_dependencies(const struct hdss_loop *loop)
{
    if (loop->sync == 0)
        return;
    char distance[40] = "iteration", needs[TEXT_MAX];
    if (loop->distance > 1)
        snprintf(distance, sizeof distance, "%" PRIu64 " iterations", loop->distance);
    snprintf(needs, sizeof needs,
             "the %s before it, up to %" PRIu64 " element%s further on of %" PRIu64 "; a chunk hands over %" PRIu64
             " byte%s of each",
             distance, loop->reach, loop->reach == 1 ? "" : "s", loop->sync, loop->boundary_bytes,
             loop->boundary_bytes == 1 ? "" : "s");
    print_beside("needs", needs, LOOP_INDENT);
}

static void print_loop(const struct hdss_loop *loop)
{
    char layout[TEXT_MAX];
    printf("\nloop    %" PRIu64 " iterations%s%s\n", loop->iterations, loop->grows ? " so far" : "",
           loop->waits ? ", which wait" : "");
    if (loop->streams > 0) {
        print_streams(loop);
        return;
    }
    print_dependencies(loop);
    say(stdout, "record  %" PRIu64 " x %s, %zu bytes per iteration", loop->record_length, element_type_name(loop->type),
        hdss_record_size(loop));
    printf("result  ");
    for (unsigned i = 0; i < loop->dims; i++)
        printf("%s%" PRIu64, i > 0 ? " x " : "", loop->shape[i]);
    printf(" %s", element_type_name(loop->type));
    if (loop->dims > 1)
        printf(", in %s", layout_name(loop, layout));
    putchar('\n');
}

static int kernels_command_finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_STATUS_DONE;
    say(stderr, "hdss kernels: cannot write: %s", strerror(errno));
    return EXIT_STATUS_FAILED;
}

static int kernels_command_wrong_use(const char *text)
{
    say_error("hdss kernels", text);
    return EXIT_STATUS_USAGE;
}

static int kernels_command_describe_named(const char *name, unsigned count, const char *const *words)
{
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    struct error error;
    const struct hdss_kernel *kernel;
    if (sched_find(name) != NULL) {
        error_set(&error, "'%s' is a technique; type: hdss techniques %s", name, name);
        return kernels_command_wrong_use(error.text);
    }
    if (ask_kernel(name, &kernel, &error) < 0 || kernel_params_parse(kernel, count, words, values, &error) < 0 ||
        kernel_describe(kernel, values, &loop, &error) < 0)
        return kernels_command_wrong_use(error.text);
    printf("%s: ", kernel->name);
    wrap_write(kernel->summary, strlen(kernel->summary), (int)strlen(kernel->name) + 2, stdout);
    puts(kernel_params_count(kernel) > 0 ? "\nparameters" : "\nno parameters");
    print_params(kernel, values);
    print_loop(&loop);
    if (loop.note[0] != '\0')
        print_beside("note", loop.note, LOOP_INDENT);
    return kernels_command_finish();
}

struct request {
    const char **words;
    unsigned count;
};

static int kernels_command_take_word(void *target, const char *word, struct error *error)
{
    (void)error;
    struct request *request = target;
    request->words[request->count++] = word;
    return 0;
}

static int kernels_command_answer(const struct request *request)
{
    if (request->count > 0)
        return kernels_command_describe_named(request->words[0], request->count - 1, request->words + 1);
    list_kernels();
    return kernels_command_finish();
}

int command_kernels(int argc, char **argv)
{
    struct request request = {.words = calloc((size_t)argc + 1, sizeof *request.words)};
    struct error error;
    if (request.words == NULL)
        return kernels_command_wrong_use("out of memory for the command line");
    int result = options_parse(&options, argc, argv, &request, kernels_command_take_word, &error);
    int status = result < 0   ? kernels_command_wrong_use(error.text)
                 : result > 0 ? show_page("hdss kernels", &options, result)
                              : kernels_command_answer(&request);
    ask_end();
    free(request.words);
    return status;
}

void kernels_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){options, OPERANDS_KERNEL};
}

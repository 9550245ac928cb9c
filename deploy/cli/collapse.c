/* SPDX-License-Identifier: MIT */
/* hdss collapse: what the kernel evrard has computed, as a table of energies and as pictures. */
#include "deploy/cli/colour.h"
#include "common/os/say.h"
#include "deploy/cli/commands.h"
#include "common/util/error.h"
#include "common/util/number.h"
#include "deploy/cli/collapse_plot.h"
#include "deploy/cli/gnuplot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct request {
    const char *file, *energies, *density; /* borrowed from argv; NULL where not given */
    double times[COLLAPSE_TIMES_MAX];
    size_t time_count;
};

static int take_picture(const char **picture, const char *value)
{
    *picture = value;
    return gnuplot_terminal(value) != NULL ? 0 : -1;
}

static int take_energies(void *target, const char *value, struct error *error)
{
    (void)error;
    return take_picture(&((struct request *)target)->energies, value);
}

static int take_density(void *target, const char *value, struct error *error)
{
    (void)error;
    return take_picture(&((struct request *)target)->density, value);
}

static int take_times(void *target, const char *value, struct error *error)
{
    (void)error;
    struct request *request = target;
    request->time_count = 0;
    for (const char *list = value; list != NULL;) {
        char word[40];
        size_t length = strcspn(list, ",");
        if (length >= sizeof word || request->time_count == COLLAPSE_TIMES_MAX)
            return -1;
        snprintf(word, sizeof word, "%.*s", (int)length, list);
        double *time = &request->times[request->time_count++];
        if (number_parse_real(word, time) < 0 || *time < 0 || *time > 1e6)
            return -1;
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return 0;
}

static const struct option_row rows[] = {
    {"energies", 0, "FILE", "a file name that ends in .png or .svg",
     "draw the kinetic, internal, potential and total energy over time, with gnuplot", take_energies},
    {"density", 0, "FILE", "a file name that ends in .png or .svg",
     "draw the density as it is seen along z, at some times", take_density},
    {"times", 0, "T1,T2,..", "up to 30 numbers from 0 to 1e6",
     "the times for --density; the nearest step is drawn (default: six, evenly from the first step to the last)",
     take_times},
    {NULL},
};

static const struct options options = {
    .usage = "hdss collapse FILE.npy [OPTION]...",
    .about =
        "Shows what the kernel evrard has computed. Without options: prints the energies of each step. FILE.npy is "
        "the --output of its run.",
    .sections = {{"Options", rows}, {"Help", options_common}},
    .notes = "Example:\n"
             "    hdss run --output gas.npy evrard\n"
             "    hdss collapse gas.npy --energies energies.png --density density.png",
};

static int collapse_command_take_word(void *target, const char *word, struct error *error)
{
    struct request *request = target;
    if (request->file != NULL)
        return error_set(error, "'%.100s' is one argument too many: one file is accepted", word);
    request->file = word;
    return 0;
}

static int collapse_command_say(const struct error *error, int status)
{
    say_error("hdss collapse", error->text);
    return status;
}

static int collapse_command_finish(void)
{
    struct error error;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_STATUS_DONE;
    error_set(&error, "cannot write: %s", strerror(errno));
    return collapse_command_say(&error, EXIT_STATUS_FAILED);
}

static int print_energies(struct collapse_file *file)
{
    struct error error;
    puts("    time   kinetic  internal  potential     total");
    for (uint64_t step = 0; step < file->steps; step++) {
        if (collapse_file_read(file, step, &error) < 0) {
            fflush(stdout);
            return collapse_command_say(&error, EXIT_STATUS_FAILED);
        }
        struct collapse_energy energy = collapse_file_energy(file);
        printf("%8.5g  %8.5f  %8.5f  %9.5f  %8.5f\n", collapse_file_time(file, step), energy.kinetic, energy.internal,
               energy.potential, energy.total);
    }
    return collapse_command_finish();
}

static void choose_times(struct request *request, const struct collapse_file *file)
{
    enum { DEFAULT = 6 };
    for (size_t k = 0; k < DEFAULT; k++)
        request->times[k] =
            collapse_file_time(file, 0) + (double)k / (DEFAULT - 1) * (double)(file->steps - 1) * file->time_step;
    request->time_count = DEFAULT;
}

static int collapse_command_draw(struct request *request, struct collapse_file *file)
{
    struct error error;
    if (request->energies != NULL) {
        if (collapse_plot_energies(file, request->energies, &error) < 0)
            return collapse_command_say(&error, EXIT_STATUS_FAILED);
        say(stdout, "%s: the energies of %" PRIu64 " steps", request->energies, file->steps);
    }
    if (request->density != NULL) {
        if (request->time_count == 0)
            choose_times(request, file);
        if (collapse_plot_density(file, request->density, request->times, request->time_count, &error) < 0)
            return collapse_command_say(&error, EXIT_STATUS_FAILED);
        say(stdout, "%s: the density at %zu time%s", request->density, request->time_count,
            request->time_count == 1 ? "" : "s");
    }
    return collapse_command_finish();
}

static int collapse_command_answer(struct request *request)
{
    struct collapse_file file;
    struct error error;
    if (request->file == NULL) {
        error_set(&error, "no file is given: hdss collapse FILE.npy");
        return collapse_command_say(&error, EXIT_STATUS_USAGE);
    }
    if (request->time_count > 0 && request->density == NULL) {
        error_set(&error, "--times is accepted only with --density");
        return collapse_command_say(&error, EXIT_STATUS_USAGE);
    }
    if (collapse_file_init(&file, request->file, &error) < 0)
        return collapse_command_say(&error, EXIT_STATUS_USAGE);
    bool is_drawn = request->energies != NULL || request->density != NULL;
    int status = is_drawn ? collapse_command_draw(request, &file) : print_energies(&file);
    collapse_file_fini(&file);
    return status;
}

int command_collapse(int argc, char **argv)
{
    struct request request = {0};
    struct error error;
    int result = options_parse(&options, argc, argv, &request, collapse_command_take_word, &error);
    if (result != 0)
        return result < 0 ? collapse_command_say(&error, EXIT_STATUS_USAGE)
                          : show_page("hdss collapse", &options, result);
    return collapse_command_answer(&request);
}

void collapse_grammar(struct grammar *grammar)
{
    *grammar = (struct grammar){options, OPERANDS_FILE};
}

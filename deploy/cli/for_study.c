/* SPDX-License-Identifier: MIT */
/* The part of `hdss study` that is in C.
 *
 * This process answers requests on standard input, which is a socket. A request is a line of words, and the first word
 * is the kind of request. An answer is a line with a JSON object, which has a member `error` on failure. The first line
 * that this process sends describes what a study records of each run. Standard output is left to kernels and
 * plug-ins. */
#include "deploy/cli/for_study.h"
#include "common/config/job.h"
#include "common/config/params.h"
#include "common/job/technique_load.h"
#include "common/metrics/json_text.h"
#include "common/os/cores.h"
#include "common/os/say.h"
#include "common/sched/sched.h"
#include "common/sched/technique.h"
#include "common/util/error.h"
#include "common/util/number.h"
#include "deploy/cli/argv.h"
#include "deploy/cli/commands.h"
#include "deploy/cli/run.h"
#include "deploy/cli/simulate.h"
#include "deploy/simulate/simulation.h"
#include "hdss/kernel.h"
#include "worker/helper/ask.h"
#include "worker/kernels/kernels.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef int answer_to(const struct argv *words, json_t *answer, struct error *error);

static int check_option(const struct argv *words, json_t *answer, struct error *error)
{
    (void)answer;
    return run_check_option(words->items[1], words->items[2], error);
}

static int check_kernel(const struct argv *words, json_t *answer, struct error *error)
{
    const struct hdss_kernel *kernel;
    (void)answer;
    return kernel_named(words->items[1], &kernel, error);
}

static int check_technique(const struct argv *words, json_t *answer, struct error *error)
{
    (void)answer;
    struct sched_spec spec;
    return sched_spec_is_plugin(words->items[1]) ? technique_load(&spec, words->items[1], error) : 0;
}

static int check_line(int (*check)(int argc, char **argv, struct error *error), const struct argv *words,
                      struct error *error)
{
    const int result = check((int)words->count, words->items, error);
    return result <= 0 ? result : error_set(error, "--help and --version are not accepted in a study");
}

static int check_run(const struct argv *words, json_t *answer, struct error *error)
{
    (void)answer;
    return check_line(run_check, words, error);
}

static int check_loop_of_run(const struct argv *words, json_t *answer, struct error *error)
{
    (void)answer;
    return check_line(run_check_loop, words, error);
}

static int check_inputs_of_run(const struct argv *words, json_t *answer, struct error *error)
{
    (void)answer;
    return check_line(run_check_inputs, words, error);
}

static int check_simulation(const struct argv *words, json_t *answer, struct error *error)
{
    (void)answer;
    return check_line(simulate_check, words, error);
}

static int count_iterations(int word_count, char **words, uint64_t *iterations, struct error *error)
{
    struct job job;
    const struct hdss_kernel *kernel;
    union hdss_value values[HDSS_PARAMS_MAX];
    struct hdss_loop loop;
    if (job_parse(&job, word_count, words, error) != 0 || ask_kernel(job.kernel, &kernel, error) < 0 ||
        kernel_params_parse(kernel, job.kernel_params, job.kernel_param, values, error) < 0 ||
        kernel_describe(kernel, values, &loop, error) < 0)
        return -1;
    *iterations = loop.iterations / (loop.steps > 0 ? loop.steps : 1);
    return 0;
}

/* `words` has a number of workers, then a kernel with parameters and options. The answer has a chunk size: half of the
 * one that the technique mfsc gives for this many workers and this loop (or one of its time steps), at least 1. */
static int find_half_of_mfsc(const struct argv *words, json_t *answer, struct error *error)
{
    struct simulation simulation;
    uint64_t iterations, workers;
    if (number_parse_u64(words->items[1], &workers) < 0 || workers == 0)
        return error_set(error, "'%.100s' is no number of workers", words->items[1]);
    /* Options of a simulation are accepted too, and ignored. */
    int result = simulation_read(&simulation, (int)words->count - 1, words->items + 1, error);
    if (result == 0)
        result = count_iterations(simulation.word_count, simulation.words, &iterations, error);
    free(simulation.words);
    if (result != 0)
        return -1;
    const uint64_t size = mfsc_chunk(iterations, (unsigned)workers);
    return json_object_set_new(answer, "chunk", json_integer((json_int_t)(size > 1 ? size / 2 : 1)));
}

static const struct question {
    const char *name;
    unsigned least;
    answer_to *answer;
} questions[] = {
    {"option", 3, check_option},       {"kernel", 2, check_kernel},
    {"technique", 2, check_technique}, {"run", 2, check_run},
    {"loop", 2, check_loop_of_run},    {"inputs", 2, check_inputs_of_run},
    {"simulate", 2, check_simulation}, {"half", 3, find_half_of_mfsc},
};

static int find_answer(const struct argv *words, json_t *answer, struct error *error)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (words->count >= questions[i].least && strcmp(words->items[0], questions[i].name) == 0)
            return questions[i].answer(words, answer, error);
    return error_set(error, "there is no such question");
}

/* Takes ownership of the object. Returns -1 if the other end is closed. */
static int send_object(int channel, json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);
    const int result = text != NULL && dprintf(channel, "%s\n", text) > 0 ? 0 : -1;
    free(text);
    json_decref(object);
    return result;
}

static int answer_line(int channel, const char *line)
{
    struct argv words = {0};
    struct error error = {0};
    json_t *answer = json_object();
    argv_add_split(&words, line);
    if (words.failed)
        error_set(&error, "out of memory for a question");
    if (words.failed || find_answer(&words, answer, &error) < 0)
        json_object_set_new(answer, "error", json_of_text(error.text));
    argv_fini(&words);
    return send_object(channel, answer);
}

static void add_refused(json_t *list, const struct options *options)
{
    for (const struct option_section *section = options->sections; section->title != NULL; section++)
        for (const struct option_row *row = section->rows; row->name != NULL; row++)
            if ((row->not_for & OPTION_STUDY) != 0)
                json_array_append_new(list, json_string(row->name));
}

static json_t *describe_program(void)
{
    struct grammar run, simulate;
    json_t *refused = json_array();
    run_grammar(&run);
    simulate_grammar(&simulate);
    add_refused(refused, &run.options);
    add_refused(refused, &simulate.options);
    return json_pack("{s:s, s:s, s:i, s:o}", "version", HDSS_VERSION, "commit", hdss_commit, "cores",
                     (int)cores_usable(), "refused", refused);
}

static int answer_questions(void)
{
    const int channel = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    FILE *asked = channel >= 0 ? fdopen(channel, "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    if (asked == NULL || none < 0 || dup2(none, STDIN_FILENO) < 0) {
        say(stderr, "hdss for-study: standard input: %s", strerror(errno));
        return EXIT_STATUS_FAILED;
    }
    int result = send_object(channel, describe_program());
    while (result == 0 && getline(&line, &room, asked) > 0)
        result = answer_line(channel, line);
    ask_end();
    free(line);
    fclose(asked);
    return EXIT_STATUS_DONE;
}

static void end_by(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

/* Runs `hdss run` or `hdss simulate` in this process and sends all its output to standard output. The process ends with
 * SIGALRM if the run takes longer than `seconds`, and with SIGTERM if it was told to stop or if the study has ended. */
static int make_run(uint64_t seconds, int argc, char **argv)
{
    struct launch how = {.log = stdout, .at_once = true, .timeout_s = (unsigned)seconds};
    struct error error = {0};
    const pid_t study = getppid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (study == 1 || getppid() != study)
        return EXIT_STATUS_FAILED;
    if (strcmp(argv[0], "simulate") == 0) {
        alarm((unsigned)seconds);
        return command_simulate(argc, argv);
    }
    const int status = run_words("hdss run", argc, argv, false, &how, &error);
    if (error.text[0] != '\0')
        say(stdout, "hdss run: %s", error.text);
    if (fflush(stdout) == 0 && (how.late || how.asked))
        end_by(how.late ? SIGALRM : SIGTERM);
    return status;
}

int command_for_study(int argc, char **argv)
{
    uint64_t seconds;
    if (argc == 1)
        return answer_questions();
    if (argc > 3 && number_parse_u64(argv[1], &seconds) == 0 && seconds <= UINT32_MAX)
        return make_run(seconds, argc - 2, argv + 2);
    say(stderr, "hdss for-study: it is what hdss study asks, and how it makes its runs");
    return EXIT_STATUS_USAGE;
}

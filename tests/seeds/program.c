/* SPDX-License-Identifier: MIT */
/* See program.h. */
#include "tests/seeds/program.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed_at_hand;

/* An invariant does not hold: says in which run. */
static void program_tell_seed(int signal)
{
    (void)signal;
    printf("# seed %" PRIu64 ": aborted\n", seed_at_hand);
    fflush(stdout);
}

/* Runs one of many: says so where it fails. */
static bool program_run(const struct seeds_program *program, uint64_t seed)
{
    seed_at_hand = seed;
    const char *wrong = program->run(seed, false);
    if (wrong != NULL)
        printf("# seed %" PRIu64 ": %s\n", seed, wrong);
    fflush(stdout);
    return wrong == NULL;
}

static int program_finish(uint64_t failed, uint64_t count)
{
    printf("%sok 1 - %" PRIu64 " of %" PRIu64 " seeds failed\n1..1\n", failed > 0 ? "not " : "", failed, count);
    return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int program_run_many(const struct seeds_program *program, uint64_t first, uint64_t count)
{
    uint64_t failed = 0;
    for (uint64_t seed = first; seed < first + count; seed++)
        failed += !program_run(program, seed);
    program->print_tally();
    return program_finish(failed, count);
}

static int program_run_kept(const struct seeds_program *program, const char *path)
{
    FILE *file = fopen(path, "r");
    uint64_t seed, failed = 0, count = 0;
    char line[200];
    if (file == NULL) {
        fprintf(stderr, "%s: cannot read %s\n", program->name, path);
        return EXIT_FAILURE;
    }
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%" SCNu64, &seed) == 1) {
            count++;
            failed += !program_run(program, seed);
        }
    fclose(file);
    return program_finish(failed, count);
}

int seeds_program_main(const struct seeds_program *program, int argc, char **argv)
{
    signal(SIGABRT, program_tell_seed);
    if (argc == 3 && strcmp(argv[1], "kept") == 0)
        return program_run_kept(program, argv[2]);
    if (argc == 3)
        return program_run_many(program, strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    if (argc == 2) {
        const char *wrong = program->run(strtoull(argv[1], NULL, 10), true);
        printf("seed %s: %s\n", argv[1], wrong != NULL ? wrong : "all as it should be");
        return wrong != NULL ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    fprintf(stderr, "usage: %s FIRST COUNT | kept FILE | SEED\n", program->name);
    return EXIT_FAILURE;
}

/* SPDX-License-Identifier: MIT */
/* Runs a fuzz target over files instead of made-up bytes: over a corpus as a test, for AFL++, and to look at an input
 * that failed.
 *
 *     replay-TARGET FILE|FOLDER...    each file, and each file of a folder in the order of their names, as TAP
 *     replay-TARGET                   standard input, once; under AFL++ what it makes up, many in one process
 *
 * An input that fails ends the program; the last line then says which one it was. */
#include "common/util/error.h"
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h> /* what AFL++ puts in reads */

#define INPUT_MAX (1u << 20) /* bytes of one input; libFuzzer's are 4096 by default */

static unsigned number;

/* The bytes are copied to a block of exactly their size, so that AddressSanitizer sees a step beyond them. */
static void run_bytes(const uint8_t *room, size_t size)
{
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    REQUIRE(bytes != NULL);
    memcpy(bytes, room, size);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
}

static void run_stream(FILE *file)
{
    uint8_t *room = malloc(INPUT_MAX);
    REQUIRE(room != NULL);
    size_t size = fread(room, 1, INPUT_MAX, file);
    REQUIRE(!ferror(file));
    run_bytes(room, size);
    free(room);
}

#ifdef __AFL_FUZZ_TESTCASE_LEN

__AFL_FUZZ_INIT();

static void run_input(void)
{
    const uint8_t *room = __AFL_FUZZ_TESTCASE_BUF;
    while (__AFL_LOOP(10000))
        run_bytes(room, (size_t)__AFL_FUZZ_TESTCASE_LEN);
}

#else

static void run_input(void)
{
    run_stream(stdin);
}

#endif

static void run_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(EXIT_STATUS_USAGE);
    }
    printf("# %s\n", path);
    fflush(stdout); /* it is to be seen should this be the last line */
    run_stream(file);
    fclose(file);
    printf("ok %u - %s\n", ++number, slash != NULL ? slash + 1 : path);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void run_folder(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        run_file(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    if (argc == 1)
        run_input();
    for (int i = 1; i < argc; i++) {
        struct stat status;
        if (stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode))
            run_folder(argv[i]);
        else
            run_file(argv[i]);
    }
    if (argc > 1)
        printf("1..%u\n", number);
    return argc > 1 && number == 0 ? EXIT_STATUS_USAGE : EXIT_STATUS_DONE;
}

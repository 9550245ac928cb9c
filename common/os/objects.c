/* SPDX-License-Identifier: MIT */
/* Loading users' shared objects: see objects.h. */
#include "common/os/objects.h"

#include "common/os/modules.h"
#include "common/util/called.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PYTHON_MODULE "hdss-python.so"

static bool tells_faults;

void objects_tell_faults(void)
{
    tells_faults = true;
}

/* Writes a line about the current call into an object. `did` says what the call did, for example "it has ended the
 * process". Does not use stdio, because a signal handler calls this function. */
static void tell_call(const char *did)
{
    enum { PART_MAX = 200 };
    const char *const parts[] = {
        program_invocation_short_name, ": ", called->what, " ", called->name, ": ", did, " ", called->where, "\n"};
    char line[sizeof parts / sizeof *parts * PART_MAX];
    size_t length = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t bytes = strnlen(parts[i], PART_MAX);
        memcpy(line + length, parts[i], bytes);
        length += bytes;
    }
    if (write(STDERR_FILENO, line, length) < 0)
        return;
}

static void tell_end(void)
{
    if (called == NULL)
        return;
    tell_call("it has ended the process");
    _exit(EXIT_FAILURE);
}

static const struct {
    int signal;
    const char *did;
} faults[] = {
    {SIGSEGV, "it has died by SIGSEGV"},
    {SIGBUS, "it has died by SIGBUS"},
    {SIGFPE, "it has died by SIGFPE"},
    {SIGABRT, "it has died by SIGABRT"},
};

/* While the handler runs, the signal has its default effect again. So raise() ends the process. */
static void tell_fault(int signal)
{
    for (size_t i = 0; called != NULL && i < sizeof faults / sizeof *faults; i++)
        if (faults[i].signal == signal)
            tell_call(faults[i].did);
    raise(signal);
}

/* Called before the first object is loaded. The handlers have a stack of their own, because a fault may be a stack
 * overflow. */
static void watch_objects(void)
{
    static bool is_watched;
    static char stack[1 << 16];
    if (is_watched)
        return;
    is_watched = true;
    atexit(tell_end);
    if (!tells_faults)
        return;
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = tell_fault, .sa_flags = (int)SA_RESETHAND | SA_ONSTACK};
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i].signal, &action, NULL);
}

/* Returns whether an ELF file was truncated: its segments end beyond the end of the file. dlopen() would crash on such
 * a file. */
static bool is_cut_short(const char *path)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    struct stat file;
    bool is_short = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is_elf = fstat(fd, &file) == 0 && pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
                  memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_phentsize == sizeof segment;
    for (unsigned i = 0; is_elf && !is_short && i < header.e_phnum; i++) {
        const off_t at = (off_t)(header.e_phoff + i * sizeof segment);
        is_short = pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment ||
                   (segment.p_type == PT_LOAD && segment.p_offset + segment.p_filesz > (uint64_t)file.st_size);
    }
    close(fd);
    return is_short;
}

static int object_refuse(const struct object_kind *kind, const char *name, const char *path, struct error *error)
{
    static const char absent[] = "cannot open shared object file: ";
    const char *reason = dlerror();
    size_t length = strlen(path);
    if (reason == NULL)
        reason = "cannot be loaded";
    if (strncmp(reason, path, length) == 0 && strncmp(reason + length, ": ", 2) == 0)
        reason += length + 2;
    if (strncmp(reason, absent, strlen(absent)) == 0)
        reason += strlen(absent);
    bool is_other_file = strstr(reason, "ELF header") != NULL || strstr(reason, "file too short") != NULL;
    return error_set(error, "%s %.200s: %.180s%s%s", kind->what, name, reason, is_other_file ? "; accepted: " : "",
                     is_other_file ? kind->other : "");
}

struct loaded {
    struct loaded *next;
    struct stat file;
    char path[];
};

static bool note_loaded(const char *path)
{
    static struct loaded *all;
    struct loaded *known = all;
    struct stat now;
    if (stat(path, &now) < 0)
        return true;
    while (known != NULL && strcmp(known->path, path) != 0)
        known = known->next;
    if (known != NULL)
        return known->file.st_dev == now.st_dev && known->file.st_ino == now.st_ino &&
               known->file.st_mtim.tv_sec == now.st_mtim.tv_sec && known->file.st_mtim.tv_nsec == now.st_mtim.tv_nsec;
    known = malloc(sizeof *known + strlen(path) + 1);
    if (known == NULL)
        return true;
    *known = (struct loaded){.next = all, .file = now};
    strcpy(known->path, path);
    all = known;
    return true;
}

static void *refuse_in_one_file(const struct object_kind *kind, const char *name, struct error *error)
{
    error_set(error, "%s %.200s: this HDSS is one file, which loads no %s; needed: an HDSS that is installed",
              kind->what, name, strncmp(name, OBJECT_PYTHON, strlen(OBJECT_PYTHON)) == 0 ? "Python" : "shared objects");
    return NULL;
}

void *object_open(const struct object_kind *kind, const char *name, struct error *error)
{
    char path[PATH_MAX];
    if (is_one_file())
        return refuse_in_one_file(kind, name, error);
    bool bare = strchr(name, '/') == NULL; /* for a name without a slash dlopen() searches the library paths */
    if (strlen(name) >= sizeof path - 2) {
        error_set(error, "%s %.60s...: the name is too long", kind->what, name);
        return NULL;
    }
    if (realpath(name, path) == NULL)
        sprintf(path, "%s%s", bare ? "./" : "", name);
    if (!note_loaded(path)) {
        error_set(error, "%s %.200s: its file has changed since an earlier job loaded it; accepted: %s", kind->what,
                  name, kind->for_changed);
        return NULL;
    }
    if (is_cut_short(path)) {
        error_set(error, "%s %.200s: its file is cut short; accepted: one that is whole", kind->what, name);
        return NULL;
    }
    watch_objects();
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL)
        object_refuse(kind, name, path, error);
    return handle;
}

static int find_python(const struct object_kind *kind, const char *name, char path[PATH_MAX + sizeof PYTHON_MODULE],
                       struct error *error)
{
    char folder[PATH_MAX];
    struct error missing;
    if (modules_find(PYTHON_MODULE, folder, &missing) < 0)
        return error_set(error,
                         "%s %.40s: this HDSS has no Python: %.290s; needed: the package hdss-python3, or a build "
                         "where libpython3-dev is",
                         kind->what, name, missing.text);
    sprintf(path, "%s/" PYTHON_MODULE, folder);
    return 0;
}

int object_has_python(const struct object_kind *kind, const char *name, struct error *error)
{
    char path[PATH_MAX + sizeof PYTHON_MODULE];
    if (!is_one_file())
        return find_python(kind, name, path, error);
    refuse_in_one_file(kind, name, error);
    return -1;
}

void *object_find_python(const struct object_kind *kind, const char *name, const char *symbol, struct error *error)
{
    char path[PATH_MAX + sizeof PYTHON_MODULE];
    if (is_one_file())
        return refuse_in_one_file(kind, name, error);
    if (find_python(kind, name, path, error) < 0)
        return NULL;
    /* RTLD_GLOBAL, because extension modules of Python need the module's symbols */
    void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (module == NULL) {
        object_refuse(kind, name, path, error);
        return NULL;
    }
    void *found = dlsym(module, symbol);
    if (found == NULL)
        error_set(error, "%s %.60s: %.200s is not the module for Python of this HDSS", kind->what, name, path);
    return found;
}

struct object_names {
    char **name;
    size_t count, room;
};

static int note_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct object_names *names = context;
    (void)size;
    if (info->dlpi_name == NULL || info->dlpi_name[0] == '\0')
        return 0;
    if (names->count == names->room) {
        const size_t room = 2 * names->room + 64;
        char **grown = realloc(names->name, room * sizeof *grown);
        if (grown == NULL)
            return 1;
        names->name = grown;
        names->room = room;
    }
    names->name[names->count] = strdup(info->dlpi_name);
    return names->name[names->count++] == NULL;
}

void objects_keep(void)
{
    struct object_names names = {0};
    if (is_one_file())
        return;
    /* dlopen() must not be called during dl_iterate_phdr(), which holds a lock */
    dl_iterate_phdr(note_object, &names);
    for (size_t i = 0; i < names.count; i++) {
        if (names.name[i] != NULL)
            dlopen(names.name[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        free(names.name[i]);
    }
    free(names.name);
}

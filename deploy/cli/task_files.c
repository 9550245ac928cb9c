/* SPDX-License-Identifier: MIT */
/* Writes files for each task: see task_files.h. */
#include "deploy/cli/task_files.h"

#include "common/os/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NUMBER_ROOM 24

struct name {
    char *path;
    size_t length;
};

static void add_char(struct name *name, char c)
{
    if (name->length < PATH_MAX)
        name->path[name->length++] = c;
}

static void add_text(struct name *name, const char *text)
{
    for (; *text != '\0'; text++)
        add_char(name, *text);
}

static void add_folder(struct name *name, struct piece text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.text[i] == '/')
            add_text(name, "\\_");
        else if (text.text[i] == '\\')
            add_text(name, "\\\\");
        else if (text.text[i] == '\t')
            add_text(name, "\\t");
        else
            add_char(name, text.text[i]);
    }
    add_char(name, '/');
}

int task_files_layout(char path[PATH_MAX], const char *folder, const struct piece *names, const struct piece *texts,
                      unsigned columns, struct error *error)
{
    struct name name = {path, 0};
    add_text(&name, folder);
    if (name.length > 0 && path[name.length - 1] != '/')
        add_char(&name, '/');
    for (unsigned i = 0; i < columns; i++) {
        add_folder(&name, names[i]);
        add_folder(&name, texts[i]);
    }
    if (name.length < PATH_MAX - sizeof "stdout") {
        path[name.length] = '\0';
        return 0;
    }
    path[PATH_MAX - 1] = '\0';
    return error_set(error, "--results: %.100s...: the name is too long", path);
}

static int refuse_file(const char *file, struct error *error)
{
    return error_set(error, "--results: %.250s: %s", file, strerror(errno));
}

static int make_folders(const char *file, struct error *error)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", file);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) < 0 && errno != EEXIST)
            return refuse_file(folder, error);
        *slash = '/';
    }
    return 0;
}

static int create(const char *file)
{
    return file_open_to_write(file, O_CREAT | O_TRUNC);
}

static int write_file(const char *path, const char *ending, const void *bytes, size_t count, struct error *error)
{
    char file[PATH_MAX];
    if (snprintf(file, sizeof file, "%s%s", path, ending) >= (int)sizeof file)
        return error_set(error, "--results: %.100s...: the name is too long", path);
    int fd = create(file);
    if (fd < 0 && errno == ENOENT) {
        if (make_folders(file, error) < 0)
            return -1;
        fd = create(file);
    }
    int result = fd < 0 || file_write_at(fd, bytes, count, 0) < 0 ? refuse_file(file, error) : 0;
    if (fd >= 0 && close(fd) < 0 && result == 0)
        result = refuse_file(file, error);
    return result;
}

int task_files_write(const char *path, uint64_t number, const void *out, size_t out_bytes, const void *err,
                     size_t err_bytes, struct error *error)
{
    const size_t length = strlen(path);
    const bool is_folder = length > 0 && path[length - 1] == '/';
    char text[NUMBER_ROOM];
    const int digits = snprintf(text, sizeof text, "%" PRIu64, number);
    if (write_file(path, is_folder ? "stdout" : "", out, out_bytes, error) < 0 ||
        write_file(path, is_folder ? "stderr" : ".err", err, err_bytes, error) < 0)
        return -1;
    return write_file(path, is_folder ? "seq" : ".seq", text, (size_t)digits, error);
}

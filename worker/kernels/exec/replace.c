/* SPDX-License-Identifier: MIT */
/* Replacement strings: see replace.h. */
#include "worker/kernels/exec/replace.h"

#include <ctype.h>
#include <string.h>

static enum part part_of_ending(const char *text, size_t length, size_t *ending)
{
    static const struct {
        const char *ending;
        enum part part;
    } parts[] = {{"+...", PART_EXTENSIONS_3},   {"+..", PART_EXTENSIONS_2},
                 {"+.", PART_EXTENSION},        {"+/", PART_FOLDER},
                 {"/...", PART_BASENAME_NO_3},  {"/..", PART_BASENAME_NO_2},
                 {"...", PART_NO_EXTENSIONS_3}, {"..", PART_NO_EXTENSIONS_2},
                 {"//", PART_FOLDER},           {"/.", PART_BASENAME_NO_EXTENSION},
                 {"/", PART_BASENAME},          {".", PART_NO_EXTENSION}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        *ending = strlen(parts[i].ending);
        if (length >= *ending && memcmp(text + length - *ending, parts[i].ending, *ending) == 0)
            return parts[i].part;
    }
    *ending = 0;
    return PART_WHOLE;
}

static int field_of_number(const char *text, size_t length, unsigned fields)
{
    bool from_end = length > 0 && text[0] == '-';
    unsigned number = 0;
    if (length == from_end || length > 8)
        return FIELD_UNKNOWN;
    for (size_t i = from_end; i < length; i++) {
        if (!isdigit((unsigned char)text[i]))
            return FIELD_UNKNOWN;
        number = 10 * number + (unsigned)(text[i] - '0');
    }
    if (number == 0)
        return FIELD_UNKNOWN;
    if (number > fields)
        return FIELD_BEYOND;
    return (int)(from_end ? fields - number : number - 1);
}

static int field_of(const char *text, size_t length, const struct row *names, unsigned fields)
{
    int field = names != NULL ? row_find(names, text, length) : -1;
    if (field < 0)
        return field_of_number(text, length, fields);
    return (unsigned)field < fields ? field : FIELD_BEYOND;
}

struct replacement replacement_read(const char *text, size_t length, const struct row *names, unsigned fields)
{
    struct replacement found = {.name = text, .name_length = length, .field = FIELD_ALL};
    size_t ending;
    if (length == 0)
        return found;
    /* First looks for a column with the whole name. Such a name may end with characters that would otherwise select a
     * part. */
    found.field = field_of(text, length, names, fields);
    if (found.field != FIELD_UNKNOWN)
        return found;
    found.part = part_of_ending(text, length, &ending);
    found.name_length = length - ending;
    if (ending > 0)
        found.field = found.name_length == 0 ? FIELD_ALL : field_of(text, found.name_length, names, fields);
    return found;
}

static struct piece without_extension(struct piece field)
{
    size_t at = field.length;
    while (at > 0 && field.text[at - 1] != '/' && field.text[at - 1] != '.')
        at--;
    bool has_extension = at > 0 && field.text[at - 1] == '.' && at < field.length;
    return (struct piece){field.text, has_extension ? at - 1 : field.length};
}

static struct piece basename_of(struct piece field)
{
    const char *slash = memrchr(field.text, '/', field.length);
    size_t before = slash == NULL ? 0 : (size_t)(slash - field.text) + 1;
    return (struct piece){field.text + before, field.length - before};
}

static struct piece without_extensions(struct piece field, unsigned count)
{
    while (count-- > 0)
        field = without_extension(field);
    return field;
}

static struct piece extensions_of(struct piece field, unsigned count)
{
    const size_t before = without_extensions(field, count).length, begin = before + (before < field.length);
    return (struct piece){field.text + begin, field.length - begin};
}

static struct piece folder_once(struct piece field)
{
    const char *slash = memrchr(field.text, '/', field.length);
    if (slash == NULL)
        return (struct piece){".", 1};
    size_t length = (size_t)(slash - field.text) + 1;
    while (length > 1 && field.text[length - 1] == '/')
        length--;
    return (struct piece){field.text, length};
}

/* Slashes at the end are ignored, as by Perl's dirname, which GNU parallel uses. */
static struct piece folder_of(struct piece field)
{
    bool ends_with_slash = field.length > 0 && field.text[field.length - 1] == '/';
    struct piece folder = folder_once(field);
    return ends_with_slash ? folder_once(folder) : folder;
}

struct piece replacement_part(enum part part, struct piece field)
{
    switch (part) {
    case PART_WHOLE: return field;
    case PART_NO_EXTENSION: return without_extension(field);
    case PART_BASENAME: return basename_of(field);
    case PART_FOLDER: return folder_of(field);
    case PART_BASENAME_NO_EXTENSION: return without_extension(basename_of(field));
    case PART_NO_EXTENSIONS_2: return without_extensions(field, 2);
    case PART_NO_EXTENSIONS_3: return without_extensions(field, 3);
    case PART_BASENAME_NO_2: return without_extensions(basename_of(field), 2);
    case PART_BASENAME_NO_3: return without_extensions(basename_of(field), 3);
    case PART_EXTENSION: return extensions_of(field, 1);
    case PART_EXTENSIONS_2: return extensions_of(field, 2);
    case PART_EXTENSIONS_3: return extensions_of(field, 3);
    }
    return field;
}

/* SPDX-License-Identifier: MIT */
/* One-line errors: see error.h. */
#include "common/util/error.h"

#include "common/util/plain.h"

#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 0))) static void format_words(char words[ERROR_TEXT_MAX], const char *format,
                                                               va_list arguments)
{
    vsnprintf(words, ERROR_TEXT_MAX, format, arguments);
    plain(words);
}

int error_set(struct error *error, const char *format, ...)
{
    if (error == NULL)
        return -1;
    va_list arguments;
    va_start(arguments, format);
    format_words(error->text, format, arguments);
    va_end(arguments);
    return -1;
}

int error_before(struct error *error, const char *format, ...)
{
    if (error == NULL)
        return -1;
    const struct error line = *error;
    va_list arguments;
    va_start(arguments, format);
    format_words(error->text, format, arguments);
    va_end(arguments);
    const size_t length = strlen(error->text);
    snprintf(error->text + length, sizeof error->text - length, "%s", line.text);
    return -1;
}

int error_after(struct error *error, const char *format, ...)
{
    char words[ERROR_TEXT_MAX];
    if (error == NULL)
        return -1;
    va_list arguments;
    va_start(arguments, format);
    format_words(words, format, arguments);
    va_end(arguments);
    const size_t most = sizeof error->text - 1 - strlen(words), length = strlen(error->text);
    strcpy(error->text + (length < most ? length : most), words);
    return -1;
}

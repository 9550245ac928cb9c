/* SPDX-License-Identifier: MIT */
/* Separators between fields: see separator.h. */
#include "deploy/cli/separator.h"

#include <stdlib.h>
#include <string.h>

#define MEANS_SOMETHING "\\[](){}.*+?^$|"

static char *separator_copy(const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;
    if (copy == NULL)
        return NULL;
    for (; *text != '\0'; text++) {
        const bool is_tab = text[0] == '\\' && text[1] == 't';
        if (text[0] == '\\' && text[1] == '\\')
            *to++ = *text++;
        *to++ = is_tab ? '\t' : *text;
        text += is_tab;
    }
    *to = '\0';
    return copy;
}

int separator_init(struct separator *separator, const char *text, struct error *error)
{
    *separator = (struct separator){.text = separator_copy(text)};
    if (separator->text == NULL)
        return error_set(error, "out of memory for a separator");
    separator->length = strlen(separator->text);
    if (separator->length == 0) {
        separator_fini(separator);
        return error_set(error, "it is empty; accepted: a string such as ',', or a regular expression such as ' +'");
    }
    separator->is_pattern = separator->length > 1 && strpbrk(separator->text, MEANS_SOMETHING) != NULL;
    if (!separator->is_pattern)
        return 0;
    int code = regcomp(&separator->pattern, separator->text, REG_EXTENDED);
    bool is_empty = code == 0 && regexec(&separator->pattern, "", 0, NULL, 0) == 0;
    if (code == 0 && !is_empty)
        return 0;
    char why[120] = "it fits where there is nothing";
    if (is_empty)
        regfree(&separator->pattern);
    else
        regerror(code, &separator->pattern, why, sizeof why);
    free(separator->text);
    *separator = (struct separator){0};
    return error_set(error, "'%.100s': %s; accepted: a string such as ',', or a regular expression such as ' +'", text,
                     why);
}

void separator_fini(struct separator *separator)
{
    if (separator->is_pattern)
        regfree(&separator->pattern);
    free(separator->text);
    *separator = (struct separator){0};
}

bool separator_find(const struct separator *separator, const char *text, size_t *found, size_t *length)
{
    regmatch_t match;
    if (!separator->is_pattern) {
        const char *at = strstr(text, separator->text);
        *found = at != NULL ? (size_t)(at - text) : 0;
        *length = separator->length;
        return at != NULL;
    }
    if (regexec(&separator->pattern, text, 1, &match, 0) != 0 || match.rm_eo == match.rm_so)
        return false;
    *found = (size_t)match.rm_so;
    *length = (size_t)(match.rm_eo - match.rm_so);
    return true;
}

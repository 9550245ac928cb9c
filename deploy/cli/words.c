/* SPDX-License-Identifier: MIT */
/* Joins the words of a command: see words.h. */
#include "deploy/cli/words.h"

#include "common/util/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A word of only these characters needs no quotes. Exception: braces with a list, such as {1,2} or {1..9}. */
#define WORDS_PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-^#{}"

/* True if the word needs no quotes. A replacement string such as {} works without quotes, too: each value that replaces
 * it becomes a word of its own. */
static bool words_is_plain(const char *word)
{
    /* A word such as #{} stays without quotes, so it begins a comment. Users do this to hide arguments from a
     * command. */
    const bool expands = strchr(word, '{') != NULL && (strchr(word, ',') != NULL || strstr(word, "..") != NULL);
    return word[0] != '\0' && (word[0] != '#' || word[1] == '{') && strspn(word, WORDS_PLAIN) == strlen(word) &&
           !expands;
}

/* A backslash before a brace keeps the brace from being replaced. It must stay outside of the quotes. */
static void add_quoted(struct text *text, const char *word)
{
    const char *brace;
    while ((brace = strstr(word, "\\{")) != NULL) {
        char *before = strndup(word, (size_t)(brace - word));
        text->failed |= before == NULL;
        text_add_quoted(text, before != NULL ? before : "");
        text_add(text, "\\{");
        free(before);
        word = brace + 2;
    }
    text_add_quoted(text, word);
}

static void add_word(struct text *text, const char *word)
{
    if (words_is_plain(word))
        text_add(text, "%s", word);
    else
        add_quoted(text, word);
}

static size_t assignment_length(const char *word)
{
    size_t length = 0;
    while (word[length] == '_' || isalpha((unsigned char)word[length]) ||
           (length > 0 && isdigit((unsigned char)word[length])))
        length++;
    return length > 0 && word[length] == '=' ? length + 1 : 0;
}

static bool is_among(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* Programs that take an operator of a shell, such as '|', as an argument. */
static const struct taker {
    const char *program;
    const char *option; /* the operator follows this option; NULL: see `first` */
    /* the operator must be among this many first words that are no options; 0: it may be any word */
    unsigned first;
    const char *operators;
} takers[] = {
    {"awk", "-F"},
    {"gawk", "-F"},
    {"mawk", "-F"},
    {"cut", "-d"},
    {"paste", "-d"},
    {"sort", "-t"},
    {"join", "-t"},
    {"xargs", "-d"},
    {"column", "-s"},
    {"column", "-o"},
    {"grep", .first = 1},
    {"egrep", .first = 1},
    {"fgrep", .first = 1},
    {"zgrep", .first = 1},
    {"rg", .first = 1},
    {"tr", .first = 2},
    {"expr", .operators = "| & < > ( )"},
    {"test", .operators = "< > ( )"},
    {"[", .operators = "< > ( )"},
    {"find", .operators = "( ) ;"},
};

static const char *program_name(const char *word)
{
    const char *slash = strrchr(word, '/');
    return slash != NULL ? slash + 1 : word;
}

/* Counts the words between `begin` and `at`, except options, and except numbers that belong to an option of grep, such
 * as -m 1. */
static unsigned count_operands(char *const *words, int begin, int at)
{
    unsigned count = 0;
    for (int i = begin + 1; i < at; i++) {
        const char *option = words[i - 1];
        const bool takes_number =
            option[0] == '-' && option[1] != '\0' && strchr("mABC", option[strlen(option) - 1]) != NULL;
        count += words[i][0] != '-' && !(takes_number && isdigit((unsigned char)words[i][0]));
    }
    return count;
}

static bool takes(const struct taker *taker, char *const *words, int begin, int at)
{
    const char *found = taker->operators != NULL ? strstr(taker->operators, words[at]) : NULL;
    if (taker->option != NULL)
        return strcmp(taker->option, words[at - 1]) == 0;
    if (taker->first > 0)
        return count_operands(words, begin, at) < taker->first;
    return found != NULL && words[at][1] == '\0';
}

/* Returns the index of the program of a command. The command begins at `begin`, perhaps with assignments, or with
 * programs such as `env` that run another program. These are skipped. */
static int find_program(char *const *words, int begin, int at)
{
    static const char *const runners[] = {"command", "env",    "exec",    "ionice", "nice",   "nohup",
                                          "setsid",  "stdbuf", "taskset", "time",   "timeout"};
    bool runs = false;
    for (; begin + 1 < at; begin++) {
        const char *word = words[begin];
        const bool is_runner = is_among(program_name(word), runners, sizeof runners / sizeof *runners);
        if (!is_runner && assignment_length(word) == 0 &&
            !(runs && (word[0] == '-' || isdigit((unsigned char)word[0]))))
            break;
        runs |= is_runner;
    }
    return begin;
}

static bool is_taken(char *const *words, int begin, int at)
{
    begin = find_program(words, begin, at);
    const char *name = program_name(words[begin]);
    for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
        if (strcmp(takers[i].program, name) == 0 && takes(&takers[i], words, begin, at))
            return true;
    return false;
}

static bool precedes_command(const char *word)
{
    static const char *const between[] = {"|", "||", "|&", "&", "&&", ";", "(", "!"};
    return is_among(word, between, sizeof between / sizeof *between);
}

static size_t redirection_length(const char *word)
{
    static const char *const redirections[] = {"&>>", "&>", ">>", ">&", ">|", "<<<", "<&", "<>", ">", "<"};
    const size_t digits = strspn(word, "0123456789");
    for (size_t i = 0; i < sizeof redirections / sizeof *redirections; i++) {
        const size_t length = digits + strlen(redirections[i]);
        if (strncmp(word + digits, redirections[i], length - digits) == 0)
            return word[length] == '('                                   ? strlen(word)
                   : word[length + strcspn(word + length, "<>")] == '\0' ? length
                                                                         : 0;
    }
    return 0;
}

/* Returns the length of the operator at the beginning of word number `at`; 0: there is none. Some words are operators
 * only if another word follows. */
static size_t operator_at(char *const *words, int count, int begin, int at)
{
    static const char *const last[] = {"&", ";", ")"}, *const first[] = {"!", "(", "[["};
    const char *word = words[at];
    const bool may_be_last = is_among(word, last, sizeof last / sizeof *last), is_last = at + 1 == count;
    if (at == begin)
        return !is_last && is_among(word, first, sizeof first / sizeof *first) ? strlen(word) : 0;
    if (is_taken(words, begin, at))
        return 0;
    if (strcmp(word, "]]") == 0 && strcmp(words[begin], "[[") == 0)
        return strlen(word);
    if (strcmp(word, "!") != 0 && (precedes_command(word) || strcmp(word, ")") == 0))
        return !is_last || may_be_last ? strlen(word) : 0;
    const size_t length = redirection_length(word);
    const bool lacks_file = length > 0 && length == strlen(word) && word[length - 1] != ')';
    return is_last && lacks_file ? 0 : length;
}

static char *with_braces(const char *word, const char *place)
{
    struct text text;
    const size_t length = place != NULL ? strlen(place) : 0;
    text_init(&text);
    for (const char *at; length > 0 && (at = strstr(word, place)) != NULL; word = at + length)
        text_add(&text, "%.*s{}", (int)(at - word), word);
    text_add(&text, "%s", word);
    return text_take(&text);
}

static void join_words(struct text *text, char *const *words, int count, const struct words_options *options)
{
    bool assigns = !options->quotes;
    for (int at = 0, begin = 0; at < count; at++) {
        const char *word = words[at];
        const size_t raw = options->operators ? operator_at(words, count, begin, at) : 0;
        const size_t name = assigns ? assignment_length(word) : 0;
        assigns = name > 0;
        text_add(text, "%s%.*s", at > 0 ? " " : "", (int)(raw + name), word);
        if (word[raw + name] != '\0' || raw + name == 0)
            add_word(text, word + raw + name);
        if (raw > 0 && precedes_command(word))
            begin = at + 1;
    }
}

char *words_line(char *const *words, int count, const struct words_options *options)
{
    struct text text;
    char **own = calloc((size_t)count + 1, sizeof *own);
    text_init(&text);
    text.failed |= own == NULL;
    for (int i = 0; i < count && own != NULL; i++) {
        own[i] = with_braces(words[i], options->place);
        text.failed |= own[i] == NULL;
    }
    if (!text.failed && (options->joined || (count == 1 && !options->quotes)))
        for (int i = 0; i < count; i++)
            text_add(&text, "%s%s", i > 0 ? " " : "", own[i]);
    else if (!text.failed)
        join_words(&text, own, count, options);
    for (int i = 0; i < count && own != NULL; i++)
        free(own[i]);
    free(own);
    return text_take(&text);
}

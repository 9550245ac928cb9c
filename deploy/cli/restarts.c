/* SPDX-License-Identifier: MIT */
/* Restarts runs that are lost: see restarts.h. */
#include "deploy/cli/restarts.h"
#include "common/config/job.h"
#include "common/job/journal.h"
#include "common/service/poison.h"
#include "common/service/service.h"
#include "common/util/error.h"
#include "common/util/ranges.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#define LATER "; the same line with --resume goes on with what is stored"

static uint64_t count_deaths(const struct poison_set *deaths)
{
    uint64_t count = 0;
    for (size_t i = 0; i < deaths->count; i++)
        count += deaths->items[i].count * deaths->items[i].deaths;
    return count;
}

static uint64_t count_culprits(const struct poison_set *deaths)
{
    uint64_t count = 0;
    for (size_t i = 0; i < deaths->count; i++)
        count += deaths->items[i].deaths >= DEATHS_MAX ? deaths->items[i].count : 0;
    return count;
}

static struct journal_seen see_journal(const char *path)
{
    struct journal_seen seen = {0};
    struct journal_file file;
    struct error error;
    struct stat status;
    if (path[0] == '\0')
        return seen;
    if (journal_read(&file, path, &error) == JOURNAL_READABLE && fstat(file.fd, &status) == 0)
        seen = (struct journal_seen){true,
                                     status.st_dev,
                                     status.st_ino,
                                     status.st_ctim,
                                     ranges_total(&file.content.done),
                                     count_deaths(&file.content.deaths),
                                     count_culprits(&file.content.deaths)};
    journal_file_fini(&file);
    return seen;
}

/* No two runs have the same journal file, because each run begins its journal as a new file. */
static bool is_same_journal(const struct journal_seen *a, const struct journal_seen *b)
{
    return a->readable == b->readable && a->device == b->device && a->inode == b->inode &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

void restarts_init(struct restarts *restarts, const char *journal, unsigned limit, const char *without)
{
    *restarts =
        (struct restarts){.journal = journal, .without = without, .limit = limit, .before = see_journal(journal)};
    restarts->latest = restarts->before;
}

void restarts_init_set(struct restarts *restarts, unsigned limit, const char *without)
{
    *restarts = (struct restarts){.journal = "", .without = without, .is_set = true, .limit = limit};
}

void restarts_fini(struct restarts *restarts)
{
    ranges_fini(&restarts->ran);
}

static int add_deaths(struct journal_content *content, struct ranges *ran)
{
    const struct range loop = journal_loop(&content->head);
    int result = ranges_remove(ran, 0, loop.first, NULL);
    if (result == 0 && loop.first + loop.count > 0)
        result = ranges_remove(ran, loop.first + loop.count, UINT64_MAX - (loop.first + loop.count), NULL);
    for (size_t i = 0; result == 0 && i < ranges_length(&content->done); i++)
        result = ranges_remove(ran, ranges_at(&content->done, i)->first, ranges_at(&content->done, i)->count, NULL);
    for (size_t i = 0; result == 0 && i < ranges_length(ran); i++) {
        const struct poison more = {
            .first = ranges_at(ran, i)->first, .count = ranges_at(ran, i)->count, .deaths = 1, .shares_blame = true};
        result = poison_add(&content->deaths, &more);
    }
    return result;
}

static bool has_suspects(const struct poison_set *deaths)
{
    for (size_t i = 0; i < deaths->count; i++)
        if (deaths_make_suspect(&deaths->items[i]))
            return true;
    return false;
}

/* Adds a death in the journal to each task that was running at the loss. No other process writes the journal at that
 * time. If writing fails, no task is blamed. */
static void blame_tasks(struct restarts *restarts)
{
    struct journal_file file;
    struct journal journal;
    struct error error;
    if (ranges_total(&restarts->ran) == 0)
        return;
    if (journal_read(&file, restarts->journal, &error) == JOURNAL_READABLE &&
        add_deaths(&file.content, &restarts->ran) == 0 && ranges_total(&restarts->ran) > 0 &&
        journal_begin(&journal, restarts->journal, &file.content.head, &file.content, false, &error) == 0) {
        journal_close(&journal, false);
        restarts->has_suspects |= has_suspects(&file.content.deaths);
    }
    journal_file_fini(&file);
    ranges_clear(&restarts->ran);
}

static bool decide_on_restart(struct restarts *restarts, const struct launch *how, char *text, size_t size)
{
    const struct journal_seen now = see_journal(restarts->journal);
    restarts->is_stored = now.readable && !is_same_journal(&now, &restarts->before);
    const char *later = restarts->is_stored && !how->is_passing ? LATER : "";
    const bool records =
        restarts->count == 0 || now.done > restarts->latest.done || now.deaths != restarts->latest.deaths;
    if (records && now.culprits > restarts->latest.culprits)
        restarts->count = 0;
    if (how->asked || how->late || (restarts->limit == 0 && !how->summarized))
        snprintf(text, size, "%s", later);
    else if (how->summarized)
        snprintf(text, size, "; its summary was printed, and it is not started again%s", later);
    else if (!restarts->is_stored && how->begun)
        snprintf(text, size, ": it is not started again, as %s cannot be read to go on from", restarts->journal);
    else if (!restarts->is_stored && !how->started)
        text[0] = '\0'; /* the launcher failed, or the run was on another machine */
    else if (!records)
        snprintf(text, size, ": it is not started again, as the last start recorded nothing%s", later);
    else if (restarts->count == restarts->limit)
        snprintf(text, size, "; it was started again %u times, which is all that --restarts allows%s", restarts->limit,
                 later);
    else {
        restarts->latest = now;
        restarts->count++;
        snprintf(text, size, ": starting again%s, %u of %u times", restarts->is_stored ? " where it was" : "",
                 restarts->count, restarts->limit);
        return true;
    }
    return false;
}

static bool decide_on_set(struct restarts *restarts, const struct launch *how, char *text, size_t size)
{
    if (how->asked || how->late || restarts->limit == 0 || !how->begun)
        snprintf(text, size, "%s", restarts->without);
    else if (restarts->count == restarts->limit)
        snprintf(text, size, "; it was started again %u times, which is all that --restarts allows%s", restarts->limit,
                 restarts->without);
    else {
        restarts->is_stored = true;
        restarts->count++;
        snprintf(text, size, ": starting again with its jobs, %u of %u times", restarts->count, restarts->limit);
        return true;
    }
    return false;
}

bool restarts_are_due(struct restarts *restarts, const struct launch *how)
{
    char text[JOB_JOURNAL_PATH_MAX + 200] = "";
    if (how->lost[0] != '\0' && !how->asked && !how->late && restarts->journal[0] != '\0')
        blame_tasks(restarts);
    const bool keeps = restarts->journal[0] != '\0';
    bool due =
        how->lost[0] != '\0' && (restarts->is_set ? decide_on_set(restarts, how, text, sizeof text)
                                                  : keeps && decide_on_restart(restarts, how, text, sizeof text));
    launch_say_lost(how, keeps || restarts->is_set ? text : restarts->without);
    return due;
}

/* SPDX-License-Identifier: MIT */
/* Events and actions as text: see trace.h. */
#include "deploy/simulate/virtual/trace.h"

#include "common/util/ranges.h"
#include "proto/message.h"
#include "proto/record.h"

#include <inttypes.h>
#include <stdio.h>

static const char *payload_text(enum payload payload)
{
    static const char *const names[] = {"", " +inline", " +data"};
    return names[payload];
}

static const char *more_text(const struct message *message, char *text, size_t size)
{
    text[0] = '\0';
    if (message->record_count > 0)
        snprintf(text, size, " +%u", message->record_count);
    return text;
}

static void trace_request(const struct message *message, char *text, size_t size)
{
    const struct request *request = &message->request;
    char spread[60] = "", more[30];
    if (request->samples > 0)
        snprintf(spread, sizeof spread, " deviation=%.0f/%u", (double)request->deviation_ns, request->samples);
    if (request->done)
        snprintf(text, size, "REQUEST asks=%u done=#%" PRIu32 " compute=%" PRIu64 "%s%s%s", request->asks,
                 request->chunk, request->compute_ns, spread, payload_text(message->payload),
                 more_text(message, more, sizeof more));
    else
        snprintf(text, size, "REQUEST asks=%u", request->asks);
}

static void trace_returned(const struct message *message, char *text, size_t size)
{
    uint64_t first = 0, count = 0;
    if (message->record_count > 0)
        assign_record_get(message->records, 0, &first, &count);
    snprintf(text, size, "RETURNED [%" PRIu64 ", %" PRIu64 ") and %u more", first, first + count,
             message->record_count > 0 ? message->record_count - 1 : 0);
}

static void trace_message(const struct message *message, char *text, size_t size)
{
    char more[30];
    switch (message->type) {
    case MESSAGE_REQUEST: trace_request(message, text, size); break;
    case MESSAGE_RESULT:
        snprintf(text, size, "RESULT #%" PRIu32 " count=%" PRIu64 "%s", message->result.chunk, message->result.count,
                 payload_text(message->payload));
        break;
    case MESSAGE_ASSIGN:
        snprintf(text, size, "ASSIGN #%" PRIu32 " [%" PRIu64 ", %" PRIu64 ")%s%s", message->assign.chunk,
                 message->assign.first, message->assign.first + message->assign.count,
                 more_text(message, more, sizeof more), message->assign.isolated ? " isolated" : "");
        break;
    case MESSAGE_END:
        snprintf(text, size, "END%s%s%s%s", message->end.drain ? " drain" : "", message->end.now ? " now" : "",
                 message->end.degraded ? " degraded" : "", message->end.late ? " late" : "");
        break;
    case MESSAGE_REPORT:
        snprintf(text, size, "REPORT ranges=%u busy=%" PRIu32 "%s", message->record_count, message->report.busy,
                 message->report.refill ? " refill" : "");
        break;
    case MESSAGE_REFILL:
        snprintf(text, size, "REFILL chunks=%u%s%s%s", message->record_count, message->refill.more ? " more" : "",
                 message->refill.empty ? " empty" : "", message->refill.begun ? " begun" : "");
        break;
    case MESSAGE_SPEED: snprintf(text, size, "SPEED levels=%u", message->speed.levels); break;
    case MESSAGE_ECHO: snprintf(text, size, "ECHO %" PRIu32, message->echo.id); break;
    case MESSAGE_FEEDBACK: snprintf(text, size, "FEEDBACK workers=%u", message->record_count); break;
    case MESSAGE_LOADS: snprintf(text, size, "LOADS workers=%u", message->record_count); break;
    case MESSAGE_STATS: snprintf(text, size, "STATS workers=%u", message->record_count); break;
    case MESSAGE_FATAL:
        snprintf(text, size, "FATAL rank=%" PRIu32 " \"%.*s\"", message->fatal.rank, (int)message->fatal.length,
                 message->fatal.text);
        break;
    case MESSAGE_ADOPT:
        snprintf(text, size, "ADOPT [%" PRIu64 ", %" PRIu64 ")", message->adopt.first,
                 message->adopt.first + message->adopt.count);
        break;
    case MESSAGE_WORKER_LOST:
        snprintf(text, size, "WORKER_LOST rank=%" PRIu32 " chunks=%" PRIu64 " [%" PRIu64 ", %" PRIu64 ")",
                 message->worker_lost.rank, message->worker_lost.chunks, message->worker_lost.first,
                 message->worker_lost.first + message->worker_lost.count);
        break;
    case MESSAGE_VERIFIED:
        snprintf(text, size, "VERIFIED alike=%" PRIu64 " unverified=%" PRIu64 " [%" PRIu64 ", %" PRIu64 ") by %u",
                 message->verified.alike, message->verified.unverified, message->verified.first,
                 message->verified.first + message->verified.count, message->verified.computations);
        break;
    case MESSAGE_ITERATIONS_FAILED:
        snprintf(text, size, "ITERATIONS_FAILED %" PRIu32 " [%" PRIu64 ", %" PRIu64 ")%s \"%.*s\"",
                 message->iterations_failed.id, message->iterations_failed.first,
                 message->iterations_failed.first + message->iterations_failed.count,
                 message->iterations_failed.final  ? " final"
                 : message->iterations_failed.died ? " died"
                                                   : "",
                 (int)message->iterations_failed.length, message->iterations_failed.text);
        break;
    case MESSAGE_POISON:
        snprintf(text, size, "POISON [%" PRIu64 ", %" PRIu64 ") deaths=%" PRIu32 " failures=%" PRIu32 " by %" PRIu32,
                 message->poison.first, message->poison.first + message->poison.count, message->poison.deaths,
                 message->poison.failures, message->poison.failed_by);
        break;
    case MESSAGE_NEIGHBOUR:
        snprintf(text, size, "NEIGHBOUR %" PRIu64 " rank=%" PRIu32, message->neighbour.first, message->neighbour.rank);
        break;
    case MESSAGE_BOUNDARY:
        snprintf(text, size, "BOUNDARY %" PRIu64 " [%" PRIu64 ", %" PRIu64 ")%s", message->boundary.first,
                 message->boundary.offset, message->boundary.offset + message->payload_bytes,
                 payload_text(message->payload));
        break;
    case MESSAGE_RECALL: snprintf(text, size, "RECALL waiting=%" PRIu32, message->recall.waiting); break;
    case MESSAGE_RETURNED: trace_returned(message, text, size); break;
    case MESSAGE_JOB:
        snprintf(text, size, "JOB %u bytes from %" PRIu32 " on, of %" PRIu32, message->record_count,
                 message->job_part.offset, message->job_part.all);
        break;
    default: snprintf(text, size, "%s", message_name(message->type));
    }
}

void trace_event(const struct event *event, char *text, size_t size)
{
    char inner[200];
    switch (event->type) {
    case EVENT_START: snprintf(text, size, "start"); break;
    case EVENT_MESSAGE:
        trace_message(event->message, inner, sizeof inner);
        snprintf(text, size, "from %u: %s", event->from, inner);
        break;
    case EVENT_STORED:
        snprintf(text, size, "%s [%" PRIu64 ", %" PRIu64 ")",
                 event->lost           ? "not stored"
                 : event->text == NULL ? "stored"
                                       : "store failed",
                 event->part.first, event->part.first + event->part.count);
        break;
    case EVENT_PROBED: snprintf(text, size, "probed levels=%u", event->speed->levels); break;
    case EVENT_MARK: snprintf(text, size, "mark at %" PRIu64, event->chunk.done); break;
    case EVENT_CUT:
        snprintf(text, size, "cut [%" PRIu64 ", %" PRIu64 ")", event->cut.first, event->cut.first + event->cut.count);
        break;
    case EVENT_STOLEN:
        snprintf(text, size, "stolen [%" PRIu64 ", %" PRIu64 ")", event->stolen.range.first,
                 event->stolen.range.first + event->stolen.range.count);
        break;
    case EVENT_DRY: snprintf(text, size, "dry"); break;
    case EVENT_BOUNDARY_READY:
        snprintf(text, size, "boundary ready %" PRIu64 " bytes=%" PRIu64, event->ready.boundary_at, event->ready.bytes);
        break;
    case EVENT_SLICE: snprintf(text, size, "slice of %" PRIu64, event->chunk.count); break;
    case EVENT_ITERATIONS_FAILED:
        snprintf(text, size, "%" PRIu64 " failed%s", event->chunk.count, event->chunk.final ? " for good" : "");
        break;
    case EVENT_FINISHED: snprintf(text, size, "finished"); break;
    case EVENT_TIMER: snprintf(text, size, "timer"); break;
    case EVENT_DRAIN: snprintf(text, size, "drain%s", event->now ? " now" : ""); break;
    case EVENT_FATAL: snprintf(text, size, "problem"); break;
    case EVENT_LOAD: snprintf(text, size, "load %.2f", (double)event->load / LOAD_ONE); break;
    case EVENT_MORE: snprintf(text, size, "told of more"); break;
    case EVENT_JOINED: snprintf(text, size, "a master has joined"); break;
    case EVENT_LEAVING: snprintf(text, size, "master %u is to leave%s", event->from, event->now ? " now" : ""); break;
    case EVENT_GROWN:
        snprintf(text, size, "grown to %" PRIu64 "%s", event->growth.count,
                 event->growth.is_complete ? ", complete" : "");
        break;
    case EVENT_RANK_LOST: snprintf(text, size, "lost %u", event->from); break;
    }
}

void trace_action(const struct action *action, char *text, size_t size)
{
    char inner[200];
    switch (action->type) {
    case ACTION_SEND:
        trace_message(&action->send.message, inner, sizeof inner);
        snprintf(text, size, "to %u: %s", action->send.to, inner);
        break;
    case ACTION_PROBE: snprintf(text, size, "probe"); break;
    case ACTION_RUN:
        snprintf(text, size, "run #%" PRIu32 " [%" PRIu64 ", %" PRIu64 ") mark=%" PRIu64 "%s", action->run.chunk,
                 action->run.first, action->run.first + action->run.count, action->run.mark,
                 action->run.isolated ? " isolated" : "");
        break;
    case ACTION_MARK: snprintf(text, size, "mark=%" PRIu64, action->run.mark); break;
    case ACTION_CUT:
        if (action->cut.now)
            snprintf(text, size, "cut off all that is not done");
        else if (action->cut.waiting == RECALL_ALL)
            snprintf(text, size, "cut off all that has not begun");
        else
            snprintf(text, size, "cut for %" PRIu32 " that wait", action->cut.waiting);
        break;
    case ACTION_STEAL:
        snprintf(text, size, "steal from %u for %u that wait", action->steal.to, action->steal.waiting);
        break;
    case ACTION_FORGET: snprintf(text, size, "forget"); break;
    case ACTION_GROW: snprintf(text, size, "look whether it has grown"); break;
    case ACTION_STORE:
    case ACTION_COLLECT:
        snprintf(text, size, "%s [%" PRIu64 ", %" PRIu64 ")", action->type == ACTION_STORE ? "store" : "collect",
                 action->store.part.first, action->store.part.first + action->store.part.count);
        break;
    case ACTION_JOURNAL:
        snprintf(text, size, "journal %zu ranges digest=%016" PRIx64, action->journal.count, action->journal.digest);
        break;
    case ACTION_DEATHS:
        snprintf(text, size, "deaths [%" PRIu64 ", %" PRIu64 ") workers=%" PRIu32 " processes=%" PRIu32,
                 action->deaths.first, action->deaths.first + action->deaths.count, action->deaths.deaths,
                 action->deaths.failures);
        break;
    case ACTION_POINT:
        snprintf(text, size, "point %" PRIu64 " [%" PRIu64 ", %" PRIu64 ")", action->point.at, action->point.offset,
                 action->point.offset + action->point.bytes);
        break;
    case ACTION_SYNC: snprintf(text, size, "sync"); break;
    case ACTION_BOUNDARY:
        snprintf(text, size, "boundary %" PRIu64 " [%" PRIu64 ", %" PRIu64 ")", action->boundary.first,
                 action->boundary.offset, action->boundary.offset + action->boundary.bytes);
        break;
    case ACTION_REUSE: snprintf(text, size, "reuse %" PRIu64, action->boundary_at); break;
    case ACTION_RELEASE: snprintf(text, size, "release %" PRIu64, action->boundary_at); break;
    case ACTION_DROP: snprintf(text, size, "drop %u: %s", action->drop.rank, action->drop.text); break;
    case ACTION_TAKEN: snprintf(text, size, "taken"); break;
    case ACTION_EXIT: snprintf(text, size, "exit %d", action->exit.status); break;
    }
}

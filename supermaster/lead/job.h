/* SPDX-License-Identifier: MIT */
/* A job as the supermaster leads it, from its words to its summary: its machine, the effects of that, and what is said
 * of it. A plain run has one of these, a set has one for each job that runs. */
#pragma once

#include "common/control/job_json.h"
#include "common/job/root.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"
#include "supermaster/given_up.h"

#include <sys/types.h>

struct led_job;

/* A job without words. NULL when memory is out. */
struct led_job *led_job_new(const char *version);

/* Releases all of it; a job that was prepared and has not run leaves no journal. NULL is fine. */
void led_job_free(struct led_job *led);

/* Its streams, its rank, its terminal, and the line of what is wrong with it. */
struct root *led_job_root(struct led_job *led);

/* Has all files of the job be sought from the folder, by its descriptor, and made with that umask, and its kernel be
 * asked in that environment. The descriptor and the environment are borrowed. Without this the job is where the process
 * is. `is_patient`: its kernel is waited for while it is loaded, for some seconds; else reading the words does not
 * wait. */
void led_job_place(struct led_job *led, int folder, mode_t mask, char **environment, bool is_patient);

/* A job of a set. */
struct led_number {
    const char *set;          /* its name */
    uint32_t id;              /* 0: not in a set */
    bool has_run;             /* before, in an earlier set: its output may be there */
    const char *default_name; /* of its output, in the place of the kernel's; NULL: the kernel's */
};

/* Gives the job its number in its set. A name that its kernel gives the output has that number, so that jobs in one
 * folder do not meet: exec-12.out, or exec-SET-12.out where that is another set's. The texts are borrowed. Before
 * led_job_read(). */
void led_job_number(struct led_job *led, const struct led_number *number);

/* led_job_is_loading(): true if the job's words could not be read yet, because its kernel is still being loaded. The
 * caller reads the words again once led_job_has_loaded() is true. led_job_loading_socket() is readable by then. */
bool led_job_is_loading(const struct led_job *led);
bool led_job_has_loaded(const struct led_job *led);
int led_job_loading_socket(const struct led_job *led);

/* Has a job that is read anew, and is placed, use what was loaded for the other one. */
void led_job_take_kernel(struct led_job *led, struct led_job *other);

/* Says that the loop, which grows, is looked at when the machine is told of more, and only then. Before it is
 * prepared. */
void led_job_expect_more(struct led_job *led);

/* Says that masters may join with their workers while the job runs. Before it is prepared. */
void led_job_expect_pods(struct led_job *led);

/* Makes room for a master with so many workers that joins. -1 when memory is out: nothing has changed. */
int led_job_reserve(struct led_job *led, unsigned workers);

/* The topology has that master; the machine is told by the caller. */
void led_job_note_joined(struct led_job *led);

/* Sets the rank of the master of the i-th pod, from 0, that cannot take part. False where there are fewer. */
bool led_job_tell_unfit(const struct led_job *led, unsigned i, unsigned *rank);

/* Notes how many iterations have been added by now to a loop to which they are added by number; the machine is told by
 * the caller. After led_job_prepare(). */
void led_job_note_added(struct led_job *led, uint64_t added, bool is_complete);

/* Reads the words, which are borrowed, and asks the kernel. Returns what job_setup_make() does, the line in
 * led_job_root()->error. */
int led_job_read(struct led_job *led, int argc, char **argv);

/* All that can be wrong with the job and only shows once the line-up is known; the files last, when the rest is right.
 * Says what is wrong, and what is to be noted. Returns an exit status: EXIT_STATUS_DONE, or that of a job that does not
 * begin; HELLO_STATUS_HELP with one line if nothing is left to do. `topology` is borrowed for the life of the job. */
int led_job_prepare(struct led_job *led, struct runtime *runtime, const struct topology *topology);

/* The command line for the other ranks, of `*count` words. Its word 0 has the findings: with them
 * a rank that reads files finds out whether they are the same, and a rank that does not run a user's kernel or cut by a
 * user's technique need not load it. The array is the caller's to free, the words are borrowed. NULL when memory is
 * out: the other ranks of a run then get the words of led_job_read(), and find out for themselves. */
char **led_job_words(const struct led_job *led, int *count);

/* Announces the job, whose words it adds to what is said `about` it, to all ranks under its number; `is_for_pods`: also
 * to those of pods. Returns an exit status; what is wrong has been said. After led_job_prepare(). */
struct announcement;
struct link;
int led_job_announce(struct led_job *led, struct link *link, uint32_t number, struct announcement *about,
                     bool is_for_pods);

/* The machine, and its effects, which are the job's. After led_job_prepare(). */
struct machine led_job_machine(struct led_job *led);
const struct effects *led_job_effects(struct led_job *led);

/* What is known of it at this moment. After led_job_prepare(). */
void led_job_tell(struct led_job *led, struct control_job *job);

/* Tells of the rank at that place, from 0: the masters come first. False where there is none. */
bool led_job_tell_rank(const struct led_job *led, uint64_t place, struct rank_figures *rank);

/* Tells of the iteration that was given up at that place, from 0, and of those behind it with the same reason. False
 * where there is none. After led_job_prepare(). */
bool led_job_tell_failure(const struct led_job *led, uint64_t place, struct failure_figures *failure);

/* Iterations that it can tell of in that way. */
uint64_t led_job_failures(const struct led_job *led);

/* Workers that have something to compute for it. */
unsigned led_job_busy(const struct led_job *led);

/* Why most of its tasks have failed, after led_job_end(), as a line of `text`, which it returns; empty: none has. */
#define LED_REASON_MAX 1000
char *led_job_reason(const struct led_job *led, char text[LED_REASON_MAX]);

/* Moves the list of what was given up of a job that has ended to whoever keeps it. */
struct given_up led_job_take_given_up(struct led_job *led);

/* True for a job that has failed as all workers are lost; `keeps_journal`: one goes on from there. */
bool led_job_is_deserted(const struct led_job *led, bool *keeps_journal);
/* True if the job failed as it lost a rank that others need, and can go on from its journal. */
bool led_job_is_interrupted(const struct led_job *led);

/* The machine has exited with `status`: makes the final files, prints the summary and writes the report. Returns the
 * exit status of the job. */
int led_job_end(struct led_job *led, int status);

/* All ranks are through: settles what they have left. Returns the exit status of the job. */
int led_job_settle(struct led_job *led, int status);

/* As root_clear_away(). */
void led_job_clear_away(struct led_job *led, int status);

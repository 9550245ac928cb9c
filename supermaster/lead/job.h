/* SPDX-License-Identifier: MIT */
/* A job as the supermaster runs it, from its command line to its summary: its machine, the effects of that machine, and
 * all messages. A plain run has one, a set has one per running job. */
#pragma once

#include "common/control/job_json.h"
#include "common/job/root.h"
#include "common/machine/machine.h"
#include "common/machine/topology.h"
#include "common/mpi/runtime.h"
#include "supermaster/given_up.h"

#include <sys/types.h>

struct led_job;

struct led_job *led_job_new(const char *version);

/* Releases the job, which may be NULL. A job that was prepared but has not run leaves no journal. */
void led_job_free(struct led_job *led);

/* The streams, rank, terminal and error text of the job. */
struct root *led_job_root(struct led_job *led);

/* Sets the folder (a descriptor) and the umask with which the job runs, and the environment of its kernel. The defaults
 * are those of the process. Folder and environment are borrowed. `is_patient`: led_job_read() waits some seconds while
 * the kernel is loaded; otherwise it does not wait. */
void led_job_place(struct led_job *led, int folder, mode_t mask, char **environment, bool is_patient);

/* A job's number in a set. Set it before led_job_read(). Output names chosen by the kernel contain it, so that jobs in
 * one folder have different files: exec-12.out, or exec-SET-12.out if that exists from another set. The texts are
 * borrowed. */
struct led_number {
    const char *set;
    uint32_t id;              /* 0: the job is not in a set */
    bool has_run;             /* the job has run in an earlier set, so its output may exist */
    const char *default_name; /* default name of the output; NULL: the kernel chooses it */
};

void led_job_number(struct led_job *led, const struct led_number *number);

/* led_job_is_loading() is true if the job's words could not be read yet, because its kernel is still being loaded. The
 * caller reads the words again after led_job_has_loaded() is true; led_job_loading_socket() is readable by then. */
bool led_job_is_loading(const struct led_job *led);
bool led_job_has_loaded(const struct led_job *led);
int led_job_loading_socket(const struct led_job *led);

/* Gives the loaded kernel of `other` to a placed job that is read again. */
void led_job_take_kernel(struct led_job *led, struct led_job *other);

/* The next two are called before led_job_prepare(). led_job_expect_more(): growth of the loop is announced to the
 * machine, which then does not check for it periodically. led_job_expect_pods(): masters may join while the job
 * runs. */
void led_job_expect_more(struct led_job *led);
void led_job_expect_pods(struct led_job *led);

/* Makes room for a joining master with this many workers. -1: out of memory, nothing changed. */
int led_job_reserve(struct led_job *led, unsigned workers);

/* Adds the master for which led_job_reserve() has made room and which is now in the topology. The caller tells the
 * machine. */
void led_job_note_joined(struct led_job *led);

/* Sets `*rank` to the rank of the master of the i-th pod, from 0, that cannot take part. False if there are fewer. */
bool led_job_tell_unfit(const struct led_job *led, unsigned i, unsigned *rank);

/* Sets how many iterations were added so far to a loop that grows by a number of iterations, not by rows. The caller
 * tells the machine. Call it after led_job_prepare(), like all functions below except led_job_read(). */
void led_job_note_added(struct led_job *led, uint64_t added, bool is_complete);

/* Parses the words, which are borrowed, and queries the kernel. Returns as job_setup_make(), with the error in
 * led_job_root()->error. */
int led_job_read(struct led_job *led, int argc, char **argv);

/* Makes all checks that need the topology, then opens the files; prints errors and notes. Returns EXIT_STATUS_DONE, the
 * exit status of a job that does not begin, or HELLO_STATUS_HELP if nothing is left to do. `topology` is borrowed for
 * the life of the job. */
int led_job_prepare(struct led_job *led, struct runtime *runtime, const struct topology *topology);

/* Returns the command line for the other ranks, of `*count` words. Word 0 is the text of this rank's findings
 * (common/config/findings.h): with it a rank that reads input files can check that they are the same, and a rank that
 * does not run the user's kernel or technique need not load it. The caller frees the array, not the words. NULL if
 * memory runs out: the other ranks then get the words of led_job_read(), and find out for themselves. */
char **led_job_words(const struct led_job *led, int *count);

/* Announces the job to all ranks under its number, after adding its words to `about`; `is_for_pods`: also to pods.
 * Returns an exit status; errors are printed. */
struct announcement;
struct link;
int led_job_announce(struct led_job *led, struct link *link, uint32_t number, struct announcement *about,
                     bool is_for_pods);

struct machine led_job_machine(struct led_job *led);
const struct effects *led_job_effects(struct led_job *led);

void led_job_tell(struct led_job *led, struct control_job *job);

/* Sets the figures of rank number `place`, from 0, masters first. False if there is none. */
bool led_job_tell_rank(const struct led_job *led, uint64_t place, struct rank_figures *rank);

/* Describes the given-up iteration number `place`, from 0, and those after it with the same reason. False if there is
 * none. */
bool led_job_tell_failure(const struct led_job *led, uint64_t place, struct failure_figures *failure);

uint64_t led_job_failures(const struct led_job *led);

/* Returns how many workers have something to compute for the job. */
unsigned led_job_busy(const struct led_job *led);

/* Writes into `text` a line with the most frequent reason for which tasks of the job have failed; an empty one if no
 * task has failed. Returns `text`. Call it after led_job_end(). */
#define LED_REASON_MAX 1000
char *led_job_reason(const struct led_job *led, char text[LED_REASON_MAX]);

/* Takes the list of given-up iterations out of an ended job; the caller owns it. */
struct given_up led_job_take_given_up(struct led_job *led);

/* True if the job failed because all workers were lost. Sets `*keeps_journal` to whether the job can be resumed. */
bool led_job_is_deserted(const struct led_job *led, bool *keeps_journal);
/* True if the job failed because it lost a rank that others need, and can be resumed from its journal. */
bool led_job_is_interrupted(const struct led_job *led);

/* After the machine exited with `status`: makes the final files, prints the summary and writes the report. Returns the
 * job's exit status. */
int led_job_end(struct led_job *led, int status);

/* After all ranks have finished: joins the files they left. Returns the job's exit status. */
int led_job_settle(struct led_job *led, int status);

void led_job_clear_away(struct led_job *led, int status);

/* SPDX-License-Identifier: MIT */
/* A job as the supermaster runs it, from its command line to its summary. It consists of its machine, the effects of
 * that machine, and all that the job prints. A plain run has one such job, and a set has one for each running job. */
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

/* Releases the job, which may be NULL. If the job was prepared but has not run, removes its journal. */
void led_job_free(struct led_job *led);

struct root *led_job_root(struct led_job *led);

/* Sets the folder (a descriptor) and the umask in which the job runs, and the environment of its kernel. The defaults
 * are those of the process. Folder and environment are borrowed. `is_patient`: if the kernel is still being loaded,
 * led_job_read() waits for it for some seconds. */
void led_job_place(struct led_job *led, int folder, mode_t mask, char **environment, bool is_patient);

/* The number of a job in a set. Must be set before led_job_read(). If the kernel chooses the name of the output, the
 * number becomes part of that name. So jobs in the same folder have different files, such as exec-12.out. If another
 * set may have made a file of that name, the name is exec-SET-12.out. The texts are borrowed. */
struct led_number {
    const char *set;
    uint32_t id;
    bool has_run;
    const char *default_name;
};

void led_job_number(struct led_job *led, const struct led_number *number);

/* For kernels that are still being loaded. led_job_is_loading() returns true if this was the reason why led_job_read()
 * has failed. The caller can wait until led_job_loading_socket() is readable. After led_job_has_loaded() has returned
 * true, the caller can call led_job_read() again. */
bool led_job_is_loading(const struct led_job *led);
bool led_job_has_loaded(const struct led_job *led);
int led_job_loading_socket(const struct led_job *led);

/* Exchanges the loaded kernels of two jobs. A job that is read again thus need not load its kernel again. */
void led_job_take_kernel(struct led_job *led, struct led_job *other);

/* These functions must be called before led_job_prepare(). led_job_expect_more(): the machine will be told when the
 * loop grows, so it does not check for growth periodically. led_job_expect_pods(): masters may join while the job
 * runs. */
void led_job_expect_more(struct led_job *led);
void led_job_expect_pods(struct led_job *led);

/* Makes room for a joining master with this many workers. Returns -1 if memory runs out; then nothing has changed. */
int led_job_reserve(struct led_job *led, unsigned workers);

/* Takes in a joined master. Before, led_job_reserve() must have made room for it, and the caller must have added it to
 * the topology. Afterwards the caller must tell the machine. */
void led_job_note_joined(struct led_job *led);

bool led_job_tell_unfit(const struct led_job *led, unsigned i, unsigned *rank);

/* For a loop that grows by a number of iterations, not by rows: sets how many iterations clients have added so far.
 * Afterwards the caller must tell the machine. This function and all functions below it, except led_job_read(), require
 * led_job_prepare(). */
void led_job_note_added(struct led_job *led, uint64_t added, bool is_complete);

/* Parses the command line and queries the kernel. The job borrows from the command line. Returns the same values as
 * job_setup_make(). The error is in led_job_root()->error. */
int led_job_read(struct led_job *led, int argc, char **argv);

/* Makes all checks that need the topology, then opens the files. Prints errors and notes. Returns EXIT_STATUS_DONE if
 * the job can begin, and HELLO_STATUS_HELP if nothing is left to do. Otherwise returns the exit status of the job.
 * `topology` is borrowed for the life of the job. */
int led_job_prepare(struct led_job *led, struct runtime *runtime, const struct topology *topology);

/* Returns the command line for the other ranks, which has `*count` words. Word 0 is the text of the findings of this
 * rank (common/config/findings.h). With these findings the other ranks check that their input files are the same. The
 * findings also describe the user's kernel and technique, so ranks that do not run these need not load them. The caller
 * frees the array, but not the words. Returns NULL if memory runs out; the other ranks can then use the words that were
 * passed to led_job_read(). */
char **led_job_words(const struct led_job *led, int *count);

/* Adds the words of the job to `about`, and announces the job to all ranks as number `number`. `is_for_pods`: pods get
 * the announcement, too. Prints errors and returns an exit status. */
struct announcement;
struct link;
int led_job_announce(struct led_job *led, struct link *link, uint32_t number, struct announcement *about,
                     bool is_for_pods);

struct machine led_job_machine(struct led_job *led);
const struct effects *led_job_effects(struct led_job *led);

void led_job_tell(struct led_job *led, struct control_job *job);

bool led_job_tell_rank(const struct led_job *led, uint64_t place, struct rank_figures *rank);

bool led_job_tell_failure(const struct led_job *led, uint64_t place, struct failure_figures *failure);

uint64_t led_job_failures(const struct led_job *led);

unsigned led_job_busy(const struct led_job *led);

/* Writes a line with the most frequent reason of failed tasks to `text`. If no task has failed, writes an empty line.
 * Returns `text`. Requires led_job_end(). */
#define LED_REASON_MAX 1000
char *led_job_reason(const struct led_job *led, char text[LED_REASON_MAX]);

/* Moves the list of given-up iterations out of an ended job. The caller owns the list. */
struct given_up led_job_take_given_up(struct led_job *led);

bool led_job_is_deserted(const struct led_job *led, bool *keeps_journal);
bool led_job_is_interrupted(const struct led_job *led);

/* Ends a job whose machine has exited with `status`: completes the files, prints the summary and writes the report.
 * Returns the exit status of the job. */
int led_job_end(struct led_job *led, int status);

/* Joins the files that the ranks have written. Must be called after all ranks have finished. Returns the exit status of
 * the job. */
int led_job_settle(struct led_job *led, int status);

void led_job_clear_away(struct led_job *led, int status);

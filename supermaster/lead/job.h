/* SPDX-License-Identifier: MIT */
/* A job as the supermaster runs it, from its command line to its summary: its machine, the effects of that machine, and
 * all that it prints. A plain run has one, a set has one for each running job. */
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

struct root *led_job_root(struct led_job *led);

/* Sets the folder (a descriptor) and the umask with which the job runs, and the environment of its kernel. The defaults
 * are those of the process. Folder and environment are borrowed. `is_patient`: led_job_read() waits some seconds while
 * the kernel is loaded; otherwise it does not wait. */
void led_job_place(struct led_job *led, int folder, mode_t mask, char **environment, bool is_patient);

/* A job's number in a set. Must be set before led_job_read(). Output names that the kernel chooses contain the number,
 * so that jobs in one folder have different files: exec-12.out, or exec-SET-12.out if another set has made the former.
 * The texts are borrowed. */
struct led_number {
    const char *set;
    uint32_t id;
    bool has_run;
    const char *default_name;
};

void led_job_number(struct led_job *led, const struct led_number *number);

/* led_job_is_loading() is true if led_job_read() has failed because the kernel is still being loaded. After
 * led_job_has_loaded() is true, the words can be read again. led_job_loading_socket() is readable by then. */
bool led_job_is_loading(const struct led_job *led);
bool led_job_has_loaded(const struct led_job *led);
int led_job_loading_socket(const struct led_job *led);

/* Exchanges the loaded kernels of two jobs, so that a job that is read again need not load its kernel again. */
void led_job_take_kernel(struct led_job *led, struct led_job *other);

/* Must be called before led_job_prepare(). led_job_expect_more(): growth of the loop is announced to the machine, which
 * then does not check for growth periodically. led_job_expect_pods(): masters may join while the job runs. */
void led_job_expect_more(struct led_job *led);
void led_job_expect_pods(struct led_job *led);

/* Makes room for a joining master with this many workers. -1: out of memory, nothing changed. */
int led_job_reserve(struct led_job *led, unsigned workers);

/* Takes in a master for which led_job_reserve() has made room, and which was then added to the topology. The caller
 * tells the machine. */
void led_job_note_joined(struct led_job *led);

bool led_job_tell_unfit(const struct led_job *led, unsigned i, unsigned *rank);

/* Sets how many iterations were added so far to a loop that grows by a number of iterations, not by rows. The caller
 * tells the machine. This function and all below, except led_job_read(), require led_job_prepare(). */
void led_job_note_added(struct led_job *led, uint64_t added, bool is_complete);

/* Parses the words, which are borrowed, and queries the kernel. Returns the same as job_setup_make(). The error is in
 * led_job_root()->error. */
int led_job_read(struct led_job *led, int argc, char **argv);

/* Makes all checks that need the topology, then opens the files; prints errors and notes. Returns EXIT_STATUS_DONE, the
 * exit status of a job that does not begin, or HELLO_STATUS_HELP if nothing is left to do. `topology` is borrowed for
 * the life of the job. */
int led_job_prepare(struct led_job *led, struct runtime *runtime, const struct topology *topology);

/* Returns the command line for the other ranks, of `*count` words. Word 0 is the text of this rank's findings
 * (common/config/findings.h): with it a rank can check that its input files are the same, and a rank that does not run
 * the user's kernel or technique need not load it. The caller frees the array, not the words. Returns NULL if memory
 * runs out; the other ranks can then use the words of led_job_read(). */
char **led_job_words(const struct led_job *led, int *count);

/* Announces the job to all ranks under its number, after adding its words to `about`. `is_for_pods`: also to pods.
 * Returns an exit status and prints errors. */
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

/* Writes into `text` a line with the most frequent reason of failed tasks; an empty line if no task has failed. Returns
 * `text`. Requires led_job_end(). */
#define LED_REASON_MAX 1000
char *led_job_reason(const struct led_job *led, char text[LED_REASON_MAX]);

/* Moves the list of given-up iterations out of an ended job. The caller owns the list. */
struct given_up led_job_take_given_up(struct led_job *led);

bool led_job_is_deserted(const struct led_job *led, bool *keeps_journal);
bool led_job_is_interrupted(const struct led_job *led);

/* Ends a job whose machine has exited with `status`: makes the final files, prints the summary and writes the report.
 * Returns the job's exit status. */
int led_job_end(struct led_job *led, int status);

/* Joins the files that the ranks have left, after all ranks have finished. Returns the job's exit status. */
int led_job_settle(struct led_job *led, int status);

void led_job_clear_away(struct led_job *led, int status);

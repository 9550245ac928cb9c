/* The parts of the supermaster, for its own files only. */
#pragma once

#include "supermaster/supermaster.h"

static inline bool is_central(const struct supermaster *supermaster)
{
    return supermaster->config.topology->masters == 0;
}

/* grant.c: cutting chunks */
/* The next chunk for worker `w`, granted to `holder`; false when nothing is free (or the run has failed). */
bool supermaster_cut(struct supermaster *supermaster, unsigned holder, unsigned w, struct range *range);
void supermaster_commit(struct supermaster *supermaster, unsigned holder, const struct done_record *done);

/* record.c: the journal */
int supermaster_record_init(struct supermaster *supermaster); /* -1 when memory is out */
void supermaster_record_fini(struct supermaster *supermaster);
/* Notes a committed range for the next group. */
void supermaster_record(struct supermaster *supermaster, const struct done_record *done);
/* Has the group recorded when it is due or full, or the last. */
void supermaster_record_if_due(struct supermaster *supermaster, uint64_t now_ns, bool last);

/* learn.c: what is measured while it runs */
/* Tells the technique what worker `w` measured. */
void supermaster_learn(struct supermaster *supermaster, unsigned w, const struct feedback_record *feedback);
void supermaster_receive_feedback(struct supermaster *supermaster, unsigned m, const struct message *message);

/* choose.c: --technique auto */
int supermaster_chooser_init(struct supermaster *supermaster); /* -1 when memory is out */
void supermaster_chooser_fini(struct supermaster *supermaster);
void supermaster_note_pace(struct supermaster *supermaster, const struct sched_feedback *feedback);
/* Decides by what is measured at this moment. */
const struct sched_spec *supermaster_choose(struct supermaster *supermaster);

/* gather.c: speeds and powers */
void supermaster_receive_speed(struct supermaster *supermaster, const struct message *message);
/* All speeds are known: makes the powers and begins to serve. */
void supermaster_begin(struct supermaster *supermaster, uint64_t now_ns);

/* recv_master.c */
void supermaster_receive_from_master(struct supermaster *supermaster, unsigned m, uint64_t now_ns,
                                     const struct message *message);
void supermaster_serve_refill(struct supermaster *supermaster, unsigned m, uint64_t now_ns);
/* Takes the final figures of a worker; those of a rank that is none are dropped. */
void supermaster_take_figures(struct supermaster *supermaster, const struct stats_record *record);

/* drain.c: the end of the run, for whatever reason */
void supermaster_end(struct supermaster *supermaster);
void supermaster_fail(struct supermaster *supermaster, unsigned rank, const char *text);
void supermaster_leave(struct supermaster *supermaster, uint64_t now_ns);

/* core.c */
/* What masters relay and, in the central topology, workers send themselves. */
void supermaster_receive_common(struct supermaster *supermaster, unsigned from, const struct message *message);
void supermaster_move(struct supermaster *supermaster, enum supermaster_state state);

/* SPDX-License-Identifier: MIT */
/* Fixed-size records: one file, written in place by all collecting ranks. Internal interface between the files of
 * common/results.
 *
 * The position of a record in the file follows from its iteration. The file's extension selects the format. The
 * functions correspond to those in results.h. */
#pragma once

#include "common/results/results.h"
#include "common/util/error.h"
#include "hdss/kernel.h"

int records_check(const char *path, const struct hdss_loop *loop, struct error *error);

/* True if a file of this name is an array or a picture, which have numbers of one type. */
bool records_have_type(const char *path);
int records_check_place(const char *path, struct error *error);
int records_create(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);
int records_find(const char *path, const struct hdss_loop *loop, int *lock, struct error *error);
int records_look_again(const char *path, const struct hdss_loop *loop, int lock, struct error *error);
bool records_exist(const char *path);
int records_open(struct results_sink *sink, const char *path, const struct hdss_loop *loop, struct error *error);
int records_write(struct results_sink *sink, uint64_t first, uint64_t count, const void *records, struct error *error);
int records_read(const char *path, const struct hdss_loop *loop, uint64_t first, uint64_t count, void *records,
                 struct error *error);
int records_sync(struct results_sink *sink, struct error *error);
int records_close(struct results_sink *sink, struct error *error);
int records_convert(const char *path, const struct hdss_loop *loop, struct error *error);
void records_remove(const char *path);

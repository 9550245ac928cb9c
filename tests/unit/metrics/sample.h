/* SPDX-License-Identifier: MIT */
/* A run to report on, with figures that are easy to compute by hand. */
#pragma once

#include "common/metrics/report.h"
#include "common/sched/sched.h"
#include "hdss/kernel.h"

#include <stddef.h>

static const struct hdss_param sample_params[] = {
    {"width", HDSS_PARAM_INTEGER, "64", 1, 1e6, NULL, "pixels", ""},
    {"xmin", HDSS_PARAM_REAL, "-2", -4, 4, NULL, "", ""},
    {"unit", HDSS_PARAM_CHOICE, "row", 0, 0, "column|row|pixel", "", ""},
    {"file", HDSS_PARAM_TEXT, "", 0, 0, NULL, "", ""},
    {NULL},
};
static const struct hdss_kernel sample_kernel = {.name = "mandelbrot", .params = sample_params};
static const union hdss_value sample_values[] = {
    {.integer = 4096}, {.real = -0.1}, {.integer = 1}, {.text = "a \"b\""}};

/* Two masters (ranks 1 and 2) with two workers each, on two nodes. */
static const struct report_worker sample_workers[] = {
    {.rank = 3,
     .node = 0,
     .master = 1,
     .power = 1,
     .iterations = 100,
     .chunks = 2,
     .compute_s = 9,
     .wait_s = 0.5,
     .finish_s = 10},
    {.rank = 4,
     .node = 0,
     .master = 1,
     .power = 2.5,
     .iterations = 200,
     .chunks = 3,
     .compute_s = 7,
     .wait_s = 1,
     .finish_s = 8},
    {.rank = 5,
     .node = 1,
     .master = 2,
     .power = 1,
     .iterations = 300,
     .chunks = 4,
     .compute_s = 6,
     .wait_s = 2,
     .finish_s = 8},
    {.rank = 6,
     .node = 1,
     .master = 2,
     .power = 1,
     .iterations = 400,
     .chunks = 5,
     .compute_s = 8,
     .wait_s = 1,
     .finish_s = 6},
};

/* `spec` is the technique, css:chunk=1250. */
static inline struct report sample_report(struct sched_spec *spec)
{
    sched_spec_parse(spec, "css:chunk=1250", NULL);
    return (struct report){
        .version = "1.2.3",
        .topology = REPORT_HIERARCHICAL,
        .kernel = &sample_kernel,
        .values = sample_values,
        .technique = *spec,
        .min_chunk = 1,
        .iterations = 1000,
        .masters = 2,
        .workers = 4,
        .nodes = 2,
        .started_at = 1709209845, /* 2024-02-29T12:30:45Z */
        .elapsed_s = 10,
        .startup_s = 0.25,
        .chunks = 14,
        .refills = 6,
        .messages = 40,
        .bytes_on_wire = 1536,
        .checksum = 0xabc0,
        .faults = {.duplicate_results = 1},
        .worker_stats = sample_workers,
        .done = 1000,
    };
}

/* SPDX-License-Identifier: MIT */
/* Measuring the load of our cores: see load.h. */
#include "common/os/load.h"
#include "common/os/clock.h"
#include "proto/message.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

int load_parse(const char *text, struct load_times *times)
{
    uint64_t slices;
    int end = 0;
    if (sscanf(text, "%20" SCNu64 " %20" SCNu64 " %20" SCNu64 "%n", &times->run_ns, &times->wait_ns, &slices, &end) !=
        3)
        return -1;
    return text[end] == '\0' || text[end] == '\n' ? 0 : -1;
}

static int read_thread(int folder, const char *thread, struct load_times *times)
{
    char name[300], text[100];
    snprintf(name, sizeof name, "%s/schedstat", thread);
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return -1;
    text[length] = '\0';
    return load_parse(text, times);
}

int load_read(const char *folder, struct load_times *times)
{
    struct load_times thread;
    unsigned told = 0;
    DIR *threads = opendir(folder);
    *times = (struct load_times){.run_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID)};
    if (threads == NULL)
        return -1;
    for (const struct dirent *entry; (entry = readdir(threads)) != NULL;) {
        if (entry->d_name[0] == '.' || read_thread(dirfd(threads), entry->d_name, &thread) < 0)
            continue;
        times->wait_ns += thread.wait_ns;
        told += thread.run_ns > 0; /* if all threads have a run time of 0, the system keeps no statistics */
    }
    closedir(threads);
    return told > 0 ? 0 : -1;
}

double load_of(const struct load_times *times)
{
    double others = times->run_ns > 0 ? (double)times->wait_ns / (double)times->run_ns : 0;
    return others < LOAD_NOISE ? 1 : 1 + others;
}

uint16_t load_to_wire(double load)
{
    double parts = load * LOAD_ONE + 0.5;
    return parts < UINT16_MAX ? (uint16_t)parts : UINT16_MAX;
}

static void load_begin(struct load_meter *meter)
{
    if (load_read(meter->folder, &meter->began) == 0)
        meter->began_ns = clock_ns(CLOCK_MONOTONIC);
}

static uint64_t since(uint64_t now, uint64_t before)
{
    /* if a thread has ended since `before` was read, the sum no longer contains its times, and `now` may be smaller */
    return now > before ? now - before : 0;
}

static void load_end(struct load_meter *meter)
{
    struct load_times now;
    meter->began_ns = 0;
    if (load_read(meter->folder, &now) < 0)
        return;
    meter->sum.run_ns += since(now.run_ns, meter->began.run_ns);
    meter->sum.wait_ns += since(now.wait_ns, meter->began.wait_ns);
}

static bool load_conclude(struct load_meter *meter, uint64_t least_ns)
{
    if (meter->sum.run_ns + meter->sum.wait_ns < least_ns)
        return false;
    double before = meter->load;
    meter->load = load_of(&meter->sum);
    meter->sum = (struct load_times){0};
    return load_to_wire(meter->load) != load_to_wire(before);
}

int load_meter_init(struct load_meter *meter, const char *folder, struct error *error)
{
    struct load_times times;
    *meter = (struct load_meter){.folder = folder, .load = 1};
    if (load_read(folder, &times) == 0)
        return 0;
    return error_set(error,
                     "--weighting acp: this system does not tell how long a process waits for its core "
                     "(%s/*/schedstat); accepted are none, power",
                     folder);
}

void load_meter_settle(struct load_meter *meter)
{
    uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + LOAD_SETTLE_NS;
    load_begin(meter);
    while (clock_ns(CLOCK_MONOTONIC) < until_ns)
        ;
    load_end(meter);
    load_conclude(meter, 1);
}

bool load_meter_look(struct load_meter *meter, uint64_t now_ns)
{
    if (meter->began_ns == 0) {
        if (now_ns < meter->due_ns)
            return false;
        load_begin(meter);
        return load_conclude(meter, LOAD_LEAST_NS);
    }
    if (now_ns < meter->began_ns + LOAD_PERIOD_NS)
        return false;
    load_end(meter);
    load_begin(meter);
    return load_conclude(meter, LOAD_LEAST_NS);
}

void load_meter_pause(struct load_meter *meter)
{
    if (meter->began_ns == 0)
        return;
    load_end(meter);
    meter->due_ns = clock_ns(CLOCK_MONOTONIC) + LOAD_GAP_NS;
}

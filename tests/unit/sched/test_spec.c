/* SPDX-License-Identifier: MIT */
/* Technique specs: what is accepted, the one line for what is not, and the canonical spelling. */
#include "common/sched/sched.h"
#include "common/util/error.h"
#include "tests/lib/suite.h"
#include "tests/unit/sched/loops.h"

#include <stdio.h>
#include <string.h>

START_TEST(specs_are_read)
{
    struct sched_spec spec = spec_of("gss");
    ck_assert_ptr_eq(spec.technique, sched_find("gss"));
    ck_assert(!spec.given[0]);
    spec = spec_of("css:chunk=1e6");
    ck_assert(spec.given[0]);
    ck_assert_uint_eq(spec.values[0].integer, 1000000);
    spec = spec_of("tss:last=2,first=125");
    ck_assert_uint_eq(spec.values[0].integer, 125);
    ck_assert_uint_eq(spec.values[1].integer, 2);
    ck_assert(!spec.given[2]);
    spec = spec_of("dfss:alpha=1.5");
    ck_assert_double_eq(spec.values[0].real, 1.5);
    spec = spec_of("gss:round=floor");
    ck_assert_uint_eq(spec.values[0].integer, 1);
    ck_assert_ptr_eq(sched_find("fss"), sched_find("fac2"));
    ck_assert_ptr_eq(sched_find("GSS"), sched_find("gss"));
    ck_assert_ptr_eq(sched_find("Static_Steal"), sched_find("static-steal"));
    ck_assert_ptr_nonnull(sched_find("AWF_B"));
    ck_assert_ptr_null(sched_find("awf_"));
    ck_assert_ptr_null(sched_find("f-ss"));
    ck_assert_ptr_eq(spec_of("AWF-B").technique, sched_find("awf-b"));
    ck_assert_ptr_null(sched_find(""));
}
END_TEST

static const struct {
    const char *text, *error;
} bad_specs[] = {
    {"css:chunk=0", "technique css: chunk=0 is not accepted: an integer from 1 to 2^63"},
    {"css:chunk=-5", "technique css: chunk=-5 is not accepted: an integer from 1 to 2^63"},
    {"css:chunk=9223372036854775809",
     "technique css: chunk=9223372036854775809 is not accepted: an integer from 1 to 2^63"},
    {"css:chunk=2.5", "technique css: chunk=2.5 is not accepted: an integer from 1 to 2^63"},
    {"css:chunk=", "technique css: chunk= is not accepted: an integer from 1 to 2^63"},
    {"css:5", "technique css: '5' is a value; type css:chunk=5; the parameters are chunk="},
    {"css=5", "technique 'css=5' is unknown: accepted is one, as NAME or NAME:PARAM=VALUE,..."},
    {"gss,tss", "technique 'gss,tss' is unknown: accepted is one, as NAME or NAME:PARAM=VALUE,..."},
    {"css:chunk", "technique css: 'chunk' is not accepted: the parameters are chunk="},
    {"css:", "technique css: '' is not accepted: the parameters are chunk="},
    {"css:chunk=5,", "technique css: '' is not accepted: the parameters are chunk="},
    {"css:chunks=5", "technique css: 'chunks' is not accepted: the parameters are chunk="},
    {"css:chunk=5,chunk=6", "technique css: chunk is given twice: accepted is once"},
    {"ss:chunk=5", "technique ss: 'chunk' is not accepted: ss has no parameters"},
    {"fss:x=1", "technique fac2: 'x' is not accepted: fac2 has no parameters"},
    {"gss:round=up", "technique gss: round=up is not accepted: ceil or floor"},
    {"gss:round=cei", "technique gss: round=cei is not accepted: ceil or floor"},
    {"gss:round=ceil|floor", "technique gss: round=ceil|floor is not accepted: ceil or floor"},
    {"tss:decrement=1", "technique tss: decrement=1 is not accepted: floor or real"},
    {"tss:frist=1", "technique tss: 'frist' is not accepted: the parameters are first=, last=, decrement=, variant="},
    {"fiss:stages=1", "technique fiss: stages=1 is not accepted: an integer from 2 to 2^63"},
    {"viss:x=0", "technique viss: x=0 is not accepted: an integer from 1 to 2^63"},
    {"viss:x=2.5", "technique viss: x=2.5 is not accepted: an integer from 1 to 2^63"},
    {"mfsc:chunk=5", "technique mfsc: 'chunk' is not accepted: mfsc has no parameters"},
    {"tfss:last=0", "technique tfss: last=0 is not accepted: an integer from 1 to 2^63"},
    {"rnd:lo=0", "technique rnd: lo=0 is not accepted: an integer from 1 to 2^63"},
    {"rnd:seed=-1", "technique rnd: seed=-1 is not accepted: an integer from 0 to 2^63"},
    {"pls:swr=1.5", "technique pls: swr=1.5 is not accepted: a number from 0 to 1, or measure"},
    {"pls:swr=-0.1", "technique pls: swr=-0.1 is not accepted: a number from 0 to 1, or measure"},
    {"pls:swr=nan", "technique pls: swr=nan is not accepted: a number from 0 to 1, or measure"},
    {"wf:variant=dca", "technique wf: variant=dca is not accepted: hdss or paper"},
    {"gss:variant=paper", "technique gss: 'variant' is not accepted: the parameters are round="},
    {"af:first=0", "technique af: first=0 is not accepted: an integer from 1 to 2^63"},
    {"dfss:alpha=nan", "technique dfss: alpha=nan is not accepted: a number from 1 to 1000"},
    {"dfss:alpha=0.5", "technique dfss: alpha=0.5 is not accepted: a number from 1 to 1000"},
    {"dfss:alpha=inf", "technique dfss: alpha=inf is not accepted: a number from 1 to 1000"},
};

START_TEST(bad_specs_get_one_line)
{
    struct sched_spec spec = spec_of("css:chunk=7");
    struct error error;
    ck_assert_int_eq(sched_spec_parse(&spec, bad_specs[_i].text, &error), -1);
    ck_assert_str_eq(error.text, bad_specs[_i].error);
    ck_assert(spec.technique == sched_find("css") && spec.values[0].integer == 7);
}
END_TEST

static const struct {
    const char *word, *meant; /* NULL: none is near */
} slips[] = {
    {"gs", "gss"},         {"GS", "gss"},        {"gsss", "gss"},   {"awf+b", "awf-b"},
    {"Fac3", "fac"},       {"guided", "gss"},    {"Dynamic", "ss"}, {"FSSS", "fss"},
    {"factoring", "fac2"}, {"statik", "static"}, {"dynamo", NULL},  {"xyzzy", NULL},
};

START_TEST(a_slip_is_answered_by_the_name_that_was_meant)
{
    struct sched_spec spec;
    struct error error;
    char expected[100];
    ck_assert_int_eq(sched_spec_parse(&spec, slips[_i].word, &error), -1);
    snprintf(expected, sizeof expected,
             slips[_i].meant != NULL ? "technique '%s' is unknown; did you mean %s? accepted are static, "
                                     : "technique '%s' is unknown: accepted are static, ",
             slips[_i].word, slips[_i].meant);
    ck_assert_msg(strncmp(error.text, expected, strlen(expected)) == 0, "%s", error.text);
}
END_TEST

START_TEST(unknown_techniques_list_the_known_ones)
{
    const char *const unknown[] = {"", ":", ":chunk=1", "gs\ns", "schedule"};
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t u = 0; u < sizeof unknown / sizeof *unknown; u++) {
        struct sched_spec spec;
        struct error error;
        ck_assert_int_eq(sched_spec_parse(&spec, unknown[u], &error), -1);
        ck_assert_ptr_nonnull(strstr(error.text, " accepted are "));
        ck_assert_ptr_null(strchr(error.text, '\n'));
        for (size_t t = 0; t < count; t++)
            ck_assert_ptr_nonnull(strstr(error.text, techniques[t]->name));
    }
}
END_TEST

START_TEST(long_specs_are_refused)
{
    char text[2 * SCHED_SPEC_TEXT_MAX];
    struct sched_spec spec;
    struct error error;
    memset(text, 'x', sizeof text);
    text[SCHED_SPEC_TEXT_MAX] = '\0';
    ck_assert_int_eq(sched_spec_parse(&spec, text, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "is too long: accepted are up to 255 characters"));
    text[SCHED_SPEC_TEXT_MAX - 1] = '\0';
    ck_assert_int_eq(sched_spec_parse(&spec, text, &error), -1);
    ck_assert_ptr_nonnull(strstr(error.text, "is unknown"));
}
END_TEST

static void check_format(const char *text, const char *canonical)
{
    char formatted[SCHED_SPEC_TEXT_MAX], again[SCHED_SPEC_TEXT_MAX];
    struct sched_spec spec = spec_of(text);
    sched_spec_format(&spec, formatted, sizeof formatted);
    ck_assert_str_eq(formatted, canonical);
    spec = spec_of(formatted);
    sched_spec_format(&spec, again, sizeof again);
    ck_assert_str_eq(again, canonical);
}

START_TEST(specs_are_written_canonically)
{
    check_format("gss", "gss");
    check_format("fss", "fac2");
    check_format("css:chunk=2^10", "css:chunk=1024");
    check_format("css:chunk=2^63", "css:chunk=9223372036854775808");
    check_format("tss:decrement=real,last=80,first=1_250", "tss:first=1250,last=80,decrement=real");
    check_format("dtss:carry=chunk", "dtss:carry=chunk");
    check_format("pls:variant=paper,swr=0.5", "pls:swr=0.5,variant=paper");
    check_format("dfss:alpha=2.50", "dfss:alpha=2.5");
    check_format("dfss:alpha=1.1000000000000001", "dfss:alpha=1.1");
    check_format("dfss:alpha=3.3333333333333335", "dfss:alpha=3.3333333333333335");
}
END_TEST

START_TEST(written_specs_are_cut_at_their_size)
{
    char text[8] = "1234567";
    struct sched_spec spec = spec_of("css:chunk=1024");
    sched_spec_format(&spec, text, 6);
    ck_assert_str_eq(text, "css:c");
    ck_assert_int_eq(text[6], '7');
    sched_spec_format(&spec, text, 0);
    ck_assert_str_eq(text, "css:c");
}
END_TEST

/* The table of every parameter holds together: the limits fit its kind, the default of a choice is one of it. */
START_TEST(every_parameter_takes_what_it_says)
{
    size_t count;
    const struct technique *const *techniques = sched_techniques(&count);
    for (size_t t = 0; t < count; t++) {
        ck_assert(techniques[t]->title[0] != '\0' && techniques[t]->rule[0] != '\0' &&
                  techniques[t]->source[0] != '\0');
        ck_assert_msg(techniques[t]->when != NULL, "%s: when?", techniques[t]->name);
        const struct technique_param *params = techniques[t]->params;
        for (int i = 0; params != NULL && params[i].name != NULL; i++) {
            char text[SCHED_SPEC_TEXT_MAX], accepts[SCHED_SPEC_TEXT_MAX];
            ck_assert_int_lt(i, SCHED_PARAMS_MAX);
            ck_assert(params[i].fallback != NULL && params[i].summary != NULL);
            technique_param_accepts(&params[i], accepts, sizeof accepts);
            ck_assert_uint_gt(strlen(accepts), 0);
            if (params[i].kind == SCHED_PARAM_CHOICE) {
                snprintf(text, sizeof text, "%s:%s=%s", techniques[t]->name, params[i].name, params[i].fallback);
                check_format(text, text);
                continue;
            }
            ck_assert(params[i].minimum < params[i].maximum);
            snprintf(text, sizeof text, "%s:%s=%.0f", techniques[t]->name, params[i].name, params[i].maximum);
            spec_of(text);
        }
    }
}
END_TEST

START_TEST(weightings_are_read)
{
    enum sched_weighting weighting = SCHED_WEIGHTING_NONE;
    struct error error;
    ck_assert_int_eq(sched_weighting_parse(&weighting, "acp", &error), 0);
    ck_assert_int_eq(weighting, SCHED_WEIGHTING_ACP);
    ck_assert_int_eq(sched_weighting_parse(&weighting, "power", &error), 0);
    ck_assert_str_eq(sched_weighting_name(weighting), "power");
    ck_assert_int_eq(sched_weighting_parse(&weighting, "yes", &error), -1);
    ck_assert_str_eq(error.text, "weighting 'yes' is unknown: accepted are none, power, acp");
    ck_assert_int_eq(weighting, SCHED_WEIGHTING_POWER);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-spec");
    TCase *all = tcase_create("spec");
    tcase_add_test(all, specs_are_read);
    tcase_add_loop_test(all, bad_specs_get_one_line, 0, sizeof bad_specs / sizeof *bad_specs);
    tcase_add_loop_test(all, a_slip_is_answered_by_the_name_that_was_meant, 0, (int)(sizeof slips / sizeof *slips));
    tcase_add_test(all, unknown_techniques_list_the_known_ones);
    tcase_add_test(all, long_specs_are_refused);
    tcase_add_test(all, specs_are_written_canonically);
    tcase_add_test(all, written_specs_are_cut_at_their_size);
    tcase_add_test(all, every_parameter_takes_what_it_says);
    tcase_add_test(all, weightings_are_read);
    suite_add_tcase(suite, all);
    return suite_run_together(suite);
}

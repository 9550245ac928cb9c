/* SPDX-License-Identifier: MIT */
/* Plug-ins as techniques: see plugin.h.
 *
 * sched->own is one block of memory, which contains the loop as the plug-in sees it, the parameter values, and the
 * plug-in's state. */
#include "common/sched/plugin.h"

#include "common/util/called.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(SCHED_PARAMS_MAX == HDSS_TECHNIQUE_PARAMS_MAX, "a plug-in has as many parameters as other techniques");

struct plugged {
    const struct hdss_technique *plugin;
    struct hdss_technique_loop loop;
    struct hdss_technique_value values[HDSS_TECHNIQUE_PARAMS_MAX];
    struct error failure; /* the error of a failed plug-in; sched->failure points to its text */
    struct called call;
    alignas(max_align_t) unsigned char state[];
};

static const struct technique_plugin *plugin_of(const struct sched *sched)
{
    return (const struct technique_plugin *)(const void *)sched->technique;
}

static void plugged_call(struct plugged *plugged, const char *where)
{
    plugged->call.where = where;
    called = &plugged->call;
}

static void plugged_back(void)
{
    called = NULL;
}

static void plugged_fill_loop(struct plugged *plugged, const struct sched *sched)
{
    const struct technique_plugin *of = plugin_of(sched);
    plugged->loop = (struct hdss_technique_loop){
        .iterations = sched->iterations,
        .min_chunk = sched->min_chunk,
        .workers = sched->workers,
        .powers = of->plugin->is_weighted ? sched->powers : NULL,
        .values = plugged->values,
        .technique = of->plugin,
    };
    for (unsigned i = 0; of->params[i].name != NULL; i++) {
        const union sched_value *value = sched->spec.given[i] ? &sched->spec.values[i] : &of->fallback[i];
        plugged->values[i].is_known = sched->spec.given[i] || of->has_fallback[i];
        if (of->params[i].kind == SCHED_PARAM_REAL)
            plugged->values[i].real = value->real;
        else
            plugged->values[i].integer = value->integer;
    }
}

static int plugged_init(struct sched *sched, struct error *error)
{
    const struct hdss_technique *plugin = plugin_of(sched)->plugin;
    char line[HDSS_TECHNIQUE_ERROR_MAX] = "";
    struct plugged *plugged = calloc(1, sizeof *plugged + plugin->state_bytes);
    if (plugged == NULL)
        return error_set(error, "technique %.200s: out of memory", sched->technique->name);
    plugged->plugin = plugin;
    plugged->call = (struct called){.what = "technique", .name = sched->technique->name};
    plugged_fill_loop(plugged, sched);
    plugged_call(plugged, "in init()");
    const int result = plugin->init != NULL ? plugin->init(plugged->state, &plugged->loop, line) : 0;
    plugged_back();
    if (result == 0) {
        sched->own = plugged;
        return 0;
    }
    free(plugged);
    line[sizeof line - 1] = '\0';
    return result == -1 ? error_set(error, "technique %.200s: %s", sched->technique->name,
                                    line[0] != '\0' ? line : "its init() refuses the loop, and does not say why")
                        : error_set(error, "technique %.200s: its init() returned %d; accepted: 0, or -1 for a failure",
                                    sched->technique->name, result);
}

/* Records why the technique cannot continue. Returns K = 0, for which a chunk gets the smallest size. */
static uint64_t plugged_fail(struct sched *sched, char line[HDSS_TECHNIQUE_ERROR_MAX])
{
    struct plugged *plugged = sched->own;
    line[HDSS_TECHNIQUE_ERROR_MAX - 1] = '\0';
    error_set(&plugged->failure, "technique %.200s: next() %s%s", sched->technique->name,
              line[0] != '\0' ? "failed: " : "failed, and does not say why", line);
    sched->failure = plugged->failure.text;
    return 0;
}

static uint64_t plugged_next(struct sched *sched, unsigned worker)
{
    struct plugged *plugged = sched->own;
    char line[HDSS_TECHNIQUE_ERROR_MAX];
    const struct hdss_technique_request request = {sched->remaining, sched->step, worker, line};
    if (sched->failure != NULL)
        return 0;
    line[0] = '\0';
    plugged_call(plugged, "in next()");
    const uint64_t chunk = plugged->plugin->next(plugged->state, &request);
    plugged_back();
    return chunk != HDSS_TECHNIQUE_FAILED ? chunk : plugged_fail(sched, line);
}

static uint64_t plugged_at(const struct sched *sched, uint64_t step)
{
    struct plugged *plugged = sched->own;
    plugged_call(plugged, "in at()");
    const uint64_t start = plugged->plugin->at(plugged->state, step);
    plugged_back();
    return start;
}

static void plugged_feedback(struct sched *sched, const struct sched_feedback *feedback)
{
    struct plugged *plugged = sched->own;
    const struct hdss_technique_feedback told = {
        .worker = feedback->worker,
        .chunks = feedback->chunks,
        .iterations = feedback->iterations,
        .compute_s = feedback->compute_s,
        .wait_s = feedback->wait_s,
        .deviation_s = feedback->deviation_s,
        .samples = feedback->samples,
    };
    plugged_call(plugged, "in feedback()");
    plugged->plugin->feedback(plugged->state, &told);
    plugged_back();
}

static double plugged_weight(const struct sched *sched, unsigned worker)
{
    struct plugged *plugged = sched->own;
    plugged_call(plugged, "in weight()");
    const double weight = plugged->plugin->weight(plugged->state, worker);
    plugged_back();
    return weight;
}

static void plugged_again(struct sched *sched)
{
    struct plugged *plugged = sched->own;
    plugged_fill_loop(plugged, sched);
    plugged_call(plugged, "in again()");
    plugged->plugin->again(plugged->state, &plugged->loop);
    plugged_back();
}

static void plugged_fini(struct sched *sched)
{
    struct plugged *plugged = sched->own;
    plugged_call(plugged, "in fini()");
    plugged->plugin->fini(plugged->state);
    plugged_back();
}

static int plugin_lacks(const char *name, const char *what, struct error *error)
{
    return error_set(error, "technique %.200s: %s; see hdss/technique.h", name, what);
}

static int check_param(const char *name, const struct hdss_technique_param *param, struct error *error)
{
    const bool has_range = param->minimum <= param->maximum && param->minimum >= -1e300 && param->maximum <= 1e300;
    const char *wrong = NULL;
    if (param->summary == NULL || (param->fallback == NULL) == (param->computed == NULL))
        wrong = "lacks a summary, or has not one of fallback and computed";
    else if (strpbrk(param->name, ":,=/") != NULL || param->name[0] == '\0')
        wrong = "has a name that cannot be typed";
    else if (param->kind == HDSS_TECHNIQUE_CHOICE)
        wrong = param->choices == NULL || param->choices[0] == '\0' ? "has no choices" : NULL;
    else if (param->kind != HDSS_TECHNIQUE_INTEGER && param->kind != HDSS_TECHNIQUE_REAL)
        wrong = "is of no kind that there is";
    else if (!has_range)
        wrong = "has no minimum that is at most its maximum";
    else if (param->kind == HDSS_TECHNIQUE_INTEGER &&
             !(param->minimum >= 0 && param->maximum <= (double)SCHED_ITERATIONS_MAX))
        wrong = "reaches beyond the integers from 0 to 2^63";
    return wrong == NULL ? 0
                         : error_set(error, "technique %.200s: its parameter '%.60s' %s; see hdss/technique.h", name,
                                     param->name, wrong);
}

static int take_param(struct technique_plugin *made, unsigned i, const char *name,
                      const struct hdss_technique_param *param, struct error *error)
{
    static const enum sched_param_kind kinds[] = {
        [HDSS_TECHNIQUE_INTEGER] = SCHED_PARAM_INTEGER,
        [HDSS_TECHNIQUE_REAL] = SCHED_PARAM_REAL,
        [HDSS_TECHNIQUE_CHOICE] = SCHED_PARAM_CHOICE,
    };
    if (check_param(name, param, error) < 0)
        return -1;
    made->params[i] = (struct technique_param){
        .name = param->name,
        .kind = kinds[param->kind],
        .fallback = param->fallback != NULL ? param->fallback : param->computed,
        .minimum = param->minimum,
        .maximum = param->maximum,
        .choices = param->kind == HDSS_TECHNIQUE_CHOICE ? param->choices : NULL,
        .summary = param->summary,
    };
    made->has_fallback[i] = param->fallback != NULL;
    if (param->fallback == NULL || technique_param_parse(&made->params[i], param->fallback, &made->fallback[i]) == 0)
        return 0;
    return error_set(error, "technique %.200s: its parameter '%.60s' does not accept its own default, '%.60s'", name,
                     param->name, param->fallback);
}

static int take_params(struct technique_plugin *made, const char *name, struct error *error)
{
    const struct hdss_technique_param *params = made->plugin->params;
    for (unsigned i = 0; params != NULL && params[i].name != NULL; i++) {
        if (i == SCHED_PARAMS_MAX)
            return error_set(error, "technique %.200s: has more than %d parameters", name, SCHED_PARAMS_MAX);
        for (unsigned j = 0; j < i; j++)
            if (strcmp(params[i].name, params[j].name) == 0)
                return error_set(error, "technique %.200s: has two parameters '%.60s'", name, params[i].name);
        if (take_param(made, i, name, &params[i], error) < 0)
            return -1;
    }
    return 0;
}

static int check_technique(const char *name, const struct hdss_technique *plugin, struct error *error)
{
    if (plugin->abi != HDSS_TECHNIQUE_ABI)
        return error_set(error,
                         "technique %.200s: is built for version %u of the technique interface; accepted: %u, build it "
                         "anew with the hdss/technique.h of this HDSS",
                         name, plugin->abi, HDSS_TECHNIQUE_ABI);
    if (plugin->name == NULL || plugin->title == NULL || plugin->rule == NULL)
        return plugin_lacks(name, "its name, title or rule is missing", error);
    if (plugin->next == NULL)
        return plugin_lacks(name, "it lacks next()", error);
    if (plugin->state_bytes > HDSS_TECHNIQUE_STATE_MAX)
        return error_set(error, "technique %.200s: a state of %zu bytes is too large; accepted: up to %" PRIu64, name,
                         plugin->state_bytes, HDSS_TECHNIQUE_STATE_MAX);
    if ((unsigned)plugin->powers > HDSS_TECHNIQUE_BY_MEAN)
        return plugin_lacks(name, "its powers are by no measure that there is", error);
    return 0;
}

int technique_plugin_init(struct technique_plugin *made, const char *name, const struct hdss_technique *plugin,
                          struct error *error)
{
    static const enum sched_powers powers[] = {
        [HDSS_TECHNIQUE_BY_SLOWEST] = SCHED_POWERS_BY_SLOWEST,
        [HDSS_TECHNIQUE_BY_FASTEST] = SCHED_POWERS_BY_FASTEST,
        [HDSS_TECHNIQUE_BY_MEAN] = SCHED_POWERS_BY_MEAN,
    };
    if (check_technique(name, plugin, error) < 0)
        return -1;
    *made = (struct technique_plugin){.plugin = plugin};
    if (take_params(made, name, error) < 0)
        return -1;
    made->technique = (struct technique){
        .name = name,
        .title = plugin->title,
        .rule = plugin->rule,
        .source = plugin->source,
        .when = plugin->when,
        .params = made->params[0].name != NULL ? made->params : NULL,
        .needs =
            (plugin->is_weighted ? SCHED_NEEDS_POWER : 0u) | (plugin->feedback != NULL ? SCHED_NEEDS_FEEDBACK : 0u),
        .powers = powers[plugin->powers],
        .may_grow = plugin->may_grow,
        .init = plugged_init,
        .next = plugged_next,
        .at = plugin->at != NULL ? plugged_at : NULL,
        .feedback = plugin->feedback != NULL ? plugged_feedback : NULL,
        .weight = plugin->weight != NULL ? plugged_weight : NULL,
        .again = plugin->again != NULL ? plugged_again : NULL,
        .fini = plugin->fini != NULL ? plugged_fini : NULL,
    };
    return 0;
}

unsigned technique_traits(const struct technique *technique)
{
    return ((technique->needs & SCHED_NEEDS_FEEDBACK) != 0 ? PLUGIN_LEARNS : 0u) |
           (technique->may_grow ? PLUGIN_MAY_GROW : 0u);
}

const struct technique *technique_elsewhere(unsigned traits)
{
#define ELSEWHERE(TRAITS)                                                                                              \
    {                                                                                                                  \
        .name = "plug-in", .title = "a plug-in of the rank that cuts",                                                 \
        .needs = ((TRAITS)&PLUGIN_LEARNS) != 0 ? SCHED_NEEDS_FEEDBACK : 0u,                                            \
        .may_grow = ((TRAITS)&PLUGIN_MAY_GROW) != 0                                                                    \
    }
    static const struct technique elsewhere[] = {ELSEWHERE(0), ELSEWHERE(1), ELSEWHERE(2), ELSEWHERE(3)};
#undef ELSEWHERE
    return &elsewhere[traits & PLUGIN_TRAITS_ALL];
}

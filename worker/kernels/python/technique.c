/* SPDX-License-Identifier: MIT */
/* Techniques written in Python: classes of users, with an object for each state. Whatever is simpler to write in Python
 * is in hdss_python.py. Its Technique stands for the user's class, and its Cutter for an object of that class. */
#include "worker/kernels/python/module.h"

#include "hdss/technique.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTEGER_MAX 0x1p63
#define REAL_MAX    1e300

struct python_technique {
    struct hdss_technique technique; /* first, so that a pointer to it can be cast back */
    PyObject *maker;
    struct hdss_technique_param params[HDSS_TECHNIQUE_PARAMS_MAX + 1];
    struct python_technique *next;
    char name[];
};

struct python_cutter {
    PyObject *cutter;
    /* Some calls cannot return an error. Their error is kept here, and the next call that can return an error returns
     * it. */
    char failure[HDSS_TECHNIQUE_ERROR_MAX];
};

static int technique_explain(char error[HDSS_TECHNIQUE_ERROR_MAX])
{
    char line[HDSS_ERROR_MAX];
    python_explain(line);
    snprintf(error, HDSS_TECHNIQUE_ERROR_MAX, "%.*s", HDSS_TECHNIQUE_ERROR_MAX - 1, line);
    return -1;
}

static PyObject *list_powers(const struct hdss_technique_loop *loop)
{
    if (loop->powers == NULL) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    PyObject *list = PyList_New(loop->workers);
    for (uint32_t j = 0; list != NULL && j < loop->workers; j++) {
        PyObject *power = PyFloat_FromDouble(loop->powers[j]);
        if (power == NULL) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SET_ITEM(list, j, power);
    }
    return list;
}

static PyObject *list_values(const struct hdss_technique_loop *loop)
{
    const struct hdss_technique_param *params = loop->technique->params;
    PyObject *list = PyList_New(0);
    int result = list != NULL ? 0 : -1;
    for (unsigned i = 0; result == 0 && params[i].name != NULL; i++) {
        PyObject *value = params[i].kind == HDSS_TECHNIQUE_REAL ? PyFloat_FromDouble(loop->values[i].real)
                                                                : PyLong_FromUnsignedLongLong(loop->values[i].integer);
        result = value != NULL ? PyList_Append(list, value) : -1;
        Py_XDECREF(value);
    }
    if (result == 0)
        return list;
    Py_XDECREF(list);
    return NULL;
}

static PyObject *call_with_loop(PyObject *object, const char *method, const struct hdss_technique_loop *loop)
{
    PyObject *powers = list_powers(loop), *values = powers != NULL ? list_values(loop) : NULL;
    PyObject *result = values != NULL
                           ? PyObject_CallMethod(object, method, "KKIOO", (unsigned long long)loop->iterations,
                                                 (unsigned long long)loop->min_chunk, loop->workers, powers, values)
                           : NULL;
    Py_XDECREF(powers);
    Py_XDECREF(values);
    return result;
}

static int python_init(void *state, const struct hdss_technique_loop *loop, char error[HDSS_TECHNIQUE_ERROR_MAX])
{
    struct python_cutter *own = state;
    const struct python_technique *technique = (const struct python_technique *)(const void *)loop->technique;
    own->cutter = call_with_loop(technique->maker, "begin", loop);
    const int result = own->cutter != NULL ? 0 : technique_explain(error);
    python_flush_prints();
    return result;
}

static uint64_t python_next(void *state, const struct hdss_technique_request *request)
{
    struct python_cutter *own = state;
    if (own->failure[0] != '\0') {
        memcpy(request->error, own->failure, sizeof own->failure);
        return HDSS_TECHNIQUE_FAILED;
    }
    PyObject *size = PyObject_CallMethod(own->cutter, "next", "KKI", (unsigned long long)request->remaining,
                                         (unsigned long long)request->step, request->worker);
    const uint64_t chunk = size != NULL ? PyLong_AsUnsignedLongLong(size) : 0;
    Py_XDECREF(size);
    if (PyErr_Occurred() == NULL)
        return chunk;
    technique_explain(request->error);
    python_flush_prints();
    return HDSS_TECHNIQUE_FAILED;
}

static void python_note(struct python_cutter *own, const char *call, PyObject *result)
{
    char line[HDSS_TECHNIQUE_ERROR_MAX];
    if (result == NULL) {
        technique_explain(line);
        snprintf(own->failure, sizeof own->failure, "%s() before it: %.*s", call, (int)sizeof own->failure - 40, line);
    }
    Py_XDECREF(result);
}

static void python_feedback(void *state, const struct hdss_technique_feedback *feedback)
{
    struct python_cutter *own = state;
    if (own->failure[0] == '\0')
        python_note(own, "feedback",
                    PyObject_CallMethod(own->cutter, "feedback", "IIKdddI", feedback->worker, feedback->chunks,
                                        (unsigned long long)feedback->iterations, feedback->compute_s, feedback->wait_s,
                                        feedback->deviation_s, feedback->samples));
}

static void python_again(void *state, const struct hdss_technique_loop *loop)
{
    struct python_cutter *own = state;
    if (own->failure[0] == '\0')
        python_note(own, "again", call_with_loop(own->cutter, "again", loop));
}

static void python_fini(void *state)
{
    struct python_cutter *own = state;
    Py_CLEAR(own->cutter);
    python_flush_prints();
}

static void take_technique_kind(struct hdss_technique_param *param, const char *kind)
{
    param->kind = HDSS_TECHNIQUE_INTEGER;
    param->maximum = INTEGER_MAX;
    if (strcmp(kind, "real") == 0) {
        param->kind = HDSS_TECHNIQUE_REAL;
        param->minimum = -REAL_MAX;
        param->maximum = REAL_MAX;
    } else if (strcmp(kind, "choice") == 0) {
        param->kind = HDSS_TECHNIQUE_CHOICE;
        param->choices = "no|yes";
    }
}

static int take_technique_params(struct python_technique *technique)
{
    PyObject *list = PyObject_GetAttrString(technique->maker, "params");
    Py_ssize_t count = list != NULL ? PyList_Size(list) : -1;
    for (Py_ssize_t i = 0; i < count && i < HDSS_TECHNIQUE_PARAMS_MAX; i++) {
        const char *name, *kind, *fallback;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sss", &name, &kind, &fallback))
            break;
        technique->params[i] = (struct hdss_technique_param){
            .name = strdup(name), .fallback = strdup(fallback), .summary = "argument of the class"};
        take_technique_kind(&technique->params[i], kind);
    }
    Py_XDECREF(list);
    return PyErr_Occurred() != NULL ? -1 : 0;
}

static int take_traits(struct python_technique *technique)
{
    struct hdss_technique *made = &technique->technique;
    PyObject *traits = PyObject_CallMethod(technique->maker, "traits", NULL);
    int powers, may_grow, learns, goes_on;
    int result = traits != NULL && PyArg_ParseTuple(traits, "ippp", &powers, &may_grow, &learns, &goes_on) ? 0 : -1;
    Py_XDECREF(traits);
    if (result < 0)
        return -1;
    made->is_weighted = powers >= 0;
    made->powers = powers >= 0 ? (enum hdss_technique_powers)powers : HDSS_TECHNIQUE_BY_SLOWEST;
    made->may_grow = may_grow;
    made->feedback = learns ? python_feedback : NULL;
    made->again = goes_on ? python_again : NULL;
    return 0;
}

static int make_python_technique(struct python_technique *technique, const char *name)
{
    strcpy(technique->name, name);
    technique->maker = PyObject_CallMethod(python_support, "Technique", "s", name);
    if (technique->maker == NULL)
        return -1;
    python_flush_prints();
    technique->technique = (struct hdss_technique){
        .abi = HDSS_TECHNIQUE_ABI,
        .name = technique->name,
        .title = python_text_of(technique->maker, "title"),
        .rule = python_text_of(technique->maker, "rule"),
        .params = technique->params,
        .state_bytes = sizeof(struct python_cutter),
        .init = python_init,
        .next = python_next,
        .fini = python_fini,
    };
    return take_technique_params(technique) == 0 && take_traits(technique) == 0 && PyErr_Occurred() == NULL ? 0 : -1;
}

/* Returns the technique "MODULE.CLASS", which lives as long as the process; NULL on failure. */
EXPORT const struct hdss_technique *hdss_python_technique(const char *name, char error[HDSS_TECHNIQUE_ERROR_MAX]);

const struct hdss_technique *hdss_python_technique(const char *name, char error[HDSS_TECHNIQUE_ERROR_MAX])
{
    static struct python_technique *all;
    char line[HDSS_ERROR_MAX] = "";
    for (const struct python_technique *known = all; known != NULL; known = known->next)
        if (strcmp(known->name, name) == 0)
            return &known->technique;
    if (python_start(line) < 0) {
        snprintf(error, HDSS_TECHNIQUE_ERROR_MAX, "%.*s", HDSS_TECHNIQUE_ERROR_MAX - 1, line);
        return NULL;
    }
    struct python_technique *technique = calloc(1, sizeof *technique + strlen(name) + 1);
    if (technique == NULL) {
        snprintf(error, HDSS_TECHNIQUE_ERROR_MAX, "out of memory for its table");
        return NULL;
    }
    if (make_python_technique(technique, name) < 0) {
        technique_explain(error);
        Py_XDECREF(technique->maker);
        free(technique);
        return NULL;
    }
    technique->next = all;
    all = technique;
    return &technique->technique;
}

/* SPDX-License-Identifier: MIT */
/* Kernels written in Python: the module hdss-python.so. It is loaded only if it is needed, so that nothing else needs
 * an interpreter. A process has one such kernel, and one thread calls it. Whatever is simpler to write in Python is in
 * hdss_python.py, beside this module. */
#include "worker/kernels/python/module.h"
#include "common/config/element_type.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INTEGER_MAX 1e18
#define REAL_MAX    1e300

static struct {
    PyObject *kernel;
    struct hdss_kernel described;
    struct hdss_param params[HDSS_PARAMS_MAX + 1];
    unsigned param_count;
    bool variable;
    bool is_warm;
} python;

PyObject *python_support;

int python_explain(char error[HDSS_ERROR_MAX])
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value != NULL && trace != NULL)
        PyException_SetTraceback(value, trace);
    PyObject *line = python_support != NULL && value != NULL
                         ? PyObject_CallMethod(python_support, "explain", "O", value)
                     : value != NULL ? PyObject_Str(value)
                                     : NULL;
    const char *text = line != NULL ? PyUnicode_AsUTF8(line) : NULL;
    snprintf(error, HDSS_ERROR_MAX, "%s", text != NULL ? text : "Python cannot say what is wrong");
    Py_XDECREF(line);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyErr_Clear();
    return -1;
}

void python_flush_prints(void)
{
    static const char *const names[] = {"stdout", "stderr"};
    for (unsigned i = 0; i < 2; i++) {
        PyObject *file = PySys_GetObject(names[i]);
        PyObject *result = file != NULL ? PyObject_CallMethod(file, "flush", NULL) : NULL;
        Py_XDECREF(result);
        PyErr_Clear();
    }
}

static PyObject *python_value_of(const struct hdss_param *param, union hdss_value value)
{
    switch (param->kind) {
    case HDSS_PARAM_REAL: return PyFloat_FromDouble(value.real);
    case HDSS_PARAM_TEXT: return PyUnicode_DecodeFSDefault(value.text);
    default: return PyLong_FromLongLong(value.integer);
    }
}

static PyObject *python_values_of(const union hdss_value *values)
{
    PyObject *tuple = PyTuple_New(python.param_count);
    for (unsigned i = 0; tuple != NULL && i < python.param_count; i++) {
        PyObject *value = python_value_of(&python.params[i], values[i]);
        if (value == NULL) {
            Py_DECREF(tuple);
            return NULL;
        }
        PyTuple_SET_ITEM(tuple, i, value);
    }
    return tuple;
}

/* Copies a text; the copy lives as long as the process. Returns NULL with an exception set, or if memory runs out. */
static const char *python_keep(PyObject *text)
{
    const char *utf8 = PyUnicode_AsUTF8(text);
    return utf8 != NULL ? strdup(utf8) : NULL;
}

static int python_take_streams(PyObject *endings, struct hdss_loop *loop)
{
    Py_ssize_t count = PyList_Size(endings);
    /* If there are too many streams, the number is set just above the limit. The loop is then refused. */
    loop->streams = count <= HDSS_STREAMS_MAX ? (unsigned)count : HDSS_STREAMS_MAX + 1;
    for (unsigned s = 0; s < loop->streams && s < HDSS_STREAMS_MAX; s++)
        if ((loop->stream[s].ending = python_keep(PyList_GetItem(endings, s))) == NULL)
            return -1;
    return 0;
}

static int take_shape(PyObject *shape, struct hdss_loop *loop)
{
    loop->dims = (unsigned)PyTuple_Size(shape);
    for (unsigned i = 0; i < loop->dims && i < HDSS_DIMS_MAX; i++)
        loop->shape[i] = PyLong_AsUnsignedLongLong(PyTuple_GetItem(shape, i));
    return PyErr_Occurred() != NULL ? -1 : 0;
}

static int take_description(PyObject *said, struct hdss_loop *loop)
{
    unsigned long long iterations, length;
    const char *type;
    PyObject *shape, *endings;
    int waits, has_effects;
    if (!PyArg_ParseTuple(said, "KsKOOpp", &iterations, &type, &length, &shape, &endings, &waits, &has_effects))
        return -1;
    loop->iterations = iterations;
    loop->waits = waits;
    loop->has_effects = has_effects;
    python.variable = type[0] == '\0';
    if (python.variable)
        return python_take_streams(endings, loop);
    element_type_find(type, &loop->type); /* hdss_python.py has checked the name */
    loop->record_length = length;
    return take_shape(shape, loop);
}

static int python_describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    PyObject *arguments = python_values_of(values), *method = PyObject_GetAttrString(python.kernel, "describe");
    PyObject *said = arguments != NULL && method != NULL ? PyObject_CallObject(method, arguments) : NULL;
    int result = said != NULL ? take_description(said, loop) : -1;
    Py_XDECREF(arguments);
    Py_XDECREF(method);
    Py_XDECREF(said);
    result = result == 0 ? 0 : python_explain(error);
    python_flush_prints();
    return result;
}

/* A loop in Python does not grow. In an open job, iterations are added in another way: HDSS calls the user's function
 * for iterations beyond those that the loop has described. */
static int python_grow(const union hdss_value *values, uint64_t *iterations, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)iterations, (void)error;
    return 0;
}

static int python_open_kernel(const union hdss_value *values, const struct hdss_loop *loop,
                              const struct hdss_worker *worker, void **instance, char error[HDSS_ERROR_MAX])
{
    (void)values, (void)loop;
    PyObject *said = PyObject_CallMethod(python.kernel, "open", "I", worker != NULL ? worker->number : 0);
    *instance = NULL;
    Py_XDECREF(said);
    const int result = said != NULL ? 0 : python_explain(error);
    python_flush_prints();
    return result;
}

static PyObject *call(const char *method, uint64_t first, uint64_t count)
{
    return PyObject_CallMethod(python.kernel, method, "KK", (unsigned long long)first, (unsigned long long)count);
}

static int python_run(void *instance, uint64_t first, uint64_t count, void *records, char error[HDSS_ERROR_MAX])
{
    (void)instance;
    Py_buffer buffer;
    PyObject *object = call("records", first, count);
    if (object == NULL || PyObject_GetBuffer(object, &buffer, PyBUF_FULL_RO) < 0) {
        Py_XDECREF(object);
        return python_explain(error);
    }
    int result = PyBuffer_ToContiguous(records, &buffer, buffer.len, 'C');
    PyBuffer_Release(&buffer);
    Py_DECREF(object);
    return result == 0 ? 0 : python_explain(error);
}

/* Returns 0 on success. Returns -1 with an exception set; returns -2 if the output has refused the bytes and has noted
 * its own error. */
static int put_bytes(struct hdss_output *output, uint64_t iteration, unsigned stream, PyObject *bytes)
{
    Py_buffer buffer;
    if (PyObject_GetBuffer(bytes, &buffer, PyBUF_SIMPLE) < 0)
        return -1;
    int result = output->put(output, iteration, stream, buffer.buf, (size_t)buffer.len);
    PyBuffer_Release(&buffer);
    return result < 0 ? -2 : 0;
}

static int put_item(struct hdss_output *output, uint64_t iteration, PyObject *item)
{
    int has_failed, result = 0;
    PyObject *parts;
    if (!PyArg_ParseTuple(item, "pO", &has_failed, &parts))
        return -1;
    for (Py_ssize_t s = 0; result == 0 && s < PyList_GET_SIZE(parts); s++)
        result = put_bytes(output, iteration, (unsigned)s, PyList_GET_ITEM(parts, s));
    return result == 0 && has_failed && output->failed(output, iteration) < 0 ? -2 : result;
}

static bool is_unfit(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *said = PyObject_GetAttrString(python.kernel, "is_unfit");
    const bool is = said == NULL || said != Py_False;
    Py_XDECREF(said);
    PyErr_Restore(type, value, trace);
    return is;
}

static int python_run_variable(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                               char error[HDSS_ERROR_MAX])
{
    (void)instance;
    PyObject *items = call("items", first, count);
    int result = items != NULL ? 0 : -1;
    if (is_unfit())
        output->unfit(output);
    for (uint64_t i = 0; result == 0 && i < count; i++)
        result = put_item(output, first + i, PyList_GET_ITEM(items, (Py_ssize_t)i));
    Py_XDECREF(items);
    return result == -1 ? python_explain(error) : result;
}

static void close_kernel(void *instance)
{
    (void)instance;
    python_flush_prints();
}

static int extend_path(void)
{
    Dl_info info;
    PyObject *path = PySys_GetObject("path"), *here = PyUnicode_FromString(""), *own = NULL;
    const char *slash = dladdr(&python, &info) != 0 ? strrchr(info.dli_fname, '/') : NULL;
    if (slash != NULL)
        own = PyUnicode_DecodeFSDefaultAndSize(info.dli_fname, slash - info.dli_fname);
    int result = own != NULL && here != NULL && path != NULL && PyList_Append(path, own) == 0 &&
                         PyList_Insert(path, 0, here) == 0
                     ? 0
                     : -1;
    Py_XDECREF(here);
    Py_XDECREF(own);
    return result;
}

int python_start(char error[HDSS_ERROR_MAX])
{
    if (python_support != NULL)
        return 0;
    if (!Py_IsInitialized())
        Py_InitializeEx(0); /* no signal handlers: HDSS has its own */
    if (extend_path() == 0)
        python_support = PyImport_ImportModule("hdss_python");
    return python_support != NULL ? 0 : python_explain(error);
}

static void take_kind(struct hdss_param *param, const char *kind)
{
    param->kind = HDSS_PARAM_TEXT;
    if (strcmp(kind, "integer") == 0) {
        param->kind = HDSS_PARAM_INTEGER;
        param->maximum = INTEGER_MAX;
    } else if (strcmp(kind, "real") == 0) {
        param->kind = HDSS_PARAM_REAL;
        param->maximum = REAL_MAX;
    } else if (strcmp(kind, "choice") == 0) {
        param->kind = HDSS_PARAM_CHOICE;
        param->choices = "no|yes";
    }
    param->minimum = -param->maximum;
}

static int python_take_params(void)
{
    PyObject *list = PyObject_GetAttrString(python.kernel, "params");
    Py_ssize_t count = list != NULL ? PyList_Size(list) : -1;
    if (count > HDSS_PARAMS_MAX)
        PyErr_SetString(PyExc_ValueError, "the function has too many parameters");
    for (Py_ssize_t i = 0; i < count && count <= HDSS_PARAMS_MAX; i++) {
        const char *name, *kind, *fallback;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "sss", &name, &kind, &fallback))
            break;
        struct hdss_param *param = &python.params[python.param_count++];
        *param = (struct hdss_param){.name = strdup(name), .fallback = strdup(fallback), .unit = "", .summary = kind};
        take_kind(param, kind);
        param->summary = "argument of the function";
    }
    Py_XDECREF(list);
    return PyErr_Occurred() != NULL ? -1 : 0;
}

const char *python_text_of(PyObject *object, const char *attribute)
{
    PyObject *text = PyObject_GetAttrString(object, attribute);
    const char *kept = text != NULL ? python_keep(text) : NULL;
    Py_XDECREF(text);
    return kept;
}

EXPORT int hdss_python_warm(const char *folder, char error[HDSS_ERROR_MAX]);

int hdss_python_warm(const char *folder, char error[HDSS_ERROR_MAX])
{
    if (python_start(error) < 0)
        return -1;
    python.is_warm = true;
    PyObject *said = PyObject_CallMethod(python_support, "warm", "s", folder);
    Py_XDECREF(said);
    return said != NULL ? 0 : python_explain(error);
}

static int become(void)
{
    PyObject *variables = PyList_New(0), *said = NULL;
    for (char **variable = environ; variables != NULL && *variable != NULL; variable++) {
        PyObject *text = PyBytes_FromString(*variable);
        const int result = text != NULL ? PyList_Append(variables, text) : -1;
        Py_XDECREF(text);
        if (result < 0)
            Py_CLEAR(variables);
    }
    if (variables != NULL)
        said = PyObject_CallMethod(python_support, "become", "O", variables);
    Py_XDECREF(variables);
    Py_XDECREF(said);
    return said != NULL ? 0 : -1;
}

/* Returns the kernel "MODULE.FUNCTION", which lives as long as the process. Returns NULL on failure. */
EXPORT const struct hdss_kernel *hdss_python_kernel(const char *name, char error[HDSS_ERROR_MAX]);

const struct hdss_kernel *hdss_python_kernel(const char *name, char error[HDSS_ERROR_MAX])
{
    if (python_start(error) < 0)
        return NULL;
    if (python.is_warm && become() < 0) {
        python_explain(error);
        return NULL;
    }
    python.kernel = PyObject_CallMethod(python_support, "Kernel", "s", name);
    if (python.kernel != NULL)
        python_flush_prints();
    python.param_count = 0;
    if (python.kernel == NULL || python_take_params() < 0) {
        python_explain(error);
        return NULL;
    }
    python.described = (struct hdss_kernel){
        .abi = HDSS_KERNEL_ABI,
        .name = python_text_of(python.kernel, "name"),
        .version = python_text_of(python.kernel, "version"),
        .summary = python_text_of(python.kernel, "summary"),
        .params = python.params,
        .describe = python_describe,
        .open = python_open_kernel,
        .run = python_run,
        .run_variable = python_run_variable,
        .threads = HDSS_THREADS_NONE,
        .close = close_kernel,
        .grow = python_grow,
    };
    python.params[python.param_count] = (struct hdss_param){0};
    if (python.described.name != NULL && python.described.version != NULL && python.described.summary != NULL)
        return &python.described;
    python_explain(error);
    return NULL;
}

/* SPDX-License-Identifier: MIT */
/* Pictures of the collapse: see collapse_plot.h. This file makes the scripts that gnuplot runs. */
#include "deploy/cli/collapse_plot.h"

#include "common/os/files.h"
#include "deploy/cli/axis.h"
#include "deploy/cli/gnuplot.h"
#include "worker/kernels/evrard/record.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979324

static void collapse_plot_write_title(const struct collapse_file *file, const char *what, FILE *script)
{
    char particles[32], text[120];
    axis_group_digits(file->particles, particles, sizeof particles);
    snprintf(text, sizeof text, "%s of the Evrard collapse, %s particles", what, particles);
    gnuplot_quote(script, text);
}

/* Has `write` write the script, and draws it. */
static int collapse_plot_draw(struct collapse_file *file, const char *path, const void *request,
                              int (*write)(struct collapse_file *, const void *, FILE *, struct error *),
                              struct error *error)
{
    if (gnuplot_check(error) < 0 || file_check_writable(path, error) < 0)
        return -1;
    FILE *script = tmpfile();
    if (script == NULL)
        return error_set(error, "cannot make a temporary file: %s", strerror(errno));
    fprintf(script, "set encoding utf8\nset terminal %s noenhanced ", gnuplot_terminal(path));
    int result = write(file, request, script, error);
    if (result == 0)
        result = gnuplot_draw(script, path, error);
    fclose(script);
    return result;
}

/* --- energies --- */

static int write_energy_lines(struct collapse_file *file, FILE *script, double *drift, struct error *error)
{
    double begin = 0;
    *drift = 0;
    fputs("$energies << END\n", script);
    for (uint64_t step = 0; step < file->steps; step++) {
        if (collapse_file_read(file, step, error) < 0)
            return -1;
        struct collapse_energy energy = collapse_file_energy(file);
        begin = step == 0 ? energy.total : begin;
        *drift = fmax(*drift, fabs(energy.total / begin - 1));
        fprintf(script, "%.9g %.9g %.9g %.9g %.9g\n", collapse_file_time(file, step), energy.kinetic, energy.internal,
                energy.potential, energy.total);
    }
    fputs("END\n", script);
    return 0;
}

static int write_energies(struct collapse_file *file, const void *request, FILE *script, struct error *error)
{
    (void)request;
    double drift;
    fputs("size 1000,700 font 'sans,12' background '#ffffff'\n", script);
    if (write_energy_lines(file, script, &drift, error) < 0)
        return -1;
    fputs("set title ", script);
    collapse_plot_write_title(file, "Energies", script);
    fprintf(script,
            " font ',15' offset 0,0.8\n"
            "set label 1 'total energy within %.2g %% of the first' at graph 0.5, graph 1.028 center font ',10' "
            "textcolor rgb '#606060'\n"
            "set border 3 lc rgb '#404040'\nset tics nomirror out\nset tmargin 5\n"
            "set grid xtics ytics lt 1 lw 1 lc rgb '#e4e4e4'\n"
            "set key outside right top vertical Left reverse samplen 3 spacing 1.25\n"
            "set xlabel 'time, G = M = R = 1'\nset ylabel 'energy'\nset xrange [0:%.9g]\n"
            "plot $energies using 1:3 with lines lc rgb '#d55e00' lw 2 title 'internal', "
            "'' using 1:2 with lines lc rgb '#0072b2' lw 2 dt (14,5) title 'kinetic', "
            "'' using 1:4 with lines lc rgb '#009e73' lw 2 dt (14,4,3,4) title 'potential', "
            "'' using 1:5 with lines lc rgb '#000000' lw 2 dt (3,4) title 'total'\n",
            drift * 100, (double)file->steps * file->time_step);
    return 0;
}

int collapse_plot_energies(struct collapse_file *file, const char *path, struct error *error)
{
    return collapse_plot_draw(file, path, NULL, write_energies, error);
}

/* --- density --- */

enum { SIDE = 200 };   /* dots of one picture */
#define HALF_WIDTH 1.0 /* half the width of the part of the world that it shows */
#define DECADES    3.5 /* decades of densities that it shows */
/* In the whole, dots: each with what is around it, and alone. */
#define PICTURE_WIDTH  340.0
#define PICTURE_HEIGHT 360.0
#define PICTURE_SIDE   290.0

struct moments {
    const double *times;
    size_t count;
};

/* A particle is spread over 2 h, and over a dot at least, by (1 - q^2 / 4)^2: all of it, which is near enough to the
 * kernel as it is seen from the side. */
static void add_particle(double *column, const double *state, double mass)
{
    const double dot = 2 * HALF_WIDTH / SIDE, h = fmax(state[EVRARD_H], dot / 2), scale = 3 * mass / (4 * PI * h * h);
    double left = (state[EVRARD_X] + HALF_WIDTH) / dot, low = (state[EVRARD_Y] + HALF_WIDTH) / dot, reach = 2 * h / dot;
    int first_x = (int)fmax(0, ceil(left - reach - 0.5)), last_x = (int)fmin(SIDE - 1, floor(left + reach - 0.5));
    int first_y = (int)fmax(0, ceil(low - reach - 0.5)), last_y = (int)fmin(SIDE - 1, floor(low + reach - 0.5));
    for (int y = first_y; y <= last_y; y++)
        for (int x = first_x; x <= last_x; x++) {
            double dx = (x + 0.5 - left) / reach, dy = (y + 0.5 - low) / reach, rest = 1 - dx * dx - dy * dy;
            column[y * SIDE + x] += rest > 0 ? scale * rest * rest : 0;
        }
}

/* Returns the highest density. */
static double write_picture(const struct collapse_file *file, size_t number, double *column, FILE *script)
{
    double highest = 0;
    memset(column, 0, SIDE * SIDE * sizeof *column);
    for (size_t i = 0; i < file->particles; i++)
        add_particle(column, file->states + i * EVRARD_FIELDS, 1 / (double)file->particles);
    fprintf(script, "$picture%zu << END\n", number);
    for (size_t y = 0; y < SIDE; y++)
        for (size_t x = 0; x < SIDE; x++) {
            double density = column[y * SIDE + x];
            highest = fmax(highest, density);
            fprintf(script, "%.4g%c", log10(fmax(density, 1e-9)), x + 1 < SIDE ? ' ' : '\n');
        }
    fputs("END\n", script);
    return highest;
}

/* The nearest step; its state is that of the middle of it. */
static uint64_t step_at(const struct collapse_file *file, double time)
{
    double step = floor(time / file->time_step);
    return step < 0 ? 0 : step < (double)file->steps ? (uint64_t)step : file->steps - 1;
}

static int write_pictures(struct collapse_file *file, const struct moments *moments, double *highest, FILE *script,
                          struct error *error)
{
    double *column = malloc(SIDE * SIDE * sizeof *column);
    int result = column != NULL ? 0 : error_set(error, "out of memory for a picture");
    for (size_t k = 0; result == 0 && k < moments->count; k++) {
        result = collapse_file_read(file, step_at(file, moments->times[k]), error);
        if (result == 0)
            *highest = fmax(*highest, write_picture(file, k, column, script));
    }
    free(column);
    return result;
}

/* Places of the pictures on the whole, in dots. */
struct arrangement {
    size_t across;
    double width, height;
};

static struct arrangement arrange(size_t count)
{
    size_t across = 1;
    while (across * across < count)
        across++;
    size_t rows = (count + across - 1) / across;
    return (struct arrangement){across, PICTURE_WIDTH * (double)across + 150, PICTURE_HEIGHT * (double)rows + 50};
}

static void write_place(const struct arrangement *whole, size_t k, FILE *script)
{
    size_t row = k / whole->across;
    double left = PICTURE_WIDTH * (double)(k % whole->across) + 60;
    double top = whole->height - 65 - PICTURE_HEIGHT * (double)row;
    fprintf(script, "set lmargin at screen %.6f\nset rmargin at screen %.6f\n", left / whole->width,
            (left + PICTURE_SIDE) / whole->width);
    fprintf(script, "set tmargin at screen %.6f\nset bmargin at screen %.6f\n", top / whole->height,
            (top - PICTURE_SIDE) / whole->height);
    fprintf(script, "set format y '%s'\n", k % whole->across == 0 ? "%g" : "");
}

static void collapse_plot_write_scale(const struct arrangement *whole, FILE *script)
{
    fprintf(script,
            "set colorbox user origin %.6f,%.6f size %.6f,%.6f\nset cblabel 'logarithm of the column density'\n",
            (whole->width - 110) / whole->width, 40 / whole->height, 18 / whole->width,
            (whole->height - 105) / whole->height);
}

/* The title of a single picture has to be smaller to have room above it. */
static void write_frame(const struct collapse_file *file, double highest, bool is_single, FILE *script)
{
    fputs("set multiplot title ", script);
    collapse_plot_write_title(file, "Column density", script);
    fprintf(script,
            " font ',%d'\nset palette defined (0 '#000004', 1 '#3b0f70', 2 '#8c2981', 3 '#de4968', 4 '#fe9f6d', 5 "
            "'#fcfdbf')\nset cbrange [%.9g:%.9g]\nset xrange [%g:%g]\nset yrange [%g:%g]\n"
            "unset key\nset tics out nomirror\nset xtics 0.5\nset ytics 0.5\nset border lc rgb '#404040'\n"
            "unset colorbox\n",
            is_single ? 12 : 15, log10(highest) - DECADES, log10(highest), -HALF_WIDTH, HALF_WIDTH, -HALF_WIDTH,
            HALF_WIDTH);
}

static int write_density(struct collapse_file *file, const void *request, FILE *script, struct error *error)
{
    const struct moments *moments = request;
    const struct arrangement whole = arrange(moments->count);
    const double dot = 2 * HALF_WIDTH / SIDE;
    double highest = 0;
    fprintf(script, "size %.0f,%.0f font 'sans,12' background '#ffffff'\n", whole.width, whole.height);
    if (write_pictures(file, moments, &highest, script, error) < 0)
        return -1;
    write_frame(file, highest, moments->count == 1, script);
    for (size_t k = 0; k < moments->count; k++) {
        write_place(&whole, k, script);
        if (k + 1 == moments->count)
            collapse_plot_write_scale(&whole, script);
        fprintf(script, "set title 't = %.4g' offset 0,-0.6\n",
                collapse_file_time(file, step_at(file, moments->times[k])));
        fprintf(script, "plot $picture%zu matrix using (($1+0.5)*%.9g-%g):(($2+0.5)*%.9g-%g):3 with image\n", k, dot,
                HALF_WIDTH, dot, HALF_WIDTH);
    }
    fputs("unset multiplot\n", script);
    return 0;
}

int collapse_plot_density(struct collapse_file *file, const char *path, const double *times, size_t count,
                          struct error *error)
{
    return collapse_plot_draw(file, path, &(struct moments){times, count}, write_density, error);
}

/* SPDX-License-Identifier: MIT */
/* A table on a page: see table.h. */
#include "deploy/cli/top/table.h"

#include "common/util/plain.h"

#include <string.h>

#define GAP     2
#define BAR_MAX 30

/* Columns that a column takes by what is in it; 0: nothing is. */
static unsigned wanted_width(const struct table_column *column, unsigned c, const struct table_row *rows,
                             size_t row_count)
{
    unsigned width = 0;
    for (size_t r = 0; r < row_count; r++) {
        const struct table_cell *cell = &rows[r].cells[c];
        const unsigned columns = column->is_bar ? (cell->share >= 0 ? column->least : 0) : plain_columns(cell->text);
        width = columns > width ? columns : width;
    }
    if (width == 0)
        return 0;
    const unsigned heading = plain_columns(column->heading);
    width = width < heading ? heading : width;
    width = width < column->least ? column->least : width;
    return column->most > 0 && width > column->most ? column->most : width;
}

static unsigned sum_of_widths(const unsigned *widths, unsigned count)
{
    unsigned sum = 0;
    for (unsigned c = 0; c < count; c++)
        if (widths[c] > 0)
            sum += widths[c] + (sum > 0 ? GAP : 0);
    return sum;
}

/* Leaves columns out one after the other until the others fit, and takes back those that have room after all, the last
 * one first. */
static void leave_columns_out(unsigned *widths, const struct table_column *columns, unsigned count, unsigned width)
{
    unsigned left_out[TABLE_COLUMNS_MAX], places[TABLE_COLUMNS_MAX], out = 0;
    for (unsigned next = 1; next <= count; next++)
        for (unsigned c = 0; c < count; c++)
            if (columns[c].dispensable == next && widths[c] > 0 && sum_of_widths(widths, count) > width) {
                places[out] = c;
                left_out[out++] = widths[c];
                widths[c] = 0;
            }
    while (out-- > 0) {
        widths[places[out]] = left_out[out];
        if (sum_of_widths(widths, count) > width)
            widths[places[out]] = 0;
    }
}

/* Has the columns fit: a text whose end is kept shrinks to the least that it has first, then columns are left out. A
 * bar takes what is left. */
static void fit_columns(unsigned *widths, const struct table_column *columns, unsigned count, unsigned width)
{
    for (unsigned c = 0; c < count; c++) {
        const unsigned sum = sum_of_widths(widths, count), over = sum > width ? sum - width : 0;
        if (columns[c].keeps_end && widths[c] > columns[c].least)
            widths[c] -= over < widths[c] - columns[c].least ? over : widths[c] - columns[c].least;
    }
    leave_columns_out(widths, columns, count, width);
    for (unsigned c = 0; c < count; c++) {
        const unsigned sum = sum_of_widths(widths, count);
        if (columns[c].is_bar && widths[c] > 0 && sum < width)
            widths[c] = widths[c] + width - sum < BAR_MAX ? widths[c] + width - sum : BAR_MAX;
    }
}

static void add_cell_text(struct page *page, const struct table_column *column, unsigned at, unsigned width,
                          const char *text, enum look look)
{
    const unsigned columns = plain_columns(text);
    if (column->is_number && columns < width)
        page_go_to(page, at + width - columns);
    if (columns <= width || !column->keeps_end) {
        page_add_short(page, look, text, width);
        return;
    }
    page_add(page, look, "..");
    for (unsigned over = columns - width + 2; over > 0 && *text != '\0'; over--)
        text = plain_next(text);
    page_add_short(page, look, text, width - 2);
}

/* NULL: the headings. */
static void add_table_row(struct page *page, const struct table_column *columns, unsigned count, const unsigned *widths,
                          const struct table_row *row)
{
    unsigned at = 0;
    page_line(page);
    for (unsigned c = 0; c < count; c++) {
        if (widths[c] == 0)
            continue;
        page_go_to(page, at);
        if (row == NULL)
            add_cell_text(page, &columns[c], at, widths[c], columns[c].heading, LOOK_DIM);
        else if (columns[c].is_bar && row->cells[c].share >= 0)
            page_add_bar(page, row->cells[c].share, widths[c]);
        else if (!columns[c].is_bar)
            add_cell_text(page, &columns[c], at, widths[c], row->cells[c].text, row->cells[c].look);
        at += widths[c] + GAP;
    }
    if (row != NULL && row->is_selected && page->count > 0 && !page->failed) {
        page_go_to(page, page->width);
        page->lines[page->count - 1].is_selected = true;
    }
}

void table_add(struct page *page, const struct table_column *columns, unsigned column_count,
               const struct table_row *rows, size_t row_count)
{
    unsigned widths[TABLE_COLUMNS_MAX] = {0};
    for (unsigned c = 0; c < column_count; c++)
        widths[c] = wanted_width(&columns[c], c, rows, row_count);
    fit_columns(widths, columns, column_count, page->width);
    add_table_row(page, columns, column_count, widths, NULL);
    for (size_t r = 0; r < row_count; r++)
        add_table_row(page, columns, column_count, widths, &rows[r]);
}

/* SPDX-License-Identifier: MIT */
/* The terminal by ncurses: see screen.h.
 *
 * Signals come only while a key is waited for, so that none breaks off a question to a session. Those that end the
 * program are a key like `q`, so that the terminal is given back on one way. */
#include "deploy/cli/top/screen.h"

#include "deploy/cli/colour.h"

#include <curses.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds in which the bytes of a key come that begins with Esc. */
#define ESCAPE_MS 25

static SCREEN *screen;
static sigset_t before; /* signals that were blocked, once has_signals */
static bool has_signals;
static volatile sig_atomic_t is_asked_to_end, has_another_size;
static attr_t looks[LOOKS];

static void remember_signal(int number)
{
    if (number == SIGWINCH)
        has_another_size = true;
    else
        is_asked_to_end = true;
}

/* Has these signals come while a key is waited for. */
static void defer_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
    const struct sigaction action = {.sa_handler = remember_signal};
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaddset(&blocked, numbers[i]);
        sigaction(numbers[i], &action, NULL);
    }
    sigprocmask(SIG_BLOCK, &blocked, &before);
    has_signals = true;
}

static void set_looks(bool has_colours)
{
    static const short colours[LOOKS] = {
        [LOOK_GOOD] = COLOR_GREEN, [LOOK_WARN] = COLOR_YELLOW, [LOOK_BAD] = COLOR_RED, [LOOK_BAR] = COLOR_CYAN};
    looks[LOOK_STRONG] = A_BOLD;
    looks[LOOK_DIM] = A_DIM;
    looks[LOOK_BAD] = A_BOLD;
    if (!has_colours || start_color() == ERR || use_default_colors() == ERR)
        return;
    for (int look = 0; look < LOOKS; look++)
        if (colours[look] != 0 && init_pair((short)(look + 1), colours[look], -1) != ERR)
            looks[look] = (look == LOOK_BAD ? A_BOLD : 0) | (attr_t)COLOR_PAIR(look + 1);
}

int top_screen_open(struct error *error)
{
    const char *terminal = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return error_set(error, "standard %s is no terminal; accepted: a terminal, or --once",
                         isatty(STDIN_FILENO) ? "output" : "input");
    screen = newterm(NULL, stdout, stdin);
    const char *cursor = screen != NULL ? tigetstr("cup") : NULL;
    if (cursor == NULL || cursor == (char *)-1) {
        top_screen_close();
        return error_set(error,
                         "the terminal '%.40s' (TERM) is not known to ncurses, or has no cursor to be moved; accepted: "
                         "another one, or --once",
                         terminal != NULL ? terminal : "");
    }
    defer_signals();
    set_term(screen);
    set_escdelay(ESCAPE_MS);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, true);
    nodelay(stdscr, true);
    curs_set(0);
    set_looks(colour_is_on(STDOUT_FILENO));
    return 0;
}

void top_screen_close(void)
{
    if (screen == NULL)
        return;
    endwin();
    delscreen(screen);
    screen = NULL;
    if (has_signals)
        sigprocmask(SIG_SETMASK, &before, NULL);
}

void top_screen_size(unsigned *columns, unsigned *lines)
{
    *columns = COLS > 0 ? (unsigned)COLS : 0;
    *lines = LINES > 0 ? (unsigned)LINES : 0;
}

/* Behind a line in the last column of the last line the cursor has no place to go, which is no error here. */
static void draw_line(int y, const struct page_line *line)
{
    const char *text = line->text;
    if (move(y, 0) == ERR)
        return;
    for (unsigned i = 0; i < line->count; i++) {
        attrset((line->is_selected ? A_REVERSE : 0) | looks[line->pieces[i].look]);
        addnstr(text, (int)line->pieces[i].length);
        text += line->pieces[i].length;
    }
    attrset(A_NORMAL);
}

void top_screen_show(const struct page *page)
{
    erase();
    for (size_t i = 0; i < page->count && i < (size_t)LINES; i++)
        draw_line((int)i, &page->lines[i]);
    refresh();
}

static enum top_key key_of_code(int code)
{
    switch (code) {
    case KEY_UP:
    case 'k': return TOP_KEY_UP;
    case KEY_DOWN:
    case 'j': return TOP_KEY_DOWN;
    case KEY_PPAGE: return TOP_KEY_PAGE_UP;
    case KEY_NPAGE: return TOP_KEY_PAGE_DOWN;
    case KEY_HOME:
    case 'g': return TOP_KEY_FIRST;
    case KEY_END:
    case 'G': return TOP_KEY_LAST;
    case KEY_ENTER:
    case '\r':
    case '\n': return TOP_KEY_ENTER;
    case 27: return TOP_KEY_BACK;
    case 'q': return TOP_KEY_QUIT;
    case 's': return TOP_KEY_SORT;
    case 'c': return TOP_KEY_CANCEL;
    case 'a': return TOP_KEY_ALL;
    case '?':
    case 'h': return TOP_KEY_HELP;
    case 'y':
    case 'Y': return TOP_KEY_YES;
    default: return TOP_KEY_OTHER;
    }
}

static void take_size(void)
{
    struct winsize size;
    has_another_size = false;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        resizeterm(size.ws_row, size.ws_col);
}

enum top_key top_screen_key(int timeout_ms, bool *is_resized)
{
    const struct timespec timeout = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L};
    struct pollfd waits = {STDIN_FILENO, POLLIN, 0};
    int code = getch();
    *is_resized = false;
    if (code == ERR) {
        const int ready = ppoll(&waits, 1, &timeout, &before);
        code = ready > 0 ? getch() : ERR;
        if (ready > 0 && code == ERR && (waits.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
            is_asked_to_end = true; /* the terminal is gone */
    }
    if (is_asked_to_end)
        return TOP_KEY_END;
    if (has_another_size || code == KEY_RESIZE) {
        take_size();
        *is_resized = true;
        return TOP_KEY_NONE;
    }
    return code == ERR ? TOP_KEY_NONE : key_of_code(code);
}

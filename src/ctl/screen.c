/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/screen.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static struct termios before;
static sigset_t mask_before;
static volatile sig_atomic_t ended;
static volatile sig_atomic_t stopped;
static volatile sig_atomic_t resized;

static void note_signal(int signal)
{
	if (signal == SIGWINCH)
		resized = 1;
	else if (signal == SIGTSTP)
		stopped = 1;
	else
		ended = 1;
}

static void take_over(void)
{
	struct termios keys = before;

	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &keys);
	fputs("\033[?1049h\033[?25l\033[2J", stdout); /* own page, no cursor, empty */
	fflush(stdout);
}

static void give_back(void)
{
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

/* Signal: they come inside ppoll() alone, so nothing is ever half drawn. */
bool screen_begin(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH };
	struct sigaction action = { .sa_handler = note_signal };
	sigset_t mask;

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before))
		return false;
	sigemptyset(&mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaddset(&mask, signals[i]);
		sigaction(signals[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &mask, &mask_before);
	take_over();
	return true;
}

void screen_end(void)
{
	give_back();
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void screen_size(unsigned *columns, unsigned *rows)
{
	struct winsize size;

	*columns = 80;
	*rows = 24;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_row) {
		*columns = size.ws_col;
		*rows = size.ws_row;
	}
}

void screen_draw(const char *text)
{
	unsigned columns;
	unsigned rows;

	screen_size(&columns, &rows);
	fputs("\033[H", stdout);
	for (unsigned row = 0; row < rows && *text; row++) {
		size_t length = strcspn(text, "\n");
		size_t shown = length < columns ? length : columns;

		printf("%s%.*s\033[K", row ? "\r\n" : "", (int)shown, text);
		text += length + (text[length] == '\n');
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

/* The shell must see a stop, and the terminal as it was meanwhile. */
static void stop(void)
{
	stopped = 0;
	give_back();
	raise(SIGSTOP);
	take_over();
}

enum screen_event screen_wait(uint64_t span_ns, char *key)
{
	const struct timespec span = { .tv_sec = (time_t)(span_ns / WP_SEC(1)),
				       .tv_nsec = (long)(span_ns % WP_SEC(1)) };
	struct pollfd poll_fd = { .fd = STDIN_FILENO, .events = POLLIN };
	int ready = ppoll(&poll_fd, 1, &span, &mask_before);

	if (ended)
		return SCREEN_END;
	if (stopped)
		stop();
	if (resized || ready < 0) {
		resized = 0;
		return SCREEN_RESIZED;
	}
	if (!ready)
		return SCREEN_TIME;
	/* Why: a terminal that is gone is readable for ever */
	return read(STDIN_FILENO, key, 1) == 1 ? SCREEN_KEY : SCREEN_END;
}

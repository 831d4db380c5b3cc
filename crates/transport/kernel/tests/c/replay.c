/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Applies events to a rule and writes its columns after each: `replay RULE <numbers >columns`. All numbers are u64 of this machine.
 * The input has PARAMS parameters, then events.
 */
#include <stdio.h>
#include <string.h>

#include "ebb_run.h"
#include "runs.h"

static struct columns columns;

static bool get(u64 *numbers, size_t count) { return fread(numbers, sizeof *numbers, count, stdin) == count; }

static bool put_all(void) { return fwrite(columns.numbers, sizeof(u64), columns.count, stdout) == columns.count; }

#define RUN(rule)                                                       \
    static int run_##rule(void)                                         \
    {                                                                   \
        struct rule##_run run;                                          \
        u64 numbers[PARAMS];                                            \
        if (!get(numbers, PARAMS))                                      \
            return 2;                                                   \
        rule##_begin(&run, numbers);                                    \
        while (get(numbers, EVENT)) {                                   \
            rule##_step(&run, numbers, &columns);                       \
            if (!put_all())                                             \
                return 2;                                               \
        }                                                               \
        return 0;                                                       \
    }

RUN(ledbat)
RUN(fledbat)
RUN(ledbatpp)
RUN(ebb)

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } rules[] = {
        { "ledbat", run_ledbat },
        { "fledbat", run_fledbat },
        { "ledbatpp", run_ledbatpp },
        { "ebb", run_ebb },
    };

    setvbuf(stdin, NULL, _IOFBF, 1 << 16);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
        if (count == 2 && strcmp(arguments[1], rules[i].name) == 0)
            return rules[i].run();
    fprintf(stderr, "usage: replay ledbat|fledbat|ledbatpp|ebb <numbers >columns\n");
    return 2;
}

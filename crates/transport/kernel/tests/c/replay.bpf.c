/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The rules in eBPF, one event a call: struct_ops programs cannot be run by a test, and these call the same functions. `numbers` has
 * the parameters before a call of RULE_begin, and an event before one of RULE_step.
 */
#include "ebb_run.h"
#include "runs.h"

#define SEC(name) __attribute__((section(name), used))

char LICENSE[] SEC("license") = "Dual MIT/GPL";

u64 numbers[PARAMS] SEC(".data.numbers");
struct columns columns SEC(".data.columns");

#define PROGRAMS(rule)                                                  \
    static struct rule##_run rule##_state;                              \
    SEC("syscall") int begin_##rule(void *context)                      \
    {                                                                   \
        rule##_begin(&rule##_state, numbers);                                   \
        return 0;                                                       \
    }                                                                   \
    SEC("syscall") int step_##rule(void *context)                       \
    {                                                                   \
        rule##_step(&rule##_state, numbers, &columns);                          \
        return 0;                                                       \
    }

PROGRAMS(ledbat)
PROGRAMS(fledbat)
PROGRAMS(ledbatpp)
PROGRAMS(ebb)

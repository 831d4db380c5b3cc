/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the loader sets in the object before it loads it.
 */
#ifndef AFTERYOU_SETTINGS_H
#define AFTERYOU_SETTINGS_H

#include "kernel.h"

struct settings {
    /* Name of the controller that connections of the control group get. */
    char name[16];
    /* Their mark: TOS of IPv4, traffic class of IPv6. */
    u32 mark;
    /* Connections of ebb are one job. */
    u32 is_job;
};

/* Alone in its section, which the loader sees as one value. */
const volatile struct settings settings SEC(".rodata.settings") = { 0 };

#endif

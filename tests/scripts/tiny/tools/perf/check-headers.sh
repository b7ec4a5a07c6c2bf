#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
FILES=(
  "include/uapi/linux/perf_event.h"
)
check include/linux/bits.h '-I "only"'

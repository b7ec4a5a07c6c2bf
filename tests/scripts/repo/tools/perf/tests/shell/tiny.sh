#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# tiny feature
exit 2

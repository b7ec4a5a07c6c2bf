# SPDX-License-Identifier: GPL-2.0-only
# Verbs only: `make VERB` runs scripts/VERB. Settings (ARCH= CPU= T= and others, which
# `make help` lists) given on the command line reach the script through its environment,
# as make does by itself. Logic and texts live in the scripts.

VERBS := help fetch apply sync refresh series check-patches \
	 kernel perf vm shell demo check clean emulator bench fuzz kit deb

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: $(VERBS)

$(VERBS):
	@scripts/$@

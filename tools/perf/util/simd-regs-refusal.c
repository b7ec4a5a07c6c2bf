// SPDX-License-Identifier: GPL-2.0
/*
 * Why the kernel has refused an event with SIMD fields in its attr: it has one
 * errno for all that a PMU can't sample. Ask again for one kind of registers after
 * the other, and tell the user which of them the event can have.
 */
#include <errno.h>
#include <sys/utsname.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <internal/xyarray.h>

#include "debug.h"
#include "dwarf-regs.h"
#include "evlist.h"
#include "evsel.h"
#include "perf_regs.h"
#include "sample-regs.h"
#include "simd-regs.h"
#include "simd-regs-attr.h"
#include "simd-regs-probe.h"
#include "strbuf.h"

/* A list of names for a message. Without memory it ends early. */
static void simd_names__add(struct strbuf *names, const char *name)
{
	strbuf_addf(names, "%s%s", names->len ? ", " : "", name);
}

static bool attr__can_open(const struct perf_event_attr *attr)
{
	return simd_regs__try_open(*attr) == 0;
}

/*
 * The registers of a side that need no SIMD fields. One that has no others gets the IP:
 * not every kernel takes an empty mask, and perf script prints registers only if all
 * events of a type have some.
 */
static u64 plain_regs(u64 regs, uint16_t e_machine)
{
	return regs & ~simd_ext_gprs(e_machine) ?: 1ULL << perf_arch_reg_ip(e_machine);
}

/* Take the registers that need the SIMD fields out of an attr, those of the interrupt only. */
static void attr__drop_intr_simd_regs(struct perf_event_attr *attr, uint16_t e_machine)
{
	perf_event_attr__drop_intr_simd_regs(attr);
	if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
		attr->sample_regs_intr = plain_regs(attr->sample_regs_intr, e_machine);
}

/* ... of both sides. */
static void attr__drop_simd_regs(struct perf_event_attr *attr, uint16_t e_machine)
{
	attr__drop_intr_simd_regs(attr, e_machine);
	if (attr->sample_type & PERF_SAMPLE_REGS_USER)
		attr->sample_regs_user = plain_regs(attr->sample_regs_user, e_machine);
	perf_event_attr__clear_simd_regs(attr);
}

static bool attr__has_user_simd_regs(const struct perf_event_attr *attr, uint16_t e_machine)
{
	return attr->sample_simd_vec_reg_user || attr->sample_simd_pred_reg_user ||
	       attr->sample_regs_user & simd_ext_gprs(e_machine);
}

/* The event with the registers that every kernel has, and the SIMD fields for more. */
static struct perf_event_attr attr__without_simd_regs(const struct perf_event_attr *attr,
						      uint16_t e_machine)
{
	struct perf_event_attr plain = *attr;

	attr__drop_simd_regs(&plain, e_machine);
	plain.sample_simd_regs_enabled = 1;
	return plain;
}

/* The array of descriptors stays where an attempt to open the event has failed. */
static bool evsel__has_open_fd(const struct evsel *evsel)
{
	struct xyarray *fds = evsel->core.fd;

	if (!fds)
		return false;

	for (int idx = 0; idx < xyarray__max_x(fds); idx++) {
		for (int thread = 0; thread < xyarray__max_y(fds); thread++) {
			if (*(int *)xyarray__entry(fds, idx, thread) >= 0)
				return true;
		}
	}
	return false;
}

/**
 * evsel__refused_for_simd_regs - whether an event's registers are why it was refused
 * @evsel: the event, which the kernel has refused
 *
 * Returns true if the event by itself, outside of its group, can be opened without the
 * registers that need the SIMD fields, and not with them.
 */
bool evsel__refused_for_simd_regs(const struct evsel *evsel)
{
	struct perf_event_attr attr = evsel->core.attr;

	if (!attr.sample_simd_regs_enabled || attr__can_open(&attr))
		return false;
	attr__drop_simd_regs(&attr, EM_HOST);
	return attr__can_open(&attr);
}

/* An event that is sampled for the addresses and latencies that a precise one has. */
static bool attr__has_to_be_precise(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_DATA_SRC;
}

/**
 * evsel__stays_precise - whether an event is to be refused rather than imprecise
 * @evsel: the event, which the kernel has refused
 * @err: what sys_perf_event_open() said
 *
 * An event as precise as possible, "cycles:P", is tried with less and less precision.
 * If registers are the reason, the last step, to none at all, comes with a warning; it
 * is not taken where the samples would have lost what they are for. Then the precision
 * is what it was at first.
 */
bool evsel__stays_precise(struct evsel *evsel, int err)
{
	struct perf_event_attr *attr = &evsel->core.attr, imprecise = *attr;

	if (err != -EOPNOTSUPP || !evsel->precise_max || attr->precise_ip != 1 ||
	    !evsel__refused_for_simd_regs(evsel))
		return false;

	if (attr__has_to_be_precise(attr)) {
		attr->precise_ip = evsel->precise_ip_original ?: 1;
		return true;
	}
	imprecise.precise_ip = 0;
	if (attr__can_open(&imprecise))
		pr_warning("WARNING: %s is recorded without precision: a precise event of this CPU cannot sample all of the registers.\n",
			   evsel__name(evsel));
	return false;
}

/*
 * The event is open with its registers, or will be. If the kernel refuses it as it is,
 * perf tries it without the kernel, guests and precision.
 */
static bool evsel__can_have_simd_regs(const struct evsel *evsel)
{
	struct perf_event_attr attr = evsel->core.attr;

	if (!attr.sample_simd_regs_enabled)
		return false;
	if (evsel__has_open_fd(evsel) || attr__can_open(&attr))
		return true;

	if (!attr.exclude_user) {
		attr.exclude_kernel = 1;
		attr.exclude_hv = 1;
	}
	attr.exclude_guest = 1;
	if (evsel->precise_max && !attr__has_to_be_precise(&attr))
		attr.precise_ip = 0;
	return attr__can_open(&attr);
}

/* The event's vectors in another width, as far as there are that many. */
static bool attr__can_open_vectors(const struct perf_event_attr *attr,
				   const struct simd_class *class, u16 qwords, uint16_t e_machine)
{
	struct perf_event_attr try = attr__without_simd_regs(attr, e_machine);
	u64 all = (1ULL << class->nr) - 1;

	try.sample_simd_vec_reg_intr = attr->sample_simd_vec_reg_intr & all;
	try.sample_simd_vec_reg_user = attr->sample_simd_vec_reg_user & all;
	if (!try.sample_simd_vec_reg_intr && !try.sample_simd_vec_reg_user)
		return false;
	try.sample_simd_vec_reg_qwords = qwords;
	return attr__can_open(&try);
}

static void check_vectors(const struct perf_event_attr *attr, uint16_t e_machine,
			  struct strbuf *refused, struct strbuf *possible)
{
	u16 width = attr->sample_simd_vec_reg_qwords;
	size_t nr;
	const struct simd_class *classes = simd_classes(e_machine, &nr);

	if (!width)
		return;

	for (size_t i = 0; i < nr; i++) {
		u16 qwords = classes[i].qwords ?: width;

		if (classes[i].pred || qwords > width)
			continue;
		if (attr__can_open_vectors(attr, &classes[i], qwords, e_machine))
			simd_names__add(possible, classes[i].name);
		else if (qwords == width)
			simd_names__add(refused, classes[i].name);
		/* V and Z can be as wide. */
		if (qwords == width)
			break;
	}
}

static void check_predicates(const struct perf_event_attr *attr, uint16_t e_machine,
			     struct strbuf *refused, struct strbuf *possible)
{
	struct perf_event_attr try = attr__without_simd_regs(attr, e_machine);
	u32 mask = attr->sample_simd_pred_reg_intr | attr->sample_simd_pred_reg_user;
	struct strbuf *to;
	size_t nr;
	const struct simd_class *classes = simd_classes(e_machine, &nr);

	if (!mask)
		return;
	try.sample_simd_pred_reg_intr = attr->sample_simd_pred_reg_intr;
	try.sample_simd_pred_reg_user = attr->sample_simd_pred_reg_user;
	try.sample_simd_pred_reg_qwords = attr->sample_simd_pred_reg_qwords;
	to = attr__can_open(&try) ? possible : refused;

	for (size_t i = 0; i < nr; i++) {
		u64 all = ((1ULL << classes[i].nr) - 1) << classes[i].first;

		if (classes[i].pred && mask & all)
			simd_names__add(to, classes[i].name);
	}
}

static void check_ext_gprs(const struct perf_event_attr *attr, uint16_t e_machine,
			   const struct simd_ext_gprs *gprs, struct strbuf *refused,
			   struct strbuf *possible)
{
	struct perf_event_attr try = attr__without_simd_regs(attr, e_machine);

	if (!((attr->sample_regs_intr | attr->sample_regs_user) & gprs->mask))
		return;
	try.sample_regs_intr |= attr->sample_regs_intr & gprs->mask;
	try.sample_regs_user |= attr->sample_regs_user & gprs->mask;
	simd_names__add(attr__can_open(&try) ? possible : refused, gprs->names);
}

/* What was asked for, sorted by whether the event can sample it. */
static void check_all(const struct perf_event_attr *attr, uint16_t e_machine,
		      struct strbuf *refused, struct strbuf *possible)
{
	const struct simd_arch *arch = simd_arch(e_machine);

	check_vectors(attr, e_machine, refused, possible);
	check_predicates(attr, e_machine, refused, possible);
	for (size_t i = 0; arch && i < arch->nr_ext_gprs; i++)
		check_ext_gprs(attr, e_machine, &arch->ext_gprs[i], refused, possible);
}

static int unsupported_strerror(struct evsel *evsel, char *msg, size_t size)
{
	struct perf_event_attr attr = evsel->core.attr;
	struct strbuf refused = STRBUF_INIT, possible = STRBUF_INIT;
	uint16_t e_machine = EM_HOST;
	int len;

	check_all(&attr, e_machine, &refused, &possible);
	len = scnprintf(msg, size, "%s: %s cannot sample %s.\n", evsel__name(evsel),
			attr.precise_ip ? "a precise event of this CPU" : "the PMU of this event",
			refused.len ? refused.buf : "the requested registers together");
	if (possible.len)
		len += scnprintf(msg + len, size - len, "Hint: It can sample %s.\n", possible.buf);
	if (attr.sample_simd_vec_reg_intr && attr.sample_simd_vec_reg_user)
		len += scnprintf(msg + len, size - len,
				 "Hint: -I and --user-regs have one width, that of the widest.\n");
	strbuf_release(&refused);
	strbuf_release(&possible);

	if (attr.precise_ip) {
		attr.precise_ip = 0;
		if (!attr__has_to_be_precise(&attr) && attr__can_open(&attr))
			len += scnprintf(msg + len, size - len,
					 "Hint: Without the 'p' modifier it can sample all of them.\n");
	} else {
		len += scnprintf(msg + len, size - len,
				 "Hint: 'perf record -I?' lists what cpu-clock or cycles can sample.\n");
	}
	return len;
}

/* The event, or the leader of its group, could not be opened. */
static bool evsel__is_removed(const struct evsel *evsel)
{
	return evsel->skippable || evsel__leader(evsel)->skippable;
}

/**
 * evsel__drop_simd_regs - let an event that cannot sample the registers do without
 * @evsel: the event, which the kernel has refused
 * @err: what sys_perf_event_open() said, positive
 *
 * Where another event of the session can sample the registers, this one need not
 * end it: it is recorded without, and a warning says so. It keeps those of user space
 * if it can, as precise events can. One that is to be removed does not count, and a
 * member of its group has no other reason.
 *
 * Returns true if the event is worth another try.
 */
bool evsel__drop_simd_regs(struct evsel *evsel, int err)
{
	struct perf_event_attr attr = evsel->core.attr;
	const char *where = "";
	struct evsel *pos;

	if ((err != EOPNOTSUPP && err != EINVAL) || evsel__is_removed(evsel) ||
	    !evsel__refused_for_simd_regs(evsel))
		return false;

	evlist__for_each_entry(evsel->evlist, pos) {
		if (pos == evsel || evsel__is_removed(pos) || !evsel__can_have_simd_regs(pos))
			continue;
		attr__drop_intr_simd_regs(&attr, EM_HOST);
		if (attr__has_user_simd_regs(&attr, EM_HOST) && attr__can_open(&attr))
			where = " at the interrupt";
		else
			attr__drop_simd_regs(&attr, EM_HOST);
		evsel->core.attr = attr;
		pr_warning("WARNING: %s cannot sample SIMD and extended registers%s, and is recorded without them.\n",
			   evsel__name(evsel), where);
		return true;
	}
	return false;
}

/* What the registers and the stack of a sample take. */
static u64 sample_bytes(const struct perf_event_attr *attr)
{
	u64 words = hweight64(attr->sample_regs_intr) + hweight64(attr->sample_regs_user);

	words += (hweight64(attr->sample_simd_vec_reg_intr) +
		  hweight64(attr->sample_simd_vec_reg_user)) * attr->sample_simd_vec_reg_qwords;
	words += (hweight32(attr->sample_simd_pred_reg_intr) +
		  hweight32(attr->sample_simd_pred_reg_user)) * attr->sample_simd_pred_reg_qwords;
	return words * sizeof(u64) + attr->sample_stack_user;
}

/**
 * evsel__simd_regs_strerror - say why the kernel has refused an event
 * @evsel: the event
 * @err: errno
 * @msg: is set
 * @size: of @msg
 *
 * Returns 0 if it isn't for its registers.
 */
int evsel__simd_regs_strerror(struct evsel *evsel, int err, char *msg, size_t size)
{
	struct perf_event_attr *attr = &evsel->core.attr;
	struct utsname uts;

	if (!attr->sample_simd_regs_enabled ||
	    (err != E2BIG && !evsel__refused_for_simd_regs(evsel)))
		return 0;

	switch (err) {
	case E2BIG:
		if (uname(&uts))
			uts.release[0] = '\0';
		return scnprintf(msg, size,
	"%s: the kernel, %s, is too old to sample SIMD or extended registers.",
				 evsel__name(evsel), uts.release);
	case EOPNOTSUPP:
		return unsupported_strerror(evsel, msg, size);
	case EINVAL:
		return scnprintf(msg, size,
	"%s: the kernel refuses the event with these SIMD or extended registers.\n"
	"Hint: A sample must be smaller than 64 KiB; this one would have %llu bytes of registers and stack. If that is the reason, request fewer registers or a smaller stack.",
				 evsel__name(evsel), (unsigned long long)sample_bytes(attr));
	default:
		return 0;
	}
}

/*
 * Adaptive PEBS: its MSRs, and records in the buffer that the debug store (DS)
 * area describes.
 *
 * The processor reaches all of that by linear address, with the page tables of
 * the moment and at supervisor privilege.  Software must have it mapped; where
 * it has not, the record is lost.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "pebs.h"

static unsigned format(CPUX86State *env)
{
    return env_archcpu(env)->pebs_fmt;
}

static uint64_t data_cfg_bits(CPUX86State *env)
{
    uint64_t bits = PEBS_CFG_MEMINFO | PEBS_CFG_GPR | PEBS_CFG_XMM |
                    PEBS_CFG_LBR |
                    MAKE_64BIT_MASK(PEBS_CFG_LBR_SHIFT, PEBS_CFG_LBR_LENGTH);

    if (format(env) >= PEBS_FMT_COUNTERS) {
        bits |= PEBS_CFG_COUNTERS |
                MAKE_64BIT_MASK(PEBS_CFG_GP_SHIFT, PMU_INTEL_GP) |
                MAKE_64BIT_MASK(PEBS_CFG_FIXED_SHIFT, PMU_INTEL_FIXED);
        if (pmu_has_metrics(env)) {
            bits |= PEBS_CFG_METRICS;
        }
    }
    return bits;
}

static bool is_canonical(CPUX86State *env, uint64_t addr)
{
    int width = env->cr[4] & CR4_LA57_MASK ? 57 : 48;

    return sextract64(addr, 0, width) == addr;
}

X86PMUAccess pebs_ds_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    X86PEBSState *pebs = &env->pmu.pebs;

    switch (msr) {
    case MSR_DS_AREA:
        *val = pebs->ds_area;
        return PMU_DONE;
    case MSR_PEBS_ENABLE:
        *val = pebs->enable;
        return PMU_DONE;
    case MSR_PEBS_DATA_CFG:
        *val = pebs->data_cfg;
        return PMU_DONE;
    }
    return PMU_NOT_MINE;
}

X86PMUAccess pebs_ds_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val)
{
    X86PEBSState *pebs = &env->pmu.pebs;

    switch (msr) {
    case MSR_DS_AREA:
        if (!is_canonical(env, val)) {
            return PMU_GP;
        }
        pebs->ds_area = val;
        return PMU_DONE;
    case MSR_PEBS_ENABLE:
        if (val & ~pmu_all_counters(env)) {
            return PMU_GP;
        }
        pebs->enable = val;
        return PMU_DONE;
    case MSR_PEBS_DATA_CFG:
        if (val & ~data_cfg_bits(env)) {
            return PMU_GP;
        }
        pebs->data_cfg = val;
        return PMU_DONE;
    }
    return PMU_NOT_MINE;
}

bool pebs_ds_takes(CPUX86State *env, unsigned counter)
{
    return env->pmu.pebs.enable & (1ull << counter);
}

/*
 * Access at most a page, which may cross into the next one: all of it, or
 * nothing and false.  Like a page walk, it never faults and is nobody's load or
 * store.
 */
static bool access_linear(CPUX86State *env, uint64_t addr, void *buf,
                          unsigned size, MMUAccessType type)
{
    unsigned head = MIN(size, -(addr | TARGET_PAGE_MASK));
    struct {
        void *host;
        void *buf;
        unsigned size;
    } part[] = {
        { .buf = buf, .size = head },
        { .buf = buf + head, .size = size - head },
    };

    for (unsigned i = 0; i < ARRAY_SIZE(part) && part[i].size; i++) {
        probe_access_full_mmu(env, i ? addr + head : addr, part[i].size, type,
                              cpu_mmu_index_kernel(env), &part[i].host, NULL);
        if (!part[i].host) {
            qemu_log_mask(LOG_GUEST_ERROR, "PEBS: cannot %s %u bytes at linear "
                          "address 0x%" PRIx64 "\n",
                          type == MMU_DATA_STORE ? "write" : "read", size,
                          addr);
            return false;
        }
    }
    for (unsigned i = 0; i < ARRAY_SIZE(part) && part[i].size; i++) {
        if (type == MMU_DATA_STORE) {
            memcpy(part[i].host, part[i].buf, part[i].size);
        } else {
            memcpy(part[i].buf, part[i].host, part[i].size);
        }
    }
    return true;
}

static bool load_word(CPUX86State *env, uint64_t addr, uint64_t *val)
{
    if (!access_linear(env, addr, val, sizeof(*val), MMU_DATA_LOAD)) {
        return false;
    }
    *val = le64_to_cpu(*val);
    return true;
}

static bool store_word(CPUX86State *env, uint64_t addr, uint64_t val)
{
    val = cpu_to_le64(val);
    return access_linear(env, addr, &val, sizeof(val), MMU_DATA_STORE);
}

/* Does software want more than the basic group when this counter overflows? */
static bool is_adaptive(CPUX86State *env, unsigned counter)
{
    if (counter >= X86_PMU_FIXED) {
        return env->pmu.fixed_ctrl &
               PMU_FIXED_CTRL_ADAPTIVE(counter - X86_PMU_FIXED);
    }
    return env->pmu.event_select[counter] & PMU_EVTSEL_ADAPTIVE;
}

static uint64_t config_of(CPUX86State *env, uint64_t counters)
{
    for (; counters; counters &= counters - 1) {
        if (is_adaptive(env, ctz64(counters))) {
            return env->pmu.pebs.data_cfg;
        }
    }
    return 0;
}

static void compose(CPUX86State *env, PEBSRecord *r, const PEBSEvent *event)
{
    uint64_t format = extract64(event->config, 0, PEBS_FORMAT_LENGTH);

    /* Of all groups the first word is the only one that needs the size.  */
    pebs_put(r, 0);
    pebs_put_event(env, r, event);
    if (event->config & PEBS_CFG_MEMINFO) {
        PEBSMemory memory = pebs_memory(env, event->counters);

        pebs_put(r, memory.address);
        pebs_put(r, memory.source);
        pebs_put(r, memory.latency);
        /* There are no transactions.  */
        pebs_put(r, 0);
    }
    if (event->config & PEBS_CFG_GPR) {
        pebs_put_gprs(env, r);
    }
    if (event->config & PEBS_CFG_XMM) {
        pebs_put_vectors(env, r, 0, 15, 0, 2);
    }
    if (event->config & PEBS_CFG_LBR) {
        unsigned entries = extract64(event->config, PEBS_CFG_LBR_SHIFT,
                                     PEBS_CFG_LBR_LENGTH) + 1;

        pebs_put_zeros(r, entries * PEBS_LBR_WORDS);
    }
    if (event->config & (PEBS_CFG_COUNTERS | PEBS_CFG_METRICS)) {
        pebs_put_counters(env, r, event->config & PEBS_CFG_COUNTERS
                                  ? event->snapshot : 0,
                          event->config & PEBS_CFG_METRICS);
    }
    stq_le_p(r->data, format | (uint64_t)r->size << PEBS_FORMAT_SIZE_SHIFT);
}

/* Write the record behind the last one; true if that is the cause of a PMI.  */
static bool output(CPUX86State *env, const PEBSRecord *r)
{
    uint64_t area = env->pmu.pebs.ds_area;
    uint64_t index, maximum, threshold;

    if (!load_word(env, area + DS_PEBS_INDEX, &index) ||
        !load_word(env, area + DS_PEBS_MAXIMUM, &maximum) ||
        !load_word(env, area + DS_PEBS_THRESHOLD, &threshold)) {
        return false;
    }
    /* A record that does not fit is lost, without any sign of it.  */
    if (index <= maximum && r->size <= maximum - index) {
        if (!access_linear(env, index, (void *)r->data, r->size,
                           MMU_DATA_STORE) ||
            !store_word(env, area + DS_PEBS_INDEX, index + r->size)) {
            return false;
        }
        index += r->size;
    }
    return index >= threshold;
}

static void reload(CPUX86State *env, unsigned counter)
{
    unsigned slot = counter;
    uint64_t val;

    if (counter >= X86_PMU_FIXED) {
        slot = counter - X86_PMU_FIXED;
        slot += format(env) >= PEBS_FMT_FIXED_SLOTS ? DS_RESET_FIXED
                                                    : DS_RESET_FIXED_FMT4;
    }
    if (load_word(env, env->pmu.pebs.ds_area + DS_PEBS_RESET +
                  slot * sizeof(val), &val)) {
        *pmu_counter(env, counter) = val & PMU_MASK;
    }
}

bool pebs_ds_overflow(CPUX86State *env, uint64_t counters, uint64_t ip)
{
    uint64_t config = config_of(env, counters);
    PEBSEvent event = {
        .counters = counters,
        .ip = ip,
        .config = config,
        .snapshot =
            extract64(config, PEBS_CFG_GP_SHIFT, PEBS_CFG_GP_LENGTH) |
            extract64(config, PEBS_CFG_FIXED_SHIFT, PEBS_CFG_FIXED_LENGTH)
                << X86_PMU_FIXED,
    };
    PEBSRecord record = { };
    bool pmi;

    /* The record has the counters as they are before they start anew.  */
    compose(env, &record, &event);
    pmi = output(env, &record);
    for (; counters; counters &= counters - 1) {
        reload(env, ctz64(counters));
    }
    return pmi && pebs_set_status(env, PMU_STATUS_DS_BUFFER);
}

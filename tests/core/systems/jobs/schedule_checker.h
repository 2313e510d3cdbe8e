#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Proves a schedule of jobs from its spans alone, by the rules that a person would state: it shares no code with the
// scheduler, not even the sums of bytes. Units in strict order, each once, where they may run; weights and input there
// when a unit starts; memory of GPUs and hosts never over capacity; transfers when and as long as they may be.
//
//   QCOMPARE(ScheduleChecker(set, rules, run).fault(), std::string());

#include "core/engine/timeline/memory_walk.h"
#include "tests/core/systems/jobs/schedule_spans.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace trainyard::test {

class ScheduleChecker {
public:
    ScheduleChecker(const JobSet &set, const JobRules &rules, const JobRun &run)
        : m_set(set)
        , m_rules(rules)
        , m_run(run)
        , m_gpus(spansOf(set, run.timeline))
        , m_units(set.jobs.size())
        , m_stores(set.jobs.size())
    {
    }

    /// What is wrong first; empty: nothing.
    std::string fault()
    {
        if (m_gpus.size() != m_set.gpus.size())
            return "a span belongs to no GPU or no job";
        checkTracks();
        checkOrder();
        if (!m_rules.spill)
            fail(leavesItsGpu(m_set, m_gpus));
        for (std::size_t g = 0; g < m_gpus.size(); ++g)
            checkWeights(g);
        for (std::size_t g = 0; g < m_gpus.size(); ++g)
            checkLoads(g);
        for (std::size_t g = 0; g < m_gpus.size(); ++g)
            checkGpuMemory(g);
        checkHosts();
        checkTimes();
        checkLinks();
        return m_fault;
    }

    int stayed = 0; // units that went on with the weights of the one before
    int prefetched = 0; // loads that ran while the unit before computed

private:
    using Span = JobSpan;
    using Gpu = GpuSpans;

    template <class... Parts> void fail(const Parts &...parts)
    {
        if (m_fault.empty())
            ((m_fault += text(parts)), ...);
    }
    static std::string text(const char *part) { return part; }
    static std::string text(const std::string &part) { return part; }
    template <class Number> static std::string text(Number part) { return " " + std::to_string(part) + " "; }

    [[nodiscard]] static double whole(double bytes) { return std::round(bytes); }
    [[nodiscard]] const JobUnit &about(const Span &unit) const
    {
        const std::vector<JobUnit> &units = m_set.jobs[unit.job].units;
        return units[unit.unit % units.size()];
    }
    [[nodiscard]] bool follows(const Span &next, const Span &before) const
    {
        return next.job == before.job && next.unit == before.unit + 1;
    }

    void checkTracks()
    {
        const auto overlap = [&](const std::vector<Span> &spans, const char *what, std::size_t g) {
            for (std::size_t i = 1; i < spans.size(); ++i)
                if (spans[i].start < spans[i - 1].end)
                    fail(what, " overlap on GPU", g, "at", spans[i].start);
        };
        for (std::size_t g = 0; g < m_gpus.size(); ++g) {
            const Gpu &gpu = m_gpus[g];
            overlap(gpu.units, "units", g);
            overlap(gpu.loads, "loads", g);
            overlap(gpu.stores, "stores", g);
            if (!m_set.isFullDuplex)
                overlap(merged(gpu.loads, gpu.stores), "loads and stores", g);
            if (!m_rules.doubleBuffer) {
                overlap(merged(gpu.loads, gpu.units), "loads and units", g);
                overlap(merged(gpu.loads, gpu.stores), "loads and stores", g);
            }
        }
    }

    void checkOrder()
    {
        std::vector<std::vector<Span *>> of(m_set.jobs.size());
        for (Gpu &gpu : m_gpus)
            for (Span &unit : gpu.units)
                of[unit.job].push_back(&unit);
        for (std::size_t j = 0; j < of.size(); ++j) {
            const JobSpec &job = m_set.jobs[j];
            std::ranges::sort(of[j], {}, &Span::start);
            const std::size_t all = neverRuns(m_set, job).empty() ? job.units.size() * std::size_t(job.minibatches) : 0;
            if (of[j].size() != all)
                return fail("job", j, "has", of[j].size(), "units, not", all);
            for (std::size_t i = 0; i < all; ++i) {
                Span &unit = *of[j][i];
                unit.unit = i;
                const JobUnit &is = job.units[i % job.units.size()];
                if (std::size_t(unit.minibatch) != i / job.units.size() || unit.shard != is.shard
                    || m_run.timeline.kind[unit.span] != is.kind)
                    fail("job", j, "runs another unit in place of", i);
                if (unit.start < (i == 0 ? std::llround(job.arrival * 1e9) : of[j][i - 1]->end))
                    fail("job", j, "starts unit", i, "before it has arrived or its last unit has ended");
                checkPlace(job, unit, i);
            }
            for (const Span *unit : of[j])
                m_units[j].push_back(*unit);
        }
    }
    void checkPlace(const JobSpec &job, const Span &unit, std::size_t i)
    {
        const JobGpu &gpu = m_set.gpus[unit.gpu];
        const bool isPinned = job.gpus.empty() || std::ranges::count(job.gpus, int(unit.gpu)) > 0;
        const int site = m_set.nodes[std::size_t(gpu.node)].site;
        if (!isPinned || site != m_set.nodes[std::size_t(job.node)].site || job.seconds[std::size_t(gpu.kind)].empty())
            return fail("job", i, "runs on GPU", unit.gpu, "where it must not");
        const double seconds = job.seconds[std::size_t(gpu.kind)][i % job.units.size()];
        if (unit.end - unit.start != std::max<Nanoseconds>(1, std::llround(seconds * 1e9)))
            fail("unit", i, "lasts", unit.end - unit.start);
    }

    /// Gives every unit its load and its store, both in the order of the units.
    void checkWeights(std::size_t g)
    {
        Gpu &gpu = m_gpus[g];
        std::size_t load = 0, store = 0;
        for (std::size_t i = 0; i < gpu.units.size() && m_fault.empty(); ++i) {
            Span &unit = gpu.units[i];
            const JobUnit &is = about(unit);
            const Span *before = i > 0 && follows(unit, gpu.units[i - 1]) ? &gpu.units[i - 1] : nullptr;
            const double weights = whole(is.weights), input = before ? 0 : whole(is.input);
            const bool couldStay = before && about(*before).shard == is.shard && before->held >= weights;
            const bool isLoad = load < gpu.loads.size() && gpu.loads[load].job == unit.job
                && gpu.loads[load].minibatch == unit.minibatch && gpu.loads[load].shard == unit.shard
                && gpu.loads[load].end <= unit.start && gpu.loads[load].bytes == weights + input;
            if (couldStay && isLoad && fitsInPlace(g, unit, *before))
                fail("weights of job", unit.job, "are moved though the next unit uses them at", unit.start);
            if (weights + input > 0 && isLoad) {
                unit.load = int(load++);
                unit.held = weights;
                unit.owed = whole(is.writeBack);
            } else if (weights + input == 0 || couldStay) {
                unit.goesOn = couldStay;
                stayed += couldStay && weights > 0;
                unit.held = couldStay ? before->held : weights;
                unit.owed = std::max(couldStay ? before->owed : 0, whole(is.writeBack));
            } else {
                fail("unit", unit.unit, "of job", unit.job, "starts on GPU", g, "without its weights or input at",
                    unit.start);
            }
        }
        for (std::size_t i = 0; i < gpu.units.size() && m_fault.empty(); ++i) {
            Span &unit = gpu.units[i];
            const bool stays = i + 1 < gpu.units.size() && gpu.units[i + 1].goesOn;
            const double stored = (stays ? 0 : unit.owed) + whole(about(unit).output);
            if (stored == 0)
                continue;
            if (store == gpu.stores.size())
                return fail("nothing of unit", unit.unit, "of job", unit.job, "returns");
            const Span &is = gpu.stores[store];
            unit.store = int(store++);
            if (is.job != unit.job || is.shard != unit.shard || is.start < unit.end || is.bytes != stored)
                fail("what unit", unit.unit, "of job", unit.job, "sends back is", is.bytes, "not", stored);
            m_stores[unit.job].push_back(is);
            m_stores[unit.job].back().owed = stays ? 0 : unit.owed;
        }
        if (m_fault.empty() && (load != gpu.loads.size() || store != gpu.stores.size()))
            fail("GPU", g, "moves what belongs to no unit");
    }

    [[nodiscard]] bool fitsInPlace(std::size_t g, const Span &unit, const Span &before) const
    {
        const std::vector<JobUnit> &units = m_set.jobs[unit.job].units;
        const double after = std::max(whole(about(unit).output), whole(units[(unit.unit + 1) % units.size()].input));
        const double computing = whole(about(unit).running) - whole(about(unit).weights);
        return before.held + std::max(computing, after + whole(about(unit).input)) <= m_set.gpus[g].memory;
    }

    void checkLoads(std::size_t g)
    {
        const Gpu &gpu = m_gpus[g];
        for (std::size_t i = 0; i < gpu.units.size() && m_fault.empty(); ++i) {
            const Span &unit = gpu.units[i];
            if (unit.load < 0)
                continue;
            const Span &load = gpu.loads[std::size_t(unit.load)];
            checkDuration(unit.job, load, true);
            if (i > 0 && load.start < gpu.units[i - 1].start)
                fail("GPU", g, "loads two units ahead at", load.start);
            prefetched += i > 0 && load.start < gpu.units[i - 1].end;
            for (const Span &store : m_stores[unit.job])
                if (store.start < load.end && store.end > load.start && store.shard == load.shard && store.owed > 0)
                    fail("job", unit.job, "loads at", load.start, "what is still on its way to the host");
            if (unit.unit == 0)
                continue;
            const bool hasInput = i > 0 && follows(unit, gpu.units[i - 1]);
            const Span &before = m_units[unit.job][unit.unit - 1];
            if (before.end > load.start) { // it runs still
                if (before.gpu != g || about(before).shard == about(unit).shard || i == 0)
                    fail("job", unit.job, "loads unit", unit.unit, "while the one before it runs");
            } else if (!hasInput) {
                for (const Span &store : m_stores[unit.job])
                    if (store.minibatch == before.minibatch && store.shard == before.shard && store.gpu == before.gpu
                        && store.start >= before.end && store.start < unit.start && store.end > load.start)
                        fail("job", unit.job, "loads unit", unit.unit, "before its last store has arrived");
            }
        }
        for (const Span &store : gpu.stores)
            checkDuration(store.job, store, false);
    }
    void checkDuration(std::uint32_t job, const Span &move, bool isLoad)
    {
        const JobRoute &route = routeOf(job, move.gpu);
        const Nanoseconds alone =
            std::max<Nanoseconds>(1, std::llround(move.bytes / (isLoad ? route.toGpu : route.toHost) * 1e9));
        const Nanoseconds took = move.end - move.start;
        if (m_set.links.empty() ? took != alone : took < alone)
            fail(move.bytes, "bytes of job", job, "took", took, "alone", alone);
    }
    [[nodiscard]] const JobRoute &routeOf(std::uint32_t job, std::size_t gpu) const
    {
        return m_set.routes[std::size_t(m_set.routeOf[std::size_t(m_set.jobs[job].node)][gpu])];
    }

    void checkGpuMemory(std::size_t g)
    {
        if (!m_fault.empty())
            return;
        const Gpu &gpu = m_gpus[g];
        std::map<Nanoseconds, double> change;
        const auto holds = [&](Nanoseconds from, Nanoseconds to, double bytes) {
            change[from] += bytes;
            change[to] -= bytes;
        };
        for (std::size_t i = 0; i < gpu.units.size(); ++i) {
            const Span &unit = gpu.units[i];
            const JobUnit &is = about(unit);
            const Span *next =
                i + 1 < gpu.units.size() && follows(gpu.units[i + 1], unit) ? &gpu.units[i + 1] : nullptr;
            holds(unit.start, unit.end, whole(is.running) + unit.held - whole(is.weights));
            if (unit.load >= 0)
                holds(gpu.loads[std::size_t(unit.load)].start, unit.start, gpu.loads[std::size_t(unit.load)].bytes);
            const double stays = next ? (next->goesOn ? unit.held : 0) + whole(about(*next).input) : 0;
            if (next)
                holds(unit.end, next->start, stays);
            if (unit.store < 0)
                continue;
            // The output that travels and the input that stays are the same bytes.
            const Span &store = gpu.stores[std::size_t(unit.store)];
            const double shared = next ? std::min(whole(is.output), whole(about(*next).input)) : 0;
            holds(unit.end, store.end, store.bytes - shared);
        }
        double now = 0, peak = 0;
        for (const auto &[time, bytes] : change)
            peak = std::max(peak, now += bytes);
        const LiveOverTime live = liveOverTime(m_run.timeline, 0, int(g), false, true);
        const double memory = m_set.gpus[g].memory;
        if (peak > memory || live.peak > memory)
            fail("GPU", g, "holds", std::max(peak, live.peak), "bytes of", memory);
        if (live.peak < peak)
            fail("the walk over memory of GPU", g, "finds", live.peak, "bytes, not", peak);
        if (!live.gpu.empty() && live.gpu.back().bytes != 0)
            fail("GPU", g, "keeps", live.gpu.back().bytes, "bytes in the end");
        for (const MemoryStep &step : live.gpu)
            if (step.bytes < 0)
                fail("GPU", g, "has less than nothing at", step.time);
    }

    void checkHosts()
    {
        for (std::size_t n = 0; n < m_set.nodes.size() && m_fault.empty(); ++n) {
            std::map<Nanoseconds, double> change, promised;
            for (std::size_t j = 0; j < m_units.size(); ++j) {
                const JobSpec &job = m_set.jobs[j];
                if (m_units[j].empty() || std::size_t(job.node) != n)
                    continue;
                Nanoseconds from = m_units[j].front().start, to = m_units[j].back().end;
                for (const Gpu &gpu : m_gpus)
                    for (const std::vector<Span> *moves : { &gpu.loads, &gpu.stores })
                        for (const Span &move : *moves)
                            if (move.job == j) {
                                from = std::min(from, move.start);
                                to = std::max(to, move.end);
                            }
                promised[from] += job.hostPeak();
                promised[to] -= job.hostPeak();
                change[from] += whole(job.hostBytes);
                double boundaries = 0;
                for (const Span &unit : m_units[j]) {
                    change[unit.end] += whole(about(unit).hostAfter);
                    boundaries += whole(about(unit).hostAfter);
                }
                change[to] -= whole(job.hostBytes) + boundaries;
            }
            checkHost(n, change, promised);
        }
    }
    void checkHost(
        std::size_t n, const std::map<Nanoseconds, double> &change, const std::map<Nanoseconds, double> &promised)
    {
        const std::vector<MemoryStep> &curve = m_run.hosts[n];
        double now = 0, peak = 0;
        std::size_t at = 0;
        for (const auto &[time, bytes] : change) {
            now += bytes;
            while (at + 1 < curve.size() && curve[at + 1].time <= time)
                ++at;
            if (now > double(curve[at].bytes) + 1)
                fail("host", n, "holds", now, "bytes at", time, "its curve says", curve[at].bytes);
        }
        for (const MemoryStep &step : curve)
            peak = std::max(peak, double(step.bytes));
        if (peak > m_set.nodes[n].memory || std::abs(peak - m_run.hostPeaks[n]) > 1 || curve.back().bytes != 0)
            fail("host", n, "holds", peak, "bytes, in the end", curve.back().bytes);
        double kept = 0;
        for (const auto &[time, bytes] : promised)
            if ((kept += bytes) > m_set.nodes[n].memory * (1 + 1e-12))
                fail("host", n, "has promised", kept, "bytes at", time);
    }

    void checkTimes()
    {
        for (std::size_t j = 0; j < m_units.size() && m_fault.empty(); ++j) {
            const JobTimes &times = m_run.jobs[j];
            JobTimes own;
            std::set<int> gpus;
            for (const Span &unit : m_units[j]) {
                own.start = own.start == JobTimes::kNever ? unit.start : own.start;
                own.end = unit.end;
                own.computing += unit.end - unit.start;
                gpus.insert(int(unit.gpu));
            }
            for (const Gpu &gpu : m_gpus) {
                for (const Span &load : gpu.loads)
                    own.loaded += load.job == j ? load.bytes : 0;
                for (const Span &store : gpu.stores)
                    own.stored += store.job == j ? store.bytes : 0;
            }
            if (own.start != times.start || own.end != times.end || own.computing != times.computing
                || own.loaded != times.loaded || own.stored != times.stored
                || std::vector<int>(gpus.begin(), gpus.end()) != times.gpus)
                fail("what is said of job", j, "is not what its spans are");
        }
    }

    /// Over each link goes at most its rate while anything is on it.
    void checkLinks()
    {
        for (std::uint32_t link = 0; link < m_set.links.size() && m_fault.empty(); ++link) {
            std::vector<Span> on;
            double bytes = 0;
            for (const Gpu &gpu : m_gpus) {
                for (const Span &load : gpu.loads)
                    if (std::ranges::count(routeOf(load.job, load.gpu).linksToGpu, link) > 0)
                        on.push_back(load);
                for (const Span &store : gpu.stores)
                    if (std::ranges::count(routeOf(store.job, store.gpu).linksToHost, link) > 0)
                        on.push_back(store);
            }
            std::ranges::sort(on, {}, &Span::start);
            Nanoseconds busy = 0, until = 0;
            for (const Span &move : on) {
                busy += std::max<Nanoseconds>(0, move.end - std::max(until, move.start));
                until = std::max(until, move.end);
                bytes += move.bytes;
            }
            const double room = m_set.links[link] * (double(busy) + double(on.size())) * 1e-9;
            if (bytes > room * (1 + 1e-9) + 1)
                fail("link", link, "carries", bytes, "bytes where", room, "go");
        }
    }

    const JobSet &m_set;
    const JobRules &m_rules;
    const JobRun &m_run;
    std::vector<Gpu> m_gpus;
    std::vector<std::vector<Span>> m_units; // [job]
    std::vector<std::vector<Span>> m_stores; // [job]
    std::string m_fault;
};

} // namespace trainyard::test

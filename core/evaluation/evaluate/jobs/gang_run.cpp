// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/gang_run.h"

#include "core/evaluation/evaluate/jobs/gang_dispatcher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace trainyard {

namespace {

std::int64_t minibatchesOf(const JobWorkload &of)
{
    return std::max<std::int64_t>(1, std::int64_t { of.job.minibatches } * of.job.epochs);
}

/// Patterns of all forms, and the classes of a table that stand for their spans.
class Patterns {
public:
    explicit Patterns(ClassTable &table)
        : m_table(table)
    {
    }

    std::map<GangFormPtr, GangPattern> detailed; // empty: whole ones
    std::int64_t minibatchesPerSpan = 1; // of those

    [[nodiscard]] GangShow show(const GangFormPtr &form, std::int64_t minibatches, std::uint32_t job)
    {
        GangShow show;
        if (const auto known = detailed.find(form); known != detailed.end()) {
            show.pattern = &known->second;
            show.times = minibatches;
        } else {
            const std::int64_t each = std::min(minibatches, minibatchesPerSpan), rest = minibatches % each;
            show.pattern = whole(form, each);
            show.times = minibatches / each;
            show.rest = rest > 0 ? whole(form, rest) : nullptr;
        }
        show.classes = classes(*show.pattern, job);
        if (show.rest)
            show.restClasses = classes(*show.rest, job);
        return show;
    }

private:
    const GangPattern *whole(const GangFormPtr &form, std::int64_t minibatches)
    {
        const auto [known, isNew] = m_whole.try_emplace({ form, minibatches });
        if (isNew)
            known->second = wholePattern(*form, minibatches);
        return &known->second;
    }

    std::vector<std::uint32_t> classes(const GangPattern &pattern, std::uint32_t job)
    {
        std::map<std::pair<WorkKind, Nanoseconds>, std::uint32_t> known;
        std::vector<std::uint32_t> of;
        for (const GangPattern::Span &span : pattern.spans) {
            const auto [it, isNew] = known.try_emplace({ span.kind, span.length }, 0);
            if (isNew) {
                it->second = m_table.add(span.kind, span.length);
                m_table.about.back().job = job;
            }
            of.push_back(it->second);
        }
        return of;
    }

    ClassTable &m_table;
    std::map<std::pair<GangFormPtr, std::int64_t>, GangPattern> m_whole;
};

class Run {
public:
    Run(const JobWorkloads &jobs, const std::vector<GangJob> &gangs, const RunContext &context)
        : m_jobs(jobs)
        , m_gangs(gangs)
        , m_context(context)
        , m_patterns(m_table)
    {
        m_table.clear();
    }

    ExpectedAll<GangRun> run(bool showsAll, SimulationWorkspace &workspace)
    {
        if (auto fits = checkLength(); !fits)
            return std::unexpected(Errors { std::move(fits.error()) });
        if (const auto chosen = choosePatterns(showsAll); !chosen)
            return std::unexpected(chosen.error());
        for (const GangJob &gang : m_gangs)
            m_tasks.push_back(taskOf(gang));
        GraphBuilder builder(std::move(m_table));
        std::vector<int> nodes;
        for (std::size_t gpu = 0; gpu < m_jobs.gpus.size(); ++gpu) {
            builder.resource({ .stage = int(gpu) });
            nodes.push_back(m_jobs.set.gpus[gpu].node);
        }
        const auto graph = std::move(builder).finish();
        if (!graph)
            return std::unexpected(Errors { graph.error() });
        GangDispatcher dispatcher(m_tasks, std::move(nodes));
        if (auto ran = simulateInto(m_ran.run.timeline, *graph, workspace, dispatcher, m_context.stop); !ran)
            return std::unexpected(Errors { std::move(ran.error()) });
        collect(dispatcher.ran());
        return std::move(m_ran);
    }

private:
    [[nodiscard]] Expected<void> checkLength() const
    {
        double sum = 0;
        for (const GangJob &gang : m_gangs) {
            const JobWorkload &of = m_jobs.jobs[std::size_t(gang.job)];
            double longest = 0;
            for (const GangFormPtr &form : gang.forms)
                longest = std::max(longest, double(form->minibatch) * double(minibatchesOf(of)));
            sum += longest + of.job.arrivalS * 1e9;
        }
        if (sum < double(kLongestTime))
            return {};
        return std::unexpected(Error { ErrorCode::OutOfRange, m_jobs.plan->jobs.empty() ? "job_grid" : "jobs",
            "one after the other the jobs take longer than a timeline holds", "less than 31 years in all" });
    }

    /// Those of whole mini-batches where there would be too many spans.
    ExpectedAll<void> choosePatterns(bool showsAll)
    {
        double all = 0; // spans, one a mini-batch and GPU
        for (const GangJob &gang : m_gangs)
            all += double(minibatchesOf(m_jobs.jobs[std::size_t(gang.job)])) * widest(gang);
        constexpr double kMost = double(std::numeric_limits<std::int32_t>::max());
        const auto perSpan = std::int64_t(std::clamp(std::ceil(all / kMostGangSpans), 1.0, kMost));
        for (const GangJob &gang : m_gangs)
            m_ran.minibatchesPerSpan = std::max(
                m_ran.minibatchesPerSpan, int(std::min(minibatchesOf(m_jobs.jobs[std::size_t(gang.job)]), perSpan)));
        m_patterns.minibatchesPerSpan = showsAll ? perSpan : std::int64_t(kMost);
        if (!showsAll || all > kMostGangSpans)
            return {};
        double spans = 0;
        std::map<GangFormPtr, GangPattern> found;
        for (const GangJob &gang : m_gangs) {
            std::size_t most = 0;
            for (const GangFormPtr &form : gang.forms) {
                auto known = found.find(form);
                if (known == found.end()) {
                    auto pattern = detailedPattern(*form, m_context);
                    if (!pattern)
                        return std::unexpected(std::move(pattern.error()));
                    known = found.emplace(form, std::move(*pattern)).first;
                }
                most = std::max(most, known->second.spans.size());
            }
            spans += double(most) * double(minibatchesOf(m_jobs.jobs[std::size_t(gang.job)]));
            if (spans > kMostGangSpans)
                return {};
        }
        m_patterns.detailed = std::move(found);
        return {};
    }

    [[nodiscard]] static double widest(const GangJob &gang)
    {
        int width = 1;
        for (const GangFormPtr &form : gang.forms)
            width = std::max(width, form->width);
        return width;
    }

    GangTask taskOf(const GangJob &gang)
    {
        const JobWorkload &of = m_jobs.jobs[std::size_t(gang.job)];
        GangTask task { &gang, toNanoseconds(Seconds { of.job.arrivalS }), of.job.priority, {}, {} };
        for (const GangFormPtr &form : gang.forms) {
            task.lengths.push_back(form->minibatch * minibatchesOf(of));
            task.shows.push_back(m_patterns.show(form, minibatchesOf(of), std::uint32_t(gang.job)));
        }
        return task;
    }

    void collect(const std::vector<GangDispatcher::Ran> &all)
    {
        const std::size_t gpus = m_jobs.gpus.size();
        m_ran.run.jobs.resize(m_jobs.jobs.size());
        m_ran.forms.resize(m_jobs.jobs.size());
        m_ran.memory.resize(gpus);
        m_ran.memoryCurves.resize(gpus);
        m_ran.run.hosts.resize(m_jobs.nodes.size());
        m_ran.run.hostPeaks.resize(m_jobs.nodes.size());
        m_shown.resize(gpus);
        m_computed.resize(gpus);
        double busy = 0; // GPU seconds
        std::vector<std::size_t> order(all.size());
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return all[i].start; });
        for (const std::size_t i : order)
            if (all[i].form >= 0)
                busy += add(m_tasks[i], all[i]);
        addHosts();
        m_ran.run.timeline.duration = std::max(m_ran.run.timeline.duration, m_ran.makespan);
        const double seconds = toSeconds(m_ran.makespan).value;
        addBounds();
        m_ran.gpuUtilization = seconds > 0 ? busy / double(gpus) / seconds : 0;
        for (std::size_t gpu = 0; gpu < gpus; ++gpu)
            m_ran.computeShare.push_back(m_shown[gpu] > 0 ? m_computed[gpu] / m_shown[gpu] : 1);
    }

    /// As jobBounds() has them, of forms instead of units.
    void addBounds()
    {
        double work = 0; // GPU seconds of computing
        std::map<std::pair<int, int>, double> speed; // [datacenter and pool]: at most, beside the best form of a job
        std::vector<char> serves(m_jobs.gpus.size(), 0);
        const auto kindOf = [&](int gpu) {
            const StageLocation at = m_jobs.gpus[std::size_t(gpu)];
            return std::pair(at.datacenter, at.pool);
        };
        const auto computing = [](const GangForm &form) { // of one mini-batch
            return toSeconds(form.minibatch).value * form.width * form.busyShare;
        };
        for (const GangTask &task : m_tasks) {
            const std::vector<GangFormPtr> &forms = task.gang->forms;
            double least = std::numeric_limits<double>::infinity();
            for (const GangFormPtr &form : forms)
                least = std::min(least, computing(*form));
            work += least * double(minibatchesOf(m_jobs.jobs[std::size_t(task.gang->job)]));
            m_ran.boundLongest =
                std::max(m_ran.boundLongest, toSeconds(task.arrival + *std::ranges::min_element(task.lengths)).value);
            for (const GangFormPtr &form : forms) {
                if (!m_bounded.insert(form).second)
                    continue; // as of another job that is alike
                const double own = computing(*form), beside = own > 0 ? least / own : 1;
                for (const int gpu : form->gpus) {
                    serves[std::size_t(gpu)] = 1;
                    speed[kindOf(gpu)] = std::max(speed[kindOf(gpu)], beside);
                }
            }
        }
        double gpus = 0;
        for (std::size_t gpu = 0; gpu < serves.size(); ++gpu)
            gpus += serves[gpu] ? speed[kindOf(int(gpu))] : 0;
        m_ran.boundShared = gpus > 0 ? work / gpus : 0;
    }

    /// GPU seconds in which it computed.
    double add(const GangTask &task, const GangDispatcher::Ran &ran)
    {
        const auto job = std::size_t(task.gang->job);
        const GangFormPtr &form = task.gang->forms[std::size_t(ran.form)];
        m_ran.forms[job] = form;
        m_ran.run.jobs[job] = { ran.start, ran.end, ran.end - ran.start, ran.gpus, 0, 0 };
        m_ran.makespan = std::max(m_ran.makespan, ran.end);
        const double seconds = toSeconds(ran.end - ran.start).value;
        addShares(task.shows[std::size_t(ran.form)], ran.gpus);
        for (std::size_t seat = 0; seat < ran.gpus.size(); ++seat)
            addMemory(*form, form->places[seat], ran.gpus[seat], ran);
        int node = -1;
        for (const int gpu : ran.gpus)
            if (const int of = m_jobs.set.gpus[std::size_t(gpu)].node; of != node) {
                node = of;
                if (form->hostBytes > 0) {
                    m_hostChanges[std::size_t(node)][ran.start] += double(form->hostBytes);
                    m_hostChanges[std::size_t(node)][ran.end] -= double(form->hostBytes);
                }
            }
        return seconds * form->busyShare * double(ran.gpus.size());
    }

    /// What its spans show, and what of that is computation.
    void addShares(const GangShow &show, const GpuList &gpus)
    {
        const auto addTimes = [&](const GangPattern &pattern, double times) {
            for (const GangPattern::Span &span : pattern.spans) {
                if (!isTrainingCompute(span.kind))
                    continue;
                const auto seat = std::size_t(span.seat), gpu = std::size_t(gpus[seat]);
                m_shown[gpu] += double(span.length) * times;
                m_computed[gpu] += double(span.length) * times * pattern.computeShare[seat];
            }
        };
        addTimes(*show.pattern, double(show.times));
        if (show.rest)
            addTimes(*show.rest, 1);
    }

    void addMemory(const GangForm &form, GangPlace place, int gpu, const GangDispatcher::Ran &ran)
    {
        if (place.stage < 0 || std::size_t(place.stage) >= form.memory.size())
            return;
        StageMemory there = form.memory[std::size_t(place.stage)];
        there.stage = gpu;
        auto &curve = m_ran.memoryCurves[std::size_t(gpu)];
        if (!curve.empty() && curve.back().time == ran.start)
            curve.back().bytes = there.device;
        else
            curve.push_back({ ran.start, there.device });
        curve.push_back({ ran.end, 0 });
        StageMemory &fullest = m_ran.memory[std::size_t(gpu)];
        if (there.device > fullest.device)
            fullest = std::move(there);
    }

    /// What all jobs of a node take of its main memory.
    void addHosts()
    {
        for (const auto &[node, changes] : m_hostChanges) {
            auto &curve = m_ran.run.hosts[node];
            double bytes = 0;
            for (const auto &[time, change] : changes) {
                bytes += change;
                curve.push_back({ time, wholeBytes(bytes) });
                m_ran.run.hostPeaks[node] = std::max(m_ran.run.hostPeaks[node], bytes);
            }
        }
    }

    const JobWorkloads &m_jobs;
    const std::vector<GangJob> &m_gangs;
    const RunContext &m_context;
    ClassTable m_table;
    Patterns m_patterns;
    std::vector<GangTask> m_tasks; // [gang]
    std::vector<double> m_shown, m_computed; // [GPU] nanoseconds
    std::map<std::size_t, std::map<Nanoseconds, double>> m_hostChanges; // [node]
    std::set<GangFormPtr> m_bounded; // that bounds know
    GangRun m_ran;
};

} // namespace

ExpectedAll<GangRun> runGangs(const JobWorkloads &jobs, const std::vector<GangJob> &gangs, bool showsAll,
    const RunContext &context, SimulationWorkspace &workspace)
{
    return Run(jobs, gangs, context).run(showsAll, workspace);
}

} // namespace trainyard

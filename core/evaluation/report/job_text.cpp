// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/job_text.h"

#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "core/base/words.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/job_schedulers.h"

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

std::string timeText(const Metric &seconds)
{
    return seconds ? durationText(*seconds) : kNoFigure;
}

std::string deadlineText(const JobResult &job)
{
    if (!job.deadline)
        return kNoFigure;
    const std::string text = durationText(*job.deadline);
    if (!job.end)
        return text;
    return isLate(job) ? text + ", " + durationText(*job.end - *job.deadline) + " late" : text + ", met";
}

std::string jobRemark(const JobResult &job)
{
    std::vector<std::string> parts;
    if (job.state == JobState::Paused)
        parts.emplace_back("paused");
    if (job.state == JobState::CannotRun)
        parts.push_back("cannot run" + (job.why.empty() ? "" : ": " + job.why));
    if (job.state == JobState::Runs && job.technique != JobTechnique::ShardParallel)
        parts.emplace_back(labelOf(job.technique));
    if (job.isMeasured)
        parts.emplace_back("measured times");
    return joined(parts, ", ");
}

/// The last to end; the number of jobs where none does.
std::size_t lastToEnd(const JobMetrics &jobs)
{
    std::size_t last = jobs.perJob.size();
    for (std::size_t i = 0; i < jobs.perJob.size(); ++i) {
        const Metric &end = jobs.perJob[i].end;
        if (end && (last == jobs.perJob.size() || *end > *jobs.perJob[last].end))
            last = i;
    }
    return last;
}

} // namespace

JobCounts countsOf(const JobMetrics &jobs)
{
    JobCounts counts;
    counts.jobs = int(jobs.perJob.size());
    for (const JobResult &job : jobs.perJob) {
        counts.run += job.state == JobState::Runs;
        counts.paused += job.state == JobState::Paused;
        counts.cannotRun += job.state == JobState::CannotRun;
        counts.late += isLate(job);
        if (travels(job)) {
            counts.loaded = counts.loaded.value_or(0) + job.bytesLoaded;
            counts.stored = counts.stored.value_or(0) + job.bytesStored;
        }
    }
    return counts;
}

std::string countsText(const JobCounts &counts)
{
    std::vector<std::string> parts { wholeText(counts.run) + " run" };
    if (counts.paused > 0)
        parts.push_back(wholeText(counts.paused) + " paused");
    if (counts.cannotRun > 0)
        parts.push_back(wholeText(counts.cannotRun) + " cannot run");
    if (counts.late > 0)
        parts.push_back(wholeText(counts.late) + " late");
    return joined(parts, ", ");
}

bool travels(const JobResult &job)
{
    return job.state == JobState::Runs && job.technique == JobTechnique::ShardParallel;
}

bool isLate(const JobResult &job)
{
    return job.deadline && job.end && *job.end > *job.deadline;
}

std::string numbersText(const std::vector<int> &gpus)
{
    std::vector<std::string> ranges;
    for (std::size_t i = 0; i < gpus.size();) {
        std::size_t end = i + 1;
        while (end < gpus.size() && gpus[end] == gpus[end - 1] + 1)
            ++end;
        const std::string first = std::to_string(gpus[i]), last = std::to_string(gpus[end - 1]);
        ranges.push_back(end - i == 1 ? first : first + (end - i == 2 ? ", " : "\u2013") + last);
        i = end;
    }
    return ranges.empty() ? kNoFigure : joined(ranges, ", ");
}

const std::vector<std::string> &jobHeadings()
{
    static const std::vector<std::string> headings { "job", "start", "end", "shards", "on GPUs", "slowdown", "loaded",
        "price", "deadline", "" };
    return headings;
}

std::vector<std::string> jobCells(const JobResult &job)
{
    const bool runs = job.state == JobState::Runs;
    const auto ofRuns = [&](const std::string &text) { return runs ? text : std::string(kNoFigure); };
    return { job.name, timeText(job.start), timeText(job.end), ofRuns(std::to_string(job.shards)),
        ofRuns(numbersText(job.ranOn)), job.slowdown ? plainText(*job.slowdown) + "\u00d7" : kNoFigure,
        travels(job) ? bytesText(job.bytesLoaded) : kNoFigure, job.usd ? usdText(*job.usd) : kNoFigure,
        deadlineText(job), jobRemark(job) };
}

std::vector<std::size_t> jobsToShow(const JobMetrics &jobs, std::size_t most)
{
    const std::size_t all = jobs.perJob.size(), last = lastToEnd(jobs);
    std::vector<std::size_t> shown;
    if (all <= most) {
        for (std::size_t i = 0; i < all; ++i)
            shown.push_back(i);
        return shown;
    }
    std::size_t standOut = 0; // at most half of the rows
    const auto isOdd = [&](std::size_t i) {
        return i == last || isLate(jobs.perJob[i]) || jobs.perJob[i].state == JobState::CannotRun;
    };
    for (std::size_t i = 0; i < all; ++i)
        standOut += isOdd(i);
    const std::size_t plain = most - std::min(standOut, most / 2);
    for (std::size_t i = 0; i < all && shown.size() < most; ++i)
        if (i < plain || isOdd(i))
            shown.push_back(i);
    if (last < all && std::ranges::find(shown, last) == shown.end())
        shown.back() = last;
    return shown;
}

std::string copyRateText(const Plan &plan)
{
    std::set<double> rates;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            if (pool.gpus() > 0 && pool.host && pool.host->gbytesPerSecondPerGpu > 0)
                rates.insert(pool.host->gbytesPerSecondPerGpu);
    if (rates.empty())
        return {};
    const std::string most = plainText(*rates.rbegin()) + " GB/s each way (host.gbytes_per_s_per_gpu)";
    return "Copies between host and GPU reach "
        + (rates.size() == 1 ? most : plainText(*rates.begin()) + " to " + most);
}

const std::vector<std::string> &hostHeadings()
{
    static const std::vector<std::string> headings { "host", "at most", "has", "" };
    return headings;
}

std::vector<std::string> hostCells(const Plan &plan, const HostUse &host)
{
    const auto &sites = plan.cluster.datacenters;
    std::string name;
    if (host.datacenter >= 0 && std::size_t(host.datacenter) < sites.size()) {
        const Datacenter &site = sites[std::size_t(host.datacenter)];
        name = site.label();
        if (site.pools.size() > 1 && host.pool >= 0 && std::size_t(host.pool) < site.pools.size())
            name += ", " + site.pools[std::size_t(host.pool)].id;
    }
    name += (name.empty() ? "node " : ", node ") + std::to_string(host.node);
    const bool isKnown = host.capacity > 0;
    return { name, bytesText(double(host.peak)), isKnown ? bytesText(host.capacity) : kNoFigure,
        isKnown ? percentText(double(host.peak) / host.capacity) : "capacity not stated" };
}

const std::vector<std::string> &gpuHeadings()
{
    static const std::vector<std::string> headings { "GPU", "allocated at most", "on device", "capacity", "" };
    return headings;
}

std::vector<std::vector<std::string>> gpuRows(const MemoryMetrics &memory, std::size_t most)
{
    const std::vector<StageMemory> &gpus = memory.perStage;
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < gpus.size();) {
        if (rows.size() == most) {
            rows.push_back({ "\u2026", "", "", "", "" });
            break;
        }
        std::size_t end = i + 1;
        while (end < gpus.size() && gpus[end].peak == gpus[i].peak && gpus[end].device == gpus[i].device
            && gpus[end].capacity == gpus[i].capacity)
            ++end;
        const std::string number = std::to_string(gpus[i].stage);
        rows.push_back({ end - i == 1 ? number : number + "\u2013" + std::to_string(gpus[end - 1].stage),
            bytesText(double(gpus[i].peak)), bytesText(double(gpus[i].device)), bytesText(double(gpus[i].capacity)),
            gpus[i].fits() ? "" : "does not fit" });
        i = end;
    }
    return rows;
}

int jobIndexOf(const Evaluation &evaluation, std::uint32_t span)
{
    const std::uint32_t job = evaluation.timeline.classOf(span).job;
    return evaluation.metrics.jobs && job < evaluation.metrics.jobs->perJob.size() ? int(job) : -1;
}

std::string schedulerText(const Plan &plan)
{
    std::string text = labelOf(plan.jobScheduler);
    if (!isByShards(plan.jobScheduler))
        return text;
    if (!plan.jobOptions.spill)
        return text + ", models stay on GPUs";
    return text + (plan.jobOptions.doubleBuffer ? ", double buffers" : ", no double buffers");
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/job_problems.h"

#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/job_plan.h"
#include "core/iteration/job_shards/job_places.h"
#include "core/systems/jobs/served.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {

namespace {

constexpr std::size_t kMostNamed = 5; // jobs that have a sentence of their own, of each kind

class Finder {
public:
    Finder(const Evaluation &evaluation, const JobWorkloads &jobs, const JobOutcome &outcome)
        : m_evaluation(evaluation)
        , m_plan(*evaluation.plan)
        , m_metrics(*evaluation.metrics.jobs)
        , m_jobs(jobs)
        , m_outcome(outcome)
    {
    }

    std::vector<Problem> find()
    {
        addCannotRun();
        addLate();
        addPins();
        addPinsUnserved();
        if (isByShards(m_plan.jobScheduler))
            addWaits();
        addUnstatedHosts();
        m_problems.insert(m_problems.end(), m_outcome.problems.begin(), m_outcome.problems.end());
        addNotModelled();
        addOtherWishes();
        addCopyRates();
        addIdle();
        addNotes();
        return std::move(m_problems);
    }

private:
    void add(Severity severity, std::string text, std::string where)
    {
        m_problems.push_back({ severity, std::move(text), std::move(where), {} });
    }

    [[nodiscard]] std::string keyOf(std::size_t job, const char *key) const
    {
        return job < m_plan.jobs.size() ? "jobs[" + std::to_string(job) + "]" + (*key ? "." : "") + key
                                        : std::string("job_grid");
    }

    [[nodiscard]] std::vector<std::size_t> those(auto accept) const
    {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < m_metrics.perJob.size(); ++i)
            if (accept(i))
                found.push_back(i);
        return found;
    }

    /// A sentence for each of the first few, one for all the others.
    void addEach(Severity severity, const std::vector<std::size_t> &jobs, const char *key, auto sentence,
        const std::string &others)
    {
        for (std::size_t i = 0; i < std::min(jobs.size(), kMostNamed); ++i)
            add(severity, sentence(jobs[i]), keyOf(jobs[i], key));
        if (jobs.size() > kMostNamed)
            add(severity, counted(std::int64_t(jobs.size() - kMostNamed), "other job") + " " + others,
                keyOf(jobs[kMostNamed], key));
    }

    [[nodiscard]] const std::string &name(std::size_t job) const { return m_metrics.perJob[job].name; }

    void addCannotRun()
    {
        const auto cannot = those([&](std::size_t i) { return m_metrics.perJob[i].state == JobState::CannotRun; });
        const bool noneRuns =
            std::ranges::none_of(m_metrics.perJob, [](const JobResult &job) { return job.state == JobState::Runs; });
        std::map<std::string, std::int64_t> alike; // [why]: jobs
        for (const std::size_t i : cannot)
            ++alike[m_metrics.perJob[i].why];
        std::vector<std::size_t> first; // of those that cannot run for one reason
        std::set<std::string> said;
        std::int64_t named = 0;
        for (const std::size_t i : cannot)
            if (said.insert(m_metrics.perJob[i].why).second)
                first.push_back(i);
        const Severity severity = noneRuns ? Severity::Blocking : Severity::Warning;
        for (std::size_t n = 0; n < std::min(first.size(), kMostNamed); ++n) {
            const std::size_t i = first[n];
            const std::string &why = m_metrics.perJob[i].why;
            const std::int64_t others = alike[why] - 1;
            named += others + 1;
            add(severity,
                name(i) + (others > 0 ? " and " + counted(others, "other job") : "")
                    + " cannot run: " + (others == 0 && isPinnedAway(i) ? "it " + pinText(i) : why),
                keyOf(i, ""));
        }
        if (first.size() > kMostNamed)
            add(severity, counted(std::int64_t(cannot.size()) - named, "other job") + " cannot run either",
                keyOf(first[kMostNamed], ""));
        if (noneRuns && cannot.empty())
            add(Severity::Blocking, "Every job is paused", keyOf(0, "paused"));
    }

    void addLate()
    {
        const auto late = those([&](std::size_t i) {
            const JobResult &job = m_metrics.perJob[i];
            return job.deadline && job.end && *job.end > *job.deadline;
        });
        addEach(
            Severity::Warning, late, "deadline_s",
            [&](std::size_t i) {
                const JobResult &job = m_metrics.perJob[i];
                return name(i) + " ends after " + secondsText(*job.end) + ", " + secondsText(*job.end - *job.deadline)
                    + " later than its deadline";
            },
            "end later than their deadlines");
    }

    [[nodiscard]] bool isMissing(int gpu) const { return gpu < 0 || std::size_t(gpu) >= m_jobs.gpus.size(); }

    /// Nothing but GPUs that are missing: it cannot run, and that says why.
    [[nodiscard]] bool isPinnedAway(std::size_t job) const
    {
        const std::vector<int> &pins = m_jobs.jobs[job].job.pinnedGpus;
        return !pins.empty() && std::ranges::all_of(pins, [&](int gpu) { return isMissing(gpu); });
    }

    /// Of a job with a pin to a GPU that is missing.
    [[nodiscard]] std::string pinText(std::size_t job) const
    {
        const std::vector<int> &pins = m_jobs.jobs[job].job.pinnedGpus;
        return "is pinned to GPU "
            + std::to_string(*std::ranges::find_if(pins, [&](int gpu) { return isMissing(gpu); }))
            + ", and the cluster has GPUs 0 to " + std::to_string(int(m_jobs.gpus.size()) - 1);
    }

    void addPins()
    {
        const auto pinned = those([&](std::size_t i) {
            const JobWorkload &job = m_jobs.jobs[i];
            return !job.job.paused && !isPinnedAway(i)
                && std::ranges::any_of(job.job.pinnedGpus, [&](int gpu) { return isMissing(gpu); });
        });
        addEach(
            Severity::Warning, pinned, "pinned_gpus", [&](std::size_t i) { return name(i) + " " + pinText(i); },
            "are pinned to GPUs that the cluster does not have");
    }

    /// Of jobs that run: pinned to GPUs of which some are no use to them.
    void addPinsUnserved()
    {
        if (!isByShards(m_plan.jobScheduler))
            return;
        Served served(m_jobs.set);
        std::map<std::size_t, int> unserved; // [job]: the first such GPU
        for (std::size_t i = 0; i < m_jobs.jobs.size(); ++i) {
            const JobWorkload &job = m_jobs.jobs[i];
            if (job.specIndex < 0 || !job.why.empty() || job.job.pinnedGpus.empty())
                continue;
            const JobSpec &spec = m_jobs.set.jobs[std::size_t(job.specIndex)];
            const std::vector<std::uint8_t> gpus = served.gpus(served.likeOf(spec), spec.node);
            const auto none = std::ranges::find_if(spec.gpus, [&](int gpu) { return gpus[std::size_t(gpu)] == 0; });
            if (none != spec.gpus.end())
                unserved.emplace(i, *none);
        }
        addEach(
            Severity::Warning, those([&](std::size_t i) { return unserved.contains(i); }), "pinned_gpus",
            [&](std::size_t i) {
                const JobSpec &spec = m_jobs.set.jobs[std::size_t(m_jobs.jobs[i].specIndex)];
                const auto siteOf = [&](int node) { return m_jobs.set.nodes[std::size_t(node)].site; };
                const JobGpu &gpu = m_jobs.set.gpus[std::size_t(unserved[i])];
                return name(i) + " is pinned to GPU " + std::to_string(unserved[i]) + " too, which "
                    + (siteOf(gpu.node) != siteOf(spec.node)
                            ? "does not reach its host, node " + std::to_string(spec.node)
                            : std::string("its shards are too large for"))
                    + ": it runs on the others";
            },
            "are pinned to GPUs too that are no use to them");
    }

    [[nodiscard]] static std::string poolKey(int datacenter, int pool)
    {
        return "cluster.datacenters[" + std::to_string(datacenter) + "].pools[" + std::to_string(pool) + "]";
    }

    void addWaits()
    {
        for (std::size_t node = 0; node < m_jobs.nodes.size(); ++node) {
            const JobWorkloads::Node &host = m_jobs.nodes[node];
            double wanted = 0;
            for (const JobWorkload &job : m_jobs.jobs)
                if (job.specIndex >= 0 && job.why.empty()
                    && m_jobs.set.jobs[std::size_t(job.specIndex)].node == int(node))
                    wanted += m_jobs.set.jobs[std::size_t(job.specIndex)].hostPeak();
            if (host.memory <= 0 || wanted <= host.memory)
                continue;
            add(Severity::Warning,
                "Jobs of node " + std::to_string(host.node) + " of pool "
                    + m_plan.cluster.datacenters[std::size_t(host.datacenter)].pools[std::size_t(host.pool)].id
                    + " take " + bytesText(wanted) + " of host memory together, which has " + bytesText(host.memory)
                    + ": some wait for others to end",
                poolKey(host.datacenter, host.pool) + ".host.memory_gib");
            return; // other nodes are alike
        }
    }

    void addUnstatedHosts()
    {
        const auto unstated =
            std::ranges::find_if(m_jobs.nodes, [](const JobWorkloads::Node &host) { return host.memory <= 0; });
        const bool isAsked = isByShards(m_plan.jobScheduler)
            || std::ranges::any_of(m_outcome.shares, [](const JobShare &share) { return share.hostBytes > 0; });
        if (unstated != m_jobs.nodes.end() && isAsked)
            add(Severity::Warning, "Host memory is not stated: all jobs are taken to find room there",
                poolKey(unstated->datacenter, unstated->pool) + ".host.memory_gib");
    }

    void addNotModelled()
    {
        const JobOptions &options = m_plan.jobOptions;
        const auto note = [&](bool asked, const char *key, const char *what) {
            if (asked)
                add(Severity::Warning, std::string(what) + " not modelled in this version",
                    std::string("job_options.") + key);
        };
        note(options.introspectionS > 0, "introspection_s", "Looking at a plan of jobs again while it runs is");
        note(options.switchCostS > 0, "switch_cost_s", "What a change of a job's GPUs costs is");
        note(options.revocationsPerDay > 0, "revocations_per_day", "GPUs that a cloud takes back are");
        note(options.checkpointS > 0, "checkpoint_s", "Checkpoints of jobs are");
        note(options.restartS > 0, "restart_s", "Restarts of jobs are");
    }

    void addOtherWishes()
    {
        const std::string scheduler = labelOf(m_plan.jobScheduler);
        const auto others = those([&](std::size_t i) {
            const JobTechnique asked = m_jobs.jobs[i].job.technique;
            return asked != JobTechnique::Auto
                && (asked == JobTechnique::ShardParallel) != isByShards(m_plan.jobScheduler);
        });
        addEach(
            Severity::Warning, others, "technique",
            [&](std::size_t i) {
                return name(i) + " asks for " + labelOf(m_jobs.jobs[i].job.technique) + ", and runs as \"" + scheduler
                    + "\" has it";
            },
            "ask for another technique than the scheduler has");
        if (!isByShards(m_plan.jobScheduler))
            return;
        const auto several = those([&](std::size_t i) { return m_jobs.jobs[i].job.gpus.value_or(1) != 1; });
        addEach(
            Severity::Warning, several, "gpus",
            [&](std::size_t i) {
                return name(i) + " asks for " + counted(*m_jobs.jobs[i].job.gpus, "GPU")
                    + " at once: its shards take one at a time";
            },
            "ask for several GPUs at once, where shards take one at a time");
    }

    /// Sections that say something, but nothing to jobs.
    void addSetAside()
    {
        const std::vector<std::string> names = sectionsSetAside(m_plan);
        if (!names.empty())
            add(Severity::Note,
                "The plan's own " + joined(names, ", ", " and ") + (names.size() == 1 ? " is" : " are")
                    + " set aside while there are jobs",
                names.front());
        if (!m_plan.calibration.empty())
            add(Severity::Note, "Calibration factors are not applied to jobs", "calibration");
    }

    /// What the answer depends on, where the plan leaves it to PCIe.
    void addCopyRates()
    {
        std::size_t pools = 0;
        for (std::size_t i = 0; isByShards(m_plan.jobScheduler) && i < m_jobs.gpus.size() && pools < kMostNamed; ++i) {
            const StageLocation at = m_jobs.gpus[i];
            const Pool &pool = m_plan.cluster.datacenters[std::size_t(at.datacenter)].pools[std::size_t(at.pool)];
            if ((i > 0 && at == m_jobs.gpus[i - 1]) || (pool.host && pool.host->gbytesPerSecondPerGpu > 0))
                continue;
            ++pools;
            add(Severity::Note,
                "Copies between its host and a GPU of pool " + pool.id + " are taken to reach "
                    + plainText(hostRates(*m_jobs.cluster, at).own / 1e9)
                    + " GB/s each way, as its PCIe allows: say host.gbytes_per_s_per_gpu where GPUs that copy at once "
                      "reach less",
                poolKey(at.datacenter, at.pool) + ".host.gbytes_per_s_per_gpu");
        }
    }

    void addIdle()
    {
        for (const IdleGpus &idle : m_evaluation.layout.idle)
            add(Severity::Note,
                counted(idle.gpus, "GPU") + " of pool "
                    + m_plan.cluster.datacenters[std::size_t(idle.datacenter)].pools[std::size_t(idle.pool)].id
                    + (idle.gpus == 1 ? " has" : " have") + " no work: " + idle.reason,
                poolKey(idle.datacenter, idle.pool));
    }

    void addNotes()
    {
        const auto paused = those([&](std::size_t i) { return m_metrics.perJob[i].state == JobState::Paused; });
        if (!paused.empty())
            add(Severity::Note,
                paused.size() == 1 ? name(paused.front()) + " is paused"
                                   : counted(std::int64_t(paused.size()), "job") + " are paused",
                keyOf(paused.front(), "paused"));
        addSetAside();
        if (m_metrics.minibatchesPerSpan > 1)
            add(Severity::Note,
                "There are too many mini-batches to plan each: a unit stands for up to "
                    + std::to_string(m_metrics.minibatchesPerSpan) + " of them",
                m_plan.jobs.empty() ? "job_grid" : "jobs");
    }

    const Evaluation &m_evaluation;
    const Plan &m_plan;
    const JobMetrics &m_metrics;
    const JobWorkloads &m_jobs;
    const JobOutcome &m_outcome;
    std::vector<Problem> m_problems;
};

} // namespace

std::vector<Problem> findJobProblems(const Evaluation &evaluation, const JobWorkloads &jobs, const JobOutcome &outcome)
{
    return Finder(evaluation, jobs, outcome).find();
}

std::optional<Problem> schedulerProblem(const Plan &plan)
{
    if (plan.jobScheduler != JobScheduler::Milp && plan.jobScheduler != JobScheduler::List)
        return {};
    return Problem { Severity::Blocking,
        std::string("The scheduler \"") + labelOf(plan.jobScheduler) + "\" is not modelled in this version",
        "job_scheduler", {} };
}

} // namespace trainyard

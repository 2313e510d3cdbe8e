// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/job_edits.h"

#include "core/facts/plan/enum_names.h"
#include "models/gpu_numbers.h"
#include "models/text/format.h"

#include <QObject>

#include <algorithm>
#include <set>

namespace trainyard {

namespace {

QString nameOf(const Job &job)
{
    return QString::fromStdString(job.name);
}

/// All jobs as a list that can be edited, where one of them is the grid's; else those of the list.
Plan editable(const Plan &plan, const std::vector<int> &jobs)
{
    const bool isOfGrid = std::ranges::any_of(jobs, [&](int job) { return job >= int(plan.jobs.size()); });
    return isOfGrid ? withGridExpanded(plan) : plan;
}

JobEdit changed(const Plan &before, Plan next, QString text)
{
    if (next == before)
        return {};
    return { std::make_shared<const Plan>(std::move(next)), std::move(text) };
}

void makeUnique(std::string &name, const std::vector<Job> &jobs, const Job *except = nullptr)
{
    std::set<std::string_view> taken;
    for (const Job &job : jobs)
        if (&job != except)
            taken.insert(job.name);
    const std::string stem = name;
    for (int n = 2; taken.contains(name); ++n)
        name = stem + " (" + std::to_string(n) + ")";
}

/// What it is called while nobody has given it a name.
std::string usualName(const Job &job)
{
    const std::size_t slash = job.model.find_last_of('/');
    return job.model.empty() ? "job" : slash == std::string::npos ? job.model : job.model.substr(slash + 1);
}

/// "gpt, batch 16" of a job that is given batch 32: "gpt, batch 32".
void tellInName(std::vector<Job> &jobs, Job &job, const std::string &before, const std::string &after)
{
    const std::size_t at = job.name.find(before);
    const std::size_t end = at + before.size();
    if (at == std::string::npos || (end < job.name.size() && job.name[end] != ',' && job.name[end] != ' '))
        return;
    job.name.replace(at, before.size(), after);
    makeUnique(job.name, jobs, &job);
}

/// `set` on each of the jobs.
template <class Set> JobEdit each(const Plan &plan, const std::vector<int> &jobs, const QString &text, Set set)
{
    const Plan before = editable(plan, jobs); // the same jobs, which alone is no edit
    Plan next = before;
    for (const int job : jobs)
        if (job >= 0 && job < int(next.jobs.size()))
            set(next.jobs, next.jobs[std::size_t(job)]);
    return changed(before, std::move(next), text);
}

/// "16 → 32" where all the jobs have the same now, else "→ 32".
template <class Value, class Text>
QString step(const Plan &plan, const std::vector<int> &jobs, Value Job::*member, const Value &after, Text text)
{
    const std::vector<Job> all = allJobs(plan);
    std::optional<Value> before;
    for (const int job : jobs) {
        if (job < 0 || job >= int(all.size()))
            continue;
        const Value &now = all[std::size_t(job)].*member;
        if (before && *before != now)
            return QStringLiteral("→ %1").arg(text(after));
        before = now;
    }
    return before ? QStringLiteral("%1 → %2").arg(text(*before), text(after)) : text(after);
}

QString number(int value)
{
    return QString::number(value);
}

} // namespace

QString jobsText(const Plan &plan, const std::vector<int> &jobs)
{
    if (jobs.size() != 1)
        return countOf(qint64(jobs.size()), QObject::tr("job"), QObject::tr("jobs"));
    const std::vector<Job> all = allJobs(plan, std::size_t(std::max(0, jobs.front())) + 1);
    return jobs.front() >= 0 && jobs.front() < int(all.size()) ? nameOf(all[std::size_t(jobs.front())])
                                                               : QObject::tr("a job");
}

int jobNamed(const Plan &plan, const QString &name)
{
    const std::vector<Job> all = allJobs(plan);
    const auto at = std::ranges::find(all, name.toStdString(), &Job::name);
    return at == all.end() ? -1 : int(at - all.begin());
}

Job jobToStartFrom(const Plan &plan, const Catalogue &catalogue)
{
    Job job;
    const WorkloadSpec &own = plan.workload;
    job.model = !own.model.empty() ? own.model : catalogue.models.empty() ? "" : catalogue.models.front().id;
    job.batch = 8;
    job.minibatches = 100;
    job.sequenceLength = own.sequenceLength;
    job.precision = own.precision;
    job.optimizer = own.optimizer;
    return job;
}

double jobsOf(const JobGrid &grid)
{
    Plan alone;
    alone.jobGrid = grid;
    return jobCount(alone);
}

Plan withGridExpanded(const Plan &plan)
{
    Plan next = plan;
    if (plan.jobGrid) {
        next.jobs = allJobs(plan);
        next.jobGrid.reset();
    }
    return next;
}

JobEdit withJobAdded(const Plan &plan, const Job &job)
{
    Plan next = plan;
    Job added = job;
    if (added.name.empty())
        added.name = usualName(added);
    makeUnique(added.name, allJobs(plan));
    const QString text = QObject::tr("Add the job %1").arg(nameOf(added));
    next.jobs.push_back(std::move(added));
    return changed(plan, std::move(next), text);
}

JobEdit withGrid(const Plan &plan, const JobGrid &grid)
{
    if (grid.model.empty())
        return {};
    Plan next = withGridExpanded(plan);
    next.jobGrid = grid;
    const double count = jobsOf(grid);
    return changed(plan, std::move(next),
        count == 1
            ? QObject::tr("Add the job %1").arg(QString::fromStdString(grid.model.front()))
            : QObject::tr("Add a grid of %1").arg(countOf(qint64(count), QObject::tr("job"), QObject::tr("jobs"))));
}

JobEdit withClones(const Plan &plan, int job, const JobGrid &grid)
{
    const Plan list = withGridExpanded(plan);
    if (job < 0 || job >= int(list.jobs.size()))
        return {};
    const Job &original = list.jobs[std::size_t(job)];
    Plan made;
    made.jobGrid = grid;
    if (grid.model.empty())
        made.jobGrid->model = { original.model };
    Plan next = list;
    std::vector<Job> clones;
    for (const Job &cell : allJobs(made)) {
        Job clone = original;
        const auto take = [&](auto JobGrid::*listed, auto Job::*member) {
            if (!((*made.jobGrid).*listed).empty())
                clone.*member = cell.*member;
        };
        take(&JobGrid::model, &Job::model);
        take(&JobGrid::batch, &Job::batch);
        take(&JobGrid::learningRate, &Job::learningRate);
        take(&JobGrid::sequenceLength, &Job::sequenceLength);
        take(&JobGrid::minibatches, &Job::minibatches);
        take(&JobGrid::epochs, &Job::epochs);
        take(&JobGrid::precision, &Job::precision);
        take(&JobGrid::optimizer, &Job::optimizer);
        if (clone.model != original.model || clone.batch != original.batch
            || clone.sequenceLength != original.sequenceLength)
            clone.unitMs.clear(); // measured for another
        clone.name = cell.name;
        makeUnique(clone.name, next.jobs);
        next.jobs.push_back(clone); // so that the next name is unique as well
        clones.push_back(std::move(clone));
    }
    next.jobs = list.jobs;
    next.jobs.insert(next.jobs.begin() + job + 1, clones.begin(), clones.end());
    return changed(plan, std::move(next),
        QObject::tr("Clone %1 as %2")
            .arg(nameOf(original), countOf(qint64(clones.size()), QObject::tr("job"), QObject::tr("jobs"))));
}

JobEdit withJobsRemoved(const Plan &plan, const std::vector<int> &jobs)
{
    Plan next = plan;
    const std::set<int> gone(jobs.begin(), jobs.end());
    const auto count = std::size_t(jobCount(plan));
    bool isWholeGrid = plan.jobGrid.has_value();
    for (std::size_t i = plan.jobs.size(); isWholeGrid && i < count; ++i)
        isWholeGrid = gone.contains(int(i));
    if (isWholeGrid)
        next.jobGrid.reset();
    else
        next = editable(plan, jobs);
    for (auto at = gone.rbegin(); at != gone.rend(); ++at)
        if (*at >= 0 && *at < int(next.jobs.size()))
            next.jobs.erase(next.jobs.begin() + *at);
    return changed(plan, std::move(next), QObject::tr("Remove %1").arg(jobsText(plan, jobs)));
}

JobEdit withJobMoved(const Plan &plan, int from, int to)
{
    const int count = int(jobCount(plan));
    to = std::clamp(to, 0, std::max(0, count - 1));
    if (from < 0 || from >= count || from == to)
        return {};
    Plan next = editable(plan, { from, to });
    const auto begin = next.jobs.begin();
    if (from < to)
        std::rotate(begin + from, begin + from + 1, begin + to + 1);
    else
        std::rotate(begin + to, begin + from, begin + from + 1);
    const QString name = jobsText(plan, { from });
    return changed(plan, std::move(next),
        std::abs(from - to) == 1 ? (to < from ? QObject::tr("Move %1 up") : QObject::tr("Move %1 down")).arg(name)
                                 : QObject::tr("Move %1 to place %2").arg(name).arg(to + 1));
}

JobEdit withJobChanged(const Plan &plan, int job, const Job &next)
{
    return each(
        plan, { job }, QObject::tr("Edit %1").arg(jobsText(plan, { job })), [&](std::vector<Job> &all, Job &now) {
            now = next;
            if (now.name.empty())
                now.name = usualName(now);
            makeUnique(now.name, all, &now);
        });
}

JobEdit withJobsPaused(const Plan &plan, const std::vector<int> &jobs, bool isPaused)
{
    return each(plan, jobs, (isPaused ? QObject::tr("Pause %1") : QObject::tr("Resume %1")).arg(jobsText(plan, jobs)),
        [&](std::vector<Job> &, Job &job) { job.paused = isPaused; });
}

JobEdit withBatch(const Plan &plan, const std::vector<int> &jobs, int batch)
{
    return each(plan, jobs,
        QObject::tr("Batch of %1 %2").arg(jobsText(plan, jobs), step(plan, jobs, &Job::batch, batch, number)),
        [&](std::vector<Job> &all, Job &job) {
            if (job.batch == batch)
                return;
            tellInName(all, job, "batch " + std::to_string(job.batch), "batch " + std::to_string(batch));
            job.batch = batch;
        });
}

JobEdit withMinibatches(const Plan &plan, const std::vector<int> &jobs, int minibatches)
{
    const QString text = QObject::tr("Mini-batches of %1 %2")
                             .arg(jobsText(plan, jobs), step(plan, jobs, &Job::minibatches, minibatches, number));
    return each(plan, jobs, text, [&](std::vector<Job> &all, Job &job) {
        if (job.minibatches == minibatches)
            return;
        tellInName(
            all, job, std::to_string(job.minibatches) + " mini-batches", std::to_string(minibatches) + " mini-batches");
        job.minibatches = minibatches;
    });
}

JobEdit withEpochs(const Plan &plan, const std::vector<int> &jobs, int epochs)
{
    const QString text =
        QObject::tr("Epochs of %1 %2").arg(jobsText(plan, jobs), step(plan, jobs, &Job::epochs, epochs, number));
    return each(plan, jobs, text, [&](std::vector<Job> &all, Job &job) {
        if (job.epochs == epochs)
            return;
        tellInName(all, job, std::to_string(job.epochs) + " epochs", std::to_string(epochs) + " epochs");
        job.epochs = epochs;
    });
}

JobEdit withDeadline(const Plan &plan, const std::vector<int> &jobs, std::optional<double> seconds)
{
    const QString who = jobsText(plan, jobs);
    return each(plan, jobs,
        seconds ? QObject::tr("Deadline of %1 %2").arg(who, formatSeconds(*seconds))
                : QObject::tr("No deadline for %1").arg(who),
        [&](std::vector<Job> &, Job &job) { job.deadlineS = seconds; });
}

JobEdit withPriority(const Plan &plan, const std::vector<int> &jobs, double priority)
{
    const auto text = [](double value) { return QString::number(value, 'g', 6); };
    return each(plan, jobs,
        QObject::tr("Priority of %1 %2").arg(jobsText(plan, jobs), step(plan, jobs, &Job::priority, priority, text)),
        [&](std::vector<Job> &, Job &job) { job.priority = priority; });
}

JobEdit withPins(const Plan &plan, const std::vector<int> &jobs, std::vector<int> gpus)
{
    std::ranges::sort(gpus);
    gpus.erase(std::ranges::unique(gpus).begin(), gpus.end());
    const QString who = jobsText(plan, jobs);
    const QString text = gpus.empty() ? QObject::tr("Let %1 run on any GPU").arg(who)
        : gpus.size() == 1            ? QObject::tr("Pin %1 to GPU %2").arg(who).arg(gpus.front())
                                      : QObject::tr("Pin %1 to GPUs %2").arg(who, gpuNumbersText(gpus));
    return each(plan, jobs, text, [&](std::vector<Job> &, Job &job) { job.pinnedGpus = gpus; });
}

JobEdit withScheduler(const Plan &plan, JobScheduler scheduler)
{
    Plan next = plan;
    next.jobScheduler = scheduler;
    return changed(plan, std::move(next),
        QStringLiteral("%1 %2 → %3")
            .arg(QObject::tr("Scheduler"), QString::fromUtf8(labelOf(plan.jobScheduler)),
                QString::fromUtf8(labelOf(scheduler))));
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/jobs.h"

#include "core/base/words.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/plan.h"

#include <algorithm>
#include <map>
#include <set>

namespace trainyard {

namespace {

/// A list of one default where nothing is listed.
template <class T> std::vector<T> valuesOf(const std::vector<T> &listed, T standard)
{
    return listed.empty() ? std::vector<T> { std::move(standard) } : listed;
}

std::vector<std::optional<double>> ratesOf(const JobGrid &grid)
{
    if (grid.learningRate.empty())
        return { std::nullopt };
    return { grid.learningRate.begin(), grid.learningRate.end() };
}

/// Of the axes with several values.
std::string gridName(const JobGrid &grid, const Job &job)
{
    std::string name = job.model;
    const auto add = [&](std::size_t values, const std::string &text) {
        if (values > 1)
            name += ", " + text;
    };
    add(grid.batch.size(), "batch " + std::to_string(job.batch));
    add(grid.learningRate.size(), job.learningRate ? plainNumber(*job.learningRate) : "");
    add(grid.sequenceLength.size(), std::to_string(job.sequenceLength) + " tokens");
    add(grid.minibatches.size(), std::to_string(job.minibatches) + " mini-batches");
    add(grid.epochs.size(), std::to_string(job.epochs) + " epochs");
    add(grid.precision.size(), toString(job.precision));
    add(grid.optimizer.size(), labelOf(job.optimizer));
    return name;
}

void addGrid(const JobGrid &grid, std::vector<Job> &jobs, std::size_t most)
{
    const Job standard;
    for (const std::string &model : grid.model)
        for (const int batch : valuesOf(grid.batch, standard.batch))
            for (const std::optional<double> rate : ratesOf(grid))
                for (const int length : valuesOf(grid.sequenceLength, standard.sequenceLength))
                    for (const int minibatches : valuesOf(grid.minibatches, standard.minibatches))
                        for (const int epochs : valuesOf(grid.epochs, standard.epochs))
                            for (const Precision precision : valuesOf(grid.precision, standard.precision))
                                for (const Optimizer optimizer : valuesOf(grid.optimizer, standard.optimizer)) {
                                    if (jobs.size() >= most)
                                        return;
                                    Job job = standard;
                                    job.model = model;
                                    job.batch = batch;
                                    job.learningRate = rate;
                                    job.sequenceLength = length;
                                    job.minibatches = minibatches;
                                    job.epochs = epochs;
                                    job.precision = precision;
                                    job.optimizer = optimizer;
                                    job.name = gridName(grid, job);
                                    jobs.push_back(std::move(job));
                                }
}

void makeNamesUnique(std::vector<Job> &jobs)
{
    std::set<std::string> taken;
    std::map<std::string, int> counts; // of a name, so that many equal ones are not counted through for each
    for (Job &job : jobs) {
        const std::string stem = job.name;
        for (int &n = counts.try_emplace(stem, 1).first->second; !taken.insert(job.name).second;)
            job.name = stem + " (" + std::to_string(++n) + ")";
    }
}

} // namespace

bool hasJobs(const Plan &plan)
{
    return !plan.jobs.empty() || (plan.jobGrid && !plan.jobGrid->model.empty());
}

double jobCount(const Plan &plan)
{
    double count = 0;
    if (plan.jobGrid) {
        const JobGrid &g = *plan.jobGrid;
        count = double(g.model.size());
        for (const std::size_t values : { g.batch.size(), g.learningRate.size(), g.sequenceLength.size(),
                 g.minibatches.size(), g.epochs.size(), g.precision.size(), g.optimizer.size() })
            count *= double(std::max<std::size_t>(values, 1));
    }
    return count + double(plan.jobs.size());
}

std::vector<Job> allJobs(const Plan &plan, std::size_t most)
{
    std::vector<Job> jobs(plan.jobs.begin(), plan.jobs.begin() + std::ptrdiff_t(std::min(plan.jobs.size(), most)));
    if (plan.jobGrid)
        addGrid(*plan.jobGrid, jobs, most);
    makeNamesUnique(jobs);
    return jobs;
}

} // namespace trainyard

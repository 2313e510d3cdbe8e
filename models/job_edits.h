#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Edits of the jobs of a plan: each makes the next plan and the sentence that undo says. Jobs are told by their place
// in allJobs(), from 0. Those of a grid are one entry of the plan; an edit of some of them alone makes jobs of all, in
// the same order and with the same names. Pure functions.
//
//   JobEdit edit = withJobsPaused(plan, { 2 }, true);   // { next plan, "Pause gpt-3-1.3b, batch 16" }
//   if (edit) document.apply(edit.plan, edit.text);

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"

#include <QString>

#include <vector>

namespace trainyard {

/// What a job that is dragged carries: its name, UTF-8.
inline constexpr const char *kJobMime = "application/x-trainyard-job";

struct JobEdit {
    /// null: nothing would change
    PlanPtr plan;
    QString text;
    explicit operator bool() const { return plan != nullptr; }
};

/// As a person calls a place: "gpt-3-1.3b, batch 16"; of several "3 jobs".
[[nodiscard]] QString jobsText(const Plan &plan, const std::vector<int> &jobs);
/// Its place among allJobs(); -1 where no job has that name.
[[nodiscard]] int jobNamed(const Plan &plan, const QString &name);
/// A job to begin with: the plan's own model and sequence, else the catalogue's first.
[[nodiscard]] Job jobToStartFrom(const Plan &plan, const Catalogue &catalogue);

/// The grid's jobs become jobs of the list. The plan trains exactly the same.
[[nodiscard]] Plan withGridExpanded(const Plan &plan);

/// At the end of the list, before those of a grid. Its name is made of its model where it has none, and gets a number
/// where another job has it.
[[nodiscard]] JobEdit withJobAdded(const Plan &plan, const Job &job);
/// Further jobs, every combination of what is listed: the plan's grid, or behind the jobs that its last grid made.
[[nodiscard]] JobEdit withGrid(const Plan &plan, const JobGrid &grid);
/// Copies of one job right behind it, with all that it has but what the grid lists.
[[nodiscard]] JobEdit withClones(const Plan &plan, int job, const JobGrid &grid);
[[nodiscard]] JobEdit withJobsRemoved(const Plan &plan, const std::vector<int> &jobs);
/// It stands at `to` then. Order decides ties, and everything under first in, first out.
[[nodiscard]] JobEdit withJobMoved(const Plan &plan, int from, int to);
/// `next` in the place of what it is now; a name that is taken gets a number.
[[nodiscard]] JobEdit withJobChanged(const Plan &plan, int job, const Job &next);

/// Paused jobs stay in the list and do not run.
[[nodiscard]] JobEdit withJobsPaused(const Plan &plan, const std::vector<int> &jobs, bool isPaused);
/// Sequences of a mini-batch; a name that tells the batch tells the new one.
[[nodiscard]] JobEdit withBatch(const Plan &plan, const std::vector<int> &jobs, int batch);
[[nodiscard]] JobEdit withMinibatches(const Plan &plan, const std::vector<int> &jobs, int minibatches);
[[nodiscard]] JobEdit withEpochs(const Plan &plan, const std::vector<int> &jobs, int epochs);
/// Seconds from the start of the plan; none: it may take as long as it does.
[[nodiscard]] JobEdit withDeadline(const Plan &plan, const std::vector<int> &jobs, std::optional<double> seconds);
[[nodiscard]] JobEdit withPriority(const Plan &plan, const std::vector<int> &jobs, double priority);
/// GPUs that alone may run them, numbers in the order of the cluster; none: any.
[[nodiscard]] JobEdit withPins(const Plan &plan, const std::vector<int> &jobs, std::vector<int> gpus);
[[nodiscard]] JobEdit withScheduler(const Plan &plan, JobScheduler scheduler);

/// How many jobs a grid makes, without making them.
[[nodiscard]] double jobsOf(const JobGrid &grid);

} // namespace trainyard

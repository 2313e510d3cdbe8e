#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The jobs of a plan as rows that can be read: what each of them is, when it runs in the time that all take, what it
// costs, whether its deadline is met; and what all of them come to beside what bounds them. Pure functions of a plan
// and, where there is one, of an evaluation of it or of one that is tried (jobs are found there by name).

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>

#include <optional>
#include <vector>

namespace trainyard {

enum class DeadlineState : std::uint8_t { None, Met, Missed, Unknown };

struct JobRow {
    QString name, model;
    /// what tells it from the other jobs
    QString shortName;
    int batch = 1, minibatches = 1, epochs = 1;
    /// deadline: seconds
    std::optional<double> learningRate, deadline;
    bool isPaused = false, isPinned = false, isOfGrid = false, isMeasured = false;
    /// what follows is evaluated; else it is empty
    bool isKnown = false;
    JobState state = JobState::Runs;
    DeadlineState deadlineState = DeadlineState::None;
    /// of the makespan, 0 to 1
    double from = 0, to = 0;
    /// of the makespan; above 1: later than all
    std::optional<double> deadlineAt;
    /// "100", "100 × 3" with epochs
    QString minibatchText;
    /// empty where nothing is known
    QString deadlineText, endText, priceText, shardText, gpuText;
    /// one sentence, of one that does not run
    QString why;
    /// all that is known of it, sentences
    QString facts;
};

struct JobSummary {
    QString makespan, bound, utilization, host, price;
    /// "12.4 % above the bound", "at the bound".
    QString distance;
    /// Which of the two bounds it is, and both: "All work over all GPUs 9.8 s, the compute of the longest job 10.2 s".
    QString boundFacts;
    bool isHostOverfull = false;
    int runs = 0, paused = 0, cannotRun = 0, missed = 0;
    /// "12 jobs, 1 paused, 2 cannot run"
    QString counts;
};

struct JobTable {
    /// in the order of allJobs()
    std::vector<JobRow> rows;
    JobSummary summary;
};

/// As many rows are made; of more the summary alone counts.
inline constexpr std::size_t kMostJobRows = 20'000;

/// `evaluation` may be null, or of a plan with other jobs.
[[nodiscard]] JobTable jobTable(const Plan &plan, const Evaluation *evaluation);

/// What all jobs come to, without how many there are.
[[nodiscard]] JobSummary jobSummary(const JobMetrics &metrics);
/// How far a makespan is above its bound, as a share; nullopt where either is unknown.
[[nodiscard]] std::optional<double> aboveBound(const JobMetrics &metrics);
/// Of the fullest host: capacity in bytes; 0 where none is stated.
[[nodiscard]] double fullestHostCapacity(const JobMetrics &metrics);

} // namespace trainyard

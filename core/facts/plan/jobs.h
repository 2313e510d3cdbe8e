#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Many models on the same GPUs (Hydra, arXiv 2107.06469 and 2110.08633): the parts `jobs`, `job_grid`, `job_scheduler`
// and `job_options` of a plan. A plan with jobs has no iteration of its own: what it does is train them all.

#include "core/facts/hardware/gpu_spec.h"
#include "core/facts/plan/optimizer.h"
#include "core/facts/plan/plan_value.h"

#include <cstdint>
#include <vector>

namespace trainyard {

/// How one job uses its GPUs. Auto: as the scheduler does.
enum class JobTechnique : std::uint8_t { Auto, ShardParallel, ModelParallel, DataParallel, Pipeline, ZeroOffload };

struct Job {
    std::string name, model;
    /// sequences of a mini-batch
    int batch = 1;
    /// of one epoch
    int minibatches = 1;
    int epochs = 1;
    int sequenceLength = 2048;
    Precision precision = Precision::Bf16;
    Optimizer optimizer = Optimizer::Adam;
    /// tells jobs of a grid apart; no time depends on it
    std::optional<double> learningRate;
    double arrivalS = 0;
    std::optional<double> deadlineS;
    /// jobs of a higher one go first
    double priority = 0;
    /// how many it has at once, under a scheduler that gives several
    Auto<int> gpus;
    JobTechnique technique = JobTechnique::Auto;
    /// measured, of one mini-batch in order; empty: as modelled
    std::vector<double> unitMs;
    /// numbers in the order of the cluster; empty: any
    std::vector<int> pinnedGpus;
    /// it does not run
    bool paused = false;
    Extra extra;
    bool operator==(const Job &) const = default;
};

/// Every combination of what is listed, in order, the last list fastest. An empty list: the default of a job.
struct JobGrid {
    std::vector<std::string> model;
    std::vector<int> batch;
    std::vector<double> learningRate;
    std::vector<int> sequenceLength, minibatches, epochs;
    std::vector<Precision> precision;
    std::vector<Optimizer> optimizer;
    Extra extra;
    bool operator==(const JobGrid &) const = default;
};

/// Who decides which unit of which job a GPU takes (the first four: shards of all jobs share the GPUs), or how whole
/// jobs get GPUs.
enum class JobScheduler : std::uint8_t {
    /// of the jobs that do not run the one with the longest remaining time
    ShardedLrtf,
    Fifo,
    Random,
    ShardMilp,
    /// one job at a time, its layers over the GPUs, one of which is at work
    ModelParallel,
    /// a copy of a job a GPU, where it fits
    TaskParallel,
    /// one job at a time, in micro-batches through all GPUs
    Pipeline,
    /// one job at a time, ZeRO-3 over all GPUs with its states in host memory
    ZeroOffload,
    Milp,
    List,
};

/// What remains of a job, when jobs are compared: the time of its units that have not ended, or of whole mini-batches
/// with the one that is at work (as Hydra's release).
enum class RemainingWork : std::uint8_t { Units, Minibatches };

struct JobOptions {
    /// the next shard's weights travel while a unit computes
    bool doubleBuffer = true;
    /// a GPU picks its next unit when its current one starts
    bool lookAhead = false;
    RemainingWork remaining = RemainingWork::Units;
    /// shards that do not compute lie in host memory; false: a model has to fit a GPU
    bool spill = true;
    /// of random choices
    int seed = 1;
    /// a plan is looked at again after so long; what a change costs
    double introspectionS = 0, switchCostS = 0;
    /// of GPUs that a cloud takes back
    double revocationsPerDay = 0, checkpointS = 0, restartS = 0;
    /// for solvers
    double seconds = 10;
    Extra extra;
    bool operator==(const JobOptions &) const = default;

    /// A buffer is filled ahead, so what fills it was picked ahead.
    [[nodiscard]] bool looksAhead() const { return lookAhead || doubleBuffer; }
};

struct Plan;
/// Whether the plan trains jobs instead of one model.
[[nodiscard]] bool hasJobs(const Plan &plan);
/// The jobs of the list, then those of the grid. Names are unique: a grid's are made of what tells its jobs apart
/// ("gpt-3-1.3b, batch 16, 0.0003"), and a name that is taken gets a number. At most `most` of them.
[[nodiscard]] std::vector<Job> allJobs(const Plan &plan, std::size_t most = 100000);
/// How many those are, without making them.
[[nodiscard]] double jobCount(const Plan &plan);

} // namespace trainyard

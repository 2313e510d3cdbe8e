#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What shardMilp() is made of: the set as chains of tasks over classes of GPUs; grouping and rounding; a list schedule
// and a lower bound; the programme that asks for a schedule of a given length; lists of a schedule for each GPU. Times
// are whole numbers, nanoseconds at first and steps of a grid afterwards.

#include "core/systems/jobs/shard_milp.h"

#include <optional>

namespace trainyard::detail {

inline constexpr std::int64_t kCannot = -1;

/// Unit times of the set: GPUs that are alike for all jobs are a class.
struct ShardUnits {
    struct Job {
        /// of the set
        std::uint32_t job = 0;
        Nanoseconds arrival = 0;
        /// [class][unit of a mini-batch]; empty: not there
        std::vector<std::vector<Nanoseconds>> times;
        std::int64_t minibatches = 1;
        [[nodiscard]] std::int64_t perMinibatch() const;
        [[nodiscard]] std::int64_t count() const { return perMinibatch() * minibatches; }
        bool operator==(const Job &) const = default;
    };
    /// [GPU]
    std::vector<int> classOf;
    /// [class]
    std::vector<int> capacity;
    std::vector<Job> jobs;
    bool hasTransfers = false;
};
/// Units' times with their transfers as unitSeconds() has them, or without. Expects every job to have a node.
[[nodiscard]] ShardUnits shardUnits(const JobSet &set, const JobRules &rules, bool withTransfers);

/// Consecutive units of a job that are one.
struct ShardTask {
    std::int64_t units = 1;
    /// [class], kCannot
    std::vector<std::int64_t> time;
    [[nodiscard]] std::int64_t least() const;
    bool operator==(const ShardTask &) const = default;
};

struct ShardProblem {
    struct Job {
        std::int64_t arrival = 0;
        std::vector<ShardTask> tasks;
        bool operator==(const Job &) const = default;
    };
    /// [class]
    std::vector<int> capacity;
    /// as in ShardUnits
    std::vector<Job> jobs;
    /// nanoseconds of a step
    std::int64_t grid = 1;
    bool isRounded = false;
    std::int64_t unitsPerTask = 1;
    [[nodiscard]] std::size_t taskCount() const;
};
/// `unitsPerTask` units as one; whole mini-batches where it is more than one.
[[nodiscard]] ShardProblem inNanoseconds(const ShardUnits &units, std::int64_t unitsPerTask);
/// The largest number that divides all times.
[[nodiscard]] std::int64_t commonStep(const ShardProblem &problem);
/// On a grid: times up to a task are rounded up together, so that a job is longer by less than a step.
[[nodiscard]] ShardProblem onGrid(const ShardProblem &problem, std::int64_t grid);

/// When each task begins, and on which class.
struct ShardSchedule {
    struct Start {
        std::int64_t time = 0;
        int gpuClass = 0;
    };
    /// [job][task]
    std::vector<std::vector<Start>> starts;
    std::int64_t length = 0;
};
/// Of the jobs that wait the one with the longest remaining time, on the first class where it may run that is free.
[[nodiscard]] ShardSchedule listSchedule(const ShardProblem &problem);
/// No schedule is shorter.
[[nodiscard]] std::int64_t lowerBound(const ShardProblem &problem);
[[nodiscard]] Nanoseconds lowerBound(const ShardUnits &units);

/// The programme whose answers are schedules that end by `length`. Column z[task, class, t] is 1 where the task has
/// begun there by t.
struct ShardProgramme {
    struct Window { // of a task on a class: columns of the times first … last; none where last < first
        std::int64_t first = 0, last = -1;
        std::uint32_t column = 0;
    };
    Milp milp;
    /// [job][task][class]
    std::vector<std::vector<std::vector<Window>>> windows;
    /// a task has no time at all
    bool isImpossible = false;
};
[[nodiscard]] std::size_t columnCount(const ShardProblem &problem, std::int64_t length);
[[nodiscard]] ShardProgramme programme(const ShardProblem &problem, std::int64_t length);
[[nodiscard]] ShardSchedule scheduleOf(
    const ShardProblem &problem, const ShardProgramme &programme, const std::vector<double> &values);

/// The lists that GPUs follow, a unit at a time. A job stays on its GPU where it can.
struct ShardLists {
    UnitOrder order;
    UnitNumbers numbers;
};
[[nodiscard]] ShardLists listsOf(const ShardUnits &units, const ShardProblem &problem, const ShardSchedule &schedule);

} // namespace trainyard::detail

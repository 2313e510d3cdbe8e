// SPDX-License-Identifier: GPL-3.0-or-later
// A schedule over classes of GPUs as the list of each GPU.
#include "core/systems/jobs/shard_milp_internal.h"

#include <algorithm>
#include <tuple>

namespace trainyard::detail {

namespace {

struct Placed {
    std::int64_t start, end;
    std::size_t job, task;
    int gpuClass;
};

std::vector<Placed> inOrderOfStart(const ShardProblem &problem, const ShardSchedule &schedule)
{
    std::vector<Placed> tasks;
    for (std::size_t job = 0; job < problem.jobs.size(); ++job)
        for (std::size_t task = 0; task < problem.jobs[job].tasks.size(); ++task) {
            const auto [start, gpuClass] = schedule.starts[job][task];
            const std::int64_t lasts = problem.jobs[job].tasks[task].time[static_cast<std::size_t>(gpuClass)];
            tasks.push_back({ start, start + lasts, job, task, gpuClass });
        }
    std::ranges::sort(
        tasks, {}, [](const Placed &each) { return std::tuple(each.start, each.end, each.job, each.task); });
    return tasks;
}

} // namespace

ShardLists listsOf(const ShardUnits &units, const ShardProblem &problem, const ShardSchedule &schedule)
{
    const std::size_t gpus = units.classOf.size();
    ShardLists lists { UnitOrder(gpus), UnitNumbers(gpus) };
    std::vector<std::int64_t> free(gpus, 0), done(problem.jobs.size(), 0);
    std::vector<std::size_t> last(problem.jobs.size(), gpus);
    for (const Placed &each : inOrderOfStart(problem, schedule)) {
        const auto canTake = [&](std::size_t gpu) {
            return units.classOf[gpu] == each.gpuClass && free[gpu] <= each.start;
        };
        std::size_t gpu = last[each.job];
        if (gpu == gpus || !canTake(gpu))
            for (gpu = 0; gpu < gpus && !canTake(gpu); ++gpu) { }
        if (gpu == gpus)
            continue; // no schedule has more tasks at once than GPUs
        last[each.job] = gpu;
        free[gpu] = each.end;
        for (std::int64_t i = problem.jobs[each.job].tasks[each.task].units; i > 0; --i) {
            lists.order[gpu].push_back(units.jobs[each.job].job);
            lists.numbers[gpu].push_back(done[each.job]++);
        }
    }
    return lists;
}

} // namespace trainyard::detail

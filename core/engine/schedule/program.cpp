// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/schedule/program.h"

#include "core/engine/schedule/generators.h"
#include "core/facts/plan/plan_io.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace trainyard {

namespace {

constexpr std::array kSchedules {
    &schedules::gpipe,
    &schedules::oneFOneB,
    &schedules::interleaved,
    &schedules::breadthFirst,
    &schedules::zbH1,
    &schedules::zbH2,
    &schedules::zbV,
    &schedules::zbAuto,
    &schedules::vHalf,
    &schedules::vMin,
    &schedules::dualPipe,
    &schedules::dualPipeV,
    &schedules::chimera,
    &schedules::hanayo,
    &schedules::varuna,
    &schedules::teraPipe,
    &schedules::atlas,
};
static_assert(kSchedules.size() == static_cast<std::size_t>(ScheduleKind::Atlas) + 1);

Error badValue(const char *where, std::string what, std::string right)
{
    return { ErrorCode::BadValue, where, std::move(what), std::move(right) };
}

Expected<void> checkShape(const ScheduleShape &shape)
{
    if (shape.devices < 1)
        return std::unexpected(badValue("parallelism.pipeline", "is " + std::to_string(shape.devices), "1 or more"));
    if (shape.chunks < 1 || shape.chunks > std::numeric_limits<std::int16_t>::max())
        return std::unexpected(
            badValue("parallelism.virtual_pipeline", "is " + std::to_string(shape.chunks), "1 to 32767"));
    if (shape.microBatches < 1)
        return std::unexpected(badValue("workload.global_batch", "leaves a pipeline without a micro-batch",
            "micro_batch times the data-parallel degree, or more"));
    const std::size_t limits = shape.inFlightLimit.size();
    if (limits > 1 && limits != static_cast<std::size_t>(shape.devices))
        return std::unexpected(badValue("profile.in_flight", "has " + std::to_string(limits) + " entries",
            "one number, or one for each of " + std::to_string(shape.devices) + " stages"));
    if (std::ranges::any_of(shape.inFlightLimit, [](int limit) { return limit < 1; }))
        return std::unexpected(
            badValue("profile.in_flight", "leaves a stage without room for a micro-batch", "1 or more"));
    return {};
}

/// The accepted numbers around it, or above.
std::string nearest(const CountRule &rule, int count, int stages, bool isBelowToo = true)
{
    const int least = rule.leastOf(stages), step = rule.stepOf(stages), below = count - (count - least) % step;
    if (count < least)
        return std::to_string(least);
    return (isBelowToo ? std::to_string(below) + " or " : "") + std::to_string(below + step);
}

/// The schedule's own.
Expected<void> checkRules(const ScheduleTraits &schedule, const ScheduleShape &shape)
{
    const std::string name = toString(schedule.kind);
    if (const auto checked = checkChunks(schedule, schedule.isSliced() ? 1 : shape.chunks); !checked)
        return checked;
    if (!schedule.stages.accepts(shape.devices))
        return std::unexpected(badValue("parallelism.pipeline",
            "is " + std::to_string(shape.devices) + " under " + name + ", " + schedule.stages.why,
            nearest(schedule.stages, shape.devices, 1)));
    if (const CountRule &rule = schedule.microBatches; !rule.accepts(shape.microBatches, shape.devices)) {
        const std::string stages =
            " of " + std::to_string(shape.devices) + " stages"; // named where it says what counts them
        return std::unexpected(badValue("workload.global_batch",
            "gives " + std::to_string(shape.microBatches) + " micro-batches to each pipeline"
                + (rule.stepPerStage ? stages : "") + "; " + name
                + (rule.leastPerStage && !rule.stepPerStage ? stages : "") + " " + rule.why,
            nearest(rule, shape.microBatches, shape.devices, rule.stepPerStage > 0) + " micro-batches"));
    }
    return schedules::checkInFlight(schedule, shape);
}

Expected<void> checkTimes(const ScheduleTimes &times, const ScheduleShape &shape)
{
    const auto stages = static_cast<std::size_t>(shape.devices) * static_cast<std::size_t>(shape.chunks);
    const bool fits = times.stages.size() == stages && times.boundaries.size() + 1 == stages
        && (times.tails.empty() || times.tails.size() == static_cast<std::size_t>(shape.devices));
    if (times.stages.empty() || fits)
        return {};
    return std::unexpected(Error { ErrorCode::Internal, "schedule", "times that do not fit the program's shape", "" });
}

/// A backward of the last virtual stage of a chain right after its own forward finds its activations where the forward
/// left them.
void spareRecomputeAfterOwnForward(Program &program)
{
    const int length = program.stagesInChain();
    for (int last = length - 1; last < program.virtualStages(); last += length) {
        std::vector<Op> &order = program.order[static_cast<std::size_t>(program.deviceOf(last))];
        for (std::size_t i = 1; i < order.size(); ++i) {
            const Op &before = order[i - 1];
            Op &op = order[i];
            if (op.recomputes && op.chunk == program.chunkOf(last) && before.kind == OpKind::Forward
                && before.chunk == op.chunk && before.microBatch == op.microBatch)
                op.recomputes = false;
        }
    }
}

} // namespace

bool splitsBackward(const Program &program)
{
    return std::ranges::any_of(program.order, [](const std::vector<Op> &order) {
        return std::ranges::find(order, OpKind::InputGrad, &Op::kind) != order.end();
    });
}

Expected<Program> makeProgram(ScheduleKind kind, const ScheduleShape &shape, const ScheduleTimes &times)
{
    return makeProgram(traitsOf(kind), shape, times);
}

Expected<Program> makeProgram(const ScheduleTraits &schedule, const ScheduleShape &shape, const ScheduleTimes &times)
{
    if (const auto checked = checkShape(shape); !checked)
        return std::unexpected(checked.error());
    ScheduleShape full = shape;
    if (full.inFlightLimit.size() == 1)
        full.inFlightLimit.resize(static_cast<std::size_t>(shape.devices), shape.inFlightLimit.front());
    if (const auto checked = checkTimes(times, shape); !checked)
        return std::unexpected(checked.error());
    if (const auto checked = checkRules(schedule, full); !checked)
        return std::unexpected(checked.error());
    Program program { full, schedule.placement, {}, schedule.rule };
    if (schedule.layByTimes)
        schedule.layByTimes(program, times);
    else
        schedule.lay(program);
    if (program.order.empty())
        return std::unexpected(Error {
            ErrorCode::Internal, "schedule", std::string(schedule.label) + " found no order for these limits", "" });
    spareRecomputeAfterOwnForward(program);
    return program;
}

std::vector<double> peakInFlight(const Program &program, double keptForWeightGrad)
{
    std::vector<double> peaks;
    for (const std::vector<Op> &order : program.order) {
        // A device with opportunistic forwards may take every forward before the gradient comes; the last makes its
        // gradients itself.
        if (program.rule == OrderRule::OpportunisticForward && peaks.size() + 1 < program.order.size()) {
            peaks.push_back(program.shape.microBatches);
            continue;
        }
        int whole = 0, kept = 0; // chunks with all their activations, and with what the weight gradient needs
        double peak = 0;
        for (const Op &op : order) {
            whole += isForward(op.kind) - makesGradient(op.kind);
            kept += (op.kind == OpKind::InputGrad) - (op.kind == OpKind::WeightGrad);
            peak = std::max(peak, whole + kept * keptForWeightGrad);
        }
        peaks.push_back(peak / program.shape.chunks);
    }
    return peaks;
}

std::span<const ScheduleTraits *const> allSchedules()
{
    return kSchedules;
}

const ScheduleTraits &traitsOf(ScheduleKind kind)
{
    return *kSchedules[static_cast<std::size_t>(kind)];
}

const ScheduleTraits &traitsOf(const Plan &plan)
{
    if (plan.heterogeneity.isLayered())
        return schedules::layered;
    if (plan.moe.expertOverlap == ExpertOverlap::OneFOneB && plan.memory.recompute != Recompute::Full) {
        if (plan.schedule == ScheduleKind::OneFOneB)
            return schedules::pairedOneFOneB;
        if (plan.schedule == ScheduleKind::Interleaved)
            return schedules::pairedInterleaved;
    }
    return traitsOf(plan.schedule);
}

ScheduleKind scheduleForChunks(ScheduleKind now, int virtualPipeline)
{
    if (!traitsOf(now).isLoop() || traitsOf(now).chunks.accepts(virtualPipeline))
        return now;
    return virtualPipeline == 1 ? kPlainSchedule : ScheduleKind::Interleaved;
}

Expected<void> checkChunks(const ScheduleTraits &schedule, int chunks)
{
    const CountRule &rule = schedule.chunks;
    if (rule.accepts(chunks))
        return {};
    return std::unexpected(badValue("parallelism.virtual_pipeline",
        "is " + std::to_string(chunks) + " under " + toString(schedule.kind) + ", " + rule.why,
        rule.right ? rule.right : nearest(rule, chunks, 1)));
}

Expected<void> schedules::checkInFlight(const ScheduleTraits &schedule, const ScheduleShape &shape)
{
    if (!schedule.inFlight || shape.inFlightLimit.empty())
        return {};
    const std::vector<int> needed = schedule.inFlight(shape);
    for (std::size_t i = 0; i < needed.size(); ++i)
        if (shape.inFlightLimit[i] < needed[i])
            return std::unexpected(badValue("schedule",
                std::string(toString(schedule.kind)) + " keeps " + std::to_string(needed[i])
                    + " micro-batches in flight on stage " + std::to_string(i + 1) + ", which has room for "
                    + std::to_string(shape.inFlightLimit[i]),
                "1f1b, which waits where room is short, or fewer micro-batches"));
    return {};
}

} // namespace trainyard

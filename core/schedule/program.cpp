// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/program.h"

#include "core/schedule/generators.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace trainyard {

namespace {

struct Generator {                 // every kind of ScheduleKind has one
    ScheduleKind kind;
    Expected<Program> (*make)(const ScheduleShape &);
    Expected<Program> (*makeByTimes)(const ScheduleShape &, const ScheduleTimes &) = nullptr;
};

constexpr std::array kGenerators{
    Generator{ScheduleKind::GPipe, schedules::gpipe},
    Generator{ScheduleKind::OneFOneB, schedules::oneFOneB},
    Generator{ScheduleKind::Interleaved, schedules::interleaved},
    Generator{ScheduleKind::BreadthFirst, schedules::breadthFirst},
    Generator{ScheduleKind::ZbH1, schedules::zbH1},
    Generator{ScheduleKind::ZbH2, schedules::zbH2},
    Generator{ScheduleKind::ZbV, nullptr, schedules::zbV},
    Generator{ScheduleKind::ZbAuto, nullptr, schedules::zbAuto},
    Generator{ScheduleKind::VHalf, nullptr, schedules::vHalf},
    Generator{ScheduleKind::VMin, nullptr, schedules::vMin},
    Generator{ScheduleKind::DualPipe, schedules::dualPipe},
    Generator{ScheduleKind::DualPipeV, schedules::dualPipeV},
    Generator{ScheduleKind::Chimera, nullptr, schedules::chimera},
    Generator{ScheduleKind::Hanayo, schedules::hanayo},
    Generator{ScheduleKind::Varuna, schedules::varuna},
    Generator{ScheduleKind::TeraPipe, schedules::teraPipe},
    Generator{ScheduleKind::Atlas, schedules::atlas},
};
static_assert(kGenerators.size() == static_cast<std::size_t>(ScheduleKind::Atlas) + 1);

Error badValue(const char *where, std::string what, std::string right)
{
    return {ErrorCode::BadValue, where, std::move(what), std::move(right)};
}

Expected<void> checkShape(const ScheduleShape &shape)
{
    if (shape.devices < 1)
        return std::unexpected(badValue("parallelism.pipeline", "is " + std::to_string(shape.devices), "1 or more"));
    if (shape.chunks < 1 || shape.chunks > std::numeric_limits<std::int16_t>::max())
        return std::unexpected(badValue("parallelism.virtual_pipeline", "is " + std::to_string(shape.chunks), "1 to 32767"));
    if (shape.microBatches < 1)
        return std::unexpected(badValue("workload.global_batch", "leaves a pipeline without a micro-batch",
                                        "micro_batch times the data-parallel degree, or more"));
    const std::size_t limits = shape.inFlightLimit.size();
    if (limits > 1 && limits != static_cast<std::size_t>(shape.devices))
        return std::unexpected(badValue("profile.in_flight", "has " + std::to_string(limits) + " entries",
                                        "one number, or one for each of " + std::to_string(shape.devices) + " stages"));
    if (std::ranges::any_of(shape.inFlightLimit, [](int limit) { return limit < 1; }))
        return std::unexpected(badValue("profile.in_flight", "leaves a stage without room for a micro-batch", "1 or more"));
    return {};
}

Expected<void> checkTimes(const ScheduleTimes &times, const ScheduleShape &shape)
{
    const auto stages = static_cast<std::size_t>(shape.devices) * static_cast<std::size_t>(shape.chunks);
    const bool fits = times.stages.size() == stages && times.boundaries.size() + 1 == stages
        && (times.tails.empty() || times.tails.size() == static_cast<std::size_t>(shape.devices));
    if (times.stages.empty() || fits)
        return {};
    return std::unexpected(Error{ErrorCode::Internal, "schedule", "times that do not fit the program's shape", ""});
}

/// A backward of the last virtual stage of a chain right after its own forward finds its activations where the forward left them.
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
    return std::ranges::any_of(program.order, [](const std::vector<Op> &order) { return std::ranges::find(order, OpKind::InputGrad, &Op::kind) != order.end(); });
}

Expected<Program> makeProgram(ScheduleKind kind, const ScheduleShape &shape, const ScheduleTimes &times)
{
    const auto generator = std::ranges::find(kGenerators, kind, &Generator::kind);
    if (const auto checked = checkShape(shape); !checked)
        return std::unexpected(checked.error());
    ScheduleShape full = shape;
    if (full.inFlightLimit.size() == 1)
        full.inFlightLimit.resize(static_cast<std::size_t>(shape.devices), shape.inFlightLimit.front());
    if (const auto checked = checkTimes(times, shape); !checked)
        return std::unexpected(checked.error());
    auto program = generator->makeByTimes ? generator->makeByTimes(full, times) : generator->make(full);
    if (program)
        spareRecomputeAfterOwnForward(*program);
    return program;
}

std::vector<double> peakInFlight(const Program &program, double keptForWeightGrad)
{
    std::vector<double> peaks;
    for (const std::vector<Op> &order : program.order) {
        // A device with opportunistic forwards may take every forward before the gradient comes; the last makes its gradients itself.
        if (program.rule == OrderRule::OpportunisticForward && peaks.size() + 1 < program.order.size()) {
            peaks.push_back(program.shape.microBatches);
            continue;
        }
        int whole = 0, kept = 0;   // chunks with all their activations, and with what the weight gradient needs
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

namespace schedules {

Expected<void> checkInFlight(const ScheduleShape &shape, const std::vector<int> &needed, const char *schedule)
{
    for (std::size_t i = 0; i < shape.inFlightLimit.size(); ++i)
        if (shape.inFlightLimit[i] < needed[i])
            return std::unexpected(badValue("schedule",
                                            std::string(schedule) + " keeps " + std::to_string(needed[i])
                                                + " micro-batches in flight on stage " + std::to_string(i + 1) + ", which has room for "
                                                + std::to_string(shape.inFlightLimit[i]),
                                            "1f1b, which waits where room is short, or fewer micro-batches"));
    return {};
}

Expected<void> checkOneChunk(const ScheduleShape &shape, const char *schedule)
{
    if (shape.chunks == 1)
        return {};
    return std::unexpected(badValue("parallelism.virtual_pipeline",
                                    "is " + std::to_string(shape.chunks) + " under " + schedule + ", which has one chunk per stage",
                                    "1, or schedule interleaved or breadth-first"));
}

} // namespace schedules

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/sailor.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace trainyard::sailor {

namespace {

constexpr Bytes kBucket { 5e8 }; // DeepSpeed's [F]

/// The slowest replica decides: forward and backward of all layers of the stage.
Seconds compute(const Stage &stage)
{
    Seconds slowest;
    for (const Replica &replica : stage.replicas) {
        Seconds sum;
        for (const LayerTime &layer : replica.layers)
            sum += layer.forward + layer.backward;
        slowest = std::max(slowest, sum);
    }
    return slowest;
}

/// The profile has the whole optimizer step in every layer's row; the release takes the first [F].
Seconds update(const Stage &stage)
{
    Seconds slowest;
    for (const Replica &replica : stage.replicas)
        slowest = std::max(slowest, replica.layers.front().update);
    return slowest;
}

Seconds slowestSend(const Stage &stage, LinkCurve Replica::*link, Bytes message)
{
    Seconds slowest;
    for (const Replica &replica : stage.replicas)
        slowest = std::max(slowest, transferTime(replica.*link, message));
    return slowest;
}

/// What a stage sends for one micro-batch. The release counts the last stage's gradient twice, and the first stage's
/// activations where there are more than three stages [F].
Seconds exchange(const Problem &problem, std::size_t index)
{
    const Stage &stage = problem.stages[index];
    const std::size_t stages = problem.stages.size();
    if (stages == 1)
        return {};
    const double perNumber = problem.constants.bytesPerNumber * problem.microBatch;
    const bool isFirst = index == 0, isLast = index + 1 == stages;
    const Seconds on = isLast ? Seconds {} : slowestSend(stage, &Replica::toNext, Bytes { stage.sentOn * perNumber });
    const Seconds back =
        isFirst ? Seconds {} : slowestSend(stage, &Replica::toPrevious, Bytes { stage.sentBack * perNumber });
    if (isLast)
        return back * 2;
    return isFirst && stages > 3 ? on * 2 : on + back;
}

Seconds sync(const Stage &stage, const Constants &constants)
{
    int tensor = constants.mostTensorOfSync;
    for (const Replica &replica : stage.replicas)
        tensor = std::min(tensor, replica.tensor);
    const Bytes gradients { stage.parameters * constants.bytesPerNumber / tensor };
    const int replicas = static_cast<int>(stage.replicas.size());
    Seconds slowest;
    for (std::size_t i = 0; i + 1 < stage.replicas.size(); ++i)
        slowest = std::max(slowest, allReduceTime(stage.replicas[i].toNextReplica, gradients, replicas));
    return slowest;
}

Expected<void> check(const Problem &problem)
{
    const auto fault = [](std::size_t stage, std::string what, std::string right) {
        return std::unexpected(
            Error { ErrorCode::BadValue, "stage " + std::to_string(stage + 1), std::move(what), std::move(right) });
    };
    if (problem.stages.empty() || problem.microBatch < 1 || problem.globalBatch < 1)
        return fault(0, "has no replica or nothing to compute", "stages, and batches of at least one sample");
    for (std::size_t i = 0; i < problem.stages.size(); ++i) {
        const std::vector<Replica> &replicas = problem.stages[i].replicas;
        if (replicas.empty() || replicas.size() != problem.stages.front().replicas.size())
            return fault(i, "has " + std::to_string(replicas.size()) + " replicas",
                std::to_string(problem.stages.front().replicas.size()) + ", as the first stage has");
        for (const Replica &replica : replicas) {
            if (replica.layers.empty() || replica.layers.size() != replicas.front().layers.size())
                return fault(i, "has a replica of " + std::to_string(replica.layers.size()) + " layers",
                    "as many as the first replica, at least one");
        }
    }
    return {};
}

} // namespace

Seconds transferTime(const LinkCurve &link, Bytes message)
{
    return message / bandwidth(link, message);
}

Seconds allReduceTime(const LinkCurve &link, Bytes gradients, int replicas)
{
    Seconds total;
    for (Bytes left = gradients; left.value > 0; left -= kBucket)
        total += transferTime(link, std::min(left, kBucket) / replicas) * (2.0 * (replicas - 1));
    return total;
}

Expected<Prediction> predict(const Problem &problem)
{
    if (auto sound = check(problem); !sound)
        return std::unexpected(sound.error());
    const Constants &constants = problem.constants;
    const std::size_t stages = problem.stages.size();
    Prediction prediction;
    prediction.microBatches = static_cast<int>(
        std::ceil(double(problem.globalBatch) / (problem.microBatch * double(problem.stages.front().replicas.size()))));
    Seconds sum, straggler, step;
    for (std::size_t i = 0; i < stages; ++i) {
        const Stage &stage = problem.stages[i];
        const Seconds turn = compute(stage) + exchange(problem, i);
        sum += turn;
        straggler = std::max(straggler, turn);
        step = std::max(step, update(stage));
        prediction.sync = std::max(prediction.sync, sync(stage, constants));
        for (const Replica &replica : stage.replicas) {
            const double inFlight = double(stages - i) * problem.microBatch; // 1F1B, stages from 0
            const Bytes memory = Bytes { constants.bytesPerParameter * replica.parameters
                + constants.bytesPerNumber * replica.activations * inFlight }
                + constants.loaded;
            if (memory > prediction.memory) {
                prediction.memory = memory;
                prediction.fullestStage = static_cast<int>(i);
            }
        }
    }
    prediction.pipeline = sum + straggler * (prediction.microBatches - 1) + step;
    return prediction;
}

} // namespace trainyard::sailor

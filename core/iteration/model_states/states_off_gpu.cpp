// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/model_states/states_off_gpu.h"

#include "core/facts/hardware/host_spec.h"
#include "core/facts/hardware/network_spec.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>

namespace trainyard {

namespace {

/// Moments of an m x n matrix that GaLore projects to rank r, with its projector; Adam's where r is no smaller.
double matrixMoments(double m, double n, double rank)
{
    const double low = std::min(m, n), high = std::max(m, n);
    return rank < low ? low * rank + 2 * high * rank : 2 * m * n;
}

double attentionMoments(const ModelSpec &model, double rank)
{
    const double h = model.hidden, a = model.heads;
    if (model.attention == AttentionKind::Grouped)
        return 2 * matrixMoments(h, a * model.headDim, rank)
            + 2 * matrixMoments(h, double(model.kvHeads) * model.headDim, rank);
    const LatentAttention &l = model.latent;
    const double query = a * (l.nopeDim + l.ropeDim);
    return (l.queryRank > 0 ? matrixMoments(h, l.queryRank, rank) + matrixMoments(l.queryRank, query, rank)
                            : matrixMoments(h, query, rank))
        + matrixMoments(h, l.keyValueRank + l.ropeDim, rank)
        + matrixMoments(l.keyValueRank, a * (l.nopeDim + l.valueDim), rank) + matrixMoments(h, a * l.valueDim, rank);
}

double mlpMoments(const ModelSpec &model, double width, double rank)
{
    return width > 0 ? (model.gatedFfn ? 3 : 2) * matrixMoments(model.hidden, width, rank) : 0;
}

double masterBytes(const Workload &workload)
{
    const StackSpec &stack = workload.stack;
    return weightBytes(workload.plan->workload.precision) >= 4 || stack.weightsKeptInFp32 || !stack.masterWeights ? 0
                                                                                                                  : 4;
}

} // namespace

double galoreMomentElements(const ModelSpec &model, int rank)
{
    double moments = 0, matrices = 0;
    for (int layer = 0; layer < model.layers + model.mtpLayers; ++layer) {
        const bool isExpert = layer < model.layers ? model.isExpertLayer(layer) : hasExpertPredictor(model);
        const LayerParameters p = layerParameters(model, isExpert);
        moments +=
            attentionMoments(model, rank) + mlpMoments(model, isExpert ? model.sharedExpertFfn : model.ffn, rank);
        matrices += p.attention + p.mlp;
        if (!isExpert)
            continue;
        moments += model.experts * mlpMoments(model, model.expertFfn, rank);
        matrices += p.experts;
    }
    const double all = totalParameters(model);
    return all > 0 ? std::min(2.0, (moments + 2 * (all - matrices)) / all) : 2;
}

double optimizerStateBytes(const Workload &workload)
{
    const double master = masterBytes(workload);
    switch (workload.plan->workload.optimizer) {
    case Optimizer::Adam:
        return master + 8;
    case Optimizer::Sgd:
        return master;
    case Optimizer::Lion:
        return master + 4;
    case Optimizer::Adafactor:
        return master + 0.1; // row and column factors
    case Optimizer::Adam8bit:
        return master + kMoments8Bit;
    case Optimizer::Galore:
        return master + 4 * galoreMomentElements(workload.model, workload.plan->workload.galoreRank);
    }
    return master + 8;
}

double updateTraffic(const Requested &asked)
{
    const double inPlace = asked.stack.masterWeights ? 0 : 6; // the 16-bit weight in, for a 32-bit one in and out
    switch (asked.plan->workload.optimizer) {
    case Optimizer::Sgd:
        return 14 - inPlace;
    case Optimizer::Adam8bit:
        return 18 - inPlace;
    default:
        return 30 - inPlace;
    }
}

Seconds galoreTime(const Workload &workload, const GpuSpec &gpu, double parameters)
{
    if (workload.plan->workload.optimizer != Optimizer::Galore)
        return {};
    constexpr double kRefresh = 200, kProductShare = 0.5, kDecompositionShare = 0.1;
    const double peak = gpu.peakFlops(workload.plan->workload.precision);
    const double rank = std::min(workload.plan->workload.galoreRank, workload.model.hidden);
    return Seconds { parameters * 4 * rank / (kProductShare * peak)
        + parameters * 20 * workload.model.hidden / kRefresh / (kDecompositionShare * gpu.peakFlops(Precision::Fp32)) };
}

StateRates stateRates(const Requested &asked, StageLocation location)
{
    const Pool &pool = asked.pool(location);
    const GpuSpec &gpu = asked.gpu(location);
    const HostSpec &host = builtinHost();
    const double perNode = std::max(1, pool.gpusPerNode);
    StateRates rates;
    rates.toHost = rates.toGpu = asked.hostRate(location);
    rates.cpuAdam = host.adamParametersPerSecond / perNode * 30 / updateTraffic(asked);
    rates.cpuCast = host.adamParametersPerSecond / perNode * host.castsPerAdam;
    rates.gpuAdam = gpu.memoryGBps * 1e9 * gpu.gemm.memoryFraction / updateTraffic(asked);
    if (const Ssd *drives = asked.drives(location)) {
        rates.write = gbytesPerSecond(drives->writeGBps / perNode);
        rates.read = gbytesPerSecond(drives->readGBps / perNode);
    }
    return rates;
}

StateBytes stateBytes(const Workload &workload)
{
    StateBytes bytes;
    bytes.weight = weightBytes(workload.plan->workload.precision);
    bytes.gradient = gradientsLeave(workload) ? 0 : std::min(bytes.weight, workload.stack.gradientBytes);
    bytes.states = optimizerStateBytes(workload);
    bytes.storedGradient = gradientsLeave(workload) ? 4 : 0;
    return bytes;
}

bool gradientsLeave(const Workload &workload)
{
    return workload.plan->memory.optimizerOffload != OptimizerOffload::None
        && shardExchange(*workload.plan, workload.stack) == ShardExchange::InLayers;
}

OffloadedStep offloadedStep(const Workload &workload, StageLocation location, double parameters)
{
    const StateRates rates = stateRates(workload, location);
    const StateBytes bytes = stateBytes(workload);
    const StepGroups groups { parameters, builtinHost().subGroupParameters, true,
        builtinHost().interleavedCopiesTakeTurns };
    const bool hasDrives = rates.write.value > 0 && rates.read.value > 0; // without, a problem says so
    switch (workload.plan->memory.optimizerOffload) {
    case OptimizerOffload::None:
        break;
    case OptimizerOffload::Host:
        return hostStep(groups, bytes, rates);
    case OptimizerOffload::Interleaved: {
        const OffloadedStep mixed = interleavedStep(groups, bytes, rates), host = hostStep(groups, bytes, rates);
        return mixed.time <= host.time ? mixed : host;
    }
    case OptimizerOffload::Ssd:
        return hasDrives ? driveStep(groups, bytes, rates) : hostStep(groups, bytes, rates);
    }
    return {};
}

Seconds lateGradientWrites(const Workload &workload, StageLocation location, double parameters, Seconds backward)
{
    const StateRates rates = stateRates(workload, location);
    if (workload.plan->memory.optimizerOffload != OptimizerOffload::Ssd || rates.write.value <= 0)
        return {};
    const StepGroups groups { parameters, builtinHost().subGroupParameters };
    return std::max(Seconds {}, gradientWrites(groups, stateBytes(workload), rates) - backward);
}

Seconds weightsHome(const Workload &workload, StageLocation location, double parameters)
{
    const MemoryStrategy &memory = workload.plan->memory;
    if (memory.parameterOffload == ParameterOffload::None || memory.optimizerOffload != OptimizerOffload::None)
        return {};
    const StateRates rates = stateRates(workload, location);
    BytesPerSecond rate = rates.toHost;
    if (memory.parameterOffload == ParameterOffload::Ssd && rates.write.value > 0)
        rate = std::min(rate, rates.write);
    return Bytes { weightBytes(workload.plan->workload.precision) * parameters } / rate;
}

LayerMoves layerMoves(const Workload &workload, const StateRates &rates, double weights, double gradients)
{
    LayerMoves moves;
    const MemoryStrategy &memory = workload.plan->memory;
    const double weight = weightBytes(workload.plan->workload.precision);
    const auto over = [](double bytes, BytesPerSecond rate) { return bytes > 0 ? Bytes { bytes } / rate : Seconds {}; };
    if (memory.parameterOffload != ParameterOffload::None) {
        moves.fetch = over(weight * weights, rates.toGpu);
        if (memory.parameterOffload == ParameterOffload::Ssd && rates.read.value > 0)
            moves.fetch = std::max(moves.fetch, over(weight * weights, rates.read));
    }
    if (gradientsLeave(workload)) {
        moves.leave = over(weight * gradients, rates.toHost);
    }
    return moves;
}

} // namespace trainyard

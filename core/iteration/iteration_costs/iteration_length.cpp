// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/iteration_costs/iteration_length.h"

#include "core/iteration/placement/measured_pairs.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

std::string linkKey(int link, const char *key)
{
    return "cluster.wan_links[" + std::to_string(link) + "]." + key;
}

double ticksOf(Seconds time)
{
    return double(toNanoseconds(time));
}

} // namespace

/// `where` gives the key; it is asked for the longest part so far alone.
template <class Where> void IterationLength::add(double ticks, Where where, const char *right)
{
    m_ticks += ticks;
    if (ticks <= m_longest)
        return;
    m_longest = ticks;
    m_where = where();
    m_right = right;
}

/// The measured time that is longest, or what the model's times depend on most.
std::string IterationLength::operationKey(const OpTimes &op) const
{
    const StageSource::Keys &keys = m_work.source.keys;
    const std::array<std::pair<Nanoseconds, const char *>, 4> parts { { { op.forward, keys.forward },
        { op.inputGrad - op.recompute, keys.backward }, { op.recompute, keys.recompute },
        { op.weightGrad, keys.weightGrad } } };
    return std::ranges::max_element(parts)->second;
}

/// What one connection has under way where that is less than the node pair, or what is sent where it is more than any
/// link is for.
std::string IterationLength::transferKey(const BoundaryTimes &boundary) const
{
    constexpr double kPetabyte = 1e15;
    if (m_work.source.keys.activation && std::max(boundary.bytes[0], boundary.bytes[1]) > kPetabyte)
        return boundary.bytes[0] > kPetabyte ? m_work.source.keys.activation : m_work.source.keys.gradient;
    const Transport &pair = m_work.transports[std::size_t(boundary.wanLink)];
    return linkKey(boundary.wanLink,
        pair.rate.value < 0.4 * gbitsPerSecond(pair.capGbps).value ? "tcp_window_mb" : "node_pair_gbps");
}

std::string IterationLength::reductionKey() const
{
    if (m_work.source.parameters.value > 1e15) // a petabyte: more than any link is for
        return m_work.source.keys.parameters;
    const auto &classes = m_work.layout.classes;
    const int home = classes.front().locations.front().datacenter;
    for (const PipelineClass &pipelines : classes) {
        for (const StageLocation location : pipelines.locations) {
            if (const int link = m_work.links.between(home, location.datacenter);
                location.datacenter != home && link >= 0)
                return linkKey(link, "node_pair_gbps");
        }
    }
    return m_work.source.keys.parameters ? m_work.source.keys.parameters
                                         : "cluster.datacenters[" + std::to_string(home) + "].fabric_gbps_per_gpu";
}

void IterationLength::addPipelines(const PipelineCosts &pipelines, const PipelineClass &locations)
{
    const double microBatches = locations.microBatches;
    for (const OpTimes &op : pipelines.ops)
        add((double(op.forward) + double(op.backward) + double(op.recompute)) * microBatches,
            [&] { return operationKey(op); }, "shorter operations");
    if (hasMeasuredPairs(*m_work.plan) && !pipelines.pairs.empty()) // modelled ones take no longer than their parts
        add(
            double(*std::ranges::max_element(pipelines.pairs)) * microBatches, [&] { return "profile.paired_ms"; },
            "shorter operations");
    for (const BoundaryTimes &boundary : pipelines.boundaries) {
        double serialization = 0, latency = 0;
        for (int way = 0; way < 2; ++way) {
            serialization +=
                double(boundary.serialization[way]) + double(boundary.scatter[way]) + double(boundary.gather[way]);
            latency += double(boundary.latency[way]);
        }
        if (!boundary.isWan) {
            add(
                serialization * microBatches,
                [&] {
                    return "cluster.datacenters[" + std::to_string(locations.locations.front().datacenter)
                        + "].fabric_gbps_per_gpu";
                },
                "a faster fabric");
            continue;
        }
        add(
            serialization * microBatches, [&] { return transferKey(boundary); }, "a faster link, or less to send");
        add(
            latency * microBatches, [&] { return linkKey(boundary.wanLink, "rtt_ms"); }, "a shorter round trip");
    }
    for (const SyncAndStepTimes &syncAndStep : pipelines.syncAndStep) {
        add(
            double(syncAndStep.reduce) + double(syncAndStep.gather), [&] { return reductionKey(); },
            "a faster link, or less to reduce");
        add(
            double(syncAndStep.optimizer),
            [&] {
                return m_work.plan->memory.optimizerOffload == OptimizerOffload::None ? "workload.model"
                                                                                      : "memory.optimizer_offload";
            },
            "a shorter optimizer step");
    }
}

void IterationLength::addLinks(const std::vector<WanLinkUse> &links)
{
    for (const WanLinkUse &use : links) {
        const double capacity = gbitsPerSecond(m_work.plan->cluster.wanLinks[std::size_t(use.link)].capacityGbps).value;
        for (const double bytes : use.bytes)
            if (bytes > 0)
                add(
                    ticksOf(Seconds { bytes / capacity }), [&] { return linkKey(use.link, "capacity_gbps"); },
                    "a link of more capacity, or less to send");
    }
}

void IterationLength::addMoves(const IterationCosts &costs)
{
    std::vector<double> asked(costs.linkCapacity.size());
    for (const PipelineCosts &pipelines : costs.classes)
        for (const OffloadPath &path : pipelines.offload.paths) {
            for (const std::uint32_t link : path.storeLinks)
                asked[link] += path.weight * path.storeCap;
            for (const std::uint32_t link : path.loadLinks)
                asked[link] += path.weight * path.loadCap;
        }
    const auto slowdown = [&](const std::vector<std::uint32_t> &links) {
        double most = 1;
        for (const std::uint32_t link : links)
            most = std::max(most, asked[link] / costs.linkCapacity[link]);
        return most;
    };
    for (const PipelineCosts &pipelines : costs.classes) {
        const std::size_t chunks = std::size_t(pipelines.program.shape.chunks);
        for (std::size_t i = 0; i < pipelines.offload.ops.size(); ++i) {
            const OffloadPath &path = pipelines.offload.paths[i / chunks];
            double store = 0, load = 0, recompute = 0;
            for (const OffloadSegment &segment : pipelines.offload.ops[i]) {
                store += double(segment.store);
                load += double(segment.load);
                recompute += double(segment.recompute);
            }
            add((store * slowdown(path.storeLinks) + load * slowdown(path.loadLinks) + recompute)
                    * pipelines.program.shape.microBatches,
                [&] { return "memory.activation_offload"; }, "faster drives or host memory, or none");
        }
        for (const StepRows &step : pipelines.states.steps)
            for (const StepRow &row : step.rows)
                for (const StepTask &task : row.tasks)
                    add(
                        double(task.duration) + double(std::max<Nanoseconds>(0, task.lag)),
                        [&] { return "memory.optimizer_offload"; }, "faster drives or host memory, or none");
    }
}

void IterationLength::addRest(const Costs &costs)
{
    add(
        ticksOf(costs.hiddenExchange), [&] { return reductionKey(); }, "a faster link, or less to exchange");
    add(
        double(costs.iteration.overhead), [&] { return "stack"; }, "a shorter iteration_overhead_ms");
}

Expected<void> IterationLength::check() const
{
    if (m_ticks < double(kLongestTime))
        return {};
    return std::unexpected(Error { ErrorCode::OutOfRange, m_where,
        "makes the iteration last more than " + std::to_string(kLongestTime / 31'557'600'000'000'000)
            + " years, which no timeline holds",
        m_right });
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/layers_by_speed.h"

#include "core/engine/schedule/traits.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/memory/bounded_memory.h"
#include "core/iteration/placement/class_workload.h"
#include "core/iteration/placement/place.h"
#include "core/iteration/placement/ranks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace trainyard {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int kMostLayers = 2000; // beyond which looking at every cut takes seconds

/// Least cost of cutting the first so many layers into the first so many stages, where a whole costs what `join` makes
/// of a part and one more stage.
template <class Join>
std::vector<int> cheapestCut(int stages, int layers, int least, const SecondsOfCut &cost, Join join)
{
    const auto width = std::size_t(layers) + 1;
    std::vector<double> before(width, kNever), now(width);
    std::vector<std::vector<int>> took(std::size_t(stages), std::vector<int>(width, 0));
    before[0] = 0;
    for (int stage = 0; stage < stages; ++stage) {
        std::ranges::fill(now, kNever);
        for (int first = 0; first <= layers; ++first) {
            if (before[std::size_t(first)] == kNever)
                continue;
            for (int count = least; first + count <= layers; ++count) {
                const double whole = join(before[std::size_t(first)], cost(stage, first, count));
                if (whole < now[std::size_t(first + count)]) {
                    now[std::size_t(first + count)] = whole;
                    took[std::size_t(stage)][std::size_t(first + count)] = count;
                }
            }
        }
        std::swap(before, now);
    }
    std::vector<int> counts;
    if (before[std::size_t(layers)] == kNever)
        return counts;
    for (int stage = stages - 1, end = layers; stage >= 0; --stage) {
        counts.push_back(took[std::size_t(stage)][std::size_t(end)]);
        end -= counts.back();
    }
    std::ranges::reverse(counts);
    return counts;
}

double longestOf(const std::vector<int> &counts, const SecondsOfCut &seconds)
{
    double longest = 0;
    int first = 0;
    for (std::size_t stage = 0; stage < counts.size(); ++stage) {
        longest = std::max(longest, seconds(int(stage), first, counts[stage]));
        first += counts[stage];
    }
    return longest;
}

} // namespace

std::vector<int> cutLayers(int stages, int layers, int least, const SecondsOfCut &seconds)
{
    const auto longer = [](double a, double b) { return std::max(a, b); };
    const std::vector<int> shortest = cheapestCut(stages, layers, least, seconds, longer);
    if (shortest.empty())
        return shortest;
    const double longest = longestOf(shortest, seconds), bound = longest * (1 + 1e-12);
    constexpr double kMuchLess = 1e-6; // squares decide where sums are equal but for rounding
    const SecondsOfCut within = [&](int stage, int first, int count) {
        const double time = seconds(stage, first, count);
        return time > bound ? kNever : time + kMuchLess * time * time / std::max(longest, 1e-300);
    };
    return cheapestCut(stages, layers, least, within, std::plus {});
}

namespace {

double secondsOf(const ChunkCost &cost)
{
    return (cost.forward + cost.recompute + cost.inputGrad + cost.weightGrad).total().value;
}

/// Times and memory of stages by their layers.
class Stages {
public:
    explicit Stages(const Workload &workload)
        : m_work(workload)
        , m_coster(workload)
        , m_isInOrder(workload.degrees.chunks == 1)
    {
        m_experts.push_back(0);
        for (int layer = 0; layer < workload.model.layers; ++layer)
            m_experts.push_back(m_experts.back() + workload.model.isExpertLayer(layer));
        for (int stage = 0; stage < workload.degrees.pipeline; ++stage)
            m_kinds.push_back(kindsOf(stage));
    }

    /// Whether seconds() would be the same for these layers of the stages if it minded memory.
    [[nodiscard]] bool fit(const std::vector<int> &counts) const
    {
        if (!m_work.source.hasMemory)
            return true;
        if (traitsOf(*m_work.plan).room != RoomUse::None) // what is in flight goes by what all stages have
            return false;
        const int chunks = m_work.degrees.chunks, most = m_work.model.layers / chunks;
        Workload scratch = m_work;
        for (std::size_t stage = 0; stage < counts.size(); ++stage)
            setLayers(scratch.layout.chunks[stage], std::min(most, (counts[stage] + chunks - 1) / chunks));
        return std::ranges::all_of(m_work.layout.classes, [&](const PipelineClass &pipelines) {
            return std::ranges::all_of(boundedMemory(scratch, pipelines), &StageMemory::fits);
        });
    }

    /// From here on seconds() minds memory where it is asked to.
    void addMemory()
    {
        if (!m_work.source.hasMemory)
            return;
        m_mostLayers.assign(std::size_t(m_work.degrees.pipeline), m_work.model.layers);
        for (const PipelineClass &pipelines : m_work.layout.classes)
            limitLayers(pipelines);
    }

    [[nodiscard]] double seconds(int stage, int first, int layers, bool mindsMemory) const
    {
        const auto at = std::size_t(stage);
        if (mindsMemory && at < m_mostLayers.size() && layers > m_mostLayers[at])
            return kNever;
        const double experts = m_isInOrder ? m_experts[std::size_t(first + layers)] - m_experts[std::size_t(first)]
                                           : layers * m_experts.back() / m_work.model.layers;
        double slowest = 0;
        for (const Kind &kind : m_kinds[at])
            slowest = std::max(slowest, kind.ends + (layers - experts) * kind.dense + experts * kind.expert);
        return slowest;
    }

private:
    /// Equal replicas of a stage: seconds of embedding and head where it has them, and of a layer.
    struct Kind {
        double ends = 0, dense = 0, expert = 0;
    };

    std::vector<Kind> kindsOf(int stage)
    {
        bool hasEmbedding = false, hasHead = false;
        for (const StageChunk &chunk : m_work.layout.chunks[std::size_t(stage)]) {
            hasEmbedding |= chunk.hasEmbedding;
            hasHead |= chunk.hasHead;
        }
        std::vector<Kind> kinds;
        for (const PipelineClass *pipelines : unlikeClasses(m_work, stage)) {
            const StageCoster::Layers parts = m_coster.layers(*pipelines, stage);
            kinds.push_back({ (hasEmbedding ? secondsOf(parts.embedding) : 0) + (hasHead ? secondsOf(parts.head) : 0),
                secondsOf(parts.dense), m_work.model.isMoe() ? secondsOf(parts.expert) : 0 });
        }
        return kinds;
    }

    /// The most layers that fit on each stage, found by halving, in chunks of as many.
    void limitLayers(const PipelineClass &pipelines)
    {
        const int chunks = m_work.degrees.chunks, layers = m_work.model.layers;
        std::map<int, std::vector<bool>> known; // [layers of a chunk][stage]
        for (std::size_t stage = 0; stage < m_mostLayers.size(); ++stage) {
            int fits = 0, fails = layers / chunks + 1;
            while (fails - fits > 1) {
                const int middle = (fits + fails) / 2;
                std::vector<bool> &fit = known[middle];
                if (fit.empty())
                    fit = fitsWith(middle, pipelines);
                (fit[stage] ? fits : fails) = middle;
            }
            if (fits < layers / chunks)
                m_mostLayers[stage] = std::min(m_mostLayers[stage], fits * chunks);
        }
    }

    /// Of each stage.
    [[nodiscard]] std::vector<bool> fitsWith(int layersOfChunk, const PipelineClass &pipelines) const
    {
        Workload scratch = m_work;
        for (auto &chunks : scratch.layout.chunks)
            setLayers(chunks, layersOfChunk);
        std::vector<bool> fits;
        for (const StageMemory &memory : boundedMemory(scratch, pipelines))
            fits.push_back(memory.fits());
        return fits;
    }

    /// All of the fullest kind.
    void setLayers(std::vector<StageChunk> &chunks, int layers) const
    {
        for (StageChunk &chunk : chunks) {
            chunk.layers = layers;
            chunk.expertLayers = m_experts.back() > 0 ? layers : 0;
        }
    }

    const Workload &m_work;
    StageCoster m_coster;
    bool m_isInOrder;
    std::vector<double> m_experts; // of the first so many layers
    std::vector<std::vector<Kind>> m_kinds; // [stage]
    std::vector<int> m_mostLayers; // [stage]; empty where memory is not known
};

} // namespace

double busiestStage(const Workload &workload)
{
    double busiest = 0;
    ClassWorkloads views(workload);
    for (const PipelineClass &pipelines : workload.layout.classes) {
        StageCoster own(views.of(pipelines));
        for (int stage = 0; stage < workload.degrees.pipeline; ++stage) {
            if (isLikeStageBefore(workload, stage))
                continue;
            double computing = 0;
            for (const ChunkCost &chunk : own.wholeStage(pipelines, stage).chunks)
                computing += chunk.computing().value;
            busiest = std::max(busiest, computing * pipelines.microBatches);
        }
    }
    return busiest;
}

void dealLayers(Workload &workload)
{
    const Plan &plan = *workload.plan;
    const int stages = workload.degrees.pipeline, chunks = workload.degrees.chunks, layers = workload.model.layers;
    if (plan.heterogeneity.layers != LayerSharing::BySpeed || !plan.placement.layers.empty() || stages < 2
        || !workload.source.hasLayers || workload.degrees.copies > 1 || layers < stages * chunks
        || layers > kMostLayers)
        return;
    Stages of(workload);
    const auto cut = [&](bool mindsMemory) {
        return cutLayers(stages, layers, chunks,
            [&](int stage, int first, int count) { return of.seconds(stage, first, count, mindsMemory); });
    };
    // What fits is the best of all that fits, as it is the best of all. Where nothing fits, the memory's own problem
    // says so.
    std::vector<int> counts = cut(false);
    if (!counts.empty() && !of.fit(counts)) {
        of.addMemory();
        if (const std::vector<int> within = cut(true); !within.empty())
            counts = within;
    }
    if (!counts.empty())
        workload.layout.chunks = splitLayers(workload.model, stages, chunks, traitsOf(plan).placement, counts);
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/rivals/shared_rules_internal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace trainyard::rivals {

namespace {

constexpr int kGpusOfPipeline = 5; // there are no more pipelines than GPUs / 5 [F]
constexpr double kStateCopies = 4; // of the weights, in their own format [F]

double layerSeconds(const PlannerInput &input, const Replicas &replicas, int microBatch)
{
    const double b = microBatch, s = input.sequence, h = input.hidden, t = replicas.tensor;
    const Kind &kind = input.kindOf(replicas.site);
    const double compute =
        72 * b * s * h * h * (1 + s / (6 * h) + input.vocabulary / (16 * input.layers * h)) / (kind.flops * t);
    return compute + (t > 1 ? 8 * b * s * h * input.bytesPerNumber * (t - 1) / (t * kind.inside) : 0);
}

/// To the nearest GPU of the next stage, and from there to the others of its tensor group.
double boundarySeconds(const PlannerInput &input, const Replicas &from, const Replicas &to, int microBatch)
{
    const double bytes = microBatch * input.boundaryNumbers * input.bytesPerNumber;
    return 2
        * (bytes / input.rate(from.site, to.site, bytes)
            + (to.tensor - 1) * bytes / (to.tensor * input.kindOf(to.site).inside));
}

/// Columns of GPipe: in each the stages that have a micro-batch, and the longest of them.
double gpipeSeconds(const std::vector<double> &stages, int microBatches)
{
    const int p = int(stages.size()), columns = microBatches + p - 1;
    const auto longest = [&](int first, int last) {
        return *std::max_element(stages.begin() + first, stages.begin() + last + 1);
    };
    double sum = 0;
    for (int c = 0; c < std::min(columns, p - 1); ++c) // filling
        sum += longest(std::max(0, c - microBatches + 1), c);
    if (columns > p - 1)
        for (int c = std::max(p - 1, microBatches); c < columns; ++c) // draining
            sum += longest(c - microBatches + 1, p - 1);
    const int full = std::max(0, microBatches - (p - 1));
    return sum + (full > 0 ? full * longest(0, p - 1) : 0);
}

bool fits(const PlannerInput &input, const Replicas &replicas, int layers, int microBatch, bool isFirst, bool isLast)
{
    const double h = input.hidden, t = replicas.tensor, samples = microBatch * input.sequence * h;
    const double states = (layers * 12 * h * h / t + (isLast ? h + input.vocabulary * h : 0)
                              + (isFirst ? h * (input.vocabulary + input.sequence) : 0))
        * input.bytesPerNumber * kStateCopies;
    return states + (layers * samples / t + 2 * samples) * input.bytesPerNumber <= input.kindOf(replicas.site).memory;
}

/// In proportion to the memory of the stages of a pipeline: one after the other takes a layer until it has its part;
/// what is left goes to the largest.
std::vector<int> layersByMemory(const std::vector<double> &memories, int layers)
{
    const int stages = int(memories.size());
    const double sum = std::accumulate(memories.begin(), memories.end(), 0.0);
    std::vector<int> quota(memories.size()), bySize(memories.size());
    std::iota(bySize.begin(), bySize.end(), 0);
    std::ranges::stable_sort(bySize, std::greater {}, [&](int i) { return memories[std::size_t(i)]; });
    int left = layers;
    for (bool isFull = false; left > 0 && !isFull;) {
        isFull = true;
        for (int i = 0; i < stages && left > 0; ++i) {
            if (double(quota[std::size_t(i)] + 1) / layers > memories[std::size_t(i)] / sum + 1e-12)
                continue;
            ++quota[std::size_t(i)];
            --left;
            isFull = false;
        }
    }
    for (int i = 0; left > 0; ++i, --left)
        ++quota[std::size_t(bySize[std::size_t(i % stages)])];
    return quota;
}

/// Each pipeline's stages one after the other, where each replica of a stage belongs to the pipeline of its rank.
struct Pipeline {
    std::vector<Replicas> stages;
    int count = 0; // of such pipelines
};

std::vector<Pipeline> pipelinesOf(const Choice &choice)
{
    std::vector<int> ends { 0 };
    for (const ChosenStage &stage : choice.stages) {
        int end = 0;
        for (const Replicas &replicas : stage.replicas)
            ends.push_back(end += replicas.count);
    }
    std::ranges::sort(ends);
    ends.erase(std::ranges::unique(ends).begin(), ends.end());
    std::vector<Pipeline> pipelines;
    for (std::size_t e = 0; e + 1 < ends.size(); ++e) {
        Pipeline &pipeline = pipelines.emplace_back();
        pipeline.count = ends[e + 1] - ends[e];
        for (const ChosenStage &stage : choice.stages) {
            int end = 0;
            for (const Replicas &replicas : stage.replicas) {
                end += replicas.count;
                if (ends[e] < end) {
                    pipeline.stages.push_back(replicas);
                    break;
                }
            }
        }
    }
    return pipelines;
}

double reductionSeconds(const Choice &choice, const PlannerInput &input)
{
    if (choice.data < 2)
        return 0;
    double sum = 0;
    for (const ChosenStage &stage : choice.stages) {
        int least = std::numeric_limits<int>::max();
        const double layer = 12 * input.hidden * input.hidden * input.bytesPerNumber;
        double slowest = std::numeric_limits<double>::infinity();
        for (const Replicas &a : stage.replicas) {
            least = std::min(least, a.tensor);
            for (const Replicas &b : stage.replicas)
                slowest = std::min(slowest, input.rate(a.site, b.site, layer));
        }
        sum += stage.layers * 2 * (choice.data - 1) * layer / (double(least) * choice.data * slowest);
    }
    return sum;
}

/// Pipelines of `stages` stages that lie whole in each site, with tensor groups by kind.
std::vector<ChosenStage> wholePipelines(const PlannerInput &input, int stages, const std::vector<int> &tensorOfKind)
{
    ChosenStage stage;
    for (std::size_t s = 0; s < input.sites.size(); ++s) {
        const int tensor = tensorOfKind[std::size_t(input.sites[s].kind)], perNode = input.kindOf(int(s)).gpusPerNode;
        if (tensor > perNode)
            return {};
        if (const int count = input.sites[s].gpus / perNode * (perNode / tensor) / stages; count > 0)
            stage.replicas.push_back({ int(s), tensor, count });
    }
    return stage.replicas.empty() ? std::vector<ChosenStage> {}
                                  : std::vector<ChosenStage>(static_cast<std::size_t>(stages), stage);
}

class Search {
public:
    Search(const PlannerInput &input, const std::stop_token &stop)
        : m_input(input)
        , m_stop(stop)
    {
    }

    Ranking run()
    {
        m_ranking.rule = "pipelines by peak FLOP/s, layers by memory, micro-batches of 1";
        const int most = std::max(1, m_input.gpus() / kGpusOfPipeline);
        for (int stages = 1; stages <= m_input.layers && !m_stop.stop_requested(); ++stages) {
            std::vector<int> tensors(m_input.kinds.size(), 0);
            addByKind(stages, tensors, 0, most);
            std::vector<int> sites(m_input.sites.size());
            std::iota(sites.begin(), sites.end(), 0);
            for (const int tensor : m_input.tensors)
                if (const int data = groups(tensor) / stages; data >= 1 && data <= most && m_input.sites.size() > 1)
                    add(fillInOrder(m_input, sites, stages, data, tensor), data);
        }
        keepBest(m_ranking.choices, [](const Choice &choice) { return choice.seconds; });
        return std::move(m_ranking);
    }

private:
    void addByKind(int stages, std::vector<int> &tensors, std::size_t kind, int most)
    {
        if (kind < tensors.size()) {
            for (const int tensor : m_input.tensors) {
                tensors[kind] = tensor;
                addByKind(stages, tensors, kind + 1, most);
            }
            return;
        }
        std::vector<ChosenStage> chosen = wholePipelines(m_input, stages, tensors);
        int data = 0;
        if (!chosen.empty())
            for (const Replicas &replicas : chosen.front().replicas)
                data += replicas.count;
        if (data >= 1 && data <= most)
            add(std::move(chosen), data);
    }

    [[nodiscard]] int groups(int tensor) const
    {
        int sum = 0;
        for (std::size_t s = 0; s < m_input.sites.size(); ++s) {
            const int perNode = m_input.kindOf(int(s)).gpusPerNode;
            sum += m_input.sites[s].gpus / perNode * (perNode / tensor);
        }
        return sum;
    }

    void add(std::vector<ChosenStage> stages, int data)
    {
        ++m_ranking.looked;
        if (stages.empty() || m_input.batch < data)
            return;
        Choice choice { 1, data, false, std::move(stages) };
        std::vector<double> memories;
        for (const ChosenStage &stage : choice.stages) {
            double least = std::numeric_limits<double>::infinity();
            for (const Replicas &replicas : stage.replicas)
                least = std::min(least, m_input.kindOf(replicas.site).memory * replicas.tensor);
            memories.push_back(least);
        }
        const std::vector<int> layers = layersByMemory(memories, m_input.layers);
        for (std::size_t i = 0; i < layers.size(); ++i) {
            choice.stages[i].layers = layers[i];
            for (const Replicas &replicas : choice.stages[i].replicas)
                if (layers[i] < 1 || !fits(m_input, replicas, layers[i], 1, i == 0, i + 1 == layers.size()))
                    return;
        }
        choice.seconds = flashFlexSeconds(choice, m_input);
        if (std::isfinite(choice.seconds))
            m_ranking.choices.push_back(std::move(choice));
    }

    const PlannerInput &m_input;
    const std::stop_token &m_stop;
    Ranking m_ranking;
};

} // namespace

double flashFlexSeconds(const Choice &choice, const PlannerInput &input)
{
    const int microBatches = microBatchesOf(input, choice.data, choice.microBatch);
    double longest = 0;
    for (const Pipeline &pipeline : pipelinesOf(choice)) {
        std::vector<double> times;
        for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
            const bool isLast = i + 1 == pipeline.stages.size();
            times.push_back(choice.stages[i].layers * layerSeconds(input, pipeline.stages[i], choice.microBatch)
                + (isLast ? 0 : boundarySeconds(input, pipeline.stages[i], pipeline.stages[i + 1], choice.microBatch)));
        }
        longest = std::max(longest, gpipeSeconds(times, microBatches));
    }
    return longest + reductionSeconds(choice, input);
}

Ranking byFlashFlex(const PlannerInput &input, const std::stop_token &stop)
{
    return Search(input, stop).run();
}

} // namespace trainyard::rivals

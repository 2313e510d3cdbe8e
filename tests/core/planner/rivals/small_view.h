#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Views small enough to try everything on: kinds of GPUs with layer times that are stated, in one datacenter.

#include "core/planner/rivals/planners.h"

#include <QString>

namespace trainyard::test {

using namespace rivals;

struct SmallKind {
    double layer = 1; // seconds of one sample on one GPU; tensor groups divide it, micro-batches multiply it
    int machines = 1;
    double memory = 1e12;
    double usdPerSecond = 1;
};

/// Machines of `perNode` GPUs; each boundary and gradient at `rate` bytes a second.
inline PlannerInput smallView(
    const std::vector<SmallKind> &kinds, int layers, int batch, int perNode = 2, double rate = 1e12)
{
    PlannerInput input;
    input.layers = layers;
    input.batch = batch;
    input.layerParameters = 1e6;
    input.embeddingParameters = input.headParameters = 2e6;
    input.boundaryNumbers = 1e6;
    input.hidden = 1000;
    input.sequence = 1000;
    input.vocabulary = 2000;
    for (int t = 1; t <= perNode; t *= 2)
        input.tensors.push_back(t);
    input.microBatches = { 1, 2, 4 };
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        Kind kind { "kind" + std::to_string(k), perNode, kinds[k].memory, 1e12, 1e12, kinds[k].usdPerSecond, {} };
        for (const int t : input.tensors) {
            auto &row = kind.figures.emplace_back();
            for (const int m : input.microBatches) {
                const double time = kinds[k].layer * m / t;
                row.push_back({ time, time / 4, time / 2, 1e6 * m / t });
            }
        }
        input.kinds.push_back(std::move(kind));
        input.sites.push_back({ 0, int(k), int(k), kinds[k].machines * perNode, 0 });
    }
    input.links.assign(kinds.size(), std::vector<LinkCurve>(kinds.size(), { 0, 0, rate / 1e9 }));
    input.usdPerByte.assign(kinds.size(), std::vector<double>(kinds.size()));
    return input;
}

/// Every way of giving each of so many stages a layer at least.
inline std::vector<std::vector<int>> allCuts(int stages, int layers)
{
    if (stages == 1)
        return { { layers } };
    std::vector<std::vector<int>> cuts;
    for (int first = 1; first <= layers - stages + 1; ++first)
        for (std::vector<int> rest : allCuts(stages - 1, layers - first)) {
            rest.insert(rest.begin(), first);
            cuts.push_back(std::move(rest));
        }
    return cuts;
}

/// The same replicas of one site and degree on each stage.
inline Choice uniform(int site, int tensor, int data, int microBatch, const std::vector<int> &layers)
{
    Choice choice { microBatch, data };
    for (const int count : layers)
        choice.stages.push_back({ count, { { site, tensor, data } } });
    return choice;
}

inline bool isNear(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

} // namespace trainyard::test

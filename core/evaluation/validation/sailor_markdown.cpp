// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/markdown_text.h"
#include "core/base/number_text.h"
#include "core/evaluation/validation/sailor_points.h"
#include "core/evaluation/validation/validation_report.h"

#include <cmath>

namespace trainyard {

namespace {

/// "4 stages of 7, 9, 9, 9 layers, 8 replicas of GH-96 in tensor groups of 4, 1024 samples, 4 a micro-batch".
std::string planText(const SailorPoint &point)
{
    std::string layers;
    int replicas = 0;
    for (const SailorPoint::Replicas &equal : point.stages.front().replicas)
        replicas += equal.count;
    for (const SailorPoint::Stage &stage : point.stages)
        layers += (layers.empty() ? "" : ", ") + std::to_string(stage.layers);
    return std::to_string(point.stages.size()) + ", " + std::to_string(replicas) + ", "
        + std::to_string(point.microBatch) + ", " + std::to_string(point.globalBatch) + " (" + layers + ")";
}

std::string meansLine(const char *title, const SailorErrors &means)
{
    const auto share = [&](double mean, int n) { return n > 0 ? percentText(mean) : std::string("\u2013"); };
    return std::string("| ") + title + ", " + std::to_string(means.n) + " points | | | | "
        + share(means.formTime, means.n) + " | " + share(means.ourTime, means.ours) + " | | "
        + share(means.formMemory, means.n) + " | " + share(means.ourMemory, means.ours) + " |\n";
}

} // namespace

std::string sailorMarkdown(const std::vector<SailorComparison> &points)
{
    std::string text =
        "\n### Sailor's closed form beside ours\n\nThe same runs by Sailor's simulator's formula with its "
        "own layer tables, memory and links ([model.md](model.md#sailors-closed-form)), and by our cost "
        "model, which knows none of them. Errors are predicted / measured \u2212 1; the last lines are "
        "means of their size.\n\n"
        "| point | P, D, micro-batch, batch (layers) | measured | Sailor | error | ours | memory | "
        "Sailor, error | ours |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n";
    for (const SailorComparison &compared : points) {
        const SailorPoint &point = *compared.point;
        text += "| " + markup::markdownText(point.id) + (point.unsound.empty() ? "" : " (not counted)") + " | "
            + planText(point) + " | " + secondsText(point.iterationSeconds) + " | "
            + secondsText(compared.form.iteration().value) + " | " + errorText(compared.formTime) + " | "
            + errorText(compared.ourTime) + " | " + bytesText(point.peakBytes) + " | " + errorText(compared.formMemory)
            + " | " + errorText(compared.ourMemory) + " |\n";
    }
    return text + meansLine("GH200", sailorErrors(points, false))
        + meansLine("Titan RTX, RTX 2080 and 3090", sailorErrors(points, true));
}

} // namespace trainyard

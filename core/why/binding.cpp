// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/why/binding_internal.h"

#include <algorithm>

namespace trainyard::detail {

namespace {

constexpr double kBinds = 0.005; // of the value, for a step of a resource: what is less does not hold a plan back
constexpr double kManyBubbles = 0.1; // of the iteration

const char *kindText(ResourceKind kind)
{
    switch (kind) {
    case ResourceKind::LinkBandwidth:
    case ResourceKind::NodePair:
        return "A link binds";
    case ResourceKind::RoundTrip:
        return "A round trip binds";
    case ResourceKind::Nic:
        return "NICs bind";
    case ResourceKind::NvLink:
        return "The way between the GPUs of a node binds";
    case ResourceKind::HbmSpeed:
        return "The speed of HBM binds";
    case ResourceKind::DriveSpeed:
        return "Drives bind";
    case ResourceKind::HostLink:
        return "The way to host memory binds";
    case ResourceKind::PeakFlops:
        return "Compute binds";
    case ResourceKind::HbmSize:
    case ResourceKind::Node:
    case ResourceKind::NextGpu:
    case ResourceKind::Budget:
        break;
    }
    return nullptr;
}

std::string memorySentence(const Evaluation &now, const std::vector<RoomSought> &sought)
{
    const auto &memory = now.metrics.memory;
    if (!memory || memory->perStage.empty())
        return {};
    const StageMemory &fullest = memory->perStage[std::size_t(memory->fullestStage)];
    if (fullest.capacity <= 0)
        return {};
    const std::string stage = "stage " + std::to_string(fullest.stage + 1);
    if (!fullest.fits()) {
        std::string text = "Memory binds: " + stage + " needs " + bytesText(double(fullest.device)) + " of "
            + bytesText(double(fullest.capacity)) + " per GPU";
        const auto helps = std::ranges::find(sought, true, &RoomSought::fits);
        return text
            + (helps == sought.end() ? std::string()
                                     : "; with " + plainText(helps->gib) + " GiB more per " + helps->type + " it fits");
    }
    const std::string full = stage + " is " + percentText(double(fullest.device) / double(fullest.capacity)) + " full";
    for (const RoomSought &room : sought)
        if (!room.best.empty())
            return "Memory binds: " + full + "; with " + plainText(room.gib) + " GiB more per " + room.type + ", "
                + room.best;
    return sought.empty() ? std::string()
                          : "Memory does not bind: " + full + ", and " + plainText(sought.front().gib)
            + " GiB more per " + sought.front().type + " would buy nothing that does not fit now";
}

std::string pipelineSentence(const Evaluation &now)
{
    if (!now.metrics.breakdown || !now.metrics.iterationTime || now.layout.classes.empty())
        return {};
    const double share = now.metrics.breakdown->bubble / *now.metrics.iterationTime;
    const std::size_t stages = now.layout.classes.front().locations.size();
    if (share < kManyBubbles || stages < 2)
        return {};
    const int microBatches = now.layout.classes.front().microBatches;
    return "Pipeline depth binds: " + std::to_string(stages) + " stages with " + std::to_string(microBatches)
        + (microBatches == 1 ? " micro-batch" : " micro-batches") + " per pipeline leave " + percentText(share)
        + " of the iteration idle";
}

std::string resourceSentence(const ShadowPrice &price)
{
    const char *kind = kindText(price.kind);
    if (!kind || !price.isFeasible || price.gain < kBinds)
        return {};
    return std::string(kind) + ": " + price.label + " saves " + percentText(price.gain);
}

} // namespace

std::vector<std::string> bindingSentences(
    const Evaluation &now, const std::vector<ShadowPrice> &prices, const std::vector<RoomSought> &sought)
{
    std::vector<std::string> sentences;
    const auto add = [&](std::string text) {
        if (!text.empty())
            sentences.push_back(std::move(text));
    };
    if (!now.layout.unplaced.empty())
        add("The plan cannot be placed: " + now.layout.unplaced);
    const bool fits = !now.metrics.memory || now.metrics.memory->fits;
    if (!fits)
        add(memorySentence(now, sought));
    for (const ShadowPrice &price : prices)
        add(resourceSentence(price));
    if (fits)
        add(memorySentence(now, sought));
    add(pipelineSentence(now));
    const auto budget = std::ranges::find(prices, ResourceKind::Budget, &ShadowPrice::kind);
    if (budget != prices.end())
        add("The budget binds: " + budget->label + ", saves " + percentText(budget->gain) + ", "
            + percentText(budget->gainPerUnit) + " per USD/h");
    return sentences;
}

} // namespace trainyard::detail

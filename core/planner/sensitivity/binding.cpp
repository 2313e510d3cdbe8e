// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/planner/sensitivity/binding_internal.h"

#include <algorithm>
#include <functional>

namespace trainyard::detail {

namespace {

constexpr double kBinds = 0.005; // of the value, for a step of a resource: what is less does not hold a plan back
constexpr double kManyBubbles = 0.1; // of the iteration
constexpr double kMinor = 0.2; // of what the first holds: what is less is not told
constexpr std::string_view kBudget = "Budget "; // how the label of a budget begins

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

struct Binding {
    std::string what, how; // "Compute", "binds", and the rest of the sentence
    double share = 0; // of the iteration that it holds: what a step of it saves ÷ the step
};

std::optional<Binding> pipelineBinding(const Evaluation &now)
{
    if (!now.metrics.breakdown || !now.metrics.iterationTime || now.layout.classes.empty())
        return std::nullopt;
    const double share = now.metrics.breakdown->bubble / *now.metrics.iterationTime;
    const std::size_t stages = now.layout.classes.front().locations.size();
    if (share < kManyBubbles || stages < 2)
        return std::nullopt;
    const int microBatches = now.layout.classes.front().microBatches;
    return Binding { "Pipeline depth binds",
        std::to_string(stages) + " stages with " + std::to_string(microBatches)
            + (microBatches == 1 ? " micro-batch" : " micro-batches") + " per pipeline leave " + percentText(share)
            + " of the iteration idle",
        share };
}

std::optional<Binding> resourceBinding(const ShadowPrice &price)
{
    const char *kind = kindText(price.kind);
    if (!kind || !price.isFeasible || price.gain < kBinds)
        return std::nullopt;
    return Binding { kind, price.label + " saves " + percentText(price.gain),
        price.share > 0 ? price.gain / price.share : price.gain };
}

/// What memory holds back, as a resource: the gain of more of it is that of another plan.
double memoryShare(const std::vector<ShadowPrice> &prices)
{
    double share = 0;
    for (const ShadowPrice &price : prices)
        if (price.kind == ResourceKind::HbmSize && price.isFeasible && price.share > 0)
            share = std::max(share, price.gain / price.share);
    return share;
}

} // namespace

std::vector<std::string> bindingSentences(
    const Evaluation &now, const std::vector<ShadowPrice> &prices, const std::vector<RoomSought> &sought)
{
    std::vector<std::string> sentences;
    if (!now.layout.unplaced.empty())
        sentences.push_back("The plan cannot be placed: " + now.layout.unplaced);
    const bool fits = !now.metrics.memory || now.metrics.memory->fits;
    const std::string memory = memorySentence(now, sought);
    if (!fits && !memory.empty())
        sentences.push_back(memory);
    std::vector<Binding> bindings;
    for (const ShadowPrice &price : prices)
        if (auto binding = resourceBinding(price))
            bindings.push_back(*std::move(binding));
    if (auto binding = pipelineBinding(now))
        bindings.push_back(*std::move(binding));
    const std::size_t colon = memory.find(": ");
    const bool doesMemoryBind = fits && memory.starts_with("Memory binds");
    if (doesMemoryBind)
        bindings.push_back({ memory.substr(0, colon), memory.substr(colon + 2), memoryShare(prices) });
    std::ranges::stable_sort(bindings, std::greater {}, &Binding::share);
    for (const Binding &binding : bindings)
        if (binding.share >= kMinor * bindings.front().share)
            sentences.push_back(
                binding.what + (&binding == bindings.data() && bindings.size() > 1 ? " most: " : ": ") + binding.how);
    if (fits && !doesMemoryBind && !memory.empty())
        sentences.push_back(memory);
    const auto budget = std::ranges::find(prices, ResourceKind::Budget, &ShadowPrice::kind);
    if (budget != prices.end())
        sentences.push_back("Most per dollar: " + budget->label.substr(kBudget.size()) + ", saves "
            + percentText(budget->gain) + ", " + percentText(budget->gainPerUnit) + " per USD/h");
    return sentences;
}

} // namespace trainyard::detail

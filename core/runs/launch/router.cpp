// SPDX-License-Identifier: GPL-3.0-or-later
// The router of experts in Megatron-LM's arguments: how it scores, which a plan does not tell and the model's own
// configuration does, and whether mock data are spread evenly, as the prediction has them.
#include "core/runs/launch/launch_internal.h"

#include <algorithm>
#include <array>

namespace trainyard::launch {

namespace {

/// Models whose config.json has a sigmoid router ("scoring_func", or Llama 4's own code).
struct SigmoidRouter {
    const char *id;
    /// experts are balanced by a bias that is learnt beside the loss ("noaux_tc")
    bool hasBias;
};
constexpr std::array<SigmoidRouter, 4> kSigmoid { { { "deepseek-v3", true }, { "kimi-k2", true },
    { "llama-4-scout", false }, { "llama-4-maverick", false } } };

void addScores(Draft &draft)
{
    const auto known =
        std::ranges::find_if(kSigmoid, [&](const SigmoidRouter &one) { return draft.model.id == one.id; });
    if (known == kSigmoid.end()) {
        if (draft.model.id.empty())
            draft.note("workload.model does not tell how its router scores experts: it is softmax unless you add "
                       "--moe-router-score-function");
        return;
    }
    draft.add("--moe-router-score-function", "sigmoid");
    if (known->hasBias)
        draft.add("--moe-router-enable-expert-bias");
    draft.note(std::string("The router of ") + known->id
        + " scores by sigmoid; the factor on its weights (--moe-router-topk-scaling-factor) changes no work: set the "
          "model's own");
}

/// The prediction spreads tokens evenly, and an untrained router on mock data does not.
void addForcedRouting(Draft &draft)
{
    const MoeStrategy &moe = draft.plan.moe;
    if (moe.imbalance > 1 || !moe.expertLoads.empty())
        return draft.note(std::string(moe.expertLoads.empty() ? "moe.imbalance" : "moe.load")
            + " is not forced: on mock data an untrained router decides how full experts become");
    draft.add("--moe-router-force-load-balancing");
    draft.note("--moe-router-force-load-balancing spreads mock data evenly over the experts, as the prediction does: "
               "take it out with --mock-data");
}

} // namespace

void addRouter(Draft &draft)
{
    if (!draft.isModelOfRecipe)
        addScores(draft);
    addForcedRouting(draft);
}

} // namespace trainyard::launch

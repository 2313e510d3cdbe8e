// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/layer/token_slices.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/kernels/attention.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

/// The last `tokens` of `keys` tokens, on one GPU.
AttentionShape attentionShape(const Workload &workload, double tokens, double keys)
{
    const ModelSpec &model = workload.model;
    const Degrees &p = workload.degrees;
    const bool isLatent = model.attention == AttentionKind::Latent;
    const double query = isLatent ? model.latent.nopeDim + model.latent.ropeDim : model.headDim;
    return { double(workload.plan->workload.microBatch), double(model.heads) / p.tensor,
        std::max(1.0, double(model.kvHeads) / p.tensor), tokens / p.context, keys, query,
        isLatent ? double(model.latent.valueDim) : query, true };
}

} // namespace

std::vector<int> sliceLengths(const Workload &workload, const LayerSite &site)
{
    const Plan &plan = *workload.plan;
    const int slices = workload.degrees.slices, tokens = plan.workload.sequenceLength;
    if (!traitsOf(plan).isSliced())
        return { tokens };
    // Of a layer's forward pass the part 1 - a grows with the tokens and the part a with their square.
    double a = 0;
    if (workload.source.hasLayers) {
        const Seconds whole = layerCost(workload, site, workload.model.isMoe()).forward.compute;
        const Seconds core =
            attentionForward(*site.gpu, plan.workload.precision, attentionShape(workload, tokens, tokens))
            * (1 / attentionSpeed(workload, site));
        a = std::clamp(core / whole, 0.0, 1.0);
    }
    std::vector<int> lengths;
    int done = 0;
    for (int i = 1; i <= slices; ++i) {
        const double share = double(i) / slices; // (1 - a) x + a x^2 = share
        const double x = a > 0 ? (std::sqrt((1 - a) * (1 - a) + 4 * a * share) - (1 - a)) / (2 * a) : share;
        const int end =
            i == slices ? tokens : std::clamp(int(std::lround(x * tokens)), done + 1, tokens - (slices - i));
        lengths.push_back(end - done);
        done = end;
    }
    return lengths;
}

Workload ofSlice(const Workload &workload, int tokens)
{
    Plan plan = *workload.plan;
    plan.workload.sequenceLength = tokens;
    return workload.askedBy(std::make_shared<const Plan>(std::move(plan)));
}

ChunkCost attentionToEarlier(const Workload &slice, const LayerSite &site, int before)
{
    ChunkCost extra;
    if (before == 0)
        return extra;
    const double tokens = slice.plan->workload.sequenceLength;
    const Precision precision = slice.plan->workload.precision;
    const double document =
        slice.plan->workload.documentLength.value_or(before + int(tokens)); // what lies before it is not seen
    const AttentionShape whole = attentionShape(
                             slice, tokens, std::clamp(before + tokens, tokens, std::max(tokens, document))),
                         itself = attentionShape(slice, tokens, tokens);
    // Pairs with earlier tokens that a window leaves, over all of them
    const ModelSpec &model = slice.model;
    const auto pairs = [&](double s) { return attendedPairs(s, model.attentionWindow); };
    const double share = windowedShare(model),
                 left = share > 0 ? (pairs(before + tokens) - pairs(before) - pairs(tokens)) / (before * tokens) : 1;
    const double slowness = (1 - share + share * left) / attentionSpeed(slice, site);
    extra.forward.compute =
        (attentionForward(*site.gpu, precision, whole) - attentionForward(*site.gpu, precision, itself)) * slowness;
    extra.inputGrad.compute =
        (attentionBackward(*site.gpu, precision, whole) - attentionBackward(*site.gpu, precision, itself)) * slowness;
    if (slice.plan->memory.recompute == Recompute::Full)
        extra.recompute.compute = extra.forward.compute;
    return extra;
}

} // namespace trainyard

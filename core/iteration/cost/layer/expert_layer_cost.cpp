// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/layer/expert_layer_cost.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/layer/layer_timer_internal.h"
#include "core/iteration/cost/wan/expert_wan.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

/// Kernels in the order of forward, each in all directions.
struct LayerParts {
    struct Part {
        KernelWork forward, inputGrad, weightGrad;
        [[nodiscard]] Seconds backward(bool isSplit) const
        {
            return inputGrad.total() + (isSplit ? Seconds {} : weightGrad.total());
        }
    };
    Part router, permute, products, unpermute, shared;
};

/// How the kernels are cut: rows that the fullest rank computes in a layer, and in how many pieces of each direction.
struct ExpertRows {
    double rows = 0;
    int forwardPieces = 1, backwardPieces = 1;
};

/// What a timer gathered since it was last asked.
class Lap {
public:
    explicit Lap(const LayerTimer &timer)
        : m_timer(timer)
    {
    }
    LayerParts::Part next()
    {
        const auto since = [](KernelWork now, KernelWork &before) {
            const KernelWork lap { now.products - before.products, now.attention - before.attention,
                now.elementwise - before.elementwise, now.launches - before.launches,
                now.behindRouting - before.behindRouting };
            before = now;
            return lap;
        };
        return { since(m_timer.forward, m_before.forward), since(m_timer.inputGrad, m_before.inputGrad),
            since(m_timer.weightGrad, m_before.weightGrad) };
    }

private:
    const LayerTimer &m_timer;
    LayerParts::Part m_before { m_timer.forward, m_timer.inputGrad, m_timer.weightGrad };
};

/// Ranks of a tensor group that hold the same tokens where experts are asked for: all, unless the sequence is split.
int sameTokens(const Degrees &p)
{
    return p.tensor > 1 && !p.isSequenceParallel ? p.tensor : 1;
}

/// Visits to experts that one rank computes in a layer, `load` times the mean.
double rowsOf(const LayerTimer &timer, const Workload &workload, const Degrees &p, double load, bool isSliced)
{
    return timer.tokens / timer.spread * workload.model.expertsPerToken * load
        * visitsComputed(p.expertTensor, sameTokens(p), isSliced);
}

/// Both products of the experts on `rows` tokens' visits, in so many pieces.
LayerParts::Part productsOf(const Workload &workload, const LayerSite &site, double rows, int pieces)
{
    const ModelSpec &model = workload.model;
    const Degrees &p = site.ranks.degrees;
    const double localExperts = double(model.experts) / p.expert;
    const double f = double(model.expertFfn) / p.expertTensor, matrices = model.gatedFfn ? 2 : 1;
    LayerTimer piece(workload, site);
    piece.groupedProduct(localExperts, rows / pieces / localExperts, matrices * f, model.hidden);
    piece.groupedProduct(localExperts, rows / pieces / localExperts, model.hidden, f);
    return { piece.forward * pieces, piece.inputGrad * pieces, piece.weightGrad * pieces };
}

/// A product with a mask of tokens x experts x room, which dispatches or combines (`sec,sm->ecm`): FLOPs grow with the
/// square of the tokens.
void addMaskProduct(LayerTimer &timer, const Workload &workload, bool isCombine)
{
    const double tokens = timer.tokens / timer.spread,
                 slots = tokens * workload.model.expertsPerToken * workload.plan->moe.capacity().value_or(1);
    const KernelWork before = timer.weightGrad;
    if (isCombine) {
        timer.product(tokens, workload.model.hidden, slots);
        return;
    }
    timer.product(slots, workload.model.hidden, tokens);
    timer.weightGrad = before; // nobody trains the mask of a dispatch
}

LayerParts addKernels(LayerTimer &timer, const Workload &workload, const LayerSite &site, const ExpertRows &cut)
{
    const ModelSpec &model = workload.model;
    const double f = double(model.expertFfn) / site.ranks.degrees.expertTensor, matrices = model.gatedFfn ? 2 : 1;
    LayerParts kernels;
    Lap lap(timer);
    timer.product(timer.tokens / timer.spread, model.experts, model.hidden);
    const double router = workload.stack.fusedRouter ? kFusedRouterKernels : kRouterKernels;
    timer.smallKernels(timer.forward, router);
    timer.smallKernels(timer.inputGrad, router); // autograd's nodes are about as many
    kernels.router = lap.next();
    const double routed[] { timer.forward.launches, timer.inputGrad.launches, timer.weightGrad.launches };
    const LayerParts::Part forward = productsOf(workload, site, cut.rows, cut.forwardPieces);
    const LayerParts::Part backward =
        cut.forwardPieces == cut.backwardPieces ? forward : productsOf(workload, site, cut.rows, cut.backwardPieces);
    timer.forward += forward.forward;
    timer.inputGrad += backward.inputGrad;
    timer.weightGrad += backward.weightGrad;
    kernels.products = lap.next();
    // Activation function; permutation there and back, which read and write each visit's token.
    const bool isMasked = workload.plan->moe.baseline == MoeBaseline::Einsum;
    const double function = f * (matrices + 1), moved = isMasked ? 0 : 2.0 * model.hidden;
    timer.elementwise(2 * cut.rows * (function + 2 * moved), kActivationKernels + kPermutationKernels);
    const LayerParts::Part elementwise = lap.next();
    timer.forward.behindRouting = timer.forward.launches - routed[0];
    timer.inputGrad.behindRouting = timer.inputGrad.launches - routed[1];
    timer.weightGrad.behindRouting = timer.weightGrad.launches - routed[2];
    const auto share = [&](double part) {
        const double of = part / (function + 2 * moved);
        return LayerParts::Part { elementwise.forward * of, elementwise.inputGrad * of, elementwise.weightGrad * of };
    };
    const LayerParts::Part ofFunction = share(function);
    kernels.products.forward += ofFunction.forward;
    kernels.products.inputGrad += ofFunction.inputGrad;
    kernels.permute = kernels.unpermute = share(moved);
    if (isMasked) {
        addMaskProduct(timer, workload, false);
        kernels.permute = lap.next();
        addMaskProduct(timer, workload, true);
        kernels.unpermute = lap.next();
    }
    addDenseFfn(timer, model, model.sharedExpertFfn);
    kernels.shared = lap.next();
    return kernels;
}

/// Whether experts begin with the first piece of an exchange: every dispatch but MoNTA's, which joins before them.
bool worksInPieces(MoeDispatch dispatch)
{
    return dispatch != MoeDispatch::TensorSliced && dispatch != MoeDispatch::TrafficAware;
}

LayerWork workOf(const Workload &workload, const LayerSite &site, const LayerParts &kernels, KernelsBefore attention,
    const RankLoads &loads, bool isBackward)
{
    const bool isSplit = traitsOf(*workload.plan).splitsBackward;
    const auto time = [&](const LayerParts::Part &part) {
        return isBackward ? part.backward(isSplit) : part.forward.total();
    };
    const MoeStrategy &moe = workload.plan->moe;
    LayerWork work;
    work.isBackward = isBackward;
    work.fullest = { isBackward ? attention.backward : attention.forward, time(kernels.router), time(kernels.permute),
        time(kernels.products), time(kernels.unpermute), time(kernels.shared) };
    work.meanShare = moe.capacity() ? 1 : 1 / loads.skew; // padded experts are as full as each other
    work.isSharedBeside = moe.sharedExpertOverlap && moe.expertOverlap == ExpertOverlap::None;
    // Where experts have room for a fixed number of tokens nobody has to know how many there are.
    if (!isBackward && workload.stack.waitsForRouting && !workload.stack.cudaGraphs && !moe.capacity())
        work.hostWait = microseconds(kPermutationKernels * workload.stack.hostUsPerKernel * site.sustained.host);
    work.memoryBandwidth = site.gpu->memoryGBps * 1e9;
    const auto rate = [](const Link &link) { // that an all-to-all reaches
        return link.kind ? link.bandwidth.value * link.kind->fraction * link.kind->exchangeGain : 0;
    };
    work.nvlinkBandwidth = rate(site.device);
    work.nicBandwidth = rate(site.fabric);
    work.multiprocessors = site.gpu->multiprocessors;
    // Who hides exchanges of a tensor group under its products does it by the order of launches in one queue
    // (CUDA_DEVICE_MAX_CONNECTIONS=1, Megatron); overlap with another micro-batch asks for several.
    work.launchesInOrder = site.ranks.degrees.tensor > 1 && workload.stack.tensorOverlap > 0
        && !workload.stack.asyncTensor && !traitsOf(*workload.plan).pairs;
    return work;
}

void run(ExpertLayerCost &cost, const Workload &workload)
{
    const auto take = [&](LayerWork &work, const Exchange &there, const Exchange &back) {
        work.dispatch = there;
        work.combine = back;
        work.productsInPieces = worksInPieces(cost.choice.dispatch) && there.pieces > 1 && cost.request.group.ranks > 1;
    };
    take(cost.forward, cost.choice.forwardDispatch, cost.choice.forwardCombine);
    take(cost.backward, cost.choice.backwardDispatch, cost.choice.backwardCombine);
    cost.forwardTimes = layerTimes(cost.forward);
    cost.backwardTimes = layerTimes(cost.backward);
    if (traitsOf(*workload.plan).pairs) {
        cost.pair = PairWork { cost.forward, cost.backward, workload.stack.pairLoss };
        cost.pairTotal = pairTimes(*cost.pair).total;
    }
}

RankLoads loadsOf(const Workload &workload, const Degrees &p)
{
    const MoeStrategy &moe = workload.plan->moe;
    return rankLoads(moe.expertLoads, workload.model.experts, p.expert, moe.imbalance, moe.capacity());
}

/// Ranks of the site's expert group, and what one of them brings in a micro-batch.
ExchangeRequest requestOf(const Workload &workload, const LayerSite &site, const RankLoads &loads)
{
    const ModelSpec &model = workload.model;
    const Degrees &p = site.ranks.degrees;
    const MoeStrategy &moe = workload.plan->moe;
    const LayerTimer timer(workload, site);
    ExchangeRequest request;
    request.group.ranks = p.expert;
    request.group.together = site.expert.ranksPerNode;
    request.group.perSite = site.ranks.experts.perSite;
    request.group.inside = site.device;
    request.group.between = site.fabric;
    request.group.expertTensor = site.expertTensor;
    request.group.sameTokens = { sameTokens(p), std::min(sameTokens(p), site.tensor.ranksPerNode), site.device,
        site.fabric };
    request.tokens.tokens = timer.tokens / timer.spread;
    request.tokens.dispatchBytes = request.tokens.combineBytes = timer.element * model.hidden;
    request.tokens.choices = model.expertsPerToken;
    request.tokens.experts = model.experts;
    request.tokens.groups = model.groups;
    request.tokens.topGroups = model.topGroups;
    request.tokens.kept = moe.capacity().value_or(1);
    request.tokens.skew = moe.capacity() ? 1 : loads.skew;
    if (site.ranks.experts.isAcross())
        request.group.wan = expertWan(workload, site.ranks.stage, site.ranks.experts, request.tokens).way;
    request.gpu = site.gpu;
    request.communicationSms = moe.communicationSms ? *moe.communicationSms : -1;
    return request;
}

} // namespace

Seconds ExpertLayerCost::spared() const
{
    if (!pair)
        return {};
    const Seconds alone = forward.fullest.before + forwardTimes.total + backward.fullest.before + backwardTimes.total;
    return std::clamp(alone - pairTotal, Seconds {}, forwardTimes.exposed + backwardTimes.exposed);
}

ExpertLayerCost addExperts(
    LayerTimer &timer, ChunkCost &traffic, const Workload &workload, const LayerSite &site, KernelsBefore attention)
{
    const MoeStrategy &moe = workload.plan->moe;
    const Degrees &p = site.ranks.degrees;
    ExpertLayerCost cost;
    cost.loads = loadsOf(workload, p);
    cost.request = requestOf(workload, site, cost.loads);
    const double load = moe.capacity().value_or(cost.loads.skew);
    const auto cutOf = [&](MoeDispatch dispatch, int forwardPieces, int backwardPieces) {
        const bool isCut = worksInPieces(dispatch) && p.expert > 1;
        return ExpertRows { rowsOf(timer, workload, p, load, dispatch == MoeDispatch::TensorSliced),
            isCut ? forwardPieces : 1, isCut ? backwardPieces : 1 };
    };
    const auto passes = [&](LayerTimer &of, const ExpertRows &cut) {
        const LayerParts kernels = addKernels(of, workload, site, cut);
        LayerPasses made { workOf(workload, site, kernels, attention, cost.loads, false),
            workOf(workload, site, kernels, attention, cost.loads, true) };
        made.forward.wanBandwidth = made.backward.wanBandwidth =
            cost.request.group.wan.bandwidthOf(wanCopies(moe.dispatch)).value;
        return made;
    };
    ExchangeWorks works; // each candidate with the kernels that it would have
    if (moe.dispatch == MoeDispatch::TrafficAware && p.expert > 1) {
        const auto tried = [&](MoeDispatch dispatch, int forwardPieces, int backwardPieces) {
            LayerTimer aside = timer;
            return passes(aside, cutOf(dispatch, forwardPieces, backwardPieces));
        };
        const int forward = std::max(1, moe.chunks(true).value_or(1)),
                  backward = std::max(1, moe.chunks(false).value_or(1));
        const bool canSlice = cost.request.group.sameTokens.ranks > 1, isCut = forward > 1 || backward > 1;
        if (canSlice || isCut)
            works.whole = tried(MoeDispatch::Flat, 1, 1);
        if (isCut)
            works.inPieces = tried(MoeDispatch::Flat, forward, backward);
        if (canSlice)
            works.slices = tried(MoeDispatch::TensorSliced, 1, 1);
    }
    cost.choice = chooseExchange(cost.request, moe, works);
    LayerPasses chosen =
        passes(timer, cutOf(cost.choice.dispatch, cost.choice.forwardPieces, cost.choice.backwardPieces));
    cost.forward = std::move(chosen.forward);
    cost.backward = std::move(chosen.backward);
    run(cost, workload);
    const auto show = [](OpSplit &split, const LayerWork &work, const LayerTimes &times) {
        const LayerKernels &k = work.fullest;
        split.expert += times.exposed;
        split.compute += times.computing - (k.router + k.permute + k.products + k.unpermute + k.shared); // slowed
    };
    show(traffic.forward, cost.forward, cost.forwardTimes);
    show(traffic.inputGrad, cost.backward, cost.backwardTimes);
    return cost;
}

void addExpertKernels(LayerTimer &timer, const Workload &workload, const LayerSite &site)
{
    const MoeStrategy &moe = workload.plan->moe;
    const Degrees &p = site.ranks.degrees;
    const double skew = loadsOf(workload, p).skew;
    addKernels(timer, workload, site,
        { rowsOf(timer, workload, p, moe.capacity().value_or(skew), moe.dispatch == MoeDispatch::TensorSliced), 1, 1 });
}

OpSplit together(const OpSplit &forward, const OpSplit &backward, int forwardExperts, int backwardExperts,
    const ExpertLayerCost *layer)
{
    OpSplit pair = forward + backward;
    if (!layer)
        return pair;
    const Seconds spared = layer->spared() * std::min(forwardExperts, backwardExperts);
    pair.expert = std::max(Seconds {}, pair.expert - spared);
    return pair;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/layer/layer_timer_internal.h"

#include "core/facts/hardware/element_bytes.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/kernels/attention.h"
#include "core/iteration/cost/kernels/grouped_gemm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace trainyard {

namespace {

struct HeadDims {
    double query, value;
};

HeadDims headDims(const ModelSpec &model)
{
    if (model.attention == AttentionKind::Latent)
        return { double(model.latent.nopeDim + model.latent.ropeDim), double(model.latent.valueDim) };
    return { double(model.headDim), double(model.headDim) };
}

/// Tensor cores take operands in pieces of 16 bytes.
constexpr double kPieceBytes = 16;

/// Of an element that is scaled and rounded to 8 bits for a product, by rows and by columns, since the backward reads
/// it the other way round: written alone by the kernel that makes it (a norm, an activation function), as Transformer
/// Engine fuses them; read in 16 bits as well, as gradients are. Weights are rounded once an iteration: not counted.
constexpr double kFusedCastBytes = 2, kCastBytes = 4;

/// What the host takes to launch a plain operation on tensors, over what it takes for a counted kernel, which stands
/// for the module around it as well. Chosen among 0.25, 0.45, 0.5 and 0.7 so that a counted kernel takes no more than
/// 50 us, as layers without experts do (18 launches in some 0.9 ms), and larger micro-batches of experts still pay off.
constexpr double kPlainLaunch = 0.7;

/// Of an operand's element, its scale apart.
double operandBytes(const GpuSpec &gpu, Precision precision)
{
    return elementBits(gpu.computePrecision(precision)) / 8.0;
}

/// Bytes of the largest piece that divides a row of `elements`; a length that is no whole number is padded by
/// frameworks.
double pieceOf(double elements, double elementSize)
{
    const auto count = std::int64_t(elements);
    if (double(count) != elements)
        return kPieceBytes;
    const auto halves = std::int64_t(2 * elementSize) * count; // of a byte: 4-bit operands share one
    return double(std::min<std::int64_t>(halves & -halves, std::int64_t(2 * kPieceBytes))) / 2;
}

/// Fused attention runs in 16 bits also where the products run in 8 or 4.
Precision attentionPrecision(Precision precision)
{
    return precision >= Precision::Fp8 ? Precision::Bf16 : precision;
}

} // namespace

bool isOnGrid(const GpuSpec &gpu, Precision precision, double elements)
{
    return pieceOf(elements, operandBytes(gpu, precision)) >= kPieceBytes;
}

LayerTimer::LayerTimer(const Workload &workload, const LayerSite &site)
    : m_work(workload)
    , m_gpu(*site.gpu)
    , m_precision(workload.plan->workload.precision)
    , m_isNarrow(site.gpu->computePrecision(m_precision) >= Precision::Fp8)
    , m_passes(workload.stack.compiled ? workload.stack.elementwisePasses : workload.stack.eagerPasses)
    , m_productSpeed((m_isNarrow ? workload.stack.narrowEfficiency : workload.stack.kernelEfficiency)
          * site.sustained.ofProducts(site.gpu->computePrecision(m_precision)))
    , m_groupedSpeed(site.sustained.grouped)
    , m_attentionSpeed(attentionSpeed(workload, site))
    , m_memorySpeed(site.sustained.memory)
    , m_hostSlowness(site.sustained.host)
{
    const Plan &plan = *workload.plan;
    const Degrees &degrees = site.ranks.degrees;
    tensor = degrees.tensor;
    sequence = double(plan.workload.sequenceLength) / degrees.context;
    tokens = site.ranks.microBatch * sequence;
    spread = degrees.isSequenceParallel ? tensor : 1;
    element = weightBytes(plan.workload.precision);
}

void LayerTimer::product(double m, double n, double k)
{
    // Activations and their gradients lie token by token: rows of k and n elements, for the weight gradient too.
    addProduct(forward, denseTime({ m, n, k }, n, k));
    addCast(forward, kFusedCastBytes * k * m, 0);
    addProduct(inputGrad, denseTime({ m, k, n }, n, k));
    addCast(inputGrad, kCastBytes * n * m, 1);
    addProduct(weightGrad, denseTime({ n, k, m }, n, k)); // 8- and 4-bit operands are there, transposed and padded
}

void LayerTimer::productAgain(double m, double n, double k)
{
    addProduct(recomputeWork, denseTime({ m, n, k }, n, k));
    addCast(recomputeWork, kFusedCastBytes * k * m, 0);
}

/// Rows that do not divide into 16 bytes are loaded in smaller pieces, as many times as slowly; the vector units bound
/// that.
Seconds LayerTimer::denseTime(const GemmShape &shape, double rowA, double rowB) const
{
    const Seconds onGrid = gemmTime(m_gpu, m_precision, shape);
    const double size = operandBytes(m_gpu, m_precision), piece = std::min(pieceOf(rowA, size), pieceOf(rowB, size));
    return piece >= kPieceBytes
        ? onGrid
        : std::min(onGrid * (kPieceBytes / piece), std::max(onGrid, gemmTime(m_gpu, Precision::Fp32, shape)));
}

/// Batched products of attention have no such kernels: off the grid they run on the vector units.
Seconds LayerTimer::batchedTime(const GemmShape &shape) const
{
    const Precision precision = attentionPrecision(m_precision);
    const double size = operandBytes(m_gpu, precision);
    return gemmTime(m_gpu,
        std::min(pieceOf(shape.n, size), pieceOf(shape.k, size)) >= kPieceBytes ? precision : Precision::Fp32, shape);
}

void LayerTimer::groupedProduct(double groups, double m, double n, double k)
{
    const bool isOneKernel = m_work.stack.groupedProducts;
    const auto grouped = [&](GemmShape shape) {
        return isOneKernel ? groupedGemmTime(m_gpu, m_precision, groups, shape) * (1 / m_groupedSpeed)
                           : gemmTime(m_gpu, m_precision, shape) * groups;
    };
    const double others = isOneKernel ? 0 : groups - 1; // one is counted with the product
    for (KernelWork *work : { &forward, &inputGrad, &weightGrad })
        work->launches += others;
    addProduct(forward, grouped({ m, n, k }));
    addCast(forward, kFusedCastBytes * groups * k * m, 0);
    addProduct(inputGrad, grouped({ m, k, n }));
    addCast(inputGrad, kCastBytes * groups * n * m, 1);
    addProduct(weightGrad, grouped({ n, k, m }));
}

void LayerTimer::addProduct(KernelWork &work, Seconds kernel) const
{
    work.products += kernel * (1 / m_productSpeed);
    work.launches += 1;
}

void LayerTimer::addCast(KernelWork &work, double bytes, double kernels) const
{
    if (!m_isNarrow)
        return;
    const double passes = m_work.stack.float8Rowwise ? m_work.stack.rowwiseCastPasses : m_work.stack.castPasses;
    work.elementwise += memoryTime(bytes) * passes;
    work.launches += kernels;
}

void LayerTimer::smallKernels(KernelWork &work, double kernels) const
{
    work.elementwise += microseconds(kernels * m_gpu.gemm.launchUs / 2);
    work.launches += kernels * kPlainLaunch;
}

void LayerTimer::attention()
{
    if (m_work.stack.flashAttention)
        fusedAttention();
    else
        unfusedAttention();
}

void LayerTimer::fusedAttention()
{
    const ModelSpec &model = m_work.model;
    const HeadDims heads = headDims(model);
    const auto padded = [](double width) { return 8 * std::ceil(width / 8); }; // the kernels know such widths alone
    const HeadDims dims { padded(heads.query), padded(heads.value) };
    const Precision precision = attentionPrecision(m_precision);
    // Context ranks that share the causal triangle evenly, by heads or by pairs of blocks, work as if each had its
    // share of the heads; else everyone waits for the rank whose queries see the most keys.
    const bool isBalanced = m_work.stack.balancedContext;
    const WorkloadSpec &work = m_work.plan->workload;
    const double length = work.sequenceLength, ranks = tensor * (isBalanced ? length / sequence : 1);
    const double document = work.attendedLength(), queries = std::min(isBalanced ? length : sequence, document);
    const double sequences = work.microBatch * (isBalanced ? length : sequence);
    const auto shapeOf = [&](double ofOne, double keys) {
        return AttentionShape { sequences / ofOne, model.heads / ranks, std::max(1.0, model.kvHeads / ranks), ofOne,
            keys, dims.query, dims.value, true };
    };
    // Where some layers see a window alone each takes the mean: blocks of a window's queries, whose keys are on average
    // those that the window leaves.
    const double window = std::min(double(model.attentionWindow), queries),
                 share = model.attentionWindow < document ? windowedShare(model) : 0;
    const auto mean = [&](auto kernel) {
        const Seconds full = kernel(m_gpu, precision, shapeOf(queries, document));
        return share > 0 ? full * (1 - share)
                + kernel(m_gpu, precision,
                      shapeOf(window, window / 2 + attendedPairs(document, model.attentionWindow) / document))
                    * share
                         : full;
    };
    core = mean(attentionForward) * (1 / m_attentionSpeed);
    forward.attention += core;
    inputGrad.attention += mean(attentionBackward) * (1 / m_attentionSpeed);
    forward.launches += 1;
    inputGrad.launches += 3;
    if (dims.query != heads.query
        || dims.value != heads.value) // queries, keys, values and result are copied to padded tensors
        elementwise(2 * 2 * tokens * (dims.query + dims.value) * (model.heads + model.kvHeads) / tensor, 4);
}

/// Two batched products with the whole score matrix between them.
void LayerTimer::unfusedAttention()
{
    const ModelSpec &model = m_work.model;
    const HeadDims dims = headDims(model);
    const double keys = m_work.plan->workload.sequenceLength;
    const double rows = m_work.plan->workload.microBatch * double(model.heads) / tensor * sequence;
    const auto both = [&](auto &&shapeOf) {
        return (batchedTime(shapeOf(dims.query, false)) + batchedTime(shapeOf(dims.value, true)))
            * (1 / m_attentionSpeed);
    };
    const Seconds products = both([&](double d, bool second) {
        return second ? GemmShape { rows, d, keys } : GemmShape { rows, keys, d };
    });
    // A fused kernel scales, masks and normalises in one pass, eager ones take a pass each; dropout adds a pass and its
    // mask. Plain tensor operations scale, mask, bound and normalise one after the other.
    const double passes = m_work.stack.eagerAttention ? 16 : m_work.stack.compiled ? 4 : 12;
    const double softmaxBytes = rows * keys * (passes + (m_work.stack.storesDropoutMasks && model.dropout ? 5 : 0));
    const Seconds softmax = memoryTime(softmaxBytes * m_work.stack.elementwisePasses * element / 2);
    core = products + softmax;
    forward.attention += core;
    inputGrad.attention += products * 2.0 + softmax;
    forward.launches += 4;
    inputGrad.launches += 6;
}

void LayerTimer::elementwiseForward(double bytes, double kernels)
{
    forward.elementwise += memoryTime(bytes * m_passes * element / 2)
        + microseconds(m_gpu.gemm.launchUs / 2) * (m_work.stack.cudaGraphs ? 0 : 1);
    forward.launches += kernels;
}

void LayerTimer::elementwiseInputGrad(double bytes, double kernels)
{
    inputGrad.elementwise += memoryTime(bytes * m_passes * element / 2)
        + microseconds(m_gpu.gemm.launchUs / 2) * (m_work.stack.cudaGraphs ? 0 : 1);
    inputGrad.launches += kernels;
}

void LayerTimer::elementwise(double bytes, double kernels)
{
    elementwiseForward(bytes, kernels);
    elementwiseInputGrad(bytes * 1.5, kernels);
}

void LayerTimer::elementwiseAgain(double bytes, double kernels)
{
    recomputeWork.elementwise += memoryTime(bytes * m_passes * element / 2)
        + microseconds(m_gpu.gemm.launchUs / 2) * (m_work.stack.cudaGraphs ? 0 : 1);
    recomputeWork.launches += kernels;
}

void LayerTimer::accumulate(double parameters, double tensors)
{
    weightGrad.elementwise += memoryTime(parameters * m_work.stack.accumulationBytes);
    weightGrad.launches += tensors;
}

Seconds LayerTimer::memoryTime(double bytes) const
{
    return trainyard::memoryTime(m_gpu, Bytes { bytes }) / m_memorySpeed;
}

Seconds LayerTimer::hostTime(const KernelWork &work) const
{
    const StackSpec &stack = m_work.stack;
    const double launched = stack.cudaGraphs ? 0 : stack.partialGraphs ? work.behindRouting : work.launches;
    return microseconds(launched * stack.hostUsPerKernel * m_hostSlowness);
}

void LayerTimer::takeKernels(const LayerTimer &other)
{
    forward = other.forward;
    inputGrad = other.inputGrad;
    weightGrad = other.weightGrad;
    recomputeWork = other.recomputeWork;
    core = other.core;
}

ChunkCost LayerTimer::finish(const ChunkCost &communication, Recompute recompute) const
{
    ChunkCost cost = communication;
    // The GPU works while the host launches ahead: a smooth maximum of both; where the host waits for each kernel,
    // their sum.
    const auto close = [&](OpSplit &split, Seconds kernels, Seconds host) {
        if (m_work.stack.synchronousLaunches) {
            split.compute += kernels + host;
            return;
        }
        const double gpu = split.total().value + kernels.value, launch = host.value;
        const double gpu2 = gpu * gpu, launch2 = launch * launch;
        split.compute += kernels + Seconds { std::sqrt(std::sqrt(gpu2 * gpu2 + launch2 * launch2)) - gpu };
    };
    close(cost.forward, forward.total(), hostTime(forward));
    close(cost.inputGrad, inputGrad.total(), hostTime(inputGrad));
    close(cost.weightGrad, weightGrad.total(), hostTime(weightGrad));
    switch (recompute) {
    case Recompute::None:
        if (recomputeWork.launches > 0)
            close(cost.recompute, recomputeWork.total(), hostTime(recomputeWork));
        break;
    case Recompute::Full: // of what is gathered already under ZeRO-3
        cost.recompute = communication.forward;
        cost.recompute.data = communication.recompute.data;
        cost.recompute.offload = Seconds {};
        close(cost.recompute, forward.total(), hostTime(forward));
        break;
    case Recompute::Selective:
        // Operator by operator: every second product is saved, and the attention's output; the rest is made again.
        if (m_work.stack.operatorLevelSelective)
            close(cost.recompute, forward.products * 0.5 + forward.elementwise, hostTime(forward) * 0.5);
        else if (!m_work.stack.flashAttention) // a fused kernel recomputes by itself, inside its backward
            close(cost.recompute, core + recomputeWork.total(), hostTime({ {}, {}, {}, 4 + recomputeWork.launches }));
        else if (recomputeWork.launches > 0)
            close(cost.recompute, recomputeWork.total(), hostTime(recomputeWork));
        break;
    }
    return cost;
}

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Gathers the work of one layer on one GPU kernel by kernel, apart by direction and kind, and turns it into a
// ChunkCost: what the GPU takes, or the host where it cannot launch kernels fast enough. For the .cpp files of this
// folder.

#include "core/iteration/cost/kernels/gemm.h"
#include "core/iteration/cost/layer/layer_cost.h"

namespace trainyard {

/// Kernels of one direction.
struct KernelWork {
    Seconds products, attention, elementwise;
    double launches = 0;
    /// of them, those behind the routing of tokens, which partial CUDA graphs do not capture
    double behindRouting = 0;
    [[nodiscard]] Seconds total() const { return products + attention + elementwise; }
    KernelWork &operator+=(const KernelWork &o)
    {
        products += o.products;
        attention += o.attention;
        elementwise += o.elementwise;
        launches += o.launches;
        behindRouting += o.behindRouting;
        return *this;
    }
    friend KernelWork operator*(const KernelWork &work, double times)
    {
        return { work.products * times, work.attention * times, work.elementwise * times, work.launches * times,
            work.behindRouting * times };
    }
};

/// Kernels that an eager framework launches for what is counted as one group of element-wise work: activation function
/// of an MLP.
inline constexpr double kActivationKernels = 3;
/// The router of an expert layer (scores, choice, loss of balance, maps of tokens), as NVIDIA counts Megatron Core's
/// with and without fusion (recalled); one product is counted beside them.
inline constexpr double kRouterKernels = 72, kFusedRouterKernels = 31;
/// Tokens into the order of their experts and back: counts, sorts, copies of tokens and of their probabilities.
inline constexpr double kPermutationKernels = 12;

class LayerTimer {
public:
    LayerTimer(const Workload &workload, const LayerSite &site);

    /// y = x W with x of m rows and k columns, and its two gradients.
    void product(double m, double n, double k);
    /// Its forward once more in the backward, although the layer is not recomputed as a whole.
    void productAgain(double m, double n, double k);
    /// One grouped kernel over `groups` experts of m rows each.
    void groupedProduct(double groups, double m, double n, double k);
    /// Fused or unfused core attention of the workload's model.
    void attention();
    // Bytes below are those of 16-bit tensors; where the plan computes in 32 bits twice as many move.
    /// Memory-bound kernels that move `bytes` forward and 1.5 times that backward, `kernels` of them where nothing is
    /// fused.
    void elementwise(double bytes, double kernels);
    /// The same in one direction only.
    void elementwiseForward(double bytes, double kernels) { addElementwise(forward, bytes, kernels); }
    void elementwiseInputGrad(double bytes, double kernels) { addElementwise(inputGrad, bytes, kernels); }
    /// Of such bytes forward, what a backward does again although the layer is not recomputed as a whole.
    void elementwiseAgain(double bytes, double kernels) { addElementwise(recomputeWork, bytes, kernels); }
    /// Gradients of so many parameters join the main gradients, from `tensors` kernels.
    void accumulate(double parameters, double tensors);

    /// What another timer of the same layer has gathered, instead.
    void takeKernels(const LayerTimer &other);

    /// The kernels, with communication added by the caller, bounded below by the host.
    [[nodiscard]] ChunkCost finish(const ChunkCost &communication, Recompute recompute) const;

    /// of one context rank
    double sequence = 0, tokens = 0;
    /// spread: ranks that share the tokens outside attention and MLP
    int tensor = 1, spread = 1;
    KernelWork forward, inputGrad, weightGrad;
    /// bytes of an activation
    double element = 2;
    /// of the forward, by productAgain and elementwiseAgain
    KernelWork recomputeWork;
    /// forward of the attention core, which selective recomputation repeats
    Seconds core;

    /// Kernels that do next to nothing: each takes the host a launch and the GPU the least that a kernel takes.
    void smallKernels(KernelWork &work, double kernels) const;

private:
    void fusedAttention();
    void unfusedAttention();
    void addProduct(KernelWork &work, Seconds kernel) const;
    void addElementwise(KernelWork &work, double bytes, double kernels) const;
    /// An operand is scaled and rounded for a product in 8 or 4 bits, which moves so many bytes. Nothing in 16 bits.
    void addCast(KernelWork &work, double bytes, double kernels) const;
    /// Of a product whose operands are loaded along rows of so many elements.
    [[nodiscard]] Seconds denseTime(const GemmShape &shape, double rowA, double rowB) const;
    [[nodiscard]] Seconds batchedTime(const GemmShape &shape) const;
    [[nodiscard]] Seconds memoryTime(double bytes) const;
    [[nodiscard]] Seconds hostTime(const KernelWork &work) const;

    const Workload &m_work;
    const GpuSpec &m_gpu;
    Precision m_precision;
    /// products run in 8 or 4 bits; a chip without such units runs them in 16
    bool m_isNarrow;
    double m_passes;
    /// within a training step, of kernels measured alone
    double m_productSpeed, m_groupedSpeed, m_attentionSpeed;
    double m_memorySpeed;
    double m_hostSlowness;
};

/// An MLP of that inner width, with its activation function.
void addDenseFfn(LayerTimer &timer, const ModelSpec &model, double width);

} // namespace trainyard

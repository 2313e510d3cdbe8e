#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Seconds of one operation, kept apart by what they are spent on, so that the breakdown of an iteration can be exact.

#include "core/base/units.h"

namespace trainyard {

struct OpSplit {
    /// data: parameter gathers of ZeRO-3 that nothing hides
    Seconds compute, tensor, context, expert, data;
    /// weights and gradients on their way from and to host memory or drives, likewise
    Seconds offload;

    [[nodiscard]] Seconds total() const { return compute + tensor + context + expert + data + offload; }
    OpSplit &operator+=(const OpSplit &o)
    {
        compute += o.compute;
        tensor += o.tensor;
        context += o.context;
        expert += o.expert;
        data += o.data;
        offload += o.offload;
        return *this;
    }
    friend OpSplit operator+(OpSplit a, const OpSplit &b) { return a += b; }
    friend OpSplit operator*(OpSplit a, double f)
    {
        return { a.compute * f, a.tensor * f, a.context * f, a.expert * f, a.data * f, a.offload * f };
    }
    bool operator==(const OpSplit &) const = default;
};

struct ChunkCost { // one micro-batch through one virtual stage
    OpSplit forward, inputGrad, weightGrad;
    /// what a backward does again of the forward
    OpSplit recompute;
    // Weights that come from off the GPU for each pass, gradients that leave after the backward: whole, beside compute;
    // what outlasts it is in the `offload` parts above
    Seconds weightsIn, gradientsOut;

    /// Of the forward and its gradients, without anything that is done again.
    [[nodiscard]] Seconds computing() const { return forward.compute + inputGrad.compute + weightGrad.compute; }
    ChunkCost &operator+=(const ChunkCost &o)
    {
        forward += o.forward;
        inputGrad += o.inputGrad;
        weightGrad += o.weightGrad;
        recompute += o.recompute;
        weightsIn += o.weightsIn;
        gradientsOut += o.gradientsOut;
        return *this;
    }
    friend ChunkCost operator*(const ChunkCost &c, double f)
    {
        return { c.forward * f, c.inputGrad * f, c.weightGrad * f, c.recompute * f, c.weightsIn * f,
            c.gradientsOut * f };
    }
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How long kernels and collectives take on a machine, by the equations of docs/model.md written out once more: nothing
// of the planner's cost models is called, so that an error in one of them does not pass for a factor. Constants are
// those of the catalogue. Seconds and bytes.

#include "core/facts/hardware/gpu_spec.h"
#include "core/facts/hardware/network_spec.h"

namespace trainyard::test {

/// A GPU that is off its specification: kernels take so many times as long.
struct Machine {
    const GpuSpec &gpu;
    double products = 1, attention = 1, memory = 1;

    /// 16-bit C[m, n] = A[m, k] B[k, n], by a stack of that efficiency.
    [[nodiscard]] double product(double m, double n, double k, double efficiency) const;
    /// Fused and causal, of 16 bits.
    struct Heads {
        double sequences = 1, heads = 1, kvHeads = 1, tokens = 1, width = 1;
    };
    [[nodiscard]] double attentionForward(const Heads &shape, double efficiency) const;
    [[nodiscard]] double attentionBackward(const Heads &shape, double efficiency) const;
    [[nodiscard]] double moving(double bytes) const;

private:
    struct Parts {
        double compute = 0, traffic = 0;
    };
    [[nodiscard]] Parts attentionParts(const Heads &shape) const;
};

/// What large messages reach of it, a GPU, and what a collective waits before.
struct Way {
    double bytesPerSecond = 1, startUs = 0, rampUs = 0;
    const LinkClass *kind = nullptr; // steps and shares

    /// t = start + steps · step + ramp · v / (v + v₀) + v / B
    [[nodiscard]] double transfer(double volume, double steps) const;
};

/// Fewer than eight ranks, so many of them in a node: inside the nodes first, then between them.
struct Ring {
    Way inside, between;
    int ranks = 1, ranksPerNode = 1;

    [[nodiscard]] double half(double bytes) const; // reduce-scatter or all-gather
    [[nodiscard]] double allReduce(double bytes) const;

private:
    [[nodiscard]] int local() const { return ranks < ranksPerNode ? ranks : ranksPerNode; }
    [[nodiscard]] int nodes() const { return (ranks + local() - 1) / local(); }
    /// Steps inside nodes of a ring that passes them all, once around.
    [[nodiscard]] double around() const;
};

} // namespace trainyard::test

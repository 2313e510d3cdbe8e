#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an iteration of one pipeline takes at least, by what has to follow what: a device does nothing before its first
// micro-batch is there, then all its work, and after its last gradient the stages before it still have theirs. Of equal
// stages that is a line over the number of micro-batches each, so that many plans share it. Derivation: docs/planner-
// tiers.md. Nanoseconds, as the timeline counts.

#include "core/engine/schedule/chunks.h"

#include <span>
#include <vector>

namespace trainyard {

/// One virtual stage and one micro-batch.
struct ChainStage {
    double forward = 0;
    /// without recomputation; with the weights' gradient, where it is not split off
    double gradient = 0;
    /// split off
    double weightGradient = 0;
    /// where it is done right before the gradient; 0 where that is not certain
    double recompute = 0;
};

struct Chain {
    int devices = 1, chunks = 1, copies = 1;
    ChunkPlacement placement = ChunkPlacement::Loop;
    /// no device has a gradient before its last forward
    bool forwardsFirst = false;
    /// the last virtual stage recomputes every micro-batch; else none but in forwardsFirst, where it spares one at most
    bool recomputesLast = false;
    /// [virtual stage]
    std::vector<ChainStage> stages;
    /// [virtual stage q]: from q to q + 1, and from q + 1 to q
    std::vector<double> there, back;
    /// [device][chunk]: before its first gradient; empty: not known
    std::span<const std::vector<int>> forwardsBefore;
    /// [device]: equal ones have one number, counted from 0
    std::span<const int> kindOf;
};

class LeastTime {
public:
    LeastTime() = default;
    explicit LeastTime(const Chain &chain);

    /// When the last operation of a device of each kind ends at the earliest, of the slowest device of that kind;
    /// `ends` has an entry a kind.
    void ends(int microBatches, std::vector<double> &ends) const;
    [[nodiscard]] std::size_t kinds() const { return m_ends.size(); }

private:
    struct Line {
        double at = 0, each = 0;
        [[nodiscard]] double of(double microBatches) const { return at + each * microBatches; }
    };
    static void add(std::vector<Line> &lines, Line line);

    /// when all forwards have reached the end; empty where gradients come before
    std::vector<Line> m_forwards;
    /// [kind], after that
    std::vector<std::vector<Line>> m_ends;
    int m_copies = 1;
};

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What others would do with the same unequal GPUs, as plans: even shares, pipelines whose layers go by speed, batches
// by FLOPS, groups of equal GPUs, and Cephalo's shares. A plan made here is one like any other: it can be opened,
// compared and changed. What each system does besides is in docs/model.md, "Mixed GPUs". Any thread.

#include "core/evaluation/evaluate/run.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

enum class SharingBaseline : std::uint8_t {
    /// FSDP: as many samples for everyone, in one micro-batch, and as much of the states
    EvenSplit,
    /// the same in the largest micro-batch that divides them and fits
    EvenAccumulated,
    /// stages of equal GPUs, layers by speed: Megatron-Het, FlashFlex, Metis
    UnevenPipeline,
    /// samples by FLOPS, then off GPUs that overflow
    Whale,
    /// a pipeline of groups of equal GPUs that shard gradients and optimizer states: like Zorse
    Groups,
    /// samples and states apart, layer by layer
    Cephalo,
};
inline constexpr std::array kSharingBaselines { SharingBaseline::EvenSplit, SharingBaseline::EvenAccumulated,
    SharingBaseline::UnevenPipeline, SharingBaseline::Whale, SharingBaseline::Groups, SharingBaseline::Cephalo };

/// One way of sharing out what the plan trains.
struct SharingPlan {
    /// stable: "even-split"
    std::string id;
    /// "Even split (FSDP)"
    std::string label;
    /// one sentence without a full stop: what it is, and whose
    std::string what;
    /// null where it cannot be made here
    PlanPtr plan;
    /// then: why, one sentence without a full stop
    std::string whyNot;
    /// for undo: "Share as Whale does"
    std::string sentence;
    /// it is the plan itself
    bool isCurrent = false;
};

/// Sizes of micro-batches and shapes of pipelines that a system would search are searched: the fastest estimate that
/// fits, or else the fastest. Model, batch, cluster and network stay. `context.work` is not used.
[[nodiscard]] SharingPlan sharingBaseline(SharingBaseline which, const PlanPtr &plan, const RunContext &context);
[[nodiscard]] std::vector<SharingPlan> sharingBaselines(const PlanPtr &plan, const RunContext &context);

/// What separates even accumulation from Cephalo, one step after the other and each alone. Those that build on each
/// other in the order of the list; those with a micro-batch of their own have the largest that fits.
[[nodiscard]] std::vector<SharingPlan> sharingAblations(const PlanPtr &plan, const RunContext &context);

} // namespace trainyard

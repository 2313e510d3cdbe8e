#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The names of enum values as the plan file spells them, in the order of the enum. One list for reading, writing, schema
// and messages. Private to core/plan.

#include "core/plan/plan.h"

#include <array>
#include <span>

namespace trainyard::detail {

inline constexpr std::array kPrecisionNames { "fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4" };
inline constexpr std::array kOptimizerNames { "adam", "sgd", "adafactor", "lion", "adam-8bit", "galore" };
inline constexpr std::array kScheduleNames { "gpipe", "1f1b", "interleaved", "breadth-first", "zb-h1", "zb-h2", "zb-v",
    "zb-auto", "v-half", "v-min", "dualpipe", "dualpipev", "chimera", "hanayo", "varuna", "terapipe", "atlas" };
inline constexpr std::array kPlacementModeNames { "auto", "pipeline-across", "data-across" };
inline constexpr std::array kRecomputeNames { "none", "selective", "full" };
inline constexpr std::array kActivationOffloadNames { "none", "host", "ssd" };
inline constexpr std::array kOptimizerOffloadNames { "none", "host", "interleaved", "ssd" };
inline constexpr std::array kParameterOffloadNames { "none", "host", "ssd" };
inline constexpr std::array kOffloadPolicyNames { "ssdtrain", "memo", "karma", "protrain" };
inline constexpr std::array kWanSharingNames { "spatial", "temporal" };
inline constexpr std::array kFabricKindNames { "rdma", "tcp" };
inline constexpr std::array kTurnOrderNames { "round-robin", "drain-first" };
inline constexpr std::array kCongestionControlNames { "cubic", "bbr" };
inline constexpr std::array kWanAllReduceNames { "hierarchical", "flat" };
inline constexpr std::array kLocalSgdNames { "none", "diloco", "streaming" };
inline constexpr std::array kArrivalsNames { "poisson", "constant", "bursty", "trace" };
inline constexpr std::array kMoeDispatchNames { "flat", "hierarchical", "dedup", "tensor-sliced", "traffic-aware" };
inline constexpr std::array kShareNames { "even", "balanced" };

using Names = std::span<const char *const>;
constexpr Names namesOf(Precision) { return kPrecisionNames; }
constexpr Names namesOf(Optimizer) { return kOptimizerNames; }
constexpr Names namesOf(ScheduleKind) { return kScheduleNames; }
constexpr Names namesOf(PlacementMode) { return kPlacementModeNames; }
constexpr Names namesOf(Recompute) { return kRecomputeNames; }
constexpr Names namesOf(ActivationOffload) { return kActivationOffloadNames; }
constexpr Names namesOf(OptimizerOffload) { return kOptimizerOffloadNames; }
constexpr Names namesOf(ParameterOffload) { return kParameterOffloadNames; }
constexpr Names namesOf(OffloadPolicy) { return kOffloadPolicyNames; }
constexpr Names namesOf(WanSharing) { return kWanSharingNames; }
constexpr Names namesOf(FabricKind) { return kFabricKindNames; }
constexpr Names namesOf(TurnOrder) { return kTurnOrderNames; }
constexpr Names namesOf(CongestionControl) { return kCongestionControlNames; }
constexpr Names namesOf(WanAllReduce) { return kWanAllReduceNames; }
constexpr Names namesOf(LocalSgd) { return kLocalSgdNames; }
constexpr Names namesOf(Arrivals) { return kArrivalsNames; }
constexpr Names namesOf(MoeDispatch) { return kMoeDispatchNames; }
constexpr Names namesOf(Share) { return kShareNames; }

static_assert(kPrecisionNames.size() == kPrecisionCount);
static_assert(kScheduleNames.size() == static_cast<std::size_t>(ScheduleKind::Atlas) + 1);

template <class E>
constexpr const char *nameOf(E value) { return namesOf(value)[static_cast<std::size_t>(value)]; }

/// Schedulers of the multi-model mode.
inline constexpr std::array kJobSchedulerNames { "sharded-lrtf", "model-parallel", "task-parallel", "pipeline", "milp" };

} // namespace trainyard::detail

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the values of a plan's enums are called, in the order of the enum: in a plan file, and by people where that
// differs. One list for reading, writing, schema, messages and controls; what people call a schedule is told by the
// schedule itself.

#include "core/facts/plan/plan.h"

#include <array>
#include <span>

namespace trainyard {

struct EnumName {
    constexpr EnumName(const char *inFile, const char *shown = nullptr)
        : name(inFile)
        , label(shown ? shown : inFile)
    {
    }
    const char *name, *label;
};
using EnumNames = std::span<const EnumName>;

template <class... Names> constexpr std::array<EnumName, sizeof...(Names)> namedAs(Names... names)
{
    return { EnumName(names)... };
}

template <class E> inline constexpr std::array<EnumName, 0> kNamesOf {};
template <>
inline constexpr auto kNamesOf<Precision> = namedAs("fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4");
template <>
inline constexpr auto kNamesOf<Optimizer> = namedAs(EnumName("adam", "Adam"), EnumName("sgd", "SGD"),
    EnumName("adafactor", "Adafactor"), EnumName("lion", "Lion"), EnumName("adam-8bit", "8-bit Adam"),
    EnumName("galore", "GaLore"));
template <>
inline constexpr auto kNamesOf<JobTechnique> = namedAs("auto", EnumName("shard-parallel", "shards"),
    EnumName("model-parallel", "model parallel"), EnumName("data-parallel", "data parallel"), "pipeline",
    EnumName("zero-offload", "ZeRO-3, offloaded"));
template <>
inline constexpr auto kNamesOf<JobScheduler> = namedAs(EnumName("sharded-lrtf", "Longest remaining first"),
    EnumName("fifo", "First in, first out"), EnumName("random", "Random"), EnumName("shard-milp", "Solver, by shards"),
    EnumName("model-parallel", "Model parallel, one at a time"), EnumName("task-parallel", "A job a GPU"),
    EnumName("pipeline", "Pipeline, one at a time"), EnumName("zero-offload", "ZeRO-3 offloaded, one at a time"),
    EnumName("milp", "Solver, by jobs"), EnumName("list", "List of jobs"));
template <> inline constexpr auto kNamesOf<RemainingWork> = namedAs("units", EnumName("minibatches", "mini-batches"));
template <>
inline constexpr auto kNamesOf<ScheduleKind> = namedAs("gpipe", "1f1b", "interleaved", "breadth-first", "zb-h1",
    "zb-h2", "zb-v", "zb-auto", "v-half", "v-min", "dualpipe", "dualpipev", "chimera", "hanayo", "varuna", "terapipe",
    "atlas");
template <>
inline constexpr auto kNamesOf<PlacementMode> = namedAs(
    "auto", EnumName("pipeline-across", "pipeline across"), EnumName("data-across", "data across"));
template <> inline constexpr auto kNamesOf<Recompute> = namedAs("none", "selective", "full");
template <>
inline constexpr auto kNamesOf<ActivationOffload> = namedAs(
    EnumName("none", "off"), EnumName("host", "host memory"), EnumName("ssd", "drives"));
template <>
inline constexpr auto kNamesOf<OptimizerOffload> = namedAs(EnumName("none", "on the GPU"),
    EnumName("host", "host memory"), EnumName("interleaved", "host, interleaved"), EnumName("ssd", "drives"));
template <>
inline constexpr auto kNamesOf<ParameterOffload> = namedAs(
    EnumName("none", "on the GPU"), EnumName("host", "host memory"), EnumName("ssd", "drives"));
template <>
inline constexpr auto kNamesOf<OffloadPolicy> = namedAs(EnumName("ssdtrain", "SSDTrain"), EnumName("memo", "MEMO"),
    EnumName("karma", "KARMA"), EnumName("protrain", "ProTrain"));
template <> inline constexpr auto kNamesOf<WanSharing> = namedAs("spatial", "temporal");
template <> inline constexpr auto kNamesOf<FabricKind> = namedAs("rdma", "tcp");
template <> inline constexpr auto kNamesOf<TurnOrder> = namedAs("round-robin", "drain-first");
template <>
inline constexpr auto kNamesOf<CongestionControl> = namedAs(EnumName("cubic", "CUBIC"), EnumName("bbr", "BBR"));
template <> inline constexpr auto kNamesOf<WanAllReduce> = namedAs("hierarchical", EnumName("flat", "one flat ring"));
template <>
inline constexpr auto kNamesOf<LocalSgd> = namedAs(
    EnumName("none", "off"), EnumName("diloco", "DiLoCo"), EnumName("streaming", "streaming DiLoCo"));
template <>
inline constexpr auto kNamesOf<Arrivals> = namedAs(EnumName("poisson", "Poisson"), "constant", "bursty", "trace");
template <>
inline constexpr auto kNamesOf<MoeDispatch> = namedAs(
    "flat", "rank-dedup", "dedup", "hierarchical", "all-gather", "tensor-sliced", "traffic-aware");
template <>
inline constexpr auto kNamesOf<MoeBaseline> = namedAs(
    EnumName("fused", "fused kernels"), EnumName("einsum", "a masked product"));
template <> inline constexpr auto kNamesOf<MoePermute> = namedAs("standard", "memory-efficient");
template <>
inline constexpr auto kNamesOf<ExpertOverlap> = namedAs(
    EnumName("none", "off"), EnumName("1f1b", "forward with backward"));
template <> inline constexpr auto kNamesOf<ComputeSharing> = namedAs("even", EnumName("balanced", "by speed"));
template <>
inline constexpr auto kNamesOf<StateSharing> = namedAs("even", EnumName("balanced", "as memory allows"),
    EnumName("min-params", "even unless forced"), EnumName("min-utilization", "to equal use of memory"));
template <> inline constexpr auto kNamesOf<LayerSharing> = namedAs("even", EnumName("by-speed", "by speed"));
template <>
inline constexpr auto kNamesOf<Accumulation> = namedAs(
    EnumName("standard", "micro-batch by micro-batch"), EnumName("layered", "layer by layer"));

static_assert(kNamesOf<Precision>.size() == kPrecisionCount);
static_assert(kNamesOf<ScheduleKind>.size() == static_cast<std::size_t>(ScheduleKind::Atlas) + 1);

template <class E>
concept NamedEnum = kNamesOf<E>
.size() > 0;

[[nodiscard]] inline std::vector<std::string> namesInFile(EnumNames names)
{
    std::vector<std::string> texts;
    for (const EnumName &one : names)
        texts.emplace_back(one.name);
    return texts;
}

/// As in a plan file. By reference, so that for these enums it goes before templates of that name of others, as Qt
/// Test's.
template <NamedEnum E> [[nodiscard]] constexpr const char *toString(const E &value)
{
    return kNamesOf<E>[static_cast<std::size_t>(value)].name;
}
/// As people call it.
template <NamedEnum E> [[nodiscard]] constexpr const char *labelOf(E value)
{
    return kNamesOf<E>[static_cast<std::size_t>(value)].label;
}

} // namespace trainyard

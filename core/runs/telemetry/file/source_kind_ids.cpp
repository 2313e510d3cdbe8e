// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/file/source_kind_ids.h"

#include <algorithm>
#include <array>

namespace trainyard::recording_file {

namespace {

constexpr std::array<std::string_view, kSourceKinds> kIds { "unknown", "recording", "kineto_trace", "chakra_trace",
    "chakra_json", "execution_trace", "megatron_log", "torchtitan_log", "deepspeed_log", "nemo_log", "hf_trainer_log",
    "hf_trainer_state", "mlperf_log", "megatron_golden_values", "wandb_file", "tensorboard_events", "nccl_tests",
    "nccl_tests_json", "nccl_inspector", "nccl_debug_log", "nccl_profiler_dump", "flight_recorder", "iperf3", "fio",
    "smi_query", "smi_dmon", "metrics_text", "prometheus_answer", "otlp_json", "otlp_protobuf", "hf_config",
    "megatron_arguments", "torchtitan_toml", "slurm_topology", "smi_topology", "nccl_topology", "nccl_graph", "hwloc",
    "ibnetdiscover", "iblinkinfo", "skypilot_catalog", "plan", "slurm_nodes", "instance_types", "nanotron_config",
    "deepspeed_config", "accelerate_config", "llama_factory_config", "axolotl_config", "automodel_config",
    "maxtext_config", "primus_config", "step_log", "nsys_export", "other_profiler", "probe" };
static_assert(!kIds.back().empty());

} // namespace

std::string_view idOf(SourceKind kind)
{
    return kIds[static_cast<std::size_t>(kind)];
}

std::optional<SourceKind> kindOf(std::string_view id)
{
    const auto known = std::ranges::find(kIds, id);
    if (known == kIds.end())
        return std::nullopt;
    return static_cast<SourceKind>(known - kIds.begin());
}

} // namespace trainyard::recording_file

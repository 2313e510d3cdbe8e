// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/plan_diff.h"

#include "core/plan/diff_internal.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace trainyard {

namespace detail {

namespace {

struct Label {
    std::string_view path, label, unit;
};

constexpr std::array kLabels {
    Label { "link.rtt_ms", "RTT", " ms" },
    Label { "link.capacity_gbps", "Capacity", " Gbps" },
    Label { "link.node_pair_gbps", "Node pair", " Gbps" },
    Label { "link.tcp_window_mb", "TCP window", " MB" },
    Label { "link.cloud", "TCP window as measured on", "" },
    Label { "link.loss_rate", "Packet loss", "" },
    Label { "link.usd_per_gb", "Egress", " USD/GB" },
    Label { "link.between", "Ends of link", "" },
    Label { "datacenter.name", "Name of", "" },
    Label { "datacenter.latitude", "Latitude of", "°" },
    Label { "datacenter.longitude", "Longitude of", "°" },
    Label { "datacenter.fabric_gbps_per_gpu", "Fabric in", " Gbps per GPU" },
    Label { "datacenter.fabric_measured_gbytes_per_s", "Measured rate of the fabric in", " GB/s per GPU" },
    Label { "datacenter.fabric", "Kind of fabric in", "" },
    Label { "datacenter.usd_per_kwh", "Electricity in", " USD/kWh" },
    Label { "datacenter.kg_co2_per_kwh", "Carbon intensity in", " kg/kWh" },
    Label { "pool.gpu", "GPU of", "" },
    Label { "pool.nodes", "Nodes of", "" },
    Label { "pool.gpus_per_node", "GPUs per node of", "" },
    Label { "pool.usd_per_gpu_hour", "Price of a GPU in", " USD/hour" },
    Label { "pool.ssd", "Local drives of", "" },
    Label { "pool.ssd.write_gbytes_per_s", "Drive writes of", " GB/s" },
    Label { "pool.ssd.read_gbytes_per_s", "Drive reads of", " GB/s" },
    Label { "pool.ssd.endurance_pb", "Drive endurance of", " PB" },
    Label { "pool.host", "Host memory of", "" },
    Label { "pool.host.memory_gib", "Host memory of", " GiB" },
    Label { "pool.host.gbytes_per_s_per_gpu", "Host copy rate of", " GB/s per GPU" },
    Label { "workload.sequence_length", "Sequence", " tokens" },
    Label { "workload.document_length", "Documents", " tokens" },
    Label { "workload.global_batch", "Global batch", "" },
    Label { "workload.micro_batch", "Micro-batch", "" },
    Label { "workload.training_tokens", "Training", " tokens" },
    Label { "parallelism.tensor", "Tensor parallel", "" },
    Label { "parallelism.pipeline", "Pipeline stages", "" },
    Label { "parallelism.data", "Data parallel", "" },
    Label { "parallelism.context", "Context parallel", "" },
    Label { "parallelism.expert", "Expert parallel", "" },
    Label { "parallelism.expert_tensor", "Tensor parallel in experts", "" },
    Label { "parallelism.virtual_pipeline", "Virtual stages", "" },
    Label { "parallelism.token_slices", "Token slices", "" },
    Label { "parallelism.sequence_parallel", "Sequence parallelism", "" },
    Label { "parallelism.zero_stage", "ZeRO stage", "" },
    Label { "stack", "Software stack", "" },
    Label { "placement.mode", "Placement", "" },
    Label { "placement.stages", "Pinned stages", "" },
    Label { "placement.layers", "Layers of the stages", "" },
    Label { "memory.activation_offload", "Activation offload", "" },
    Label { "memory.recompute_layers", "Recomputed layers", "" },
    Label { "memory.recompute_norms", "Recomputed norms", "" },
    Label { "memory.recompute_activation_function", "Recomputed activation function", "" },
    Label { "memory.offload_policy", "Choice of what is offloaded", "" },
    Label { "memory.optimizer_offload", "Optimizer offload", "" },
    Label { "memory.delayed_update", "Delayed update", "" },
    Label { "memory.parameter_offload", "Parameter offload", "" },
    Label { "memory.saved_activation_bits", "Bits of a saved activation", "" },
    Label { "memory.fp8_activations", "Activations in FP8", "" },
    Label { "workload.galore_rank", "GaLore rank", "" },
    Label { "pool.ssd.usd", "Price of the drives of", " USD" },
    Label { "pool.ssd.write_amplification", "Write amplification of", "" },
    Label { "pool.ssd.retention_gain", "Retention gain of", "" },
    Label { "pool.ssd.gpus_sharing", "GPUs a PCIe switch of", "" },
    Label { "memory.offload_fraction", "Offloaded share", "" },
    Label { "memory.offload_min_elements", "Smallest offloaded tensor", " elements" },
    Label { "memory.offload_group", "Modules loaded together", "" },
    Label { "memory.offload_ahead", "Groups of modules loaded ahead", "" },
    Label { "wan.tcp_connections", "TCP connections", "" },
    Label { "wan.cell", "Pipelines a cell", "" },
    Label { "wan.congestion_control", "Congestion control", "" },
    Label { "wan.turns", "Turns in a cell", "" },
    Label { "wan.all_reduce", "All-reduce across datacenters", "" },
    Label { "wan.local_sgd", "Local SGD", "" },
    Label { "wan.local_steps", "Local steps", "" },
    Label { "wan.fragments", "Fragments of an exchange", "" },
    Label { "wan.exchange_bits", "Bits of an exchanged parameter", "" },
    Label { "wan.activation_bits", "Bits of an activation on the WAN", "" },
    Label { "wan.gradient_bits", "Bits of a gradient on the WAN", "" },
    Label { "moe.dispatch", "Expert dispatch", "" },
    Label { "moe.overlap_chunks", "Dispatch pieces", "" },
    Label { "moe.imbalance", "Expert imbalance", "" },
    Label { "moe.capacity_factor", "Expert capacity factor", "" },
    Label { "heterogeneity.compute", "Sharing of work", "" },
    Label { "heterogeneity.state", "Sharing of state", "" },
    Label { "bubble_fill.enabled", "Bubble filling", "" },
    Label { "bubble_fill.model", "Served model", "" },
    Label { "bubble_fill.stages", "Stages of the served model", "" },
    Label { "bubble_fill.arrivals", "Arrivals", "" },
    Label { "bubble_fill.burstiness", "Burstiness", "" },
    Label { "bubble_fill.trace", "Trace of requests", "" },
    Label { "bubble_fill.chaining", "Chaining of unaligned bubbles", "" },
    Label { "bubble_fill.kv_gbps", "Way to the decode GPUs", " Gbps" },
    Label { "bubble_fill.first_token_from_decode", "First token from the decode GPU", "" },
    Label { "bubble_fill.usd_per_million_tokens", "Value of prefill", " USD per million tokens" },
    Label { "bubble_fill.seed", "Seed of the arrivals", "" },
    Label { "bubble_fill.requests_per_s", "Requests", " per second" },
    Label { "bubble_fill.prompt_tokens", "Prompt", " tokens" },
    Label { "bubble_fill.ttft_slo_ms", "Time to first token", " ms" },
    Label { "bubble_fill.guard_ms", "Guard time", " ms" },
    Label { "profile.forward_ms", "Measured forward", " ms" },
    Label { "profile.backward_ms", "Measured backward", " ms" },
    Label { "profile.recompute_ms", "Measured recompute", " ms" },
    Label { "profile.weight_grad_ms", "Measured weight gradient", " ms" },
    Label { "profile.activation_mb", "Measured activation", " MB" },
    Label { "profile.gradient_mb", "Measured gradient", " MB" },
    Label { "profile.parameters_mb", "Measured parameters", " MB" },
    Label { "profile", "Measured times", "" },
};

/// A label for a key without one in the list: its last name with spaces.
std::string madeLabel(const std::string &path)
{
    std::string label = path.substr(path.rfind('.') == std::string::npos ? 0 : path.rfind('.') + 1);
    std::ranges::replace(label, '_', ' ');
    if (!label.empty())
        label[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(label[0])));
    return label;
}

} // namespace

std::string gpuLabel(const Pool &pool)
{
    if (pool.inlineGpu)
        return !pool.inlineGpu->name.empty() ? pool.inlineGpu->name : pool.inlineGpu->id.empty() ? "custom GPU" : pool.inlineGpu->id;
    std::string label;
    for (std::size_t at = 0; at <= pool.gpu.size();) {
        const std::size_t end = std::min(pool.gpu.find('-', at), pool.gpu.size());
        std::string word = pool.gpu.substr(at, end - at);
        const bool isSize = word.size() > 2 && word.ends_with("gb") && std::isdigit(static_cast<unsigned char>(word[0]));
        if (isSize)
            word.insert(word.size() - 2, " ");
        std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        if (word == "PCIE")
            word = "PCIe";
        label += (label.empty() ? "" : " ") + word;
        at = end + 1;
    }
    return label.empty() ? "GPU" : label;
}

std::string cutText(const std::string &text)
{
    constexpr std::size_t kLongest = 60;
    if (text.size() <= kLongest)
        return text;
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)   // not inside a UTF-8 character
        --end;
    return text.substr(0, end) + "…";
}

std::string changeSentence(const std::string &path, const std::string &subject, const std::string &before, const std::string &after)
{
    const auto found = std::ranges::find(kLabels, path, &Label::path);
    std::string label = found != kLabels.end() ? std::string(found->label) : madeLabel(path);
    const std::string unit = found != kLabels.end() ? std::string(found->unit) : "";
    if (path == "wan.sharing")
        return after == "temporal" ? "Temporal WAN sharing on" : "Temporal WAN sharing off";
    if (!subject.empty())
        label += " " + subject;
    if (before == after || path == "notes")
        return label + " changed";
    if ((after == "on" || after == "off") && (before == "on" || before == "off" || before == "default"))
        return label + " " + after;
    const bool isNumber = !after.empty() && (std::isdigit(static_cast<unsigned char>(after[0])) || after[0] == '-');
    return label + " " + before + " → " + after + (isNumber ? unit : "");
}

} // namespace detail

std::vector<std::string> describeDifferences(const Plan &before, const Plan &after)
{
    detail::Sentences sentences;
    detail::describeObject("", "", before, after, sentences);
    if (before.baseDir != after.baseDir)
        sentences.push_back(detail::changeSentence("folder", "", detail::shownText(before.baseDir), detail::shownText(after.baseDir)));
    return sentences;
}

} // namespace trainyard

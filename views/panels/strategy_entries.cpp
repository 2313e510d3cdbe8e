// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/strategy_entries.h"

#include <QtGlobal>

#include <string_view>

namespace trainyard {

namespace {

using Control = StrategyEntry::Control;

struct Row {
    std::string_view path;
    const char *group = nullptr; // nullptr: the key's own name
    Control control = Control::List; // of switches a switch
    bool isAdvanced = false;
};
struct Section {
    const char *title;
    EffectFocus focus;
    std::vector<Row> rows; // a part of the one above has two spaces before it
};

std::vector<Section> sections()
{
    return {
        { QT_TR_NOOP("Parallelism"), EffectFocus::Time,
            { { "parallelism.tensor" }, { "parallelism.pipeline" }, { "parallelism.data" }, { "parallelism.context" },
                { "parallelism.sequence_parallel" }, { "parallelism.zero_stage", "zero" } } },
        { QT_TR_NOOP("Schedule"), EffectFocus::Time,
            { { "schedule" }, { "parallelism.virtual_pipeline", "virtual" }, { "workload.micro_batch" } } },
        { QT_TR_NOOP("Across datacenters"), EffectFocus::Time,
            { { "placement.mode", "placement" }, { "wan.tcp_connections", nullptr, Control::Number },
                { "wan.congestion_control" }, { "wan.sharing" }, { "wan.cell", nullptr, Control::Number },
                { "wan.turns" }, { "wan.activation_bits" }, { "wan.all_reduce" }, { "wan.gradient_bits" },
                { "wan.local_sgd" }, { "  wan.local_steps", nullptr, Control::Number },
                { "  wan.fragments", nullptr, Control::Number }, { "  wan.exchange_bits" } } },
        { QT_TR_NOOP("Mixed GPUs"), EffectFocus::Time,
            { { "heterogeneity.compute", "share_work" }, { "heterogeneity.state", "share_states" },
                { "heterogeneity.layers", "share_layers" }, { "heterogeneity.accumulation" },
                { "  heterogeneity.gather_prefetch" }, { "  heterogeneity.boundary_offload" },
                { "heterogeneity.uneven_collective_penalty", nullptr, Control::Field, true },
                { "heterogeneity.accumulation_overhead_ms", nullptr, Control::Field, true },
                { "heterogeneity.memory_fraction", nullptr, Control::Field, true },
                { "heterogeneity.comm_buffer_gib", nullptr, Control::Field, true },
                { "heterogeneity.released_state_fill", nullptr, Control::List, true } } },
        { QT_TR_NOOP("Many models"), EffectFocus::Time,
            { { "job_scheduler" }, { "  job_options.remaining", "remaining" }, { "job_options.spill", "spill" },
                { "job_options.double_buffer", "double_buffer" }, { "job_options.look_ahead", "look_ahead" } } },
        { QT_TR_NOOP("Bubbles"), EffectFocus::Utilization,
            { { "bubble_fill.enabled", "bubble_fill" }, { "bubble_fill.model", "fill_model" },
                { "bubble_fill.stages", "fill_stages", Control::Number }, { "bubble_fill.arrivals", "fill_arrivals" },
                { "  bubble_fill.requests_per_s", "fill_rate", Control::Field },
                { "  bubble_fill.burstiness", "fill_burstiness", Control::Field },
                { "  bubble_fill.prompt_tokens", "fill_prompt", Control::Field },
                { "  bubble_fill.trace", "fill_trace", Control::File },
                { "bubble_fill.prefill_batch", "fill_batch", Control::Field },
                { "  bubble_fill.batch_wait_ms", "fill_batch_wait", Control::Field },
                { "bubble_fill.ttft_slo_ms", "fill_slo", Control::Field },
                { "bubble_fill.guard_ms", "fill_guard", Control::Field }, { "bubble_fill.chaining", "fill_chaining" },
                { "bubble_fill.kv_gbps", "fill_kv", Control::Field },
                { "bubble_fill.first_token_from_decode", "fill_first_token" },
                { "bubble_fill.usd_per_million_tokens", "fill_worth", Control::Field } } },
        { QT_TR_NOOP("Memory"), EffectFocus::Memory,
            { { "memory.recompute" }, { "  memory.recompute_layers", nullptr, Control::Number },
                { "  memory.recompute_norms" }, { "  memory.recompute_activation_function" },
                { "  memory.recompute_up_projection" }, { "  memory.recompute_shared_experts" }, { "moe.permute" },
                { "memory.offload_expert_input" }, { "memory.activation_offload" }, { "  memory.offload_fraction" },
                { "  memory.offload_policy" }, { "memory.saved_activation_bits" }, { "memory.fp8_activations" },
                { "workload.optimizer" }, { "  workload.galore_rank", nullptr, Control::Field },
                { "memory.optimizer_offload" }, { "  memory.delayed_update" }, { "memory.parameter_offload" } } },
        { QT_TR_NOOP("Experts"), EffectFocus::Time,
            { { "parallelism.expert" }, { "parallelism.expert_tensor" }, { "moe.dispatch" },
                { "  moe.overlap_chunks", nullptr, Control::Number }, { "  moe.pipeline_backward" },
                { "moe.expert_overlap" }, { "moe.shared_expert_overlap" }, { "moe.capacity_factor" },
                { "moe.baseline", "moe_baseline" }, { "moe.imbalance", nullptr, Control::Field, true },
                { "moe.communication_sms", nullptr, Control::Field, true } } },
        { QT_TR_NOOP("Precision and software"), EffectFocus::Time,
            { { "workload.precision" }, { "stack.base", "stack" }, { "  stack.release" } } },
    };
}

std::vector<StrategyEntry> madeEntries()
{
    std::vector<StrategyEntry> entries;
    for (const Section &section : sections()) {
        const char *title = section.title;
        for (const Row &row : section.rows) {
            const bool isPart = row.path.starts_with(' ');
            const KeyRow &key = planKey(row.path.substr(isPart ? 2 : 0));
            const Control control = key.kind == KeyKind::Flag ? Control::Switch : row.control;
            entries.push_back(
                { title, section.focus, row.group ? row.group : key.key.name, &key, control, isPart, row.isAdvanced });
            title = nullptr;
        }
    }
    return entries;
}

} // namespace

const std::vector<StrategyEntry> &strategyEntries()
{
    static const std::vector<StrategyEntry> entries = madeEntries();
    return entries;
}

} // namespace trainyard

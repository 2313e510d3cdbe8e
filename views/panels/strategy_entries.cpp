// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/strategy_entries.h"

#include <QtGlobal>

namespace trainyard {

namespace {

using Control = StrategyEntry::Control;

bool hasSeveralSites(const Plan &plan) { return plan.cluster.datacenters.size() > 1; }
bool fills(const Plan &plan) { return plan.bubbleFill.enabled; }
bool draws(const Plan &plan) { return fills(plan) && plan.bubbleFill.arrivals != Arrivals::Trace; }
bool projects(const Plan &plan) { return plan.workload.optimizer == Optimizer::Galore; }
bool bursts(const Plan &plan) { return fills(plan) && plan.bubbleFill.arrivals == Arrivals::Bursty; }

const NumberField kRate{QT_TR_NOOP(" requests/s"), 0, 1e9, 2, [](const Plan &p) { return p.bubbleFill.requestsPerSecond; },
                        [](Plan &p, double v) { p.bubbleFill.requestsPerSecond = v; }};
const NumberField kBurstiness{QT_TR_NOOP(" × the mean"), 1, 1e4, 1, [](const Plan &p) { return p.bubbleFill.burstiness; },
                              [](Plan &p, double v) { p.bubbleFill.burstiness = v; }};
const NumberField kPrompt{QT_TR_NOOP(" tokens"), 1, 1e8, 0, [](const Plan &p) { return double(p.bubbleFill.promptTokens); },
                          [](Plan &p, double v) { p.bubbleFill.promptTokens = int(v); }};
const NumberField kSlo{QT_TR_NOOP(" ms"), 1, 1e9, 0, [](const Plan &p) { return p.bubbleFill.ttftSloMs; },
                       [](Plan &p, double v) { p.bubbleFill.ttftSloMs = v; }};
const NumberField kGuard{QT_TR_NOOP(" ms"), 0, 1e9, 2, [](const Plan &p) { return p.bubbleFill.guardMs; },
                         [](Plan &p, double v) { p.bubbleFill.guardMs = v; }};
const NumberField kKv{QT_TR_NOOP(" Gbps"), 0, 1e6, 1, [](const Plan &p) { return p.bubbleFill.kvGbps.value_or(0); },
                      [](Plan &p, double v) { p.bubbleFill.kvGbps = v > 0 ? std::optional(v) : std::nullopt; }, QT_TR_NOOP("catalogue default")};
const NumberField kWorth{QT_TR_NOOP(" $/Mtok"), 0, 1e6, 3, [](const Plan &p) { return p.bubbleFill.usdPerMillionTokens; },
                         [](Plan &p, double v) { p.bubbleFill.usdPerMillionTokens = v; }, QT_TR_NOOP("GPU time saved")};

const NumberField kRank{QT_TR_NOOP(" of each matrix"), 1, 1e6, 0, [](const Plan &p) { return double(p.workload.galoreRank); },
                        [](Plan &p, double v) { p.workload.galoreRank = int(v); }};

const StrategyEntry kEntries[] = {
    {QT_TR_NOOP("Parallelism"), "tensor", QT_TR_NOOP("Tensor"), QT_TR_NOOP("GPUs that share every layer's matrix products: of one node or, where nodes are smaller, of several.")},
    {nullptr, "pipeline", QT_TR_NOOP("Pipeline"), QT_TR_NOOP("Stages into which the layers are cut; micro-batches flow through them.")},
    {nullptr, "data", QT_TR_NOOP("Data"), QT_TR_NOOP("Replicas of the whole pipeline. Auto: as many as can be placed.")},
    {nullptr, "context", QT_TR_NOOP("Context"), QT_TR_NOOP("GPUs that share one long sequence.")},
    {nullptr, "expert", QT_TR_NOOP("Expert"), QT_TR_NOOP("GPUs over which the experts of a layer are spread.")},
    {nullptr, "sequence_parallel", QT_TR_NOOP("Sequence parallel"), QT_TR_NOOP("Splits norms and dropout along the sequence within the tensor-parallel group: less activation memory at equal traffic."), Control::Switch},
    {nullptr, "zero", QT_TR_NOOP("ZeRO stage"), QT_TR_NOOP("What is sharded over the data-parallel replicas instead of repeated on each.")},
    {QT_TR_NOOP("Schedule"), "schedule", QT_TR_NOOP("Schedule"), QT_TR_NOOP("The order of forward and backward passes on each stage.")},
    {nullptr, "virtual", QT_TR_NOOP("Virtual stages"), QT_TR_NOOP("Chunks of layers that each stage holds; more chunks, shorter bubbles, more transfers.")},
    {nullptr, "micro_batch", QT_TR_NOOP("Micro-batch"), QT_TR_NOOP("Sequences that pass the pipeline together. The global batch stays.")},
    {QT_TR_NOOP("Across datacenters"), "placement", QT_TR_NOOP("Placement"), QT_TR_NOOP("Pipeline across: each datacenter holds some stages. Data across: each holds whole replicas. Auto: the better of both."), Control::List, nullptr, hasSeveralSites},
    {nullptr, "tcp_connections", QT_TR_NOOP("TCP connections"), QT_TR_NOOP("Connections between two nodes over the WAN, a number or auto: as many as fill the node pair. One connection sends at most one TCP window per round trip."), Control::Number, "wan.tcp_connections", hasSeveralSites},
    {nullptr, "congestion_control", QT_TR_NOOP("Congestion control"), QT_TR_NOOP("CUBIC slows down at every lost packet, BBR goes on at the rate that it measures. It matters on links with loss."), Control::List, nullptr, hasSeveralSites},
    {nullptr, "sharing", QT_TR_NOOP("WAN sharing"), QT_TR_NOOP("Spatial: each pipeline sends over its own pair of nodes. Temporal: the pipelines of a cell take turns, each over all pairs of the cell, so that a transfer is there sooner."), Control::List, nullptr, hasSeveralSites},
    {nullptr, "cell", QT_TR_NOOP("Cell size"), QT_TR_NOOP("Pipelines that take turns, a number or auto: time on the WAN over time of a forward, rounded."), Control::Number, "wan.cell", hasSeveralSites},
    {nullptr, "turns", QT_TR_NOOP("Turn order"), QT_TR_NOOP("Round-robin: lowest micro-batch first, then lowest pipeline. Drain-first: one pipeline until it has sent all; longer bubbles, slower."), Control::List, nullptr, hasSeveralSites},
    {nullptr, "activation_bits", QT_TR_NOOP("Activations"), QT_TR_NOOP("Bits of an activation, or of its gradient, on the WAN. Fewer than computed affects convergence."), Control::List, nullptr, hasSeveralSites},
    {nullptr, "all_reduce", QT_TR_NOOP("All-reduce"), QT_TR_NOOP("Weight gradients of replicas in several datacenters. Hierarchical: reduced inside each, exchanged between them, gathered again. Flat: one ring through all."), Control::List, nullptr, hasSeveralSites},
    {nullptr, "gradient_bits", QT_TR_NOOP("Gradients"), QT_TR_NOOP("Bits of a weight gradient between datacenters. Fewer than reduced affects convergence."), Control::List, nullptr, hasSeveralSites},
    {nullptr, "local_sgd", QT_TR_NOOP("Local SGD"), QT_TR_NOOP("Replicas of different datacenters train alone for some steps, then exchange what they learned. Streaming hides the exchange behind the next steps. It affects convergence."), Control::List, nullptr, hasSeveralSites},
    {nullptr, "local_steps", QT_TR_NOOP("  Steps"), QT_TR_NOOP("Steps between two exchanges of local SGD."), Control::Number, "wan.local_steps", hasSeveralSites},
    {nullptr, "fragments", QT_TR_NOOP("  Fragments"), QT_TR_NOOP("Parts of the model that are exchanged one after the other, so that the link never has all at once."), Control::Number, "wan.fragments", hasSeveralSites},
    {nullptr, "exchange_bits", QT_TR_NOOP("  Exchange"), QT_TR_NOOP("Bits of a parameter in an exchange of local SGD."), Control::List, nullptr, hasSeveralSites},
    {QT_TR_NOOP("Bubbles"), "bubble_fill", QT_TR_NOOP("Prefill in bubbles"), QT_TR_NOOP("Serves prompts of another model while training waits. A request is taken only where all of it fits into idle time, so training is never delayed."), Control::Switch, nullptr, nullptr, nullptr, true},
    {nullptr, "fill_model", QT_TR_NOOP("Served model"), QT_TR_NOOP("The model whose prompts are served. Its weights lie beside training."), Control::List, nullptr, nullptr, nullptr, true},
    {nullptr, "fill_stages", QT_TR_NOOP("Served over"), QT_TR_NOOP("GPUs of one datacenter over which the served model is split; more, and each holds less of it."), Control::Number, "bubble_fill.stages", fills, nullptr, true},
    {nullptr, "fill_arrivals", QT_TR_NOOP("Arrivals"), QT_TR_NOOP("When requests come: at random, evenly, in bursts, or as a recorded trace says."), Control::List, nullptr, nullptr, nullptr, true},
    {nullptr, "fill_rate", QT_TR_NOOP("  Rate"), QT_TR_NOOP("Requests that arrive in a second, on average, over the whole cluster."), Control::Field, "bubble_fill.requests_per_s", draws, &kRate},
    {nullptr, "fill_burstiness", QT_TR_NOOP("  Burst"), QT_TR_NOOP("Arrival rate inside a burst over the mean rate."), Control::Field, "bubble_fill.burstiness", bursts, &kBurstiness},
    {nullptr, "fill_prompt", QT_TR_NOOP("  Prompt"), QT_TR_NOOP("Tokens of a prompt. Prefill time grows a little faster than in proportion."), Control::Field, "bubble_fill.prompt_tokens", draws, &kPrompt},
    {nullptr, "fill_trace", QT_TR_NOOP("  Trace"), QT_TR_NOOP("A CSV with the columns time_s and prompt_tokens, one request per line. Choosing one makes it the arrivals."), Control::File, "bubble_fill.trace", fills},
    {nullptr, "fill_slo", QT_TR_NOOP("First token within"), QT_TR_NOOP("Time to first token that is promised; a request that would take longer is turned away."), Control::Field, "bubble_fill.ttft_slo_ms", fills, &kSlo},
    {nullptr, "fill_guard", QT_TR_NOOP("Guard time"), QT_TR_NOOP("Milliseconds of a bubble that prefill leaves free before training goes on, so that a prompt that takes longer than predicted delays nothing."), Control::Field, "bubble_fill.guard_ms", fills, &kGuard},
    {nullptr, "fill_chaining", QT_TR_NOOP("Chaining"), QT_TR_NOOP("Also spread a request over GPUs whose bubbles do not lie at the same time: fills more, but a request waits longer."), Control::Switch, nullptr, nullptr, nullptr, true},
    {nullptr, "fill_kv", QT_TR_NOOP("KV cache"), QT_TR_NOOP("Bandwidth from one GPU to the GPUs that decode, to which the KV cache moves. Zero: that of the fabric, by the catalogue."), Control::Field, "bubble_fill.kv_gbps", fills, &kKv},
    {nullptr, "fill_first_token", QT_TR_NOOP("TTFT from decode"), QT_TR_NOOP("The time to first token, in milliseconds, includes moving the KV cache: the GPU that decodes emits the first token, not the one that prefills."), Control::Switch, nullptr, nullptr, nullptr, true},
    {nullptr, "fill_worth", QT_TR_NOOP("Value of prefill"), QT_TR_NOOP("Dollars that a million prefill tokens bring in. Zero: what dedicated GPUs of the same kind would cost."), Control::Field, "bubble_fill.usd_per_million_tokens", fills, &kWorth},
    {QT_TR_NOOP("Memory"), "recompute", QT_TR_NOOP("Recompute"), QT_TR_NOOP("Activations that are thrown away after forward and computed again in backward. Selective: the core of attention. Full: all but the input of each layer."), Control::List, nullptr, nullptr, nullptr, false, true},
    {nullptr, "recompute_layers", QT_TR_NOOP("  Layers"), QT_TR_NOOP("Layers of each stage that are recomputed, its first ones. The rest keep what they computed."), Control::Number, "memory.recompute_layers", nullptr, nullptr, false, true},
    {nullptr, "recompute_norms", QT_TR_NOOP("  Norms"), QT_TR_NOOP("Outputs of the norms are computed again in backward: cheap, because a norm is limited by memory bandwidth and its input is kept anyway."), Control::Switch, nullptr, nullptr, nullptr, false, true},
    {nullptr, "recompute_activation_function", QT_TR_NOOP("  Act. function"), QT_TR_NOOP("The output of the MLP's activation function is computed again in backward from its input."), Control::Switch, nullptr, nullptr, nullptr, false, true},
    {nullptr, "activation_offload", QT_TR_NOOP("Activation offload"), QT_TR_NOOP("Activations leave the GPU after forward and return before backward, over PCIe, to host memory or to drives. What has not left in time is used where it is."), Control::List, nullptr, nullptr, nullptr, false, true},
    {nullptr, "offload_fraction", QT_TR_NOOP("  Share"), QT_TR_NOOP("How much of the activations leaves. Auto: as much as backward does not wait for."), Control::List, nullptr, nullptr, nullptr, false, true},
    {nullptr, "offload_policy", QT_TR_NOOP("  Chosen as"), QT_TR_NOOP("SSDTrain: whole tensors, the first ones. MEMO: of each layer input and attention output, and a share of the tokens of the rest. KARMA: layers that have no room to stay, whichever of swapping and recomputing is shorter for each. ProTrain: the fastest split into swapped, recomputed and kept layers. These three compute again what does not leave."), Control::List, nullptr, nullptr, nullptr, false, true},
    {nullptr, "saved_activation_bits", QT_TR_NOOP("Saved activations"), QT_TR_NOOP("Bits of an activation kept for the backward pass. Fewer than computed takes time to pack and affects convergence."), Control::List, nullptr, nullptr, nullptr, false, true},
    {nullptr, "fp8_activations", QT_TR_NOOP("FP8 inputs"), QT_TR_NOOP("Inputs of linear layers are kept in 8 bits."), Control::Switch, nullptr, nullptr, nullptr, false, true},
    {nullptr, "optimizer", QT_TR_NOOP("Optimizer"), QT_TR_NOOP("What it keeps for each parameter: Adam 8 bytes of moments, with 8 bits 2, GaLore moments of projected gradients. Another one trains otherwise."), Control::List, nullptr, nullptr, nullptr, false, true},
    {nullptr, "galore_rank", QT_TR_NOOP("  Rank"), QT_TR_NOOP("Rank of GaLore's projected gradients."), Control::Field, "workload.galore_rank", projects, &kRank},
    {nullptr, "optimizer_offload", QT_TR_NOOP("Optimizer states"), QT_TR_NOOP("Where they live and are updated. Host memory: ZeRO-Offload, by the processors. Interleaved: every few groups on the GPU (Deep Optimizer States). Drives: ZeRO-Infinity."), Control::List, nullptr, nullptr, nullptr, false, true},
    {nullptr, "delayed_update", QT_TR_NOOP("  Delayed update"), QT_TR_NOOP("The update runs beside the next iteration, which computes with weights one step old. It affects convergence."), Control::Switch, nullptr, nullptr, nullptr, false, true},
    {nullptr, "parameter_offload", QT_TR_NOOP("Parameters"), QT_TR_NOOP("Where weights wait between their uses."), Control::List, nullptr, nullptr, nullptr, false, true},
    {QT_TR_NOOP("Precision and software"), "precision", QT_TR_NOOP("Precision"), QT_TR_NOOP("Number format of the matrix products.")},
    {nullptr, "stack", QT_TR_NOOP("Software"), QT_TR_NOOP("The framework whose habits are modelled: what it overlaps, keeps and adds.")},
    {nullptr, "release", QT_TR_NOOP("  Release"), QT_TR_NOOP("Which release of it runs: equal plans took different times from one to the next. Where it is not named, the range of the prediction holds all of them.")},
};

} // namespace

std::span<const StrategyEntry> strategyEntries()
{
    return kEntries;
}

} // namespace trainyard

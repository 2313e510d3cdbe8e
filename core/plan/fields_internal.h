#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one table of the plan file's keys: name, meaning, range, member. The reader, the writer and the schema each walk
// it, so none of them can know a key that the others do not. Private to core/plan.
//
// A visitor has: value(key, member) for plain values, enums, objects, lists and optionals of them; automatic(key,
// member) where "auto" is a value; and a verb for each key that has a shape of its own (gpu, model, stack, pair ...).

#include "core/plan/plan.h"

#include <limits>
#include <type_traits>

namespace trainyard::detail {

struct Key {
    const char *name;
    const char *doc;
    double min = 0, max = 1e15;
    bool aboveMin = false;   // min itself is out
    bool required = false;
    bool always = false;     // written even when it is the default
};

inline constexpr double kHuge = std::numeric_limits<double>::max();

template <class V>
void describe(V &v, std::type_identity<Ssd>)
{
    v.value(Key { .name = "write_gbytes_per_s", .doc = "Sequential write of one node's drives, 10^9 bytes/s", .max = 1e6, .always = true }, &Ssd::writeGBps);
    v.value(Key { .name = "read_gbytes_per_s", .doc = "Sequential read of one node's drives, 10^9 bytes/s", .max = 1e6, .always = true }, &Ssd::readGBps);
    v.value(Key { .name = "endurance_pb", .doc = "Total bytes written before wear-out, 10^15 bytes", .max = 1e6 }, &Ssd::endurancePb);
    v.value(Key { .name = "usd", .doc = "Price of one node's drives, USD", .max = 1e9 }, &Ssd::usd);
    v.value(Key { .name = "write_amplification", .doc = "Bytes that the drive writes for each byte sent; the rating assumes 2.5 (JESD218)", .min = 1, .max = 100 }, &Ssd::writeAmplification);
    v.value(Key { .name = "retention_gain", .doc = "Further program/erase cycles where data need not last as long as rated: 1 is the rating", .min = 1, .max = 1e3 }, &Ssd::retentionGain);
    v.value(Key { .name = "gpus_sharing", .doc = "GPUs behind one PCIe switch on the way to the drives", .min = 1, .max = 1024 }, &Ssd::gpusSharing);
}

template <class V>
void describe(V &v, std::type_identity<Host>)
{
    v.value(Key { .name = "memory_gib", .doc = "Main memory of one node, 2^30 bytes", .max = 1e7, .always = true }, &Host::memoryGib);
    v.value(Key { .name = "gbytes_per_s_per_gpu", .doc = "Host to device copy rate per GPU, 10^9 bytes/s", .max = 1e6 }, &Host::gbytesPerSecondPerGpu);
}

template <class V>
void describe(V &v, std::type_identity<Pool>)
{
    v.value(Key { .name = "id", .doc = "Name of the pool, unique in the plan; made up where absent", .always = true }, &Pool::id);
    v.gpu(Key { .name = "gpu", .doc = "Catalogue id of the GPU type, or an inline object with the catalogue's fields", .required = true });
    v.value(Key { .name = "nodes", .doc = "Nodes in the pool", .max = 1e6, .required = true }, &Pool::nodes);
    v.value(Key { .name = "gpus_per_node", .doc = "GPUs in each node", .min = 1, .max = 1024, .always = true }, &Pool::gpusPerNode);
    v.value(Key { .name = "usd_per_gpu_hour", .doc = "Price of one GPU, USD/hour; default: the catalogue's", .max = 1e6 }, &Pool::usdPerGpuHour);
    v.value(Key { .name = "ssd", .doc = "Local drives of one node" }, &Pool::ssd);
    v.value(Key { .name = "host", .doc = "Main memory of one node" }, &Pool::host);
}

template <class V>
void describe(V &v, std::type_identity<Datacenter>)
{
    v.value(Key { .name = "id", .doc = "Name that links and pins refer to, unique in the plan", .required = true }, &Datacenter::id);
    v.value(Key { .name = "name", .doc = "Name to show; default: the id" }, &Datacenter::name);
    v.value(Key { .name = "latitude", .doc = "Degrees north, for the map", .min = -90, .max = 90 }, &Datacenter::latitude);
    v.value(Key { .name = "longitude", .doc = "Degrees east, for the map", .min = -180, .max = 180 }, &Datacenter::longitude);
    v.value(Key { .name = "fabric_gbps_per_gpu", .doc = "NIC bandwidth per GPU and direction, 10^9 bits/s; default: the GPU's catalogue entry", .max = 1e6, .aboveMin = true }, &Datacenter::fabricGbpsPerGpu);
    v.value(Key { .name = "fabric_measured_gbytes_per_s", .doc = "Rate of one GPU in large collectives between nodes as measured, 10^9 bytes/s: the busbw of nccl-tests over one GPU per node, or over whole nodes divided by the GPUs of a node; default: the usual share of the nominal rate", .max = 1e5, .aboveMin = true }, &Datacenter::fabricMeasuredGBps);
    v.value(Key { .name = "fabric", .doc = "Network between the nodes: rdma (InfiniBand, RoCE), or tcp over a cloud's Ethernet" }, &Datacenter::fabric);
    v.value(Key { .name = "usd_per_kwh", .doc = "Electricity price, USD/kWh", .max = 1e3 }, &Datacenter::usdPerKwh);
    v.value(Key { .name = "kg_co2_per_kwh", .doc = "Carbon intensity of the electricity, kg CO2/kWh", .max = 1e2 }, &Datacenter::kgCo2PerKwh);
    v.value(Key { .name = "pools", .doc = "Pools of equal nodes", .always = true }, &Datacenter::pools);
}

template <class V>
void describe(V &v, std::type_identity<WanLink>)
{
    v.between(Key { .name = "between", .doc = "The two datacenters, by id", .required = true });
    v.value(Key { .name = "rtt_ms", .doc = "Round-trip time, milliseconds", .max = 1e6, .required = true }, &WanLink::rttMs);
    v.value(Key { .name = "capacity_gbps", .doc = "Bandwidth of the link per direction, all node pairs together, 10^9 bits/s", .max = 1e12, .aboveMin = true, .always = true }, &WanLink::capacityGbps);
    v.value(Key { .name = "node_pair_gbps", .doc = "Most that one pair of nodes reaches per direction, 10^9 bits/s", .max = 1e12, .aboveMin = true, .always = true }, &WanLink::nodePairGbps);
    v.value(Key { .name = "tcp_window_mb", .doc = "Window of one TCP connection, 10^6 bytes", .max = 1e12, .aboveMin = true, .always = true }, &WanLink::tcpWindowMb);
    v.value(Key { .name = "cloud", .doc = "Provider whose measured TCP window replaces tcp_window_mb: a catalogue name (aws, gcp, azure)" }, &WanLink::cloud);
    v.value(Key { .name = "loss_rate", .doc = "Share of the packets that is lost; bounds connections that take loss for congestion", .max = 0.5 }, &WanLink::lossRate);
    v.directions(Key { .name = "usd_per_gb", .doc = "Egress price, USD per 10^9 bytes, or [first to second, second to first]; default: the catalogue's by region, else 0.02", .max = 1e3 });
}

template <class V>
void describe(V &v, std::type_identity<Cluster>)
{
    v.value(Key { .name = "datacenters", .doc = "Datacenters, in the order in which they are shown", .required = true }, &Cluster::datacenters);
    v.value(Key { .name = "wan_links", .doc = "Links between datacenters; without one, two cannot exchange traffic", .always = true }, &Cluster::wanLinks);
}

template <class V>
void describe(V &v, std::type_identity<WorkloadSpec>)
{
    v.model(Key { .name = "model", .doc = "Catalogue name, path of a Hugging Face config.json (relative to the plan), or an inline object" });
    v.value(Key { .name = "sequence_length", .doc = "Tokens of one sequence", .min = 1, .max = 1e8, .always = true }, &WorkloadSpec::sequenceLength);
    v.value(Key { .name = "document_length", .doc = "Mean tokens of a document, where a mask keeps attention inside documents; absent: a sequence is one", .min = 1, .max = 1e8 }, &WorkloadSpec::documentLength);
    v.value(Key { .name = "global_batch", .doc = "Sequences of one iteration, all pipelines together", .min = 1, .max = 1e7, .always = true }, &WorkloadSpec::globalBatch);
    v.value(Key { .name = "micro_batch", .doc = "Sequences of one micro-batch", .min = 1, .max = 1e6, .always = true }, &WorkloadSpec::microBatch);
    v.value(Key { .name = "precision", .doc = "Number format of the matrix products", .always = true }, &WorkloadSpec::precision);
    v.value(Key { .name = "optimizer", .doc = "Optimizer, for its state and step", .always = true }, &WorkloadSpec::optimizer);
    v.value(Key { .name = "galore_rank", .doc = "Rank of the projected gradients under galore", .min = 1, .max = 1e6 }, &WorkloadSpec::galoreRank);
    v.value(Key { .name = "training_tokens", .doc = "Tokens of the whole run; totals are null without it", .max = 1e18, .aboveMin = true }, &WorkloadSpec::trainingTokens);
}

template <class V>
void describe(V &v, std::type_identity<Parallelism>)
{
    v.value(Key { .name = "tensor", .doc = "Tensor-parallel degree, inside a node or over whole nodes of a pool", .min = 1, .max = 1024, .always = true }, &Parallelism::tensor);
    v.value(Key { .name = "pipeline", .doc = "Pipeline stages", .min = 1, .max = 4096, .always = true }, &Parallelism::pipeline);
    v.automatic(Key { .name = "data", .doc = "Data-parallel degree; auto: the largest that can be placed", .min = 1, .max = 1e6, .always = true }, &Parallelism::data);
    v.value(Key { .name = "context", .doc = "Context-parallel degree", .min = 1, .max = 1024 }, &Parallelism::context);
    v.value(Key { .name = "expert", .doc = "Expert-parallel degree", .min = 1, .max = 4096 }, &Parallelism::expert);
    v.value(Key { .name = "expert_tensor", .doc = "Tensor-parallel degree of the experts", .min = 1, .max = 1024 }, &Parallelism::expertTensor);
    v.value(Key { .name = "virtual_pipeline", .doc = "Model chunks per stage", .min = 1, .max = 1024 }, &Parallelism::virtualPipeline);
    v.value(Key { .name = "token_slices", .doc = "Pieces of a sequence that follow each other down the pipeline, under terapipe", .min = 1, .max = 1024 }, &Parallelism::tokenSlices);
    v.value(Key { .name = "sequence_parallel", .doc = "Split norms and dropout over the tensor group; default: tensor > 1" }, &Parallelism::sequenceParallel);
    v.value(Key { .name = "zero_stage", .doc = "Sharding over data-parallel ranks: 0 none, 1 optimizer, 2 and gradients, 3 and parameters", .max = 3 }, &Parallelism::zeroStage);
}

template <class V>
void describe(V &v, std::type_identity<StagePin>)
{
    v.value(Key { .name = "datacenter", .doc = "Datacenter, by id", .required = true }, &StagePin::datacenter);
    v.value(Key { .name = "stages", .doc = "Stages that it holds", .min = 1, .max = 4096, .required = true }, &StagePin::stages);
}

template <class V>
void describe(V &v, std::type_identity<Placement>)
{
    v.value(Key { .name = "mode", .doc = "Stages or replicas across datacenters; auto: the better of the two", .always = true }, &Placement::mode);
    v.value(Key { .name = "stages", .doc = "Pins how many stages each datacenter holds, in pipeline order" }, &Placement::stages);
    v.perStage(Key { .name = "layers", .doc = "Transformer layers of each stage, in pipeline order; default: even, the first and the last less where they do not divide", .min = 0, .max = 1e6 }, &Placement::layers);
}

template <class V>
void describe(V &v, std::type_identity<MemoryStrategy>)
{
    v.value(Key { .name = "recompute", .doc = "Activations computed again in the backward pass", .always = true }, &MemoryStrategy::recompute);
    v.value(Key { .name = "recompute_layers", .doc = "Layers of each stage that recompute, its first ones; default: all", .max = 1e6 }, &MemoryStrategy::recomputeLayers);
    v.value(Key { .name = "recompute_norms", .doc = "Outputs of norms are computed again" }, &MemoryStrategy::recomputeNorms);
    v.value(Key { .name = "recompute_activation_function", .doc = "Outputs of the MLP's activation function are computed again" }, &MemoryStrategy::recomputeActivationFunction);
    v.value(Key { .name = "activation_offload", .doc = "Where activations wait for the backward pass" }, &MemoryStrategy::activationOffload);
    v.automatic(Key { .name = "offload_fraction", .doc = "Share of the activations that is offloaded; auto: what can be hidden", .max = 1 }, &MemoryStrategy::offloadFraction);
    v.value(Key { .name = "offload_policy", .doc = "How offloaded activations are chosen: ssdtrain (whole tensors), memo (a share of the tokens, the rest recomputed), karma (swap or recompute, layer by layer), protrain (layers swapped, recomputed and kept, the fastest split that fits)" }, &MemoryStrategy::offloadPolicy);
    v.value(Key { .name = "offload_min_elements", .doc = "Tensors of fewer elements stay on the GPU", .max = 2e9 }, &MemoryStrategy::offloadMinElements);
    v.value(Key { .name = "offload_group", .doc = "Modules (attention or MLP, or recomputed layers) that are loaded together", .min = 1, .max = 1024 }, &MemoryStrategy::offloadGroup);
    v.value(Key { .name = "offload_ahead", .doc = "Groups of modules that are loaded ahead of the one in its backward pass", .min = 1, .max = 1024 }, &MemoryStrategy::offloadAhead);
    v.value(Key { .name = "optimizer_offload", .doc = "Where the optimizer state lives" }, &MemoryStrategy::optimizerOffload);
    v.value(Key { .name = "delayed_update", .doc = "An offloaded optimizer step runs beside the next iteration, one step stale. Affects convergence" }, &MemoryStrategy::delayedUpdate);
    v.value(Key { .name = "parameter_offload", .doc = "Where parameters wait between their uses" }, &MemoryStrategy::parameterOffload);
    v.value(Key { .name = "saved_activation_bits", .doc = "Bits of an activation kept for the backward pass; default: as computed. Fewer affects convergence", .min = 1, .max = 16 }, &MemoryStrategy::savedActivationBits);
    v.value(Key { .name = "fp8_activations", .doc = "Inputs of linear layers are kept in FP8" }, &MemoryStrategy::fp8Activations);
}

template <class V>
void describe(V &v, std::type_identity<WanStrategy>)
{
    v.automatic(Key { .name = "tcp_connections", .doc = "TCP connections per node pair; auto: as many as fill it, up to a limit", .min = 1, .max = 1e6, .always = true }, &WanStrategy::tcpConnections);
    v.value(Key { .name = "congestion_control", .doc = "Of the TCP connections: cubic slows down at each loss, bbr does not" }, &WanStrategy::congestion);
    v.value(Key { .name = "sharing", .doc = "Pipelines use their own node pairs, or take turns on all pairs of the cell", .always = true }, &WanStrategy::sharing);
    v.automatic(Key { .name = "cell", .doc = "Pipelines of one cell; auto: WAN time / forward time, rounded", .min = 1, .max = 1e6 }, &WanStrategy::cell);
    v.value(Key { .name = "turns", .doc = "Whose turn it is in a cell: round-robin (lowest micro-batch first) or drain-first (one pipeline after the other)" }, &WanStrategy::turns);
    v.value(Key { .name = "all_reduce", .doc = "Gradients across datacenters: hierarchical (reduced inside each first) or flat (one ring through all ranks)" }, &WanStrategy::allReduce);
    v.value(Key { .name = "local_sgd", .doc = "Replicas of different datacenters train alone between exchanges: none, diloco or streaming. Affects convergence" }, &WanStrategy::localSgd);
    v.value(Key { .name = "local_steps", .doc = "Steps between two exchanges of local SGD", .min = 1, .max = 1e6 }, &WanStrategy::localSteps);
    v.value(Key { .name = "fragments", .doc = "Parts of the model that streaming local SGD exchanges one after the other", .min = 1, .max = 1e4 }, &WanStrategy::fragments);
    v.value(Key { .name = "exchange_bits", .doc = "Bits of a parameter in an exchange of local SGD", .min = 1, .max = 32 }, &WanStrategy::exchangeBits);
    v.value(Key { .name = "activation_bits", .doc = "Bits of an activation or its gradient on the WAN; default: as computed. Fewer affects convergence", .min = 1, .max = 32 }, &WanStrategy::activationBits);
    v.value(Key { .name = "gradient_bits", .doc = "Bits of a weight gradient between datacenters; default: as reduced. Fewer affects convergence", .min = 1, .max = 32 }, &WanStrategy::gradientBits);
}

template <class V>
void describe(V &v, std::type_identity<MoeStrategy>)
{
    v.value(Key { .name = "dispatch", .doc = "How tokens travel to their experts" }, &MoeStrategy::dispatch);
    v.automatic(Key { .name = "overlap_chunks", .doc = "Pieces in which dispatch overlaps with computation", .min = 1, .max = 1024 }, &MoeStrategy::overlapChunks);
    v.value(Key { .name = "imbalance", .doc = "Tokens of the busiest expert / mean", .min = 1, .max = 1e4 }, &MoeStrategy::imbalance);
    v.value(Key { .name = "capacity_factor", .doc = "Room of an expert / mean; null: nothing is dropped", .max = 1e4, .aboveMin = true }, &MoeStrategy::capacityFactor);
}

template <class V>
void describe(V &v, std::type_identity<Heterogeneity>)
{
    v.value(Key { .name = "compute", .doc = "Work split evenly, or by the speed of the GPUs" }, &Heterogeneity::compute);
    v.value(Key { .name = "state", .doc = "State split evenly, or by the memory of the GPUs" }, &Heterogeneity::state);
}

template <class V>
void describe(V &v, std::type_identity<BubbleFill>)
{
    v.value(Key { .name = "enabled", .doc = "Serve prefill requests in the bubbles", .always = true }, &BubbleFill::enabled);
    v.value(Key { .name = "model", .doc = "Model that is served: catalogue name or path" }, &BubbleFill::model);
    v.value(Key { .name = "stages", .doc = "Stages over which the served model is spread", .min = 1, .max = 4096 }, &BubbleFill::stages);
    v.value(Key { .name = "arrivals", .doc = "When requests arrive: poisson, constant, bursty, or a trace" }, &BubbleFill::arrivals);
    v.value(Key { .name = "requests_per_s", .doc = "Arrival rate of requests, 1/s", .max = 1e9 }, &BubbleFill::requestsPerSecond);
    v.value(Key { .name = "burstiness", .doc = "Bursty arrivals: rate inside a burst / mean rate", .min = 1, .max = 1e4 }, &BubbleFill::burstiness);
    v.value(Key { .name = "trace", .doc = "Arrivals from a CSV with the columns time_s,prompt_tokens, relative to the plan" }, &BubbleFill::trace);
    v.value(Key { .name = "prompt_tokens", .doc = "Tokens of a prompt", .min = 1, .max = 1e8 }, &BubbleFill::promptTokens);
    v.value(Key { .name = "ttft_slo_ms", .doc = "Time to first token that is promised, milliseconds", .max = 1e9, .aboveMin = true }, &BubbleFill::ttftSloMs);
    v.value(Key { .name = "guard_ms", .doc = "Time kept free before training work, milliseconds", .max = 1e9 }, &BubbleFill::guardMs);
    v.value(Key { .name = "chaining", .doc = "Also place a request over GPUs whose bubbles are not aligned" }, &BubbleFill::chaining);
    v.value(Key { .name = "kv_gbps", .doc = "Bandwidth of one GPU to the decode GPUs, 10^9 bits/s; default: the fabric's", .max = 1e6, .aboveMin = true }, &BubbleFill::kvGbps);
    v.value(Key { .name = "first_token_from_decode", .doc = "The decode GPU emits the first token, so that moving the KV cache counts" }, &BubbleFill::firstTokenFromDecode);
    v.value(Key { .name = "usd_per_million_tokens", .doc = "Value of 10^6 prefill tokens, USD; 0: what a dedicated GPU of the same kind would cost", .max = 1e6 }, &BubbleFill::usdPerMillionTokens);
    v.value(Key { .name = "seed", .doc = "Seed of the random arrivals", .max = 1e9 }, &BubbleFill::seed);
}

template <class V>
void describe(V &v, std::type_identity<Job>)
{
    v.value(Key { .name = "name", .doc = "Name of the job", .required = true }, &Job::name);
    v.value(Key { .name = "model", .doc = "Catalogue name or path of a Hugging Face config.json", .required = true }, &Job::model);
    v.value(Key { .name = "batch", .doc = "Sequences of one mini-batch", .min = 1, .max = 1e7, .always = true }, &Job::batch);
    v.value(Key { .name = "minibatches", .doc = "Mini-batches of one epoch", .min = 1, .max = 1e9, .always = true }, &Job::minibatches);
    v.value(Key { .name = "epochs", .doc = "Epochs", .min = 1, .max = 1e6, .always = true }, &Job::epochs);
}

template <class V>
void describe(V &v, std::type_identity<MeasuredStageTimes>)
{
    v.perStage(Key { .name = "forward_ms", .doc = "Forward pass of one stage and micro-batch, milliseconds; a number or one per stage", .max = kHuge, .aboveMin = true, .required = true }, &MeasuredStageTimes::forwardMs);
    v.perStage(Key { .name = "backward_ms", .doc = "Backward pass without recompute, milliseconds; a number or one per stage", .max = kHuge, .aboveMin = true, .required = true }, &MeasuredStageTimes::backwardMs);
    v.perStage(Key { .name = "recompute_ms", .doc = "Recompute, milliseconds; counts unless memory.recompute is none", .max = kHuge }, &MeasuredStageTimes::recomputeMs);
    v.perStage(Key { .name = "weight_grad_ms", .doc = "Part of the backward pass that computes weight gradients, milliseconds", .max = kHuge }, &MeasuredStageTimes::weightGradMs);
    v.value(Key { .name = "activation_mb", .doc = "What crosses one stage boundary per micro-batch forward, 10^6 bytes", .max = kHuge, .always = true }, &MeasuredStageTimes::activationMb);
    v.value(Key { .name = "gradient_mb", .doc = "What crosses it backward, 10^6 bytes; default: activation_mb", .max = kHuge }, &MeasuredStageTimes::gradientMb);
    v.value(Key { .name = "parameters_mb", .doc = "Data-parallel all-reduce of this much, 10^6 bytes; 0: none", .max = kHuge }, &MeasuredStageTimes::parametersMb);
    v.perStage(Key { .name = "in_flight", .doc = "Most micro-batches in flight, a number or one per stage; default: limited by the schedule only", .min = 1, .max = 1e9 }, &MeasuredStageTimes::inFlight);
}

template <class V>
void describe(V &v, std::type_identity<Plan>)
{
    v.value(Key { .name = "name", .doc = "Title of the plan", .always = true }, &Plan::name);
    v.value(Key { .name = "notes", .doc = "Sources and assumptions" }, &Plan::notes);
    v.value(Key { .name = "cluster", .doc = "Which hardware there is", .required = true }, &Plan::cluster);
    v.value(Key { .name = "workload", .doc = "What is trained", .required = true }, &Plan::workload);
    v.value(Key { .name = "parallelism", .doc = "How the model is split", .always = true }, &Plan::parallelism);
    v.value(Key { .name = "schedule", .doc = "Order of the micro-batches on a pipeline", .always = true }, &Plan::schedule);
    v.stack(Key { .name = "stack", .doc = "Training framework whose habits are modelled: a name, or { \"base\": name, \"release\": name, ...overrides }", .always = true });
    v.value(Key { .name = "placement", .doc = "What runs in which datacenter", .always = true }, &Plan::placement);
    v.value(Key { .name = "memory", .doc = "What is kept, computed again or moved out", .always = true }, &Plan::memory);
    v.value(Key { .name = "wan", .doc = "Use of the links between datacenters", .always = true }, &Plan::wan);
    v.value(Key { .name = "moe", .doc = "Mixture-of-experts communication" }, &Plan::moe);
    v.value(Key { .name = "heterogeneity", .doc = "Sharing between unequal GPUs" }, &Plan::heterogeneity);
    v.value(Key { .name = "bubble_fill", .doc = "Inference work in the bubbles" }, &Plan::bubbleFill);
    v.value(Key { .name = "jobs", .doc = "Models of the multi-model mode" }, &Plan::jobs);
    v.jobScheduler(Key { .name = "job_scheduler", .doc = "Scheduler of the multi-model mode" });
    v.calibration(Key { .name = "calibration", .doc = "Factors fitted from telemetry, each with the recording that it came from" });
    v.value(Key { .name = "profile", .doc = "Measured times that override the cost model" }, &Plan::profile);
}

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

} // namespace trainyard::detail

// SPDX-License-Identifier: GPL-3.0-or-later
// JSON Schema of what `evaluate --format json` prints (core/evaluation/report/metrics_json.cpp writes it). A metric
// that does not apply to a plan is null.
#include "core/evaluation/report/metrics_json.h"

#include "core/evaluation/report/json_internal.h"

namespace trainyard {

namespace {

enum class Kind : std::uint8_t { Number, Count, Text, Flag, TextPair, NumberPair, Texts, Counts };

struct Field {
    const char *name;
    Kind kind;
    const char *doc;
};

Json pairOf(const char *type)
{
    return { { "type", "array" }, { "items", { { "type", type } } }, { "minItems", 2 }, { "maxItems", 2 } };
}

Json fieldSchema(const Field &field)
{
    Json schema;
    switch (field.kind) {
    case Kind::Number:
        schema["type"] = Json::array({ "number", "null" });
        break;
    case Kind::Count:
        schema["type"] = Json::array({ "integer", "null" });
        break;
    case Kind::Text:
        schema["type"] = Json::array({ "string", "null" });
        break;
    case Kind::Flag:
        schema["type"] = Json::array({ "boolean", "null" });
        break;
    case Kind::TextPair:
        schema = pairOf("string");
        break;
    case Kind::NumberPair:
        schema = pairOf("number");
        break;
    case Kind::Texts:
        schema = { { "type", "array" }, { "items", { { "type", "string" } } } };
        break;
    case Kind::Counts:
        schema = { { "type", "array" }, { "items", { { "type", "integer" } } } };
        break;
    }
    schema["description"] = field.doc;
    return schema;
}

Json object(std::initializer_list<Field> fields)
{
    Json schema;
    schema["type"] = Json::array({ "object", "null" });
    for (const Field &field : fields)
        schema["properties"][field.name] = fieldSchema(field);
    return schema;
}

Json list(Json items)
{
    if (items["type"] != "integer")
        items["type"] = "object";
    Json schema;
    schema["type"] = Json::array({ "array", "null" });
    schema["items"] = std::move(items);
    return schema;
}

Json memorySchema()
{
    using enum Kind;
    Json memory = object({ { "peak_bytes", Count, "Allocated by the framework on the fullest GPU" },
        { "reserved_bytes", Count, "Reserved by the allocator of that GPU" },
        { "device_bytes", Count, "Reserved, context and communication buffers of that GPU" },
        { "capacity_bytes", Count, "What the driver of that GPU reports" },
        { "fits", Flag, "Whether device_bytes is within capacity_bytes on every stage" } });
    memory["properties"]["per_stage"] = list(object({ { "stage", Count, "Stage, from 0" },
        { "weights_bytes", Count, "Parameters" }, { "gradients_bytes", Count, "Gradients" },
        { "optimizer_bytes", Count, "Optimizer state" }, { "activations_bytes", Count, "Activations at the peak" },
        { "buffers_bytes", Count, "Communication and workspace tensors" },
        { "reserved_bytes", Count, "Reserved by the allocator" }, { "offloaded_bytes", Count, "Kept outside the GPU" },
        { "peak_bytes", Count, "Allocated by the framework" },
        { "device_bytes", Count, "Reserved, context and communication buffers" },
        { "capacity_bytes", Count, "What the driver of the GPU reports" },
        { "fits", Flag, "Whether device_bytes is within capacity_bytes" },
        { "micro_batches_in_flight", Number, "Whose activations are live at the peak" } }));
    memory["properties"]["per_device"] = list(object({ { "datacenter", Text, "By id" }, { "pool", Text, "By id" },
        { "gpu", Text, "By catalogue id" }, { "stage", Count, "Stage, from 0" },
        { "ranks", Count, "GPUs that are alike in all of this" }, { "tensor", Count, "Tensor-parallel degree" },
        { "micro_batch", Count, "Sequences of one" }, { "micro_batches", Count, "Of each replica" },
        { "state_share", Number, "Of the states that ZeRO divides, on each; 1 where it divides none" },
        { "time_s", Number, "Computing, recomputation and update included" },
        { "wait_s", Number, "All other time of the iteration" },
        { "peak_bytes", Count, "Allocated by the framework on the fullest of equal GPUs" },
        { "device_bytes", Count, "Reserved, context and communication buffers there" },
        { "capacity_bytes", Count, "What may be used of it" },
        { "states_bytes", Number, "Weights, gradients and optimizer states there" } }));
    return memory;
}

Json wanSchema()
{
    using enum Kind;
    Json wan = object({ { "bytes_per_iteration", Number, "All links, both directions, all pipelines" } });
    wan["properties"]["links"] = list(object({ { "between", TextPair, "The two datacenters, by id" },
        { "bytes", Number, "Both directions, all pipelines" },
        { "bytes_by_direction", NumberPair, "The same, from the first datacenter to the second and back" },
        { "utilization", Number, "Share of the capacity of the busier direction, over the iteration" },
        { "usable_utilization", Number,
            "Use of what can be used: share of the iteration in which its busiest stage boundary carries" },
        { "carrying_by_direction", NumberPair,
            "The same of one direction, from the first datacenter to the second and back" },
        { "limit", Text, "What binds it: node pair, TCP window, packet loss, node NICs or link capacity" },
        { "limit_gbps", Number,
            "What that lets through, 10^9 bits/s of one node pair, or of the link where its capacity binds" },
        { "tcp_connections", Count, "Connections of one node pair" },
        { "node_pair_gbps", Number, "What one node pair reaches, 10^9 bits/s" },
        { "node_pair_source", Text, "The network source of the catalogue that measured it; null: the link's own" } }));
    return wan;
}

Json jobsSchema()
{
    using enum Kind;
    Json jobs = object({ { "makespan_s", Number, "Until the last job ends" },
        { "bound_s", Number,
            "No schedule of its kind, by shards or of whole jobs, is shorter: the larger of the next two" },
        { "bound_shared_s", Number, "All work over all GPUs" },
        { "bound_longest_s", Number,
            "Arrival and compute of the longest job, on its fastest GPU, transfers not counted" },
        { "gpu_utilization", Number, "Share of all GPUs' time until then in which they compute" },
        { "host_peak_bytes", Count, "Main memory that jobs take on the fullest host" },
        { "loaded_bytes", Number, "From host memory to GPUs" }, { "stored_bytes", Number, "From GPUs to host memory" },
        { "usd", Number, "All GPUs of the cluster until the last job ends" }, { "count", Count, "Jobs of the plan" },
        { "run", Count, "Of them, what runs" }, { "late", Count, "Of those, what ends after its deadline" },
        { "minibatches_per_span", Count, "That a span of the timeline stands for" } });
    jobs["description"] = "Many models on the same GPUs; null where the plan has no jobs";
    jobs["properties"]["per_job"] = list(object({ { "name", Text, "Name of the job" },
        { "state", Text, "runs, paused or cannot-run" }, { "why", Text, "Of one that cannot run, one sentence" },
        { "start_s", Number, "Start of its first unit" }, { "end_s", Number, "End of its last" },
        { "deadline_s", Number, "When it should have ended" }, { "gpus", Count, "GPUs that it has at once, at most" },
        { "ran_on", Counts, "Their numbers, from 0" },
        { "technique", Text, "How it uses them: a value of jobs[].technique" },
        { "shards", Count, "Pieces that its model is cut into" },
        { "work_s", Number, "Its units on the GPUs that they ran on, without waiting" },
        { "slowdown", Number, "From its arrival to its end, over what it would take alone there" },
        { "gpu_s", Number, "Of GPUs, in which it computes, or which it holds" },
        { "loaded_bytes", Number, "From host memory to GPUs" }, { "stored_bytes", Number, "From GPUs to host memory" },
        { "host_bytes", Number, "Of host memory, while it is there" }, { "usd", Number, "Its share of the price" },
        { "measured", Flag, "Its times are those of the plan" } }));
    jobs["properties"]["hosts"] = list(object({ { "datacenter", Text, "By id" }, { "pool", Text, "By id" },
        { "node", Count, "Of the pool, from 0" }, { "peak_bytes", Count, "What jobs take at most" },
        { "capacity_bytes", Number, "What it has; null where nobody states it" } }));
    return jobs;
}

Json servedModelSchema()
{
    using enum Kind;
    Json served = object({ { "model", Text, "Its name in the plan" }, { "accepted", Count, "Requests served" },
        { "rejected", Count, "Requests turned away" } });
    served["properties"]["ttft_ms"] =
        object({ { "p50", Number, "Median time to first token" }, { "p99", Number, "99th percentile" } });
    return served;
}

Json bubbleFillSchema()
{
    using enum Kind;
    Json fill =
        object({ { "accepted", Count, "Requests served in bubbles" }, { "rejected", Count, "Requests turned away" },
            { "groups", Count, "Inference pipelines beside training" }, { "gpus", Count, "GPUs that they span" },
            { "filled_fraction", Number, "Share of the GPUs' idle time that was filled" },
            { "prefill_tokens_per_s", Number, "Prompt tokens per second" },
            { "waiting", Number, "Requests that wait for their first slice, in the mean" },
            { "saturation_requests_per_s", Number, "Of such requests what bubbles and decode pool take at most" },
            { "seed", Number, "Of the random arrivals whose numbers these are; null where none are drawn" },
            { "iterations", Count, "Simulated until one was like the one before" }, { "settled", Flag, "One was" },
            { "decode_requests", Number, "Requests that the decode pool holds at once" },
            { "decode_requests_per_s", Number, "Requests that it takes" },
            { "dedicated_ttft_ms", Number, "Mean prefill of the accepted prompts on one GPU that does nothing else" },
            { "ttft_inflation", Number, "Median time to first token over that" },
            { "memory_bytes_per_gpu", Count, "Weights, keys and values beside training" },
            { "usd_per_hour", Number, "Value of the served tokens" },
            { "training_delay_s", Number, "Time added to the iteration" } });
    fill["properties"]["rejected_by"] =
        object({ { "memory", Count, "No memory beside training" }, { "window", Count, "No bubble as long as a slice" },
            { "full", Count, "All bubbles taken that would be in time" },
            { "late", Count, "First token too late even if nothing else were served" },
            { "decode", Count, "No room in the decode pool" } });
    fill["properties"]["served"] = list(servedModelSchema());
    fill["properties"]["ttft_ms"] = object({ { "p50", Number, "Median time to first token" },
        { "p95", Number, "95th percentile" }, { "p99", Number, "99th percentile" } });
    return fill;
}

Json heterogeneitySchema()
{
    using enum Kind;
    Json schema = object({ { "bottleneck", Text, "GPU of the ranks that all others wait for" },
        { "layer_ms", Number, "Forward and backward of one layer on them, as the shares were dealt" },
        { "gain_over_even", Number, "The same with even shares / that" } });
    schema["description"] = "How unequal GPUs share work and states; null where everything is even";
    for (const auto &[name, text] : { std::pair("even_micro_batch",
                                          "Largest micro-batch that fits with an even share "
                                          "of the states, of each of `shares`"),
             std::pair("largest_micro_batch", "The same with none") }) {
        Json &sizes = schema["properties"][name];
        sizes["type"] = Json::array({ "array", "null" });
        sizes["items"]["type"] = "integer";
        sizes["description"] = text;
    }
    schema["properties"]["shares"] = list(object({ { "datacenter", Text, "By id" }, { "pool", Text, "By id" },
        { "gpu", Text, "By id" }, { "ranks", Count, "Equal replicas" }, { "samples", Count, "Of each, an iteration" },
        { "state_share", Number, "Of the states that ZeRO divides, of each" }, { "why", Text, "In words" } }));
    return schema;
}

Json expertSchema()
{
    using enum Kind;
    Json schema =
        object({ { "wire_bytes", Number, "Sent by one GPU to experts and back, over all links, an iteration" },
            { "nic_bytes", Number, "Of these, between nodes of a datacenter" },
            { "wan_bytes", Number, "Of these, between datacenters" },
            { "logical_gbytes_per_s", Number, "Of a dispatch: bytes as its makers count them, over its time" },
            { "wire_gbytes_per_s", Number, "What its farthest way carries while it is used" },
            { "dropped_share", Number, "Of the visits to experts, what found no room" },
            { "slowest_rank", Count, "Of an expert group, the first of the fullest" },
            { "skew", Number, "Its load / mean" },
            { "chosen", Text, "Dispatch: what traffic-aware took, else what was asked for" },
            { "forward_chunks", Count, "Pieces of a forward's exchanges" },
            { "backward_chunks", Count, "Pieces of a backward's exchanges" },
            { "layer_ms", Number, "Forward of one layer's experts, on the slowest rank" },
            { "exposed_ms", Number, "Of it, what nothing computes" } });
    schema["description"] = "Layers of experts; null where the model has none, or times are measured ones";
    return schema;
}

Json layoutSchema()
{
    using enum Kind;
    Json layout = object({ { "mode", Text, "pipeline-across or data-across" },
        { "data_parallel", Count, "Replicas that are placed; 0 where nothing is" } });
    layout["description"] = "Who sits where";
    layout["properties"]["pipeline_classes"] = list(object({ { "pipelines", Count, "Pipelines that are alike" },
        { "micro_batches", Count, "Of each of them" }, { "datacenter_per_stage", Texts, "By id" } }));
    layout["properties"]["idle"] = list(object({ { "datacenter", Text, "By id" }, { "pool", Text, "By id" },
        { "gpus", Count, "GPUs without a stage" }, { "reason", Text, "Why, in words" } }));
    return layout;
}

Json topSchema()
{
    using enum Kind;
    return object({ { "name", Text, "Name of the plan" },
        { "iteration_time_s", Number, "First task to the end of the last update" },
        { "tokens_per_s", Number, "Training tokens per second" }, { "tokens_per_s_per_gpu", Number, "Per GPU used" },
        { "model_tflops_per_gpu", Number, "Model FLOPs, without recompute, 10^12 per second per GPU used" },
        { "mfu", Number, "Model FLOPs / peak of the precision" }, { "hfu", Number, "The same with recompute" },
        { "gpus_used", Count, "GPUs that hold a stage" }, { "gpus_total", Count, "GPUs of the cluster" },
        { "feasible", Flag, "Whether the plan can run" },
        { "gpu_utilization", Number, "Share of the time of the GPUs used in training work" },
        { "gpu_utilization_with_fill", Number, "The same with prefill work" },
        { "bubble_fraction", Number, "Bubble / iteration" } });
}

} // namespace

std::string metricsSchema()
{
    using enum Kind;
    Json schema { { "$schema", "http://json-schema.org/draft-07/schema#" }, { "title", "Trainyard metrics" } };
    Json content = topSchema();
    content["type"] = "object";
    Json &all = content["properties"];
    all["problems"] = list(object({ { "severity", Text, "note, warning or blocking" }, { "text", Text, "One sentence" },
        { "where", Text, "Dotted key of the plan" }, { "fixes", Texts, "What would help, nearest first" } }));
    all["breakdown_s"] = object({ { "compute", Number, "Computation, with recompute" }, { "bubble", Number, "Waiting" },
        { "tensor_parallel", Number, "Exposed tensor-parallel communication" },
        { "context_parallel", Number, "Exposed context-parallel communication" },
        { "expert_parallel", Number, "Exposed dispatch and combine" },
        { "wan", Number, "Waiting for transfers between datacenters" },
        { "pipeline", Number, "Waiting for transfers between stages inside a datacenter" },
        { "data_parallel", Number, "Exposed gradient and parameter collectives" },
        { "offload_stall", Number, "Waiting for offloaded data" },
        { "optimizer", Number, "Optimizer step and host overhead" } });
    all["breakdown_detail_s"] = object({ { "optimizer", Number, "Of breakdown_s.optimizer, the update" },
        { "overhead", Number, "Of breakdown_s.optimizer, host work at the end of an iteration" },
        { "data_parallel_in_spans", Number,
            "Of breakdown_s.data_parallel, what lies inside spans of forward and backward" },
        { "offload_stall_in_spans", Number, "Of breakdown_s.offload_stall, the same" } });
    all["memory"] = memorySchema();
    all["wan"] = wanSchema();
    all["cost"] = object({ { "usd_per_iteration", Number, "All GPUs of the cluster" },
        { "usd_per_million_tokens", Number, "All GPUs of the cluster" }, { "usd_total", Number, "Whole run" },
        { "egress_usd_total", Number, "Whole run" }, { "days_total", Number, "Whole run" },
        { "energy_mwh_total", Number, "Whole run" }, { "co2_t_total", Number, "Whole run, tonnes" } });
    all["bubble_fill"] = bubbleFillSchema();
    all["heterogeneity"] = heterogeneitySchema();
    all["moe"] = expertSchema();
    all["jobs"] = jobsSchema();
    all["offload"] = object({ { "bytes_per_gpu_per_iteration", Number, "Written by one GPU" },
        { "required_write_gbytes_per_s", Number, "To stay hidden" }, { "stall_s", Number, "Exposed time" },
        { "activation_peak_reduction", Number, "Reduction of the activation peak, a share" },
        { "ssd_lifetime_years", Number, "Of the drives that wear out first, at this write rate" },
        { "ssd_usd_per_gpu", Number, "Price of the drives, of one GPU" },
        { "read_bytes_per_gpu", Number, "Read back by one GPU" },
        { "forwarded_bytes_per_gpu", Number, "Written, but needed before that ended and taken from GPU memory" },
        { "dropped_bytes_per_gpu", Number, "Needed before their store began, never written" },
        { "most_away_bytes", Count, "Outside one GPU at once" },
        { "layers_kept", Count, "By MEMO, KARMA or ProTrain, on the stage that would hold most" },
        { "layers_swapped", Count, "The same" }, { "layers_recomputed", Count, "The same" },
        { "token_share", Number, "Of MEMO's other tensors, what leaves" },
        { "recompute_s", Number, "Computed again by the policy, on that stage" } });
    all["confidence"] = object({ { "label", Text, "calibrated, same family, extrapolated or spec sheet" },
        { "iteration_time_low_s", Number, "Lower end" }, { "iteration_time_high_s", Number, "Upper end" },
        { "note", Text, "What would narrow the range" } });
    all["layout"] = layoutSchema();
    all["engine"] = object({ { "spans", Count, "Spans of the timeline" }, { "simulate_ms", Number, "Simulation" },
        { "evaluate_ms", Number, "Evaluation, simulation included" } });
    schema.update(content);
    return schema.dump(2) + "\n";
}

} // namespace trainyard

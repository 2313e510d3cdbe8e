#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of a plan itself and of measured times. With the other files of this folder: every key there
// is.

#include "core/facts/plan/keys/cluster_keys.h"
#include "core/facts/plan/keys/job_keys.h"
#include "core/facts/plan/keys/memory_keys.h"
#include "core/facts/plan/keys/moe_keys.h"
#include "core/facts/plan/keys/prefill_keys.h"
#include "core/facts/plan/keys/training_keys.h"
#include "core/facts/plan/keys/wan_keys.h"

namespace trainyard::keys {

template <class V> [[gnu::cold]] void describe(V &v, Of<MeasuredStageTimes>)
{
    v.perStage(&MeasuredStageTimes::forwardMs,
        Key("forward_ms", "Forward pass of one stage and micro-batch, milliseconds; a number or one per stage",
            said("Measured forward", " ms"), above(0, kHuge), kRequired));
    v.perStage(&MeasuredStageTimes::backwardMs,
        Key("backward_ms", "Backward pass without recompute, milliseconds; a number or one per stage",
            said("Measured backward", " ms"), above(0, kHuge), kRequired));
    v.perStage(&MeasuredStageTimes::recomputeMs,
        Key("recompute_ms", "Recompute, milliseconds; counts unless memory.recompute is none",
            said("Measured recompute", " ms"), upTo(kHuge)));
    v.perStage(&MeasuredStageTimes::weightGradMs,
        Key("weight_grad_ms", "Part of the backward pass that computes weight gradients, milliseconds",
            said("Measured weight gradient", " ms"), upTo(kHuge)));
    v.perStage(&MeasuredStageTimes::pairedMs,
        Key("paired_ms", "Forward and backward of two micro-batches at once, milliseconds", otherwise("their sum"),
            said("Measured pair", " ms"), above(0, kHuge)));
    v.value(&MeasuredStageTimes::activationMb,
        Key("activation_mb", "What crosses one stage boundary per micro-batch forward, 10^6 bytes",
            said("Measured activation", " MB"), upTo(kHuge), kAlways));
    v.value(&MeasuredStageTimes::gradientMb,
        Key("gradient_mb", "What crosses it backward, 10^6 bytes", otherwise("activation_mb"),
            said("Measured gradient", " MB"), upTo(kHuge)));
    v.value(&MeasuredStageTimes::parametersMb,
        Key("parameters_mb",
            "Data-parallel all-reduce of this much, 10^6 bytes; 0: not told, so that replicas lie in one datacenter",
            said("Measured parameters", " MB"), upTo(kHuge)));
    v.perStage(&MeasuredStageTimes::inFlight,
        Key("in_flight", "Most micro-batches in flight, a number or one per stage",
            otherwise("limited by the schedule only"), range(1, 1e9)));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<NotUnderstood>)
{
    v.value(&NotUnderstood::key, Key("key", "Setting of the source"));
    v.value(&NotUnderstood::text, Key("text", "What was not understood, a sentence", kRequired));
    v.value(&NotUnderstood::low, Key("low", "What the time may be too long by, a share of it below 0", range(-1, 0)));
    v.value(&NotUnderstood::high, Key("high", "What the time may be too short by, a share of it", upTo(1000)));
    v.value(&NotUnderstood::isBlocking, Key("blocking", "Nothing may be computed of the plan"));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<Plan>)
{
    v.value(&Plan::name, Key("name", "Title of the plan", kAlways));
    v.value(&Plan::notes, Key("notes", "Sources and assumptions", kProse));
    v.value(&Plan::cluster, Key("cluster", "Which hardware there is", kRequired));
    v.value(&Plan::workload, Key("workload", "What is trained", kAlways, more("required unless there are `jobs`")));
    v.value(&Plan::parallelism, Key("parallelism", "How the model is split", kAlways));
    v.value(&Plan::schedule,
        Key("schedule", "Order of the micro-batches on a pipeline", kAlways, more("see below"),
            shown("Schedule", "The order of forward and backward passes on each stage."), choice("Schedule")));
    v.stack(Key("stack",
        "Training framework whose habits are modelled: a name, or { \"base\": name, \"release\": name, ...overrides }",
        said("Software stack"), kAlways, more("see below")));
    v.value(&Plan::placement, Key("placement", "What runs in which datacenter", kAlways));
    v.value(&Plan::memory, Key("memory", "What is kept, recomputed or moved out", kAlways));
    v.value(&Plan::wan, Key("wan", "Use of the links between datacenters", kAlways, when(hasSeveralSites)));
    v.value(&Plan::moe, Key("moe", "Mixtures of experts: communication and load"));
    v.value(&Plan::heterogeneity, Key("heterogeneity", "Sharing between unequal GPUs"));
    v.value(&Plan::bubbleFill, Key("bubble_fill", "Inference work in the bubbles"));
    v.value(&Plan::jobs, Key("jobs", "Models that share the GPUs, instead of one model's iteration"));
    v.value(&Plan::jobGrid, Key("job_grid", "Further jobs: every combination of what is listed", otherwise("none")));
    v.value(&Plan::jobScheduler,
        Key("job_scheduler", "Who decides what a GPU does next, or how jobs get GPUs", said("Scheduler"), when(hasJobs),
            more("shards of all jobs share the GPUs under the first four; `model-parallel`, `pipeline` and "
                 "`zero-offload` give all of them to one job after the other, `task-parallel` one to each"),
            shown("Scheduler", "Which unit of which job a GPU takes when it is free, or how whole jobs get GPUs."),
            choice("Scheduler")));
    v.value(&Plan::jobOptions, Key("job_options", "How jobs share GPUs", when(hasJobs)));
    v.calibration(Key("calibration", "Factors fitted from telemetry, each with the recording that it came from",
        more("Trainyard writes it")));
    v.value(&Plan::profile, Key("profile", "Measured times that override the cost model", said("Measured times")));
    v.value(&Plan::layerProfiles,
        Key("layer_profiles", "Measured times of one layer by GPU, which override the cost model",
            said("Measured layers"),
            more("they stand for all that GPUs compute: embedding, head and an update on the GPU then take no time")));
    v.value(&Plan::notUnderstood,
        Key("not_understood", "What an import did not understand of its sources", otherwise("none"),
            more("such a plan is not ranked, searched or compared; leave an entry out once it is settled")));
}

} // namespace trainyard::keys

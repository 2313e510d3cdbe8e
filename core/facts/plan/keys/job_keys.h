#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of `jobs`, `job_grid` and `job_options`: many models on the same GPUs.

#include "core/facts/plan/job_schedulers.h"
#include "core/facts/plan/keys/key.h"
#include "core/facts/plan/plan.h"

namespace trainyard::keys {

template <class V> [[gnu::cold]] void describe(V &v, Of<Job>)
{
    v.value(&Job::name, Key("name", "Name of the job", kRequired));
    v.value(&Job::model, Key("model", "Catalogue name or path of a Hugging Face config.json", kRequired));
    v.value(&Job::batch, Key("batch", "Sequences of one mini-batch", said("Batch"), range(1, 1e7), kAlways));
    v.value(&Job::minibatches,
        Key("minibatches", "Mini-batches of one epoch", said("Mini-batches"), range(1, 1e9), kAlways));
    v.value(&Job::epochs, Key("epochs", "Epochs", range(1, 1e6), kAlways));
    v.value(&Job::sequenceLength,
        Key("sequence_length", "Tokens of one sequence", said("Sequence", " tokens"), range(1, 1e8)));
    v.value(&Job::precision, Key("precision", "Number format of matrix products"));
    v.value(&Job::optimizer, Key("optimizer", "Rule of the update"));
    v.value(&Job::learningRate,
        Key("learning_rate", "Learning rate", otherwise("not named"), above(0, 1e6),
            more("tells jobs of a grid apart; no time depends on it")));
    v.value(&Job::arrivalS, Key("arrival_s", "Seconds after which the job is there", said("Arrival", " s"), upTo(1e9)));
    v.value(&Job::deadlineS,
        Key("deadline_s", "Seconds after which it should have ended", otherwise("none"), said("Deadline", " s"),
            above(0, 1e9)));
    v.value(&Job::priority, Key("priority", "Jobs of a higher one go first", range(-1e6, 1e6)));
    v.automatic(&Job::gpus,
        Key("gpus", "GPUs that it has at once", said("GPUs"), range(1, 1e6),
            more("under schedulers that give a job several")));
    v.value(&Job::technique, Key("technique", "How it uses them", more("`auto`: as the scheduler does")));
    v.value(&Job::unitMs,
        Key("unit_ms",
            "Measured times of the units of one mini-batch in order, milliseconds: forward of each shard but "
            "the last, forward and backward of the last, backward of each shard before",
            said("Measured units"), above(0, kHuge),
            more("an odd number of them, 2K - 1 for K shards; empty: as modelled")));
    v.value(&Job::pinnedGpus,
        Key("pinned_gpus", "Numbers of the GPUs that alone may run it, in the order of the cluster from 0", upTo(1e7),
            more("empty: any")));
    v.value(&Job::paused, Key("paused", "It does not run"));
}

template <class V> [[gnu::cold]] void describe(V &v, Of<JobGrid>)
{
    v.value(&JobGrid::model, Key("model", "Models", said("Models")));
    v.value(&JobGrid::batch,
        Key("batch", "Sequences of one mini-batch", otherwise("a job's default"), said("Batches"), range(1, 1e7)));
    v.value(&JobGrid::learningRate,
        Key("learning_rate", "Learning rates", otherwise("a job's default"), said("Learning rates"), above(0, 1e6)));
    v.value(&JobGrid::sequenceLength,
        Key("sequence_length", "Tokens of one sequence", otherwise("a job's default"), said("Sequences"),
            range(1, 1e8)));
    v.value(&JobGrid::minibatches,
        Key("minibatches", "Mini-batches of one epoch", otherwise("a job's default"), said("Mini-batches"),
            range(1, 1e9)));
    v.value(&JobGrid::epochs, Key("epochs", "Epochs", otherwise("a job's default"), range(1, 1e6)));
    v.value(&JobGrid::precision, Key("precision", "Number formats", otherwise("a job's default"), said("Precisions")));
    v.value(
        &JobGrid::optimizer, Key("optimizer", "Rules of the update", otherwise("a job's default"), said("Optimizers")));
}

inline const char *whyNoShards(const Plan &plan)
{
    return isByShards(plan.jobScheduler) ? "" : "the scheduler gives whole GPUs to whole jobs";
}
inline const char *whyNothingCounts(const Plan &plan)
{
    return !isByShards(plan.jobScheduler)                ? whyNoShards(plan)
        : plan.jobScheduler == JobScheduler::ShardedLrtf ? ""
                                                         : "only the longest remaining time counts it";
}

template <class V> [[gnu::cold]] void describe(V &v, Of<JobOptions>)
{
    v.value(&JobOptions::doubleBuffer,
        Key("double_buffer", "The next shard's weights travel while a unit computes", said("Double buffer"),
            shown("Double buffer", "Part of each GPU's memory takes the weights of its next unit while it computes."),
            choice("Double buffer"), rests(whyNoShards)));
    v.value(&JobOptions::lookAhead,
        Key("look_ahead", "A GPU picks its next unit when its current one starts", said("Look-ahead"),
            more("`double_buffer` implies it"),
            shown("Look ahead", "A GPU picks its next unit when its current one starts. Double buffering implies it."),
            choice("Look-ahead"), rests(whyNoShards)));
    v.value(&JobOptions::remaining,
        Key("remaining",
            "What remains of a job, where jobs are compared by it: the time of its units, or of whole "
            "mini-batches with the current one",
            said("Remaining work"),
            shown("Remaining work", "What the longest remaining time counts: units, or whole mini-batches."),
            choice("Remaining work"), rests(whyNothingCounts), kTried));
    v.value(&JobOptions::spill,
        Key("spill",
            "Shards that do not compute lie in host memory; without it a model has to fit a GPU, which keeps it until "
            "its job has ended",
            said("Spilling"),
            shown("Spill to host",
                "Shards that do not compute lie in host memory. Without it a model has to fit a GPU, which keeps it "
                "until its job has ended."),
            choice("Spilling"), rests(whyNoShards)));
    v.value(&JobOptions::seed, Key("seed", "Of random choices", said("Seed of the choices"), upTo(1e9)));
    v.value(&JobOptions::introspectionS,
        Key("introspection_s", "Seconds after which `milp` looks at its plan again; 0: never",
            said("Looking again", " s"), upTo(1e9)));
    v.value(&JobOptions::switchCostS,
        Key("switch_cost_s", "Seconds that a job loses where its GPUs change", said("Cost of a change", " s"),
            upTo(1e9)));
    v.value(&JobOptions::revocationsPerDay,
        Key("revocations_per_day", "How often a cloud takes a GPU back", said("GPUs taken back", " a day"), upTo(1e6)));
    v.value(&JobOptions::checkpointS,
        Key("checkpoint_s", "Seconds between two checkpoints", said("Checkpoints every", " s"), upTo(1e9)));
    v.value(&JobOptions::restartS, Key("restart_s", "Seconds of a restart", said("Restart", " s"), upTo(1e9)));
    v.value(&JobOptions::seconds, Key("seconds", "What a solver may take", said("Solver's time", " s"), above(0, 1e5)));
}

} // namespace trainyard::keys

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the models of a plan's jobs are cut. Hydra's pilot run in closed form: on the smallest GPU that may run a job a
// buffer is set aside, and each shard takes layers as long as what runs fits beside it and, with double buffers, what
// travels ahead fits in it. The buffer is the share of every GPU's memory with which all jobs together take least, by
// the closed form of a unit with its transfers (unitSeconds). A GPU that cannot hold the largest piece of a model does
// not run it, nor does one so small that the jobs would be done sooner without it: more shards travel more (ours).

#include "core/iteration/job_shards/shard_model.h"
#include "core/iteration/job_shards/shard_units.h"

namespace trainyard {

/// Jobs of one model that may run on the same kinds of GPUs: they are cut alike.
struct CutGroup {
    ShardModel *model = nullptr;
    /// of each kind, that may run it
    std::vector<int> gpus;
    /// 2K - 1 of K shards; 0: cut by memory
    std::size_t measuredUnits = 0;
    /// of all its jobs, of the one with the most
    double minibatches = 0, longest = 0;
};

/// Of one kind of GPU.
struct CutKind {
    /// bytes for units
    double memory = 0;
    /// bytes/s from its own host and to it; 0: there is no way
    double toGpu = 0, toHost = 0;
};

struct ModelCut {
    /// empty: it cannot run
    std::vector<Pieces> shards;
    /// that can
    std::vector<char> kinds;
    /// that could, and would only make the others slower
    std::vector<char> leftOut;
    /// what travels ahead fits the buffer
    bool isBuffered = false;
    /// it cannot run, one sentence
    std::string why;
};

struct Cuts {
    /// share of a GPU's memory
    double buffer = 0;
    std::vector<ModelCut> groups;
};

struct CutRules {
    bool doubleBuffer = true, spill = true;
    /// nothing spills, or there are GPUs for all jobs: a model that is not cut travels once
    bool staysThere = false;
    bool isFullDuplex = true;
    /// small kinds of GPU: all that may run a job reach it
    bool mayLeaveOut = false;
};

/// Seconds of a mini-batch on the smallest of the GPUs that can run it, by the closed form.
[[nodiscard]] double minibatchSeconds(
    const CutGroup &group, const ModelCut &cut, const std::vector<CutKind> &kinds, const CutRules &rules);

[[nodiscard]] ModelCut cutFor(
    const CutGroup &group, const std::vector<CutKind> &kinds, const CutRules &rules, double buffer);
[[nodiscard]] Cuts chooseCuts(
    const std::vector<CutGroup> &groups, const std::vector<CutKind> &kinds, const CutRules &rules);

} // namespace trainyard

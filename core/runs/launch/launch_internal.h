#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A launch while it is made: the arguments, what goes before them, what was refused and what has to be said. Each file
// of the folder takes its share. One thread.

#include "core/runs/launch/launch.h"

#include <string_view>
#include <utility>

namespace trainyard::launch {

struct Option {
    std::string flag; // "--micro-batch-size"
    std::vector<std::string> values; // quoted by whoever writes them, unless `isShell`
    bool isShell = false; // the value is the shell's to expand
};

/// Consecutive nodes of one pool, in the order of their ranks.
struct NodeRun {
    int datacenter = 0, pool = 0, nodes = 0;
};
struct Nodes {
    int count = 0, gpusPerNode = 0; // processes of each
    std::vector<NodeRun> runs;
    [[nodiscard]] int gpus() const { return count * gpusPerNode; }
};

struct Draft {
    explicit Draft(const Evaluation &told, const char *framework)
        : evaluation(told)
        , plan(*told.plan)
        , model(told.model)
        , name(framework)
    {
    }
    const Evaluation &evaluation;
    const Plan &plan;
    const ModelSpec &model;
    const char *name; // of the framework
    std::string commit; // whose arguments these are
    Errors errors;
    std::vector<std::string> notes;
    std::vector<Option> options;
    std::vector<std::pair<std::string, std::string>> environment;
    std::string program; // what torchrun starts, as the shell has it
    std::string before; // commands before it
    std::string profiler; // arguments of a trace, for a comment
    Nodes nodes;
    bool isStepsAsked = false; // "$1" are the steps to run

    [[nodiscard]] int data() const { return evaluation.layout.data; }
    void refuse(std::string_view key, std::string what, std::string right = {});
    void note(std::string sentence);
    void add(std::string flag) { options.push_back({ std::move(flag), {} }); }
    void add(std::string flag, std::string value) { options.push_back({ std::move(flag), { std::move(value) } }); }
    void add(std::string flag, std::int64_t value) { add(std::move(flag), std::to_string(value)); }
    void addShell(std::string flag, std::string value)
    {
        options.push_back({ std::move(flag), { std::move(value) }, true });
    }
};

/// Whether it tells one model to train, not measured times of stages or jobs.
[[nodiscard]] bool hasModel(const Plan &plan);
void refuseWhatNobodyRuns(Draft &draft); // common_keys.cpp: both frameworks
/// Keys of `memory`, `parallelism`, `moe` … that are not at their default and that the framework was not asked about.
void refuseOtherKeys(Draft &draft, std::initializer_list<std::string_view> handled);
void orderNodes(Draft &draft); // nodes.cpp
void makeMegatron(Draft &draft); // megatron.cpp
void addMegatronModel(Draft &draft); // megatron_shape.cpp
void makeTorchtitan(Draft &draft); // torchtitan.cpp
[[nodiscard]] bool isTorchtitanStack(const Plan &plan);

/// One word of a POSIX shell, whatever is in it.
[[nodiscard]] std::string shellWord(std::string_view text);
/// Lines that each begin with "# ", without what a terminal would obey.
[[nodiscard]] std::string comment(std::string_view text);

[[nodiscard]] std::string scriptOf(const Draft &draft); // script.cpp
[[nodiscard]] std::string slurmScriptOf(const Draft &draft); // slurm.cpp
/// Title, prediction, notes and how to run it: the comment at the head of both.
[[nodiscard]] std::string headOf(const Draft &draft);
[[nodiscard]] std::string argumentLines(const Draft &draft);

} // namespace trainyard::launch

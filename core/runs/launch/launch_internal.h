#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A launch while it is made: the arguments, what goes before them, what was refused and what has to be said. Each file
// of the folder takes its share. One thread.

#include "core/runs/launch/launch.h"

#include <string_view>
#include <utility>

namespace trainyard::launch {

struct Option {
    /// "--micro-batch-size"
    std::string flag;
    /// quoted by whoever writes them, unless `isShell`
    std::vector<std::string> values;
    /// the value is the shell's to expand
    bool isShell = false;
};

/// Consecutive nodes of one pool, in the order of their ranks.
struct NodeRun {
    int datacenter = 0, pool = 0, nodes = 0;
};
struct Nodes {
    /// processes of each
    int count = 0, gpusPerNode = 0;
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
    /// of the framework
    const char *name;
    /// whose arguments these are
    std::string commit;
    Errors errors;
    std::vector<std::string> notes;
    std::vector<Option> options;
    std::vector<std::pair<std::string, std::string>> environment;
    /// what torchrun starts, as the shell has it
    std::string program;
    /// commands before it
    std::string before;
    /// arguments of a trace, for a comment
    std::string profiler;
    Nodes nodes;
    /// "$1" are the steps to run
    bool isStepsAsked = false;
    /// who tells them, for a comment
    std::string stepsFrom = "the first argument of this script";
    /// a recipe brings the model: none of its habits has to be an argument
    bool isModelOfRecipe = false;
    /// the file, of a framework that is started by none of the scripts
    std::string text;

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
/// common_keys.cpp: both frameworks
void refuseWhatNobodyRuns(Draft &draft);
/// Keys of `memory`, `parallelism`, `moe` … that are not at their default and that the framework was not asked about.
void refuseOtherKeys(Draft &draft, std::initializer_list<std::string_view> handled);
/// nodes.cpp
void orderNodes(Draft &draft);
/// megatron.cpp
void makeMegatron(Draft &draft);
/// megatron_shape.cpp
void addMegatronModel(Draft &draft);
/// router.cpp: how tokens of mock data choose experts
void addRouter(Draft &draft);
/// torchtitan.cpp
void makeTorchtitan(Draft &draft);
/// bridge.cpp
void makeBridge(Draft &draft);
/// deepspeed.cpp
void makeDeepSpeed(Draft &draft);
/// sockets.cpp: NCCL's variables for the connections that the plan counts on
void addSockets(Draft &draft);
[[nodiscard]] bool isTorchtitanStack(const Plan &plan);

/// One word of a POSIX shell, whatever is in it.
[[nodiscard]] std::string shellWord(std::string_view text);
/// Lines that each begin with "# ", without what a terminal would obey.
[[nodiscard]] std::string comment(std::string_view text);

/// Lower-case letters, digits and single '-', a letter first: a name that Kubernetes takes, of at most so many.
[[nodiscard]] std::string labelOf(std::string_view name, std::size_t most);

/// How torchrun on a node learns of the others: words of a shell.
struct Rendezvous {
    std::string nodeRank = "\"${NODE_RANK:-0}\"", address = "\"${MASTER_ADDR:-localhost}\"",
                port = "\"${MASTER_PORT:-29500}\"";
    /// "$1" or a variable; its default is 50
    std::string steps = "1";
};
/// script.cpp
[[nodiscard]] std::string scriptOf(const Draft &draft);
/// The commands of a node without the head of the script: variables, what goes before, torchrun.
[[nodiscard]] std::string commandsOf(const Draft &draft, const Rendezvous &rendezvous);
/// kubernetes.cpp
[[nodiscard]] std::string trainJobOf(Draft &draft);
[[nodiscard]] std::string jobSetOf(Draft &draft);
/// skypilot.cpp
[[nodiscard]] std::string skyPilotTaskOf(Draft &draft);
/// A text as a block of YAML ("|"), each line behind `indent`.
[[nodiscard]] std::string yamlBlock(std::string_view text, const std::string &indent);
/// Refuses nodes of several places, whose order the file cannot give.
void refusePlaces(Draft &draft, const std::string &who);
/// slurm.cpp
[[nodiscard]] std::string slurmScriptOf(const Draft &draft);
/// Title, prediction, notes and how to run it: the comment at the head of both.
[[nodiscard]] std::string headOf(const Draft &draft);
[[nodiscard]] std::string argumentLines(const Draft &draft);

} // namespace trainyard::launch

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/command_options.h"

#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/shell_script.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

constexpr int kMostCommandNesting = 3;

constexpr std::array<std::string_view, 42> kTrainings { "recipe", "model_recipe_name", "factory",
    "per_device_train_batch_size", "tensor_model_parallel_size", "pipeline_model_parallel_size",
    "context_parallel_size", "expert_model_parallel_size", "micro_batch_size", "global_batch_size", "num_layers",
    "hidden_size", "ffn_hidden_size", "num_attention_heads", "num_query_groups", "seq_length", "encoder_seq_length",
    "max_position_embeddings", "use_distributed_optimizer", "sequence_parallel", "recompute_granularity",
    "transformer_impl", "train_iters", "train_samples", "num_experts", "moe_router_topk",
    "num_layers_per_virtual_pipeline_stage", "virtual_pipeline_model_parallel_size", "model_parallel_size",
    "use_mcore_models", "untie_embeddings_and_output_weights", "swiglu", "moe_ffn_hidden_size", "overlap_grad_reduce",
    "training.seq_len", "training.batch_size", "training.local_batch_size", "training.global_batch_size",
    "parallelism.tensor_parallel_degree", "parallelism.pipeline_parallel_degree",
    "parallelism.data_parallel_shard_degree", "data_parallel_size" };

bool isSecret(std::string_view name)
{
    return name.ends_with("_key") || name.ends_with("_token") || name.ends_with("password") || name.ends_with("secret");
}

/// Of launchers, with what they are called here.
std::string_view launcherName(std::string_view name)
{
    static constexpr std::array<std::array<std::string_view, 2>, 14> kNames { { { "nnodes", "nnodes" },
        { "nodes", "nnodes" }, { "num_nodes", "nnodes" }, { "N", "nnodes" }, { "nproc_per_node", "nproc_per_node" },
        { "gpus_per_node", "nproc_per_node" }, { "num_gpus", "nproc_per_node" },
        { "num_gpus_per_node", "nproc_per_node" }, { "ntasks_per_node", "tasks_per_node" }, { "gres", "gres" },
        { "ntasks", "tasks" }, { "n", "tasks" }, { "constraint", "constraint" }, { "C", "constraint" } } };
    const auto found = std::ranges::find(kNames, name, [](const auto &pair) { return pair[0]; });
    return found != kNames.end() ? (*found)[1] : std::string_view();
}

bool isWhole(std::string_view text)
{
    return !text.empty() && text.size() < 10 && std::ranges::all_of(text, isDigit);
}

class Collector {
public:
    explicit Collector(CommandOptions &made)
        : m_made(made)
    {
    }

    void add(const std::vector<std::string> &words, int nesting)
    {
        // What stands before the last script belongs to launchers.
        std::size_t script = 0;
        m_isAccelerate = words.size() > 1 && words[0].ends_with("accelerate") && words[1] == "launch";
        for (std::size_t i = 0; i < words.size(); ++i)
            if (isScript(words[i]) || words[i] == "-m") {
                script = i + 1;
                if (isScript(words[i]))
                    m_made.program = words[i].substr(words[i].find_last_of("/\x02") + 1);
            }
        for (std::size_t i = 0; i < words.size();) {
            const std::string &word = words[i];
            if (word.find_first_of(" \n\t") != word.npos && word.find("--") != word.npos
                && nesting < kMostCommandNesting) {
                add(ShellScript::wordsOf(word), nesting + 1);
                ++i;
            } else if (word.size() > 1 && word[0] == '-' && (word[1] == '-' || isLetter(word[1]))) {
                i = addOption(words, i, i < script);
            } else if (script > 0 && i >= script && isUnknownAlone(word) && word.size() > 1) {
                m_made.lists.push_back(unknownNamed(word));
                ++i;
            } else {
                addOverride(word);
                ++i;
            }
        }
    }

private:
    static bool isScript(std::string_view word) { return word.ends_with(".py"); }
    /// Hydra's "train.global_batch_size=512", which ends the values of an option.
    static bool isOverride(std::string_view word)
    {
        const std::string_view name = word.substr(0, word.find('='));
        return name.size() < word.size() && (name.find('.') != name.npos || name == "mixed_precision")
            && std::ranges::all_of(
                name, [](char c) { return isLetter(c) || isDigit(c) || c == '_' || c == '.' || c == '+'; });
    }
    static bool isValue(std::string_view word)
    {
        return !isOverride(word) && !word.starts_with("--") && !isScript(word)
            && !(word.size() > 1 && word[0] == '-' && isLetter(word[1]));
    }

    /// Of options that Megatron's and other parsers take without a value, by their names.
    static bool isSwitch(std::string_view name)
    {
        static constexpr std::array<std::string_view, 10> kStarts { "use_", "no_", "disable_", "enable_", "overlap_",
            "untie_", "add_", "accumulate_", "apply_", "moe_permute" };
        static constexpr std::array<std::string_view, 16> kNames { "swiglu", "sequence_parallel", "bf16", "fp16",
            "group_query_attention", "multi_latent_attention", "qk_layernorm", "moe_grouped_gemm", "colocate",
            "squared_relu", "geglu", "gelu_tanh", "recompute_activations", "checkpoint_activations", "do_train",
            "optimizer_cpu_offload" };
        return std::ranges::find(kNames, name) != kNames.end()
            || std::ranges::any_of(kStarts, [&](std::string_view start) { return name.starts_with(start); });
    }

    std::size_t addOption(const std::vector<std::string> &words, std::size_t at, bool isOfLauncher)
    {
        const std::string_view word = words[at];
        const std::size_t equals = word.find('=');
        std::string value = equals == word.npos ? "" : std::string(word.substr(equals + 1));
        std::string name = argumentName(word.substr(0, equals));
        if (word[1] != '-' && word.size() > 2 && isDigit(word[2])) { // srun -N4
            name = word.substr(1, 1);
            value = word.substr(2);
        }
        std::size_t next = at + 1;
        if (isOfLauncher || word[1] != '-' || !launcherName(name).empty()) {
            const std::string_view known = launcherName(name);
            if (isOfLauncher && m_isAccelerate && word[1] == '-') {
                if (value.empty() && next < words.size() && isValue(words[next]))
                    value = words[next++];
                m_made.add("launch." + name, value.empty() ? "True" : argumentValue(value));
                return next;
            }
            if (!known.empty() && value.empty() && next < words.size() && isValue(words[next]))
                value = words[next++];
            if (!known.empty())
                addLauncher(known, value);
            // -m, -u … of python and srun; their values are passed over as words that are no options
            return next;
        }
        for (; equals == word.npos && next < words.size() && isValue(words[next])
             && words[next].find_first_of("\n") == std::string::npos;
             ++next) {
            // A variable behind a value, or behind a switch, is a list of other options.
            if (isUnknownAlone(words[next]) && (!value.empty() || isSwitch(name)))
                break;
            value += (value.empty() ? "" : " ") + words[next];
        }
        m_made.set(name, value.empty() ? "True" : argumentValue(value));
        return next;
    }

    void addLauncher(std::string_view name, const std::string &value)
    {
        if (name == "constraint" && !isUnknown(value))
            m_made.add(std::string(name), argumentValue(value));
        else if (name == "gres")
            addGres(argumentValue(value));
        else if (name == "nproc_per_node" && value.find(':') != value.npos)
            addGpus(argumentValue(value));
        else if (isWhole(value) || isUnknown(value))
            m_made.add(std::string(name), value);
    }

    /// "gpu:8", "gpu:h100:8", "nvme:1,gpu:h100:8"
    void addGres(std::string_view list)
    {
        while (!list.empty()) {
            const std::string_view one = list.substr(0, list.find(','));
            list.remove_prefix(std::min(one.size() + 1, list.size()));
            if (one.starts_with("gpu:"))
                return addGpus(one.substr(4));
        }
    }

    /// "8", "h100:8", "h100": which, and how many of a node
    void addGpus(std::string_view text)
    {
        const std::string_view first = text.substr(0, text.find(':')), last = text.substr(text.rfind(':') + 1);
        if (isWhole(last))
            m_made.add("nproc_per_node", std::string(last));
        if (!first.empty() && isLetter(first[0]))
            m_made.add("gpu", std::string(first));
    }

    /// Hydra's "++model.micro_batch_size=1".
    void addOverride(std::string_view word)
    {
        while (word.starts_with('+'))
            word.remove_prefix(1);
        const std::size_t equals = word.find('=');
        if (equals == word.npos)
            return;
        for (const std::string_view section : { "model.", "trainer.", "exp_manager.", "training.", "train.", "dataset.",
                 "mixed_precision", "ddp.", "optimizer.", "comm_overlap." })
            if (word.starts_with(section))
                m_made.set(std::string(word.substr(0, equals)), argumentValue(word.substr(equals + 1)));
    }

    CommandOptions &m_made;
    bool m_isAccelerate = false; // what stands before the script is Accelerate's
};

/// 70_000, as Python and YAML write numbers.
bool isGrouped(std::string_view text)
{
    return text.size() < 30 && text.find('_') != text.npos && isDigit(text.front()) && isDigit(text.back())
        && std::ranges::all_of(text, [](char c) { return isDigit(c) || c == '_'; });
}

} // namespace

std::string argumentName(std::string_view option)
{
    while (option.starts_with('-'))
        option.remove_prefix(1);
    std::string name(option.substr(0, kLongestArgumentName + 1));
    std::ranges::replace(name, '-', '_');
    const bool isName = !name.empty() && name.size() <= kLongestArgumentName && (isLetter(name[0]) || name[0] == '_')
        && std::ranges::all_of(name, [](char c) { return isLetter(c) || isDigit(c) || c == '_' || c == '.'; });
    return isName ? name : std::string();
}

bool isOfTraining(std::string_view name)
{
    if (name.starts_with("model.") || name.starts_with("train."))
        name.remove_prefix(6);
    return std::ranges::find(kTrainings, name) != kTrainings.end();
}

std::string argumentValue(std::string_view text)
{
    text = trimmed(text);
    if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0])
        return std::string(text.substr(1, text.size() - 2));
    const std::string word = text.size() <= 5 ? lowered(text) : std::string();
    if (word == "true" || word == "false")
        return word == "true" ? "True" : "False";
    std::string value(text.substr(0, kLongestArgumentValue));
    if (isGrouped(value))
        std::erase(value, '_');
    return value;
}

void CommandOptions::add(std::string name, std::string value)
{
    if (name.empty() || isSecret(name) || arguments.size() >= kMostArguments)
        return;
    if (isUnknown(value)) {
        ++unknown;
        if (!arguments.contains(name) && untold.size() < kMostArguments)
            trainings += untold.try_emplace(name, unknownNamed(value)).second && isOfTraining(name) ? 1 : 0;
        return;
    }
    if (untold.erase(name) > 0)
        trainings -= isOfTraining(name) ? 1 : 0;
    value.resize(std::min(value.size(), kLongestArgumentValue));
    const bool isTraining = isOfTraining(name);
    trainings += arguments.try_emplace(std::move(name), std::move(value)).second && isTraining ? 1 : 0;
}

void CommandOptions::set(std::string name, std::string value)
{
    if (const auto known = arguments.find(name); known != arguments.end()) {
        trainings -= isOfTraining(name) ? 1 : 0;
        arguments.erase(known);
    }
    if (untold.erase(name) > 0)
        trainings -= isOfTraining(name) ? 1 : 0; // told again
    add(std::move(name), std::move(value));
}

CommandOptions optionsOf(const std::vector<std::string> &words)
{
    CommandOptions made;
    Collector(made).add(words, 0);
    return made;
}

} // namespace trainyard::readers

// SPDX-License-Identifier: GPL-3.0-or-later
// Configurations of trainers, YAML or JSON: each setting is an argument by its path, behind the trainer's prefix; what
// they mean is said in runs/imports/dialects.h. Primus' are overrides of Megatron's or torchtitan's own arguments.
#include "core/runs/telemetry/readers/command_options.h"
#include "core/runs/telemetry/readers/script_facts.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/settings_tree.h"
#include "core/runs/telemetry/readers/shell_script.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/readers/training_script.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

struct TrainerConfig {
    SourceKind kind;
    const char *prefix;
    /// all of these, and one of those
    std::array<const char *, 2> all;
    std::array<const char *, 6> any;
};
constexpr std::array<TrainerConfig, 12> kTrainerConfigs { {
    { SourceKind::MegatronArguments, "neox.", { "num_layers", "hidden_size" },
        { "pipe_parallel_size", "model_parallel_size", "train_micro_batch_size_per_gpu" } },
    { SourceKind::MegatronArguments, "neox.", { "num-layers", "hidden-size" },
        { "pipe-parallel-size", "model-parallel-size", "train_micro_batch_size_per_gpu" } },
    { SourceKind::NanotronConfig, "nanotron.", { "parallelism.tp", "tokens" },
        { "tokens.micro_batch_size", "tokens.sequence_length", "model.model_config" } },
    { SourceKind::PrimusConfig, "", { "modules.pre_trainer" },
        { "modules.pre_trainer.overrides", "modules.pre_trainer.config", "modules.pre_trainer.model" } },
    { SourceKind::AccelerateConfig, "accelerate.", { "distributed_type" },
        { "compute_environment", "num_processes", "fsdp_config", "deepspeed_config" } },
    { SourceKind::LlamaFactoryConfig, "llama_factory.", { "model_name_or_path" },
        { "finetuning_type", "cutoff_len", "stage", "template" } },
    { SourceKind::AccelerateConfig, "hf_trainer.", { "model_name_or_path", "per_device_train_batch_size" },
        { "bf16", "fp16", "gradient_accumulation_steps", "learning_rate", "max_seq_length", "max_length" } },
    { SourceKind::AxolotlConfig, "axolotl.", { "base_model" },
        { "micro_batch_size", "sequence_len", "datasets", "sample_packing" } },
    { SourceKind::AutomodelConfig, "automodel.", { "step_scheduler", "model" },
        { "distributed", "dist_env", "packed_sequence", "loss_fn", "recipe" } },
    { SourceKind::MaxTextConfig, "maxtext.", { "per_device_batch_size" },
        { "max_target_length", "base_emb_dim", "ici_fsdp_parallelism", "model_name", "remat_policy", "scan_layers" } },
    { SourceKind::DeepSpeedConfig, "ds_config.", { "zero_optimization" },
        { "zero_optimization.stage", "train_micro_batch_size_per_gpu", "train_batch_size", "bf16", "fp16" } },
    { SourceKind::DeepSpeedConfig, "ds_config.", { "train_micro_batch_size_per_gpu" },
        { "train_batch_size", "gradient_accumulation_steps", "bf16", "fp16", "optimizer" } },
} };

const TrainerConfig *configOf(const SettingsNode &root)
{
    const auto has = [&](const char *path) { return !path || root.find(path); };
    for (const TrainerConfig &config : kTrainerConfigs)
        if (std::ranges::all_of(config.all, has)
            && std::ranges::any_of(config.any, [&](const char *path) { return path && root.find(path); }))
            return &config;
    return nullptr;
}

bool mayBeConfig(std::string_view head)
{
    if (mayBeYaml(head))
        return true;
    // JSON with one of DeepSpeed's keys: a trace is not worth the reading. Comments may stand before it (GPT-NeoX).
    while ((head = trimmedStart(head)).starts_with('#'))
        head = head.substr(std::min(head.find('\n'), head.size()));
    static constexpr std::array<std::string_view, 4> kKeys { "\"zero_optimization\"",
        "\"train_micro_batch_size_per_gpu\"", "\"pipe_parallel_size\"", "\"pipe-parallel-size\"" };
    return head.starts_with('{')
        && std::ranges::any_of(kKeys, [&](std::string_view key) { return head.find(key) != head.npos; });
}

/// "${PRIMUS_SEQ:4096}" is 4096; of others what the script's rules make of it.
std::string withoutVariable(std::string value)
{
    const std::size_t colon = value.find(':');
    if (value.starts_with("${") && value.ends_with('}') && colon != value.npos)
        return argumentValue(std::string_view(value).substr(colon + 1, value.size() - colon - 2));
    return value.find("${") == value.npos ? value : std::string(1, kUnknownPart);
}

} // namespace

int looksLikeTrainerConfig(std::string_view, std::string_view head)
{
    if (!mayBeConfig(head))
        return 0;
    const auto tree = yamlSettings(head);
    return tree && configOf(tree->root) ? 94 : 0;
}

Expected<Recording> readTrainerConfig(const SourceText &source, const SourceOptions &)
{
    const auto tree = yamlSettings(source.text, source.file);
    if (!tree)
        return std::unexpected(tree.error());
    const TrainerConfig *config = configOf(tree->root);
    if (!config)
        return std::unexpected(Error { ErrorCode::BadSyntax, source.file,
            "It begins as a trainer's configuration, but is cut before it tells one", "" });
    Recording recording = recordingOf(source, config->kind);
    RecordedSource &made = recording.sources.front();
    made.isTruncated = made.isTruncated || tree->cutAt > 0;
    if (tree->hasMore)
        note(made, "Its first document is read, of several");
    CommandOptions all;
    const SettingsNode *root = &tree->root;
    const bool isPrimus = config->kind == SourceKind::PrimusConfig;
    if (isPrimus) {
        const SettingsNode *trainer = root->find("modules.pre_trainer");
        for (const char *name : { "framework", "model" })
            if (const std::string_view value = trainer->textOf(name); !value.empty())
                all.add(std::string("primus.") + name, withoutVariable(std::string(value)));
        root = trainer->find("overrides");
    }
    const bool isMaxText = isPrimus && all.arguments["primus.framework"] == "maxtext";
    const std::string prefix = isMaxText ? "maxtext." : config->prefix;
    if (root)
        walkSettings(*root, [&](const std::string &path, const SettingsNode &node) {
            if (!node.isNull())
                all.add(argumentName(prefix + path), withoutVariable(node.value()));
        });
    if (all.arguments.empty())
        return std::unexpected(Error { ErrorCode::BadSyntax, source.file,
            std::string("It looks like a ") + nameOf(config->kind) + ", but sets nothing", "" });
    drop(made, "values of variables that another file sets", all.unknown);
    tellUntold(all);
    if (prefix == "neox.")
        note(made, "It is a configuration of GPT-NeoX");
    made.taken = std::ssize(all.arguments);
    recording.arguments = std::move(all.arguments);
    return recording;
}

} // namespace trainyard::readers

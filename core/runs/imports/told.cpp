// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/imports/draft.h"

#include "core/base/printable.h"
#include "core/runs/imports/logged_job.h"
#include "core/runs/imports/megatron_arguments.h"
#include "core/runs/telemetry/argument_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace trainyard::imports {

namespace {

struct OtherName {
    std::string_view other, name;
};
/// Names of the same things elsewhere; the first that is told counts. NeMo's have "model." before them.
constexpr std::array<OtherName, 39> kOtherNames { { { "encoder_seq_length", "seq_length" },
    { "max_sequence_length", "seq_length" }, { "sequence_length", "seq_length" },
    { "dl.sequence_length", "seq_length" }, { "encoder_num_layers", "num_layers" },
    { "dl.batch_size", "global_batch_size" }, { "dl.tensor_parallel.size", "tensor_model_parallel_size" },
    { "dl.pipeline_parallel.size", "pipeline_model_parallel_size" }, { "dl.data_parallel.size", "data_parallel_size" },
    { "model_parallel_size", "tensor_model_parallel_size" }, { "num_nodes", "nnodes" }, { "devices", "nproc_per_node" },
    { "devices_per_node", "nproc_per_node" }, { "fp8", "fp8_format" }, { "fp4", "fp4_format" },
    { "num_moe_experts", "num_experts" }, { "activations_checkpoint_granularity", "recompute_granularity" },
    { "activations_checkpoint_method", "recompute_method" },
    { "activations_checkpoint_num_layers", "recompute_num_layers" },
    { "num_layers_in_first_pipeline_stage", "decoder_first_pipeline_num_layers" },
    { "num_layers_in_last_pipeline_stage", "decoder_last_pipeline_num_layers" },
    { "share_embeddings_and_output_weights", "tied_embeddings" }, { "bias", "add_bias_linear" },
    { "qkv_bias", "add_qkv_bias" }, { "use_qkv_bias", "add_qkv_bias" }, { "max_steps", "train_iters" },
    { "megatron.precision", "precision" }, { "qk_rope_head_dim", "qk_pos_emb_head_dim" },
    { "pad_vocab_size_to", "padded_vocab_size" }, { "optim.name", "optimizer_name" }, { "primus.model", "model_name" },
    { "model_recipe_name", "recipe" }, { "factory", "recipe" }, { "actor_num_nodes", "nnodes" },
    { "actor_num_gpus_per_node", "nproc_per_node" }, { "multi_head_latent_attention", "multi_latent_attention" },
    { "moe_intermediate_size", "moe_ffn_hidden_size" }, { "qk_nope_head_dim", "qk_head_dim" },
    { "tokenizer_name_or_path", "tokenizer_model" } } };
/// Of the same thing, by which sources of one job are compared.
constexpr auto kSameThings = std::to_array<OtherName>(
    { { "deepspeed.train_batch_size", "global_batch_size" }, { "training.global_batch_size", "global_batch_size" },
        { "deepspeed.train_micro_batch_size_per_gpu", "micro_batch_size" },
        { "deepspeed.zero_optimization_stage", "zero_stage" }, { "deepspeed.bfloat16_enabled", "bf16" },
        { "deepspeed.fp16_enabled", "fp16" }, { "training.seq_len", "seq_length" },
        { "parallelism.tensor_parallel_degree", "tensor_model_parallel_size" },
        { "parallelism.pipeline_parallel_degree", "pipeline_model_parallel_size" } });
constexpr std::array<std::string_view, 13> kSections { "megatron.", "model.", "train.", "trainer.", "dataset.", "ddp.",
    "optimizer.", "args.", "config.", "mixed_precision.", "model.config.", "data.", "strategy." };

bool tellsArguments(SourceKind kind)
{
    switch (kind) {
    case SourceKind::MegatronLog:
    case SourceKind::DeepSpeedLog:
    case SourceKind::MlperfLog:
    case SourceKind::NemoLog:
    case SourceKind::TorchtitanLog:
    case SourceKind::HfTrainerLog:
    case SourceKind::StepLog:
    case SourceKind::WandbFile:
    case SourceKind::TensorBoardEvents:
    case SourceKind::OtlpJson:
    case SourceKind::OtlpProtobuf:
    case SourceKind::HfTrainerState:
    case SourceKind::MegatronArguments:
    case SourceKind::TorchtitanToml:
    case SourceKind::NanotronConfig:
    case SourceKind::DeepSpeedConfig:
    case SourceKind::AccelerateConfig:
    case SourceKind::LlamaFactoryConfig:
    case SourceKind::AxolotlConfig:
    case SourceKind::AutomodelConfig:
    case SourceKind::MaxTextConfig:
    case SourceKind::PrimusConfig:
        return true;
    default:
        return false;
    }
}

/// Whether it makes a plan: where two sources differ in anything else, they may be of one job.
bool isOfPlan(std::string_view name)
{
    static constexpr std::array<std::string_view, 5> kSizes { "world_size", "nnodes", "nproc_per_node",
        "tasks_per_node", "data_parallel_size" };
    return megatronArgument(name) || std::ranges::find(kSizes, name) != kSizes.end()
        || std::ranges::find(
               megatronShapes(), name, [](const MegatronShape &shape) { return std::string_view(shape.name); })
        != megatronShapes().end()
        || std::ranges::find(kOtherNames, name, &OtherName::name) != kOtherNames.end()
        || name.starts_with("parallelism.") || name.starts_with("training.") || name.starts_with("deepspeed.");
}

/// 4096 and 4096.0, True and true.
bool isSameValue(std::string_view a, std::string_view b)
{
    const auto numberOf = [](std::string_view text) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && end == text.data() + text.size() ? value : std::nan("");
    };
    const auto isSameLetter = [](char x, char y) {
        return x == y || ((x ^ y) == 0x20 && (x | 0x20) >= 'a' && (x | 0x20) <= 'z');
    };
    return std::ranges::equal(a, b, isSameLetter) || numberOf(a) == numberOf(b);
}

} // namespace

std::string_view megatronNameOf(std::string_view name)
{
    for (const std::string_view section : kSections)
        if (name.starts_with(section) && name.find('.', section.size()) == name.npos)
            name.remove_prefix(section.size());
    const auto other = std::ranges::find(kOtherNames, name, &OtherName::other);
    return other == kOtherNames.end() ? name : other->name;
}

std::string fileName(const std::string &file)
{
    const std::size_t slash = file.find_last_of("/\\");
    return shortened(slash == file.npos ? file : file.substr(slash + 1));
}

Told::Values Told::valuesOf(const std::map<std::string, std::string> &arguments, const std::string &source)
{
    Values values;
    const auto add = [&](const std::string &name, const std::string &value, const std::string &asTold) {
        if (value != "None" && value != "null" && !value.empty())
            values.try_emplace(name, Value { value, asTold, source });
    };
    for (const auto &[name, value] : arguments)
        if (!dialectOf(name))
            add(name, value, name);
    if (Translation translation = translated(arguments); translation.dialect) {
        for (const auto &[name, argument] : translation.arguments) {
            add(name, argument.value, argument.key);
            values.at(name).isDefault = argument.isDefault;
        }
        translation.source = source;
        m_translations.push_back(std::move(translation));
    }
    for (const auto &[name, value] : arguments)
        for (const std::string_view section : kSections)
            if (name.starts_with(section) && name.find('.', section.size()) == name.npos)
                add(name.substr(section.size()), value, name);
    for (const auto &[name, value] : arguments)
        if (value == "None" || value == "null")
            m_nulls.insert(name.substr(name.rfind('.') + 1));
    for (const auto &[other, name] : kOtherNames)
        if (const auto known = values.find(other); known != values.end())
            add(std::string(name), std::string(known->second.text), std::string(known->second.name));
    return values;
}

/// What was told before under that name, or under another of the same thing; nullptr where only a default stands.
const Told::Value *Told::toldBefore(std::string_view name) const
{
    const auto known = [&](std::string_view one) -> const Value * {
        const auto at = m_values.find(one);
        return at != m_values.end() && !at->second.isDefault ? &at->second : nullptr;
    };
    if (const Value *same = known(name))
        return same;
    const auto nameOf = [](std::string_view one) {
        const auto pair = std::ranges::find(kSameThings, one, &OtherName::other);
        return pair == kSameThings.end() ? one : pair->name;
    };
    for (const auto &[other, plain] : kSameThings)
        for (const std::string_view one : { other, plain })
            if (one != name && nameOf(one) == nameOf(name))
                if (const Value *same = known(one))
                    return same;
    return nullptr;
}

/// All of a source, or, where it tells another job than those before it, nothing.
void Told::add(Values values, const std::string &source)
{
    std::string differences, before;
    int others = 0;
    for (const auto &[name, value] : values) {
        const Value *known = value.isDefault ? nullptr : toldBefore(name);
        if (!known || isSameValue(known->text, value.text) || !isOfPlan(name))
            continue;
        before = known->source;
        if (others++ < 4)
            differences += (differences.empty() ? "" : ", ") + shortened(name) + " " + shortened(value.text) + " (not "
                + shortened(known->text) + " as " + known->source + ")";
    }
    if (others > 4)
        differences += " and " + std::to_string(others - 4) + " more";
    if (others > 0) {
        m_conflicts.emplace_back(source,
            "tells another job than " + before + ": " + differences + ". What " + before
                + " tells is taken, and nothing of " + source
                + ". Import one job's files alone where another is meant");
        return;
    }
    for (auto &[name, value] : values) {
        const auto [at, isNew] = m_values.try_emplace(name, value);
        if (!isNew && at->second.isDefault && !value.isDefault)
            at->second = value;
    }
}

/// What a script that only sets variables tells, beside one that reads others: it completes that one, which may set the
/// same otherwise behind it.
bool Told::addPart(Values &values, const std::string &source)
{
    const auto isPart = values.find(std::string(kOfScript) + "is_part");
    const auto reader = m_values.find(std::string(kOfScript) + "sourced");
    if (isPart == values.end() || reader == m_values.end())
        return false;
    const bool isNamed = reader->second.text.find(source) != std::string::npos;
    m_parts.push_back(source + (isNamed ? " is read by " : " is taken as the script that ") + reader->second.source
        + (isNamed ? "" : " reads (" + shortened(reader->second.text) + ")")
        + ": what it tells completes that one, whose own options stand");
    for (auto &[name, value] : values)
        if (!name.starts_with(kOfScript))
            m_values.try_emplace(name, std::move(value));
    m_values.erase(std::string(kOfScript) + "words"); // its lists are told
    return true;
}

Told::Told(const Recording &recording)
{
    const auto fileOf = [&](std::uint32_t source) {
        return source < recording.sources.size() ? fileName(recording.sources[source].file) : std::string();
    };
    if (recording.argumentsOf.empty())
        m_values = valuesOf(recording.arguments, {});
    std::vector<const SourceArguments *> sources;
    for (const SourceArguments &told : recording.argumentsOf)
        sources.push_back(&told);
    std::ranges::stable_partition(sources,
        [](const SourceArguments *one) { return !one->arguments.contains(std::string(kOfScript) + "is_part"); });
    for (const SourceArguments *one : sources) {
        const SourceArguments &told = *one;
        const std::string file = fileOf(told.source);
        Values values = valuesOf(told.arguments, file);
        // One that no plan can be made of, beside others that tell the job, is left out by itself.
        if (recording.argumentsOf.size() > 1 && !m_translations.empty() && m_translations.back().source == file
            && !m_translations.back().refused.empty()) {
            const auto &[key, why] = m_translations.back().refused.front();
            m_conflicts.emplace_back(file, shortened(key) + " " + why + ": nothing of " + file + " is taken");
            m_translations.pop_back();
            continue;
        }
        if (!addPart(values, file))
            add(std::move(values), file.empty() ? "the recording" : file);
    }
    for (const auto &[name, value] : m_values) {
        m_isTorchtitan = m_isTorchtitan || name.starts_with("parallelism.") || name == "training.seq_len"
            || name == "training.local_batch_size";
        m_isDeepSpeed = m_isDeepSpeed || name.starts_with("deepspeed.");
    }
    int others = 0;
    for (const RecordedSource &source : recording.sources)
        if (tellsArguments(source.kind) && source.refused.empty()) {
            others += m_sources.size() > 120 ? 1 : 0;
            if (others == 0)
                m_sources += (m_sources.empty() ? "" : " or ") + fileName(source.file);
        }
    if (others > 0)
        m_sources += " or " + std::to_string(others) + " others";
    addDerived(recording);
}

/// Degrees of two origins make no job: all of them or none.
void Told::addDerived(const Recording &recording)
{
    const auto fileOf = [&](std::uint32_t source) {
        return source < recording.sources.size() ? fileName(recording.sources[source].file) : std::string();
    };
    const bool isSizeTold = has("nnodes") || has("data_parallel_size") || !recording.nodes.empty()
        || std::ranges::any_of(recording.ranks, [](const RankRecording &rank) { return rank.worldSize > 0; });
    const auto take = [&](const std::vector<DerivedArgument> &arguments, std::uint32_t source) {
        for (const DerivedArgument &argument : arguments)
            if (argument.name != "world_size" || !isSizeTold)
                derive(argument, fileOf(source));
    };
    const auto hasOne = [&](std::initializer_list<const char *> names) {
        return std::ranges::any_of(names, [&](const char *name) { return has(name); });
    };
    if (m_isTorchtitan)
        return;
    const bool isShapeTold =
        hasOne({ "tensor_model_parallel_size", "pipeline_model_parallel_size", "num_layers", "hidden_size" });
    const auto job = isShapeTold ? std::nullopt : derivedJob(recording);
    const LoggedJob logged = loggedJob(recording);
    if (!job || job->arguments.empty() || logged.source == job->theory.source)
        take(logged.arguments, logged.source);
    if (job)
        take(job->arguments, job->theory.source);
}

void Told::derive(const DerivedArgument &argument, const std::string &source)
{
    m_values.try_emplace(argument.name, Value { argument.value, argument.name, source, argument.why });
}

bool Told::isDerived(std::string_view name) const
{
    const auto known = m_values.find(name);
    return known != m_values.end() && !known->second.why.empty();
}

std::optional<std::string> Told::text(std::string_view name) const
{
    const auto known = m_values.find(name);
    return known != m_values.end() ? std::optional(known->second.text) : std::nullopt;
}

bool Told::isNull(std::string_view name) const
{
    return m_nulls.contains(name) && !has(name);
}

std::optional<bool> Told::flag(std::string_view name) const
{
    const auto value = text(name);
    if (!value)
        return std::nullopt;
    return *value != "False" && *value != "false" && *value != "0" && *value != "no" && *value != "off";
}

std::string Told::said(std::string_view name) const
{
    const auto known = m_values.find(name);
    std::string own = known != m_values.end() ? known->second.name : std::string(name);
    if (own.starts_with(kUntold))
        own = own.substr(kUntold.size());
    const bool isKey = std::ranges::any_of(m_translations, [&](const Translation &one) {
        const auto at = one.arguments.find(std::string(name));
        return at != one.arguments.end() && at->second.key == own;
    });
    const bool isFlag = own.find('.') == own.npos && !isKey;
    const std::string &source = sourceOf(name);
    if (isDerived(name))
        return known->second.why + (source.empty() ? "" : " (" + source + ")");
    return shortened(isFlag ? flagOf(own) : own) + (source.empty() ? "" : " (" + source + ")");
}

const std::string &Told::sourceOf(std::string_view name) const
{
    const auto known = m_values.find(name);
    return known != m_values.end() && !known->second.source.empty() ? known->second.source : m_sources;
}

std::vector<std::string> Told::namesBehind(std::string_view prefix) const
{
    std::vector<std::string> names;
    for (auto at = m_values.lower_bound(prefix); at != m_values.end() && at->first.starts_with(prefix); ++at)
        names.push_back(at->first.substr(prefix.size()));
    return names;
}

std::string Told::trainer() const
{
    return m_translations.empty() ? "Megatron" : m_translations.front().dialect->trainer;
}

bool Told::isMegatron() const
{
    // of a recipe's name the other values are its own, not Megatron's defaults
    return !has("recipe")
        && (has("tensor_model_parallel_size") || has("pipeline_model_parallel_size")
            || (has("num_layers") && has("hidden_size")));
}

bool Told::isDivided() const
{
    return isMegatron() || m_isTorchtitan || (has("tensor_model_parallel_size") && has("pipeline_model_parallel_size"));
}

bool Told::isTorchtitan() const
{
    return m_isTorchtitan;
}

bool Told::isDeepSpeed() const
{
    return m_isDeepSpeed;
}

} // namespace trainyard::imports

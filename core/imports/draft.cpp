// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/imports/draft.h"

#include "core/base/printable.h"
#include "core/imports/megatron_arguments.h"
#include "core/plan/enum_names.h"

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
constexpr std::array<OtherName, 32> kOtherNames { { { "encoder_seq_length", "seq_length" },
    { "max_sequence_length", "seq_length" }, { "sequence_length", "seq_length" },
    { "dl.sequence_length", "seq_length" }, { "encoder_num_layers", "num_layers" },
    { "megatron.num_layers", "num_layers" }, { "megatron.hidden_size", "hidden_size" },
    { "megatron.micro_batch_size", "micro_batch_size" }, { "dl.batch_size", "global_batch_size" },
    { "dl.tensor_parallel.size", "tensor_model_parallel_size" },
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
    { "optim.name", "optimizer_name" } } };
constexpr std::array<std::string_view, 12> kSections { "model.", "train.", "trainer.", "dataset.", "ddp.", "optimizer.",
    "args.", "config.", "mixed_precision.", "model.config.", "data.", "strategy." };

bool tellsArguments(SourceKind kind)
{
    switch (kind) {
    case SourceKind::MegatronLog:
    case SourceKind::DeepSpeedLog:
    case SourceKind::MlperfLog:
    case SourceKind::NemoLog:
    case SourceKind::WandbFile:
    case SourceKind::TensorBoardEvents:
    case SourceKind::OtlpJson:
    case SourceKind::OtlpProtobuf:
    case SourceKind::HfTrainerState:
    case SourceKind::MegatronArguments:
    case SourceKind::TorchtitanToml:
        return true;
    default:
        return false;
    }
}

std::string fileName(const std::string &file)
{
    const std::size_t slash = file.find_last_of("/\\");
    return shortened(slash == file.npos ? file : file.substr(slash + 1));
}

} // namespace

ScheduleKind scheduleNamed(std::string_view name)
{
    const auto found =
        std::ranges::find_if(kNamesOf<ScheduleKind>, [&](const EnumName &one) { return name == one.name; });
    return static_cast<ScheduleKind>(found - kNamesOf<ScheduleKind>.begin());
}

Told::Told(const Recording &recording)
{
    const auto add = [&](const std::string &name, const std::string &value, const std::string &asTold) {
        if (value != "None" && value != "null" && !value.empty())
            m_values.try_emplace(name, Value { value, asTold });
    };
    for (const auto &[name, value] : recording.arguments) {
        add(name, value, name);
        m_isTorchtitan = m_isTorchtitan || name.starts_with("parallelism.") || name == "training.seq_len"
            || name == "training.local_batch_size";
        m_isDeepSpeed = m_isDeepSpeed || name.starts_with("deepspeed.");
    }
    for (const auto &[name, value] : recording.arguments)
        for (const std::string_view section : kSections)
            if (name.starts_with(section) && name.find('.', section.size()) == name.npos)
                add(name.substr(section.size()), value, name);
    for (const auto &[other, name] : kOtherNames)
        if (const auto known = m_values.find(other); known != m_values.end())
            add(std::string(name), known->second.text, known->second.name);
    int others = 0;
    for (const RecordedSource &source : recording.sources)
        if (tellsArguments(source.kind) && source.refused.empty()) {
            others += m_sources.size() > 120 ? 1 : 0;
            if (others == 0)
                m_sources += (m_sources.empty() ? "" : " or ") + fileName(source.file);
        }
    if (others > 0)
        m_sources += " or " + std::to_string(others) + " others";
}

std::optional<std::string> Told::text(std::string_view name) const
{
    const auto known = m_values.find(name);
    return known != m_values.end() ? std::optional(known->second.text) : std::nullopt;
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
    const std::string own = known != m_values.end() ? known->second.name : std::string(name);
    const bool isFlag = own.find('.') == own.npos;
    return shortened(isFlag ? flagOf(own) : own) + (m_sources.empty() ? "" : " (" + m_sources + ")");
}

bool Told::isMegatron() const
{
    return has("tensor_model_parallel_size") || has("pipeline_model_parallel_size")
        || (has("num_layers") && has("hidden_size"));
}

bool Told::isTorchtitan() const
{
    return m_isTorchtitan;
}

bool Told::isDeepSpeed() const
{
    return m_isDeepSpeed;
}

void Draft::take(std::string_view key, std::string_view value, std::string_view argument)
{
    taken.push_back(std::string(key) + " " + shortened(value) + " from " + arguments.said(argument));
}

void Draft::assume(std::string sentence)
{
    if (std::ranges::find(assumed, sentence) == assumed.end())
        assumed.push_back(std::move(sentence));
}

void Draft::assumeGpu(std::string sentence)
{
    assumedGpu = sentence;
    assume(std::move(sentence));
}

void Draft::ignore(std::string sentence)
{
    if (std::ranges::find(ignored, sentence) == ignored.end())
        ignored.push_back(std::move(sentence));
}

void Draft::bad(std::string_view argument, std::string what, std::string right)
{
    if (errors.size() < 100)
        errors.push_back({ ErrorCode::BadValue, arguments.said(argument), std::move(what), std::move(right) });
}

std::optional<int> Draft::whole(std::string_view argument, std::int64_t low, std::int64_t high)
{
    const auto text = arguments.text(argument);
    if (!text)
        return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc() && end == text->data() + text->size() && value >= low && value <= high)
        return static_cast<int>(value);
    bad(argument, "is " + shortened(*text),
        "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    return std::nullopt;
}

std::optional<double> Draft::number(std::string_view argument)
{
    const auto text = arguments.text(argument);
    if (!text)
        return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc() && end == text->data() + text->size() && std::isfinite(value))
        return value;
    bad(argument, "is " + shortened(*text), "a number");
    return std::nullopt;
}

std::string Draft::sourceOf(std::uint32_t source) const
{
    return source < recording.sources.size() ? fileName(recording.sources[source].file) : std::string("the recording");
}

} // namespace trainyard::imports

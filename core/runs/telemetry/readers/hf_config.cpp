// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/readers/training_script.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostConfigText = std::size_t(1) << 20;
constexpr int kMostNesting = 3;
constexpr std::array<std::string_view, 4> kLayers { "num_hidden_layers", "n_layer", "n_layers", "num_layers" };
constexpr std::array<std::string_view, 3> kWidths { "hidden_size", "n_embd", "d_model" };

bool hasKey(std::string_view head, std::string_view key)
{
    return head.find("\"" + std::string(key) + "\"") != head.npos;
}

template <class Keys> bool hasAny(std::string_view head, const Keys &keys)
{
    return std::ranges::any_of(keys, [&](std::string_view key) { return hasKey(head, key); });
}

/// "Qwen3-32B" of …/Qwen3-32B/config.json and of Qwen--Qwen3-32B_config.json.
std::string nameOf(const std::string &file)
{
    const std::filesystem::path path(file);
    std::string name = path.stem().string();
    if (name == "config" && path.has_parent_path())
        name = path.parent_path().filename().string();
    for (const std::string_view end : { "_config", "-config", ".config" })
        if (name.size() > end.size() && name.ends_with(end))
            name.resize(name.size() - end.size());
    if (const std::size_t owner = name.find("--"); owner != name.npos && owner + 2 < name.size())
        name.erase(0, owner + 2);
    return name;
}

/// Whether it or an object inside it, under whichever name families nest the language model, tells layers; towers for
/// pictures and sound do not count.
bool tellsLayers(const LooseJsonValue &value, int depth)
{
    const auto tells = [&](const auto &keys) {
        return std::ranges::any_of(keys, [&](std::string_view key) { return bool(value[key]); });
    };
    if (tells(kLayers) && tells(kWidths))
        return true;
    if (depth == 0)
        return false;
    for (const LooseJsonValue inner : value)
        if (inner.isObject() && inner.key().find("vision") == std::string_view::npos
            && inner.key().find("audio") == std::string_view::npos && tellsLayers(inner, depth - 1))
            return true;
    return false;
}

} // namespace

int looksLikeHfConfig(std::string_view, std::string_view head)
{
    if (!trimmedStart(head).starts_with('{'))
        return 0;
    const bool hasShape = hasAny(head, kLayers) && hasAny(head, kWidths);
    if (hasKey(head, "model_type")
        && (hasShape || hasKey(head, "architectures") || hasKey(head, "transformers_version")))
        return 94;
    return hasShape && hasKey(head, "vocab_size") ? 90 : 0;
}

Expected<Recording> readHfConfig(const SourceText &source, const SourceOptions &)
{
    const auto refused = [&](const std::string &why) {
        return std::unexpected(
            Error { ErrorCode::BadSyntax, source.file, "It is a Hugging Face config.json" + why, "" });
    };
    if (source.text.size() > kMostConfigText)
        return refused(", but longer than 1 MiB");
    LooseJson json;
    if (!json.read(source.text) || !json.root().isObject())
        return refused(" that is no JSON object");
    if (json.isTruncated() || json.isBroken())
        return refused(json.isTruncated() ? " that ends in the middle: it is read whole or not at all"
                                          : " that is no JSON from byte " + std::to_string(json.end()) + " on");
    const std::string type = json.root()["model_type"].text().substr(0, 60);
    if (!tellsLayers(json.root(), kMostNesting))
        return refused((type.empty() ? "" : " of " + type) + std::string(" that tells no layers of a language model"));
    Recording recording = recordingOf(source, SourceKind::HfConfig);
    RecordedSource &made = recording.sources.front();
    made.taken = 1;
    if (type.empty())
        note(made, "It names no model_type: the commonest keys are read");
    RecordedModel &model = recording.models.emplace_back();
    model.name = nameOf(source.file);
    model.config = std::string(source.text);
    model.source = 0;
    return recording;
}

} // namespace trainyard::readers

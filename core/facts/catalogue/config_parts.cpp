// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/config_parts_internal.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

constexpr auto kLanguageKeys = std::to_array<const char *>(
    { "text_config", "llm_config", "language_config", "thinker_config", "language_model_config", "text_model_config",
        "llm", "lm_config", "text_cfg", "language_model", "base_model_config", "backbone_config", "decoder_config" });
constexpr auto kTowerParts = std::to_array<std::string_view>(
    { "vision", "visual", "audio", "image", "speech", "sound", "video", "talker", "vit", "tower" });
constexpr int kMostNesting = 4;
constexpr double kMostOfTower = 1e15; // no tower has as many parameters

double numberAt(const CatalogueJson &object, std::initializer_list<const char *> keys)
{
    for (const char *key : keys)
        if (const auto found = object.find(key); found != object.end() && found->is_number())
            return std::clamp(found->get<double>(), 0.0, 1e7);
    return 0;
}

bool tellsShape(const CatalogueJson &config)
{
    return numberAt(config, { "num_hidden_layers", "n_layer", "n_layers", "num_layers" }) > 0
        && numberAt(config, { "hidden_size", "n_embd", "d_model" }) > 0;
}

/// 4 h^2 + 2 h f a layer: attention and an MLP of two matrices, as towers have them.
double towerParameters(const CatalogueJson &tower)
{
    const double layers = numberAt(
                     tower, { "num_hidden_layers", "depth", "layers", "n_layer", "num_layers", "encoder_layers" }),
                 hidden = numberAt(tower, { "hidden_size", "embed_dim", "width", "d_model", "hidden_dim" });
    double inner = numberAt(tower, { "intermediate_size", "mlp_dim", "encoder_ffn_dim" });
    if (inner == 0)
        inner = hidden * (numberAt(tower, { "mlp_ratio" }) > 0 ? numberAt(tower, { "mlp_ratio" }) : 4);
    return std::min(layers * hidden * (4 * hidden + 2 * inner), kMostOfTower);
}

void addTowers(Towers &towers, const CatalogueJson &config)
{
    for (const auto &[key, value] : config.items()) {
        const bool isTower =
            std::ranges::any_of(kTowerParts, [&](std::string_view part) { return key.find(part) != key.npos; });
        if (!isTower || !value.is_object() || value.empty())
            continue;
        const double parameters = towerParameters(value);
        towers.keys += (towers.keys.empty() ? "" : ", ") + key.substr(0, 60);
        towers.parameters += parameters;
        towers.isUnknown = towers.isUnknown || parameters == 0;
    }
}

} // namespace

std::string withoutPythonLiterals(std::string_view text)
{
    std::string plain(text);
    bool isInString = false;
    for (std::size_t at = 0; at < plain.size(); ++at) {
        const char c = plain[at];
        if (isInString) {
            at += c == '\\' ? 1 : 0;
            isInString = c != '"';
            continue;
        }
        isInString = c == '"';
        const std::string_view rest = std::string_view(plain).substr(at, 9);
        for (const std::string_view literal : { "-Infinity", "Infinity", "NaN" })
            if (rest.starts_with(literal)) {
                std::string null(std::max<std::size_t>(literal.size(), 4), ' ');
                null.replace(0, 4, "null");
                plain.replace(at, literal.size(), null);
                at += null.size() - 1;
                break;
            }
    }
    return plain;
}

LanguagePart languagePart(const CatalogueJson &config)
{
    LanguagePart part { &config, "" };
    for (int depth = 0; depth < kMostNesting && !tellsShape(*part.config); ++depth) {
        const auto inner = std::ranges::find_if(kLanguageKeys, [&](const char *key) {
            const auto found = part.config->find(key);
            return found != part.config->end() && found->is_object();
        });
        if (inner == kLanguageKeys.end())
            break;
        part.config = &part.config->at(*inner);
        part.path += std::string("/") + *inner;
    }
    return part;
}

Towers towersBeside(const CatalogueJson &config, const LanguagePart &language)
{
    Towers towers;
    addTowers(towers, config);
    if (language.path.find("/thinker_config") == 0 && config.contains("thinker_config"))
        addTowers(towers, config["thinker_config"]);
    return towers;
}

} // namespace trainyard

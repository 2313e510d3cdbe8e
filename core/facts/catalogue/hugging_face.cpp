// SPDX-License-Identifier: GPL-3.0-or-later
// Hugging Face config.json files. Families differ in key names and in habits that no key states (GPT-2 has biases,
// Qwen 2 biases its queries): resources/catalog/model_families.json says which. Every key is used, known to be without
// effect, or a doubt of the model; a family that is not known is read by the commonest keys, and that is one too.
#include "core/base/printable.h"
#include "core/base/text_file.h"
#include "core/facts/catalogue/config_layers_internal.h"
#include "core/facts/catalogue/config_parts_internal.h"
#include "core/facts/catalogue/parse.h"
#include "core/facts/workload/model_math.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

constexpr const char *kRight = "a Hugging Face config.json";
/// Of a family that is not known: norms, biases, gates and the order of a layer are as they mostly are (assumed).
constexpr double kOtherFamilyLow = -0.2, kOtherFamilyHigh = 0.3;
/// Towers below this share of the parameters are named and change nothing.
constexpr double kNoticedTower = 0.01;

class ConfigReader {
public:
    ConfigReader(const CatalogueJson &config, const std::string &where, Errors &errors, std::string type)
        : m_keys(config, where, errors, modelFamily(type))
        , m_type(std::move(type))
    {
    }

    /// `outerTied` is what the file around a nested config says of tied embeddings.
    ModelSpec read(std::optional<bool> outerTied, const Towers &towers);

private:
    void readAttention(ModelSpec &model);
    void readLatent(ModelSpec &model);
    void readMlp(ModelSpec &model);
    void readHabits(ModelSpec &model, std::optional<bool> outerTied);
    void check(ModelSpec &model);
    void refuseOtherKinds(const ModelSpec &model);
    void doubtTheFamily(const ModelSpec &model);
    void addTowers(ModelSpec &model, const Towers &towers);
    [[nodiscard]] const ModelFamily *family() const { return m_keys.family(); }

    ConfigKeys m_keys;
    std::string m_type, m_activation;
    bool m_tieIsTold = false;
};

/// Of a model whose file does not say whether its head has weights of its own.
std::string untiedSentence(const ModelSpec &model)
{
    return ". That the head shares the weights of the embedding is as the library has it by default; else there are "
        + std::to_string(std::llround(double(model.hidden) * model.vocab / 1e6)) + " M parameters more";
}

void ConfigReader::readAttention(ModelSpec &model)
{
    model.heads =
        m_keys.required({ "num_attention_heads", "n_head", "n_heads", "num_heads" }, "the number of attention heads");
    model.kvHeads = m_keys.count({ "num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num",
        "num_attention_groups", "num_query_groups" });
    if (m_keys.flag({ "multi_query_attention" }) == false || m_keys.flag({ "new_decoder_architecture" }) == false)
        model.kvHeads = 0;
    const bool isOneByDefault = m_type == "gpt_bigcode" || (m_type == "falcon" && model.kvHeads == 0);
    if (m_keys.flag({ "multi_query" }).value_or(isOneByDefault) && model.kvHeads == 0)
        model.kvHeads = 1;
    if (m_type == "mpt") {
        ObjectReader attention = m_keys.object("attn_config");
        attention.count("kv_n_heads", model.kvHeads, { 1, 1e7 });
    }
    if (model.kvHeads == 0)
        model.kvHeads = model.heads;
    model.headDim = m_keys.count({ "head_dim", "kv_channels", "attention_head_dim", "d_kv" });
    if (model.headDim == 0)
        model.headDim = std::max(1, model.hidden / model.heads);
    if (m_keys.has("kv_lora_rank"))
        readLatent(model);
}

void ConfigReader::readLatent(ModelSpec &model)
{
    model.attention = AttentionKind::Latent;
    model.latent.keyValueRank = m_keys.count({ "kv_lora_rank" });
    model.latent.queryRank = m_keys.count({ "q_lora_rank" }); // null or absent: queries are not compressed
    model.latent.nopeDim = m_keys.required({ "qk_nope_head_dim" }, "the width of a head without rotary part");
    model.latent.ropeDim = m_keys.required({ "qk_rope_head_dim" }, "the width of a head's rotary part");
    model.latent.valueDim = m_keys.required({ "v_head_dim" }, "the width of a value head");
    (void)m_keys.count({ "qk_head_dim" }); // the sum of two of them
    model.headDim = model.latent.valueDim;
}

void ConfigReader::readMlp(ModelSpec &model)
{
    model.ffn = m_keys.count({ "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "inner_hidden_size" });
    if (const CatalogueJson *ratio = m_keys.raw("expansion_ratio"); ratio && ratio->is_number() && model.ffn == 0)
        model.ffn = int(std::clamp(ratio->get<double>() * model.hidden, 0.0, 1e7));
    if (model.ffn == 0)
        model.ffn = 4 * model.hidden; // what a null n_inner means
    if (family() && family()->hasHalvedFfn)
        model.ffn = std::max(1, model.ffn / 2);
    for (const char *key : { "hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act", "activation",
             "act_fn", "ffn_act", "ffn_act_fn", "activation_type" })
        if (const std::string said = m_keys.text({ key }); m_activation.empty())
            m_activation = said;
    const auto isAnyOf = [&](std::initializer_list<const char *> parts) {
        return std::ranges::any_of(
            parts, [&](const char *part) { return m_activation.find(part) != m_activation.npos; });
    };
    model.gatedFfn = family() ? family()->isGated : isAnyOf({ "silu", "swish", "swiglu", "geglu", "glu" });
}

void ConfigReader::readHabits(ModelSpec &model, std::optional<bool> outerTied)
{
    const auto *known = family();
    model.layerNorm = known && known->hasLayerNorm;
    const bool hasOnQueries =
        m_keys.flag({ "attention_bias", "qkv_bias", "use_qkv_bias", "add_qkv_bias", "use_attention_bias" })
            .value_or(false);
    const bool hasOnMlps = m_keys.flag({ "mlp_bias", "use_mlp_bias" }).value_or(false);
    const auto onAll = m_keys.flag({ "use_bias", "bias", "add_bias_linear" });
    const bool isFreeOfAll = m_keys.flag({ "no_bias" }) == true;
    model.linearBias =
        onAll.value_or(known && known->bias == BiasHabit::All && !isFreeOfAll) || (hasOnQueries && hasOnMlps);
    model.queryKeyValueBias = !model.linearBias && ((known && known->bias == BiasHabit::QueryKeyValue) || hasOnQueries);
    model.dropout = known && known->hasDropout;
    const auto tied = m_keys.flag({ "tie_word_embeddings", "tie_embeddings", "tie_embedding", "share_embedding" });
    m_tieIsTold = tied || outerTied;
    // Where no key says it, the library's base class ties.
    model.tiedEmbeddings = tied.value_or(outerTied.value_or(known ? known->isTied : true));
    if (known && known->positions != Positions::Rotary)
        model.learnedPositions = m_keys.count({ "n_positions", "max_position_embeddings" }, { 1, 1e8 })
            + (known->positions == Positions::TableAndTwo ? 2 : 0);
}

void ConfigReader::check(ModelSpec &model)
{
    if (model.heads % model.kvHeads != 0 && m_keys.isBlocked())
        model.kvHeads = model.heads; // of which nothing is computed
    if (model.heads % model.kvHeads != 0)
        m_keys.fault("num_key_value_heads",
            "num_key_value_heads " + std::to_string(model.kvHeads) + " does not divide num_attention_heads "
                + std::to_string(model.heads),
            "a divisor of the heads");
}

/// Models that are built otherwise than anything that is counted here.
void ConfigReader::refuseOtherKinds(const ModelSpec &model)
{
    if (m_keys.flag({ "is_encoder_decoder" }) == true)
        m_keys.fault("is_encoder_decoder", "an encoder with a decoder", "a decoder-only language model");
    if (const int width = m_keys.count({ "routed_expert_hidden_size" }); width > 0 && width != model.hidden)
        m_keys.fault("routed_expert_hidden_size",
            "routed experts work on " + std::to_string(width) + " values of a token, and the layers on "
                + std::to_string(model.hidden) + ": such experts (as of Kimi K3) are not modelled",
            "experts as wide as the layers");
    if (m_keys.flag({ "add_cross_attention" }) == true)
        m_keys.block("add_cross_attention", "its layers attend to another model's states as well, and such layers");
    if (m_keys.flag({ "use_cla" }) == true)
        m_keys.block("use_cla", "layers take keys and values of others, and such layers");
    if (m_keys.flag({ "attention_k_eq_v" }) == true)
        m_keys.block("attention_k_eq_v", "keys are values too, and such attention");
}

void ConfigReader::doubtTheFamily(const ModelSpec &model)
{
    if (family() || m_keys.isBlocked())
        return;
    ModelSpec other = model;
    other.gatedFfn = !model.gatedFfn;
    const double share = activeParameters(other) / activeParameters(model) - 1;
    m_keys.doubt("model_type",
        (m_type.empty() ? std::string("no model type is named")
                        : shortened(m_type) + " is no model type that is known here")
            + ": read by the commonest keys. That its MLPs " + (model.gatedFfn ? "are gated" : "have no gate")
            + " is taken from "
            + (m_activation.empty() ? std::string("no key") : "the activation " + shortened(m_activation))
            + "; otherwise a token uses " + std::to_string(std::lround(100 * std::abs(share))) + " % "
            + (share > 0 ? "more" : "fewer") + " parameters" + (m_tieIsTold ? std::string() : untiedSentence(model)),
        std::min(kOtherFamilyLow, share), std::max(kOtherFamilyHigh, share));
}

void ConfigReader::addTowers(ModelSpec &model, const Towers &towers)
{
    if (towers.keys.empty())
        return;
    const double share = towers.parameters / (towers.parameters + totalParameters(model));
    const std::string text = "towers beside the language model are left out: of those whose widths are told, about "
        + std::to_string(std::lround(towers.parameters / 1e6)) + " M parameters, "
        + std::to_string(std::lround(1000 * share) / 10.0).substr(0, 4) + " % of all";
    if (share >= kNoticedTower)
        m_keys.doubt(towers.keys, text, 0, share / (1 - share));
    else
        model.source += "; " + towers.keys + ": " + text;
}

ModelSpec ConfigReader::read(std::optional<bool> outerTied, const Towers &towers)
{
    ModelSpec model;
    model.layers = m_keys.required(
        { "num_hidden_layers", "n_layer", "n_layers", "num_layers" }, "the number of layers", { 1, 10000 });
    model.hidden = m_keys.required({ "hidden_size", "n_embd", "d_model" }, "the hidden size", { 1, 1e6 });
    model.vocab = m_keys.required({ "vocab_size", "padded_vocab_size" }, "the size of the vocabulary", { 1, 1e8 });
    readAttention(model);
    readMlp(model);
    readExperts(m_keys, model, m_type);
    readHabits(model, outerTied);
    readLayerKinds(m_keys, model);
    model.source = family() ? "config.json, model type " + m_type
                            : "config.json of an unknown model type" + (m_type.empty() ? "" : " " + shortened(m_type))
            + ", read by the commonest keys";
    if (const int further =
            m_keys.count({ "num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers" }, { 0, 1000 });
        further > 0)
        model.source +=
            "; further layers that predict tokens, " + std::to_string(further) + ", are left out (mtp_layers)";
    refuseOtherKinds(model);
    doubtLinearLayers(m_keys, model);
    doubtSparseAttention(m_keys, model);
    m_keys.doubtTheRest(model.layers);
    doubtTheFamily(model);
    check(model);
    addTowers(model, towers);
    model.doubts = std::move(m_keys.doubts);
    return model;
}

/// ", vocab_size, head_dim": those that were filled in.
std::string fillDefaultsOfFamily(CatalogueJson &config, const CatalogueJson &defaults)
{
    std::string filled;
    for (const auto &[key, value] : defaults.items())
        if (!config.contains(key)) {
            config[key] = value;
            filled += ", " + key;
        }
    return filled;
}

/// Of JSON that lies beside a config.json and is easily taken for one: what it is. Empty: it may be one.
std::string otherFile(const CatalogueJson &config)
{
    const auto has = [&](const char *key) { return config.contains(key); };
    if (has("peft_type"))
        return "is the configuration of an adapter, which has no model's shape: name the config.json of the model that "
               "it belongs to";
    if (has("dim") && has("n_layers") && !has("hidden_size") && !has("n_embd") && !has("d_model"))
        return "is a params.json as Meta and Mistral release them, without what a model needs besides: name the "
               "config.json of the same model";
    return {};
}

std::string typeOf(const CatalogueJson &config)
{
    const auto type = config.find("model_type");
    return type != config.end() && type->is_string() ? type->get<std::string>() : std::string();
}

} // namespace

Expected<ModelSpec> readHuggingFaceConfig(const std::string &path)
{
    const auto text = readTextFile(path, kRight);
    if (!text)
        return std::unexpected(text.error());
    return parseHuggingFaceConfig(*text, path);
}

Expected<ModelSpec> parseHuggingFaceConfig(std::string_view json, const std::string &fileName)
{
    const auto config = parseJson(withoutPythonLiterals(json), fileName);
    if (!config)
        return std::unexpected(config.error());
    if (!config->is_object())
        return std::unexpected(Error { ErrorCode::BadSyntax, fileName, "is no JSON object", kRight });

    if (const std::string other = otherFile(*config); !other.empty())
        return std::unexpected(Error { ErrorCode::BadSyntax, fileName, other, kRight });

    const LanguagePart language = languagePart(*config);
    const bool isNested = !language.path.empty();
    CatalogueJson own = *language.config;
    std::optional<bool> outerTied;
    if (const auto tied = config->find("tie_word_embeddings"); isNested && tied != config->end() && tied->is_boolean())
        outerTied = tied->get<bool>();
    // A nested part without a type of its own is of the family of the whole.
    std::string type = typeOf(own);
    if (type.empty())
        type = typeOf(*config);
    const Towers towers = towersBeside(*config, language);
    for (const auto &[key, value] : config->items())
        if (value.is_object() && towers.keys.find(key) != towers.keys.npos)
            own.erase(key);
    std::string filled;
    if (const ModelFamily *family = modelFamily(type)) {
        filled = fillDefaultsOfFamily(own, family->defaults);
        if (isNested)
            filled += fillDefaultsOfFamily(own, family->nestedDefaults);
    }
    Errors errors;
    ConfigReader reader(own, fileName + ": " + language.path, errors, type);
    ModelSpec model = reader.read(outerTied, towers);
    if (!errors.empty())
        return std::unexpected(errors.front());
    if (!filled.empty())
        model.source += "; the defaults of its family stand for" + filled.substr(1);
    return model;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
// Hugging Face config.json files. Families differ in key names and in habits that no key states (GPT-2 has biases,
// Qwen 2 biases its queries): the table says which. A family that it lacks is read by the commonest keys, and says so.
#include "core/base/printable.h"
#include "core/base/text_file.h"
#include "core/facts/catalogue/object_reader_internal.h"
#include "core/facts/catalogue/parse.h"
#include "core/facts/workload/model_math.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

namespace trainyard {

namespace {

enum class Positions { Rotary, Table, TableAndTwo }; // OPT's table has two rows more than it says

struct Family {
    const char *type; // model_type
    bool gated, layerNorm, linearBias, queryKeyValueBias, tied, dropout;
    Positions positions;
};

constexpr Family kFamilies[] = {
    { "llama", true, false, false, false, false, false, Positions::Rotary },
    { "llama4_text", true, false, false, false, false, false, Positions::Rotary },
    { "mistral", true, false, false, false, false, false, Positions::Rotary },
    { "mixtral", true, false, false, false, false, false, Positions::Rotary },
    { "qwen2", true, false, false, true, false, false, Positions::Rotary },
    { "qwen2_moe", true, false, false, true, false, false, Positions::Rotary },
    { "qwen3", true, false, false, false, false, false, Positions::Rotary },
    { "qwen3_moe", true, false, false, false, false, false, Positions::Rotary },
    { "qwen3_next", true, false, false, false, false, false, Positions::Rotary },
    { "qwen3_5_text", true, false, false, false, false, false, Positions::Rotary },
    { "qwen3_5_moe_text", true, false, false, false, false, false, Positions::Rotary },
    { "deepseek_v2", true, false, false, false, false, false, Positions::Rotary },
    { "deepseek_v3", true, false, false, false, false, false, Positions::Rotary },
    { "deepseek_v32", true, false, false, false, false, false, Positions::Rotary },
    { "kimi_k2", true, false, false, false, false, false, Positions::Rotary },
    { "gpt_oss", true, false, false, false, false, false, Positions::Rotary },
    { "gemma", true, false, false, false, true, false, Positions::Rotary },
    { "gemma2", true, false, false, false, true, false, Positions::Rotary },
    { "dbrx", true, false, false, false, false, false, Positions::Rotary },
    { "gpt_neox", false, true, true, false, false, false, Positions::Rotary },
    { "gpt_neo", false, true, true, false, true, true, Positions::Table },
    { "gpt2", false, true, true, false, true, true, Positions::Table },
    { "bloom", false, true, true, false, true, true, Positions::Rotary },
    { "opt", false, true, true, false, true, true, Positions::TableAndTwo },
};

constexpr Range kCount { 1, 1e7 };
constexpr const char *kRight = "a Hugging Face config.json";
constexpr int kMostSharedFfn = 10'000'000;

const Family *findFamily(const std::string &type)
{
    const auto found = std::ranges::find_if(kFamilies, [&](const Family &f) { return type == f.type; });
    return found == std::end(kFamilies) ? nullptr : found;
}

class ConfigReader {
public:
    ConfigReader(const CatalogueJson &config, const std::string &where, Errors &errors)
        : m_reader(config, where, errors)
    {
    }

    /// `outerTied` is what the file around a nested config says of tied embeddings.
    ModelSpec read(std::optional<bool> outerTied);

private:
    /// The first of these keys that the file has; all are names of one thing. 0 where none is there.
    int count(std::initializer_list<const char *> keys, Range range = kCount);
    int required(std::initializer_list<const char *> keys, const char *what, Range range = kCount);
    bool flag(const char *key, bool otherwise);
    void readAttention(ModelSpec &model);
    void readExperts(ModelSpec &model, const std::string &type);
    void readWindow(ModelSpec &model);
    void readDbrx(ModelSpec &model);
    void check(const ModelSpec &model);
    void refuseOtherKinds();
    int linearLayers();

    ObjectReader m_reader;
};

int ConfigReader::count(std::initializer_list<const char *> keys, Range range)
{
    int value = 0;
    for (const char *key : keys) {
        if (m_reader.has(key)) {
            m_reader.count(key, value, range);
            break;
        }
    }
    return value;
}

int ConfigReader::required(std::initializer_list<const char *> keys, const char *what, Range range)
{
    const int value = count(keys, range);
    const bool present = std::ranges::any_of(keys, [&](const char *key) { return m_reader.has(key); });
    if (!present)
        m_reader.fault(*keys.begin(), std::string(*keys.begin()) + " is missing", what);
    return value;
}

bool ConfigReader::flag(const char *key, bool otherwise)
{
    bool value = otherwise;
    m_reader.flag(key, value);
    return value;
}

void ConfigReader::readAttention(ModelSpec &model)
{
    model.heads = required({ "num_attention_heads", "n_head", "n_heads" }, "the number of attention heads");
    model.kvHeads = count({ "num_key_value_heads" });
    if (model.kvHeads == 0)
        model.kvHeads = model.heads;
    model.headDim = count({ "head_dim" });
    if (model.headDim == 0 && model.heads > 0)
        model.headDim = std::max(1, model.hidden / model.heads);
    if (!m_reader.has("kv_lora_rank"))
        return;
    model.attention = AttentionKind::Latent;
    model.latent.keyValueRank = count({ "kv_lora_rank" });
    model.latent.queryRank = count({ "q_lora_rank" }); // null or absent: queries are not compressed
    model.latent.nopeDim = required({ "qk_nope_head_dim" }, "the width of a head without rotary part");
    model.latent.ropeDim = required({ "qk_rope_head_dim" }, "the width of a head's rotary part");
    model.latent.valueDim = required({ "v_head_dim" }, "the width of a value head");
    model.headDim = model.latent.valueDim;
}

void ConfigReader::readExperts(ModelSpec &model, const std::string &type)
{
    model.experts = count({ "n_routed_experts", "num_local_experts", "num_experts" }, { 0, 1e5 });
    if (model.experts <= 1) {
        model.experts = 0;
        return;
    }
    model.expertsPerToken = required({ "num_experts_per_tok", "num_experts_per_token", "moe_top_k" },
        "how many experts serve a token", { 1, static_cast<double>(model.experts) });
    model.expertFfn = required({ "moe_intermediate_size", "intermediate_size" }, "the inner size of one expert");
    model.sharedExpertFfn = count({ "shared_expert_intermediate_size" }, { 0, 1e7 });
    if (model.sharedExpertFfn == 0) {
        const int shared = count({ "n_shared_experts", "num_shared_experts" }, { 0, 1000 });
        const auto width = std::int64_t { shared } * model.expertFfn;
        if (width > kMostSharedFfn)
            m_reader.fault("n_shared_experts",
                std::to_string(shared) + " shared experts of " + std::to_string(model.expertFfn) + " are "
                    + std::to_string(width) + " wide",
                "at most " + std::to_string(kMostSharedFfn));
        else
            model.sharedExpertFfn = static_cast<int>(width);
    }
    model.denseLayers = count({ "first_k_dense_replace" }, { 0, 10000 });
    if (const CatalogueJson *dense = m_reader.raw("mlp_only_layers"); dense && dense->is_array())
        model.denseLayers = std::max(model.denseLayers, static_cast<int>(std::min<std::size_t>(dense->size(), 10000)));
    model.expertLayerStep =
        std::max(1, count({ "moe_layer_freq", "decoder_sparse_step", "interleave_moe_layer_step" }, { 1, 1000 }));
    const int groups = count({ "n_group" }, { 1, 1e5 }), topGroups = count({ "topk_group" }, { 1, 1e5 });
    if (topGroups > 0 && topGroups < groups && model.experts % groups == 0) {
        model.groups = groups;
        model.topGroups = topGroups;
    }
    if (type == "llama4_text") { // one shared expert beside the routed ones; dense layers have a width of their own
        model.sharedExpertFfn = model.expertFfn;
        if (const int dense = count({ "intermediate_size_mlp" }); dense > 0)
            model.ffn = dense;
    }
}

/// Where the file lists the kind of each layer; a window that it states without such a list is often switched off.
void ConfigReader::readWindow(ModelSpec &model)
{
    const CatalogueJson *kinds = m_reader.raw("layer_types");
    const int window = count({ "sliding_window", "attention_chunk_size" }, { 1, 1e8 });
    if (!kinds || !kinds->is_array() || window == 0)
        return;
    const auto windowed = std::ranges::count_if(
        *kinds, [](const CatalogueJson &kind) { return kind == "sliding_attention" || kind == "chunked_attention"; });
    if (windowed == 0)
        return;
    model.attentionWindow = window;
    model.windowedLayers = std::min(model.layers, int(windowed));
}

void ConfigReader::readDbrx(ModelSpec &model)
{
    ObjectReader attention = m_reader.object("attn_config");
    attention.count("kv_n_heads", model.kvHeads, kCount);
    ObjectReader experts = m_reader.object("ffn_config");
    experts.require("ffn_hidden_size", "the inner size of one expert");
    experts.require("moe_num_experts", "the number of experts");
    experts.require("moe_top_k", "how many experts serve a token");
    experts.count("ffn_hidden_size", model.expertFfn, kCount);
    experts.count("moe_num_experts", model.experts, { 2, 1e5 });
    experts.count("moe_top_k", model.expertsPerToken, { 1, 1e4 });
}

void ConfigReader::check(const ModelSpec &model)
{
    if (model.heads > 0 && model.kvHeads > 0 && model.heads % model.kvHeads != 0)
        m_reader.fault("num_key_value_heads",
            "num_key_value_heads " + std::to_string(model.kvHeads) + " does not divide num_attention_heads "
                + std::to_string(model.heads),
            "a divisor of the heads");
    if (model.denseLayers > model.layers)
        m_reader.fault("first_k_dense_replace", "first_k_dense_replace is " + std::to_string(model.denseLayers),
            "at most the number of layers, " + std::to_string(model.layers));
}

/// Models that are built otherwise than anything that is counted here.
void ConfigReader::refuseOtherKinds()
{
    bool hasEncoder = false;
    m_reader.flag("is_encoder_decoder", hasEncoder);
    if (hasEncoder)
        m_reader.fault("is_encoder_decoder", "an encoder with a decoder", "a decoder-only language model");
    const int width = count({ "routed_expert_hidden_size" }), hidden = count({ "hidden_size" }, { 1, 1e6 });
    if (width > 0 && width != hidden)
        m_reader.fault("routed_expert_hidden_size",
            "routed experts work on " + std::to_string(width) + " values of a token, and the layers on "
                + std::to_string(hidden) + ": such experts (as of Kimi K3) are not modelled",
            "experts as wide as the layers");
}

/// Layers that keep a state of one size instead of attending to what came before.
int ConfigReader::linearLayers()
{
    const CatalogueJson *kinds = m_reader.raw("layer_types");
    if (!kinds || !kinds->is_array())
        return 0;
    return int(std::ranges::count_if(*kinds, [](const CatalogueJson &kind) { return kind == "linear_attention"; }));
}

ModelSpec ConfigReader::read(std::optional<bool> outerTied)
{
    ModelSpec model;
    std::string type;
    m_reader.text("model_type", type);
    const Family *known = findFamily(type);
    std::string activation;
    m_reader.text(m_reader.has("activation_function") ? "activation_function" : "hidden_act", activation);

    model.layers =
        required({ "num_hidden_layers", "n_layer", "n_layers", "num_layers" }, "the number of layers", { 1, 10000 });
    model.hidden = required({ "hidden_size", "n_embd", "d_model" }, "the hidden size", { 1, 1e6 });
    model.vocab = required({ "vocab_size" }, "the size of the vocabulary", { 1, 1e8 });
    readAttention(model);
    model.ffn = count({ "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size" });
    if (model.ffn == 0)
        model.ffn = 4 * model.hidden; // what a null n_inner means
    if (type == "dbrx")
        readDbrx(model);
    else
        readExperts(model, type);
    readWindow(model);

    model.gatedFfn = known
        ? known->gated
        : activation.find("silu") != std::string::npos || activation.find("swish") != std::string::npos;
    model.layerNorm = known && known->layerNorm;
    model.linearBias = known && known->linearBias;
    model.queryKeyValueBias = (known && known->queryKeyValueBias) || flag("attention_bias", false);
    model.dropout = known && known->dropout;
    // Where no key says it, the library's base class ties.
    model.tiedEmbeddings = flag("tie_word_embeddings", outerTied.value_or(known ? known->tied : true));
    if (known && known->positions != Positions::Rotary)
        model.learnedPositions = count({ "n_positions", "max_position_embeddings" }, { 1, 1e8 })
            + (known->positions == Positions::TableAndTwo ? 2 : 0);
    model.source = known ? "config.json, model type " + type
                         : "config.json of an unknown model type" + (type.empty() ? "" : " " + shortened(type))
            + ", read by the commonest keys";
    if (const int linear = linearLayers(); linear > 0)
        model.source += "; " + std::to_string(linear) + " of its layers have linear attention and are counted as full";
    refuseOtherKinds();
    check(model);
    return model;
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
    const auto config = parseJson(json, fileName);
    if (!config)
        return std::unexpected(config.error());
    if (!config->is_object())
        return std::unexpected(Error { ErrorCode::BadSyntax, fileName, "is no JSON object", kRight });

    // Multi-modal configs nest the language model.
    const auto nested = config->find("text_config");
    const bool isNested = nested != config->end() && nested->is_object();
    const auto tied = config->find("tie_word_embeddings");
    std::optional<bool> outerTied;
    if (isNested && tied != config->end() && tied->is_boolean())
        outerTied = tied->get<bool>();
    Errors errors;
    ConfigReader reader(isNested ? *nested : *config, fileName + (isNested ? ": /text_config" : ": "), errors);
    ModelSpec model = reader.read(outerTied);
    if (!errors.empty())
        return std::unexpected(errors.front());
    return model;
}

} // namespace trainyard

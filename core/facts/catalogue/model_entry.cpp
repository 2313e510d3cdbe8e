// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/entry_readers_internal.h"
#include "core/facts/catalogue/parse.h"

#include <algorithm>

namespace trainyard {

namespace {

struct CountField {
    const char *key;
    int ModelSpec::*count;
    Range range;
};
constexpr CountField kCounts[] = {
    { "layers", &ModelSpec::layers, { 1, 10000 } },
    { "hidden", &ModelSpec::hidden, { 1, 1e6 } },
    { "heads", &ModelSpec::heads, { 1, 1e5 } },
    { "kv_heads", &ModelSpec::kvHeads, { 1, 1e5 } },
    { "head_dim", &ModelSpec::headDim, { 1, 1e5 } },
    { "ffn", &ModelSpec::ffn, { 0, 1e7 } },
    { "vocab", &ModelSpec::vocab, { 1, 1e8 } },
    { "learned_positions", &ModelSpec::learnedPositions, { 0, 1e8 } },
    { "experts", &ModelSpec::experts, { 0, 1e5 } },
    { "experts_per_token", &ModelSpec::expertsPerToken, { 0, 1e4 } },
    { "expert_ffn", &ModelSpec::expertFfn, { 0, 1e7 } },
    { "shared_expert_ffn", &ModelSpec::sharedExpertFfn, { 0, 1e7 } },
    { "dense_layers", &ModelSpec::denseLayers, { 0, 10000 } },
    { "expert_layer_step", &ModelSpec::expertLayerStep, { 1, 1000 } },
    { "groups", &ModelSpec::groups, { 0, 1e5 } },
    { "top_groups", &ModelSpec::topGroups, { 0, 1e5 } },
    { "mtp_layers", &ModelSpec::mtpLayers, { 0, 1000 } },
    { "attention_window", &ModelSpec::attentionWindow, { 0, 1e8 } },
    { "windowed_layers", &ModelSpec::windowedLayers, { 0, 10000 } },
};

struct FlagField {
    const char *key;
    bool ModelSpec::*flag;
};
constexpr FlagField kFlags[] = {
    { "gated_ffn", &ModelSpec::gatedFfn },
    { "tied_embeddings", &ModelSpec::tiedEmbeddings },
    { "layer_norm", &ModelSpec::layerNorm },
    { "linear_bias", &ModelSpec::linearBias },
    { "qkv_bias", &ModelSpec::queryKeyValueBias },
    { "dropout", &ModelSpec::dropout },
};

struct LatentField {
    const char *key;
    int LatentAttention::*count;
    double low;
};
constexpr LatentField kLatentCounts[] = {
    { "query_rank", &LatentAttention::queryRank, 0 },
    { "kv_rank", &LatentAttention::keyValueRank, 1 },
    { "nope_dim", &LatentAttention::nopeDim, 1 },
    { "rope_dim", &LatentAttention::ropeDim, 0 },
    { "value_dim", &LatentAttention::valueDim, 1 },
};

void readAttention(ObjectReader &reader, ModelSpec &model)
{
    std::string kind;
    reader.text("attention", kind);
    const CatalogueJson *latent = reader.raw("latent");
    if (kind == "latent" || kind == "mla" || (kind.empty() && latent)) {
        model.attention = AttentionKind::Latent;
        reader.require("latent", "the ranks and head sizes of latent attention, {\"kv_rank\": 512, …}");
        ObjectReader nested = reader.object("latent");
        for (const LatentField &field : kLatentCounts) {
            if (field.low > 0)
                nested.require(field.key, "a whole number above 0");
            nested.count(field.key, model.latent.*field.count, { field.low, 1e6 });
        }
        nested.rejectUnknownKeys();
    } else if (!kind.empty() && kind != "grouped" && kind != "mha" && kind != "gqa" && kind != "mqa") {
        reader.fault("attention", "attention is \"" + kind + "\"", "grouped (also mha, gqa, mqa) or latent (also mla)");
    }
}

constexpr std::size_t kMostDoubts = 100;

void readDoubts(ObjectReader &reader, Doubts &doubts)
{
    for (ObjectReader &one : reader.objects("not_understood", kMostDoubts)) {
        Doubt &doubt = doubts.emplace_back();
        one.require("text", "what was not understood, a sentence");
        one.text("key", doubt.key);
        one.text("text", doubt.text);
        one.figure("low", doubt.low, { -1, 0 });
        one.figure("high", doubt.high, { 0, kFarthestOff });
        one.flag("blocking", doubt.isBlocking);
        one.rejectUnknownKeys();
    }
}

CatalogueJson doubtsJson(const Doubts &doubts)
{
    CatalogueJson list = CatalogueJson::array();
    for (const Doubt &doubt : doubts) {
        if (doubt.isOfPlan) // they stand in the plan itself
            continue;
        CatalogueJson one { { "text", doubt.text } };
        if (!doubt.key.empty())
            one["key"] = doubt.key;
        if (doubt.low != 0)
            one["low"] = doubt.low;
        if (doubt.high != 0)
            one["high"] = doubt.high;
        if (doubt.isBlocking)
            one["blocking"] = true;
        list.push_back(std::move(one));
    }
    return list;
}

void fillDefaults(ObjectReader &reader, ModelSpec &model)
{
    if (model.kvHeads == 0)
        model.kvHeads = model.heads;
    if (model.headDim == 0 && model.heads > 0)
        model.headDim = std::max(1, model.hidden / model.heads);
    if (model.heads > 0 && model.kvHeads > 0 && model.heads % model.kvHeads != 0)
        reader.fault("kv_heads",
            "kv_heads " + std::to_string(model.kvHeads) + " does not divide heads " + std::to_string(model.heads),
            "a divisor of heads");
    if (model.experts > 0 && reader.has("expert_ffn") && model.expertFfn == 0)
        reader.fault("expert_ffn", "expert_ffn is 0", "a whole number above 0: the inner size of one expert");
    if (model.experts > 0 && reader.has("experts_per_token") && model.expertsPerToken == 0)
        reader.fault(
            "experts_per_token", "experts_per_token is 0", "a whole number above 0: how many experts serve a token");
    if (model.experts > 0 && model.expertsPerToken > model.experts)
        reader.fault("experts_per_token", "experts_per_token is " + std::to_string(model.expertsPerToken),
            "at most the number of experts, " + std::to_string(model.experts));
    if (model.topGroups > model.groups || (model.groups > 0 && model.topGroups == 0))
        reader.fault("top_groups", "top_groups is " + std::to_string(model.topGroups),
            "1 to groups, " + std::to_string(model.groups));
    else if (model.groups > 0
        && (model.experts % model.groups != 0
            || model.expertsPerToken > model.topGroups * (model.experts / model.groups)))
        reader.fault("groups", "groups is " + std::to_string(model.groups),
            "a divisor of experts, with experts_per_token in top_groups of them");
    if (model.windowedLayers > model.layers || (model.windowedLayers > 0 && model.attentionWindow == 0))
        reader.fault("windowed_layers", "windowed_layers is " + std::to_string(model.windowedLayers),
            model.windowedLayers > model.layers ? "at most the number of layers, " + std::to_string(model.layers)
                                                : "with attention_window, the tokens that they look back");
    if (model.experts > 0 && model.denseLayers > model.layers)
        reader.fault("dense_layers", "dense_layers is " + std::to_string(model.denseLayers),
            "at most the number of layers, " + std::to_string(model.layers));
}

} // namespace

ModelSpec readModel(ObjectReader &reader)
{
    ModelSpec model;
    reader.text("id", model.id);
    reader.text("name", model.name);
    for (const char *key : { "layers", "hidden", "heads", "vocab" })
        reader.require(key, "a whole number above 0");
    for (const CountField &field : kCounts)
        reader.count(field.key, model.*field.count, field.range);
    for (const FlagField &field : kFlags)
        reader.flag(field.key, model.*field.flag);
    if (model.experts > 0) {
        reader.require("expert_ffn", "the inner size of one expert");
        reader.require("experts_per_token", "how many experts serve a token");
    } else {
        reader.require("ffn", "the inner size of the MLP");
    }
    readAttention(reader, model);
    std::string note;
    reader.text("note", note); // for readers of the file; says where the original differs from this shape
    reader.figure("published_parameters", model.publishedParameters, { 0, 1e15 });
    std::string source;
    reader.text("source", source);
    if (!source.empty())
        model.source = reader.resolveSource("source", source);
    fillDefaults(reader, model);
    readDoubts(reader, model.doubts);
    return model;
}

std::string formatModel(const ModelSpec &model)
{
    const ModelSpec defaults;
    CatalogueJson object = CatalogueJson::object();
    for (const auto &[key, value] :
        { std::pair { "id", model.id }, { "name", model.name }, { "source", model.source } }) {
        if (!value.empty())
            object[key] = value;
    }
    for (const CountField &field : kCounts) {
        if (model.*field.count != defaults.*field.count)
            object[field.key] = model.*field.count;
    }
    if (!model.isMoe())
        object["ffn"] = model.ffn;
    for (const FlagField &field : kFlags) {
        if (model.*field.flag)
            object[field.key] = true;
    }
    if (model.attention == AttentionKind::Latent) {
        object["attention"] = "latent";
        for (const LatentField &field : kLatentCounts)
            object["latent"][field.key] = model.latent.*field.count;
    }
    if (model.publishedParameters > 0)
        object["published_parameters"] = model.publishedParameters;
    if (CatalogueJson doubts = doubtsJson(model.doubts); !doubts.empty())
        object["not_understood"] = std::move(doubts);
    return object.dump();
}

const std::vector<std::string> &modelKeys()
{
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> names = { "id", "name", "attention", "latent", "not_understood", "note",
            "published_parameters", "source" };
        for (const CountField &field : kCounts)
            names.emplace_back(field.key);
        for (const FlagField &field : kFlags)
            names.emplace_back(field.key);
        std::ranges::sort(names);
        return names;
    }();
    return keys;
}

} // namespace trainyard

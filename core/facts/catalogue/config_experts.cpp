// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/config_layers_internal.h"

#include <algorithm>
#include <charconv>

namespace trainyard {

namespace {

constexpr int kMostSharedFfn = 10'000'000;

/// Indices of a list, or of text: [3, 4] or "3,4".
std::vector<int> indicesOf(const CatalogueJson &value)
{
    std::vector<int> indices;
    if (value.is_array()) {
        for (const CatalogueJson &one : value)
            if (one.is_number_integer())
                indices.push_back(int(std::clamp<std::int64_t>(one.get<std::int64_t>(), -1, 1'000'000)));
    } else if (value.is_string()) {
        const auto &text = value.get_ref<const std::string &>();
        for (const char *at = text.data(), *end = at + text.size(); at < end;) {
            int index = 0;
            const auto [next, error] = std::from_chars(at, end, index);
            if (error == std::errc())
                indices.push_back(index);
            at = error == std::errc() ? next : at + 1;
        }
    }
    return indices;
}

class ExpertLayers {
public:
    ExpertLayers(ConfigKeys &keys, int layers)
        : m_keys(keys)
        , m_has(std::size_t(layers), true)
    {
    }

    const std::vector<bool> &read()
    {
        if (m_has.size() <= 10000) { // a fault of its own
            readList();
            readKinds();
            readSteps();
        }
        return m_has;
    }

    [[nodiscard]] int first() const { return m_first; }

private:
    void leaveOut(auto isDense)
    {
        for (std::size_t layer = 0; layer < m_has.size(); ++layer)
            if (isDense(int(layer)))
                m_has[layer] = false;
    }

    /// Layers that are listed, by their numbers.
    void readList()
    {
        for (const char *key : { "moe_layers_enum", "moe_layers", "moe_layer_list" })
            if (const CatalogueJson *value = m_keys.raw(key);
                value && (value->is_array() || value->is_string()) && !value->empty()) {
                const std::vector<int> with = indicesOf(*value);
                leaveOut([&](int layer) { return std::ranges::find(with, layer) == with.end(); });
            }
        if (const CatalogueJson *dense = m_keys.raw("mlp_only_layers"); dense && dense->is_array()) {
            const std::vector<int> without = indicesOf(*dense);
            leaveOut([&](int layer) { return std::ranges::find(without, layer) != without.end(); });
        }
    }

    /// A word or a switch a layer.
    void readKinds()
    {
        for (const char *key : { "mlp_layer_types", "moe_layer_freq" }) {
            const CatalogueJson *list = m_keys.raw(key);
            if (!list || !list->is_array() || list->empty())
                continue;
            if (list->size() < m_has.size())
                m_keys.block(key, "it does not list every layer, and models whose layers are not all described");
            for (std::size_t i = 0; i < std::min(list->size(), m_has.size()); ++i) {
                const CatalogueJson &one = list->at(i);
                if (one == "dense" || one == 0 || one == false)
                    m_has[i] = false;
                else if (one != "sparse" && one != "moe" && one != 1 && one != true)
                    return m_keys.block(key, "some MLPs are of a kind that is not known here, and they");
            }
        }
    }

    void readSteps()
    {
        m_first = m_keys.count({ "first_k_dense_replace", "num_dense_layers", "n_dense_first_layers",
                                   "moe_layer_start_index", "moe_layer_num_skipped" },
            { -1, 1e5 });
        leaveOut([&](int layer) { return layer < m_first; });
        if (const CatalogueJson *end = m_keys.raw("moe_layer_end_index");
            end && end->is_number_integer() && end->get<int>() >= 0)
            leaveOut([last = end->get<int>()](int layer) { return layer > last; });
        if (const CatalogueJson *freq = m_keys.raw("moe_layer_freq"); freq && freq->is_number()) {
            const int step = std::max(1, m_keys.count({ "moe_layer_freq" }, { 0, 1000 }));
            leaveOut([&](int layer) { return layer % step != 0; });
        }
        for (const char *key : { "decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval",
                 "moe_every_n_layer", "moe_every_n_layers", "moe_layer_frequency" }) {
            const int step = std::max(1, m_keys.count({ key }, { 0, 1000 }));
            leaveOut([&](int layer) { return (layer + 1) % step != 0; });
        }
        if (const int offset = m_keys.count({ "moe_layer_offset" }); offset > 0)
            m_keys.block(
                "moe_layer_offset", "it moves the layers with experts in a way that is not known here, and that");
        if (const int period = m_keys.count({ "expert_layer_period" }); period > 1) {
            const int offset = m_keys.count({ "expert_layer_offset" });
            leaveOut([&](int layer) { return layer % period != offset; });
        }
    }

    ConfigKeys &m_keys;
    std::vector<bool> m_has;
    int m_first = 0;
};

/// Leading dense layers and a step that give just these layers experts; false where none do.
bool placeExperts(ModelSpec &model, const std::vector<bool> &has)
{
    const int layers = int(has.size());
    const auto matches = [&] {
        for (int layer = 0; layer < layers; ++layer)
            if (model.isExpertLayer(layer) != has[std::size_t(layer)])
                return false;
        return true;
    };
    const int first = int(std::ranges::find(has, true) - has.begin());
    for (int step = 1; step <= std::min(first + 1, layers); ++step) {
        model.expertLayerStep = step;
        model.denseLayers = first - step + 1;
        if (matches())
            return true;
    }
    return false;
}

void readSharedExperts(ConfigKeys &keys, ModelSpec &model, const std::string &type)
{
    const int width = keys.count({ "shared_expert_intermediate_size", "share_expert_dim", "shared_intermediate_size" }),
              each = keys.count({ "moe_shared_expert_intermediate_size" }),
              shared = keys.count(
                  { "n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts" },
                  { 0, 1000 });
    const auto all = std::int64_t { shared } * (each > 0 ? each : model.expertFfn);
    model.sharedExpertFfn = width;
    if (width == 0 && all > kMostSharedFfn)
        keys.fault("n_shared_experts",
            std::to_string(shared) + " shared experts of " + std::to_string(model.expertFfn) + " are "
                + std::to_string(all) + " wide",
            "at most " + std::to_string(kMostSharedFfn));
    else if (width == 0)
        model.sharedExpertFfn = int(all);
    if (type == "llama4_text") // one shared expert beside the routed ones; dense layers have a width of their own
        model.sharedExpertFfn = model.expertFfn;
    if (const int dense = keys.count({ "intermediate_size_mlp", "dense_intermediate_size" }); dense > 0)
        model.ffn = dense;
    if (type == "arctic"
        && keys.flag({ "use_residual" }).value_or(true)) // an MLP as wide as the layers beside the experts
        model.sharedExpertFfn = model.hidden;
}

void readDbrxExperts(ConfigKeys &keys, ModelSpec &model)
{
    ObjectReader attention = keys.object("attn_config");
    attention.count("kv_n_heads", model.kvHeads, { 1, 1e7 });
    ObjectReader experts = keys.object("ffn_config");
    experts.require("ffn_hidden_size", "the inner size of one expert");
    experts.require("moe_num_experts", "the number of experts");
    experts.require("moe_top_k", "how many experts serve a token");
    experts.count("ffn_hidden_size", model.expertFfn, { 1, 1e7 });
    experts.count("moe_num_experts", model.experts, { 2, 1e5 });
    experts.count("moe_top_k", model.expertsPerToken, { 1, 1e4 });
}

} // namespace

void readExperts(ConfigKeys &keys, ModelSpec &model, const std::string &type)
{
    if (type == "dbrx")
        return readDbrxExperts(keys, model);
    const KeyNames number = { "n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts",
        "num_routed_experts", "num_moe_experts", "n_experts" };
    const KeyNames visitKeys = { "num_experts_per_tok", "num_experts_per_token", "moe_top_k", "moe_topk", "moe_k",
        "top_k_experts", "num_selected_experts", "experts_per_token", "num_experts_top_k" };
    model.experts = keys.count(number, { 0, 1e5 });
    if (keys.flag({ "use_moe", "enable_moe_block" }) == false)
        model.experts = 0;
    if (model.experts <= 1) {
        const int visits = keys.count(visitKeys, { 0, 1e5 });
        const CatalogueJson *wide = keys.raw("moe_intermediate_size");
        if (model.experts == 0 && (visits > 1 || (wide && wide->is_number() && wide->get<double>() > 0))
            && std::ranges::none_of(number, [&](const char *key) { return keys.has(key); }))
            keys.block(visits > 1 ? "num_experts_per_tok" : "moe_intermediate_size",
                "it speaks of experts whose number is stated by no key that is known here, and they");
        model.experts = 0;
        if (const int shared = keys.count({ "shared_intermediate_size" }); shared > 0) // Granite 4 without experts
            model.ffn = shared;
        return;
    }
    model.expertsPerToken =
        keys.required(visitKeys, "how many experts serve a token", { 1, static_cast<double>(model.experts) });
    model.expertFfn = keys.count({ "moe_intermediate_size", "moe_ffn_hidden_size", "expert_intermediate_size" });
    if (model.expertFfn == 0)
        model.expertFfn = keys.required({ "intermediate_size", "ffn_hidden_size" }, "the inner size of one expert");
    readSharedExperts(keys, model, type);
    ExpertLayers layers(keys, model.layers);
    const std::vector<bool> &has = layers.read();
    if (layers.first() > model.layers)
        return keys.fault("first_k_dense_replace", "first_k_dense_replace is " + std::to_string(layers.first()),
            "at most the number of layers, " + std::to_string(model.layers));
    if (std::ranges::find(has, true) == has.end())
        model.experts = model.expertsPerToken = model.expertFfn = model.sharedExpertFfn = 0; // none has any
    else if (!placeExperts(model, has))
        keys.block("mlp_only_layers",
            "layers with experts are neither all behind the first dense ones nor every n-th, and such models");
    const int groups = keys.count({ "n_group", "num_expert_group" }, { 0, 1e5 }),
              topGroups = keys.count({ "topk_group", "num_expert_group_topk" }, { 0, 1e5 });
    if (topGroups > 0 && topGroups < groups && model.experts % groups == 0) {
        model.groups = groups;
        model.topGroups = topGroups;
    }
}

} // namespace trainyard

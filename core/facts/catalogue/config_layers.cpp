// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/config_layers_internal.h"

#include "core/base/printable.h"
#include "core/facts/workload/model_math.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

constexpr std::size_t kMostShownKind = 40;
constexpr double kLengthOfDoubts = 8192; // tokens: attention over longer sequences has a larger share

enum class LayerKind : std::uint8_t { Full, Windowed, Linear, Other };

constexpr auto kFullNames = std::to_array<std::string_view>({ "full_attention", "attention", "full", "global",
    "global_attention", "attn", "self_attention", "dense_attention", "sparse_attention" });
constexpr auto kWindowNames = std::to_array<std::string_view>({ "sliding_attention", "chunked_attention", "sliding",
    "local", "local_attention", "swa", "sliding_window", "sliding_window_attention" });

LayerKind kindOf(std::string_view name)
{
    if (std::ranges::find(kFullNames, name) != kFullNames.end())
        return LayerKind::Full;
    if (std::ranges::find(kWindowNames, name) != kWindowNames.end())
        return LayerKind::Windowed;
    return name == "linear_attention" ? LayerKind::Linear : LayerKind::Other;
}

/// A letter a layer, as Nemotron-H writes them.
std::string nameOfLetter(char letter)
{
    switch (letter) {
    case 'M':
        return "mamba";
    case '*':
        return "attention alone";
    case '-':
        return "MLP alone";
    case 'E':
        return "experts alone";
    default:
        return std::string("\"") + letter + "\"";
    }
}

/// "4 mamba, 2 attention alone".
std::string countedKinds(const std::vector<std::string> &names)
{
    std::vector<std::pair<std::string, int>> counts;
    for (const std::string &name : names) {
        const auto found = std::ranges::find(counts, name, &std::pair<std::string, int>::first);
        if (found == counts.end())
            counts.emplace_back(name, 1);
        else
            ++found->second;
    }
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(counts.size(), 8); ++i)
        text += (text.empty() ? "" : ", ") + std::to_string(counts[i].second) + " "
            + shortened(counts[i].first, kMostShownKind);
    return text;
}

struct ListedKinds {
    std::string key;
    std::vector<std::string> names;
};

/// The first list of kinds that the file has, as names.
ListedKinds listedKinds(ConfigKeys &keys)
{
    ListedKinds listed;
    for (const char *key : { "layer_types", "layers_block_type", "block_types", "mixer_types", "attention_layers" })
        if (const CatalogueJson *list = keys.raw(key); list && list->is_array() && listed.names.empty()) {
            listed.key = key;
            for (const CatalogueJson &one : *list)
                listed.names.push_back(one.is_string() ? one.get<std::string>() : one.dump());
        }
    if (const CatalogueJson *pairs = keys.raw("attention_types"); pairs && pairs->is_array() && listed.names.empty()) {
        listed.key = "attention_types"; // GPT-Neo: [[["global", "local"], 16]]
        for (const CatalogueJson &pair : *pairs)
            if (pair.is_array() && pair.size() == 2 && pair[0].is_array() && pair[1].is_number_integer())
                for (std::int64_t i = 0; i < std::min<std::int64_t>(pair[1].get<std::int64_t>(), 10000); ++i)
                    for (const CatalogueJson &one : pair[0])
                        if (listed.names.size() < 10000)
                            listed.names.push_back(one.is_string() ? one.get<std::string>() : one.dump());
    }
    for (const char *key : { "hybrid_override_pattern", "hybrid_pattern", "layer_pattern" })
        if (const std::string pattern = keys.text({ key }); !pattern.empty() && listed.names.empty()) {
            listed.key = key;
            for (const char letter : pattern)
                if (letter != '|' && letter != ' ')
                    listed.names.push_back(nameOfLetter(letter));
        }
    return listed;
}

/// ", about 1463 M parameters in all", where that is known.
std::string parametersOfKinds(ConfigKeys &keys, const ModelSpec &model, const std::vector<std::string> &kinds)
{
    const double parameters = hybridParameters(keys, model, kinds);
    return parameters > 0 ? ", about " + std::to_string(std::llround(parameters / 1e6)) + " M parameters in all" : "";
}

/// Keys that give layers another kind without a list of names.
void blockOtherPatterns(ConfigKeys &keys, const ModelSpec &model)
{
    const CatalogueJson *switches = keys.raw("attn_type_list"); // 1: full attention
    if (switches && switches->is_array()
        && std::ranges::any_of(*switches, [](const CatalogueJson &one) { return one != 1; }))
        keys.block("attn_type_list", "it gives layers linear attention, and layers by kind");
    const CatalogueJson *period = keys.raw("attn_layer_period"); // Jamba: attention in each so many layers, else Mamba
    if (period && period->is_number_integer() && period->get<std::int64_t>() > 1) {
        const auto every = period->get<std::int64_t>(), offset = std::int64_t { keys.count({ "attn_layer_offset" }) };
        std::vector<std::string> kinds;
        for (std::int64_t layer = 0; layer < model.layers; ++layer)
            kinds.push_back(layer % every == offset ? "attention" : "mamba");
        keys.block(
            "attn_layer_period", countedKinds(kinds) + parametersOfKinds(keys, model, kinds) + ": layers by kind");
    }
    for (const char *key : { "hybrid_layer_pattern", "linear_attn_config", "attn_layer_indices", "full_attn_idxs",
             "block_configs", "cross_attention_layers", "kv_shared_layers", "layer_group_size", "hybrid_layer_ids" })
        if (const CatalogueJson *value = keys.raw(key);
            value && (value->is_structured() ? !value->empty() : value->is_number() && value->get<double>() > 1))
            keys.block(key, "it gives layers different kinds, and layers by kind");
    if (const int shared = keys.count({ "num_kv_shared_layers" }); shared > 0)
        keys.block(
            "num_kv_shared_layers", std::to_string(shared) + " layers take keys and values of others, and such layers");
}

/// Of no list: as often as the key or the family says, every n-th sees everything.
int windowedByHabit(ConfigKeys &keys, int layers)
{
    const CatalogueJson *pattern = keys.raw("sliding_window_pattern"), *hidden = keys.raw("_sliding_window_pattern");
    pattern = pattern ? pattern : hidden;
    int every = keys.family() ? keys.family()->fullEvery : 0;
    if (pattern && pattern->is_number_integer())
        every = int(std::clamp<std::int64_t>(pattern->get<std::int64_t>(), 0, 10000));
    else if (pattern && pattern->is_string()) { // "LLLG"
        const auto &letters = pattern->get_ref<const std::string &>();
        int windowed = 0;
        for (int layer = 0; layer < layers && !letters.empty(); ++layer)
            windowed += letters[std::size_t(layer) % letters.size()] == 'L' ? 1 : 0;
        return windowed;
    }
    if (every > 1)
        return layers - layers / every;
    return keys.family() && keys.family()->windowsAll && !pattern ? layers : 0;
}

int windowOf(ConfigKeys &keys)
{
    int window = 0;
    for (const char *key : { "sliding_window", "attention_chunk_size", "sliding_window_size", "window_size" })
        if (const CatalogueJson *value = keys.raw(key); value && value->is_number() && window == 0)
            window = int(std::clamp(value->get<double>(), 0.0, 1e8)); // 0 or -1: none
    if (keys.flag({ "use_sliding_window", "use_swa" }) == false)
        window = 0;
    return window;
}

} // namespace

void readLayerKinds(ConfigKeys &keys, ModelSpec &model)
{
    const int window = windowOf(keys), first = keys.count({ "max_window_layers" });
    const int byHabit = windowedByHabit(keys, model.layers);
    int windowed = 0, others = 0, linear = 0;
    const ListedKinds listed = listedKinds(keys);
    const auto layers = std::size_t(model.layers);
    const bool hasGatedDelta = keys.family() && keys.family()->hasGatedDelta;
    if (!listed.names.empty()) {
        for (std::size_t i = 0; i < std::min(layers, listed.names.size()); ++i) {
            const LayerKind kind = kindOf(listed.names[i]);
            windowed += kind == LayerKind::Windowed ? 1 : 0;
            linear += kind == LayerKind::Linear ? 1 : 0;
            others += kind == LayerKind::Other ? 1 : 0;
        }
        if (listed.names.size() < layers)
            keys.block(listed.key,
                "it lists " + std::to_string(listed.names.size()) + " of " + std::to_string(layers)
                    + " layers, and models whose layers are not all described");
        if (others > 0 || (linear > 0 && !hasGatedDelta))
            keys.block(listed.key,
                countedKinds(listed.names) + parametersOfKinds(keys, model, listed.names) + ": layers by kind");
        else if (windowed > 0 && window == 0)
            keys.block(listed.key,
                std::to_string(windowed) + " layers attend to a window of no stated length, and such layers");
        keys.hasAttentionAlone = others == 0 && linear == 0;
    } else {
        blockOtherPatterns(keys, model);
        windowed = window > 0 ? byHabit : 0;
        if (window > 0 && windowed == 0 && keys.flag({ "use_sliding_window" }) == true)
            windowed = std::max(0, model.layers - first); // Qwen 2: those from there on
    }
    if (windowed > 0 && window > 0) {
        model.attentionWindow = window;
        model.windowedLayers = std::min(model.layers, windowed);
    }
}

void doubtLinearLayers(ConfigKeys &keys, const ModelSpec &model)
{
    if (!keys.family() || !keys.family()->hasGatedDelta || keys.isBlocked())
        return;
    const int every = std::max(1, keys.count({ "full_attention_interval" }));
    const ListedKinds listed = listedKinds(keys);
    const auto isLinear = [](const std::string &name) { return kindOf(name) == LayerKind::Linear; };
    const int linear = !listed.names.empty() ? int(std::ranges::count_if(listed.names, isLinear))
                                             : model.layers - model.layers / std::max(4 * int(every == 1), every);
    const double h = model.hidden, keyHeads = keys.count({ "linear_num_key_heads" }),
                 valueHeads = keys.count({ "linear_num_value_heads" }), keyDim = keys.count({ "linear_key_head_dim" }),
                 valueDim = keys.count({ "linear_value_head_dim" });
    (void)keys.count({ "linear_conv_kernel_dim" });
    const bool hasGate = keys.flag({ "attn_output_gate" }).value_or(true);
    // Queries, keys, values and their gate come in, two numbers a head of values, and the output goes out.
    const double delta =
        h * (2 * keyHeads * keyDim + 2 * valueHeads * valueDim + 2 * valueHeads) + valueHeads * valueDim * h;
    const double counted = layerParameters(model, false).attention;
    const double gate = hasGate ? h * model.heads * model.headDim : 0;
    const double more = linear * (delta - counted) + (model.layers - linear) * gate;
    ModelSpec without = model; // as if those layers attended to nothing but their own token
    without.attentionWindow = 1;
    without.windowedLayers = linear;
    const double work = modelFlopsPerSequence(model, kLengthOfDoubts);
    const double least = (modelFlopsPerSequence(without, kLengthOfDoubts) + 6 * kLengthOfDoubts * more) / work - 1;
    const double most = 6 * kLengthOfDoubts * more / work;
    const auto percent = [](double share) {
        return std::to_string(std::lround(1000 * share) / 10.0).substr(0, 4) + " %";
    };
    keys.doubt(listed.key.empty() ? "full_attention_interval" : listed.key,
        std::to_string(linear) + " of " + std::to_string(model.layers)
            + " layers have linear attention (Gated DeltaNet), counted as full attention without gates, until layers "
              "by kind "
              "are modelled: the model has "
            + percent(more / totalParameters(model)) + " more parameters than are counted, a token uses "
            + percent(more / activeParameters(model)) + " more",
        std::min(0.0, least), std::max(0.0, most));
}

void doubtSparseAttention(ConfigKeys &keys, const ModelSpec &model)
{
    const int top = keys.count({ "index_topk" }), heads = keys.count({ "index_n_heads" }),
              dim = keys.count({ "index_head_dim" });
    if (top == 0 || keys.isBlocked())
        return;
    ModelSpec sparse = model;
    sparse.attentionWindow = top;
    sparse.windowedLayers = model.layers;
    const double indexer = double(model.layers)
        * (double(model.latent.queryRank > 0 ? model.latent.queryRank : model.hidden) * heads * dim
            + double(model.hidden) * (dim + heads));
    const double work = modelFlopsPerSequence(model, kLengthOfDoubts);
    keys.doubt("index_topk",
        "each token attends to " + std::to_string(top)
            + " others that an indexer chooses: counted as full attention, and the indexer, "
            + std::to_string(std::lround(indexer / 1e6)) + " M parameters, not at all",
        modelFlopsPerSequence(sparse, kLengthOfDoubts) / work - 1, 6 * kLengthOfDoubts * indexer / work);
}

} // namespace trainyard

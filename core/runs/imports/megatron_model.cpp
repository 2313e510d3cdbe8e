// SPDX-License-Identifier: GPL-3.0-or-later
// The model of Megatron's arguments, with Megatron's defaults for what is not told (arguments.py at d98e8a6).
#include "core/base/ascii_text.h"
#include "core/runs/imports/draft.h"
#include "core/runs/imports/megatron_arguments.h"

#include <algorithm>

namespace trainyard::imports {

namespace {

constexpr int kMostWidth = 10'000'000;

/// "([0]*3+[1]*58)", "[0,1]*24": which layers have experts. Empty where it is no such list, or too long.
std::vector<bool> layerPattern(std::string_view text)
{
    std::vector<bool> pattern;
    std::string own;
    for (const char c : text)
        if (c != ' ' && c != '(' && c != ')' && c != '\'' && c != '"')
            own += c;
    for (std::size_t at = 0; at < own.size();) {
        if (own[at] != '[')
            return {};
        const std::size_t end = own.find(']', at);
        if (end == own.npos)
            return {};
        std::vector<bool> part;
        for (std::size_t i = at + 1; i < end; ++i)
            if (own[i] == '0' || own[i] == '1')
                part.push_back(own[i] == '1');
            else if (own[i] != ',')
                return {};
        at = end + 1;
        std::size_t times = 1;
        if (at < own.size() && own[at] == '*') {
            times = 0;
            for (++at; at < own.size() && own[at] >= '0' && own[at] <= '9' && times < 100'000; ++at)
                times = times * 10 + static_cast<std::size_t>(own[at] - '0');
        }
        if (part.size() * times + pattern.size() > 10'000)
            return {};
        for (; times > 0; --times)
            pattern.insert(pattern.end(), part.begin(), part.end());
        if (at < own.size() && own[at++] != '+')
            return {};
    }
    return pattern;
}

void takeExpertLayers(Draft &draft, ModelSpec &model)
{
    const auto text = draft.arguments.text("moe_layer_freq");
    if (!text || *text == "1")
        return;
    if (text->find('[') == text->npos) {
        model.expertLayerStep = draft.whole("moe_layer_freq", 1, 1000).value_or(1);
        return;
    }
    const std::vector<bool> pattern = layerPattern(*text);
    if (std::ssize(pattern) != model.layers)
        return draft.bad("moe_layer_freq",
            pattern.empty() ? "is " + *text
                            : "tells " + std::to_string(pattern.size()) + " layers, and num_layers is "
                    + std::to_string(model.layers),
            "a list of 0 and 1 for each layer, such as ([0]*3+[1]*58)");
    // Dense layers first, then every n-th has experts: what the model can be.
    const auto isSame = [&](int dense, int step) {
        ModelSpec trial = model;
        trial.denseLayers = dense;
        trial.expertLayerStep = step;
        for (int i = 0; i < model.layers; ++i)
            if (trial.isExpertLayer(i) != pattern[static_cast<std::size_t>(i)])
                return false;
        return true;
    };
    const auto first = int(std::ranges::find(pattern, true) - pattern.begin());
    for (int step = 1; step <= 8; ++step)
        if (first - step + 1 >= 0 && isSame(first - step + 1, step)) {
            model.denseLayers = first - step + 1;
            model.expertLayerStep = step;
            return;
        }
    const auto experts = int(std::ranges::count(pattern, true));
    model.denseLayers = model.layers - experts;
    draft.assume("The layers with experts (" + draft.arguments.said("moe_layer_freq")
        + ") follow no rule that a model here can have: as many of the last ones are taken");
}

void takeExperts(Draft &draft, ModelSpec &model)
{
    model.experts = draft.whole("num_experts", 0, 100'000).value_or(0);
    if (model.experts <= 1) {
        model.experts = 0;
        return;
    }
    model.expertsPerToken = draft.whole("moe_router_topk", 1, model.experts).value_or(std::min(2, model.experts));
    model.expertFfn = draft.whole("moe_ffn_hidden_size", 1, kMostWidth).value_or(model.ffn);
    model.sharedExpertFfn = draft.whole("moe_shared_expert_intermediate_size", 0, kMostWidth).value_or(0);
    const int groups = draft.whole("moe_router_num_groups", 1, 100'000).value_or(0);
    const int top = draft.whole("moe_router_group_topk", 1, 100'000).value_or(0);
    if (top > 0 && top < groups && model.experts % groups == 0) {
        model.groups = groups;
        model.topGroups = top;
    }
    takeExpertLayers(draft, model);
}

void takeAttention(Draft &draft, ModelSpec &model)
{
    const Told &told = draft.arguments;
    const bool isGrouped = told.flag("group_query_attention").value_or(told.has("num_query_groups"));
    model.kvHeads = isGrouped ? draft.whole("num_query_groups", 1, kMostWidth).value_or(model.heads) : model.heads;
    model.headDim =
        draft.whole("kv_channels", 1, kMostWidth).value_or(std::max(1, model.hidden / std::max(1, model.heads)));
    if (!told.isOn("multi_latent_attention"))
        return;
    model.attention = AttentionKind::Latent;
    model.kvHeads = model.heads;
    model.latent.queryRank = draft.whole("q_lora_rank", 1, kMostWidth).value_or(0);
    model.latent.keyValueRank = draft.whole("kv_lora_rank", 1, kMostWidth).value_or(32);
    model.latent.nopeDim = draft.whole("qk_head_dim", 1, kMostWidth).value_or(128);
    model.latent.ropeDim = draft.whole("qk_pos_emb_head_dim", 1, kMostWidth).value_or(64);
    model.latent.valueDim = draft.whole("v_head_dim", 1, kMostWidth).value_or(128);
    model.headDim = model.latent.valueDim;
}

void takeVocabulary(Draft &draft, ModelSpec &model)
{
    for (const char *name : { "padded_vocab_size", "vocab_size" })
        if (const auto size = draft.whole(name, 1, 100'000'000)) {
            model.vocab = *size;
            return;
        }
    // The shape tells which model it is, and so its vocabulary.
    for (const ModelSpec &known : draft.catalogue.models) {
        model.vocab = known.vocab;
        if (sameModel(model, draft.catalogue)) {
            draft.assume("The size of the vocabulary is told by no source: " + std::to_string(known.vocab) + ", as of "
                + known.name + ", whose other dimensions are the same");
            return;
        }
    }
    const auto tokenizer = draft.arguments.text("tokenizer_type");
    model.vocab = tokenizer == "GPT2BPETokenizer" ? 50257 : 128256;
    const int multiple = draft.whole("make_vocab_size_divisible_by", 1, 1'000'000).value_or(128);
    model.vocab = (model.vocab + multiple - 1) / multiple * multiple;
    draft.assume("The size of the vocabulary is told by no source: " + std::to_string(model.vocab)
        + (tokenizer == "GPT2BPETokenizer" ? ", GPT-2's, padded" : " is taken, as of Llama 3"));
}

} // namespace

std::optional<ModelSpec> megatronModel(Draft &draft)
{
    const Told &told = draft.arguments;
    if (!told.has("num_layers") || !told.has("hidden_size") || !told.has("num_attention_heads"))
        return std::nullopt;
    const std::size_t before = draft.errors.size();
    ModelSpec model;
    model.layers = draft.whole("num_layers", 1, 10'000).value_or(1);
    model.hidden = draft.whole("hidden_size", 1, 1'000'000).value_or(1);
    model.heads = draft.whole("num_attention_heads", 1, kMostWidth).value_or(1);
    const std::string activation = told.text("activation_func").value_or(told.text("activation").value_or(""));
    model.gatedFfn = told.isOn("swiglu") || told.isOn("quick_geglu") || told.isOn("gated_linear_unit")
        || activation.find("glu") != std::string::npos;
    model.ffn = draft.whole("ffn_hidden_size", 1, kMostWidth)
                    .value_or(model.gatedFfn ? 4 * model.hidden * 2 / 3 / 64 * 64 : 4 * model.hidden);
    if (model.ffn < 1)
        model.ffn = 64;
    takeAttention(draft, model);
    if (const auto tied = told.flag("tied_embeddings"))
        model.tiedEmbeddings = *tied;
    else
        model.tiedEmbeddings = !told.isOn("untie_embeddings_and_output_weights");
    model.layerNorm = lowered(told.text("normalization").value_or("LayerNorm")).find("rms") == std::string::npos;
    model.linearBias = told.flag("add_bias_linear").value_or(!told.isOn("disable_bias_linear"));
    model.queryKeyValueBias = told.isOn("add_qkv_bias") && !model.linearBias;
    const auto dropped = [&](const char *name) { return told.has(name) ? draft.number(name).value_or(0) > 0 : true; };
    model.dropout = dropped("hidden_dropout") || dropped("attention_dropout");
    const std::string positions = told.text("position_embedding_type").value_or("learned_absolute");
    if (positions == "learned_absolute" && !told.isOn("use_rotary_position_embeddings"))
        model.learnedPositions = told.has("max_position_embeddings")
            ? draft.whole("max_position_embeddings", 1, 100'000'000).value_or(0)
            : draft.whole("seq_length", 1, 100'000'000).value_or(0);
    takeExperts(draft, model);
    model.mtpLayers = draft.whole("mtp_num_layers", 0, 100).value_or(0);
    if (model.kvHeads > 0 && model.heads % model.kvHeads != 0)
        draft.bad("num_query_groups",
            std::to_string(model.kvHeads) + " groups do not divide " + std::to_string(model.heads) + " heads",
            "a divisor of --num-attention-heads");
    takeVocabulary(draft, model);
    model.source = "arguments of "
        + (told.sourceOf("hidden_size").empty() ? std::string("a training") : told.sourceOf("hidden_size"));
    return draft.errors.size() == before ? std::optional(model) : std::nullopt;
}

} // namespace trainyard::imports

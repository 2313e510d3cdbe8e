// SPDX-License-Identifier: GPL-3.0-or-later
// The model of Megatron's arguments, with Megatron's defaults for what is not told (arguments.py at d98e8a6).
#include "core/base/ascii_text.h"
#include "core/runs/imports/draft.h"
#include "core/runs/imports/megatron_arguments.h"

#include <algorithm>

namespace trainyard::imports {

namespace {

constexpr int kMostWidth = 10'000'000;

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
    if (!draft.arguments.has("moe_shared_expert_intermediate_size")) // MindSpeed-LLM counts them
        model.sharedExpertFfn = draft.whole("n_shared_experts", 0, 1000).value_or(0) * model.expertFfn;
    const int groups = draft.whole("moe_router_num_groups", 1, 100'000).value_or(0);
    const int top = draft.whole("moe_router_group_topk", 1, 100'000).value_or(0);
    if (top > 0 && top < groups && model.experts % groups == 0) {
        model.groups = groups;
        model.topGroups = top;
    }
    takeExpertLayers(draft, model);
}

/// GPT-NeoX gives a gated MLP a third of the width that its settings tell, as each of its three products has it, and
/// rounds it up (its transformer.py, ParallelMLP); "mlp_type: llama" is another class.
void takeNeoxWidth(Draft &draft, ModelSpec &model)
{
    const std::vector<Translation> &translations = draft.arguments.translations();
    const bool isNeox = !translations.empty() && translations.front().dialect->prefix == std::string_view("neox.");
    const auto gate = isNeox ? translations.front().arguments.find("swiglu")
                             : std::map<std::string, Translation::Argument>::const_iterator();
    if (!isNeox || !model.gatedFfn || gate == translations.front().arguments.end() || gate->second.key != "activation")
        return;
    const int multiple = draft.whole("mlp_multiple_of", 1, kMostWidth).value_or(1);
    const int told = draft.whole("ffn_hidden_size", 1, kMostWidth).value_or(4 * model.hidden);
    const int own = int(std::int64_t { told } * 2 / 3) / 2;
    const int third =
        int(std::min<std::int64_t>(kMostWidth, (std::int64_t { own } + multiple - 1) / multiple * multiple));
    // Files for releases before that rule tell the width itself, at most four times the model's.
    const bool isOlder = draft.arguments.has("ffn_hidden_size") && third != told && told <= 4 * model.hidden;
    model.ffn = isOlder ? told : third;
    if (isOlder)
        draft.doubtBy(draft.arguments.said("ffn_hidden_size"),
            "is " + std::to_string(told) + ", as earlier releases of GPT-NeoX take it; later ones make "
                + std::to_string(third) + " of it",
            -0.5, 0);
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
        || told.isOn("geglu") || told.isOn("gelu_tanh") // MindSpeed-LLM's, with a gate
        || activation.find("glu") != std::string::npos;
    model.ffn = draft.whole("ffn_hidden_size", 1, kMostWidth)
                    .value_or(model.gatedFfn ? 4 * model.hidden * 2 / 3 / 64 * 64 : 4 * model.hidden);
    if (model.ffn < 1)
        model.ffn = 64;
    takeNeoxWidth(draft, model);
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
    takeNoopLayers(draft, model);
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

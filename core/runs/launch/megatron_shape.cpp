// SPDX-License-Identifier: GPL-3.0-or-later
// The shape of a model as Megatron-LM's arguments: what core/runs/imports/megatron_model.cpp reads.
#include "core/runs/imports/megatron_arguments.h"
#include "core/runs/launch/launch_internal.h"

namespace trainyard::launch {

namespace {

void addExpertLayers(Draft &draft)
{
    const ModelSpec &model = draft.model;
    bool isEveryLayer = true;
    std::string pattern;
    for (int layer = 0; layer < model.layers; ++layer) {
        isEveryLayer = isEveryLayer && model.isExpertLayer(layer);
        pattern += std::string(pattern.empty() ? "" : ",") + (model.isExpertLayer(layer) ? "1" : "0");
    }
    if (isEveryLayer)
        return;
    if (model.expertLayerStep == 1)
        pattern = "([0]*" + std::to_string(model.denseLayers) + "+[1]*"
            + std::to_string(model.layers - model.denseLayers) + ")";
    else
        pattern = "[" + pattern + "]";
    draft.add("--moe-layer-freq", pattern);
}

void addExperts(Draft &draft)
{
    const ModelSpec &model = draft.model;
    draft.add("--num-experts", model.experts);
    draft.add("--moe-router-topk", model.expertsPerToken);
    draft.add("--moe-ffn-hidden-size", model.expertFfn);
    if (model.sharedExpertFfn > 0)
        draft.add("--moe-shared-expert-intermediate-size", model.sharedExpertFfn);
    if (model.groups > 0 && model.topGroups > 0 && model.topGroups < model.groups) {
        draft.add("--moe-router-num-groups", model.groups);
        draft.add("--moe-router-group-topk", model.topGroups);
    }
    addExpertLayers(draft);
    draft.add("--moe-grouped-gemm");
}

void addAttention(Draft &draft)
{
    const ModelSpec &model = draft.model;
    draft.add("--num-attention-heads", model.heads);
    if (model.attention == AttentionKind::Latent) {
        draft.add("--multi-latent-attention");
        if (model.latent.queryRank > 0)
            draft.add("--q-lora-rank", model.latent.queryRank);
        draft.add("--kv-lora-rank", model.latent.keyValueRank);
        draft.add("--qk-head-dim", model.latent.nopeDim);
        draft.add("--qk-pos-emb-head-dim", model.latent.ropeDim);
        draft.add("--v-head-dim", model.latent.valueDim);
        return;
    }
    if (model.kvHeads != model.heads) {
        draft.add("--group-query-attention");
        draft.add("--num-query-groups", model.kvHeads);
        const int tensor = draft.plan.parallelism.tensor;
        if (model.kvHeads % tensor != 0 && tensor % model.kvHeads != 0)
            draft.refuse("parallelism.tensor",
                std::to_string(tensor) + " neither divides the model's " + std::to_string(model.kvHeads)
                    + " groups of keys and values nor is a multiple of them",
                "a degree that does");
    }
    draft.add("--kv-channels", model.headDim);
}

void addVocabulary(Draft &draft)
{
    const ModelSpec &model = draft.model;
    const int tensor = draft.plan.parallelism.tensor;
    int multiple = 128;
    while (multiple > 1 && model.vocab % (multiple * tensor) != 0)
        multiple /= 2;
    if (model.vocab % (multiple * tensor) != 0)
        draft.note("Megatron-LM pads the vocabulary of " + std::to_string(model.vocab) + " to a multiple of the "
            + std::to_string(tensor) + " ranks of a tensor group");
    draft.add("--tokenizer-type", "NullTokenizer");
    if (!model.id.empty())
        draft.add("--tokenizer-model", model.id); // not read by that tokenizer; import tells models of one shape by it
    draft.add("--vocab-size", model.vocab);
    draft.add("--make-vocab-size-divisible-by", multiple);
}

} // namespace

void addMegatronModel(Draft &draft)
{
    const ModelSpec &model = draft.model;
    draft.add("--num-layers", model.layers);
    draft.add("--hidden-size", model.hidden);
    draft.add("--ffn-hidden-size", model.ffn > 0 ? model.ffn : model.expertFfn);
    addAttention(draft);
    if (model.gatedFfn)
        draft.add("--swiglu");
    draft.add("--normalization", model.layerNorm ? "LayerNorm" : "RMSNorm");
    if (!model.linearBias)
        draft.add("--disable-bias-linear");
    if (model.queryKeyValueBias && !model.linearBias)
        draft.add("--add-qkv-bias");
    if (!model.tiedEmbeddings)
        draft.add("--untie-embeddings-and-output-weights");
    const char *dropout = model.dropout ? "0.1" : "0.0";
    draft.add("--hidden-dropout", dropout);
    draft.add("--attention-dropout", dropout);
    const int length = draft.plan.workload.sequenceLength;
    draft.add("--position-embedding-type", model.learnedPositions > 0 ? "learned_absolute" : "rope");
    draft.add("--max-position-embeddings", model.learnedPositions > 0 ? model.learnedPositions : length);
    if (model.learnedPositions > 0 && length > model.learnedPositions)
        draft.refuse("workload.sequence_length",
            std::to_string(length) + " tokens, and the model has positions for "
                + std::to_string(model.learnedPositions),
            "at most as many");
    if (model.attentionWindow > 0 && !draft.isModelOfRecipe)
        draft.refuse("workload.model",
            "some layers of it look back " + std::to_string(model.attentionWindow)
                + " tokens, and a plan does not tell which, as Megatron-LM's --window-attn-skip-freq wants",
            "a model whose layers all see the whole sequence");
    if (model.isMoe())
        addExperts(draft);
    if (model.mtpLayers > 0)
        draft.add("--mtp-num-layers", model.mtpLayers);
    addVocabulary(draft);
}

} // namespace trainyard::launch

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A decoder-only transformer, dense or mixture-of-experts: the shape from which parameters, FLOPs and bytes are counted
// (workload/model_math.h). From the catalogue, a Hugging Face config.json or an inline object of a plan. Plain value.

#include <cstdint>
#include <string>

namespace trainyard {

enum class AttentionKind : std::uint8_t { Grouped, Latent }; // multi-head and grouped-query; DeepSeek's MLA

struct LatentAttention { // all 0 unless attention is Latent
    int queryRank = 0; // 0: no query compression
    int keyValueRank = 0;
    int nopeDim = 0, ropeDim = 0, valueDim = 0;
    bool operator==(const LatentAttention &) const = default;
};

struct ModelSpec {
    std::string id; // "llama-3-70b"; empty for an inline object
    std::string name;
    int layers = 0;
    int hidden = 0;
    int heads = 0;
    int kvHeads = 0;
    int headDim = 0; // heads * headDim need not equal hidden
    int ffn = 0; // inner size of the dense MLP
    int vocab = 0;
    bool gatedFfn = false; // three matrices (SwiGLU) instead of two
    bool tiedEmbeddings = false;
    bool layerNorm = false; // LayerNorm with bias (4h a layer) instead of RMSNorm (2h)
    bool linearBias = false; // GPT-style biases on every linear layer
    bool queryKeyValueBias = false; // Qwen 2 style
    bool dropout = false; // classic GPT dropout: masks are stored
    int learnedPositions = 0; // rows of a learned position table; 0 = rotary
    AttentionKind attention = AttentionKind::Grouped;
    LatentAttention latent;
    // mixture of experts; experts = 0 means dense
    int experts = 0;
    int expertsPerToken = 0;
    int expertFfn = 0;
    int sharedExpertFfn = 0; // total width of the shared experts
    int denseLayers = 0; // leading layers without experts
    int expertLayerStep = 1; // every n-th layer after those has experts (Llama 4 Maverick: 2)
    int groups = 0; // of experts, of which a token visits topGroups; 0: any experts
    int topGroups = 0;
    int mtpLayers = 0; // further layers that predict tokens after the next, each with the head (DeepSeek-V3)
    int attentionWindow = 0; // tokens that the windowed layers look back; 0: all layers see the whole sequence
    int windowedLayers = 0;
    double publishedParameters = 0; // as the authors state it; 0 = not stated
    std::string source;
    bool operator==(const ModelSpec &) const = default;

    [[nodiscard]] bool isMoe() const { return experts > 0; }
    [[nodiscard]] bool isExpertLayer(int layer) const
    {
        return experts > 0 && layer >= denseLayers && (layer - denseLayers) % expertLayerStep == expertLayerStep - 1;
    }
};

} // namespace trainyard

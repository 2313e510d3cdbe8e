#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A decoder-only transformer, dense or mixture-of-experts: the shape from which parameters, FLOPs and bytes are counted
// (workload/model_math.h). From the catalogue, a Hugging Face config.json or an inline object of a plan. Plain value.

#include "core/facts/workload/doubt.h"

#include <cstdint>
#include <string>

namespace trainyard {

/// multi-head and grouped-query; DeepSeek's MLA
enum class AttentionKind : std::uint8_t { Grouped, Latent };

struct LatentAttention { // all 0 unless attention is Latent
    /// 0: no query compression
    int queryRank = 0;
    int keyValueRank = 0;
    int nopeDim = 0, ropeDim = 0, valueDim = 0;
    bool operator==(const LatentAttention &) const = default;
};

struct ModelSpec {
    /// "llama-3-70b"; empty for an inline object
    std::string id;
    std::string name;
    int layers = 0;
    int hidden = 0;
    int heads = 0;
    int kvHeads = 0;
    /// heads * headDim need not equal hidden
    int headDim = 0;
    /// inner size of the dense MLP
    int ffn = 0;
    int vocab = 0;
    /// three matrices (SwiGLU) instead of two
    bool gatedFfn = false;
    bool tiedEmbeddings = false;
    /// LayerNorm with bias (4h a layer) instead of RMSNorm (2h)
    bool layerNorm = false;
    /// GPT-style biases on every linear layer
    bool linearBias = false;
    /// Qwen 2 style
    bool queryKeyValueBias = false;
    /// classic GPT dropout: masks are stored
    bool dropout = false;
    /// rows of a learned position table; 0 = rotary
    int learnedPositions = 0;
    AttentionKind attention = AttentionKind::Grouped;
    LatentAttention latent;
    // mixture of experts; experts = 0 means dense
    int experts = 0;
    int expertsPerToken = 0;
    int expertFfn = 0;
    /// total width of the shared experts
    int sharedExpertFfn = 0;
    /// leading layers without experts
    int denseLayers = 0;
    /// every n-th layer after those has experts (Llama 4 Maverick: 2)
    int expertLayerStep = 1;
    /// of experts, of which a token visits topGroups; 0: any experts
    int groups = 0;
    int topGroups = 0;
    /// further layers that predict tokens after the next, each with the head (DeepSeek-V3)
    int mtpLayers = 0;
    /// tokens that the windowed layers look back; 0: all layers see the whole sequence
    int attentionWindow = 0;
    int windowedLayers = 0;
    /// as the authors state it; 0 = not stated
    double publishedParameters = 0;
    std::string source;
    /// what of its source was not understood; empty: all of it was
    Doubts doubts;
    bool operator==(const ModelSpec &) const = default;

    [[nodiscard]] bool isMoe() const { return experts > 0; }
    [[nodiscard]] bool isExpertLayer(int layer) const
    {
        return experts > 0 && layer >= denseLayers && (layer - denseLayers) % expertLayerStep == expertLayerStep - 1;
    }
};

} // namespace trainyard

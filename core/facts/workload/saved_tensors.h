#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The tensors that one layer keeps from forward to backward, one by one: what activation offloading decides about, and
// what layerActivations() adds up. Parameters are not among them, since weights stay where they are. Plain values.

#include "core/facts/workload/model_math.h"

#include <cstdint>
#include <vector>

namespace trainyard {

/// The two modules of a layer, each with the norm before it.
enum class LayerChild : std::uint8_t { Attention, Mlp };

enum class SavedName : std::uint8_t {
    AttentionNormInput,
    AttentionNormOutput,
    AttentionDropoutMask,
    MlpNormInput,
    MlpNormOutput,
    RouterLogitsAndProbabilities,
    MlpDropoutMask,
    LayerInput,
    QueryAndAttentionOutput,
    Key,
    MlpProducts,
    LayerOutput,
    ExpertProducts,
    CompressedQueryAndKeyValue,
    NormedQueryAndKeyValue,
    QueryAndKey,
    Value,
    Query,
    KeyAndValue,
    AttentionOutput,
    QuantizedAttentionOutput,
    AttentionOutputBeforeTheExchange,
    LogSumExp,
    Softmax,
    SoftmaxDropoutMask,
    SoftmaxDropoutOutput,
    ActivationFunctionInput,
    ActivationFunctionOutput,
    PermutedTokens,
    ExpertOutputs,
};

struct SavedTensor {
    SavedName name = SavedName::LayerInput;
    LayerChild child = LayerChild::Attention;
    /// of one micro-batch on one GPU
    double elements = 0, bytes = 0;
    /// operators that keep this storage; it is stored, and counted in `bytes`, once
    int references = 1;
};

/// In the order in which the forward makes them, with the shape's recomputation. The bytes add up to
/// LayerActivations::kept.
[[nodiscard]] std::vector<SavedTensor> savedTensors(
    const ModelSpec &model, bool expertLayer, const ActivationShape &shape, const StackSpec &stack);

} // namespace trainyard

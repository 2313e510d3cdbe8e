#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a config.json says of its layers one by one: which attend to a window, which have experts, and which are of
// another kind than attention with an MLP, in the dialects of all families. For the .cpp files of this folder.

#include "core/facts/catalogue/config_keys_internal.h"
#include "core/facts/workload/model_spec.h"

namespace trainyard {

/// Windows of the layers; layers of other kinds block, but those of linear attention whose formulas are known, whose
/// difference is a doubt (doubtLinearLayers). Needs all else of the model but experts.
void readLayerKinds(ConfigKeys &keys, ModelSpec &model);
/// Of a model whose layers are of these kinds ("mamba", "attention", "MLP alone" …): all its parameters, or 0 where one
/// of them is not known. Needs its experts.
[[nodiscard]] double hybridParameters(ConfigKeys &keys, const ModelSpec &model, const std::vector<std::string> &kinds);
/// Number, widths and layers of experts, and what serves every token beside them.
void readExperts(ConfigKeys &keys, ModelSpec &model, const std::string &type);

/// Layers of Gated DeltaNet (Qwen3-Next and later) and gates of attention, which are counted as plain full attention:
/// by how much weights and work differ. Needs the whole model.
void doubtLinearLayers(ConfigKeys &keys, const ModelSpec &model);
/// Sparse attention, which is counted as full: the time is at most that.
void doubtSparseAttention(ConfigKeys &keys, const ModelSpec &model);

} // namespace trainyard

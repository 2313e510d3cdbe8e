#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One GPU, model or stack as JSON text, in and out: the entries of resources/catalog, and the inline objects of a plan,
// which use the same keys. A figure is a number, or [number, "source"]. `where` begins the location of every error:
// parseGpu(text, "plan.json: /cluster/datacenters/0/pools/0/gpu"). Unknown keys are left to the caller.

#include "core/base/error.h"
#include "core/facts/hardware/gpu_spec.h"
#include "core/facts/workload/model_spec.h"

#include <string_view>

namespace trainyard {

/// Required: memory_gib, memory_gbytes_per_s and one entry of peak_tflops. All else has defaults.
[[nodiscard]] ExpectedAll<GpuSpec> parseGpu(std::string_view json, const std::string &where);
/// Required: layers, hidden, heads, vocab, and ffn or expert_ffn.
[[nodiscard]] ExpectedAll<ModelSpec> parseModel(std::string_view json, const std::string &where);

/// A Hugging Face config.json; `fileName` is for messages.
[[nodiscard]] Expected<ModelSpec> parseHuggingFaceConfig(std::string_view json, const std::string &fileName);
/// Of a file. Errors name it and the key; unknown model types use the generic keys.
[[nodiscard]] Expected<ModelSpec> readHuggingFaceConfig(const std::string &path);

/// JSON text that parses to an equal value; keys at their defaults are left out.
[[nodiscard]] std::string formatGpu(const GpuSpec &gpu);
[[nodiscard]] std::string formatModel(const ModelSpec &model);

/// The keys that those objects understand, sorted; for unknown-key handling and schemas.
[[nodiscard]] const std::vector<std::string> &gpuKeys();
[[nodiscard]] const std::vector<std::string> &modelKeys();
/// The keys of a stack that a plan may override (withOverrides). Values are numbers; switches are 0 or 1.
[[nodiscard]] const std::vector<std::string> &stackKeys();

} // namespace trainyard

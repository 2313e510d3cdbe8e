#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Words for an iteration that accumulates layer by layer: its spans are told by their layer, and its rows, which are
// all of one stage, by their GPUs. Layers and micro-batches count from 1 on screen. Pure functions of an evaluation.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>

namespace trainyard {

/// Whether all micro-batches go through a layer before the next; the chunk of a span is its layer then.
[[nodiscard]] bool isLayerByLayer(const Evaluation &evaluation);
/// The layer that the span is about, counted from 0; -1 where it is about none.
[[nodiscard]] int layerOf(const Evaluation &evaluation, std::uint32_t span);
/// "layer 12 forward", "gather of layer 12"; empty where the span is about no layer.
[[nodiscard]] QString layerWork(const Evaluation &evaluation, std::uint32_t span);
/// "L4": of the GPUs of a row whose stage says nothing, since there is one; else empty.
[[nodiscard]] QString rowGpu(const Evaluation &evaluation, const Track &track);
/// "13 samples": of each of these replicas in one iteration.
[[nodiscard]] QString rowSamples(const Evaluation &evaluation, int pipelineClass);
/// In the bar: the micro-batch, both of a pair; layer by layer the layer with its micro-batch, "12·2".
[[nodiscard]] QString spanLabel(const Evaluation &evaluation, std::uint32_t span);
/// Where there is more room: "forward 4", "layer 12 forward 2".
[[nodiscard]] QString longSpanLabel(const Evaluation &evaluation, std::uint32_t span);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What there is to say about the selected thing: a span with what it waited for and the chain of causes behind it, a
// WAN link with its binding limit, GPUs and the stage that they serve, a datacenter. Facts with their units, a line
// each; the panel shows them. Pure functions; stages and micro-batches count from 1.

#include "core/evaluation/evaluate/evaluation.h"
#include "views/cluster/map_selection.h"
#include "views/panels/offload_text.h"

#include <QString>

#include <vector>

namespace trainyard {

/// name, value, explanation
using DetailFact = OffloadLine;

struct Details {
    /// empty: nothing is known
    QString title;
    QString subtitle;
    std::vector<DetailFact> facts;
};

/// One link of the chain of causes, from the span back to the beginning of the iteration.
struct CauseStep {
    std::uint32_t span = kNoSpan;
    Nanoseconds length = 0;
    /// its track stood still before it
    Nanoseconds wait = 0;
    bool isTransfer = false;
};

[[nodiscard]] Details spanDetails(const Evaluation &evaluation, std::uint32_t span, bool isCritical);
/// The span itself first, then what set its start, and so on; at most `most` of them.
[[nodiscard]] std::vector<CauseStep> causeChain(const Timeline &timeline, std::uint32_t span, std::size_t most);

[[nodiscard]] Details linkDetails(const Evaluation &evaluation, int link);
[[nodiscard]] Details datacenterDetails(const Evaluation &evaluation, int datacenter);
/// Of consecutive GPUs of one pool; `gpus` 0: the whole pool.
[[nodiscard]] Details gpuDetails(const Evaluation &evaluation, int datacenter, int pool, int firstGpu, int gpus);
/// Of a plan with jobs: which ran on a GPU, and how busy it was.
[[nodiscard]] Details jobGpuDetails(const Evaluation &evaluation, int gpu);
/// The same of several, as facts.
[[nodiscard]] std::vector<DetailFact> jobFacts(const Evaluation &evaluation, const std::vector<int> &gpus);
[[nodiscard]] Details stageDetails(const Evaluation &evaluation, int stage);
[[nodiscard]] Details itemDetails(const Evaluation &evaluation, const MapItem &item);

} // namespace trainyard

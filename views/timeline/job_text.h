#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Words for the timeline of a plan with jobs: its rows are GPUs, its spans units of work of one job each, told by
// mini-batch and shard. Both count from 1 on screen, GPUs from 0 as plans pin jobs to them. Pure functions.

#include "models/job_spans.h"

#include <QString>
#include <QStringList>

namespace trainyard {

/// "mini-batch 7"; "mini-batches 61–70" where a span stands for several.
[[nodiscard]] QString minibatchText(const Evaluation &evaluation, std::uint32_t span);
/// "Forward · gpt-3-1.3b, batch 16 · mini-batch 7 · shard 3 · GPU 2".
[[nodiscard]] QString jobSpanTitle(const Evaluation &evaluation, std::uint32_t span);
/// "mini-batch 7, shard 3, forward of gpt-3-1.3b, batch 16, on GPU 2", as part of a sentence.
[[nodiscard]] QString jobSpanName(const Evaluation &evaluation, std::uint32_t span);
/// "backward, mini-batch 7, shard 3" beside a span of the same job; of another job with its name.
[[nodiscard]] QString jobSpanBeside(const Evaluation &evaluation, std::uint32_t span, std::uint32_t other);
/// What is known of its job: when it ends, and whether in time.
[[nodiscard]] QStringList jobSpanFacts(const Evaluation &evaluation, std::uint32_t span);
/// "12 jobs · 18.0 s, bound 17.5 s".
[[nodiscard]] QString jobsSummary(const Evaluation &evaluation);

} // namespace trainyard

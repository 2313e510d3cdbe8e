#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is said about a span, a selection and a timeline: for the hover card, the screen reader and the empty state.
// Micro-batches, stages and chunks count from 1 on screen. Pure functions.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>
#include <QStringList>

namespace trainyard {

/// "Backward · micro-batch 4 · stage 7"; a channel names its ends, interleaved stages their chunk.
[[nodiscard]] QString spanTitle(const Evaluation &evaluation, std::uint32_t span);
/// "backward 4 of stage 7", as part of a sentence.
[[nodiscard]] QString spanName(const Evaluation &evaluation, std::uint32_t span);
/// Time that the span's track stood still before it; 0 for the first of a track that starts at once.
[[nodiscard]] Nanoseconds waitBefore(const Timeline &timeline, std::uint32_t span);
/// "waited 180 ms for WAN transfer 4 Virginia → Iowa"; empty where it followed at once.
[[nodiscard]] QString waitText(const Evaluation &evaluation, std::uint32_t span);
/// Lines under the title: length and times, what it waited for, whether it is critical.
[[nodiscard]] QStringList spanFacts(const Evaluation &evaluation, std::uint32_t span, bool isCritical);
/// Of a wait that is attributed to a part of the iteration: what it is, how long, who waits for what. `span`: that
/// waits, or kNoSpan.
[[nodiscard]] QStringList waitFacts(
    const Evaluation &evaluation, std::uint32_t span, Nanoseconds begin, Nanoseconds end, bool isForTransfer);
/// "1 iteration · 11.8 s · 4,182 spans · 0.4 ms" for the header.
[[nodiscard]] QString timelineSummary(const Evaluation &evaluation);
/// "180 ms" of a length of time.
[[nodiscard]] QString lengthText(Nanoseconds time);
/// "from 20.0118 s to 20.0131 s": as many digits as tell the two apart, in the unit of the end.
[[nodiscard]] QString intervalText(Nanoseconds start, Nanoseconds end);
/// Why there is nothing to see: the failure of the evaluation, else the first blocking problem, else the first, else
/// what to do.
[[nodiscard]] QString emptyReason(const Evaluation *evaluation, const QString &failure = {});

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Rows and spans of states off the GPU in words: what moves, how much of it and how fast, which groups the GPU updates
// itself, and what of a delayed update shows. Pure functions of an evaluation.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>
#include <QStringList>

namespace trainyard {

/// "→ gradients", "drives", "CPU", "GPU, 1 in 3 groups": the row of such a track.
[[nodiscard]] QString stateRowName(const Evaluation &evaluation, const Track &track);

/// "on the host", behind the name of an optimizer span whose states are off the GPU; else empty.
[[nodiscard]] QString optimizerPlace(const Evaluation &evaluation, std::uint32_t span);

/// "group 5 of 24", of a span of an optimizer step off the GPU; else empty.
[[nodiscard]] QString stepGroup(const Evaluation &evaluation, std::uint32_t span);

/// What the span moves or updates, and the step that an optimizer span stands for; empty for others.
[[nodiscard]] QStringList stateFacts(const Evaluation &evaluation, std::uint32_t span);

} // namespace trainyard

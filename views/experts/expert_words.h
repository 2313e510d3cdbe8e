#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What MoNTA's comparison says in words, each with its standing: published, our reconstruction, or predicted here.

#include "core/evaluation/advice/expert_comparison.h"

#include <QString>
#include <QStringList>

namespace trainyard {

/// "8 ranks hold the same tokens; experts over 2 ranks on 2 nodes; …".
[[nodiscard]] QString groupSentence(const ExpertGroup &group);
/// What traffic-aware takes and what that makes of exchange, layer and iteration.
[[nodiscard]] QString resultSentence(const ExpertComparison &comparison);
/// What is published, and from where.
[[nodiscard]] QString publishedSentence();
/// What is spared here of what the published factor is about: bytes on the NIC, and their own time.
[[nodiscard]] QString sparedSentence(const ExpertComparison &comparison);
/// At which NIC bandwidth the iteration gains what is published; empty while that is not known.
[[nodiscard]] QString gainSentence(const ExpertComparison &comparison);
[[nodiscard]] QString standingSentence();

/// "in 4 pieces", "in 4 pieces, 1 in the backward"; empty for one piece.
[[nodiscard]] QString piecesOf(const StepTimes &step);
/// "NIC bandwidth, Gbps per GPU"
[[nodiscard]] QString axisTitle(ExpertAxis axis);
/// "100 Gbps"
[[nodiscard]] QString axisValue(ExpertAxis axis, double x);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill in bubbles in words: how busy the GPUs become, what was taken, how long a first token takes, what it is
// worth. Pure functions.

#include "core/evaluation/evaluate/evaluation.h"

#include <QString>
#include <QStringList>

namespace trainyard {

/// One sentence a line; empty where nothing is served.
[[nodiscard]] QStringList fillFacts(const Metrics &metrics);
/// "45 % → 92 %"; the plain share where nothing is served.
[[nodiscard]] QString utilizationWithFill(const Metrics &metrics);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// All that a layer's times depend on as words, so that two works are the same where their words are. For the files of
// layer.h and their tests.

#include "core/systems/experts/layer.h"

#include <cstdint>
#include <vector>

namespace trainyard {

using LayerKey = std::vector<std::uint64_t>;

/// `into` is written anew.
void keyOf(const LayerWork &work, LayerKey &into);
void keyOf(const PairWork &work, LayerKey &into);

} // namespace trainyard

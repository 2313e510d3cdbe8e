#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What `data: auto` stands for, for whoever asks for the placements of a plan or for its evaluation.

#include <cstdint>

namespace trainyard {

/// Most: as many replicas as can be placed, which a search takes, since it has numbers of its own to try besides.
/// Fastest: those and fewer, of which the engine tells the fastest.
enum class OpenReplicas : std::uint8_t { Most, Fastest };

} // namespace trainyard

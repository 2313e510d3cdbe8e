#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How much of a layer is recomputed in its backward.

#include <cstdint>

namespace trainyard {

enum class Recompute : std::uint8_t { None, Selective, Full };

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which rule turns gradients into updates, and so how many states a parameter has.

#include <cstdint>

namespace trainyard {

enum class Optimizer : std::uint8_t { Adam, Sgd, Adafactor, Lion, Adam8bit, Galore };

} // namespace trainyard

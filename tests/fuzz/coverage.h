#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which edges of the instrumented readers an input has run over (-fsanitize-coverage=trace-pc). Inputs that reach a new
// one are worth mutating further. Main thread only.

#include <cstddef>

namespace trainyard::fuzz {

/// Forgets the edges of the last input.
void startInput();
/// Whether it ran over an edge that none before it did; remembers its edges.
[[nodiscard]] bool isNew();
[[nodiscard]] std::size_t edgesSeen();

} // namespace trainyard::fuzz

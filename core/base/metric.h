#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A figure of an answer: one that does not apply is empty, never zero.

#include <optional>

namespace trainyard {

using Metric = std::optional<double>;

} // namespace trainyard

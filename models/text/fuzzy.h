#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzy matching as command palettes do it: the letters in order, better where they begin words or follow each other.

#include <QString>

#include <optional>

namespace trainyard {

/// Larger is better; empty where the letters of `pattern` do not occur in `text` in order. Case is ignored.
[[nodiscard]] std::optional<int> fuzzyScore(const QString &pattern, const QString &text);

} // namespace trainyard

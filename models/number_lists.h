#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Lists of numbers as people type them: "8, 16, 32", "1e-4 3e-4". Pure functions.

#include <QString>

#include <expected>
#include <vector>

namespace trainyard {

/// Numbers of `low` (exclusive where it is 0 and they need not be whole) to `high`, each once, in the order in which
/// they stand; none of an empty text. Error: what is wanted instead of what, the end of a sentence: "a whole number
/// from 1 to 10 is wanted, not “x”".
[[nodiscard]] std::expected<std::vector<double>, QString> numbersIn(
    const QString &text, double low, double high, bool isWhole);
/// "8, 16, 32".
[[nodiscard]] QString numbersText(const std::vector<double> &numbers);

} // namespace trainyard

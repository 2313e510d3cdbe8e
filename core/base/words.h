#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Pieces of the sentences that the core writes: in problems, errors, names of alternatives and reports. Numbers as
// tables show them, with units, are core/base/number_text.h. Pure functions, UTF-8.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// As printf writes it.
[[nodiscard]] [[gnu::format(printf, 1, 2)]] std::string formatted(const char *format, ...);

/// "1 step", "16 steps".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view thing);

/// "Not compared: …" of "not compared: …", and as a sentence with its full stop.
[[nodiscard]] std::string capitalised(std::string text);
[[nodiscard]] std::string asSentence(std::string text);

/// "a; b; c" and, where the last one has a word of its own, "a, b or c".
[[nodiscard]] std::string joined(const std::vector<std::string> &texts, std::string_view between);
[[nodiscard]] std::string joined(
    const std::vector<std::string> &texts, std::string_view between, std::string_view last);

/// A whole number with all its digits, any other with six: "1048576", "0.5", "1e+30".
[[nodiscard]] std::string plainNumber(double value);

} // namespace trainyard

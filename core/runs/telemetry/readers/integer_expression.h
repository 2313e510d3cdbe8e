#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whole numbers with + - * / % and brackets, as $(( … )) of a script has them. Bounded, pure.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace trainyard::readers {

/// Nullopt where it is none, where a name is unknown, where a number leaves 53 bits, or divides by 0.
[[nodiscard]] std::optional<std::int64_t> integerExpression(
    std::string_view text, const std::function<std::optional<std::int64_t>(std::string_view name)> &valueOf);

} // namespace trainyard::readers

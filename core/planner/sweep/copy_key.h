#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One number, flag or choice of a plan by its dotted key, taken from one plan and set in others: a value that was read
// once is set in many plans without reading it again, and without keeping the plan that it was read in. Pure, any
// thread.

#include "core/facts/plan/plan.h"

#include <any>
#include <string_view>

namespace trainyard {

/// Empty where the key is no plain number, flag or choice, or is not there.
[[nodiscard]] std::any plainValue(const Plan &plan, std::string_view dottedKey);
/// False, and nothing done, where the key is not there or holds another kind of value.
bool setPlainValue(Plan &plan, std::string_view dottedKey, const std::any &value);

} // namespace trainyard

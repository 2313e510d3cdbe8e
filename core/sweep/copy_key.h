#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One number, flag or choice of a plan taken from another plan, by its dotted key: a value that was read once is set in
// many plans without reading it again. Pure, any thread.

#include "core/plan/plan.h"

#include <string_view>

namespace trainyard {

/// False, and nothing done, where the key is no plain number, flag or choice, or is not there in both.
bool copyKey(Plan &to, const Plan &from, std::string_view dottedKey);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What any reader's answer has to keep, accepted or refused.

#include "core/base/error.h"

#include <string>

namespace trainyard::fuzz {

/// Empty where every error is one that a user can act on: it names the file that it was given, says what is wrong, is
/// no internal one, and there are not more than a screen or two of them. Otherwise what does not hold.
[[nodiscard]] std::string faultOf(const Errors &errors, const std::string &place);

} // namespace trainyard::fuzz

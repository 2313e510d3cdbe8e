#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans that a mutation left readable, evaluated where they are small: an answer or an error, and no figure that is
// none.

#include "tests/fuzz/targets.h"

namespace trainyard::fuzz {

[[nodiscard]] Outcome evaluated(const std::string &input);

} // namespace trainyard::fuzz

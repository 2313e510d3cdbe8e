#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A report as PDF, which needs fonts: trainyard-cli has none and asks the program `trainyard` beside it, without a
// display.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard::cli {

/// Errors: CannotWrite, where that program is not installed or did not succeed; it then says why on standard error.
[[nodiscard]] Expected<void> writePdfReport(const Evaluation &evaluation, const std::string &path);

} // namespace trainyard::cli

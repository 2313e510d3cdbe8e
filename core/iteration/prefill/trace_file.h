#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Requests from a CSV file with the columns time_s,prompt_tokens: what a serving fleet saw. Any thread.

#include "core/base/error.h"
#include "core/iteration/prefill/arrivals.h"

#include <string>

namespace trainyard {

/// Requests in order of time, which counts from the start of the iteration. Errors: CannotRead; BadSyntax where
/// it is no text or empty; BadValue with file and line.
[[nodiscard]] ExpectedAll<std::vector<PrefillRequest>> readRequestTrace(const std::string &path);
/// The same from text; `name` is what errors call the file.
[[nodiscard]] ExpectedAll<std::vector<PrefillRequest>> parseRequestTrace(
    const std::string &text, const std::string &name);

} // namespace trainyard

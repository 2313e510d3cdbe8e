#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Output files that are never half written: the text goes to a temporary file beside the target, which is renamed.

#include "core/base/error.h"

#include <functional>
#include <ostream>

namespace trainyard {

/// Calls `write` with a stream and puts the result at `path`, or leaves what was there untouched. `-` is standard output.
/// Errors: CannotWrite, naming the file and the system's reason.
[[nodiscard]] Expected<void> writeOutputFile(const std::string &path, const std::function<void(std::ostream &)> &write);

} // namespace trainyard

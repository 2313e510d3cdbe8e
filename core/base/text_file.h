#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a whole file that a user named. Any thread.

#include "core/base/error.h"

#include <string>

namespace trainyard {

/// The bytes of the file. Errors: CannotRead with the system's reason; `right` says what was expected there.
[[nodiscard]] Expected<std::string> readTextFile(const std::string &path, const std::string &right);

} // namespace trainyard

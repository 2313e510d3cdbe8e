#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The files of resources/validation as they were when the program was built. Read-only, any thread.

#include "core/facts/catalogue/embedded_files.h"

namespace trainyard {

[[nodiscard]] std::span<const EmbeddedFile> embeddedValidationFiles();
/// The text of one of them; empty where it is not built in.
[[nodiscard]] std::string_view embeddedValidationFile(std::string_view name);

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The files of resources/catalog as they were when the program was built. Read-only, any thread.

#include <span>
#include <string_view>

namespace trainyard {

struct EmbeddedFile {
    /// "gpus.json"
    std::string_view name;
    std::string_view text;
};
[[nodiscard]] std::span<const EmbeddedFile> embeddedCatalogueFiles();

} // namespace trainyard

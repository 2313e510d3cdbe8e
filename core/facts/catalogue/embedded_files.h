#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The files of resources/catalog as they were when the program was built. Read-only, any thread.

#include <span>
#include <string_view>

namespace trainyard {

struct EmbeddedFile {
    std::string_view name; // "gpus.json"
    std::string_view text;
};
[[nodiscard]] std::span<const EmbeddedFile> embeddedCatalogueFiles();

} // namespace trainyard

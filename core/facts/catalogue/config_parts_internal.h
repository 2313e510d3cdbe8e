#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A config.json before its keys are read: text as Python writes it, the language model inside a larger one, and what
// stands beside it. For the .cpp files of this folder.

#include "core/facts/catalogue/object_reader_internal.h"

#include <string>
#include <string_view>

namespace trainyard {

/// Python's json writes Infinity, -Infinity and NaN, which are no JSON: null in their place. Columns stay where they
/// were, but behind a NaN. Text inside of strings is left alone.
[[nodiscard]] std::string withoutPythonLiterals(std::string_view text);

/// The config of the language model: the outermost one, or the one inside it that families nest under their own names,
/// and the path to it, "/thinker_config/text_config"; empty: the outermost.
struct LanguagePart {
    const CatalogueJson *config = nullptr;
    std::string path;
};
[[nodiscard]] LanguagePart languagePart(const CatalogueJson &config);

/// Towers beside the language model, which are not modelled.
struct Towers {
    /// "vision_config, audio_config"
    std::string keys;
    /// of those whose widths are told, from their layers alone
    double parameters = 0;
    /// another one has no widths that are known here
    bool isUnknown = false;
};
[[nodiscard]] Towers towersBeside(const CatalogueJson &config, const LanguagePart &language);

} // namespace trainyard

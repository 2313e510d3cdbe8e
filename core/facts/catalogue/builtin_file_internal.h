#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The catalogue files that are built into the program: their text, and those that hold one object.

#include "core/base/or_abort.h"
#include "core/facts/catalogue/embedded_files.h"
#include "core/facts/catalogue/object_reader_internal.h"

#include <algorithm>

namespace trainyard {

[[nodiscard]] inline Expected<std::string> builtinText(const std::string &name)
{
    const auto files = embeddedCatalogueFiles();
    const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
    if (found == files.end())
        return std::unexpected(Error { ErrorCode::Internal, name, "is not built in", "" });
    return std::string(found->text);
}

/// `read`: from the file's JSON and its sources, and a list that takes its faults.
template <class T>
[[nodiscard]] T readBuiltinFile(const char *name, T (*read)(const CatalogueJson &, const Citations &, Errors &))
{
    const auto text = builtinText(name);
    const Expected<CatalogueJson> json = text ? parseJson(*text, name) : std::unexpected(text.error());
    if (!json)
        return orAbort<T>(std::unexpected(Errors { json.error() }));
    Citations sources;
    for (const auto &[id, entry] : json->at("sources").items())
        sources[id] = entry.value("title", "") + ", " + entry.value("date", "");
    Errors errors;
    T result = read(*json, sources, errors);
    return orAbort<T>(errors.empty() ? ExpectedAll<T>(std::move(result)) : std::unexpected(std::move(errors)));
}

} // namespace trainyard

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A catalogue file of one object that is built into the program. A fault in it is a broken build, not a user's: it is
// printed and ends the program.

#include "core/catalogue/embedded_files.h"
#include "core/catalogue/object_reader_internal.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace trainyard {

/// `read`: from the file's JSON and a list that takes its faults.
template <class T>
[[nodiscard]] T readBuiltinFile(const char *name, T (*read)(const Json &, Errors &))
{
    const auto files = embeddedCatalogueFiles();
    const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
    Errors errors;
    const Expected<Json> json = found != files.end() ? parseJson(found->text, name) : std::unexpected(Error{ErrorCode::Internal, name, "is not built in", ""});
    T result{};
    if (json)
        result = read(*json, errors);
    else
        errors.push_back(json.error());
    if (errors.empty())
        return result;
    for (const Error &error : errors)
        std::cerr << toString(error) << '\n';
    std::abort();
}

} // namespace trainyard

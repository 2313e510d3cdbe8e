// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/checks.h"

#include "core/base/printable.h"

namespace trainyard::fuzz {

namespace {

constexpr std::size_t kMostErrors = 300, kMostReportedBytes = 4000;

} // namespace

std::string faultOf(const Errors &errors, const std::string &place)
{
    if (errors.empty())
        return "refused without an error";
    if (errors.size() > kMostErrors)
        return std::to_string(errors.size()) + " errors";
    for (const Error &error : errors) {
        const std::string line = toString(error);
        if (!error.where.starts_with(place))
            return "an error does not name " + place + ": " + line;
        if (error.what.empty() || error.code == ErrorCode::Internal)
            return "an error is no help: " + line;
        if (line.size() > kMostReportedBytes)
            return "an error of " + std::to_string(line.size()) + " bytes";
        if (printable(line) != line)
            return "an error that a terminal would obey";
    }
    return {};
}

} // namespace trainyard::fuzz

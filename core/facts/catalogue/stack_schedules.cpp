// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/stack_schedules.h"

#include "core/facts/catalogue/builtin_file_internal.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

using Schedules = std::map<std::string, std::vector<std::string>, std::less<>>;

Schedules readSchedules(const CatalogueJson &content, const Citations &sources, Errors &errors)
{
    Schedules schedules;
    for (const auto &[stack, entry] : content.at("stacks").items()) {
        schedules[stack] = entry.at("schedules").get<std::vector<std::string>>();
        if (!sources.contains(entry.at("source").get<std::string>()))
            errors.push_back({ ErrorCode::UnknownName, "stack_schedules.json: /stacks/" + stack + "/source",
                "no such source", "one of /sources" });
    }
    return schedules;
}

} // namespace

const std::vector<std::string> &schedulesOf(std::string_view stack)
{
    static const Schedules schedules = readBuiltinFile("stack_schedules.json", readSchedules);
    static const std::vector<std::string> all;
    const auto found = schedules.find(stack);
    return found == schedules.end() ? all : found->second;
}

bool takesTurnsOnTheWan(std::string_view stack)
{
    const std::vector<std::string> &has = schedulesOf(stack);
    return has.empty() || std::ranges::find(has, "atlas") != has.end();
}

} // namespace trainyard

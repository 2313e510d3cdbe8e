// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/plan_io.h"

#include "core/facts/plan/embedded_plan.h"
#include "core/facts/plan/named_files.h"
#include "core/facts/plan/plan_json_internal.h"

#include <filesystem>

namespace trainyard {

ExpectedAll<Plan> parsePlan(std::string_view json, const std::string &fileName, const std::string &baseDir)
{
    if (isPage(json)) {
        const auto inside = planInside(json);
        if (!inside)
            return std::unexpected(Errors { { ErrorCode::BadSyntax, fileName, "is a page that holds no plan",
                "a plan file, *.trainyard.json, or a report, which holds the plan that it is about" } });
        json = *inside;
    }
    auto document = detail::parseJson(json, fileName);
    if (!document)
        return std::unexpected(std::move(document.error()));
    auto current = detail::migrated(std::move(*document), fileName);
    if (!current)
        return std::unexpected(Errors { std::move(current.error()) });
    auto plan = detail::planFromJson(*current, fileName, detail::Where::Pointer);
    if (plan)
        plan->baseDir = baseDir;
    return plan;
}

ExpectedAll<Plan> readPlan(const std::string &path, FileKinds kinds)
{
    const auto text = readTextFile(path, kPlanFile, { .kinds = kinds });
    if (!text)
        return std::unexpected(Errors { text.error() });
    return parsePlan(*text, path, std::filesystem::path(path).parent_path().string());
}

std::string formatPlan(const Plan &plan)
{
    return detail::prettyJson(detail::planToJson(plan)) + "\n";
}

Expected<void> writePlan(const Plan &plan, const std::string &path, OutputKinds kinds)
{
    const bool isFile = path != "-" && !outputTarget(path).empty(); // else who reads it knows no folder but the current
    const std::string folder = isFile ? std::filesystem::path(path).parent_path().string() : std::string();
    const std::string text = formatPlan(rebased(plan, folder));
    return writeOutputFile(
        path, [&](std::ostream &out) { out << text; }, kinds);
}

} // namespace trainyard

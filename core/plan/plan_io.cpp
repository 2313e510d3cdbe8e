// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/plan_io.h"

#include "core/base/text_file.h"
#include "core/plan/plan_json_internal.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace trainyard {

ExpectedAll<Plan> parsePlan(std::string_view json, const std::string &fileName, const std::string &baseDir)
{
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

ExpectedAll<Plan> readPlan(const std::string &path)
{
    const auto text = readTextFile(path, "a readable plan file, *.trainyard.json");
    if (!text)
        return std::unexpected(Errors { text.error() });
    return parsePlan(*text, path, std::filesystem::path(path).parent_path().string());
}

std::string formatPlan(const Plan &plan) { return detail::prettyJson(detail::planToJson(plan)) + "\n"; }

Expected<void> writePlan(const Plan &plan, const std::string &path)
{
    namespace fs = std::filesystem;
    const auto cannotWrite = [&](const std::string &why) {
        return std::unexpected(Error { ErrorCode::CannotWrite, path, why, "a file in a folder that can be written" });
    };
    std::error_code code;
    // A link stays a link: the file that it points to is replaced.
    fs::path target = fs::weakly_canonical(path, code);
    if (code || target.empty())
        target = path;
    const fs::path temporary = target.string() + ".tmp" + std::to_string(::getpid());
    errno = 0;
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    if (!file)
        return cannotWrite(errno != 0 ? std::strerror(errno) : "cannot be opened");
    file << formatPlan(plan);
    file.close();
    if (!file) {
        fs::remove(temporary, code);
        return cannotWrite("writing failed; is the disk full?");
    }
    if (const auto status = fs::status(target, code); !code && fs::exists(status))
        fs::permissions(temporary, status.permissions(), code);
    fs::rename(temporary, target, code);
    if (code) {
        const std::string why = code.message();
        fs::remove(temporary, code);
        return cannotWrite(why);
    }
    return {};
}

} // namespace trainyard

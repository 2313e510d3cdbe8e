// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/named_files.h"

#include <system_error>

namespace trainyard {

namespace {

/// Calls `visit` with every key that names a file, of a plan that can be changed or not.
template <class AnyPlan, class Visit> void forEachNamedFile(AnyPlan &plan, Visit visit)
{
    const auto model = [&](auto &name) {
        if (isModelPath(name))
            visit(name);
    };
    model(plan.workload.model);
    model(plan.bubbleFill.model);
    for (auto &served : plan.bubbleFill.served)
        model(served.model);
    if (!plan.bubbleFill.trace.empty())
        visit(plan.bubbleFill.trace);
    for (auto &job : plan.jobs)
        model(job.model);
    if (plan.jobGrid)
        for (auto &name : plan.jobGrid->model)
            model(name);
}

/// Without links and dots, as far as it is there.
std::filesystem::path plainFolder(const std::string &folder)
{
    std::error_code failed;
    const std::filesystem::path absolute = std::filesystem::absolute(folder.empty() ? "." : folder, failed);
    const std::filesystem::path plain = std::filesystem::weakly_canonical(absolute, failed);
    return failed ? absolute.lexically_normal() : plain;
}

} // namespace

bool isModelPath(const std::string &name)
{
    return name.ends_with(".json") || name.find('/') != std::string::npos || name.find('\\') != std::string::npos;
}

std::filesystem::path fileIn(const std::string &baseDir, const std::string &name)
{
    const std::filesystem::path path(name);
    return path.is_absolute() || baseDir.empty() ? path : std::filesystem::path(baseDir) / path;
}

std::vector<std::string> namesOfFiles(const Plan &plan)
{
    std::vector<std::string> names;
    forEachNamedFile(plan, [&](const std::string &name) { names.push_back(name); });
    return names;
}

std::vector<std::string> filesNamedIn(const Plan &plan)
{
    std::vector<std::string> files = namesOfFiles(plan);
    for (std::string &name : files)
        name = fileOf(plan, name).string();
    return files;
}

Plan rebased(const Plan &plan, const std::string &folder)
{
    Plan next = plan;
    next.baseDir = folder;
    const std::filesystem::path from = plainFolder(plan.baseDir), to = plainFolder(folder);
    if (from == to)
        return next;
    forEachNamedFile(next, [&](std::string &name) {
        if (std::filesystem::path(name).is_absolute())
            return;
        const std::filesystem::path file = (from / name).lexically_normal();
        const std::filesystem::path seen = file.lexically_relative(to);
        const bool isModel = isModelPath(name);
        name = (seen.empty() ? file : seen).generic_string();
        if (isModel && !isModelPath(name))
            name = "./" + name; // else it would be a name of the catalogue
    });
    return next;
}

} // namespace trainyard

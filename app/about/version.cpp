// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/about/version.h"

#include "app/about/build_info.h"

#include <filesystem>

namespace trainyard::about {

namespace {

namespace fs = std::filesystem;

std::string firstFolder(const fs::path &start, const std::vector<const char *> &candidates)
{
    for (const char *candidate : candidates) {
        const fs::path folder = (start / candidate).lexically_normal();
        std::error_code ignored;
        if (fs::is_directory(folder, ignored))
            return folder.string();
    }
    return {};
}

std::string folderOfThisProgram()
{
    std::error_code failed;
    const fs::path self = fs::read_symlink("/proc/self/exe", failed);
    return failed ? std::string() : self.parent_path().string();
}

} // namespace

Places placesFrom(const std::string &folderOfProgram)
{
    if (folderOfProgram.empty())
        return {};
    return { firstFolder(folderOfProgram, { "../../../samples", "../share/trainyard/samples", "samples" }),
        firstFolder(folderOfProgram, { "../../../docs", "../share/doc/trainyard/docs", "docs" }) };
}

std::string versionText(const std::string &program, const std::vector<std::pair<std::string, std::string>> &more)
{
    const BuildInfo &build = buildInfo();
    const Places places = placesFrom(folderOfThisProgram());
    std::string text = program + " " + build.version;
    const auto add = [&text](const std::string &name, const std::string &value) {
        constexpr std::size_t kColumn = 9;
        text += '\n' + name + ':' + std::string(kColumn - name.size() - 1, ' ') + value;
    };
    const std::string date = build.date;
    add("commit", build.commit + (date.empty() ? "" : " of " + date));
    add("build", std::string(build.type) + ", " + build.compiler + ", " + build.machine);
    for (const auto &[name, value] : more)
        add(name, value);
    if (!places.samples.empty())
        add("samples", places.samples);
    if (!places.docs.empty())
        add("docs", places.docs);
    return text;
}

} // namespace trainyard::about

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace trainyard::tests {
namespace {

/// Filled while the program starts, so it is made when first asked for. In the order of names.
std::map<std::string, TestMain> &registeredTests()
{
    static std::map<std::string, TestMain> tests;
    return tests;
}

} // namespace

std::string testName(std::string_view sourceFile)
{
    constexpr std::string_view kTests = "tests/", kPrefix = "tst_", kSuffix = ".cpp";
    // The compiler may have been given a relative path.
    if (const std::size_t folder = sourceFile.rfind(kTests); folder != sourceFile.npos)
        sourceFile.remove_prefix(folder + kTests.size());
    if (sourceFile.ends_with(kSuffix))
        sourceFile.remove_suffix(kSuffix.size());
    std::string name(sourceFile);
    const std::size_t file = name.rfind('/') + 1; // 0 where there is no folder
    if (std::string_view(name).substr(file).starts_with(kPrefix))
        name.erase(file, kPrefix.size());
    std::ranges::replace(name, '/', '.');
    return name;
}

RegisteredTest::RegisteredTest(const char *sourceFile, TestMain main)
{
    const auto [entry, isNew] = registeredTests().emplace(testName(sourceFile), main);
    if (!isNew)
        qFatal("%s registers two tests", sourceFile);
}

} // namespace trainyard::tests

int main(int argc, char **argv)
{
    using namespace trainyard::tests;
    const auto &tests = registeredTests();
    const auto chosen = argc > 1 ? tests.find(argv[1]) : tests.end();
    if (chosen == tests.end()) {
        std::fprintf(stderr, "usage: %s TEST [options of Qt Test]; TEST is one of\n", argv[0]);
        for (const auto &[name, run] : tests)
            std::fprintf(stderr, "  %s\n", name.c_str());
        return 2;
    }
    // Qt Test reads what follows the name. An application is called after its test: what it keeps in folders of its own
    // is apart from what other tests of the program keep.
    std::string application = "tst." + chosen->first;
    argv[1] = application.data();
    return chosen->second(argc - 1, argv + 1);
}

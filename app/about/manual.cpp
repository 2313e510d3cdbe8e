// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/about/manual.h"

#include <algorithm>
#include <array>

namespace trainyard::about {

namespace {

void addPlaces(const ManualCommand &command, const std::string &path, std::vector<ManualPlace> &places)
{
    places.push_back({ path, &command });
    for (const ManualCommand &below : command.commands)
        addPlaces(below, path + '/' + below.name, places);
}

} // namespace

std::string manualText(const ManualCommand &program, std::string_view format)
{
    constexpr std::array makers { manPage, bashCompletion, zshCompletion, fishCompletion };
    for (std::size_t i = 0; i < makers.size(); ++i) {
        if (format != kManualFormats[i])
            continue;
        std::string text = makers[i](program);
        text.pop_back();
        return text;
    }
    return {};
}

bool namesFiles(const std::string &value)
{
    constexpr std::array words { "PLAN", "RECORDING", "SOURCE", "FILE", "PATH", "OUT" };
    return std::ranges::any_of(words, [&](const char *word) { return value.find(word) != std::string::npos; });
}

std::vector<ManualPlace> placesOf(const ManualCommand &program)
{
    std::vector<ManualPlace> places;
    addPlaces(program, {}, places);
    return places;
}

std::string functionName(const std::string &program)
{
    std::string name = program;
    std::ranges::replace(name, '-', '_');
    return name;
}

std::string inSingleQuotes(const std::string &text, bool isFish)
{
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'')
            quoted += isFish ? "\\'" : "'\\''";
        else if (c == '\\' && isFish)
            quoted += "\\\\";
        else
            quoted += c;
    }
    return quoted + "'";
}

} // namespace trainyard::about

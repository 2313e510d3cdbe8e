// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/sources/prometheus_answers.h"

#include "core/base/words.h"

#include <nlohmann/json.hpp>

#include <ctime>
#include <iomanip>
#include <locale>
#include <sstream>

namespace trainyard::live::prometheus {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostError = 200; // bytes

} // namespace

std::optional<std::vector<std::string>> listIn(std::string_view body)
{
    const Json json = Json::parse(body, nullptr, false);
    if (!json.is_object() || !json.contains("status") || json["status"] != "success" || !json.contains("data")
        || !json["data"].is_array())
        return {};
    std::vector<std::string> list;
    for (const Json &one : json["data"])
        if (one.is_string())
            list.push_back(one.get<std::string>());
    return list;
}

std::string errorIn(std::string_view body)
{
    const Json json = Json::parse(body, nullptr, false);
    const bool isTold = json.is_object() && json.contains("error") && json["error"].is_string();
    return isTold ? json["error"].get<std::string>().substr(0, kMostError) : std::string();
}

bool isWebPage(std::string_view body)
{
    return body.find("<html") != body.npos || body.find("<!doctype") != body.npos
        || body.find("<!DOCTYPE") != body.npos;
}

std::optional<Moment> httpDate(const std::string &text)
{
    std::tm parts {};
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    in >> std::get_time(&parts, "%a, %d %b %Y %H:%M:%S");
    if (in.fail())
        return {};
    const std::time_t seconds = timegm(&parts);
    return seconds > 0 ? std::optional(Moment(seconds) * 1'000'000'000) : std::nullopt;
}

std::string clockText(Moment moment)
{
    return formatted("%02lld:%02lld:%02lld UTC", static_cast<long long>(moment / 3'600'000'000'000 % 24),
        static_cast<long long>(moment / 60'000'000'000 % 60), static_cast<long long>(moment / 1'000'000'000 % 60));
}

} // namespace trainyard::live::prometheus

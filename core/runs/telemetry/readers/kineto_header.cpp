// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/ascii_text.h"
#include "core/runs/telemetry/readers/kineto_collect_internal.h"
#include "core/runs/telemetry/readers/reading_bounds_internal.h"

#include <nlohmann/json.hpp>

#include <cctype>
#include <charconv>

namespace trainyard::readers {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostHeaderText = 256;
constexpr Moment kMostBase = 4'000'000'000'000'000'000; // the year 2096

std::string textOf(const Json &object, const char *key)
{
    const auto at = object.find(key);
    if (at == object.end() || at->is_null())
        return {};
    return (at->is_string() ? at->get<std::string>() : at->dump(-1, ' ', false, Json::error_handler_t::replace))
        .substr(0, kMostHeaderText);
}

int numberOf(const Json &object, const char *key, int otherwise)
{
    const auto at = object.find(key);
    if (at == object.end())
        return otherwise;
    std::int64_t number = otherwise;
    if (at->is_number_integer())
        number = at->get<std::int64_t>();
    else if (at->is_string())
        number = wholeNumber(at->get_ref<const std::string &>()).value_or(otherwise);
    return number >= 0 && number < kMostRanks ? static_cast<int>(number) : otherwise;
}

std::vector<int> ranksOfConfig(const Json &config)
{
    const auto at = config.find("ranks");
    if (at == config.end())
        return {};
    return readRanks(at->is_string() ? at->get_ref<const std::string &>() : at->dump());
}

void readDistributed(const Json &info, TraceHeader &header)
{
    if (!info.is_object())
        return;
    header.rank = numberOf(info, "rank", header.rank);
    header.worldSize = numberOf(info, "world_size", header.worldSize);
    const auto groups = info.find("pg_config");
    if (groups == info.end() || !groups->is_array())
        return;
    for (const Json &config : *groups)
        if (config.is_object()) {
            CommunicatorGroup group;
            group.name = textOf(config, "pg_name");
            group.description = textOf(config, "pg_desc");
            group.ranks = ranksOfConfig(config);
            if (!group.name.empty())
                header.groups.push_back(std::move(group));
        }
}

} // namespace

void readHeaderEntry(std::string_view key, JsonValue value, TraceHeader &header)
{
    if (key == "baseTimeNanoseconds") {
        const auto base = wholeNumber(value);
        header.hasBase = base && *base > 0 && *base < kMostBase;
        header.base = header.hasBase ? *base : 0;
    } else if (key == "distributedInfo") {
        readDistributed(Json::parse(value, nullptr, false), header);
    } else if (key == "host_name") {
        header.host = plainText(value).substr(0, kMostHeaderText);
    } else if (key == "deviceProperties") {
        const Json devices = Json::parse(value, nullptr, false);
        if (devices.is_array())
            for (const Json &device : devices)
                header.gpus.push_back(device.is_object() ? textOf(device, "name") : std::string());
    }
}

std::vector<int> readRanks(std::string_view text)
{
    std::vector<int> ranks;
    if (text.find("...") != std::string_view::npos)
        return ranks;
    for (std::size_t at = 0; at < text.size();) {
        if (!std::isdigit(static_cast<unsigned char>(text[at]))) {
            ++at;
            continue;
        }
        int rank = 0;
        const auto read = std::from_chars(text.data() + at, text.data() + text.size(), rank);
        if (read.ec != std::errc())
            return {};
        ranks.push_back(rank);
        at = static_cast<std::size_t>(read.ptr - text.data());
    }
    return ranks;
}

int rankOfFileName(std::string_view path)
{
    const std::string name = lowered(path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1));
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (at > 0 && std::islower(static_cast<unsigned char>(name[at - 1])))
            continue;
        for (const std::string_view word : { "rank", "worker", "r" }) {
            std::string_view rest = std::string_view(name).substr(at);
            if (!rest.starts_with(word))
                continue;
            rest.remove_prefix(word.size());
            if (rest.starts_with('-') || rest.starts_with('_'))
                rest.remove_prefix(1);
            int rank = -1;
            const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), rank);
            if (read.ec == std::errc() && rank >= 0 && rank < kMostRanks)
                return rank;
        }
    }
    return -1;
}

} // namespace trainyard::readers

// SPDX-License-Identifier: GPL-3.0-or-later
// The head of a file of rows, read back.
#include "core/facts/plan/json_document_internal.h"
#include "core/facts/plan/plan_io.h"
#include "core/planner/sweep/sweep_lines.h"

#include <filesystem>

namespace trainyard {

namespace {

using detail::Json;

constexpr std::string_view kCsvStart = "# trainyard sweep ";
constexpr std::string_view kJsonStart = R"({"format":"trainyard.sweep",)";
constexpr const char *kWhatIsRight = "a file that `trainyard-cli sweep` wrote";

std::optional<std::uint64_t> wholeAt(const Json &head, const char *key)
{
    const auto found = head.find(key);
    return found != head.end() && found->is_number_unsigned() ? std::optional(found->get<std::uint64_t>())
                                                              : std::nullopt;
}

/// Empty where there is none.
std::string textAt(const Json &object, const char *key)
{
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<SweepAxis> axisOf(const Json &json)
{
    if (!json.is_object() || !json.contains("key") || !json["key"].is_string() || !json.contains("values")
        || !json["values"].is_array() || json["values"].empty() || json["values"].size() > kMostAxisValues)
        return std::nullopt;
    SweepAxis axis { json["key"].get<std::string>(), {} };
    for (const Json &value : json["values"]) {
        if (!value.is_string())
            return std::nullopt;
        axis.values.push_back(value.get<std::string>());
    }
    return axis;
}

} // namespace

bool isSweepHead(std::string_view line)
{
    return line.starts_with(kCsvStart) || line.starts_with(kJsonStart);
}

ExpectedAll<SweepSpec> parseSweepHead(std::string_view line, const std::string &fileName, const std::string &baseDir)
{
    const auto refused = [&](std::string what) {
        return std::unexpected(Errors { { ErrorCode::BadSyntax, fileName + ":1", std::move(what), kWhatIsRight } });
    };
    if (line.starts_with(kCsvStart))
        line.remove_prefix(kCsvStart.size());
    else if (!line.starts_with(kJsonStart))
        return refused("no head of a sweep");
    const auto parsed = detail::parseJson(line, fileName);
    if (!parsed)
        return std::unexpected(parsed.error());
    const Json &head = *parsed;
    if (!head.is_object() || head.value("format", Json()) != "trainyard.sweep")
        return refused("no head of a sweep");
    if (wholeAt(head, "version") != 1)
        return refused("the head is of another version, " + detail::brief(head.value("version", Json())));
    const auto random = wholeAt(head, "random"), seed = wholeAt(head, "seed");
    if (!random || !seed || !head.contains("vary") || !head["vary"].is_array() || !head.contains("plan"))
        return refused("the head lacks one of random, seed, vary and plan");
    SweepSpec spec { nullptr, {}, *random, *seed };
    for (const Json &item : head["vary"]) {
        auto axis = axisOf(item);
        if (!axis)
            return refused("vary has " + detail::brief(item) + ", which is no key with values");
        spec.vary.push_back(std::move(*axis));
    }
    spec.program = textAt(head, "program");
    spec.folder = textAt(head, "folder");
    for (const Json &item : head.value("inputs", Json::array())) {
        if (!item.is_object() || textAt(item, "path").empty())
            return refused("inputs has " + detail::brief(item) + ", which names no file");
        spec.inputs.push_back({ textAt(item, "path"), textAt(item, "fingerprint") });
    }
    auto plan = parsePlan(head["plan"].dump(-1, ' ', false, Json::error_handler_t::replace), fileName,
        spec.folder.empty() ? baseDir : (std::filesystem::path(baseDir) / spec.folder).lexically_normal().string());
    if (!plan)
        return std::unexpected(plan.error());
    spec.plan = std::make_shared<const Plan>(std::move(*plan));
    if (spec.vary.empty() || spec.rows() > kMostSweepRows)
        return refused("vary gives no rows, or too many");
    return spec;
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
// One function a step from version n to n + 1. They run on the raw document, before any check, so they must take any
// shape of JSON. tests/data/plans holds a sample of every version.
#include "core/facts/plan/plan_json_internal.h"

#include <array>

namespace trainyard::detail {

namespace {

/// Renames a key where it stands.
void rename(Json &object, std::string_view from, const char *to)
{
    if (!object.is_object() || object.contains(to))
        return;
    Json renamed = Json::object();
    for (auto &[key, item] : object.items())
        renamed[key == from ? std::string(to) : key] = std::move(item);
    object = std::move(renamed);
}

Json *child(Json &object, const char *key)
{
    return object.is_object() && object.contains(key) ? &object[key] : nullptr;
}

/// The pre-release draft: `cluster.links` with `rtt_s`, `workload.tokens`, `strategy` for `parallelism`.
void draftToOne(Json &plan)
{
    rename(plan, "strategy", "parallelism");
    if (Json *workload = child(plan, "workload"))
        rename(*workload, "tokens", "training_tokens");
    Json *cluster = child(plan, "cluster");
    if (!cluster)
        return;
    rename(*cluster, "links", "wan_links");
    Json *links = child(*cluster, "wan_links");
    if (!links || !links->is_array())
        return;
    for (Json &link : *links) {
        if (!link.is_object() || !link.contains("rtt_s") || link.contains("rtt_ms"))
            continue;
        rename(link, "rtt_s", "rtt_ms");
        if (Json *rtt = child(link, "rtt_ms"); rtt && rtt->is_number())
            *rtt = numberToJson(rtt->get<double>() * 1000);
    }
}

constexpr std::array kMigrations { &draftToOne }; // [n]: from version n to n + 1
static_assert(kMigrations.size() == Plan::kVersion, "every version has a step to the next");

} // namespace

Expected<Json> migrated(Json document, const std::string &fileName)
{
    if (!document.is_object())
        return document; // the reader says what is wrong
    const Json format = document.value("format", Json(kFormat));
    if (format != kFormat)
        return std::unexpected(Error { ErrorCode::BadSyntax, fileName + ": /format", "format is " + brief(format),
            std::string("\"") + kFormat + "\"" });
    const Json version = document.value("version", Json(Plan::kVersion));
    const std::string known = std::to_string(Plan::kVersion);
    if (version.is_number_unsigned() && version.get<std::uint64_t>() > Plan::kVersion)
        return std::unexpected(Error { ErrorCode::BadSyntax, fileName + ": /version",
            "the file is of version " + brief(version) + ", written by a newer Trainyard",
            "a version up to " + known });
    if (!version.is_number_integer() || version.get<std::int64_t>() < 0)
        return std::unexpected(Error { ErrorCode::BadSyntax, fileName + ": /version", "version is " + brief(version),
            "a whole number from 0 to " + known });
    for (auto n = version.get<std::size_t>(); n < kMigrations.size(); ++n)
        kMigrations[n](document);
    return document;
}

} // namespace trainyard::detail

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Documents against their own JSON Schemas: which keys each of the two names, and whether a document is valid.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

namespace trainyard::test {

using Json = nlohmann::json;

/// Paths of all keys: "cluster.datacenters[].id".
inline void addSchemaPaths(const Json &schema, const std::string &path, std::set<std::string> &paths)
{
    for (const char *several : { "anyOf" }) {
        if (schema.contains(several)) {
            for (const Json &one : schema[several])
                addSchemaPaths(one, path, paths);
        }
    }
    if (schema.contains("items"))
        addSchemaPaths(schema["items"], path + "[]", paths);
    if (const auto others = schema.find("additionalProperties");
        others != schema.end() && others->contains("properties")) {
        const std::string child = path + ".<gpu id>";
        paths.insert(child);
        addSchemaPaths(*others, child, paths);
    }
    if (!schema.contains("properties"))
        return;
    for (const auto &[name, inner] : schema["properties"].items()) {
        const std::string child = path.empty() ? name : path + "." + name;
        paths.insert(child);
        addSchemaPaths(inner, child, paths);
    }
}

inline void addPaths(const Json &value, const std::string &path, std::set<std::string> &paths)
{
    if (value.is_array()) {
        for (const Json &item : value)
            addPaths(item, path + "[]", paths);
    } else if (value.is_object()) {
        for (const auto &[name, inner] : value.items()) {
            const std::string child = path.empty() ? name : path + "." + name;
            paths.insert(child);
            addPaths(inner, child, paths);
        }
    }
}

/// Each value that has none inside: "cluster.datacenters[0].id" and what is there.
inline void eachLeaf(
    const Json &value, const std::string &path, const std::function<void(const std::string &, const Json &)> &visit)
{
    if (!value.is_structured())
        return visit(path, value);
    std::size_t index = 0;
    for (const auto &[name, inner] : value.items())
        eachLeaf(inner,
            value.is_array()   ? path + "[" + std::to_string(index++) + "]"
                : path.empty() ? name
                               : path + "." + name,
            visit);
}

/// Just enough of draft-07 for our own schemas.
inline bool accepts(const Json &schema, const Json &value)
{
    if (schema.contains("anyOf")) {
        const auto &several = schema["anyOf"];
        if (std::none_of(several.begin(), several.end(), [&](const Json &one) { return accepts(one, value); }))
            return false;
    }
    if (schema.contains("const") && schema["const"] != value)
        return false;
    if (schema.contains("enum")
        && std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
        return false;
    if (schema.contains("type")) {
        const auto isType = [&](const std::string &type) {
            return (type == "object" && value.is_object()) || (type == "array" && value.is_array())
                || (type == "string" && value.is_string()) || (type == "number" && value.is_number())
                || (type == "integer" && value.is_number_integer()) || (type == "boolean" && value.is_boolean())
                || (type == "null" && value.is_null());
        };
        const Json types = schema["type"].is_array() ? schema["type"] : Json::array({ schema["type"] });
        if (std::none_of(types.begin(), types.end(), [&](const Json &type) { return isType(type.get<std::string>()); }))
            return false;
    }
    if (value.is_number()) {
        if ((schema.contains("minimum") && value < schema["minimum"])
            || (schema.contains("maximum") && value > schema["maximum"])
            || (schema.contains("exclusiveMinimum") && value <= schema["exclusiveMinimum"]))
            return false;
    }
    if (value.is_array() && schema.contains("items")
        && std::any_of(value.begin(), value.end(), [&](const Json &item) { return !accepts(schema["items"], item); }))
        return false;
    if (!value.is_object())
        return true;
    if (schema.contains("required")) {
        for (const Json &key : schema["required"]) {
            if (!value.contains(key.get<std::string>()))
                return false;
        }
    }
    if (schema.contains("properties")) {
        for (const auto &[key, inner] : schema["properties"].items()) {
            if (value.contains(key) && !accepts(inner, value[key]))
                return false;
        }
    }
    return true;
}

} // namespace trainyard::test

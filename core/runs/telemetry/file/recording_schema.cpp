// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/file/recording_fields_internal.h"
#include "core/runs/telemetry/file/source_kind_ids.h"
#include "core/runs/telemetry/recording_file.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace trainyard {

namespace recording_file {

namespace {

using Json = nlohmann::ordered_json;

/// Visits empty values and writes down what a file has in their place.
class SchemaMaker {
public:
    Json properties = Json::object();

    void text(const char *name, const std::string &, const char *meaning)
    {
        add(name, { { "type", "string" } }, meaning);
    }
    void flag(const char *name, bool, const char *meaning) { add(name, { { "type", "boolean" } }, meaning); }
    template <class T> void whole(const char *name, const T &, const char *meaning)
    {
        add(name, wholeOf<T>(), meaning);
    }
    void real(const char *name, double, const char *meaning) { add(name, realNumber(), meaning); }
    void known(const char *name, int, const char *meaning) { add(name, orNull(wholeFrom(0)), meaning); }
    void index(const char *name, std::uint32_t, const char *meaning) { add(name, orNull(wholeFrom(0)), meaning); }
    void kind(const char *name, SourceKind, const char *meaning)
    {
        Json ids = Json::array();
        for (std::size_t i = 0; i < kSourceKinds; ++i)
            ids.push_back(idOf(static_cast<SourceKind>(i)));
        add(name, { { "enum", ids } }, meaning);
    }
    void texts(const char *name, const std::vector<std::string> &, const char *meaning)
    {
        add(name, arrayOf({ { "type", "string" } }), meaning);
    }
    void wholes(const char *name, const std::vector<int> &, const char *meaning)
    {
        add(name, arrayOf({ { "type", "integer" } }), meaning);
    }
    void map(const char *name, const std::map<std::string, std::string> &, const char *meaning)
    {
        add(name, { { "type", "object" }, { "additionalProperties", { { "type", "string" } } } }, meaning);
    }
    template <class T> void list(const char *name, const std::vector<T> &, const char *meaning)
    {
        add(name, arrayOf(objectOf<T>()), meaning);
    }
    template <class T> void object(const char *name, const T &, const char *meaning)
    {
        add(name, objectOf<T>(), meaning);
    }
    template <class T> void table(const char *name, const std::vector<T> &rows, const char *meaning)
    {
        SchemaMaker columns;
        describeColumns(columns, rows);
        Json json { { "type", "object" } };
        for (const auto &column : columns.properties.items())
            json["required"].push_back(column.key());
        json["properties"] = columns.properties;
        add(name, json, meaning);
    }
    template <class T> void column(const char *name, const std::vector<T> &, Coding coding, const char *meaning)
    {
        add(name, arrayOf(cell<T>(coding)), meaning);
        if (coding == Coding::Difference)
            properties[name]["$comment"] = kDifferences;
    }
    void launches(const char *name, const std::vector<Moment> &, const std::vector<Moment> &, const char *meaning)
    {
        add(name, arrayOf(orNull(wholeOf<std::int64_t>())), meaning);
    }
    template <class T, class Value>
    void rows(const char *name, const std::vector<T> &, Value T::*, Coding coding, const char *meaning)
    {
        column(name, std::vector<Value> {}, coding, meaning);
    }

private:
    static constexpr const char *kDifferences =
        "Each number is the difference to the one before, the first to 0; sums are 64-bit integers that wrap";

    static Json wholeFrom(std::int64_t least) { return { { "type", "integer" }, { "minimum", least } }; }
    template <class T> static Json wholeOf()
    {
        if constexpr (std::same_as<T, std::uint32_t>)
            return { { "type", "integer" }, { "minimum", 0 }, { "maximum", std::numeric_limits<T>::max() } };
        return { { "type", "integer" } };
    }
    static Json realNumber()
    {
        return { { "anyOf",
            { { { "type", Json::array({ "number", "null" }) } }, { { "enum", { "Infinity", "-Infinity" } } } } } };
    }
    static Json orNull(Json schema)
    {
        schema["type"] = Json::array({ schema["type"], "null" });
        return schema;
    }
    static Json arrayOf(const Json &items) { return { { "type", "array" }, { "items", items } }; }
    template <class T> static Json objectOf()
    {
        SchemaMaker inside;
        const T empty {};
        describe(inside, empty);
        return { { "type", "object" }, { "properties", inside.properties } };
    }
    template <class T> static Json cell(Coding coding)
    {
        if constexpr (std::same_as<T, double>)
            return realNumber();
        else if constexpr (std::same_as<T, RecordedWork>)
            return { { "type", "integer" }, { "minimum", 0 }, { "maximum", int(RecordedWork::Other) } };
        else if (coding == Coding::Difference)
            return { { "type", "integer" } };
        else
            return coding == Coding::OrNull ? orNull(wholeOf<T>()) : wholeOf<T>();
    }
    void add(const char *name, Json schema, const char *meaning)
    {
        schema["description"] = meaning;
        properties[name] = std::move(schema);
    }
};

} // namespace

} // namespace recording_file

std::string recordingSchema()
{
    using recording_file::Json;
    Json schema { { "$schema", "https://json-schema.org/draft/2020-12/schema" }, { "title", "Trainyard recording" },
        { "description",
            "What was measured of a training run. A *.trainyard-recording is this object as gzip. Empty texts and "
            "lists "
            "are left out; a moment is a number of nanoseconds since zero_unix_ns" },
        { "type", "object" }, { "required", { "format", "version" } } };
    recording_file::SchemaMaker maker;
    maker.properties["format"] = { { "const", recording_file::kFormat } };
    maker.properties["version"] = { { "const", Recording::kVersion } };
    const Recording empty;
    recording_file::describe(maker, empty);
    schema["properties"] = maker.properties;
    return schema.dump(2) + "\n";
}

} // namespace trainyard

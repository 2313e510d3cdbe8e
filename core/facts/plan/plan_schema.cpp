// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/parse.h"
#include "core/facts/plan/calibration.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/key_list.h"
#include "core/facts/plan/keys/plan_keys.h"
#include "core/facts/plan/plan_io.h"
#include "core/facts/plan/plan_json_internal.h"

namespace trainyard::detail {

namespace {

template <class T> Json schemaOf(const Key &key);

Json numberSchema(const Key &key, bool whole)
{
    Json schema { { "type", whole ? "integer" : "number" } };
    schema[key.isAboveMin ? "exclusiveMinimum" : "minimum"] = numberToJson(key.min);
    if (key.max < keys::kHuge)
        schema["maximum"] = numberToJson(key.max);
    return schema;
}

Json anyOf(std::initializer_list<Json> alternatives)
{
    Json list = Json::array();
    for (const Json &alternative : alternatives)
        list.push_back(alternative);
    Json schema = Json::object();
    schema["anyOf"] = std::move(list);
    return schema;
}

Json listOf(Json items)
{
    Json schema { { "type", "array" } };
    schema["items"] = std::move(items);
    return schema;
}

Json nameSchema()
{
    return Json { { "type", "string" } };
}

Json enumSchema(EnumNames names)
{
    Json schema = nameSchema();
    for (const EnumName &one : names)
        schema["enum"].push_back(one.name);
    return schema;
}

/// Entries of other versions may be anything.
Json calibrationEntry()
{
    const auto number = [](double least) { return Json { { "type", "number" }, { "minimum", least } }; };
    Json schema = Json::object();
    Json &keys = schema["properties"];
    for (int part = 0; part <= int(CalibratedPart::Overlap); ++part)
        keys["what"]["enum"].push_back(toString(CalibratedPart(part)));
    keys["where"] = Json { { "type", "object" } };
    for (const char *key : { "factor", "gbytes_per_s" })
        keys[key] = Json { { "type", "number" }, { "exclusiveMinimum", 0 } };
    for (const char *key :
        { "latency_us", "samples", "standard_error", "latency_error_us", "error_before", "error_after" })
        keys[key] = number(0);
    keys["r2"] = Json { { "type", "number" } };
    keys["recording"] = nameSchema();
    keys["fitted_on"] = Json { { "type", "object" } };
    keys["accepted"] = Json { { "type", "boolean" } };
    return schema;
}

/// An object whose keys are known by name only.
Json objectWithKeys(const std::vector<std::string> &keys)
{
    Json schema { { "type", "object" } };
    for (const std::string &key : keys)
        schema["properties"][key] = Json::object();
    return schema;
}

template <class Owner> class SchemaBuilder {
public:
    template <class T> void value(T Owner::*, const Key &key)
    {
        Json schema = schemaOf<T>(key);
        add(key, kIsOptional<T> ? anyOf({ schema, Json { { "type", "null" } } }) : schema);
    }

    template <class T> void automatic(std::optional<T> Owner::*, const Key &key)
    {
        add(key, anyOf({ numberSchema(key, std::is_integral_v<T>), Json { { "const", "auto" } } }));
    }

    template <class T> void perStage(std::vector<T> Owner::*, const Key &key)
    {
        const Json number = numberSchema(key, std::is_integral_v<T>);
        add(key, anyOf({ number, listOf(number) }));
    }

    template <class T> void byGpu(std::map<std::string, T> Owner::*, const Key &key)
    {
        m_others = schemaOf<T>(key);
        m_others["description"] = sentenceOf(key);
    }

    void byMicroBatch(TimeByMicroBatch Owner::*, const Key &key)
    {
        Json times { { "type", "object" } };
        times["additionalProperties"] = numberSchema(Key("", "", keys::upTo(keys::kHuge)), false);
        add(key, times);
    }

    void gpu(const Key &key) { add(key, anyOf({ nameSchema(), objectWithKeys(gpuKeys()) })); }
    void model(const Key &key) { add(key, anyOf({ nameSchema(), objectWithKeys(modelKeys()) })); }

    void between(const Key &key)
    {
        Json pair = listOf(nameSchema());
        pair["minItems"] = pair["maxItems"] = 2;
        add(key, pair);
    }

    void directions(const Key &key)
    {
        Json pair = listOf(numberSchema(key, false));
        pair["minItems"] = pair["maxItems"] = 2;
        add(key, anyOf({ numberSchema(key, false), pair, Json { { "type", "null" } } }));
    }

    void stack(const Key &key)
    {
        Json object = schemaOf<Stack>(key);
        object["properties"]["release"]["type"] = Json::array({ "string", "null" });
        for (const std::string &name : stackKeys())
            object["properties"][name]["type"] = Json::array({ "number", "boolean" });
        object["additionalProperties"] = false;
        add(key, anyOf({ nameSchema(), object }));
    }

    void calibration(const Key &key)
    {
        Json schema { { "type", "object" } };
        schema["additionalProperties"] = calibrationEntry();
        add(key, schema);
    }

    Json take()
    {
        Json schema { { "type", "object" } };
        if (!m_required.empty())
            schema["required"] = m_required;
        schema["properties"] = std::move(m_properties);
        if (!m_others.is_null())
            schema["additionalProperties"] = std::move(m_others);
        return schema;
    }

private:
    void add(const Key &key, Json schema)
    {
        schema["description"] = sentenceOf(key);
        m_properties[key.name] = std::move(schema);
        if (key.isRequired)
            m_required.push_back(key.name);
    }

    Json m_properties = Json::object();
    Json m_required = Json::array();
    Json m_others; // of keys that are names; null: any value
};

template <class T> Json schemaOf(const Key &key)
{
    if constexpr (kIsOptional<T>) {
        return schemaOf<typename T::value_type>(key);
    } else if constexpr (kIsList<T>) {
        return listOf(schemaOf<typename T::value_type>(key));
    } else if constexpr (std::is_enum_v<T>) {
        return enumSchema(kNamesOf<T>);
    } else if constexpr (std::is_same_v<T, bool>) {
        return Json { { "type", "boolean" } };
    } else if constexpr (std::is_arithmetic_v<T>) {
        return numberSchema(key, std::is_integral_v<T>);
    } else if constexpr (std::is_same_v<T, std::string>) {
        return nameSchema();
    } else {
        SchemaBuilder<T> builder;
        describe(builder, keys::Of<T> {});
        return builder.take();
    }
}

Json buildPlanSchema()
{
    Json schema { { "$schema", "http://json-schema.org/draft-07/schema#" },
        { "title", "Trainyard plan, *.trainyard.json" } };
    Json content = schemaOf<Plan>(Key("", ""));
    Json properties = Json::object();
    properties["format"] = { { "const", kFormat }, { "description", "Tells the file from others" } };
    properties["version"] = { { "type", "integer" }, { "minimum", 0 }, { "maximum", Plan::kVersion },
        { "description", "Version of the format; older ones are migrated" } };
    properties.update(content["properties"]);
    content["properties"] = std::move(properties);
    schema.update(content);
    for (const char *trained : { "workload", "jobs", "job_grid" }) // one of them
        schema["anyOf"].push_back({ { "required", Json::array({ trained }) } });
    return schema;
}

} // namespace

const Json &planSchemaJson()
{
    static const Json schema = buildPlanSchema();
    return schema;
}

} // namespace trainyard::detail

namespace trainyard {

std::string planSchema()
{
    return detail::planSchemaJson().dump(2) + "\n";
}

} // namespace trainyard

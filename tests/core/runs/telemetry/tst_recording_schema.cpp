// SPDX-License-Identifier: GPL-3.0-or-later
// The schema of recordings, held to what is written.
#include "core/runs/telemetry/recording_file.h"
#include "tests/support/test_program.h"

#include "tests/core/runs/telemetry/random_recording.h"
#include "tests/core/runs/telemetry/recording_text.h"

#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

using namespace trainyard;
using nlohmann::json;
using testing::RandomRecording;
using testing::textOf;

class TestRecordingSchema : public QObject {
    Q_OBJECT

private slots:
    /// Every key of every written file stands in the schema, with its type.
    void theSchemaDescribesWhatIsWritten()
    {
        const json schema = json::parse(recordingSchema());
        QCOMPARE(
            schema.at("properties").at("format").at("const").get<std::string>(), std::string("trainyard.recording"));
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            const std::string fault = misfit(json::parse(textOf(RandomRecording(seed)())), schema, "");
            QVERIFY2(fault.empty(), fault.c_str());
        }
    }

private:
    static bool isOfType(const json &value, const std::string &type)
    {
        return type == "object" ? value.is_object()
            : type == "array"   ? value.is_array()
            : type == "string"  ? value.is_string()
            : type == "boolean" ? value.is_boolean()
            : type == "integer" ? value.is_number_integer()
            : type == "number"  ? value.is_number()
                                : value.is_null();
    }
    /// As much of JSON Schema as the schema of recordings uses; empty: it fits.
    static std::string misfit(const json &value, const json &schema, const std::string &where)
    {
        if (schema.contains("anyOf"))
            return std::ranges::any_of(
                       schema["anyOf"], [&](const json &one) { return misfit(value, one, where).empty(); })
                ? ""
                : where + " fits none";
        if (schema.contains("const") && value != schema["const"])
            return where + " is not the constant";
        if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
            return where + " is none of the names";
        if (schema.contains("type")) {
            const json &type = schema["type"];
            const bool fits = type.is_string()
                ? isOfType(value, type)
                : std::ranges::any_of(type, [&](const json &one) { return isOfType(value, one); });
            if (!fits)
                return where + " has another type";
        }
        if (value.is_number() && value < schema.value("minimum", json(-1e300)))
            return where + " is too small";
        if (value.is_array())
            for (const json &item : value)
                if (std::string fault = misfit(item, schema.at("items"), where + "/#"); !fault.empty())
                    return fault;
        if (!value.is_object())
            return "";
        for (const auto &[key, inside] : value.items()) {
            const bool isListed = schema.contains("properties") && schema["properties"].contains(key);
            if (!isListed && !schema.contains("additionalProperties"))
                return where + "/" + key + " is not described";
            const json &own = isListed ? schema["properties"][key] : schema["additionalProperties"];
            if (isListed && own.value("description", own.value("const", json()).dump()).empty())
                return where + "/" + key + " has no meaning";
            if (std::string fault = misfit(inside, own, where + "/" + key); !fault.empty())
                return fault;
        }
        return "";
    }
};

TRAINYARD_APPLESS_TEST(TestRecordingSchema)
#include "tst_recording_schema.moc"

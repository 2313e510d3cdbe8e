// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/stream_lines.h"

#include <nlohmann/json.hpp>

namespace trainyard::live {

namespace {

using Json = nlohmann::ordered_json;

Json told(Json schema, const char *meaning)
{
    schema["description"] = meaning;
    return schema;
}

Json whole(std::int64_t least)
{
    return { { "type", "integer" }, { "minimum", least } };
}

Json words()
{
    return { { "type", "string" } };
}

Json oneOrMany(const Json &value)
{
    return { { "anyOf", { value, { { "type", "array" }, { "items", value } } } } };
}

Json real()
{
    return { { "anyOf",
        { { { "type", { "number", "null" } } }, { { "enum", { "NaN", "Infinity", "-Infinity" } } } } } };
}

Json moment(const char *meaning)
{
    return told(oneOrMany(whole(0)), meaning);
}

/// Every event may name whose it is.
Json event(const char *name, const char *columns, Json properties, Json required)
{
    Json names = Json::array({ name });
    if (columns)
        names.push_back(columns);
    Json all { { "event", { { "enum", names } } } };
    all["rank"] = told({ { "type", { "integer", "null" } }, { "minimum", 0 }, { "maximum", (1 << 24) - 1 } },
        "Whose it is; absent: the rank of the connection's first hello, null: nobody's");
    all["host"] = told(words(), "Host of the rank; only needed where several hosts claim one rank");
    all.update(properties);
    required.insert(required.begin(), "event");
    return { { "type", "object" }, { "properties", all }, { "required", required } };
}

Json streamKeys()
{
    return { { "stream", told(words(), "Name of the stream that it ran on: \"compute\", \"comm\"") },
        { "gpu_stream", told({ { "type", "boolean" } }, "false: of the host, not of the device; absent: true") },
        { "device", told(whole(0), "Index of the device in its process, where it has several") },
        { "stream_number",
            told({ { "type", "integer" } }, "Number of the stream, where names do not tell them apart") },
        { "work",
            told(oneOrMany({ { "enum",
                     { "compute", "communication", "copy", "wait", "host_call", "host_operator", "annotation",
                         "other" } } }),
                "What it keeps busy; absent: other") },
        { "start_ns", moment("Unix time, ns") }, { "duration_ns", moment("ns") },
        { "end_ns", moment("Unix time, ns; in place of duration_ns") },
        { "launched_ns",
            told(oneOrMany({ { "type", { "integer", "null" } } }), "When the host launched it, Unix ns") } };
}

Json spans()
{
    Json keys = streamKeys();
    keys["name"] = told(oneOrMany(words()), "What ran");
    return event("span", "spans", keys, { "name", "start_ns" });
}

Json collectives()
{
    Json keys = streamKeys();
    keys["name"] = told(oneOrMany(words()), "Of its span, where it names a stream; absent: its operation");
    keys["group"] = told(oneOrMany({ { "type", { "string", "null" } } }), "Name of a group that was told");
    keys["operation"] =
        told(oneOrMany(words()), "As nccl-tests call it: all_reduce, all_gather, reduce_scatter, alltoall, sendrecv");
    keys["bytes"] = told(oneOrMany({ { "type", "number" }, { "minimum", 0 } }), "Message, as nccl-tests count it");
    keys["sequence"] = told(oneOrMany(whole(-1)), "Number in its group, equal on all of its ranks; -1: not told");
    return event("collective", "collectives", keys, { "operation", "start_ns" });
}

Json samples()
{
    return event("sample", "samples",
        { { "name",
              told(words(), "loss, step_time, power …: core/runs/telemetry/sample_names.h, or a name of your own") },
            { "unit", told(words(), "1, s, B, W, B/s, TFLOP/s …") },
            { "where", told(words(), "GPU, host or link that it is of: n0/gpu3") },
            { "value", told(oneOrMany(real()), "NaN and Infinity may also stand bare, as Python writes them") },
            { "step", told(oneOrMany({ { "type", "integer" } }), "Number of the step that it is of") },
            { "at_ns", moment("Unix time, ns, in place of step; with neither, the time at which it arrives") } },
        { "name", "value" });
}

} // namespace

std::string streamSchema()
{
    const Json hello = event("hello", nullptr,
        { { "format", { { "const", std::string(kStreamFormat) } } }, { "version", { { "const", kStreamVersion } } },
            { "run", told(words(), "Name of the run") }, { "world_size", told(whole(0), "Ranks of the run") },
            { "gpu", told(words(), "Name of the rank's device") },
            { "token", told(words(), "What the listener wants to be shown") } },
        { "format", "version" });
    const Json arguments = event("arguments", nullptr,
        { { "values", told({ { "type", "object" } }, "What the run was started with, by the framework's names") } },
        { "values" });
    const Json group = event("group", nullptr,
        { { "name", told(words(), "As collectives name it") },
            { "description", told(words(), "tensor, data, pipeline") },
            { "ranks", { { "type", "array" }, { "items", whole(0) } } } },
        { "name", "ranks" });
    const Json step = event("step", "steps",
        { { "number", oneOrMany({ { "type", "integer" } }) }, { "start_ns", moment("Unix time, ns") },
            { "end_ns", moment("Unix time, ns") } },
        { "number", "start_ns", "end_ns" });
    const Json schema { { "$schema", "https://json-schema.org/draft/2020-12/schema" },
        { "title", "Line of a Trainyard telemetry stream" },
        { "description",
            "One JSON object a line. A connection begins with a hello; further hellos tell of other ranks. Events of a "
            "kind may share a line as columns of one length, beside values that hold for all of them. Unknown keys and "
            "events are left out. docs/live-stream.md has examples and limits." },
        { "oneOf",
            { hello, arguments, group, step, spans(), collectives(), samples(),
                event("end", nullptr, Json::object(), Json::array()) } } };
    return schema.dump(2) + "\n";
}

} // namespace trainyard::live

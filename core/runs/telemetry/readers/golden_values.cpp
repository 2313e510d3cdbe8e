// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/experiment_json.h"
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/text_scan.h"

namespace trainyard::readers {

namespace {

/// Values by step, or in a list from start_step on (until 2025); false where there are none.
bool addValues(SeriesBook &book, const std::string &key, LooseJsonValue told, RecordedSource &made)
{
    const LooseJsonValue values = told["values"];
    if (!values)
        return false;
    const auto number = [&](const char *name, double otherwise) {
        const LooseJsonValue own = told[name];
        const double value = own.isNumber() ? own.numberOr(otherwise) : otherwise;
        return value >= 0 && value < 1e12 ? value : otherwise;
    };
    const double start = number("start_step", 0), interval = number("step_interval", 1);
    const MetricName metric = metricOfTag(key);
    double count = 0;
    for (const LooseJsonValue one : values) {
        auto step = static_cast<std::int64_t>(start + count++ * interval);
        if (values.isObject()) {
            std::string_view text = one.key();
            const auto own = takeWhole(text);
            if (!own) {
                drop(made, "values without a step");
                continue;
            }
            step = *own;
        }
        const auto value = one.finiteNumber();
        if (!value) {
            drop(made, "values that are no numbers");
            continue;
        }
        book.addStep(metric.name, metric.unit, step, *value * metric.factor);
        ++made.taken;
    }
    return true;
}

} // namespace

int looksLikeGoldenValues(std::string_view, std::string_view head)
{
    return trimmedStart(head).starts_with('{') && head.find("\"start_step\"") != head.npos
            && head.find("\"step_interval\"") != head.npos
        ? 96
        : 0;
}

Expected<Recording> readGoldenValues(const SourceText &source, const SourceOptions &)
{
    LooseJson json;
    json.read(source.text);
    Recording recording = recordingOf(source, SourceKind::MegatronGoldenValues);
    RecordedSource &made = recording.sources.front();
    SeriesBook book;
    for (const LooseJsonValue entry : json.root()) {
        const std::string key = entry.name().substr(0, 300);
        if (addValues(book, key, entry, made))
            continue;
        if (const auto value = entry.finiteNumber()) // "iteration_timing_avg"
            book.addStep("log." + key, "1", 0, *value);
        else
            drop(made, "entries without values");
    }
    if (made.taken == 0)
        return std::unexpected(Error {
            ErrorCode::BadSyntax, source.file, "It looks like golden values of Megatron's tests, but holds none", "" });
    made.isTruncated = made.isTruncated || json.isTruncated();
    if (json.isBroken())
        drop(made, "what stands behind byte " + std::to_string(json.end()) + ", which is no JSON", 1);
    book.close(recording, 0, "golden");
    return recording;
}

} // namespace trainyard::readers

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/experiment_json.h"
#include "core/runs/telemetry/readers/loose_value.h"
#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/text_scan.h"

namespace trainyard::readers {

namespace {

/// Values by step, or in a list from start_step on (until 2025); false where there are none.
bool addValues(SeriesBook &book, const std::string &key, const LooseValue &told, RecordedSource &made)
{
    const LooseValue *values = told.find("values");
    if (!values)
        return false;
    const auto number = [&](const char *name, double otherwise) {
        const LooseValue *own = told.find(name);
        return own && own->isNumber() && own->number >= 0 && own->number < 1e12 ? own->number : otherwise;
    };
    const double start = number("start_step", 0), interval = number("step_interval", 1);
    const MetricName metric = metricOfTag(key);
    for (std::size_t i = 0; i < values->items.size(); ++i) {
        double value = 0;
        auto step = static_cast<std::int64_t>(start + static_cast<double>(i) * interval);
        if (values->isMap()) {
            std::string_view text = values->keys[i];
            const auto own = takeWhole(text);
            if (!own) {
                drop(made, "values without a step");
                continue;
            }
            step = *own;
        }
        if (!values->items[i].holdsNumber(value)) {
            drop(made, "values that are no numbers");
            continue;
        }
        book.addStep(metric.name, metric.unit, step, value * metric.factor);
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
    const LooseText read = parseLoose(source.text);
    Recording recording = recordingOf(source, SourceKind::MegatronGoldenValues);
    RecordedSource &made = recording.sources.front();
    SeriesBook book;
    for (std::size_t i = 0; i < read.value.keys.size(); ++i) {
        double value = 0;
        const std::string &key = read.value.keys[i];
        if (addValues(book, key.substr(0, 300), read.value.items[i], made))
            continue;
        if (read.value.items[i].holdsNumber(value)) // "iteration_timing_avg"
            book.addStep("log." + key.substr(0, 300), "1", 0, value);
        else
            drop(made, "entries without values");
    }
    if (made.taken == 0)
        return std::unexpected(Error {
            ErrorCode::BadSyntax, source.file, "It looks like golden values of Megatron's tests, but holds none", "" });
    made.isTruncated = made.isTruncated || read.isTruncated;
    if (read.isBroken)
        drop(made, "what stands behind byte " + std::to_string(read.end) + ", which is no JSON", 1);
    book.close(recording, 0, "golden");
    return recording;
}

} // namespace trainyard::readers

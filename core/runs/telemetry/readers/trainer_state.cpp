// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/experiment_json.h"
#include "core/runs/telemetry/readers/hf_trainer.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <cmath>

namespace trainyard::readers {

int looksLikeTrainerState(std::string_view, std::string_view head)
{
    const bool isMap = trimmedStart(head).starts_with('{');
    return isMap && head.find("\"log_history\"") != head.npos                                       ? 96
        : isMap && head.find("\"best_metric\"") != head.npos && head.find("\"epoch\"") != head.npos ? 90
                                                                                                    : 0;
}

Expected<Recording> readTrainerState(const SourceText &source, const SourceOptions &)
{
    const LooseText read = parseLoose(source.text);
    const LooseValue *history = read.value.find("log_history");
    if (!history)
        return std::unexpected(Error { ErrorCode::BadSyntax, source.file,
            "It is a trainer_state.json of Hugging Face, but has no log_history", "" });
    Recording recording = recordingOf(source, SourceKind::HfTrainerState);
    RecordedSource &made = recording.sources.front();
    SeriesBook book;
    for (const LooseValue &entry : history->items) {
        const LooseValue *told = entry.find("step");
        double step = 0;
        if (!told || !told->holdsNumber(step) || !(std::abs(step) < 1e15)) {
            drop(made, "entries without a step");
            continue;
        }
        addTrainerEntry(book, entry, static_cast<std::int64_t>(step), made);
        ++made.taken;
    }
    addMeanStepTime(book, made);
    for (std::size_t i = 0; i < read.value.keys.size(); ++i)
        if (const LooseValue &value = read.value.items[i]; value.isNumber() && value.text.size() < 100)
            recording.arguments[read.value.keys[i]] = value.text;
    made.isTruncated = made.isTruncated || read.isTruncated;
    if (read.isBroken)
        drop(made, "what stands behind byte " + std::to_string(read.end) + ", which is no JSON", 1);
    drop(made, "values of steps that a later entry tells again", book.close(recording, 0, "trainer"));
    return recording;
}

} // namespace trainyard::readers

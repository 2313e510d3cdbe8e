#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a reader writes its findings into: one source with its notes and what was dropped of it, series by a key, points
// and ranks. Times are Unix nanoseconds while it reads; finish() finds the recording's zero, sorts series and leaves
// out samples that repeat. What it holds of one source is bounded (held_bytes.h): series and samples beyond that are
// counted as dropped. One thread.

#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/readers/held_bytes.h"

#include <limits>

namespace trainyard::readers {

class RecordingBuilder {
public:
    /// Of samples whose source tells no time: they come to stand at moment 0.
    static constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();
    static constexpr std::size_t kNewSeries = std::numeric_limits<std::size_t>::max();

    RecordingBuilder(const SourceText &text, SourceKind kind);
    [[nodiscard]] Recording &recording() { return m_recording; }
    [[nodiscard]] RecordedSource &source() { return m_recording.sources.front(); }

    void drop(std::string_view reason, std::int64_t count = 1);
    void note(std::string_view sentence); // equal ones once, forty at most

    [[nodiscard]] std::size_t seriesOf(std::string_view key) const; // kNewSeries where there is none
    /// Its texts as heldText(), those that other series have too held once; kNewSeries where there is no room for it:
    /// add() counts its samples as dropped.
    std::size_t addSeries(SampleSeries series);
    /// One that seriesOf() finds.
    std::size_t addSeries(std::string key, SampleSeries series);
    [[nodiscard]] HeldBytes &held() { return m_held; }
    /// Of its series. Who makes one there before its series counts it.
    [[nodiscard]] SharedTexts &texts() { return m_texts; }
    void add(std::size_t series, std::int64_t unixNanoseconds, double value);
    void add(BenchmarkPoint point);

    [[nodiscard]] Expected<Recording> finish();

private:
    void tidy(SampleSeries &series);
    Recording m_recording;
    HeldBytes m_held;
    SharedTexts m_texts; // of the series
    std::unordered_map<std::string, std::size_t> m_series;
};

/// "It is … : …" for a file that is recognised and holds nothing to read; readSource() makes a refused source of it.
[[nodiscard]] std::unexpected<Error> refusal(const SourceText &text, std::string sentence);

} // namespace trainyard::readers

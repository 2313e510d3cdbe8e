#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Series while a file is read: samples come in the order of the file, by step or by moment; each series is sorted when
// the book is closed, and of several values of one step the last stays, as a run that was restarted goes on from there.
// Also what every reader says of its source: what was left out and why, and notes. One thread. A RecordingBuilder
// collects series, too, of a file that is read whole: bounded by the bytes that it holds of the file, the first of
// repeated samples staying, ranks and points beside them. A book lasts while its source grows: series give what came
// since the last time and stay known, bounded by their number, the last of a step staying.

#include "core/runs/telemetry/read_sources.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace trainyard::readers {

class SeriesBook {
public:
    void addStep(std::string_view name, std::string_view unit, std::int64_t step, double value, int rank = -1);
    /// `at` is Unix time; close() makes it count from the recording's zero.
    void addMoment(std::string_view name, std::string_view unit, Moment at, double value, std::string_view where = {});
    [[nodiscard]] bool isEmpty() const { return m_series.empty(); }
    /// of the texts that its series hold
    [[nodiscard]] std::size_t textBytes() const { return m_texts.bytes(); }
    /// A series by step in the order of the file; nullptr without.
    [[nodiscard]] const SampleSeries *find(std::string_view name, int rank = -1) const;
    [[nodiscard]] SampleSeries *find(std::string_view name, int rank = -1);

    /// Moves the series into the recording, whose zero becomes the first moment where it had none. Series that the
    /// recording has already (by name, rank and place) get `family` in front: "deepspeed.step_time".
    /// Returns how many samples gave way to later ones of their step.
    std::int64_t close(Recording &recording, std::uint32_t source, std::string_view family);
    /// The same of the samples since the last time, under the names that are answered; the series stay known, without
    /// samples.
    using Naming = std::function<SharedText(const SampleSeries &)>;
    std::int64_t give(Recording &recording, std::uint32_t source, const Naming &nameOf);
    /// Series that were begun since the last time; they stay where they are.
    [[nodiscard]] std::vector<const SampleSeries *> takeBegun() { return std::exchange(m_begun, {}); }

private:
    struct Key {
        SharedText name, where;
        int rank = -1;
        bool isByStep = false;
    };
    struct Less { // of keys and of what they are looked for by, without a string made for it
        using is_transparent = void;
        template <class A, class B> bool operator()(const A &a, const B &b) const
        {
            return std::tuple(a.rank, std::string_view(a.name), std::string_view(a.where), a.isByStep)
                < std::tuple(b.rank, std::string_view(b.name), std::string_view(b.where), b.isByStep);
        }
    };
    struct Sought {
        std::string_view name, where;
        int rank;
        bool isByStep;
    };
    SampleSeries &of(const Sought &key, std::string_view unit);

    std::map<Key, SampleSeries, Less> m_series;
    /// names, units and places
    SharedTexts m_texts;
    std::vector<const SampleSeries *> m_begun;
};

/// Of samples at one step or moment.
enum class Repeated : std::uint8_t { AllStay, FirstStays, LastStays };
/// Sorts by step or moment, equal ones in the order of the file. Returns how many gave way.
std::int64_t sortSamples(SampleSeries &series, Repeated stays);
/// Counts `count` more for the reason.
void drop(RecordedSource &source, std::string_view reason, std::int64_t count = 1);
/// Once, however often it is said; forty at most.
void note(RecordedSource &source, std::string text);
/// An empty recording with one source of this kind.
[[nodiscard]] Recording recordingOf(const SourceText &source, SourceKind kind);

} // namespace trainyard::readers

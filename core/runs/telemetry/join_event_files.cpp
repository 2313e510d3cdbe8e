// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/join_event_files.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

std::string folderOf(const std::string &file)
{
    const std::size_t slash = file.find_last_of("/\\");
    return slash == std::string::npos ? std::string() : file.substr(0, slash);
}

/// What `earlier` tells from the first step of `later` on gives way to it. Returns how many samples gave way.
std::int64_t append(SampleSeries &earlier, const SampleSeries &later)
{
    const auto end = std::ranges::lower_bound(earlier.at, later.at.front());
    const auto kept = static_cast<std::size_t>(end - earlier.at.begin());
    const auto gaveWay = static_cast<std::int64_t>(earlier.at.size() - kept);
    earlier.at.resize(kept);
    earlier.value.resize(kept);
    earlier.at.insert(earlier.at.end(), later.at.begin(), later.at.end());
    earlier.value.insert(earlier.value.end(), later.value.begin(), later.value.end());
    return gaveWay;
}

} // namespace

void joinEventFiles(Recording &recording)
{
    using Key = std::tuple<std::string, std::string, int, std::string>;
    std::map<Key, std::size_t> first; // of each quantity and folder
    std::vector<bool> isJoined(recording.series.size(), false);
    for (std::size_t i = 0; i < recording.series.size(); ++i) {
        const SampleSeries &series = recording.series[i];
        if (!series.isByStep || series.at.empty() || series.source >= recording.sources.size()
            || recording.sources[series.source].kind != SourceKind::TensorBoardEvents)
            continue;
        RecordedSource &source = recording.sources[series.source];
        const auto [known, isNew] =
            first.try_emplace({ folderOf(source.file), series.name, series.rank, series.where }, i);
        if (isNew || recording.series[known->second].source == series.source)
            continue;
        const std::string reason = "values of steps that a later event file of the folder tells again";
        RecordedSource &before = recording.sources[recording.series[known->second].source];
        const std::int64_t gaveWay = append(recording.series[known->second], series);
        if (const auto same = std::ranges::find(before.dropped, reason, &Dropped::reason); same != before.dropped.end())
            same->count += gaveWay;
        else if (gaveWay > 0)
            before.dropped.push_back({ reason, gaveWay });
        const std::string told = "It goes on what an earlier event file of its folder tells";
        if (std::ranges::find(source.notes, told) == source.notes.end())
            source.notes.push_back(told);
        isJoined[i] = true;
    }
    std::size_t i = 0;
    std::erase_if(recording.series, [&](const SampleSeries &) { return isJoined[i++]; });
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
// Which ranks a run shows and which it does not, in words.
#include "core/runs/overlay/job_stages.h"
#include "models/text/format.h"
#include "views/run/run_text.h"
#include "views/run/run_words.h"

#include "core/base/ranges_text.h"

#include <QLocale>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kMostRanks = 65536; // a rank number of a file is anybody's
constexpr std::size_t kFewRanks = 128; // so many have a cell each, whoever recorded them

QString counted(qint64 number)
{
    return QLocale(QLocale::English).toString(number);
}

} // namespace

QString sizesSentence(const RunOverlay &overlay)
{
    const int run = overlay.run ? worldSizeOf(*overlay.run->recording) : 0;
    int other = 0;
    if (overlay.reference)
        other = worldSizeOf(*overlay.reference->recording);
    else if (overlay.evaluation && overlay.evaluation->plan)
        other = RankMap(*overlay.evaluation->plan, overlay.evaluation->layout, overlay.order).worldSize();
    if (run <= 0 || other <= 0 || run == other)
        return {};
    return runText("The run has %1, %2 %3. ")
        .arg(countOf(run, runText("rank"), runText("ranks")),
            overlay.reference ? nameOf(*overlay.reference) : runText("the plan"), counted(other));
}

std::vector<int> unrecordedRanks(const RunOverlay &overlay)
{
    std::vector<bool> isRecorded;
    const auto grow = [&](int ranks) {
        isRecorded.resize(std::max(isRecorded.size(), std::size_t(std::max(ranks, 0))));
    };
    for (const RankRecording &rank : overlay.run->recording->ranks)
        grow(std::min(std::max(rank.worldSize, rank.rank + 1), kMostRanks));
    if (!overlay.missingRanks.empty() && !overlay.reference) // of the plan, where it is what is compared with
        grow(std::min(overlay.missingRanks.back() + 1, kMostRanks));
    for (const RankRecording &rank : overlay.run->recording->ranks)
        if (rank.rank >= 0 && std::size_t(rank.rank) < isRecorded.size())
            isRecorded[std::size_t(rank.rank)] = true;
    std::vector<int> missing;
    for (std::size_t rank = 0; rank < isRecorded.size(); ++rank)
        if (!isRecorded[rank])
            missing.push_back(int(rank));
    return missing;
}

bool hasCellsForMissing(const RunOverlay &overlay, const std::vector<int> &missing)
{
    const std::size_t recorded = overlay.run->recording->ranks.size();
    return recorded + missing.size() <= kFewRanks || missing.size() <= recorded;
}

QString missingSentence(const RunOverlay &overlay)
{
    if (overlay.run->recording->ranks.empty())
        return {};
    const std::vector<int> missing = unrecordedRanks(overlay);
    if (missing.empty())
        return {};
    const bool isHatched = hasCellsForMissing(overlay, missing);
    if (missing.size() == 1)
        return runText("Rank %1 was not recorded; its place is hatched.").arg(missing.front());
    return runText("%1 ranks were not recorded: %2.")
               .arg(counted(qint64(missing.size())),
                   QString::fromStdString(rangesText({ missing.begin(), missing.end() }, 6)))
        + (isHatched ? runText(" Their places are hatched.") : QString());
}

} // namespace trainyard

// SPDX-License-Identifier: GPL-3.0-or-later
// Outages are marked once, wherever batches are cut, and nothing else is.
#include "core/live/decoders/series_gaps.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::live;

namespace {

Recording part(const std::vector<Moment> &seconds, Moment zero = 0)
{
    Recording made;
    made.zero = zero;
    SampleSeries series { .name = "power", .unit = "W", .where = "n0/gpu0" };
    for (const Moment second : seconds) {
        series.at.push_back(second * 1'000'000'000 - zero);
        series.value.push_back(double(second));
    }
    made.series.push_back(series);
    return made;
}

std::vector<Moment> marks(const Recording &recording)
{
    std::vector<Moment> found;
    const SampleSeries &series = recording.series.front();
    for (std::size_t i = 0; i < series.at.size(); ++i)
        if (std::isnan(series.value[i]))
            found.push_back((recording.zero + series.at[i]) / 1'000'000'000);
    return found;
}

using Moments = std::vector<Moment>;

} // namespace

class SeriesGapsTest : public QObject {
    Q_OBJECT
private slots:
    void anOutageIsMarkedWhereItBegins()
    {
        SeriesGaps gaps;
        Recording one = part({ 100, 105, 110, 140, 145 });
        gaps.mark(one);
        QCOMPARE(marks(one), Moments { 115 });
        QCOMPARE(gaps.gaps(), 1);
        QCOMPARE(gaps.newest(), Moment(145'000'000'000));
    }
    void aMissedScrapeIsNoOutage()
    {
        SeriesGaps gaps;
        Recording one = part({ 100, 105, 115, 120 });
        gaps.mark(one);
        QCOMPARE(marks(one), Moments {});
    }
    void whereverBatchesAreCutAGapIsToldOnce()
    {
        const Moments all { 100, 105, 110, 140, 145, 150, 190, 195 };
        for (std::size_t cut = 2; cut < all.size(); ++cut)
            for (std::size_t overlap = 0; overlap <= 2; ++overlap) {
                SeriesGaps gaps;
                Recording first = part({ all.begin(), all.begin() + std::ptrdiff_t(cut) }, 7),
                          second = part({ all.begin() + std::ptrdiff_t(cut - overlap), all.end() }, 11);
                gaps.mark(first);
                gaps.mark(second);
                Moments found = marks(first);
                const Moments more = marks(second);
                found.insert(found.end(), more.begin(), more.end());
                QCOMPARE(found, (Moments { 115, 155 }));
            }
    }
    void aSeriesThatIsToldLessOftenHasNoGapsInTheEnd()
    {
        SeriesGaps gaps;
        Recording one = part({ 100, 101, 102, 112, 122, 132, 142, 152 });
        gaps.mark(one);
        QCOMPARE(marks(one), (Moments { 103, 113 }));
    }
    void samplesBeforeWhatWasSeenChangeNothing()
    {
        SeriesGaps gaps;
        Recording late = part({ 100, 105, 110 }), early = part({ 10, 50, 110 });
        gaps.mark(late);
        gaps.mark(early);
        QCOMPARE(marks(early), Moments {});
        QCOMPARE(early.series.front().at.size(), std::size_t(3));
    }
};

TRAINYARD_APPLESS_TEST(SeriesGapsTest)
#include "tst_series_gaps.moc"

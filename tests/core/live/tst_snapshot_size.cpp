// SPDX-License-Identifier: GPL-3.0-or-later
// What a picture of a session costs does not grow with what the session was told.
#include "core/live/store.h"
#include "core/runs/telemetry/file/check_recording.h"
#include "tests/core/live/told_run.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;

class SnapshotSizeTest : public QObject {
    Q_OBJECT
private slots:
    /// However many series there are, a snapshot has about as many points as were asked for, with the least, the
    /// largest and gaps of each series in order; the whole has all of them.
    void aSnapshotOfManySeriesIsNoLargerThanOneOfFew()
    {
        constexpr int kSeries = 200, kSamples = 1'000;
        constexpr std::size_t kPoints = 40'000; // 200 a series
        Store store;
        std::mt19937_64 random(7);
        for (int one = 0; one < kSeries; ++one) {
            Batch batch;
            batch.received = kBegin;
            SampleSeries series { SharedText("series " + std::to_string(one)), "1", one, "", false, {}, {}, 0 };
            for (int i = 0; i < kSamples; ++i) {
                series.at.push_back(kBegin + i * 1'000'000'000LL);
                series.value.push_back(i == 400 + one ? std::nan("") : double(random() % 1'000));
            }
            series.value[std::size_t(one)] = -5'000;
            series.value[std::size_t(999 - one)] = 5'000;
            batch.part.series.push_back(std::move(series));
            store.take(std::move(batch));
        }
        const auto snapshot = store.snapshot({ .points = kPoints });
        QVERIFY(recording_file::checkRecording(*snapshot->recording).has_value());
        std::size_t points = 0, whole = 0;
        for (const SampleSeries &series : snapshot->recording->series) {
            points += series.at.size();
            QVERIFY(std::ranges::is_sorted(series.at));
            QCOMPARE(std::ranges::count(series.value, -5'000.0), 1);
            QCOMPARE(std::ranges::count(series.value, 5'000.0), 1);
            QCOMPARE(std::ranges::count_if(series.value, [](double one) { return std::isnan(one); }), 1);
        }
        QVERIFY2(points <= kPoints && points > kPoints / 2, std::to_string(points).c_str());
        for (const SampleSeries &series : store.whole().series)
            whole += series.at.size();
        QCOMPARE(whole, std::size_t(kSeries) * kSamples);
    }
};

TRAINYARD_APPLESS_TEST(SnapshotSizeTest)
#include "tst_snapshot_size.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// Names and places that many series have are in memory once, whoever read them.
#include "core/runs/telemetry/recording_file.h"
#include "tests/support/test_program.h"

#include "tests/core/runs/telemetry/read_text.h"
#include "tests/core/runs/telemetry/recording_text.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using testing::textOf;
using tests::readText;

namespace {

constexpr int kSeries = 100;

/// How many different bytes in memory hold the places of all series.
std::size_t placesHeld(const Recording &recording)
{
    std::vector<const void *> held;
    for (const SampleSeries &series : recording.series)
        held.push_back(series.where.text().data());
    std::ranges::sort(held);
    return held.size() - std::ranges::unique(held).size();
}

} // namespace

class TestSeriesTexts : public QObject {
    Q_OBJECT

private slots:
    void aFileThatRepeatsAPlaceIsReadIntoOne()
    {
        Recording written;
        written.sources = { { "a", SourceKind::SmiQuery, 1, 1 } };
        for (int i = 0; i < kSeries; ++i)
            written.series.push_back({ SharedText("quantity " + std::to_string(i)), "W", -1,
                SharedText(std::string(200, 'x')), false, { 0 }, { 1 }, 0 });
        QCOMPARE(placesHeld(written), std::size_t(kSeries));
        const Recording read = readText(textOf(written), "a.trainyard-recording");
        QVERIFY2(read.series == written.series, read.sources.front().refused.c_str());
        QCOMPARE(placesHeld(read), std::size_t(1));
        QCOMPARE(placesHeld(mergeRecordings({ read, read })), std::size_t(1));
    }

    void metricsOfOneHostHaveOnePlace()
    {
        std::string text;
        for (int i = 0; i < kSeries; ++i)
            text += "# TYPE metric_" + std::to_string(i) + " gauge\nmetric_" + std::to_string(i) + "{Hostname=\""
                + std::string(200, 'x') + "\",gpu=\"3\"} 1\n";
        const Recording read = readText(text, "metrics.txt");
        QCOMPARE(read.series.size(), std::size_t(kSeries));
        QCOMPARE(placesHeld(read), std::size_t(1));
    }
};

TRAINYARD_GUILESS_TEST(TestSeriesTexts)
#include "tst_series_texts.moc"

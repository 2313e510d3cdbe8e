// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "views/timeline/time_axis.h"

#include <QTest>

using namespace trainyard;

class TimeAxisTest : public QObject {
    Q_OBJECT
private slots:
    void theEndsOfTheRangeAreTheEndsOfTheChart()
    {
        const TimeInterval range { 1'000'000, 3'000'000 };
        QCOMPARE(timeToX(range.begin, range, 100, 800), 100.0);
        QCOMPARE(timeToX(range.end, range, 100, 800), 900.0);
        QCOMPARE(xToTime(100, range, 100, 800), range.begin);
        QCOMPARE(xToTime(900, range, 100, 800), range.end);
    }

    void pixelsAndTimesAreInverse()
    {
        const TimeInterval range { 0, 11'800'000'000 };
        for (const double x : { 160.0, 423.0, 1279.0 })
            QVERIFY(std::abs(timeToX(xToTime(x, range, 160, 1119), range, 160, 1119) - x) < 1e-3);
    }

    void aZoomKeepsItsAnchorUnderTheMouse()
    {
        const TimeInterval whole { 0, 1'000'000'000 }, range { 200'000'000, 600'000'000 };
        const Nanoseconds anchor = 300'000'000; // a quarter of the range, before and after
        const TimeInterval closer = zoomed(range, 2, anchor, whole);
        QCOMPARE(closer.length(), range.length() / 2);
        QCOMPARE(timeToX(anchor, closer, 0, 1000), timeToX(anchor, range, 0, 1000));
    }

    void zoomingOutStopsAtTheWhole()
    {
        const TimeInterval whole { 0, 1'000'000'000 };
        QCOMPARE(zoomed({ 100, 900'000'000 }, 0.01, 500, whole), whole);
    }

    void zoomingInStopsBeforeNanosecondsRunOut()
    {
        const TimeInterval whole { 0, 1'000'000'000 };
        QCOMPARE(zoomed({ 0, 20'000 }, 1e9, 10'000, whole).length(), kShortestRange);
    }

    void aPanStopsAtTheEndWithoutZooming()
    {
        const TimeInterval whole { 0, 1000'000 };
        QCOMPARE(panned({ 700'000, 900'000 }, 500'000, whole), (TimeInterval { 800'000, 1000'000 }));
        QCOMPARE(panned({ 100'000, 300'000 }, -500'000, whole), (TimeInterval { 0, 200'000 }));
    }

    void newNumbersKeepTheFractionInView()
    {
        // [1/4, 1/2) of 8 s stays [1/4, 1/2) of 6 s.
        QCOMPARE(carriedOver({ 2'000'000'000, 4'000'000'000 }, { 0, 8'000'000'000 }, { 0, 6'000'000'000 }),
            (TimeInterval { 1'500'000'000, 3'000'000'000 }));
        QCOMPARE(carriedOver({ 0, 8'000 }, { 0, 8'000 }, { 0, 6'000'000'000 }), (TimeInterval { 0, 6'000'000'000 }));
    }

    void ticksAreRoundAndFarEnoughApart_data()
    {
        QTest::addColumn<qint64>("length");
        for (const qint64 length : { 10'000LL, 7'300'000LL, 412'000'000LL, 11'840'000'000LL, 900'000'000'000LL })
            QTest::addRow("%lld ns", length) << length;
    }
    void ticksAreRoundAndFarEnoughApart()
    {
        QFETCH(qint64, length);
        const TimeInterval range { 0, length };
        const Nanoseconds step = tickStep(range, 1000, 80);
        QVERIFY(double(step) / double(length) * 1000 >= 80);
        QVERIFY(double(step) / double(length) * 1000 <= 80 * 2.5);
        Nanoseconds leading = step;
        while (leading % 10 == 0)
            leading /= 10;
        QVERIFY(leading == 1 || leading == 2 || leading == 5);
    }

    void ticksLieInsideTheRange()
    {
        QCOMPARE(ticks({ 150, 460 }, 100), (std::vector<Nanoseconds> { 200, 300, 400 }));
        QCOMPARE(ticks({ 0, 200 }, 100), (std::vector<Nanoseconds> { 0, 100 }));
    }

    void labelsCarryJustTheDecimalsOfTheStep()
    {
        QCOMPARE(tickLabel(4'700'000'000, 100'000'000, 11'800'000'000), QStringLiteral("4.7 s"));
        QCOMPARE(tickLabel(4'000'000'000, 1'000'000'000, 11'800'000'000), QStringLiteral("4 s"));
        QCOMPARE(tickLabel(470'250'000, 50'000, 800'000'000), QStringLiteral("470.25 ms"));
        QCOMPARE(tickLabel(7'500, 500, 90'000), QStringLiteral("7.5 µs"));
    }
};

TRAINYARD_APPLESS_TEST(TimeAxisTest)
#include "tst_time_axis.moc"

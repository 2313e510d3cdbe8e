// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/timeline/lane_painter.h"
#include "views/timeline/row_crew.h"
#include "views/timeline/timeline_view.h"

#include <QSemaphore>
#include <QTest>
#include <QThreadPool>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

using namespace trainyard;

namespace {

/// Qt's pool as on a machine of four cores.
class FourThreads {
public:
    FourThreads() { QThreadPool::globalInstance()->setMaxThreadCount(4); }
    ~FourThreads() { QThreadPool::globalInstance()->setMaxThreadCount(m_before); }

private:
    int m_before = QThreadPool::globalInstance()->maxThreadCount();
};

/// Nobody in the pool has time.
class BusyPool {
public:
    BusyPool()
    {
        QThreadPool::globalInstance()->setMaxThreadCount(1);
        QThreadPool::globalInstance()->start([this] { m_end.acquire(); });
    }
    ~BusyPool()
    {
        m_end.release();
        QThreadPool::globalInstance()->waitForDone();
        QThreadPool::globalInstance()->setMaxThreadCount(m_before);
    }

private:
    int m_before = QThreadPool::globalInstance()->maxThreadCount();
    QSemaphore m_end;
};

QImage painted(const TimelineState &state, QSize size)
{
    QImage image(size, QImage::Format_RGB32);
    image.fill(Qt::black);
    LanePainter painter;
    painter.paint(image, state, QRect(QPoint(0, 0), size));
    return image;
}

} // namespace

class RowCrewTest : public QObject {
    Q_OBJECT
private slots:
    void eachRowIsDoneOnce()
    {
        const FourThreads threads;
        std::array<std::atomic<int>, 500> done {};
        std::atomic<int> strangers = 0;
        forEachRow(int(done.size()), 4, [&](int row, int hand) {
            ++done[std::size_t(row)];
            strangers += hand < 0 || hand >= 4 ? 1 : 0;
        });
        QVERIFY(std::ranges::all_of(done, [](const std::atomic<int> &times) { return times == 1; }));
        QCOMPARE(strangers.load(), 0);
        forEachRow(0, 4, [](int, int) { QFAIL("there is no row"); });
    }

    void aBusyPoolIsNotWaitedFor()
    {
        const BusyPool busy;
        int done = 0; // one thread: no lock is needed
        forEachRow(100, 4, [&](int, int hand) { done += hand == 0 ? 1 : 0; });
        QCOMPARE(done, 100);
    }

    /// 3,000 spans in each of 64 rows: mixed in 300 columns, shared among the kinds in 1,200.
    void manyThreadsPaintWhatOnePaints_data()
    {
        QTest::addColumn<int>("width");
        QTest::newRow("mixed") << 300;
        QTest::newRow("shares") << 1200;
    }

    void manyThreadsPaintWhatOnePaints()
    {
        QFETCH(const int, width);
        TimelineView view;
        view.resize(width, 900);
        view.setEvaluation(test::sampleOfSize(200'000));
        const QSize size(width, 1400);
        QImage alone;
        {
            const BusyPool busy;
            alone = painted(view.state(), size);
        }
        const FourThreads threads;
        for (int again = 0; again < 10; ++again)
            QCOMPARE(painted(view.state(), size), alone);
    }

    /// Against the mixer itself: every line of a row's bar is its mix.
    void eachRowIsItsMix()
    {
        const FourThreads threads;
        constexpr int kWidth = 300;
        TimelineView view;
        view.resize(kWidth, 900);
        view.setEvaluation(test::sampleOfSize(200'000));
        const TimelineState &state = view.state();
        const QImage image = painted(state, QSize(kWidth, 1400));
        RowMixer mixer;
        mixer.prepare(state, false);
        int compared = 0;
        for (const TrackRow &row : state.layout.rows) {
            const int top = rowTop(state.layout, row, state.scroll) + row.barTop;
            if (top < 0 || top + row.barHeight > image.height() || mixer.isDense(state, row, state.range, kWidth))
                continue;
            const auto mix = mixer.mix(state, row, state.range, kWidth);
            for (int y = top; y < top + row.barHeight; ++y)
                QVERIFY(std::memcmp(image.constScanLine(y), mix.data(), mix.size_bytes()) == 0);
            ++compared;
        }
        QVERIFY2(compared >= 20, qPrintable(QString::number(compared)));
    }
};

TRAINYARD_TEST(RowCrewTest)
#include "tst_row_crew.moc"

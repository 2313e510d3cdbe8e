// SPDX-License-Identifier: GPL-3.0-or-later
// What operations exchange inside, along the foot of their bars, under real mouse and key events.
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/theme/part_colors.h"
#include "views/theme/theme.h"
#include "views/timeline/lane_vectors.h"
#include "views/timeline/operation_strip.h"
#include "views/timeline/span_card.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QBuffer>
#include <QSvgGenerator>
#include <QTest>

#include <memory>

using namespace trainyard;

namespace {

/// Forwards of 30 ms of which 6 are tensor and 3 data parallel; backwards only compute.
EvaluationPtr evaluationThatExchanges()
{
    auto evaluation = std::make_shared<Evaluation>(
        *test::sampleEvaluation({ .datacenters = 2, .stages = 4, .microBatches = 60, .recompute = false }));
    Timeline &timeline = evaluation->timeline;
    timeline.classes = { { .kind = WorkKind::Forward, .exposed = { .tensor = 6e-3, .data = 3e-3 } } };
    for (const WorkKind kind : timeline.kind)
        timeline.taskClass.push_back(kind == WorkKind::Forward ? 0 : kNoSpan);
    return evaluation;
}

} // namespace

class OperationStripTest : public QObject {
    Q_OBJECT
    std::unique_ptr<TimelineView> m_view;

    [[nodiscard]] const TimelineState &state() const { return m_view->state(); }
    [[nodiscard]] QRectF barOf(std::uint32_t span) const
    {
        const QRect tracks = m_view->trackArea().translated(-m_view->canvas()->mapTo(m_view.get(), QPoint()));
        return spanRect(state(), { {}, {}, tracks }, span);
    }
    /// A point of the foot of a bar, `share` of its length from its begin.
    [[nodiscard]] QPoint foot(std::uint32_t span, double share) const
    {
        const QRectF bar = barOf(span);
        return { int(bar.left() + share * bar.width()), int(bar.bottom()) - 2 };
    }
    [[nodiscard]] QColor pixel(QPoint at) const { return m_view->canvas()->grab().toImage().pixelColor(at); }
    void hoverOver(QPoint at)
    {
        QMouseEvent event(
            QEvent::MouseMove, at, m_view->canvas()->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(m_view->canvas(), &event);
    }

private slots:
    void init()
    {
        applyTheme(*qApp, ThemeKind::Light);
        m_view = std::make_unique<TimelineView>();
        m_view->resize(1280, 400);
        m_view->setEvaluation(evaluationThatExchanges());
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
        m_view->setVisibleRange(0, 120'000'000);
        QVERIFY(barOf(0).width() > 100);
    }
    void cleanup() { m_view.reset(); }

    /// 21 of 30 ms compute, then 6 tensor, then 3 data: 70 %, 90 %, 100 % of the bar.
    void theFootOfAWideBarHasTheColoursOfItsShares()
    {
        for (const ThemeKind kind : { ThemeKind::Light, ThemeKind::Dark, ThemeKind::HighContrast }) {
            applyTheme(*qApp, kind);
            QApplication::processEvents();
            QCOMPARE(pixel(foot(0, 0.72)), partColor(&Breakdown::tensorParallel));
            QCOMPARE(pixel(foot(0, 0.88)), partColor(&Breakdown::tensorParallel));
            QCOMPARE(pixel(foot(0, 0.92)), partColor(&Breakdown::dataParallel));
            const QColor computing = pixel(foot(0, 0.3));
            QVERIFY(computing != partColor(&Breakdown::tensorParallel) && computing != theme().idle);
            QCOMPARE(pixel(foot(0, 0.8) - QPoint(0, int(barOf(0).height() * 0.6))), theme().work(WorkKind::Forward));
        }
    }

    void theKeyTakesItAwayAndBringsItBack()
    {
        QCOMPARE(pixel(foot(0, 0.8)), partColor(&Breakdown::tensorParallel));
        QTest::keyClick(m_view.get(), Qt::Key_I);
        QCOMPARE(pixel(foot(0, 0.8)), theme().work(WorkKind::Forward));
        QTest::keyClick(m_view.get(), Qt::Key_I);
        QCOMPARE(pixel(foot(0, 0.8)), partColor(&Breakdown::tensorParallel));
    }

    void barsThatAreNarrowOrOnlyComputeHaveNone()
    {
        const Timeline &timeline = *state().timeline();
        const auto backward =
            std::uint32_t(std::ranges::find(timeline.kind, WorkKind::Backward) - timeline.kind.begin());
        QVERIFY(hasStrip(state(), 0, kStripFrom, 12));
        QVERIFY(!hasStrip(state(), 0, kStripFrom - 1, 12));
        QVERIFY(!hasStrip(state(), 0, kStripFrom, 5));
        QVERIFY(!hasStrip(state(), backward, 400, 12));
        m_view->setVisibleRange(0, 4'000'000'000);
        QVERIFY(barOf(0).width() < kStripFrom);
        QCOMPARE(pixel(foot(0, 0.8)), theme().work(WorkKind::Forward));
    }

    /// tensor: 6 of 30 ms = 20 %.
    void theCardNamesThePartUnderThePointer()
    {
        const auto *card = m_view->findChild<SpanCard *>();
        hoverOver(foot(0, 0.8));
        QVERIFY(card->isVisible());
        QVERIFY2(card->text().contains("\n▸ tensor parallel 6.00 ms, 20.0 %\n"), qPrintable(card->text()));
        QVERIFY2(card->text().contains("\ncompute 21.0 ms, 70.0 %\n")
                && card->text().contains("\ndata parallel 3.00 ms, 10.0 %\n"),
            qPrintable(card->text()));
        QVERIFY(card->text().endsWith("shares of the operation, not an order in time"));
        hoverOver(foot(0, 0.95));
        QVERIFY2(card->text().contains("\n▸ data parallel"), qPrintable(card->text()));
        hoverOver(foot(0, 0.8) - QPoint(0, int(barOf(0).height() * 0.6))); // on the bar, above its foot
        QVERIFY2(!card->text().contains("▸") && card->text().contains("tensor parallel"), qPrintable(card->text()));
        m_view->toggleInside();
        hoverOver(foot(0, 0.7));
        hoverOver(foot(1, 0.8));
        QVERIFY2(!card->text().contains("tensor parallel"), qPrintable(card->text()));
    }

    void picturesInVectorsHaveItToo()
    {
        const auto drawn = [this] {
            QBuffer buffer;
            buffer.open(QIODevice::WriteOnly);
            QSvgGenerator svg;
            svg.setOutputDevice(&buffer);
            svg.setSize(m_view->canvas()->size());
            m_view->canvas()->render(&svg);
            return QString::fromUtf8(buffer.data());
        };
        QVERIFY(drawn().contains(partColor(&Breakdown::tensorParallel).name()));
        m_view->toggleInside();
        QVERIFY(!drawn().contains(partColor(&Breakdown::tensorParallel).name()));
    }
};

TRAINYARD_TEST(OperationStripTest)
#include "tst_operation_strip.moc"

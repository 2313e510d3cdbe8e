// SPDX-License-Identifier: GPL-3.0-or-later
// What the timeline draws and counts belongs together: table, minimap, legend, and what a new plan leaves of them.
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/theme/theme.h"
#include "views/timeline/area_table.h"
#include "views/timeline/legend.h"
#include "views/timeline/minimap.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <memory>
#include <set>

using namespace trainyard;

class TimelineDrawnTest : public QObject {
    Q_OBJECT
    std::unique_ptr<TimelineView> m_view;

    [[nodiscard]] const TimelineState &state() const { return m_view->state(); }
    KindButton *button(WorkKind kind) const
    {
        for (KindButton *each : m_view->findChildren<KindButton *>())
            if (each->kind() == kind)
                return each;
        return nullptr;
    }
    void dragOverAll()
    {
        QWidget *canvas = m_view->canvas();
        const QRect tracks = m_view->trackArea().translated(-canvas->mapTo(m_view.get(), QPoint()));
        const QPoint from = tracks.topLeft() + QPoint(1, 2),
                     to = tracks.topLeft() + QPoint(tracks.width() - 1, state().layout.contentHeight - 3);
        QTest::mousePress(canvas, Qt::LeftButton, {}, from);
        for (const QPoint &at : { (from + to) / 2, to }) {
            QMouseEvent move(QEvent::MouseMove, at, canvas->mapToGlobal(at), Qt::NoButton, Qt::LeftButton, {});
            QApplication::sendEvent(canvas, &move);
        }
        QTest::mouseRelease(canvas, Qt::LeftButton, {}, to);
    }
    /// Name to seconds, as the table copies them.
    [[nodiscard]] QMap<QString, double> copied() const
    {
        m_view->areaTable()->copy();
        QMap<QString, double> rows;
        for (const QString &line : QApplication::clipboard()->text().split(u'\n', Qt::SkipEmptyParts).mid(1))
            rows[line.section(u'\t', 0, 0)] = line.section(u'\t', 2, 2).toDouble();
        return rows;
    }
    [[nodiscard]] static double sum(const QMap<QString, double> &rows)
    {
        double all = 0;
        for (const double row : rows)
            all += row;
        return all;
    }
    /// How much of a picture has nearly that colour.
    [[nodiscard]] static int pixels(const QImage &image, const QColor &color)
    {
        int count = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x) {
                const QColor at = image.pixelColor(x, y);
                count += std::abs(at.red() - color.red()) + std::abs(at.green() - color.green())
                            + std::abs(at.blue() - color.blue())
                        < 12
                    ? 1
                    : 0;
            }
        return count;
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }
    void init()
    {
        m_view = std::make_unique<TimelineView>();
        m_view->resize(1280, 400);
        m_view->setEvaluation(test::sampleEvaluation());
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
    }
    void cleanup() { m_view.reset(); }

    void theTableFollowsTheLegendsSwitches()
    {
        dragOverAll();
        QVERIFY(state().area.has_value());
        const auto all = copied();
        const double area = double(state().layout.rows.size()) * double(state().area->time.length()) * 1e-9;
        QVERIFY(std::abs(sum(all) - area) < 1e-6); // kinds + idle = rows × time
        QTest::mouseClick(button(WorkKind::Backward), Qt::LeftButton);
        const auto without = copied();
        QVERIFY(!without.contains(QStringLiteral("backward")));
        QVERIFY(std::abs(without[QStringLiteral("not shown")] - all[QStringLiteral("backward")]) < 1e-6);
        QCOMPARE(without[QStringLiteral("idle")], all[QStringLiteral("idle")]); // what is hidden does not stand still
        QVERIFY(std::abs(sum(without) - area) < 1e-6);
    }

    void aFoldedDatacenterCountsItsStagesOnly()
    {
        for (std::size_t d = 0; d < state().layout.groups.size(); ++d)
            QTest::mouseClick(
                m_view->canvas(), Qt::LeftButton, {}, QPoint(30, kRulerHeight + state().layout.groups[d].y + 6));
        QVERIFY(std::ranges::all_of(state().layout.groups, &RowGroup::isFolded));
        dragOverAll();
        const auto rows = copied();
        QVERIFY(!rows.contains(QStringLiteral("WAN transfer"))); // no channel is drawn
        QVERIFY(std::abs(sum(rows) - 12 * double(state().area->time.length()) * 1e-9) < 1e-6);
    }

    void theTableStaysWithNewNumbersAndGoesWithTheArea()
    {
        QSignalSpy changed(m_view->areaTable(), &AreaTable::contentChanged);
        dragOverAll();
        QCOMPARE(changed.last().first().toBool(), true);
        const double before = sum(copied());
        m_view->setEvaluation(test::sampleEvaluation({ .wanHold = 60'000'000 }));
        QVERIFY(state().area.has_value());
        QVERIFY(sum(copied()) > before); // a longer iteration, the same part of it
        QTest::keyClick(m_view.get(), Qt::Key_Escape);
        QCOMPARE(changed.last().first().toBool(), false);
        QVERIFY(!m_view->areaTable()->isVisible());
    }

    void aDockedTableIsLeftWhereItIs()
    {
        QWidget dock;
        dock.resize(500, 300);
        m_view->areaTable()->setParent(&dock);
        m_view->areaTable()->setGeometry(7, 9, 400, 200);
        m_view->areaTable()->show();
        dragOverAll();
        m_view->resize(900, 300);
        QApplication::processEvents();
        QCOMPARE(m_view->areaTable()->geometry(), QRect(7, 9, 400, 200));
        QVERIFY(m_view->areaTable()->hasContent());
        QTest::keyClick(m_view.get(), Qt::Key_Escape);
        QVERIFY(!m_view->areaTable()->hasContent());
        QVERIFY(!m_view->areaTable()->isHidden()); // whether it shows is the dock's business
    }

    void theMinimapShowsEveryKindAndHidesWhatIsHidden()
    {
        const Theme &t = theme();
        const QImage all = m_view->minimap()->picture();
        for (const WorkKind kind :
            { WorkKind::Forward, WorkKind::Backward, WorkKind::WanTransfer, WorkKind::GradientReduce })
            QVERIFY2(pixels(all, t.work(kind)) > 10, toString(kind));
        QTest::mouseClick(button(WorkKind::GradientReduce), Qt::LeftButton);
        const QImage without = m_view->minimap()->picture();
        QCOMPARE(pixels(without, t.work(WorkKind::GradientReduce)), 0);
        QVERIFY(pixels(without, t.work(WorkKind::Forward)) > 10);
    }

    void aNewPlanForgetsWhatWasHiddenAndLookedFor()
    {
        QTest::mouseClick(button(WorkKind::Forward), Qt::LeftButton);
        m_view->find(QStringLiteral("backward"));
        m_view->addMark();
        m_view->setVisibleRange(0, state().whole.end / 3);
        QVERIFY(!m_view->filter().isNeutral());
        m_view->startPlan();
        m_view->setEvaluation(test::sampleEvaluation({ .microBatches = 9 }));
        QVERIFY(m_view->filter().isNeutral());
        QVERIFY(button(WorkKind::Forward)->isChecked());
        QVERIFY(!state().marks[0]);
        QCOMPARE(m_view->selectedSpan(), kNoSpan);
        QCOMPARE(m_view->visibleRange(), state().whole);
    }

    void theSelectedSpanSurvivesNewNumbers()
    {
        const Timeline &before = *state().timeline();
        const std::uint32_t span = before.tracks[4].first + 11;
        m_view->selectSpan(span);
        const WorkKind kind = before.kind[span];
        const int microBatch = before.microBatch[span];
        QSignalSpy selected(m_view.get(), &TimelineView::spanSelected);
        m_view->setEvaluation(test::sampleEvaluation({ .microBatches = 24, .wanHold = 60'000'000 }));
        QCOMPARE(selected.size(), 1);
        const std::uint32_t now = m_view->selectedSpan();
        QVERIFY(now != kNoSpan);
        QCOMPARE(state().timeline()->kind[now], kind);
        QCOMPARE(state().timeline()->microBatch[now], microBatch);
        QCOMPARE(state().timeline()->tracks[state().timeline()->trackOf[now]].stage, 4);
        m_view->setEvaluation(test::sampleEvaluation({ .stages = 3 })); // no such stage
        QCOMPARE(m_view->selectedSpan(), kNoSpan);
        QCOMPARE(selected.last().first().toUInt(), kNoSpan);
    }

    void theTimeAxisStandsStillWhateverPlanIsShown()
    {
        const QRect tracks = m_view->trackArea();
        for (const test::SampleShape &shape : { test::SampleShape { .datacenters = 1, .stages = 2 },
                 test::SampleShape { .datacenters = 6, .stages = 128, .classes = 3 },
                 test::SampleShape { .pipelines = 1 } }) {
            m_view->setEvaluation(test::sampleEvaluation(shape));
            QCOMPARE(m_view->trackArea(), tracks);
        }
    }

    void manyStagesShareThePageAndFewAreTall()
    {
        const auto barOf = [&](int stages) {
            m_view->setEvaluation(test::sampleEvaluation({ .datacenters = 1, .stages = stages }));
            return state().layout.rows.front().barHeight;
        };
        QVERIFY(barOf(2) >= 30);
        const int many = barOf(48);
        QVERIFY(many >= 4 && many <= 8);
        QVERIFY(state().layout.contentHeight <= m_view->canvas()->height() - kRulerHeight); // no scrolling
    }

    void aNarrowLegendKeepsItsWords()
    {
        m_view->resize(420, 300);
        QApplication::processEvents();
        int shown = 0, hidden = 0;
        for (const KindButton *each : m_view->findChildren<KindButton *>()) {
            QVERIFY(each->isHidden() || each->width() >= each->sizeHint().width()); // with its name
            ++(each->isHidden() ? hidden : shown);
        }
        QVERIFY(shown > 0 && hidden > 0);
        QToolButton *more = nullptr;
        for (QToolButton *each : m_view->findChild<Legend *>()->findChildren<QToolButton *>())
            more = each->menu() ? each : more;
        QVERIFY(more && more->isVisible());
        QCOMPARE(more->text(), QStringLiteral("+%1").arg(hidden));
        emit more->menu()->aboutToShow();
        QCOMPARE(more->menu()->actions().size(), qsizetype(hidden));
        more->menu()->actions().last()->trigger();
        QVERIFY(m_view->filter().kinds != kAllKinds);
    }

    void shortWorkBesideALongBarStaysVisible()
    {
        // A bar that ends within a pixel, and the next, a tenth of a pixel, in the same one.
        auto e = std::make_shared<Evaluation>(
            *test::sampleEvaluation({ .datacenters = 1, .stages = 1, .microBatches = 1, .recompute = false }));
        const Timeline &t = e->timeline;
        QCOMPARE(t.kind[t.tracks[0].last - 1], WorkKind::Optimizer);
        const double width = m_view->trackArea().width();
        const Nanoseconds pixel = 1'000'000;
        e->timeline.duration = Nanoseconds(width) * pixel;
        const std::uint32_t reduce = t.tracks[0].last - 2, optimizer = reduce + 1;
        e->timeline.start[reduce] = 100 * pixel;
        e->timeline.end[reduce] = 120 * pixel + pixel / 4;
        e->timeline.start[optimizer] = e->timeline.end[reduce];
        e->timeline.end[optimizer] = e->timeline.start[optimizer] + pixel * 6 / 10;
        m_view->setEvaluation(e);
        QImage image(m_view->size(), QImage::Format_RGB32);
        m_view->render(&image);
        const QPoint at(m_view->trackArea().left() + 120, m_view->trackArea().top() + 4);
        const QColor idle = theme().idle, seen = image.pixelColor(at);
        QVERIFY2(seen.red() > idle.red() + 40, qPrintable(seen.name())); // of the optimizer's orange
    }
};

TRAINYARD_TEST(TimelineDrawnTest)
#include "tst_timeline_drawn.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline's context menu under real events, and the picture that it takes away.
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/export/panel_picture.h"
#include "views/theme/theme.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFile>
#include <QMenu>
#include <QPointer>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>

using namespace trainyard;

class TimelineMenuTest : public QObject {
    Q_OBJECT
    std::unique_ptr<TimelineView> m_view;

    [[nodiscard]] const TimelineState &state() const { return m_view->state(); }
    [[nodiscard]] const Timeline &timeline() const { return *state().timeline(); }
    [[nodiscard]] QPoint middleOf(std::uint32_t span) const
    {
        const QRect tracks = m_view->trackArea();
        const TrackRow &row = state().layout.rows[std::size_t(state().layout.rowOfTrack[timeline().trackOf[span]])];
        const double x = (timeToX(timeline().start[span], state().range, tracks.left(), tracks.width())
                             + timeToX(timeline().end[span], state().range, tracks.left(), tracks.width()))
            / 2;
        return m_view->canvas()->mapFrom(
            m_view.get(), QPoint(int(x), tracks.top() + row.y + row.barTop + row.barHeight / 2));
    }
    QMenu *menuAt(QPoint point)
    {
        QWidget *canvas = m_view->canvas();
        QContextMenuEvent event(QContextMenuEvent::Mouse, point, canvas->mapToGlobal(point));
        QApplication::sendEvent(canvas, &event);
        return m_view->findChild<QMenu *>({}, Qt::FindDirectChildrenOnly);
    }
    /// Opens the menu on a span and chooses an entry that begins so.
    void choose(std::uint32_t span, const QString &text)
    {
        QPointer<QMenu> menu = menuAt(middleOf(span));
        QVERIFY(menu);
        bool found = false;
        for (QAction *action : menu->actions()) {
            if (action->text().startsWith(text)) {
                QVERIFY2(action->isEnabled(), qPrintable(text));
                found = true;
                action->trigger();
                break;
            }
        }
        QVERIFY2(found, qPrintable(text));
        if (menu)
            menu->close();
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
    [[nodiscard]] std::uint32_t backwardOf(int stage, int microBatch) const
    {
        const Track &track = timeline().tracks[std::size_t(stage)];
        for (std::uint32_t s = track.first; s < track.last; ++s)
            if (timeline().kind[s] == WorkKind::Backward && timeline().microBatch[s] == microBatch)
                return s;
        return kNoSpan;
    }

    /// Clicks an entry of a menu that is open.
    static void click(QMenu *menu, const QString &text)
    {
        const auto actions = menu->actions();
        const auto found =
            std::ranges::find_if(actions, [&](const QAction *action) { return action->text().startsWith(text); });
        QVERIFY2(found != actions.end(), qPrintable(text));
        QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(*found).center());
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }

private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Light); }
    void init()
    {
        m_view = std::make_unique<TimelineView>();
        m_view->resize(1280, 420);
        m_view->setEvaluation(test::sampleEvaluation({ .datacenters = 2, .stages = 4, .microBatches = 6 }));
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
    }
    void cleanup() { m_view.reset(); }

    void theSpanUnderThePointerIsZoomedHiddenAndShownAlone()
    {
        const std::uint32_t span = backwardOf(1, 3);
        choose(span, QStringLiteral("Zoom to this span"));
        QCOMPARE(m_view->selectedSpan(), span);
        QCOMPARE(m_view->visibleRange().length(), 2 * (timeline().end[span] - timeline().start[span]));
        m_view->fit();
        choose(span, QStringLiteral("Hide backward"));
        QVERIFY(!m_view->filter().hasKind(WorkKind::Backward));
        QVERIFY(m_view->filter().hasKind(WorkKind::Forward));
        choose(span, QStringLiteral("Show all kinds"));
        QVERIFY(m_view->filter().isNeutral());
        choose(span, QStringLiteral("Show only backward"));
        QCOMPARE(m_view->filter().kinds, 1u << int(WorkKind::Backward));
    }

    void rowsArePinnedAndTheCriticalPathShown()
    {
        const std::uint32_t span = backwardOf(2, 1);
        choose(span, QStringLiteral("Pin this row"));
        QCOMPARE(state().layout.pinnedCount, 1);
        QCOMPARE(state().layout.rows.front().label, QStringLiteral("stage 3"));
        m_view->togglePin();
        choose(backwardOf(2, 1), QStringLiteral("Critical path"));
        QVERIFY(state().showsCriticalPath);
    }

    void causesAreFollowedAndSpansCopied()
    {
        const std::uint32_t span = backwardOf(1, 2), cause = timeline().cause[span];
        QSignalSpy selected(m_view.get(), &TimelineView::spanSelected);
        choose(span, QStringLiteral("Follow to its cause"));
        QCOMPARE(selected.last().first().toUInt(), cause);
        choose(span, QStringLiteral("Copy this span as text"));
        QVERIFY(QApplication::clipboard()->text().startsWith(QStringLiteral("Backward · micro-batch 3 · stage 2\n")));
    }

    /// An edit's answer may come while the menu is open.
    void entriesOfWhatIsGoneDoNothing()
    {
        m_view->selectSpan(backwardOf(3, 5));
        const EvaluationPtr smaller = test::sampleEvaluation({ .datacenters = 1, .stages = 2, .microBatches = 2 });
        QMenu *menu = menuAt(middleOf(backwardOf(3, 5)));
        QVERIFY(menu);
        m_view->setEvaluation(smaller); // without this span
        QCOMPARE(m_view->selectedSpan(), kNoSpan);
        click(menu, QStringLiteral("Zoom to this span"));
        QCOMPARE(m_view->visibleRange(), state().whole);

        const QPoint from = middleOf(backwardOf(0, 0));
        QTest::mousePress(m_view->canvas(), Qt::LeftButton, {}, from);
        QMouseEvent move(QEvent::MouseMove, from + QPoint(200, 5), m_view->canvas()->mapToGlobal(from + QPoint(200, 5)),
            Qt::NoButton, Qt::LeftButton, {});
        QApplication::sendEvent(m_view->canvas(), &move);
        QTest::mouseRelease(m_view->canvas(), Qt::LeftButton, {}, from + QPoint(200, 5));
        QVERIFY(state().area);
        menu = menuAt(from);
        QVERIFY(menu);
        m_view->setEvaluation(test::sampleEvaluation({ .datacenters = 2, .stages = 4 })); // other rows
        QVERIFY(!state().area);
        click(menu, QStringLiteral("Zoom to the selected area"));
        QCOMPARE(m_view->visibleRange(), state().whole);
    }

    void theRowUnderThePointerIsPinnedThoughItMoved()
    {
        const QString first = state().layout.rows[std::size_t(state().layout.rowOfTrack[0])].key;
        const QString third = state().layout.rows[std::size_t(state().layout.rowOfTrack[2])].key;
        QMenu *menu = menuAt(middleOf(backwardOf(2, 1)));
        QVERIFY(menu);
        const QPoint elsewhere = middleOf(backwardOf(0, 1));
        QMouseEvent move(
            QEvent::MouseMove, elsewhere, m_view->canvas()->mapToGlobal(elsewhere), Qt::NoButton, Qt::NoButton, {});
        QApplication::sendEvent(m_view->canvas(), &move);
        m_view->togglePin(); // all other rows have another number now
        QCOMPARE(state().layout.rows.front().key, first);
        click(menu, QStringLiteral("Pin this row"));
        QCOMPARE(state().layout.pinnedCount, 2);
        QCOMPARE((QSet<QString> { state().layout.rows[0].key, state().layout.rows[1].key }),
            (QSet<QString> { first, third }));
    }

    void keysThatWalkSayWhatIsSelected()
    {
        m_view->selectSpan(backwardOf(1, 2));
        QSignalSpy selected(m_view.get(), &TimelineView::spanSelected);
        for (const int key : { Qt::Key_BracketLeft, Qt::Key_BracketRight, Qt::Key_Period, Qt::Key_Comma }) {
            const auto before = selected.size();
            QTest::keyClick(m_view.get(), Qt::Key(key));
            QCOMPARE(selected.size(), before + 1);
            QCOMPARE(selected.last().first().toUInt(), m_view->selectedSpan());
        }
    }

    void theMenuEndsWithPictures()
    {
        QMenu *menu = menuAt(middleOf(backwardOf(1, 2)));
        QVERIFY(menu);
        QCOMPARE(menu->actions().last()->text(), QStringLiteral("Save as PDF…"));
        menu->close();
    }

    void anSvgHasBarsAndNoPictureOfPixels()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("timeline.svg"));
        for (const int microBatches : { 6, 900 }) { // bars of their own, and more spans than pixels
            m_view->setEvaluation(
                test::sampleEvaluation({ .datacenters = 2, .stages = 4, .microBatches = microBatches }));
            QVERIFY(savePicture(m_view.get(), path));
            QFile file(path);
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QByteArray text = file.readAll();
            QVERIFY(!text.contains("<image"));
            QVERIFY2(text.count("<rect") + text.count("<path")
                    > qsizetype(timeline().spanCount() < 200 ? timeline().spanCount() : 1000),
                qPrintable(QString::number(text.count("<rect"))));
            QVERIFY(text.contains(theme().work(WorkKind::Backward).name().toLatin1()));
            QVERIFY(text.contains(">stage 3<"));
        }
    }
};

TRAINYARD_TEST(TimelineMenuTest)
#include "tst_timeline_menu.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// A meeting as people hold one, with real events: open, drag, branch, compare, decide, undo, save; and what is left of
// it where the window is killed.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "core/facts/session/session_io.h"
#include "models/session/session_document.h"
#include "models/session/variant_figures.h"
#include "views/panels/evidence_table.h"
#include "views/session/board_page.h"
#include "views/session/compare_page.h"
#include "views/session/variant_card.h"
#include "views/session/variant_strip.h"
#include "views/timeline/timeline_view.h"
#include "views/window/session_actions.h"

#include <QComboBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QToolButton>

using namespace trainyard;

namespace {

struct Meeting : WindowFixture {
    SessionDocument &session = window.session();
    SessionActions &actions = window.sessionActions();

    void key(Qt::KeyboardModifiers modifiers, Qt::Key key)
    {
        QTest::keyClick(window.focusWidget() ? window.focusWidget() : &window, key, modifiers);
        QApplication::processEvents();
    }
    void dragNode(int from, int node, int to)
    {
        const QPoint begin = nodeAt(from, node), end = titleOf(to);
        QTest::mousePress(map(), Qt::LeftButton, Qt::NoModifier, begin);
        for (int step = 1; step <= 6; ++step)
            moveHeld(begin + (end - begin) * step / 6);
        QTest::mouseRelease(map(), Qt::LeftButton, Qt::NoModifier, end);
        settle();
    }
    [[nodiscard]] int gpusIn(int datacenter)
    {
        return document.plan()->cluster.datacenters[std::size_t(datacenter)].gpus();
    }
    [[nodiscard]] bool hasAllFigures()
    {
        return test::until([&] {
            return std::ranges::all_of(
                session.variants(), [&](const Variant &one) { return actions.figures().of(one.plan) != nullptr; });
        });
    }
};

} // namespace

class MeetingTest : public QObject {
    Q_OBJECT

private slots:
    void aPlanAloneShowsNothingOfMeetings()
    {
        Meeting m;
        QVERIFY(!m.actions.strip().isVisible());
        QCOMPARE(m.session.variants().size(), 1U);
    }

    void threeVariantsAreMadeComparedAndDecided()
    {
        Meeting m;
        const QString numbersOfA = m.numbers();
        m.key(Qt::ControlModifier, Qt::Key_D);
        m.settle();
        QCOMPARE(m.session.variants().size(), 2U);
        QVERIFY(m.actions.strip().isVisible());
        for (const Variant &one : m.session.variants()) { // whole, not cut
            QToolButton *chip = m.actions.strip().chip(one.id);
            const QRect place(chip->mapTo(&m.actions.strip(), QPoint()), chip->size());
            QVERIFY2(m.actions.strip().rect().contains(place),
                qPrintable(QStringLiteral("%1 to %2 of %3")
                               .arg(place.top())
                               .arg(place.bottom())
                               .arg(m.actions.strip().height())));
        }
        const std::string a = m.session.variants()[0].id, b = m.session.variants()[1].id;
        QCOMPARE(m.session.current(), b);
        const int before = m.gpusIn(0);
        m.dragNode(0, 23, 2);
        QCOMPARE(m.gpusIn(0), before - 8);
        QVERIFY(m.numbers() != numbersOfA);
        QVERIFY(test::until(
            [&] { return m.bridge.baseline() && m.bridge.baseline()->plan == m.session.variants()[0].plan; }));

        m.key(Qt::ControlModifier, Qt::Key_D);
        m.dragNode(0, 20, 2);
        const std::string c = m.session.current();
        QCOMPARE(m.gpusIn(0), before - 16);

        // Chips and keys go from one to the other; each is as it was left.
        QTest::mouseClick(m.actions.strip().chip(a), Qt::LeftButton);
        m.settle();
        QCOMPARE(m.gpusIn(0), before);
        m.key(Qt::AltModifier, Qt::Key_PageDown);
        m.settle();
        QCOMPARE(m.session.current(), b);
        QCOMPARE(m.gpusIn(0), before - 8);
        m.key(Qt::ControlModifier, Qt::Key_Z);
        m.settle();
        QCOMPARE(m.gpusIn(0), before);
        QVERIFY(!m.document.undoGroup().canUndo());
        m.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_Z);
        m.settle();
        QCOMPARE(m.gpusIn(0), before - 8);

        // The board says what each is.
        m.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_D);
        BoardPage &board = m.actions.board();
        QVERIFY(test::until([&] { return board.isVisible(); }));
        QVERIFY(m.hasAllFigures());
        QApplication::processEvents();
        QVERIFY(board.card(a)->lines().contains(QStringLiteral("baseline")));
        QVERIFY(board.card(b)->lines().contains(QStringLiteral("shown")));
        QVERIFY2(board.card(c)->lines().join(u'\n').contains(QStringLiteral("Move 16 GPUs")),
            qPrintable(board.card(c)->lines().join(u'\n')));
        const PlanFigures *figures = m.actions.figures().of(m.session.value().variant(c)->plan);
        QVERIFY(figures->iterationTime.has_value());
        QTest::mouseClick(board.card(b)->note, Qt::LeftButton);
        QTest::keyClicks(board.card(b)->note, "less over the WAN");
        QTest::mouseClick(board.decision, Qt::LeftButton);
        QCOMPARE(m.session.value().variant(b)->note, std::string("less over the WAN"));
        QTest::keyClicks(board.decision, "C, because Oregon is cheaper");
        QTest::keyClick(board.decision, Qt::Key_Return);
        QCOMPARE(m.session.value().decisions.size(), 1U);
        QCOMPARE(board.decisions->count(), 1);

        // Two of them beside each other, with the numbers of their own evaluations.
        QTest::mouseClick(board.card(c)->compare, Qt::LeftButton);
        ComparePage &page = m.actions.comparison();
        QVERIFY(test::until([&] { return page.isVisible() && page.comparison().pair(); }));
        const ComparedPair &pair = *page.comparison().pair();
        QCOMPARE(pair.before->plan, m.session.value().variant(a)->plan);
        QCOMPARE(pair.after->plan, m.session.value().variant(c)->plan);
        QCOMPARE(page.upper->evaluation(), pair.before);
        QCOMPARE(page.lower->evaluation(), pair.after);
        QCOMPARE(page.upper->visibleRange().end, page.lower->visibleRange().end); // one axis
        QVERIFY(!page.verdict().isEmpty());
        QVERIFY(page.words->model()->rowCount() >= 1);
        page.upper->setVisibleRange(0, pair.before->timeline.duration / 4);
        QCOMPARE(page.lower->visibleRange().end, page.upper->visibleRange().end);
        QTest::keyClick(&page, Qt::Key_Escape);
        QVERIFY(board.isVisible());

        // All of it is one file.
        m.answers.file = m.folder.filePath("meeting.trainyard-session");
        QSignalSpy saved(&m.session, &SessionDocument::saved);
        m.key(Qt::ControlModifier, Qt::Key_S);
        QVERIFY(test::until([&] { return saved.count() == 1; }));
        const auto file = readSession(m.answers.file.toStdString());
        QVERIFY(file.has_value());
        QCOMPARE(file->variants.size(), 3U);
        QCOMPARE(file->decisions.front().text, std::string("C, because Oregon is cheaper"));
        QCOMPARE(file->baseline, a);
        QVERIFY(!m.window.isWindowModified());
        QVERIFY2(m.window.windowTitle().contains(QStringLiteral("meeting")), qPrintable(m.window.windowTitle()));
    }

    void aSessionOpensInTheVariantThatWasShown()
    {
        QString path;
        std::string shown;
        QTemporaryDir folder;
        {
            Meeting m;
            m.key(Qt::ControlModifier, Qt::Key_D);
            m.dragNode(0, 23, 2);
            shown = m.session.current();
            path = folder.filePath("m.trainyard-session");
            QSignalSpy saved(&m.session, &SessionDocument::saved);
            m.session.saveAs(path);
            QVERIFY(test::until([&] { return saved.count() == 1; }));
        }
        Meeting m;
        QSignalSpy opened(&m.session, &SessionDocument::opened);
        m.window.files().open(path);
        QVERIFY(test::until([&] { return opened.count() == 1; }));
        QCOMPARE(m.session.current(), shown);
        m.settle();
        QVERIFY(m.actions.strip().isVisible());
        QVERIFY(!m.window.isWindowModified());
        QCOMPARE(m.answers.asked, 0);
    }

    void closingAMeetingThatNobodySavedAsks()
    {
        Meeting m;
        m.key(Qt::ControlModifier, Qt::Key_D);
        m.answers.unsaved = Prompts::Unsaved::Cancel;
        m.window.close();
        QVERIFY(test::until([&] { return m.answers.asked == 1; }));
        QVERIFY(m.window.isVisible());
    }

    void aRemovedVariantIsBroughtBackByTheMessage()
    {
        Meeting m;
        m.key(Qt::ControlModifier, Qt::Key_D);
        m.dragNode(0, 23, 2);
        QVERIFY(m.window.commands().trigger("variant.remove"));
        QCOMPARE(m.session.variants().size(), 1U);
        QVERIFY(m.window.messages().answer(QStringLiteral("removed"), 0));
        QCOMPARE(m.session.variants().size(), 2U);
    }
};

TRAINYARD_TEST(MeetingTest)
#include "tst_meeting.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// What a start finds of a meeting whose window ended unexpectedly, and takes back at once: variants, names, notes,
// decisions, baseline and edits.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "models/session/session_document.h"
#include "views/session/board_page.h"
#include "views/session/variant_card.h"
#include "views/window/session_actions.h"

#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>

using namespace trainyard;

namespace {

struct Kept : WindowFixture {
    explicit Kept(const QString &state)
        : WindowFixture(QStringLiteral("llama-3-70b-three-regions"), state)
    {
    }
    SessionDocument &session = window.session();
    BoardPage &board = window.sessionActions().board();

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
    [[nodiscard]] QString offer() const { return QStringLiteral("recovery ") + journal; }
    QString journal;
};

/// Three variants, the second renamed, noted and decided on, the third the baseline; the second is edited last.
void holdMeeting(Kept &m)
{
    m.key(Qt::ControlModifier, Qt::Key_D);
    m.dragNode(0, 23, 2);
    m.key(Qt::ControlModifier, Qt::Key_D);
    m.dragNode(0, 20, 2);
    const std::string b = m.session.variants()[1].id;
    m.session.setBaseline(m.session.variants()[2].id);
    m.key(Qt::ControlModifier | Qt::ShiftModifier, Qt::Key_D);
    QVERIFY(test::until([&] { return m.board.isVisible(); }));
    VariantCard *card = m.board.card(b);
    QTest::mouseClick(card->name, Qt::LeftButton);
    card->name->selectAll();
    QTest::keyClicks(card->name, "Oregon");
    QTest::keyClick(card->name, Qt::Key_Return);
    QTest::mouseClick(card->note, Qt::LeftButton);
    QTest::keyClicks(card->note, "cheap power");
    QTest::mouseClick(m.board.decision, Qt::LeftButton);
    QTest::keyClicks(m.board.decision, "Oregon, because of the price");
    QTest::keyClick(m.board.decision, Qt::Key_Return);
    QTest::mouseClick(m.board.back, Qt::LeftButton);
    m.session.show(b);
    m.settle();
    m.dragNode(0, 21, 1);
}

/// The journal as it lies on disk while the window lives: what kill -9 leaves. Its new place.
QString copyJournal(const QString &from, const QString &to)
{
    const QStringList names = QDir(from).entryList({ QStringLiteral("*.journal") }, QDir::Files);
    if (names.size() != 1)
        return {};
    const QString path = QDir(to).filePath(names.front());
    return QFile::copy(QDir(from).filePath(names.front()), path) ? path : QString();
}

} // namespace

class MeetingRestoredTest : public QObject {
    Q_OBJECT

private slots:
    void aMeetingComesBackWhole()
    {
        QTemporaryDir lived, next;
        Session before;
        QString journal;
        {
            Kept m(lived.path());
            holdMeeting(m);
            m.document.recovery().flush();
            before = m.session.value();
            journal = copyJournal(lived.path(), next.path());
        }
        QVERIFY(!journal.isEmpty());
        Kept m(next.path());
        m.journal = journal;
        m.window.files().offerRecovery();
        QVERIFY(test::until([&] { return !m.window.messages().text(m.offer()).isEmpty(); }));
        const QString offer = m.window.messages().text(m.offer());
        QVERIFY2(offer.contains(QStringLiteral("A meeting of 3 variants")), qPrintable(offer));
        QVERIFY2(offer.contains(QStringLiteral("“Oregon”")), qPrintable(offer));
        QVERIFY(m.window.messages().answer(m.offer(), 0)); // Restore the meeting
        m.settle();

        const Session &after = m.session.value();
        QCOMPARE(after.variants.size(), before.variants.size());
        for (std::size_t i = 0; i < after.variants.size(); ++i) {
            QCOMPARE(after.variants[i].name, before.variants[i].name);
            QCOMPARE(after.variants[i].note, before.variants[i].note);
            QVERIFY(areSamePlan(after.variants[i].plan, before.variants[i].plan));
        }
        QCOMPARE(after.variants[1].name, std::string("Oregon"));
        QCOMPARE(after.variants[1].note, std::string("cheap power"));
        QCOMPARE(after.decisions.size(), std::size_t(1));
        QCOMPARE(after.decisions[0].text, std::string("Oregon, because of the price"));
        QCOMPARE(after.decisions[0].variant, after.variants[1].id);
        QCOMPARE(after.baseline, after.variants[2].id);
        QCOMPARE(m.session.current(), after.variants[1].id); // it was worked on last
        QVERIFY(m.session.isModified());

        // With the edits that led there.
        const int gpus = m.document.plan()->cluster.datacenters[0].gpus();
        m.key(Qt::ControlModifier, Qt::Key_Z);
        QCOMPARE(m.document.plan()->cluster.datacenters[0].gpus(), gpus + 8);

        // It is this window's work now, and offered to no other.
        m.document.recovery().flush();
        QVERIFY(!QFile::exists(journal));
    }

    void oneByOneOffersEachOfThem()
    {
        QTemporaryDir lived, next;
        QString journal;
        {
            Kept m(lived.path());
            holdMeeting(m);
            m.document.recovery().flush();
            journal = copyJournal(lived.path(), next.path());
        }
        Kept m(next.path());
        m.journal = journal;
        m.window.files().offerRecovery();
        QVERIFY(test::until([&] { return !m.window.messages().text(m.offer()).isEmpty(); }));
        QVERIFY(m.window.messages().answer(m.offer(), 1));
        QCOMPARE(m.session.variants().size(), std::size_t(1)); // none is taken yet
        const QString second = m.offer() + QStringLiteral(" v2");
        QVERIFY(m.window.messages().text(second).contains(QStringLiteral("“Oregon”")));
        QVERIFY(m.window.messages().answer(second, 0));
        m.settle();
        QCOMPARE(m.session.currentVariant().name, std::string("Oregon"));
        m.document.recovery().flush();
        QVERIFY(QFile::exists(journal)); // the others wait
    }
};

TRAINYARD_TEST(MeetingRestoredTest)
#include "tst_meeting_restored.moc"

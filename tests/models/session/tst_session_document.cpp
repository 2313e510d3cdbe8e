// SPDX-License-Identifier: GPL-3.0-or-later
// A meeting's variants: each has its own edits and file, all are saved together, nothing is lost where two windows work
// on one session or a window is killed.
#include "core/facts/plan/plan_io.h"
#include "core/facts/session/session_io.h"
#include "models/session/session_document.h"
#include "tests/support/test_program.h"
#include "tests/support/until.h"

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace trainyard;

namespace {

PlanPtr plan(int microBatch, const std::string &name = "Of a meeting")
{
    Plan made;
    made.name = name;
    Datacenter here;
    here.id = "here";
    Pool &pool = here.pools.emplace_back();
    pool.id = "p";
    pool.gpu = "h100-sxm-80gb";
    pool.nodes = 2;
    pool.gpusPerNode = 8;
    made.cluster.datacenters.push_back(here);
    made.workload.model = "llama-3-8b";
    made.workload.globalBatch = 4'096;
    made.workload.microBatch = microBatch;
    return std::make_shared<const Plan>(made);
}

struct Window {
    explicit Window(const QString &stateFolder = {})
        : document(plan(1), stateFolder)
    {
    }
    PlanDocument document;
    SessionDocument session { document };

    [[nodiscard]] int shown() const { return document.plan()->workload.microBatch; }
    void edit(int microBatch) { document.apply(plan(microBatch)); }
    [[nodiscard]] bool saves(const QString &path)
    {
        QSignalSpy saved(&session, &SessionDocument::saved), failed(&session, &SessionDocument::saveFailed);
        session.saveAs(path);
        return test::until([&] { return saved.count() + failed.count() > 0; }) && saved.count() == 1;
    }
    [[nodiscard]] bool opens(const QString &path)
    {
        QSignalSpy opened(&session, &SessionDocument::opened), failed(&session, &SessionDocument::openFailed);
        session.open(path);
        return test::until([&] { return opened.count() + failed.count() > 0; }) && opened.count() == 1;
    }
    [[nodiscard]] QStringList names() const
    {
        QStringList names;
        for (const Variant &one : session.variants())
            names << QString::fromStdString(one.name);
        return names;
    }
};

} // namespace

class SessionDocumentTest : public QObject {
    Q_OBJECT

private slots:
    void aWindowWithAPlanIsNoMeeting()
    {
        Window w;
        QVERIFY(!w.session.isMeeting() && !w.session.isModified());
        w.edit(2);
        QVERIFY(!w.session.isMeeting() && w.session.isModified());
        QCOMPARE(w.session.variants().size(), 1U);
        QVERIFY(w.session.currentVariant().plan == w.document.plan());
    }

    void eachVariantHasItsOwnEdits()
    {
        Window w;
        w.edit(2);
        const std::string first = w.session.current(), second = w.session.branch();
        QCOMPARE(w.shown(), 2);
        QVERIFY(!w.document.undoStack().canUndo()); // it begins here
        w.edit(4);
        w.edit(8);
        w.session.show(first);
        QCOMPARE(w.shown(), 2);
        w.document.undoGroup().undo();
        QCOMPARE(w.shown(), 1);
        w.session.show(second);
        QCOMPARE(w.shown(), 8);
        w.document.undoGroup().undo();
        w.document.undoGroup().undo();
        QCOMPARE(w.shown(), 2);
        QVERIFY(!w.document.undoGroup().canUndo());
        w.session.show(first);
        w.document.undoGroup().redo();
        QCOMPARE(w.shown(), 2);
    }

    void aBranchOfATriedPlanIsThatPlan()
    {
        Window w;
        w.document.tryPlan(plan(16), QStringLiteral("tried"));
        w.session.branch();
        QCOMPARE(w.shown(), 16);
        QVERIFY(!w.document.trial());
        w.session.showNext(-1);
        QCOMPARE(w.shown(), 1); // what it was tried on stays what it was
    }

    void theFirstOfTwoIsTheBaseline()
    {
        Window w;
        const std::string first = w.session.current();
        w.session.branch();
        QCOMPARE(w.session.value().baseline, first);
    }

    void whatIsRemovedComesBackWithItsEdits()
    {
        Window w;
        const std::string second = w.session.branch();
        w.edit(4);
        w.session.setNote(second, QStringLiteral("the cheap one"));
        w.session.remove(second);
        QCOMPARE(w.session.variants().size(), 1U);
        QCOMPARE(w.shown(), 1);
        w.session.remove(std::string(w.session.current())); // the last one stays
        QCOMPARE(w.session.variants().size(), 1U);
        w.session.restoreRemoved();
        w.session.show(second);
        QCOMPARE(w.shown(), 4);
        QCOMPARE(w.session.currentVariant().note, std::string("the cheap one"));
        w.document.undoGroup().undo();
        QCOMPARE(w.shown(), 1);
    }

    void theBoardIsReordered()
    {
        Window w;
        w.session.branch(QStringLiteral("B"));
        w.session.branch(QStringLiteral("C"));
        QCOMPARE(w.names(), (QStringList { "Of a meeting", "B", "C" }));
        w.session.move(std::string(w.session.current()), 0);
        QCOMPARE(w.names(), (QStringList { "C", "Of a meeting", "B" }));
        w.session.rename(std::string(w.session.current()), QStringLiteral("  D  "));
        QCOMPARE(w.names().front(), QStringLiteral("D"));
        w.session.rename(std::string(w.session.current()), QStringLiteral(" "));
        QCOMPARE(w.names().front(), QStringLiteral("D"));
    }

    void openingAPlanAddsToWhatIsThere()
    {
        QTemporaryDir folder;
        const QString a = folder.filePath("a.trainyard.json"), b = folder.filePath("b.trainyard.json");
        QVERIFY(writePlan(*plan(4, "A"), a.toStdString()) && writePlan(*plan(8, "B"), b.toStdString()));
        Window w;
        const auto open = [&](const QString &path) {
            QSignalSpy replaced(&w.document, &PlanDocument::replaced);
            w.document.open(path);
            QVERIFY(replaced.wait());
        };
        open(a); // a start that nobody has touched makes room
        QCOMPARE(w.names(), QStringList { "A" });
        w.document.apply(plan(5, "A"));
        open(b);
        QCOMPARE(w.names(), (QStringList { "A", "B" }));
        QCOMPARE(w.shown(), 8);
        QCOMPARE(w.document.path(), b);
        w.session.showNext(1);
        QCOMPARE(w.shown(), 5);
        QCOMPARE(w.document.path(), a);
        QVERIFY(w.document.isModified());
        w.document.undoGroup().undo();
        QVERIFY(!w.document.isModified()); // its file still has that
        QVERIFY(w.session.variantOf(b) != w.session.current() && !w.session.variantOf(b).empty());
    }

    void aSavedSessionIsOpenedAsItWas()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("m.trainyard-session");
        Window w;
        w.edit(2);
        const std::string second = w.session.branch(QStringLiteral("B"));
        w.edit(4);
        w.session.setNote(second, QStringLiteral("two lines\nof a note"));
        w.session.setColor(second, QStringLiteral("#1f77b4"));
        w.session.decide(QStringLiteral("B, because of the link"), second);
        QVERIFY(w.session.isModified());
        QVERIFY(w.saves(path));
        QVERIFY(!w.session.isModified() && !w.document.isModified());
        Window other;
        QVERIFY(other.opens(path));
        Session here = w.session.value(), there = other.session.value();
        QVERIFY(here == there);
        QVERIFY(!other.session.isModified());
        other.session.show(second);
        QCOMPARE(other.shown(), 4);
        other.edit(5);
        QVERIFY(other.session.isModified());
        other.document.undoGroup().undo();
        QVERIFY(!other.session.isModified());
    }

    void twoWindowsOnOneSessionLoseNothing()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("m.trainyard-session");
        Window a;
        a.session.branch(QStringLiteral("B"));
        QVERIFY(a.saves(path));
        Window b;
        QVERIFY(b.opens(path));
        QSignalSpy told(&a.session, &SessionDocument::changedByOthers);
        b.session.branch(QStringLiteral("Of b"));
        b.edit(32);
        b.session.decide(QStringLiteral("b decides"));
        QVERIFY(b.saves(path));
        QVERIFY(test::until([&] { return told.count() > 0; }));
        QVERIFY(told.front().front().toStringList().contains(QStringLiteral("added “Of b”")));
        a.edit(16); // of B
        a.session.decide(QStringLiteral("a decides"));
        QSignalSpy taken(&a.session, &SessionDocument::othersTaken);
        QVERIFY(a.saves(path));
        QCOMPARE(taken.count(), 1);
        for (const Session &one : { a.session.value(), *readSession(path.toStdString()) }) {
            QCOMPARE(one.variants.size(), 3U);
            QCOMPARE(one.decisions.size(), 2U);
            std::vector<int> batches;
            for (const Variant &variant : one.variants)
                batches.push_back(variant.plan->workload.microBatch);
            std::ranges::sort(batches);
            QCOMPARE(batches, (std::vector<int> { 1, 16, 32 }));
        }
    }

    void oneVariantThatBothEditIsKeptTwice()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("m.trainyard-session");
        Window a;
        a.session.branch(QStringLiteral("B"));
        QVERIFY(a.saves(path));
        Window b;
        QVERIFY(b.opens(path));
        const std::string common = a.session.current();
        b.session.show(common);
        a.edit(2);
        b.edit(4);
        QVERIFY(b.saves(path));
        QSignalSpy taken(&a.session, &SessionDocument::othersTaken);
        QVERIFY(a.saves(path));
        QCOMPARE(taken.front()[1].toStringList(), QStringList { "B (theirs)" });
        QCOMPARE(a.session.value().variant(common)->plan->workload.microBatch, 2);
        QCOMPARE(a.session.variants().size(), 3U);
        QCOMPARE(a.names(), (QStringList { "Of a meeting", "B", "B (theirs)" }));
        QCOMPARE(a.session.variants()[2].plan->workload.microBatch, 4);
    }

    void aFileThatIsNoSessionIsNotWrittenOver()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("m.trainyard-session");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("my notes");
        file.close();
        Window w;
        QVERIFY(!w.saves(path));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), QByteArray("my notes"));
        QVERIFY(!w.opens(path));
        QCOMPARE(w.session.variants().size(), 1U);
    }

    /// Every variant's edits are on disk, each under its own name.
    void unsavedWorkOfEveryVariantIsFound()
    {
        QTemporaryDir state;
        {
            Window w(state.path());
            w.edit(2);
            w.session.branch(QStringLiteral("B"));
            w.edit(4);
            w.edit(8);
            w.session.setNote(std::string(w.session.current()), QStringLiteral("the cheap one"));
            w.session.decide(QStringLiteral("B it is"), std::string(w.session.current()));
            w.session.showNext(-1);
            w.edit(3);
            w.document.recovery().flush();
            // As a crash leaves it: nothing of it is forgotten.
            QVERIFY(QDir(state.path()).entryList(QDir::Files).size() >= 1);
        }
        Window next(state.path());
        std::vector<RecoveredPlan> found;
        connect(&next.document.recovery(), &Recovery::meetingFound, this,
            [&](const std::vector<RecoveredPlan> &variants) { found = variants; });
        next.document.recovery().search();
        QVERIFY(test::until([&] { return !found.empty(); }));
        std::ranges::sort(found, {}, [](const RecoveredPlan &one) { return one.variant; });
        QCOMPARE(found.size(), 2U);
        QCOMPARE(found[0].work.plan()->workload.microBatch, 3);
        QCOMPARE(found[1].work.plan()->workload.microBatch, 8);
        // One by one, as one may have them.
        for (const RecoveredPlan &one : found) {
            next.document.restore(one);
            next.session.takeAbout(one.work.about);
        }
        QCOMPARE(next.names(), (QStringList { "Of a meeting", "B" }));
        QCOMPARE(next.shown(), 8);
        QCOMPARE(next.session.currentVariant().note, std::string("the cheap one"));
        QCOMPARE(next.session.value().decisions.size(), 1U);
        QCOMPARE(next.session.value().decisions.front().variant, next.session.current());
        next.document.undoGroup().undo();
        QCOMPARE(next.shown(), 4);
    }

    /// One that is as a sample has it would make room for another plan; of a meeting that is restored it stays.
    void aMeetingComesBackWithWhatNobodyEdited()
    {
        QTemporaryDir state;
        {
            Window w(state.path());
            w.document.startNew(plan(1));
            w.edit(2);
            w.document.undoGroup().undo();
            w.session.branch(QStringLiteral("B"));
            w.edit(4);
            w.session.branch(QStringLiteral("C"));
            w.edit(8);
            w.session.setBaseline(w.session.variants()[1].id);
            w.session.move(w.session.variants()[2].id, 0);
            w.session.showNext(2);
            w.edit(5);
            w.document.recovery().flush();
        }
        Window next(state.path());
        std::vector<RecoveredPlan> found;
        connect(&next.document.recovery(), &Recovery::meetingFound, this,
            [&](const std::vector<RecoveredPlan> &variants) { found = variants; });
        next.document.recovery().search();
        QVERIFY(test::until([&] { return !found.empty(); }));
        const QString told = describe(found);
        QVERIFY2(told.startsWith(QStringLiteral("A meeting of 3 variants, “")), qPrintable(told));
        next.session.restore(found);
        QCOMPARE(next.names(), (QStringList { "C", "Of a meeting", "B" }));
        std::vector<int> batches;
        for (const Variant &one : next.session.variants())
            batches.push_back(one.plan->workload.microBatch);
        QCOMPARE(batches, (std::vector<int> { 8, 1, 5 }));
        QCOMPARE(next.session.value().variant(next.session.value().baseline)->name, std::string("B"));
        QCOMPARE(next.session.currentVariant().name, std::string("B")); // it was worked on last
        next.document.undoGroup().undo();
        QCOMPARE(next.shown(), 4);
    }
};

TRAINYARD_GUILESS_TEST(SessionDocumentTest)
#include "tst_session_document.moc"

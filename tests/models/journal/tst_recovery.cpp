// SPDX-License-Identifier: GPL-3.0-or-later
// When unsaved work reaches the disk, and what an edit waits for. The disk is the system's, with a hook before it.
#include "models/plan_command.h"
#include "models/plan_document.h"
#include "tests/models/journal/journalled_plans.h"
#include "tests/support/test_program.h"
#include "tests/support/until.h"

#include "core/facts/plan/plan_io.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>

using namespace trainyard;
using namespace trainyard::test;
using namespace std::chrono_literals;

namespace {

std::atomic<int> synced = 0;
std::mutex diskMutex;
std::condition_variable diskAnswers;
bool isDiskHung = false;

void hangDisk(bool isHung)
{
    const std::scoped_lock lock(diskMutex);
    isDiskHung = isHung;
    diskAnswers.notify_all();
}

/// To stand behind a document, which waits for its disk when it goes.
struct HungDisk {
    HungDisk() { hangDisk(true); }
    ~HungDisk() { hangDisk(false); }
    HungDisk(const HungDisk &) = delete;
    HungDisk &operator=(const HungDisk &) = delete;
};

} // namespace

/// In place of the system's: hangs where it is told to, then asks it, and counts.
extern "C" int fdatasync(int descriptor)
{
    {
        std::unique_lock lock(diskMutex);
        diskAnswers.wait(lock, [] { return !isDiskHung; });
    }
    const int result = int(::syscall(SYS_fdatasync, descriptor));
    ++synced;
    return result;
}

class TestRecovery : public QObject {
    Q_OBJECT

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void anEditIsOnDiskBeforeTheNextIsAccepted()
    {
        PlanDocument document(numbered(0), state());
        document.recovery().setLongestWait(60s); // a busy machine is no disk that hangs
        const int before = synced;
        for (int edit = 1; edit <= 200; ++edit) {
            document.apply(numbered(edit));
            QVERIFY2(synced - before >= edit - 1, qPrintable(QString::number(edit)));
        }
        document.recovery().flush();
        QCOMPARE(kept().plans.back(), 200);
    }
    /// A timer that each edit starts anew would never be due.
    void editingThatGoesOnForFiveSecondsPostponesNothing()
    {
        PlanDocument document(numbered(0), state());
        document.recovery().setLongestWait(60s);
        int edits = 0, looks = 0;
        QElapsedTimer clock;
        for (clock.start(); clock.elapsed() < 5'000;) {
            ++edits;
            document.apply(numbered(edits), {}, edits % 5 > 2 ? QStringLiteral("slider %1").arg(edits / 5) : QString());
            if (edits < 2 || edits % 40 != 0)
                continue;
            ++looks;
            const Numbers numbers = kept();
            QVERIFY2(numbers.plans.back() >= edits - 1, told(numbers));
            QCOMPARE(numbers.done + 1, int(numbers.plans.size()));
        }
        QVERIFY(looks >= 5);
        document.recovery().flush();
        const Numbers numbers = kept();
        const int count = int(numbers.plans.size()) - 1;
        QVERIFY(count >= std::min(50, document.undoStack().count()));
        for (int i = 0; i < count; ++i)
            QCOMPARE(numbers.plans[std::size_t(i) + 1],
                numberOf(planAfter(document, document.undoStack().count() - count + i)));
    }
    void aDiskThatHangsHoldsAnEditUpOnceAndShortly()
    {
        PlanDocument document(numbered(0), state());
        document.apply(numbered(1));
        document.recovery().flush();
        const HungDisk hung;
        document.apply(numbered(2));
        QElapsedTimer clock;
        clock.start();
        document.apply(numbered(3)); // waits for the one before
        QVERIFY2(clock.elapsed() >= 45, qPrintable(QString::number(clock.elapsed())));
        clock.start();
        for (int edit = 4; edit < 104; ++edit)
            document.apply(numbered(edit)); // waiting, they would take five seconds
        QVERIFY2(clock.elapsed() < 2'500, qPrintable(QString::number(clock.elapsed())));
        QVERIFY(kept().plans.back() < 103);
        hangDisk(false);
        document.recovery().flush();
        QCOMPARE(kept().plans.back(), 103);
        QCOMPARE(kept().done, 103);
        const int before = synced;
        document.recovery().setLongestWait(60s);
        document.apply(numbered(200));
        document.apply(numbered(201));
        QVERIFY(synced > before); // it is waited for again
    }
    void aDiskThatHangsForFiveSecondsIsTold()
    {
        PlanDocument document(numbered(0), state());
        QSignalSpy warned(&document.recovery(), &Recovery::warned);
        const HungDisk hung;
        document.apply(numbered(1));
        document.apply(numbered(2));
        QCOMPARE(warned.count(), 0);
        QTest::qWait(5'200);
        document.apply(numbered(3));
        document.apply(numbered(4));
        QCOMPARE(warned.count(), 1);
        QVERIFY(warned[0][0].toString().contains(QStringLiteral("does not answer")));
    }
    void aFolderThatCannotBeWrittenIsToldOnceAndEditingGoesOn()
    {
        const QString blocked = m_folder->filePath(QStringLiteral("file"));
        put(blocked, "no folder");
        PlanDocument document(numbered(0), blocked + QStringLiteral("/state"));
        QSignalSpy warned(&document.recovery(), &Recovery::warned);
        for (int edit = 1; edit <= 20; ++edit)
            document.apply(numbered(edit));
        document.recovery().flush();
        QVERIFY(warned.count() == 1 || warned.wait());
        QTest::qWait(50);
        QCOMPARE(warned.count(), 1);
        QVERIFY2(warned[0][0].toString().contains(QStringLiteral("not kept")), qPrintable(warned[0][0].toString()));
        QCOMPARE(numberOf(document.plan()), 20);
        QCOMPARE(document.undoStack().count(), 20);
        document.undoStack().undo();
        QCOMPARE(numberOf(document.plan()), 19);
        // Once it can be written all is kept.
        QVERIFY(QFile::remove(blocked));
        document.apply(numbered(21));
        document.recovery().flush();
        QCOMPARE(readJournal(journalIn(blocked + QStringLiteral("/state"))).works.front().work.done, 20);
    }
    void undoRedoAndSavesAreFollowed()
    {
        PlanDocument document(numbered(0), state());
        for (int edit = 1; edit <= 3; ++edit)
            document.apply(numbered(edit));
        document.undoStack().undo();
        QCOMPARE(told(flushed(document)), QByteArray("0 1 2 3 done 2 saved 0"));
        document.undoStack().redo();
        QCOMPARE(told(flushed(document)), QByteArray("0 1 2 3 done 3 saved 0"));
        save(document);
        QCOMPARE(told(flushed(document)), QByteArray("0 1 2 3 done 3 saved 3 clean"));
        document.undoStack().setIndex(1);
        QCOMPARE(told(flushed(document)), QByteArray("0 1 2 3 done 1 saved 3"));
        for (int edit = 4; edit <= 6; ++edit)
            document.apply(numbered(edit), {}, QStringLiteral("slider"));
        QCOMPARE(told(flushed(document)), QByteArray("0 1 6 done 2 saved -1"));
        document.undoStack().setIndex(0);
        QCOMPARE(told(flushed(document)), QByteArray("0 1 6 done 0 saved -1"));
    }
    void aSliderThatEndsWhereItBeganIsNoEditOfTheJournal()
    {
        PlanDocument document(numbered(0), state());
        document.apply(numbered(1));
        document.apply(numbered(2), {}, QStringLiteral("slider"));
        document.apply(numbered(1), {}, QStringLiteral("slider"));
        QCOMPARE(told(flushed(document)), QByteArray("0 1 done 1 saved 0"));
    }
    void anotherPlanTakesThePlaceOfTheLast()
    {
        PlanDocument document(numbered(0), state());
        document.apply(numbered(1));
        document.create(numbered(7));
        QCOMPARE(told(flushed(document)), QByteArray("7 done 0 saved -1"));
        document.apply(numbered(8));
        QCOMPARE(told(flushed(document)), QByteArray("7 8 done 1 saved -1"));
        document.startNew(numbered(9)); // a sample: it is elsewhere, too
        document.recovery().flush();
        QCOMPARE(journalIn(state()), QString());
    }
    void workThatWasRestoredIsKeptBeforeTheOldCopyGoes()
    {
        {
            PlanDocument crashed(numbered(0), state());
            crashed.apply(numbered(1));
        }
        const QString old = journalIn(state());
        QVERIFY(!old.isEmpty());
        PlanDocument document(numbered(5), state());
        QSignalSpy found(&document.recovery(), &Recovery::found);
        document.recovery().search();
        QVERIFY(found.count() == 1 || found.wait());
        const HungDisk hung;
        document.restore(found[0][0].value<RecoveredPlan>());
        QTest::qWait(100);
        QVERIFY(QFile::exists(old));
        hangDisk(false);
        document.recovery().flush();
        QVERIFY(!QFile::exists(old));
        QCOMPARE(told(kept()), QByteArray("0 1 done 1 saved 0"));
    }
    /// As the version before journals wrote them.
    void aFileOfTheVersionBeforeIsOffered()
    {
        QVERIFY(QDir().mkpath(state()));
        const QByteArray first = QByteArray::fromStdString(formatPlan(*numbered(3)));
        const QByteArray second = QByteArray::fromStdString(formatPlan(*numbered(44)));
        put(state() + QStringLiteral("/old.recovery"),
            R"({"done":1,"folder":"","known":"","path":"","saved":0,"steps":[{"bytes":)"
                + QByteArray::number(first.size()) + R"(},{"bytes":)" + QByteArray::number(second.size())
                + R"(,"text":"Batch"}],"when":"2026-01-01T00:00:00"})" + '\n' + first + second);
        PlanDocument document(numbered(0), state());
        QSignalSpy found(&document.recovery(), &Recovery::found);
        document.recovery().search();
        QVERIFY(found.count() == 1 || found.wait());
        const auto recovered = found[0][0].value<RecoveredPlan>();
        QCOMPARE(told(numbersOf(recovered.work)), QByteArray("3 44 done 1 saved 0"));
        document.restore(recovered);
        document.recovery().flush();
        QVERIFY(!QFile::exists(state() + QStringLiteral("/old.recovery")));
        QCOMPARE(told(kept()), QByteArray("3 44 done 1 saved 0"));
    }

private:
    QString state() const { return m_folder->filePath(QStringLiteral("state")); }
    Numbers kept() const
    {
        const auto works = readJournal(journalIn(state())).works;
        return works.size() == 1 ? numbersOf(works.front().work) : Numbers { { -1 } };
    }
    Numbers flushed(PlanDocument &document) const
    {
        document.recovery().flush();
        return kept();
    }
    void save(PlanDocument &document) const
    {
        QSignalSpy saved(&document, &PlanDocument::saved);
        document.saveAs(m_folder->filePath(QStringLiteral("plan.trainyard.json")));
        QVERIFY(saved.wait());
    }
    static PlanPtr planAfter(PlanDocument &document, int edit)
    {
        return static_cast<const PlanCommand *>(document.undoStack().command(edit))->after();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_GUILESS_TEST(TestRecovery)
#include "tst_recovery.moc"

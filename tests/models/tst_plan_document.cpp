// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/plan_document.h"
#include "tests/support/test_program.h"

#include "core/facts/plan/plan_io.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>

using namespace trainyard;

namespace {

PlanPtr plan(int microBatch)
{
    Plan made;
    made.name = "Test";
    Pool pool { .id = "p",
        .gpu = "h100-sxm-80gb",
        .inlineGpu = {},
        .nodes = 2,
        .gpusPerNode = 8,
        .usdPerGpuHour = {},
        .ssd = {},
        .host = {},
        .extra = {} };
    Datacenter here;
    here.id = "here";
    here.pools.push_back(pool);
    made.cluster.datacenters.push_back(here);
    made.workload.model = "llama-3-8b";
    made.workload.globalBatch = 64;
    made.workload.microBatch = microBatch;
    return std::make_shared<const Plan>(made);
}

void overwrite(const QString &path, const QByteArray &content)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(content);
}

} // namespace

class PlanDocumentTest : public QObject {
    Q_OBJECT
private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void undoAndRedoRestoreTheVeryPlans()
    {
        const PlanPtr first = plan(1), second = plan(2), third = plan(4);
        PlanDocument document(first, {});
        document.apply(second);
        document.apply(third);
        document.undoStack().undo();
        QCOMPARE(document.plan(), second);
        document.undoStack().undo();
        QCOMPARE(document.plan(), first);
        document.undoStack().redo();
        document.undoStack().redo();
        QCOMPARE(document.plan(), third);
    }
    void aStepIsNamedByItsDifference()
    {
        PlanDocument document(plan(1), {});
        document.apply(plan(2));
        QCOMPARE(document.undoStack().undoText(), QStringLiteral("Micro-batch 1 → 2"));
        document.apply(plan(4), "Four at a time");
        QCOMPARE(document.undoStack().undoText(), QStringLiteral("Four at a time"));
    }
    void anEqualPlanIsNoStep()
    {
        PlanDocument document(plan(1), {});
        document.apply(plan(1));
        QCOMPARE(document.undoStack().count(), 0);
        QVERIFY(!document.isModified());
    }
    void stepsOfOneKeyMerge()
    {
        PlanDocument document(plan(1), {});
        for (const int b : { 2, 3, 4 })
            document.apply(plan(b), {}, "microBatch");
        QCOMPARE(document.undoStack().count(), 1);
        QCOMPARE(document.undoStack().undoText(), QStringLiteral("Micro-batch 1 → 4"));
        document.apply(plan(8), {}, "another");
        QCOMPARE(document.undoStack().count(), 2);
    }
    void mergedStepsThatEndAtTheirOriginVanish()
    {
        PlanDocument document(plan(1), {});
        document.apply(plan(2), {}, "microBatch");
        document.apply(plan(1), {}, "microBatch");
        QCOMPARE(document.undoStack().count(), 0);
        QCOMPARE(*document.plan(), *plan(1));
        QVERIFY(!document.isModified());
    }
    void aPreviewDoesNotTouchTheStackOrThePlan()
    {
        const PlanPtr first = plan(1), tried = plan(2);
        PlanDocument document(first, {});
        QSignalSpy shown(&document, &PlanDocument::shownPlanChanged), committed(&document, &PlanDocument::planChanged);
        document.preview(tried, "Try two");
        QCOMPARE(document.plan(), first);
        QCOMPARE(document.shownPlan(), tried);
        document.endPreview();
        QCOMPARE(document.shownPlan(), first);
        QCOMPARE(document.undoStack().count(), 0);
        QCOMPARE(committed.count(), 0);
        QCOMPARE(shown.count(), 2);
        QVERIFY(shown[0][1].toBool() && !shown[1][1].toBool());
        QVERIFY(!document.isModified());
    }
    void committingWhatIsPreviewedIsOneStep()
    {
        const PlanPtr first = plan(1), tried = plan(2);
        PlanDocument document(first, {});
        document.preview(tried, "Try two");
        document.apply(tried);
        QVERIFY(!document.isPreviewing());
        QCOMPARE(document.undoStack().count(), 1);
        document.undoStack().undo();
        QCOMPARE(document.plan(), first);
    }
    void aSavedPlanOpensAsItWas()
    {
        const QString path = file();
        PlanDocument document(plan(1), {});
        document.apply(plan(2));
        QVERIFY(document.isModified());
        saveAs(document, path);
        QVERIFY(!document.isModified());
        QCOMPARE(document.path(), path);

        PlanDocument other(plan(1), {});
        open(other, path);
        Plan expected = *document.plan();
        expected.baseDir = other.plan()->baseDir;
        QCOMPARE(*other.plan(), expected);
        QVERIFY(!other.isModified());
        QCOMPARE(other.undoStack().count(), 0);
    }
    void modifiedFollowsUndoAcrossASave()
    {
        PlanDocument document(plan(1), {});
        document.apply(plan(2));
        saveAs(document, file());
        document.undoStack().undo();
        QVERIFY(document.isModified());
        document.undoStack().redo();
        QVERIFY(!document.isModified());
    }
    void aBadFileLeavesThePlanAndTellsWhatIsWrong()
    {
        overwrite(file(), R"({"format": "trainyard.plan", "version": 1, "cluster": 3})");
        PlanDocument document(plan(1), {});
        const PlanPtr before = document.plan();
        QSignalSpy failed(&document, &PlanDocument::openFailed);
        document.open(file());
        QVERIFY(failed.wait());
        const auto errors = failed[0][1].value<Errors>();
        QVERIFY(!errors.empty());
        QVERIFY(QString::fromStdString(toString(errors.front())).contains("/cluster"));
        QCOMPARE(document.plan(), before);
    }
    void aMissingFileTellsSo()
    {
        PlanDocument document(plan(1), {});
        QSignalSpy failed(&document, &PlanDocument::openFailed);
        document.open(m_folder->filePath("nowhere.json"));
        QVERIFY(failed.wait());
        QVERIFY(failed[0][1].value<Errors>().front().code == ErrorCode::CannotRead);
    }
    void whatIsNoFileIsRefusedAndNothingWaitsForIt()
    {
        const QString pipe = m_folder->filePath("pipe.json");
        QCOMPARE(::mkfifo(pipe.toLocal8Bit().constData(), 0600), 0);
        PlanDocument document(plan(1), {});
        QSignalSpy failed(&document, &PlanDocument::openFailed), unsaved(&document, &PlanDocument::saveFailed);
        for (const QString &path : { pipe, QStringLiteral("/dev/zero"), QStringLiteral("/proc/self/mem") }) {
            document.open(path);
            QVERIFY(failed.wait());
            QVERIFY(failed.takeFirst()[1].value<Errors>().front().code == ErrorCode::CannotRead);
        }
        document.saveAs(pipe);
        QVERIFY(unsaved.wait());
        QVERIFY(unsaved[0][1].value<Errors>().front().what.find("pipe") != std::string::npos);
    }
    void aSavedFileKeepsItsLinkAndItsPermissions()
    {
        PlanDocument document(plan(1), {});
        saveAs(document, file());
        QVERIFY(QFile::setPermissions(file(), QFile::ReadOwner | QFile::WriteOwner | QFile::ReadGroup));
        const QString link = m_folder->filePath("link.json");
        QVERIFY(QFile::link(file(), link));
        document.apply(plan(2), {});
        saveAs(document, link);
        QVERIFY(QFileInfo(link).isSymLink());
        QCOMPARE(readPlan(file().toStdString())->workload.microBatch, 2);
        QCOMPARE(QFileInfo(file()).permissions() & (QFile::ReadGroup | QFile::ReadOther),
            QFile::Permissions(QFile::ReadGroup));
    }
    void aSampleBecomesAnUntitledPlan()
    {
        QVERIFY(writePlan(*plan(3), file().toStdString()));
        PlanDocument document(plan(1), {});
        QSignalSpy replaced(&document, &PlanDocument::replaced);
        document.openAsNew(file());
        QVERIFY(replaced.wait());
        QVERIFY(document.path().isEmpty());
        QVERIFY(!document.isModified());
        QCOMPARE(document.plan()->workload.microBatch, 3);
    }
    void anotherProgramsWriteIsNoticedAndOnesOwnIsNot()
    {
        PlanDocument document(plan(1), {}), other(plan(1), {});
        QSignalSpy changed(&document, &PlanDocument::changedOnDisk), changedToo(&other, &PlanDocument::changedOnDisk);
        saveAs(document, file());
        open(other, file());
        document.apply(plan(2));
        saveAs(document, file());
        QTRY_COMPARE(changedToo.count(), 1); // by who has not written it
        QCOMPARE(changed.count(), 0);
        overwrite(file(), QByteArray::fromStdString(formatPlan(*plan(7))));
        QTRY_COMPARE(changed.count(), 1);
        QVERIFY(document.isModified()); // closing would lose what only this window has
        QVERIFY(!document.isEdited());
        open(document, file());
        QCOMPARE(document.plan()->workload.microBatch, 7);
        QVERIFY(!document.isModified());
    }
    void aFileReplacedByRenamingIsNoticedEachTime()
    {
        PlanDocument document(plan(1), {});
        saveAs(document, file());
        QSignalSpy changed(&document, &PlanDocument::changedOnDisk);
        for (int b = 2; b < 4; ++b) {
            QVERIFY(writePlan(*plan(b), file().toStdString())); // writes beside it and renames
            QVERIFY(changed.wait());
        }
        QCOMPARE(changed.count(), 2);
    }
    void aRemovedFileIsNoticed()
    {
        PlanDocument document(plan(1), {});
        saveAs(document, file());
        QSignalSpy removed(&document, &PlanDocument::removedOnDisk);
        QVERIFY(QFile::remove(file()));
        QVERIFY(removed.wait());
        QVERIFY(document.isModified());
        saveAs(document, file());
        QVERIFY(!document.isModified());
    }
    /// Every key that names a file: tests/core/facts/plan/tst_named_files.cpp.
    void aRelativeModelPathFollowsAPlanSavedElsewhere()
    {
        QVERIFY(QDir(m_folder->path()).mkpath(QStringLiteral("elsewhere")));
        Plan named = *plan(1);
        named.baseDir = m_folder->path().toStdString();
        named.workload.model = "models/config.json";
        PlanDocument document(std::make_shared<const Plan>(named), m_folder->filePath("state"));
        const QString there = m_folder->filePath("elsewhere/plan.trainyard.json");
        saveAs(document, there);
        QCOMPARE(readPlan(there.toStdString())->workload.model, std::string("../models/config.json"));
    }
    void whatACrashLeftIsOfferedAndRestored()
    {
        const QString state = m_folder->filePath("state");
        {
            PlanDocument crashed(plan(1), state);
            crashed.apply(plan(5));
            crashed.recovery().flush();
        } // ends without saving or giving up
        PlanDocument next(plan(1), state);
        QSignalSpy found(&next.recovery(), &Recovery::found);
        next.recovery().search();
        QVERIFY(found.wait());
        const auto recovered = found[0][0].value<RecoveredPlan>();
        QVERIFY(describe(recovered).contains("“Test”"));
        next.restore(recovered);
        QCOMPARE(next.plan()->workload.microBatch, 5);
        QVERIFY(next.isModified());
    }
    void aPlanThatIsNowhereElseIsUnsavedAndRecovered()
    {
        const QString state = m_folder->filePath("created");
        {
            PlanDocument crashed(plan(1), state);
            crashed.startNew(plan(2)); // a sample: it is elsewhere, too
            QVERIFY(!crashed.isModified());
            crashed.create(plan(7));
            QVERIFY(crashed.isModified() && crashed.path().isEmpty() && !crashed.undoStack().canUndo());
            QCOMPARE(crashed.opening(), crashed.plan());
            crashed.recovery().flush();
        }
        PlanDocument next(plan(1), state);
        restoreLeft(next);
        QCOMPARE(next.plan()->workload.microBatch, 7);
        QVERIFY(next.isModified());
        saveAs(next, m_folder->filePath("created.trainyard.json"));
        QVERIFY(!next.isModified());
    }
    void recoveryNamesTheEditsAndTheyCanBeUndone()
    {
        const QString state = m_folder->filePath("state");
        {
            PlanDocument crashed(plan(1), state);
            saveAs(crashed, file());
            crashed.apply(plan(2), "Two");
            crashed.apply(plan(4), "Four");
            crashed.apply(plan(8), "Eight");
            crashed.undoStack().undo();
            crashed.recovery().flush();
        }
        PlanDocument next(plan(1), state);
        restoreLeft(next);
        QCOMPARE(unsavedEdits(m_recovered.work), QStringList({ "Two", "Four" }));
        QVERIFY2(describe(m_recovered).contains("2 unsaved edits"), qPrintable(describe(m_recovered)));
        QCOMPARE(next.plan()->workload.microBatch, 4);
        QCOMPARE(next.undoStack().undoText(), QString("Four"));
        QCOMPARE(next.undoStack().redoText(), QString("Eight"));
        next.undoStack().undo();
        QVERIFY(next.isModified());
        next.undoStack().undo();
        QCOMPARE(next.plan()->workload.microBatch, 1);
        QVERIFY(!next.isModified()); // as the file has it
    }
    void whereMoreEditsAreUndoneThanAreKeptThePlanIsStillTheOneThatWasOpen()
    {
        const QString state = m_folder->filePath("state");
        {
            PlanDocument crashed(plan(1), state);
            for (int i = 2; i < 90; ++i)
                crashed.apply(plan(i));
            crashed.undoStack().setIndex(10);
            crashed.recovery().flush();
        }
        PlanDocument next(plan(1), state);
        restoreLeft(next);
        QCOMPARE(next.plan()->workload.microBatch, 11);
        next.undoStack().redo();
        QCOMPARE(next.plan()->workload.microBatch, 12);
    }
    void workThatAnOlderVersionKeptIsOfferedToo()
    {
        const QString state = m_folder->filePath("state");
        QDir().mkpath(state);
        overwrite(state + "/old.recovery",
            "{\"path\":\"\",\"folder\":\"\",\"when\":\"2026-01-01T00:00:00\"}\n"
                + QByteArray::fromStdString(formatPlan(*plan(6))));
        PlanDocument next(plan(1), state);
        restoreLeft(next);
        QCOMPARE(next.plan()->workload.microBatch, 6);
        QVERIFY(next.isModified());
    }
    void aDamagedFileOfAnOlderVersionHarmsNothing()
    {
        const QString state = m_folder->filePath("state");
        QDir().mkpath(state);
        const QByteArray first = QByteArray::fromStdString(formatPlan(*plan(1)));
        const QByteArray second = QByteArray::fromStdString(formatPlan(*plan(5)));
        overwrite(state + "/old.recovery",
            R"({"done":77,"saved":999,"steps":[{"bytes":)" + QByteArray::number(first.size()) + R"(},{"bytes":)"
                + QByteArray::number(second.size()) + R"(,"text":"Five"}]})" + '\n' + first + second);
        PlanDocument next(plan(1), state);
        restoreLeft(next);
        QCOMPARE(next.plan()->workload.microBatch, 5);
    }
    void recoveredWorkThatCrashesAgainIsKeptWhole()
    {
        const QString state = m_folder->filePath("state");
        {
            PlanDocument crashed(plan(1), state);
            crashed.apply(plan(2), "Two");
            crashed.recovery().flush();
        }
        {
            PlanDocument again(plan(1), state);
            restoreLeft(again);
            again.apply(plan(4), "Four");
            again.recovery().flush();
        }
        PlanDocument next(plan(1), state);
        restoreLeft(next);
        QCOMPARE(unsavedEdits(m_recovered.work), QStringList({ "Two", "Four" }));
    }
    void afterRecoveryAnotherFileOfTheFolderIsNotThePlan()
    {
        const QString state = m_folder->filePath("state");
        {
            PlanDocument crashed(plan(1), state);
            saveAs(crashed, file());
            crashed.apply(plan(5));
            crashed.recovery().flush();
        }
        PlanDocument next(plan(1), state);
        QSignalSpy changed(&next, &PlanDocument::changedOnDisk);
        restoreLeft(next);
        const QString notes = m_folder->filePath("notes.trainyard.json");
        PlanDocument other(plan(1), {});
        saveAs(other, notes);
        QSignalSpy changedToo(&other, &PlanDocument::changedOnDisk);
        QVERIFY(writePlan(*plan(3), notes.toStdString())); // renames: the folder changes, which both watch
        QTRY_COMPARE(changedToo.count(), 1);
        QCOMPARE(changed.count(), 0);
        overwrite(file(), QByteArray::fromStdString(formatPlan(*plan(7))));
        QTRY_COMPARE(changed.count(), 1);
        QVERIFY(next.isEdited()); // reloading asks first
    }
    void aFileThatChangedSinceTheCrashIsToldAtOnce()
    {
        const QString state = m_folder->filePath("state");
        {
            PlanDocument crashed(plan(1), state);
            saveAs(crashed, file());
            crashed.apply(plan(5));
            crashed.recovery().flush();
        }
        overwrite(file(), QByteArray::fromStdString(formatPlan(*plan(7))));
        PlanDocument next(plan(1), state);
        QSignalSpy changed(&next, &PlanDocument::changedOnDisk);
        restoreLeft(next);
        QTRY_COMPARE(changed.count(), 1);
        QCOMPARE(next.plan()->workload.microBatch, 5);
    }
    void aWindowThatLivesIsNotOffered()
    {
        const QString state = m_folder->filePath("state");
        PlanDocument living(plan(1), state);
        living.apply(plan(5));
        living.recovery().flush();
        PlanDocument next(plan(1), state);
        QCOMPARE(offered(next), 0);
    }
    void savedWorkIsNotOffered()
    {
        const QString state = m_folder->filePath("state");
        {
            PlanDocument document(plan(1), state);
            document.apply(plan(5));
            document.recovery().flush();
            saveAs(document, file());
        }
        PlanDocument next(plan(1), state);
        QCOMPARE(offered(next), 0);
    }

private:
    QString file() const { return m_folder->filePath("plan.trainyard.json"); }
    static void saveAs(PlanDocument &document, const QString &path)
    {
        QSignalSpy saved(&document, &PlanDocument::saved);
        document.saveAs(path);
        QVERIFY(saved.wait());
    }
    static void open(PlanDocument &document, const QString &path)
    {
        QSignalSpy replaced(&document, &PlanDocument::replaced);
        document.open(path);
        QVERIFY(replaced.wait());
    }

    /// How many a search finds, once it has ended.
    static qsizetype offered(PlanDocument &document)
    {
        QSignalSpy found(&document.recovery(), &Recovery::found);
        document.recovery().search();
        document.recovery().flush(); // waits for what is under way
        QCoreApplication::processEvents();
        return found.count();
    }

    void restoreLeft(PlanDocument &document)
    {
        QSignalSpy found(&document.recovery(), &Recovery::found);
        document.recovery().search();
        QVERIFY(found.wait());
        m_recovered = found[0][0].value<RecoveredPlan>();
        document.restore(m_recovered);
    }

    RecoveredPlan m_recovered;
    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_GUILESS_TEST(PlanDocumentTest)
#include "tst_plan_document.moc"

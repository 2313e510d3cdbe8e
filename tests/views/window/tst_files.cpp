// SPDX-License-Identifier: GPL-3.0-or-later
// Files and the window: drops, faults, changes on disk, closing with unsaved work.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "core/facts/plan/plan_io.h"
#include "views/panels/workload_editor.h"
#include "views/timeline/timeline_view.h"

#include <QDir>
#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QSpinBox>

using namespace trainyard;

namespace {

void drop(QWidget &window, const QString &path)
{
    QMimeData data;
    data.setUrls({ QUrl::fromLocalFile(path) });
    const QPoint at = window.rect().center();
    QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent dropped(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&window, &dropped);
}

void write(const QString &path, const QByteArray &content)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(content);
}

/// A model's config.json in a folder of its own.
QString ownConfig(WindowFixture &f)
{
    const QString folder = f.folder.filePath("our-model");
    QDir().mkpath(folder);
    const QString path = folder + "/config.json";
    write(path,
        R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "num_hidden_layers": 36,
                    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256})");
    return path;
}

void edit(WindowFixture &f)
{
    Plan next = *f.document.plan();
    next.workload.globalBatch *= 2;
    f.document.apply(std::make_shared<const Plan>(next));
}

} // namespace

class FilesTest : public QObject {
    Q_OBJECT
private slots:
    void aDroppedPlanOpens()
    {
        WindowFixture f;
        const QString path = f.folder.filePath("mixed.trainyard.json");
        QVERIFY(QFile::copy(WindowFixture::samplePath("mixed-lab"), path));
        drop(f.window, path);
        QTRY_COMPARE(f.document.path(), path);
        f.settle();
        QCOMPARE(f.recent.paths().value(0), path);
        QVERIFY(f.window.windowTitle().contains(f.document.displayName()));
    }
    void aDroppedModelConfigBecomesTheModel()
    {
        WindowFixture f;
        const QString path = ownConfig(f);
        drop(f.window, path);
        QTRY_VERIFY(f.document.plan()->workload.inlineModel);
        QCOMPARE(f.document.plan()->workload.inlineModel->name, std::string("our-model"));
        QCOMPARE(f.document.undoStack().count(), 1);
        f.settle();
        QCOMPARE(f.bridge.evaluation()->model.layers, 36);
    }
    void aPlanOfAConfigFileNeedsTheFileNoMore()
    {
        WindowFixture f;
        const QString config = ownConfig(f);
        f.answers.config = config;
        f.window.files().chooseModelConfig();
        QTRY_VERIFY(f.document.plan()->workload.inlineModel);
        f.settle();
        const double before = f.bridge.evaluation()->metrics.iterationTime.value();
        // Where the shape came from is remembered, without a path of this machine.
        QCOMPARE(
            f.document.plan()->workload.inlineModel->source, std::string("our-model/config.json, model type llama"));
        const QString elsewhere = f.folder.filePath("elsewhere");
        QVERIFY(QDir().mkpath(elsewhere));
        f.answers.save = elsewhere + "/plan.trainyard.json";
        f.window.files().saveAs();
        QTRY_COMPARE(f.document.path(), f.answers.save);
        QFile saved(f.answers.save);
        QVERIFY(saved.open(QIODevice::ReadOnly));
        QVERIFY(!saved.readAll().contains(f.folder.path().toUtf8()));
        QVERIFY(QFile::remove(config));

        f.window.files().openSample(WindowFixture::samplePath("mixed-lab"));
        QTRY_VERIFY(f.document.path().isEmpty());
        f.window.files().open(f.answers.save);
        QTRY_COMPARE(f.document.path(), f.answers.save);
        f.settle();
        QCOMPARE(f.bridge.evaluation()->metrics.iterationTime.value(), before);
        QCOMPARE(
            f.document.plan()->workload.inlineModel->source, std::string("our-model/config.json, model type llama"));
    }
    void somethingElseDroppedIsDeclinedInWords()
    {
        WindowFixture f;
        const QString path = f.folder.filePath("notes.txt");
        write(path, "hello");
        drop(f.window, path);
        QTRY_VERIFY(!f.window.messages().text("open").isEmpty());
        QVERIFY(f.window.messages().text("open").contains("notes.txt"));
    }
    void aBadPlanIsExplainedAndTheOldOneStays()
    {
        WindowFixture f;
        const PlanPtr before = f.document.plan();
        const QString path = f.folder.filePath("bad.trainyard.json");
        write(path, R"({"format": "trainyard.plan", "version": 1, "cluster": 3})");
        f.window.files().open(path);
        QTRY_VERIFY(!f.window.messages().text("open").isEmpty());
        QCOMPARE(f.document.plan(), before);
    }
    void aFileChangedOnDiskIsOfferedWithoutADialog()
    {
        WindowFixture f;
        const QString path = f.folder.filePath("plan.trainyard.json");
        f.answers.save = path;
        f.window.files().saveAs();
        QTRY_COMPARE(f.document.path(), path);
        Plan other = *f.document.plan();
        other.workload.globalBatch = 256;
        QVERIFY(writePlan(other, path.toStdString()));
        QTRY_VERIFY(!f.window.messages().text("disk").isEmpty());
        QVERIFY(f.window.messages().answer("disk", 0));
        QTRY_COMPARE(f.document.plan()->workload.globalBatch, 256);
        QVERIFY(f.window.messages().text("disk").isEmpty());
        QCOMPARE(f.answers.asked, 0);
    }
    void savingOverAnotherProgramsChangeAsks()
    {
        WindowFixture f;
        const QString path = f.folder.filePath("plan.trainyard.json");
        f.answers.save = path;
        f.window.files().saveAs();
        QTRY_COMPARE(f.document.path(), path);
        edit(f);
        Plan other = *f.document.plan();
        other.workload.globalBatch = 256;
        QVERIFY(writePlan(other, path.toStdString()));
        const auto onDisk = [&] { return readPlan(path.toStdString())->workload.globalBatch; };
        // At once, and after the change was told: neither is silent.
        f.window.files().save();
        QTRY_COMPARE(f.answers.askedOfForeign, 1);
        QTRY_VERIFY(!f.window.messages().text("disk").isEmpty());
        QVERIFY(f.window.commands().trigger("file.save"));
        QTRY_COMPARE(f.answers.askedOfForeign, 2);
        QCOMPARE(onDisk(), 256);
        QVERIFY(f.document.isModified());
        f.answers.foreign = Prompts::Foreign::Overwrite;
        f.window.files().save();
        QTRY_VERIFY(!f.document.isModified());
        QVERIFY(onDisk() != 256);
        QCOMPARE(f.answers.askedOfForeign, 3);
        // What was written here is nobody else's, also in quick succession.
        edit(f);
        f.window.files().save();
        edit(f);
        f.window.files().save();
        QTRY_VERIFY(!f.document.isModified());
        QCOMPARE(f.answers.askedOfForeign, 3);
    }
    void afterKeepMineASaveWritesWithoutAsking()
    {
        WindowFixture f;
        const QString path = f.folder.filePath("plan.trainyard.json");
        f.answers.save = path;
        f.window.files().saveAs();
        QTRY_COMPARE(f.document.path(), path);
        edit(f);
        Plan other = *f.document.plan();
        other.workload.globalBatch = 256;
        QVERIFY(writePlan(other, path.toStdString()));
        QTRY_VERIFY(!f.window.messages().text("disk").isEmpty());
        QVERIFY(f.window.messages().answer("disk", 1));
        f.window.files().save();
        QTRY_VERIFY(!f.document.isModified());
        QCOMPARE(f.answers.askedOfForeign, 0);
    }
    void keepingMineAfterAChangeOnDiskLosesNothingOnClosing()
    {
        WindowFixture f;
        const QString path = f.folder.filePath("plan.trainyard.json");
        f.answers.save = path;
        f.window.files().saveAs();
        QTRY_COMPARE(f.document.path(), path);
        edit(f);
        f.window.files().save();
        QTRY_VERIFY(!f.document.isModified());
        Plan other = *f.document.plan();
        other.workload.globalBatch = 256;
        QVERIFY(writePlan(other, path.toStdString()));
        QTRY_VERIFY(!f.window.messages().text("disk").isEmpty());
        QVERIFY(f.window.messages().answer("disk", 1));
        QVERIFY(!f.window.close());
        QCOMPARE(f.answers.asked, 1);
    }
    void quittingNamesEachPlanThatWouldBeLost()
    {
        WindowFixture f;
        edit(f);
        const QString first = f.document.displayName();
        Plan other = *f.document.plan();
        other.name = "Another";
        f.window.files().startWith(std::make_shared<const Plan>(std::move(other)));
        QTRY_COMPARE(f.window.session().variants().size(), std::size_t(2));
        edit(f);
        QVERIFY(!f.window.close());
        QCOMPARE(f.answers.asked, 1);
        QVERIFY2(f.answers.askedAbout.contains(first) && f.answers.askedAbout.contains(QStringLiteral("Another")),
            qPrintable(f.answers.askedAbout));
    }
    void reloadingOverEditsAsksFirst()
    {
        WindowFixture f;
        const QString path = f.folder.filePath("plan.trainyard.json");
        f.answers.save = path;
        f.window.files().saveAs();
        QTRY_COMPARE(f.document.path(), path);
        edit(f);
        const PlanPtr mine = f.document.plan();
        Plan other = *mine;
        other.workload.globalBatch = 256;
        QVERIFY(writePlan(other, path.toStdString()));
        QTRY_VERIFY(!f.window.messages().text("disk").isEmpty());
        QVERIFY(f.window.messages().answer("disk", 0));
        QCOMPARE(f.answers.asked, 1);
        QCOMPARE(f.document.plan(), mine);
    }
    void whatIsTypedInAFieldIsSavedToo()
    {
        WindowFixture f;
        f.answers.save = f.folder.filePath("typed.trainyard.json");
        QVERIFY(f.window.commands().trigger("view.workload"));
        const int batch = f.document.plan()->workload.globalBatch;
        QSpinBox *field = nullptr;
        for (auto *box : f.window.workbench().workload->findChildren<QSpinBox *>()) {
            if (box->value() == batch)
                field = box;
        }
        QVERIFY(field);
        QApplication::setActiveWindow(&f.window);
        field->setFocus();
        QTRY_COMPARE(QApplication::focusWidget(), field);
        field->selectAll();
        QTest::keyClicks(field, QString::number(batch * 2));
        f.window.files().saveAs();
        QTRY_VERIFY(!f.document.path().isEmpty());
        const auto saved = readPlan(f.answers.save.toStdString());
        QVERIFY(saved);
        QCOMPARE(saved->workload.globalBatch, batch * 2);
    }
    void aFirstPlanThatCannotBeOpenedGivesWayToTheSampleAndSaysWhy()
    {
        WindowFixture f;
        const PlanPtr before = f.document.plan();
        f.window.files().openAtStart({ f.folder.filePath("nowhere.trainyard.json") });
        QTRY_VERIFY(f.document.plan() != before);
        f.settle();
        QVERIFY(!f.document.plan()->cluster.datacenters.empty());
        QVERIFY(f.document.path().isEmpty());
        QVERIFY(f.window.messages().text("start").contains("nowhere"));
    }
    void aPlanThatCannotBeEvaluatedSaysSoAndShowsNoNumbersOfAnother()
    {
        WindowFixture f;
        const QString numbers = f.numbers();
        Plan next = *f.document.plan();
        next.workload.inlineModel.reset();
        next.workload.model = "no-such-model";
        f.document.apply(std::make_shared<const Plan>(next));
        QTRY_VERIFY(!f.window.messages().text("evaluation").isEmpty());
        QVERIFY(!f.bridge.isStale());
        QVERIFY(!f.window.workbench().timeline->evaluation());
        QVERIFY(f.numbers() != numbers);
        QVERIFY(!f.window.commands().trigger("plan.pinBaseline"));
        QVERIFY(f.window.commands().trigger("edit.undo"));
        f.settle();
        QCOMPARE(f.numbers(), numbers);
        QVERIFY(f.window.messages().text("evaluation").isEmpty());
        QVERIFY(f.window.commands().trigger("plan.pinBaseline"));
    }
    void theTitleCarriesTheModifiedMarkUntilUndone()
    {
        WindowFixture f;
        QVERIFY(!f.window.isWindowModified());
        edit(f);
        QVERIFY(f.window.isWindowModified());
        f.window.commands().trigger("edit.undo");
        QVERIFY(!f.window.isWindowModified());
    }
    void closingAsksOnlyWithUnsavedChangesAndDoesAsTold()
    {
        WindowFixture f;
        edit(f);
        f.answers.unsaved = Prompts::Unsaved::Cancel;
        QVERIFY(!f.window.close());
        QCOMPARE(f.answers.asked, 1);
        QVERIFY(f.window.isVisible());

        f.answers.unsaved = Prompts::Unsaved::Save;
        f.answers.save = f.folder.filePath("kept.trainyard.json");
        f.window.close();
        QTRY_VERIFY(!f.window.isVisible());
        QVERIFY(QFile::exists(f.answers.save));
    }
    void aNewPlanThatWasNeverSavedIsAskedFor()
    {
        WindowFixture f;
        Plan made = *f.document.plan();
        made.name = "New";
        f.window.files().startWith(std::make_shared<const Plan>(made));
        f.settle();
        QVERIFY(f.window.isWindowModified() && !f.document.undoStack().canUndo());
        f.answers.unsaved = Prompts::Unsaved::Cancel;
        QVERIFY(!f.window.close());
        QCOMPARE(f.answers.asked, 1);
        f.answers.unsaved = Prompts::Unsaved::Save;
        f.answers.save = f.folder.filePath("new.trainyard.json");
        f.window.close();
        QTRY_VERIFY(!f.window.isVisible());
        QCOMPARE(readPlan(f.answers.save.toStdString())->name, std::string("New"));
    }
    void aFailedSaveOffersAnotherPlace()
    {
        WindowFixture f;
        edit(f);
        f.answers.save = f.folder.filePath("no such folder/a.trainyard.json");
        f.window.files().save();
        QTRY_VERIFY(!f.window.messages().text("save").isEmpty());
        f.answers.save = f.folder.filePath("b.trainyard.json");
        QVERIFY(f.window.messages().answer("save", 0)); // Save as…
        QTRY_VERIFY(QFile::exists(f.answers.save));
        QTRY_VERIFY(f.window.messages().text("save").isEmpty());
    }
    /// The recovered plan is compared with what its file holds, not with itself.
    void afterRecoveryTheBaselineIsThePlanOfTheFile()
    {
        WindowFixture f;
        const PlanPtr start = f.document.plan();
        Plan changed = *start;
        changed.workload.globalBatch *= 2;
        RecoveredPlan left;
        left.work.start = start;
        left.work.edits = { { QStringLiteral("Global batch"), std::make_shared<const Plan>(changed) } };
        left.work.done = 1;
        left.work.saved = 0;
        f.document.restore(left);
        QTRY_VERIFY(f.bridge.baseline() && f.bridge.baseline()->plan == start);
        QVERIFY(f.bridge.isBaselineOpening());
        f.settle();
        QCOMPARE(f.document.plan()->workload.globalBatch, changed.workload.globalBatch);
    }
    void closingWithoutSavingIsPossible()
    {
        WindowFixture f;
        edit(f);
        f.answers.unsaved = Prompts::Unsaved::Discard;
        f.window.close();
        QTRY_VERIFY(!f.window.isVisible());
    }
};

TRAINYARD_TEST(FilesTest)
#include "tst_files.moc"

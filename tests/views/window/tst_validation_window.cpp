// SPDX-License-Identifier: GPL-3.0-or-later
// The validation page within the window: how one gets there and back, and what it hands over.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "core/evaluation/evaluate/metrics/confidence.h"
#include "views/panels/confidence_button.h"
#include "views/validation/validation_page.h"
#include "views/window/status_line.h"

#include <QFile>

using namespace trainyard;

class ValidationWindowTest : public QObject {
    Q_OBJECT
private:
    /// Rows of one's own, so that no test waits for all published ones.
    static QString writeRows(const QTemporaryDir &folder, const char *model = "llama-3-8b")
    {
        const QString path = folder.filePath(QStringLiteral("mine.json"));
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly))
            return {};
        file.write(QByteArray(
            R"({"format": "trainyard.validation", "version": 1, "source": "mine", "title": "Mine", "rows": [{"id": "a",
            "plan": {"cluster": {"datacenters": [{"id": "site", "pools": [{"gpu": "h100-sxm-80gb", "nodes": 1}]}]},
                     "workload": {"model": "MODEL", "global_batch": 16}, "parallelism": {"tensor": 8}}, "published": {"iteration_time_s": 1}}]})")
                       .replace("MODEL", model));
        return path;
    }

private slots:
    void theCommandOpensThePageAndAPanelCommandLeavesIt()
    {
        WindowFixture f;
        f.window.validation().run(writeRows(f.folder));
        QTRY_VERIFY_WITH_TIMEOUT(f.window.validationRunner().result(), 30000);
        QVERIFY(f.window.commands().trigger("view.validation"));
        QVERIFY(f.window.validation().isVisible() && !f.window.workbench().isVisible());
        QVERIFY(f.window.commands().trigger("view.why"));
        QVERIFY(!f.window.validation().isVisible() && f.window.workbench().isVisible());
    }
    void theConfidenceLeadsToTheEvidence()
    {
        WindowFixture f(QStringLiteral("gpt3-175b-1024-a100")); // runs like it were published
        f.window.validation().run(writeRows(f.folder));
        QTRY_VERIFY_WITH_TIMEOUT(f.window.validationRunner().result(), 30000);
        ConfidenceButton &label = f.window.workbench().status->confidence();
        QVERIFY(label.isVisible());
        const int rows = evidenceRows(*f.bridge.evaluation(), builtinCatalogue());
        QVERIFY(rows > 0);
        QVERIFY2(label.toolTip().contains(QStringLiteral("%L1 published row").arg(rows)), qPrintable(label.toolTip()));
        QTest::mouseClick(&label, Qt::LeftButton);
        QVERIFY(f.window.validation().isVisible());
    }
    void aRowsPlanReplacesTheOneOnTheWorkbench()
    {
        WindowFixture f;
        f.window.validation().run(writeRows(f.folder));
        QTRY_VERIFY_WITH_TIMEOUT(f.window.validationRunner().result(), 30000);
        f.window.showValidation();
        const ValidatedRowsPtr found = f.window.validationRunner().result();
        emit f.window.validation().planChosen(planOf(*found, found->results().front()));
        QVERIFY(f.window.workbench().isVisible());
        QCOMPARE(f.document.plan()->workload.model, std::string("llama-3-8b"));
        QVERIFY(f.document.isModified() && f.document.path().isEmpty());
        f.settle();
    }
    void aDroppedFileOfRowsIsRun()
    {
        WindowFixture f;
        f.window.files().openDropped(writeRows(f.folder));
        QTRY_VERIFY_WITH_TIMEOUT(f.window.validationRunner().result(), 30000);
        QVERIFY(f.window.validation().isVisible());
    }
    void rowsOfOnesOwnAreChosenAndExported()
    {
        WindowFixture f;
        f.answers.rows = writeRows(f.folder);
        emit f.window.validation().fileWanted();
        QTRY_VERIFY_WITH_TIMEOUT(f.window.validationRunner().result(), 30000);
        QCOMPARE(f.window.validationRunner().result()->file, f.answers.rows);
        f.answers.csv = f.folder.filePath(QStringLiteral("out.csv"));
        emit f.window.validation().csvWanted(
            QString::fromStdString(validationCsv(f.window.validationRunner().result()->validation)));
        QTRY_VERIFY(QFile::exists(f.answers.csv));
        QFile file(f.answers.csv);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().startsWith("source,group,id,metric,published,predicted,error"));
        f.answers.csv = QStringLiteral("/nowhere/at/all.csv");
        emit f.window.validation().csvWanted(QStringLiteral("x\n"));
        QTRY_VERIFY(!f.window.messages().text(QStringLiteral("save")).isEmpty());
    }
};

TRAINYARD_TEST(ValidationWindowTest)
#include "tst_validation_window.moc"

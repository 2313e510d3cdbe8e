// SPDX-License-Identifier: GPL-3.0-or-later
// What is taken away: every format from its menu entry to the file, and a report that opens as the plan it is about.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "core/facts/plan/plan_io.h"
#include "views/panels/card.h"
#include "views/panels/why_panel.h"

#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMenu>
#include <QMenuBar>
#include <QSvgRenderer>

using namespace trainyard;

namespace {

QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Triggers the command and waits for its message; the file's content.
QByteArray exported(WindowFixture &f, const char *command, const QString &name)
{
    f.answers.file = f.folder.filePath(name);
    if (!f.window.commands().trigger(QLatin1String(command)))
        return {};
    const bool isTold = QTest::qWaitFor([&] { return f.window.messages().text("export").contains(name); }, 30000);
    return isTold ? contentOf(f.answers.file) : QByteArray();
}

QAction *entry(QMenu *menu, const QString &text)
{
    for (QAction *action : menu ? menu->actions() : QList<QAction *>()) {
        if (action->text() == text)
            return action;
    }
    return nullptr;
}

/// File ▸ Export ▸ the entry of that text, by the pointer.
bool chooseOfExports(MainWindow &window, const QString &text)
{
    auto *bar = window.findChild<QMenuBar *>();
    const auto of = [](const QWidget *menu, const QString &title) -> QAction * {
        for (QAction *action : menu->actions())
            if (QString(action->text()).remove(u'&') == title)
                return action;
        return nullptr;
    };
    QAction *file = of(bar, QStringLiteral("File"));
    QTest::mouseClick(bar, Qt::LeftButton, {}, bar->actionGeometry(file).center());
    QMenu *files = file->menu();
    QAction *exports = files->isVisible() ? of(files, QStringLiteral("Export")) : nullptr;
    if (!exports)
        return false;
    QTest::mouseClick(files, Qt::LeftButton, {}, files->actionGeometry(exports).center());
    QMenu *formats = exports->menu();
    QAction *chosen = QTest::qWaitFor([&] { return formats->isVisible(); }, 30000) ? of(formats, text) : nullptr;
    if (!chosen)
        return false;
    QTest::mouseClick(formats, Qt::LeftButton, {}, formats->actionGeometry(chosen).center());
    return true;
}

/// How many lines a bar of messages has shown, from when it was made.
class LinesOf : public QObject {
public:
    explicit LinesOf(MessageBar &bar) { bar.installEventFilter(this); }
    [[nodiscard]] int count() const { return m_count; }

protected:
    bool eventFilter(QObject *, QEvent *event) override
    {
        m_count += event->type() == QEvent::ChildAdded;
        return false;
    }

private:
    int m_count = 0;
};

/// Opens the panel's menu with a right click as the pointer would.
QMenu *rightClick(QWidget *panel)
{
    const QPoint at(panel->width() / 2, 6);
    QContextMenuEvent event(QContextMenuEvent::Mouse, at, panel->mapToGlobal(at));
    QApplication::sendEvent(panel, &event);
    return qobject_cast<QMenu *>(QApplication::activePopupWidget());
}

} // namespace

class ExportTest : public QObject {
    Q_OBJECT
private slots:
    void aReportPageIsWrittenAndOpensAsItsPlan()
    {
        WindowFixture f;
        Plan changed = *f.document.plan();
        changed.workload.globalBatch *= 2;
        f.document.apply(std::make_shared<const Plan>(changed));
        f.settle();
        const double iteration = f.bridge.evaluation()->metrics.iterationTime.value();
        const QByteArray html = exported(f, "export.html", "report.html");
        QVERIFY(html.startsWith("<!DOCTYPE html>"));
        QVERIFY(html.contains("Timeline of one iteration"));
        QVERIFY(f.answers.suggestions.last().endsWith("-report.html"));

        f.document.forgetUnsavedWork();
        f.answers.unsaved = Prompts::Unsaved::Discard;
        f.window.files().openSample(WindowFixture::samplePath("mixed-lab"));
        QTRY_VERIFY(f.document.plan()->workload.globalBatch != changed.workload.globalBatch);
        f.window.files().openDropped(f.answers.file);
        QTRY_COMPARE(f.document.plan()->workload.globalBatch, changed.workload.globalBatch);
        f.settle();
        QCOMPARE(f.bridge.evaluation()->metrics.iterationTime.value(), iteration);
        // Untitled: saving it must never write over the report.
        QVERIFY(f.document.path().isEmpty());
        QVERIFY(!f.document.isModified());
    }
    void thePdfOpensAsItsPlanToo()
    {
        WindowFixture f;
        const QByteArray pdf = exported(f, "export.pdf", "report.pdf");
        QVERIFY(pdf.startsWith("%PDF-"));
        const PlanPtr before = f.document.plan();
        const auto read = readPlan(f.answers.file.toStdString());
        QVERIFY(read);
        Plan expected = *before;
        expected.baseDir = read->baseDir;
        QVERIFY(*read == expected);
    }
    void traceNumbersAndTimelineAreThoseOfTheCommandLine()
    {
        WindowFixture f;
        const QJsonDocument trace = QJsonDocument::fromJson(exported(f, "export.trace", "trace.json"));
        QVERIFY(!trace.object()["traceEvents"].toArray().isEmpty());
        // A line a span, and one of headings.
        const QByteArray spans = exported(f, "export.timeline", "spans.csv");
        QCOMPARE(spans.count('\n'), qsizetype(f.bridge.evaluation()->timeline.start.size()) + 1);
        const QByteArray numbers = exported(f, "export.numbers", "numbers.csv");
        QCOMPARE(numbers.count('\n'), 2);
        QVERIFY(numbers.contains("iteration_time_s"));
    }
    void aCopyOfThePlanLeavesTheDocumentWhereItIs()
    {
        WindowFixture f;
        const QByteArray copy = exported(f, "export.plan", "copy.json");
        QVERIFY(copy.contains("trainyard.plan"));
        QVERIFY(f.document.path().isEmpty());
        const auto read = readPlan(f.answers.file.toStdString());
        QVERIFY(read && read->workload == f.document.plan()->workload);
    }
    /// Each from the menu, by the pointer; the command line writes the same of the same plan.
    void launchesOfTheMenuAreThoseOfTheCommandLine_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("target");
        QTest::addColumn<QString>("ending");
        const auto row = [](const char *target, const char *text, const char *ending) {
            QTest::newRow(target) << QString::fromUtf8(text) << target << ending;
        };
        row("megatron", "Export a Megatron-LM launch script…", "-megatron.sh");
        row("torchtitan", "Export a torchtitan launch script…", "-torchtitan.sh");
        row("megatron-bridge", "Export a Megatron-Bridge launch script…", "-megatron-bridge.sh");
        row("deepspeed", "Export a DeepSpeed configuration (JSON)…", "-deepspeed.json");
        row("slurm", "Export a Slurm job…", ".sbatch");
        row("trainjob", "Export a TrainJob of Kubeflow…", "-trainjob.yaml");
        row("jobset", "Export a JobSet of Kubernetes…", "-jobset.yaml");
        row("skypilot", "Export a SkyPilot task…", "-skypilot.yaml");
        row("dot", "Export the tasks as a Graphviz graph…", "-tasks.dot");
    }
    void launchesOfTheMenuAreThoseOfTheCommandLine()
    {
        QFETCH(QString, text);
        QFETCH(QString, target);
        QFETCH(QString, ending);
        const QString sample = target == "torchtitan" ? "llama-3.1-405b-16384-h100"
            : target == "deepspeed"                   ? "llama-3-70b-three-regions"
                                                      : "gpt3-175b-1024-a100";
        WindowFixture f(sample);
        f.answers.file = f.folder.filePath("written" + ending);
        QVERIFY(chooseOfExports(f.window, text));
        QTRY_VERIFY_WITH_TIMEOUT(f.window.messages().text("export").contains("written" + ending), 30000);
        QVERIFY2(f.answers.suggestions.last().endsWith(ending), qPrintable(f.answers.suggestions.last()));
        const test::Answer said = test::run({ "export", WindowFixture::samplePath(sample), "--to", target });
        QCOMPARE(said.exitCode, 0);
        QVERIFY(!said.out.empty());
        QCOMPARE(contentOf(f.answers.file), QByteArray::fromStdString(said.out));
    }
    /// A TrainJob and a task of SkyPilot start nodes of one place; the plan's are in three regions.
    void whatATargetCannotStartIsToldBeforeAFileIsChosen_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("what");
        QTest::newRow("trainjob") << QStringLiteral("Export a TrainJob of Kubeflow…")
                                  << QStringLiteral("TrainJob of Kubeflow");
        QTest::newRow("skypilot") << QStringLiteral("Export a SkyPilot task…") << QStringLiteral("SkyPilot task");
    }
    void whatATargetCannotStartIsToldBeforeAFileIsChosen()
    {
        QFETCH(QString, text);
        QFETCH(QString, what);
        WindowFixture f;
        f.answers.file = f.folder.filePath("never.yaml");
        QVERIFY(chooseOfExports(f.window, text));
        QTRY_VERIFY(!f.window.messages().text("export").isEmpty());
        const QString said = f.window.messages().text("export");
        QVERIFY2(said.contains("cannot be written as a " + what), qPrintable(said));
        QVERIFY(f.answers.suggestions.isEmpty());
        QVERIFY(!QFile::exists(f.answers.file));
    }
    void whatCannotBeWrittenIsToldAndCancellingIsNoError()
    {
        WindowFixture f;
        const LinesOf said(f.window.messages());
        f.answers.file.clear();
        QVERIFY(f.window.commands().trigger("export.html"));
        QApplication::processEvents();
        QVERIFY(f.window.messages().text("export").isEmpty());
        f.answers.file = f.folder.filePath("no/such/folder/report.html");
        QVERIFY(f.window.commands().trigger("export.html"));
        QTRY_VERIFY(f.window.messages().text("export").contains("could not be written"));
        QCOMPARE(said.count(), 1); // exports end one after the other: there was none before
        QVERIFY(!QFile::exists(f.answers.file));
    }
    void anExportDuringAnEditHoldsTheEdit()
    {
        WindowFixture f;
        Plan changed = *f.document.plan();
        changed.workload.globalBatch *= 4;
        f.document.apply(std::make_shared<const Plan>(changed));
        // The evaluation of the edit is not there yet; the report waits for it.
        exported(f, "export.html", "edit.html");
        const auto read = readPlan(f.answers.file.toStdString());
        QVERIFY(read);
        QCOMPARE(read->workload.globalBatch, changed.workload.globalBatch);
    }
    void anExportThatWaitsIsNeverOfAnotherPlan()
    {
        WindowFixture f;
        Plan changed = *f.document.plan();
        changed.workload.globalBatch *= 4;
        f.document.apply(std::make_shared<const Plan>(changed));
        f.answers.file = f.folder.filePath("first.html");
        QVERIFY(f.window.commands().trigger("export.html"));
        Plan other = changed;
        other.name = "Another plan";
        other.workload.globalBatch *= 2;
        f.answers.unsaved = Prompts::Unsaved::Discard;
        f.window.files().startWith(std::make_shared<const Plan>(other)); // before the first is evaluated
        QCOMPARE(f.document.plan()->name, other.name);
        f.settle();
        QTRY_VERIFY(f.window.messages().text("export").contains("Nothing was written"));
        const QString first = f.answers.file;
        QVERIFY(!exported(f, "export.html", "second.html").isEmpty()); // files are written one after the other
        QVERIFY(!QFile::exists(first));
    }
    void anExportHoldsWhatStandsInAnOpenForm()
    {
        WindowFixture f;
        f.map()->edit({ MapItem::Kind::Link, -1, -1, 0, 0, 0 });
        QVERIFY(f.map()->editor());
        QTest::keyClicks(QApplication::focusWidget(), "61");
        exported(f, "export.html", "form.html");
        const auto read = readPlan(f.answers.file.toStdString());
        QVERIFY(read);
        QCOMPARE(read->cluster.wanLinks[0].rttMs, 61.0);
    }
    void everyPanelWithoutAMenuOfItsOwnOffersItsTableAndItsPicture()
    {
        WindowFixture f;
        auto *why = static_cast<QWidget *>(f.window.workbench().why);
        f.window.workbench().reveal(why);
        QMenu *menu = rightClick(why);
        QVERIFY(menu);
        QAction *table = entry(menu, "Copy table as TSV");
        QVERIFY(table && table->isEnabled());
        table->trigger();
        const QString tsv = QApplication::clipboard()->text();
        QVERIFY2(tsv.contains('\t') && tsv.count('\n') > 3, qPrintable(tsv));
        f.answers.file = f.folder.filePath("why.svg");
        QAction *svg = entry(menu, "Save as SVG…");
        QVERIFY(svg && svg->isEnabled());
        const QSize size = why->size();
        svg->trigger();
        QTRY_VERIFY(f.window.messages().text("export").contains("why.svg"));
        // A picture of the panel's size, with its text as vectors.
        QSvgRenderer picture(f.answers.file);
        QVERIFY(picture.isValid());
        QCOMPARE(picture.viewBox().size(), size);
        entry(menu, "Copy as image")->trigger();
        QCOMPARE(QApplication::clipboard()->image().size(), why->size() * 2);
    }
};

TRAINYARD_TEST(ExportTest)
#include "tst_export.moc"

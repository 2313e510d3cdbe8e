// SPDX-License-Identifier: GPL-3.0-or-later
// A plan that learns from its run, in the window: a log alone is dropped, becomes the plan that it tells of, is judged,
// teaches a factor that is accepted and taken back, and the plan leaves as the script that starts it.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "views/panels/confidence_button.h"
#include "views/run/calibration_card.h"
#include "views/run/factor_row.h"
#include "views/run/plan_of_run_card.h"
#include "views/run/run_page.h"
#include "views/run/sentence_list.h"
#include "views/run/verdict_section.h"
#include "views/window/run_lessons.h"
#include "views/window/status_line.h"

#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QPushButton>

using namespace trainyard;

namespace {

constexpr int kLong = 60000; // ms, for a machine that is busy
constexpr double kStep = 45; // seconds

/// Sixteen steps of Llama 3 8B on 16 GPUs, the first a warm-up, behind the arguments that started them.
QByteArray megatronLog()
{
    QByteArray text = "------------------------ arguments ------------------------\n";
    const std::pair<const char *, const char *> arguments[] { { "world_size", "16" },
        { "tensor_model_parallel_size", "2" }, { "pipeline_model_parallel_size", "4" }, { "data_parallel_size", "2" },
        { "num_layers", "32" }, { "hidden_size", "4096" }, { "ffn_hidden_size", "14336" },
        { "num_attention_heads", "32" }, { "num_query_groups", "8" }, { "group_query_attention", "True" },
        { "swiglu", "True" }, { "untie_embeddings_and_output_weights", "True" }, { "padded_vocab_size", "128256" },
        { "seq_length", "8192" }, { "max_position_embeddings", "8192" }, { "micro_batch_size", "1" },
        { "global_batch_size", "64" }, { "bf16", "True" }, { "use_distributed_optimizer", "True" } };
    for (const auto &[name, value] : arguments)
        text += "  " + QByteArray(name) + ' ' + QByteArray(48 - int(qstrlen(name)), '.') + ' ' + value + '\n';
    text += "-------------------- end of arguments ---------------------\n";
    for (int step = 1; step <= 16; ++step)
        text += QStringLiteral(" [2026-03-01 00:%1:%2] iteration %3/     100 | consumed samples: %4 | elapsed time per "
                               "iteration (ms): %5 | throughput per GPU (TFLOP/s/GPU): 300.0 | learning rate: 1.0E-04 "
                               "| global batch size:    64 | lm loss: 2.000000E+00 | grad norm: 1.000 | number of "
                               "skipped iterations:   0 | number of nan iterations:   0 |\n")
                    .arg(step * 45 / 60, 2, 10, QLatin1Char('0'))
                    .arg(step * 45 % 60, 2, 10, QLatin1Char('0'))
                    .arg(step, 8)
                    .arg(step * 64, 12)
                    .arg(step == 1 ? 200000 : kStep * 1e3 * (1 + 0.01 * (step % 3 - 1)), 0, 'f', 1)
                    .toUtf8();
    return text;
}

struct LessonFixture : WindowFixture {
    QString log;

    LessonFixture()
        : WindowFixture(QStringLiteral("mixed-lab"))
    {
        log = folder.filePath("march.log");
        QFile file(log);
        if (file.open(QIODevice::WriteOnly))
            file.write(megatronLog());
    }
    void drop()
    {
        QMimeData data;
        data.setUrls({ QUrl::fromLocalFile(log) });
        const QPoint at = window.rect().center();
        QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &enter);
        QDropEvent dropped(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &dropped);
        QTRY_VERIFY_WITH_TIMEOUT(window.runs().overlay() && window.runs().overlay()->run == window.runs().run(), kLong);
        QTRY_VERIFY_WITH_TIMEOUT(lessons().planOfRun().isOffered(), kLong);
        QApplication::processEvents();
    }
    /// The plan that the log tells of is the one in the window, and the log lies under it.
    void makePlan()
    {
        drop();
        window.run().showTab(&lessons().planCard());
        QVERIFY(lessons().planCard().make->isVisible());
        QTest::mouseClick(lessons().planCard().make, Qt::LeftButton);
        QCOMPARE(document.plan()->parallelism.tensor, 2);
        awaitOverlay();
    }
    void awaitOverlay()
    {
        settle();
        QTRY_COMPARE_WITH_TIMEOUT(window.runs().overlay()->evaluation, bridge.evaluation(), kLong);
        QApplication::processEvents();
    }
    void learn()
    {
        window.run().showTab(&lessons().card());
        QVERIFY(lessons().card().learn->isVisible() && lessons().card().learn->isEnabled());
        QTest::mouseClick(lessons().card().learn, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!lessons().calibration().isFitting(), 3 * kLong);
        QVERIFY2(lessons().calibration().proposal(), qPrintable(lessons().calibration().failure()));
        QApplication::processEvents();
    }
    [[nodiscard]] RunLessons &lessons() { return window.lessons(); }
    [[nodiscard]] ConfidenceButton &confidence() { return window.workbench().status->confidence(); }
    [[nodiscard]] QByteArray exported(const char *command, const QString &name)
    {
        answers.file = folder.filePath(name);
        if (!window.commands().trigger(QLatin1String(command))
            || !QTest::qWaitFor([&] { return window.messages().text("export").contains(name); }, kLong))
            return {};
        QFile file(answers.file);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
};

} // namespace

class CalibrationWindowTest : public QObject {
    Q_OBJECT
private slots:
    void aLogIsDroppedJudgedLearnedFromAndTheScriptLeaves()
    {
        LessonFixture f;
        f.makePlan();
        const Plan &plan = *f.document.plan();
        QCOMPARE(plan.parallelism.pipeline, 4);
        QCOMPARE(plan.cluster.gpus(), 16);
        QCOMPARE(plan.workload.globalBatch, 64);
        QVERIFY(f.window.run().isVisible()); // it is seen beside its run
        // The verdict is of this plan and these steps, and its parts add up to both.
        const auto &verdict = f.window.runs().verdict();
        QVERIFY(verdict && *verdict);
        QVERIFY(f.window.run().verdict->isVisible() && !f.window.run().verdict->headline().isEmpty());
        double parts = 0;
        for (const VerdictPart &part : (*verdict)->parts)
            parts += part.measured;
        QVERIFY(std::abs(parts - (*verdict)->measuredSeconds) < 1e-6);
        QVERIFY(std::abs((*verdict)->measuredSeconds / kStep - 1) < 0.011);
        const double predicted = f.bridge.evaluation()->metrics.iterationTime.value();

        // One factor is accepted: the plan's step becomes the measured one, and the label says by which recording.
        f.learn();
        const std::vector<FittedFactor> &found = f.lessons().calibration().proposal()->factors;
        QVERIFY(found.size() == 1 && found.front().factor.what == CalibratedPart::Products);
        FactorRow *row = f.lessons().card().row(found.front().id);
        QVERIFY(row && row->row().state == FactorState::Offered);
        QVERIFY(row->button()->isVisible());
        const QString label = f.confidence().text();
        QVERIFY2(!label.endsWith("calibrated"), qPrintable(label));
        QTest::mouseClick(row->button(), Qt::LeftButton);
        QCOMPARE(f.document.plan()->calibration.size(), std::size_t(1));
        f.awaitOverlay();
        QVERIFY2(f.confidence().text().endsWith("calibrated"), qPrintable(f.confidence().text()));
        QVERIFY2(f.confidence().toolTip().contains("march.log"), qPrintable(f.confidence().toolTip()));
        const double calibrated = f.bridge.evaluation()->metrics.iterationTime.value();
        // The median of the steps is kStep; each lies within 1 % of it.
        QVERIFY2(std::abs(calibrated / kStep - 1) < 0.02, qPrintable(QString::number(calibrated)));
        QVERIFY2(std::abs(predicted / kStep - 1) > 0.02, qPrintable(QString::number(predicted)));
        QCOMPARE(row->row().state, FactorState::Taken);
        const QString undo = f.document.undoStack().undoText();
        QVERIFY2(undo.startsWith("Take products of ") && undo.contains("march.log"), qPrintable(undo));

        // Undo takes it out.
        QVERIFY(f.window.commands().trigger("edit.undo"));
        QVERIFY(f.document.plan()->calibration.empty());
        f.awaitOverlay();
        QCOMPARE(f.confidence().text(), label);
        QCOMPARE(row->row().state, FactorState::Offered);

        const QByteArray script = f.exported("export.megatron", "start.sh");
        QVERIFY(script.startsWith("#!"));
        QVERIFY(script.contains("--tensor-model-parallel-size 2"));
        QVERIFY(script.contains("--pipeline-model-parallel-size 4"));
        QVERIFY(f.answers.suggestions.last().endsWith("-megatron.sh"));
        QVERIFY(f.exported("export.slurm", "start.sbatch").contains("#SBATCH"));
        QVERIFY(f.exported("export.dot", "tasks.dot").startsWith("digraph"));
    }
    void theOfferIsSaidOnceAndAsksAboutUnsavedWork()
    {
        LessonFixture f;
        Plan edited = *f.document.plan();
        edited.workload.globalBatch *= 2;
        f.document.apply(std::make_shared<const Plan>(edited));
        f.settle();
        f.drop();
        const QString kind = QStringLiteral("plan of run");
        QTRY_VERIFY_WITH_TIMEOUT(!f.window.messages().text(kind).isEmpty(), kLong);
        QVERIFY2(f.window.messages().text(kind).contains("16 GPUs"), qPrintable(f.window.messages().text(kind)));
        QVERIFY(f.lessons().planCard().taken->sentences().join(u' ').contains("tensor"));
        QVERIFY(!f.lessons().planCard().assumed->sentences().isEmpty());
        const PlanPtr before = f.document.plan();
        QVERIFY(f.window.messages().answer(kind, 0));
        QCOMPARE(f.answers.asked, 0); // what was edited stays as a variant
        QVERIFY(
            std::ranges::any_of(f.window.session().variants(), [&](const Variant &one) { return one.plan == before; }));
        QCOMPARE(f.document.plan()->parallelism.tensor, 2);
        QVERIFY(f.document.path().isEmpty() && f.document.isModified()); // it is in the window alone
        // It is the run's plan now: nothing is offered any more.
        QTRY_VERIFY_WITH_TIMEOUT(!f.lessons().planOfRun().isOffered(), kLong);
        QVERIFY(f.window.messages().text(kind).isEmpty());
    }
    /// As the command line names it: nobody asked for another plan, so it need not be offered.
    void aRunThatIsOpenedAtTheStartBringsItsPlan()
    {
        LessonFixture f;
        f.window.files().openAtStart({ f.log });
        QTRY_COMPARE_WITH_TIMEOUT(f.document.plan()->parallelism.tensor, 2, kLong);
        QCOMPARE(f.document.plan()->cluster.gpus(), 16);
        f.awaitOverlay();
        QVERIFY(f.window.run().isVisible());
        QVERIFY(f.window.messages().text("plan of run").isEmpty());
        QCOMPARE(f.answers.asked, 0);
    }
    void aPlanBesideTheRunStays()
    {
        LessonFixture f;
        const QString plan = f.folder.filePath("other.trainyard.json");
        QVERIFY(QFile::copy(LessonFixture::samplePath("llama-7b-64-aws"), plan));
        f.window.files().openAtStart({ f.log, plan });
        QTRY_COMPARE_WITH_TIMEOUT(f.document.path(), plan, kLong);
        QTRY_VERIFY_WITH_TIMEOUT(f.window.runs().run() && f.lessons().planOfRun().isOffered(), kLong);
        f.awaitOverlay();
        QCOMPARE(f.document.path(), plan);
        QVERIFY(!f.window.messages().text("plan of run").isEmpty());
    }
    void whatIsNeitherAPlanNorARunIsToldAboveTheSample()
    {
        LessonFixture f;
        const QString notes = f.folder.filePath("notes.txt");
        QFile file(notes);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("buy milk\n") > 0);
        file.close();
        f.window.files().openAtStart({ notes });
        QTRY_VERIFY_WITH_TIMEOUT(f.window.messages().text("open").contains("notes.txt"), kLong);
        QVERIFY(!f.document.plan()->cluster.datacenters.empty());
    }
    void whatAPlanHasLearnedIsSeenWithoutARunAndRemoved()
    {
        LessonFixture f;
        Plan next = *f.document.plan();
        next.calibration["products"] = formatCalibrationFactor({ .factor = 1.17, .recording = "march run" });
        f.document.apply(std::make_shared<const Plan>(next));
        f.settle();
        QVERIFY2(f.confidence().toolTip().contains("march run"), qPrintable(f.confidence().toolTip()));
        f.window.showRun();
        CalibrationCard &own = f.lessons().ownFactors();
        FactorRow *row = own.row("products");
        QVERIFY(own.isVisible() && row && row->button()->isVisible());
        QVERIFY(!own.learn->isVisible());
        QTest::mouseClick(row->button(), Qt::LeftButton);
        QVERIFY(f.document.plan()->calibration.empty() && !own.isVisible());
        QCOMPARE(f.document.undoStack().undoText(), QStringLiteral("Remove products × 1.17"));
    }
    void aPlanThatNoFrameworkRunsSaysTheKeyAndWhy()
    {
        LessonFixture f; // GPUs of several kinds with shares of their own
        Plan next = *f.document.plan();
        next.schedule = ScheduleKind::ZbV;
        f.document.apply(std::make_shared<const Plan>(next));
        f.settle();
        f.answers.file = f.folder.filePath("never.sh");
        QVERIFY(f.window.commands().trigger("export.megatron"));
        QTRY_VERIFY_WITH_TIMEOUT(!f.window.messages().text("export").isEmpty(), kLong);
        const QString said = f.window.messages().text("export");
        QVERIFY2(said.contains("cannot be written as a Megatron-LM launch script"), qPrintable(said));
        QVERIFY(f.answers.suggestions.isEmpty()); // before a file was chosen
        QVERIFY(!QFile::exists(f.answers.file));
    }
};

TRAINYARD_TEST(CalibrationWindowTest)
#include "tst_calibration.moc"
